"""
Printer and parser of modules: xDSL's, with type aliases, external weights and locations.

Long quantized types print as aliases (`!q0 = ...` on top), large constants go to a file beside the text or
are elided, and unknown locations are not printed.
"""

import re
from bisect import bisect_right
from collections.abc import Generator
from contextlib import contextmanager
from io import StringIO
from pathlib import Path
from typing import IO, Literal

from xdsl.context import Context
from xdsl.dialects.builtin import (
    AnyFloat,
    ArrayAttr,
    DenseIntOrFPElementsAttr,
    FileLineColLoc,
    FusedLoc,
    IntAttr,
    ModuleOp,
    NameLoc,
    StringAttr,
    UnknownLoc,
)
from xdsl.ir import Attribute, Block, BlockArgument, Operation, OpResult, SSAValue, TypeAttribute
from xdsl.parser import Parser, ParserState, UnresolvedOperand
from xdsl.printer import Printer
from xdsl.utils.exceptions import DiagnosticException, ParseError, UnregisteredConstructException
from xdsl.utils.lexer import Input, Span, Token
from xdsl.utils.mlir_lexer import MLIRLexer, MLIRTokenKind, StringLiteral

from qdialect.dialects.onnx_base import OnnxOp
from qdialect.dialects.onnx_dense import without_dense
from qdialect.dialects.onnx_tensor import (
    MAX_PRINTED_ELEMENTS,
    FileSlice,
    TensorData,
    print_payload,
    resolve_slice,
)
from qdialect.dialects.quant import StorageCastOp
from qdialect.errors import UserError, did_you_mean
from qdialect.text.signless import merge_pairs, signless_pair
from qdialect.text.weights import WeightsFile

Constants = Literal["elide", "inline"] | WeightsFile
"""Treatment of constants of more than 64 elements: elided, inline in hex, or in a file beside the text."""

ALIAS_LENGTH = 60
"""Length in characters above which a quantized type is printed once, as an alias."""


class ModulePrinter(Printer):
    """
    xDSL's printer with type aliases, a rule for large constants, and text for each type made once: a type of
    1,000 channels is 15 kB and may stand at thousands of operands.
    """

    def __init__(
        self,
        stream: IO[str],
        *,
        generic: bool = False,
        locations: bool = False,
        constants: Constants = "elide",
        aliases: bool = True,
    ):
        super().__init__(stream, print_generic_format=generic)
        self.constants = constants
        self.aliases: dict[str, str] = {}
        """Text of each aliased type, by alias, in the order of first use."""
        self._locations = locations
        self._use_aliases = aliases
        self._out = stream
        self._texts: dict[Attribute, str] = {}

    def print_string(self, text: str, *, indent: int | None = None) -> None:
        if "\n" in text:
            super().print_string(text, indent=indent)
        else:
            self._out.write(text)

    def print_attribute(self, attribute: Attribute) -> None:
        if not isinstance(attribute, TypeAttribute):
            super().print_attribute(attribute)
            return
        if (text := self._texts.get(attribute)) is None:
            self._texts[attribute] = text = self._type_text(attribute)
        self._out.write(text)

    def _type_text(self, type_: TypeAttribute) -> str:
        outer, self._out = self._out, StringIO()
        self.stream = self._out
        super().print_attribute(type_)
        text = self._out.getvalue()
        self.stream = self._out = outer
        if self._use_aliases and len(text) > ALIAS_LENGTH and type_.name == "quant.uniform":
            self.aliases[alias := f"!q{len(self.aliases)}"] = text
            return alias
        return text

    def print_tensor_payload(self, data: TensorData) -> None:
        """Print a constant's values, or a reference to them; called by the constant's attribute."""
        if (
            isinstance(self.constants, WeightsFile)
            and data.count > MAX_PRINTED_ELEMENTS
            and data.strings is None
        ):
            offset, length = self.constants.append(data)
            self.print_string_literal(self.constants.name)
            self.print_string(f"[{offset}, {length}]")
        else:
            print_payload(self, data, inline=self.constants != "elide")

    def print_op(self, op: Operation) -> None:
        pair = signless_pair(op) if self.print_generic_format and isinstance(op, StorageCastOp) else []
        if pair:
            self._print_pair(op.results[0], pair)
            return
        with self._location_of(op):
            super().print_op(op)

    def _print_pair(self, result: OpResult, pair: list[Operation]) -> None:
        """Print two ops in place of the one that defines `result`; the second's result has its name."""
        last = pair[-1].results[0]
        if (name := self._ssa_values.get(result)) is not None:
            self._ssa_values[last] = name
        self.print_op(pair[0])
        self._print_new_line()
        self.print_op(pair[1])
        self._ssa_values[result] = self._ssa_values[last]
        for one in reversed(pair):
            one.erase()

    def print_block_argument(self, arg: BlockArgument, print_type: bool = True) -> None:
        with self._location_of(arg):
            super().print_block_argument(arg, print_type)

    @contextmanager
    def _location_of(self, node: Operation | BlockArgument) -> Generator[None]:
        """Context that prints the location of `node` only if known, to avoid `loc(unknown)` on every line."""
        outer = self.print_debuginfo
        self.print_debuginfo = self._locations and _says_something(node)
        yield
        self.print_debuginfo = outer


