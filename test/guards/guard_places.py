"""
The places where the sources give a reason why a rewrite does not fire, found and instrumented in their syntax trees.

A place is a `Blocked(...)` inside a function, or a name there that a module binds to one (`UNKNOWN_RANK`); in
`required(value, reason)`, it gives the reason if the value is None. It is
called `file:function id`, with a number where a function has several of one id, so that edits elsewhere in the file
leave the name as it is.
"""

from __future__ import annotations

import ast
import re
from collections import Counter
from functools import cache
from pathlib import Path

ROOT = Path(__file__).parents[2]
SOURCES = ("qdialect", "transforms")
RECORD, RECORD_NONE = "__guard__", "__guard_of_none__"
"""
The built-in functions that instrumented code hands every reason to, or every value that is `required`, with the place.
"""

BINDS_A_REASON = re.compile(r"^ *([A-Z_]+)(?:: [^=\n]+)? = Blocked\(", re.MULTILINE)


def sources() -> list[Path]:
    paths = (p.resolve() for folder in SOURCES for p in (ROOT / folder).rglob("*.py"))
    return sorted(set(paths))


@cache
def shared_reasons() -> frozenset[str]:
    """The names that modules and classes bind to reasons."""
    return frozenset(name for path in sources() for name in BINDS_A_REASON.findall(path.read_text()))


def reasons_known_to(tree: ast.Module) -> set[str]:
    """The names that are reasons in a module: its own, and those that it imports."""
    imported = {a.name for n in ast.walk(tree) if isinstance(n, ast.ImportFrom) for a in n.names}
    own = set(BINDS_A_REASON.findall(ast.unparse(tree)))
    return own | (imported & shared_reasons())


class Instrument(ast.NodeTransformer):
    """Wrap every place as `__guard__("the place", Blocked(...))`; `places` has the line of each."""

    def __init__(self, path: Path, reasons: set[str]):
        self.file = path.relative_to(ROOT).as_posix()
        self.reasons = reasons
        self.scope: list[str] = []
        self.depth = 0
        self.seen: Counter[str] = Counter()
        self.places: dict[str, int] = {}

    def _inside(self, node: ast.AST, name: str, is_function: bool) -> ast.AST:
        self.scope.append(name)
        self.depth += is_function
        node = self.generic_visit(node)
        self.depth -= is_function
        self.scope.pop()
        return node

    def visit_ClassDef(self, node: ast.ClassDef) -> ast.AST:
        return self._inside(node, node.name, False)

    def visit_FunctionDef(self, node: ast.FunctionDef) -> ast.AST:
        return self._inside(node, node.name, True)

    def visit_Lambda(self, node: ast.Lambda) -> ast.AST:
        return self._inside(node, "lambda", True)

    def visit_Compare(self, node: ast.Compare) -> ast.AST:
        """A reason that another is compared with is not given."""
        return node

    def visit_Call(self, node: ast.Call) -> ast.AST:
        name = node.func.id if isinstance(node.func, ast.Name) else ""
        if name == "required":  # the reason is given if the value is None
            value, reason = node.args
            node.args[0] = self._wrapped(self.visit(value), _id_of(reason), RECORD_NONE)
            return node
        self.generic_visit(node)
        return self._wrapped(node, _id_of(node)) if name == "Blocked" else node

    def visit_Name(self, node: ast.Name) -> ast.AST:
        is_reason = isinstance(node.ctx, ast.Load) and node.id in self.reasons
        return self._wrapped(node, node.id) if is_reason else node

    def _wrapped(self, node: ast.expr, reason: str, by: str = RECORD) -> ast.expr:
        if not self.depth:
            return node
        place = f"{self.file}:{'.'.join(self.scope)} {reason}"
        self.seen[place] += 1
        if self.seen[place] > 1:
            place += f" #{self.seen[place]}"
        self.places[place] = node.lineno
        record = ast.Name(by, ast.Load())
        return ast.fix_missing_locations(
            ast.copy_location(ast.Call(record, [ast.Constant(place), node], []), node)
        )


def _id_of(reason: ast.expr) -> str:
    """The name that is bound to a reason, or the id of one that is stated."""
    return reason.id if isinstance(reason, ast.Name) else ast.literal_eval(reason.args[0])  # pyright: ignore


def instrumented(path: Path, source: str | bytes) -> tuple[ast.AST, dict[str, int]]:
    """The syntax tree of a file with every place wrapped, and the line of each place."""
    tree = ast.parse(source)
    instrument = Instrument(path, reasons_known_to(tree))
    return instrument.visit(tree), instrument.places


def all_places() -> dict[str, int]:
    return {k: line for path in sources() for k, line in instrumented(path, path.read_text())[1].items()}
