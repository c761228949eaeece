"""What a mutant is: one small change in a function that the syntax tree proposes, and that function with the change."""

from __future__ import annotations

import ast
import gc
import hashlib
import importlib
from collections import Counter
from collections.abc import Iterator
from dataclasses import dataclass
from functools import cache
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


Cache = type(cache(len))


@dataclass(frozen=True)
class Function:
    """A function or method of a module."""

    path: str
    names: tuple[str, ...]
    """Its name, below those of the classes that it is in."""

    def module(self) -> ModuleType:
        """The file's module."""
        parts = Path(self.path).with_suffix("").parts
        parts = parts if parts[0] == "qdialect" else ("qdialect", *parts)
        return importlib.import_module(".".join(parts[:-1] if parts[-1] == "__init__" else parts))

    def replace(self, source: bytes | ast.Module, live: Live) -> bool:
        """Run what a changed source of the file has in its place, with all functions in it; whether that can be."""
        changed = dict(_codes(compile(source, self.module().__file__ or "", "exec")))
        name = ".".join(self.names)
        mine = [f for f in live.functions.get(self.module().__name__, ()) if _is_in(f.__code__, name)]
        for function in mine:
            code = changed.get((function.__code__.co_qualname, function.__code__.co_firstlineno))
            if code is None or function.__code__.co_freevars != code.co_freevars:
                return False
            function.__code__ = code
            for kept in live.caches.get(function, ()):
                kept.cache_clear()
        return bool(mine)


class Live:
    """The functions that there are in this process, in the modules that are imported."""

    def __init__(self):
        self.functions: dict[str, list[FunctionType]] = {}
        """By module; those in functions as well, that calls have returned."""
        self.caches: dict[FunctionType, list[Any]] = {}
        """What keeps results of one."""
        gc.unfreeze()  # `gc.get_objects` leaves out what is frozen, as test/conftest.py does with what was imported
        for one in gc.get_objects():
            if isinstance(one, FunctionType):
                self.functions.setdefault(one.__module__, []).append(one)
            elif isinstance(one, Cache) and isinstance(one.__wrapped__, FunctionType):
                self.caches.setdefault(one.__wrapped__, []).append(one)


@dataclass(frozen=True)
class Mutant:
    """One change: `new` in the place of what stands between two positions of a file."""

    function: Function
    line: int
    text: str
    """The line."""
    start: int
    """Offset in the file, in bytes."""
    end: int
    old: str
    new: str
    again: int
    """How many of the function's mutants before it have the same text, `old` and `new`."""

    @property
    def key(self) -> str:
        """What stays when lines around it change."""
        function = ".".join(self.function.names)
        return " | ".join((self.function.path, function, self.text, self.old, self.new, str(self.again)))

    def order(self, seed: int) -> str:
        """Its place in a random order in which a change of the code moves nothing else."""
        return hashlib.sha256(f"{seed} {self.key}".encode()).hexdigest()

    def apply(self, root: Path, live: Live) -> bool:
        """Change the function in this process; whether that can be."""
        data = (root / self.function.path).read_bytes()
        return self.function.replace(data[: self.start] + self.new.encode() + data[self.end :], live)


def _codes(code: CodeType) -> Iterator[tuple[tuple[str, int], CodeType]]:
    """All functions in a code, by name and first line."""
    for part in code.co_consts:
        if isinstance(part, CodeType):
            yield (part.co_qualname, part.co_firstlineno), part
            yield from _codes(part)


def _is_in(code: CodeType, name: str) -> bool:
    """Whether a code is that of a function, or of one in it."""
    return f"{code.co_qualname}.".startswith(f"{name}.")


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
    What changes no behaviour, or breaks the import: annotations, decorators, asserts and the `strict` of zip; and
    f-strings, whose parts have no positions in Python 3.11.
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
        elif isinstance(node, ast.keyword) and node.arg == "strict":
            parts = [node.value]
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


def mutants(path: Path, root: Path) -> tuple[ast.Module, dict[ast.AST, Mutant]]:
    """A file's tree, and every mutant of its functions by the node that it changes."""
    data = path.read_bytes()
    lines = data.splitlines(keepends=True)
    starts = [0]
    for line in lines:
        starts.append(starts[-1] + len(line))
    tree = ast.parse(data)
    skipped = _skipped(tree)
    every: dict[ast.AST, Mutant] = {}
    seen: Counter[tuple[tuple[str, ...], str, str, str]] = Counter()
    for names, body in _functions(tree):
        function = Function(str(path.relative_to(root)), names)
        for node in (inner for part in body.body for inner in ast.walk(part)):
            changed = None if node in skipped else _changed(node)
            place = node.test if isinstance(node, ast.If) else node
            if changed is None or not isinstance(place, ast.expr) or place.end_lineno is None:
                continue
            start = starts[place.lineno - 1] + place.col_offset
            end = starts[place.end_lineno - 1] + (place.end_col_offset or 0)
            text = lines[place.lineno - 1].decode().strip()
            old, new = data[start:end].decode(), f"({ast.unparse(changed)})"
            again = seen[names, text, old, new]
            every[node] = Mutant(function, place.lineno, text, start, end, old, new, again)
            seen[names, text, old, new] += 1
    return tree, every
