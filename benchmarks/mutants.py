"""
Break the code in small ways, one at a time, and see whether the tests notice.

    python benchmarks/mutants.py [--count 300] [--seed 0] [--jobs 2] [--json FILE] [PATH ...]

A mutant is one change in one file (by default of `transforms/`, `qdialect/promises/` and `qdialect/numerics`): a
comparison, an operator, a constant, a guard that never fires. Tests run from the nearest to the farthest (the pass's
own lit files and the unit tests that name the module or its room, then all of lit, then all of pytest) until one fails.
A mutant that none fails on is printed with its line: it is equal to the original, or a test is missing.
"""

import argparse
import ast
import json
import os
import random
import shutil
import subprocess
import sys
import tempfile
from collections.abc import Iterator, Sequence
from concurrent.futures import ThreadPoolExecutor
from dataclasses import asdict, dataclass
from pathlib import Path
from queue import SimpleQueue

ROOT = Path(__file__).parents[1]
DEFAULT = ("transforms", "qdialect/promises", "qdialect/numerics")
TREE = (
    "qdialect",
    "transforms",
    "test",
    "benchmarks",
    "examples",
    "docs",
    "lit.cfg.py",
    "pyproject.toml",
    "README.md",
)

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
    start: int
    """Offset in the file's text, in characters."""
    end: int
    old: str
    new: str


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
    """Annotations, decorators and defaults of fields: changing them changes no behaviour, or breaks the import."""
    skipped: set[ast.AST] = set()
    for node in ast.walk(tree):
        if isinstance(node, ast.AnnAssign):
            skipped |= set(ast.walk(node.annotation))
        elif isinstance(node, ast.FunctionDef):
            for part in (*node.decorator_list, node.returns, *(a.annotation for a in node.args.args)):
                skipped |= set(ast.walk(part)) if part is not None else set()
        elif isinstance(node, ast.Assert | ast.Subscript):
            skipped |= set(ast.walk(node)) if isinstance(node, ast.Assert) else set()
    return skipped


def mutants(path: Path) -> Iterator[Mutant]:
    """Every mutant of a file, in its order."""
    text = path.read_text()
    starts = [0]
    for line in text.splitlines(keepends=True):
        starts.append(starts[-1] + len(line))
    tree = ast.parse(text)
    skipped = _skipped(tree)
    for node in ast.walk(tree):
        changed = None if node in skipped else _changed(node)
        place = node.test if isinstance(node, ast.If) else node
        if changed is None or not isinstance(place, ast.expr) or place.end_lineno is None:
            continue
        start = starts[place.lineno - 1] + place.col_offset
        end = starts[place.end_lineno - 1] + (place.end_col_offset or 0)
        if text.isascii():  # columns are counted in bytes
            new = f"({ast.unparse(changed)})"
            yield Mutant(str(path.relative_to(ROOT)), place.lineno, start, end, text[start:end], new)


def nearest(path: str) -> tuple[list[str], list[str]]:
    """The lit files and unit tests that are about a file."""
    stem = Path(path).stem
    flag = stem.replace("_", "-")
    lit = [
        str(p.relative_to(ROOT))
        for p in (ROOT / "test").rglob("*.mlir")
        if p.stem.startswith(flag) or flag in p.parts
    ]
    units = [
        p
        for p in (ROOT / "test" / "unit").glob("test_*.py")
        if stem in p.stem or f".{stem} " in p.read_text()
    ]
    return lit, sorted(str(p.relative_to(ROOT)) for p in units)


def _fails(tree: Path, command: Sequence[str], seconds: int) -> bool:
    environment = os.environ | {"PYTHONPATH": str(tree), "PYTHONDONTWRITEBYTECODE": "1"}
    try:
        done = subprocess.run(
            command, cwd=tree, env=environment, capture_output=True, timeout=seconds, check=False
        )
    except subprocess.TimeoutExpired:
        return True  # what does not end is noticed
    return done.returncode != 0


def verdict(tree: Path, mutant: Mutant) -> str:
    """Which tests notice: `near`, `lit`, `pytest`, or `survives`."""
    file = tree / mutant.path
    text = file.read_text()
    file.write_text(text[: mutant.start] + mutant.new + text[mutant.end :])
    scripts = Path(sys.executable).parent
    lit = [str(scripts / "lit"), "-q", "-j1"]
    pytest = [str(scripts / "pytest"), "-q", "-x", "-p", "no:cacheprovider"]
    near_lit, near_units = nearest(mutant.path)
    try:
        if near_lit and _fails(tree, [*lit, *near_lit], 120):
            return "near"
        if near_units and _fails(tree, [*pytest, *near_units], 300):
            return "near"
        if _fails(tree, [*lit, "test"], 300):
            return "lit"
        return "pytest" if _fails(tree, pytest, 900) else "survives"
    finally:
        file.write_text(text)


def copied(folder: Path) -> Path:
    """A copy of the tree to break."""
    for name in TREE:
        source = ROOT / name
        if source.is_dir():
            shutil.copytree(
                source, folder / name, symlinks=True, ignore=shutil.ignore_patterns("__pycache__")
            )
        else:
            shutil.copy(source, folder / name)
    return folder


def main() -> int:
    parser = argparse.ArgumentParser(
        description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter
    )
    parser.add_argument("paths", nargs="*", default=DEFAULT, metavar="PATH")
    parser.add_argument("--count", type=int, default=300)
    parser.add_argument("--seed", type=int, default=0)
    parser.add_argument("--jobs", type=int, default=2)
    parser.add_argument("--json", type=Path)
    args = parser.parse_args()
    roots = [ROOT / p for p in args.paths]
    files = [f for root in roots for f in (sorted(root.glob("*.py")) if root.is_dir() else [root])]
    every = [m for f in files for m in mutants(f)]
    chosen = random.Random(args.seed).sample(every, min(args.count, len(every)))
    trees: SimpleQueue[Path] = SimpleQueue()
    counts: dict[str, int] = {}
    rows: list[dict[str, object]] = []
    with tempfile.TemporaryDirectory() as folder, ThreadPoolExecutor(args.jobs) as pool:
        for k in range(args.jobs):
            (place := Path(folder) / str(k)).mkdir()
            trees.put(copied(place))

        def judge(mutant: Mutant) -> tuple[Mutant, str]:
            tree = trees.get()
            try:
                return mutant, verdict(tree, mutant)
            finally:
                trees.put(tree)

        for mutant, result in pool.map(judge, chosen):
            counts[result] = counts.get(result, 0) + 1
            rows.append({**asdict(mutant), "verdict": result})
            if result == "survives":
                print(f"{mutant.path}:{mutant.line}: {mutant.old!r} -> {mutant.new!r}", flush=True)
            if args.json:
                args.json.write_text(json.dumps(rows, indent=1))
    print(f"{len(chosen)} of {len(every)} mutants:", ", ".join(f"{n} {k}" for k, n in sorted(counts.items())))
    return 0


if __name__ == "__main__":
    sys.exit(main())