def _says_something(node: Operation | BlockArgument) -> bool:
    """True if a node's location is known and does not consist of empty names."""
    match node.location:
        case FusedLoc(locations=ArrayAttr(data=parts)):
            return not all(isinstance(part, NameLoc) and not part.desc.data for part in parts)
        case place:
            return not isinstance(place, UnknownLoc)


def print_module(
    module: ModuleOp,
    stream: IO[str],
    *,
    generic: bool = False,
    locations: bool = False,
    constants: Constants = "elide",
    aliases: bool = True,
) -> None:
    """
    Writes `module` and a line end. Equal modules give equal text.

    Args:
        generic: every op in MLIR's generic form, as upstream's tools verify it.
        locations: with `loc(...)` where it is known.
        constants: treatment of constants over 64 elements: "elide", "inline", or a file for them.
        aliases: True to print long quantized types once, at the top.
    """
    body = StringIO()
    printer = ModulePrinter(body, generic=generic, locations=locations, constants=constants, aliases=aliases)
    printer.print_op(module)
    # Aliases are known only now, but the parser needs them first.
    stream.writelines(f"{alias} = {text}\n" for alias, text in printer.aliases.items())
    stream.write(body.getvalue())
    stream.write("\n")


class _Lexer(MLIRLexer):
    """xDSL's lexer with linear-time string literals: xDSL's takes exponential time for an unterminated string."""

    _unescaped_characters_regex = re.compile(r'"(?:[^"\\\n\v\f]++|\\(?:["nt\\]|[0-9A-Fa-f]{2}))*+"')

    def _lex_string_literal(self, start_pos: int) -> Token[MLIRTokenKind]:
        # Escaped UTF-8 is text, too: that is how names beyond ASCII are printed.
        token = super()._lex_string_literal(start_pos)
        if token.kind is not MLIRTokenKind.BYTES_LIT:
            return token
        try:
            StringLiteral.from_span(token.span).bytes_contents.decode()
        except UnicodeDecodeError:
            return token
        return Token(MLIRTokenKind.STRING_LIT, token.span)


