"""Parsing and verification of text files, and diagnostics with locations."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass
from pathlib import Path

from xdsl.context import Context
from xdsl.dialects.builtin import ModuleOp
from xdsl.ir import Attribute, Operation, TypeAttribute
from xdsl.utils.exceptions import ParseError, VerifyException

from qdialect.errors import LocatedError
from qdialect.ir.walking import NOT_THERE, misplaced
from qdialect.ops import get_all_dialects
from qdialect.ops.outside import outside_dialects
from qdialect.text.assembly import ModuleParser


class _OpenContext(Context):
    """A context that also looks up dialects of installed packages, if a name is in none of ours."""

    def _look(self, name: str) -> None:
        dialect, dot, _ = name.partition(".")
        if dot and dialect not in self.registered_dialect_names and dialect in outside_dialects():
            self.register_dialect(dialect, outside_dialects()[dialect])

    def get_optional_op(self, name: str, *, dialect_stack: Sequence[str] = ()) -> type[Operation] | None:
        self._look(name)
        return super().get_optional_op(name, dialect_stack=dialect_stack)

    def get_optional_type(self, name: str) -> type[TypeAttribute] | None:
        self._look(name)
        return super().get_optional_type(name)

    def get_optional_attr(self, name: str) -> type[Attribute] | None:
        self._look(name)
        return super().get_optional_attr(name)


def make_context(*, allow_unregistered: bool = False) -> Context:
    """A context with every dialect that our tools read; `allow_unregistered` also ops of others, in generic form."""
    context = _OpenContext(allow_unregistered=allow_unregistered)
    for name, factory in get_all_dialects().items():
        context.register_dialect(name, factory)
    return context


@dataclass(frozen=True)
class Diagnostic:
    """One message about the input; `line` and `column` count from one, None where the place is not known."""

    severity: str
    message: str
    file: str
    line: int | None = None
    column: int | None = None

    def __str__(self) -> str:
        place = ":".join(str(part) for part in (self.file, self.line, self.column) if part is not None)
        return f"{place}: {self.severity}: {' '.join(self.message.split())}"


def verification_error(module: ModuleOp, parser: ModuleParser) -> Diagnostic | None:
    """Diagnostic of the first op of a parsed module that does not verify; None if the module verifies."""
    try:
        module.verify()
        if (op := misplaced(module)) is None:
            return None
        failure = VerifyException(f"{op.name} {NOT_THERE}")
        if (span := parser.spans.get(op)) is not None:
            place = span.get_location()
            return Diagnostic("error", f"'{op.name}' op: {NOT_THERE}", place.file, place.line, place.col)
    except VerifyException as error:
        failure = error
    # The exception does not name its op: search for the first one that fails by itself.
    for op in module.walk(reverse=False):
        try:
            op.verify(verify_nested_ops=False)
        except VerifyException as error:
            if (span := parser.spans.get(op)) is not None:
                place = span.get_location()
                return Diagnostic("error", f"'{op.name}' op: {error}", place.file, place.line, place.col)
    return Diagnostic("error", str(failure), parser.lexer.input.name)


def read_text(text: str, name: str, folder: Path | None) -> ModuleOp:
    """
    The module in a text. name: of the text in errors; folder: of the files that the text names.

    Raises LocatedError, with the place, for text that is no module or does not verify.
    """
    parser = ModuleParser(make_context(), text, name, folder)
    try:
        module = parser.parse_module()
    except ParseError as error:
        raise LocatedError(f"{error.span.get_location()}: error: {error.msg}") from None
    if (diagnostic := verification_error(module, parser)) is not None:
        raise LocatedError(str(diagnostic))
    return module
