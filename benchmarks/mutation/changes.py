"""What a mutant is: one small change of a file's text that the syntax tree proposes."""

from __future__ import annotations

import ast
from collections.abc import Iterator
from dataclasses import dataclass
from pathlib import Path

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

    def apply(self, data: bytes) -> bytes:
        """The file's bytes with the change."""
        return data[: self.start] + self.new.encode() + data[self.end :]


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


def mutants(path: Path, root: Path) -> Iterator[Mutant]:
    """Every mutant of a file, in its order."""
    data = path.read_bytes()
    starts = [0]
    for line in data.splitlines(keepends=True):
        starts.append(starts[-1] + len(line))
    tree = ast.parse(data)
    skipped = _skipped(tree)
    for node in ast.walk(tree):
        changed = None if node in skipped else _changed(node)
        place = node.test if isinstance(node, ast.If) else node
        if changed is None or not isinstance(place, ast.expr) or place.end_lineno is None:
            continue
        start = starts[place.lineno - 1] + place.col_offset
        end = starts[place.end_lineno - 1] + (place.end_col_offset or 0)
        old, new = data[start:end].decode(), f"({ast.unparse(changed)})"
        yield Mutant(str(path.relative_to(root)), place.lineno, place.end_lineno, start, end, old, new)