class ModuleParser(Parser):
    """xDSL's parser, which resolves files beside its text and records the span of each op."""

    def __init__(self, ctx: Context, text: str, name: str, folder: Path | None, *, locate: bool = False):
        """
        `folder` holds the files that the text may name, None if it may name none; with `locate`, an op
        without `loc(...)` gets its place in the text as its location."""
        super().__init__(ctx, "", name)
        self._parser_state = ParserState(_Lexer(Input(text, name)))
        self._folder = folder
        self.spans: dict[Operation, Span[str]] = {}
        self._first_uses: dict[str, Span[str]] = {}
        self._locate = locate
        self._start = self._current_token.span
        self._name = StringAttr(name)
        self._lines = [0] if locate else []
        if locate:
            self._lines += [k + 1 for k, letter in enumerate(text) if letter == "\n"]

    def parse_operation(self) -> Operation:
        self._start = span = self._current_token.span
        op = super().parse_operation()
        self.spans[op] = span
        if self._locate and isinstance(op.location, UnknownLoc):
            line = bisect_right(self._lines, span.start)
            column = span.start - self._lines[line - 1] + 1
            op.location = FileLineColLoc(self._name, IntAttr(line), IntAttr(column))
        return op

    def resolve_operand(self, operand: UnresolvedOperand, type: Attribute) -> SSAValue:
        is_known = operand.operand_name in self.forward_ssa_references
        value = super().resolve_operand(operand, type)
        if not is_known and operand.operand_name in self.forward_ssa_references:
            self._first_uses[operand.operand_name] = operand.span
        return value

    def _at_first_use(self, error: ParseError) -> ParseError:
        """The error; of a value without definition, for which xDSL points at the end of the text, at its use."""
        name = next(iter(self.forward_ssa_references), None)
        if name is None or self._current_token.kind is not MLIRTokenKind.EOF:
            return error
        return ParseError(self._first_uses[name], f"value %{name} is used, but not defined")

    def resolve_weights(self, name: str, offset: int, length: int) -> FileSlice:
        """Bytes of a file beside the text, for a constant's attribute. ParseError if they are not there."""
        if self._folder is None:
            self.raise_error(f"'{name}' stands beside a file, and this text is not from one; name the file")
        try:
            return resolve_slice(self._folder, name, offset, length)
        except UserError as error:
            self.raise_error(str(error))

    def _parse_generic_operation(self, op_type: type[Operation]) -> Operation:
        op = super()._parse_generic_operation(op_type)
        if isinstance(op, OnnxOp):
            op.properties = without_dense(op.properties, self)
        return op

    def _parse_builtin_dense_attr(self) -> DenseIntOrFPElementsAttr:
        start = self.pos
        value = super()._parse_builtin_dense_attr()
        text = self.lexer.input.content[start : self.pos].partition(">")[0]
        if '"' not in text and "0x" in text and isinstance(value.type.element_type, AnyFloat):
            self.raise_error('MLIR takes such a number for bits; write all of them, dense<"0x...">')
        return value

    def _parse_block(self) -> Block:
        if self._current_token.kind is not MLIRTokenKind.CARET_IDENT:
            self.raise_error("expected an operation, a block or '}'")
        return super()._parse_block()

    def _get_op_by_name(self, name: str) -> type[Operation]:
        start = self._start
        try:
            return super()._get_op_by_name(name)
        except ParseError as error:  # xDSL points at the token after the name
            dialect, _, word = name.rpartition(".")
            own = [op.name.rpartition(".") for op in self.ctx.loaded_ops]
            known = [last for first, _, last in own if first == dialect]
            fix = did_you_mean(word, known, "check its name and dialect")
            raise ParseError(start, f"operation '{name}' is not known; {fix}") from error

    def parse_module(self, allow_implicit_module: bool = True) -> ModuleOp:
        """The module. ParseError, with its location, for invalid text."""
        if self._current_token.kind is MLIRTokenKind.EOF:
            self.raise_error("the input is empty; it needs a module or ops")
        try:
            module = super().parse_module(allow_implicit_module)
            merge_pairs(module)
            return module
        except ParseError as error:
            raise self._at_first_use(error) from None
        except (DiagnosticException, UnregisteredConstructException, ValueError, OverflowError) as error:
            # Attributes verify themselves when constructed, without access to the text.
            raise ParseError(self._current_token.span, str(error)) from error


def parse_module(ctx: Context, text: str, name: str, folder: Path | None) -> ModuleOp:
    """The module in `text`, not verified. Errors say `name`; files that it names are in `folder`."""
    return ModuleParser(ctx, text, name, folder).parse_module()
