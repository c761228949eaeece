"""What a mutant is: one small change in a function that the syntax tree proposes, and that function with the change."""

from __future__ import annotations

import ast
import importlib
import inspect
from collections.abc import Iterator, Sequence
from dataclasses import dataclass
from functools import cached_property
from pathlib import Path
from types import CodeType, FunctionType, ModuleType
from typing import Any

COMPARISONS: dict[type[ast.cmpop], type[ast.cmpop]] = {
    ast.Lt: ast.LtE,
    ast.LtE: ast.Lt,
    ast.Gt: ast.GtE,
    ast.GtE: ast.Gt,
    ast.Eq: ast.NotEq,
    ast.NotEq: ast.Eq,
    ast.Is: ast.IsNot,
    ast.IsNot: ast.Is,
    ast.In: ast.NotIn,
    ast.NotIn: ast.In,
}
OPERATORS: dict[type[ast.operator], type[ast.operator]] = {
    ast.Add: ast.Sub,
    ast.Sub: ast.Add,
    ast.Mult: ast.Div,
    ast.Div: ast.Mult,
    ast.FloorDiv: ast.Mult,
    ast.LShift: ast.RShift,
}


@dataclass(frozen=True)
class Mutant:
    """One change: `new` in the place of what stands between two positions of a file."""

    path: str
    line: int
    last: int
    """The last line of what is changed."""
    start: int
    """Offset in the file, in bytes."""
    end: int
    old: str
    new: str

    function: tuple[str, ...]
    """The function that it is in, below the classes that this is in."""
    first: int
    """The first line of that."""

    def module(self) -> ModuleType:
        """The file's module."""
        parts = Path(self.path).with_suffix("").parts
        parts = parts if parts[0] == "qdialect" else ("qdialect", *parts)
        return importlib.import_module(".".join(parts[:-1] if parts[-1] == "__init__" else parts))

    def apply(self, root: Path) -> bool:
        """Change the function in this process; whether it could be found."""
        module, data = self.module(), (root / self.path).read_bytes()
        data = data[: self.start] + self.new.encode() + data[self.end :]
        code = _code(compile(data, module.__file__ or "", "exec"), self.function, self.first)
        live: Any = module
        for name in self.function:
            live = vars(live).get(name)
        if hasattr(live, "cache_clear"):
            live.cache_clear()
        live = live.fget if isinstance(live, property) else live
        live = live.func if isinstance(live, cached_property) else live
        live = live.__func__ if isinstance(live, staticmethod | classmethod) else live
        live = inspect.unwrap(live) if callable(live) else live
        if (
            code is None
            or not isinstance(live, FunctionType)
            or live.__code__.co_freevars != code.co_freevars
        ):
            return False
        live.__code__ = code
        return True


def _code(code: CodeType, names: Sequence[str], first: int) -> CodeType | None:
    """The code of a function in that of its module."""
    for part in code.co_consts:
        if isinstance(part, CodeType) and part.co_name == names[0]:
            if len(names) > 1:
                inner = _code(part, names[1:], first)
            else:
                inner = part if part.co_firstlineno == first else None
            if inner is not None:
                return inner
    return None


def _changed(node: ast.AST) -> ast.AST | None:
    """`node` with one thing different, or None if there is nothing to change."""
    if isinstance(node, ast.Compare) and type(node.ops[0]) in COMPARISONS:
        return ast.Compare(node.left, [COMPARISONS[type(node.ops[0])](), *node.ops[1:]], node.comparators)
    if isinstance(node, ast.BinOp) and type(node.op) in OPERATORS:
        return ast.BinOp(node.left, OPERATORS[type(node.op)](), node.right)
    if isinstance(node, ast.BoolOp):
        return ast.BoolOp(ast.Or() if isinstance(node.op, ast.And) else ast.And(), node.values)
    if isinstance(node, ast.UnaryOp) and isinstance(node.op, ast.Not | ast.USub):
        return node.operand
    if isinstance(node, ast.Constant) and isinstance(node.value, bool):
        return ast.Constant(not node.value)
    if isinstance(node, ast.Constant) and isinstance(node.value, int):
        return ast.Constant(node.value + 1)
    if isinstance(node, ast.If) and any(
        isinstance(n, ast.Name) and n.id == "Blocked" for n in ast.walk(node)
    ):
        return ast.Constant(False)  # in the place of the test: the guard never fires
    return None


def _skipped(tree: ast.Module) -> set[ast.AST]:
    """
    What changes no behaviour, or breaks the import: annotations, decorators, asserts; and f-strings, whose parts have
    no positions in Python 3.11.
    """
    skipped: set[ast.AST] = set()
    for node in ast.walk(tree):
        parts: list[ast.AST | None] = []
        if isinstance(node, ast.AnnAssign):
            parts = [node.annotation]
        elif isinstance(node, ast.FunctionDef):
            parts = [*node.decorator_list, node.returns, *(a.annotation for a in node.args.args)]
        elif isinstance(node, ast.Assert | ast.JoinedStr):
            parts = [node]
        skipped |= {inner for part in parts if part is not None for inner in ast.walk(part)}
    return skipped


def _functions(
    node: ast.AST, names: tuple[str, ...] = ()
) -> Iterator[tuple[tuple[str, ...], ast.FunctionDef]]:
    """Functions and methods, but for those in functions."""
    for child in ast.iter_child_nodes(node):
        if isinstance(child, ast.FunctionDef):
            yield (*names, child.name), child
        elif isinstance(child, ast.ClassDef):
            yield from _functions(child, (*names, child.name))


def mutants(path: Path, root: Path) -> Iterator[Mutant]:
    """Every mutant of a file's functions, in its order."""
    data = path.read_bytes()
    starts = [0]
    for line in data.splitlines(keepends=True):
        starts.append(starts[-1] + len(line))
    tree = ast.parse(data)
    skipped = _skipped(tree)
    for names, function in _functions(tree):
        first = min(part.lineno for part in (function, *function.decorator_list))
        for node in (inner for part in function.body for inner in ast.walk(part)):
            changed = None if node in skipped else _changed(node)
            place = node.test if isinstance(node, ast.If) else node
            if changed is None or not isinstance(place, ast.expr) or place.end_lineno is None:
                continue
            start = starts[place.lineno - 1] + place.col_offset
            end = starts[place.end_lineno - 1] + (place.end_col_offset or 0)
            old, new = data[start:end].decode(), f"({ast.unparse(changed)})"
            lines = place.lineno, place.end_lineno
            yield Mutant(str(path.relative_to(root)), *lines, start, end, old, new, names, first)
