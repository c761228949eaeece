"""`docs/api.md` from the docstrings of the package's names."""

from __future__ import annotations

import ast
import inspect
import re
import textwrap
from collections.abc import Iterable, Iterator
from dataclasses import MISSING, Field, fields, is_dataclass
from itertools import groupby
from typing import Any, ForwardRef

import qdialect

BEHIND = ("IntegerInterface", "Tensor", "Node", "Totals", "Blocked", "Step", "Stays", "Reason")
"""Classes that no name of the package is, but that its results are made of, by the order of the page."""


HIDDEN = ("account", "data", "print_parameter")
"""Parts of classes that are of use inside the package alone."""


def _annotation(text: Any) -> str:
    """A type as one writes it."""
    text = text.__forward_arg__ if isinstance(text, ForwardRef) else text
    plain = text if isinstance(text, str) else inspect.formatannotation(text)
    return re.sub(r"\b(?:[a-z_0-9]+\.)+(?=[A-Z])", "", plain)


def _signature(name: str, function: Any) -> str:
    """A signature, a parameter a line."""
    signature = inspect.signature(function)
    lines: list[str] = []
    starred = False
    for one in signature.parameters.values():
        if one.name == "self":
            continue
        if one.kind is one.KEYWORD_ONLY and not starred:
            lines.append("*")
            starred = True
        default = ""
        if one.default is not one.empty:
            shown = {} if repr(one.default) == "<factory>" else one.default
            default = f" = {'...' if callable(shown) else repr(shown)}"
        said = "" if one.annotation is one.empty else f": {_annotation(one.annotation)}"
        lines.append(f"{one.name}{said}{default}")
    back = (
        ""
        if signature.return_annotation is inspect.Signature.empty
        else _annotation(signature.return_annotation)
    )
    if sum(map(len, lines)) < 80:
        return f"{name}({', '.join(lines)}) -> {back}"
    return (
        f"{name}(\n"
        + "".join(f"    {line},\n" for line in lines).replace("    *,\n", "    *,\n")
        + f") -> {back}"
    )


def _said(thing: Any) -> str:
    """A docstring as Markdown: what is indented in it belongs to the line above; lines of `name: ...` are a list."""
    text = inspect.getdoc(thing) or ""
    text = re.sub(r"\n +", " ", text)
    return re.sub(r"^(\w+): (?=[a-z`])", r"- `\1`: ", text, flags=re.MULTILINE).replace("\n- `", "\n- `")


def _field_docs(kind: type) -> dict[str, str]:
    """The strings that stand behind the fields of a class, and of those that it is made from."""
    found: dict[str, str] = {}
    for one in reversed(kind.__mro__[:-1]):
        if not one.__module__.startswith("qdialect"):
            continue
        body = ast.parse(textwrap.dedent(inspect.getsource(one))).body[0]
        assert isinstance(body, ast.ClassDef)
        for field, text in zip(body.body, body.body[1:], strict=False):
            if isinstance(field, ast.AnnAssign) and isinstance(field.target, ast.Name):
                match text:
                    case ast.Expr(ast.Constant(str(words))):
                        found[field.target.id] = " ".join(words.split())
                    case _:
                        pass
    return found


def _default(one: Field[Any]) -> str:
    return "" if one.default in (MISSING, None, "") else f" = {one.default!r}"


def _rows(kind: type) -> Iterator[str]:
    """The fields, properties and methods of a class, a line each."""
    docs = _field_docs(kind)
    if is_dataclass(kind):
        for one in (one for one in fields(kind) if one.name not in HIDDEN):
            said = f": {docs[one.name]}" if one.name in docs else ""
            yield f"- `{one.name}: {_annotation(one.type)}{_default(one)}`{said}"
    elif hasattr(kind, "_fields"):
        hints = kind.__annotations__
        for name in hints:
            yield f"- `{name}: {_annotation(hints[name])}`{f': {docs[name]}' if name in docs else ''}"
    for name, thing in vars(kind).items():
        if name.startswith("_") or name in HIDDEN:
            continue
        getter = thing.fget if isinstance(thing, property) else getattr(thing, "func", None)
        if getter is not None:
            back = _annotation(inspect.signature(getter).return_annotation)
            yield f"- `{name}: {back}`: {_said(getter)}"
        elif inspect.isfunction(thing):
            row = " ".join(f"- `{_signature(name, thing)}`: {_said(thing)}".split())
            yield row.replace("( ", "(").replace(", )", ")")


def _class(name: str, kind: type) -> list[str]:
    return [f"## {name}", "", _said(kind), "", *_rows(kind), ""]


def _behind() -> dict[str, type]:
    from qdialect.reasons import Blocked
    from qdialect.report import account, report

    return {name: getattr(account, name, None) or getattr(report, name, None) or Blocked for name in BEHIND}


def _once(lines: Iterable[str], name: str, known: dict[str, str]) -> Iterator[str]:
    """The lines of a function's docstring; parameters described in a line `known` of another share one line."""

    def owner(line: str) -> str:
        return known.setdefault(line, name) if line.startswith("- `") else name

    for other, group in groupby(lines, owner):
        if other == name:
            yield from group
        else:
            names = ", ".join(f"`{line.split('`')[1]}`" for line in group)
            yield f"- {names}: as of `{other}`."


def api_page() -> str:
    """Every name of the package, in the words of its docstring."""
    lines = [
        "# The Python API",
        "",
        "Made by `python docs/generate.py` from the docstrings; `help(qdialect)` shows the same. A module is xDSL's",
        "`ModuleOp`, on which all of xDSL's API works. A `Source` is a path, `bytes`, or an `onnx.ModelProto`, which",
        "is not modified; `Data` is an iterable of dictionaries from input name to array, a path, or",
        "`module:function`. `examples/embed.py` is a complete program.",
        "",
        "`qdialect.__version__` is the version. Names are imported on first use: a program that reads and writes text",
        "only does not import onnx or onnxruntime.",
        "",
    ]
    known: dict[str, str] = {}
    things = {name: getattr(qdialect, name) for name in qdialect.__all__}
    for name, thing in sorted(things.items(), key=lambda item: (inspect.isclass(item[1]), item[0])):
        if inspect.isclass(thing):
            lines += _class(name, thing)
        else:
            lines += [
                f"## {name}",
                "",
                "```python",
                _signature(f"qdialect.{name}", thing),
                "```",
                "",
                *_once(_said(thing).splitlines(), name, known),
                "",
            ]
    lines += ["# Classes of results", ""]
    for name, kind in _behind().items():
        lines += _class(name, kind)
    return "\n".join(line.rstrip() for line in lines).rstrip() + "\n"
