"""
Break the code in small ways, one at a time, and see whether the tests notice.

    python benchmarks/mutants.py [--count 300] [--seed 0] [--state FILE] [--map FILE] [--limit 60] [PATH ...]

A mutant is one change in one file: a comparison, an operator, a constant, a guard that never fires. First tests run
once under coverage, lit's files in the same process; `--map` keeps what they ran. Then each mutant is judged in a
process of its own, forked where everything but this project is imported: by the tests that run its lines, the quickest
first, until one fails or they have taken `--limit` seconds. A mutant that none fails on is printed with its line: it is
equal to the original, or a test is missing. What tests run in processes of their own is not counted among their lines.
With `--state`, what was judged is written down, and is not judged again.
"""

import argparse
import importlib
import json
import os
import random
import shutil
import signal
import subprocess
import sys
import tempfile
import time
from collections import Counter
from collections.abc import Sequence
from dataclasses import asdict
from pathlib import Path

import pytest

from mutation.changes import Mutant, mutants
from mutation.cover import Covered, suites
from mutation.inline import Inline

ROOT = Path(__file__).parents[1]
DEFAULT = ("transforms", "qdialect/patterns", "qdialect/promises", "qdialect/numerics", "qdialect/forms")
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
HEAVY = (
    "numpy",
    "onnx.helper",
    "onnx.reference",
    "onnxruntime",
    "ml_dtypes",
    "xdsl.dialects.builtin",
    "xdsl.dialects.func",
    "xdsl.parser",
    "xdsl.pattern_rewriter",
    "xdsl.printer",
    "xdsl.universe",
)
"""What a child need not import again."""


def copied(folder: Path) -> Path:
    """A copy of the tree to break, with the times of its files, and their bytecode."""
    for name in TREE:
        source = ROOT / name
        if source.is_dir():
            shutil.copytree(source, folder / name, symlinks=True)
        else:
            shutil.copy2(source, folder / name)
    return folder


def forked(tree: Path, arguments: Sequence[str], seconds: float) -> int | None:
    """pytest's status in a child that is in `tree`; None if it does not end."""
    child = os.fork()
    if not child:
        os.setsid()
        silence = os.open(os.devnull, os.O_RDWR)
        for stream in (0, 1, 2):
            os.dup2(silence, stream)
        os.chdir(tree)
        sys.dont_write_bytecode = True
        sys.path[:0] = [str(tree), str(tree / "benchmarks")]
        os.environ |= {"PYTHONPATH": str(tree), "PYTHONDONTWRITEBYTECODE": "1"}
        status = pytest.main(["-q", "-x", "-p", "no:cacheprovider", *arguments], plugins=[Inline()])
        os._exit(int(status))
    end = time.monotonic() + seconds
    while time.monotonic() < end:
        ended, status = os.waitpid(child, os.WNOHANG)
        if ended:
            return os.waitstatus_to_exitcode(status)
        time.sleep(0.02)
    os.killpg(child, signal.SIGKILL)
    os.waitpid(child, 0)
    return None


def verdict(tree: Path, mutant: Mutant, covered: Covered, limit: float) -> str:
    """`killed`, `endless`, `survives`, or `untested` if no test runs its lines."""
    tests = covered.tests(mutant.path, mutant.line, mutant.last, limit)
    if not tests:
        return "untested"
    file = tree / mutant.path
    data, stamp = file.read_bytes(), file.stat()
    file.write_bytes(mutant.apply(data))
    try:
        status = forked(tree, tests, 60 + 10 * limit)
    finally:
        file.write_bytes(data)
        os.utime(file, ns=(stamp.st_atime_ns, stamp.st_mtime_ns))
    return "endless" if status is None else "killed" if status else "survives"


def recorded(tree: Path, path: Path, jobs: int) -> Covered:
    """What tests run, read from `path` and a number, or recorded by so many processes."""
    parts = sorted(path.parent.glob(f"{path.name}.*"))
    if not parts:
        environment = os.environ | {"PYTHONPATH": f"{tree}{os.pathsep}{tree / 'benchmarks'}"}
        parts = [path.absolute().with_name(f"{path.name}.{k}") for k in range(jobs)]
        commands = [
            [sys.executable, "-m", "mutation.cover", str(part), *suite]
            for part, suite in zip(parts, suites(tree, jobs), strict=True)
        ]
        running = [subprocess.Popen(command, cwd=tree, env=environment) for command in commands]
        if any([one.wait() for one in running]):
            raise SystemExit("the tests were not recorded")
    return Covered.read(parts)


def chosen(paths: Sequence[str], count: int, seed: int) -> list[Mutant]:
    """So many mutants of the files and folders."""
    roots = [ROOT / p for p in paths]
    files = [f for root in roots for f in (sorted(root.rglob("*.py")) if root.is_dir() else [root])]
    every = [m for f in files for m in mutants(f, ROOT)]
    print(f"{len(every)} mutants in {len(files)} files", flush=True)
    return random.Random(seed).sample(every, min(count, len(every)))


def main() -> int:
    parser = argparse.ArgumentParser(
        description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter
    )
    parser.add_argument("paths", nargs="*", default=DEFAULT, metavar="PATH")
    parser.add_argument("--count", type=int, default=300)
    parser.add_argument("--seed", type=int, default=0)
    parser.add_argument("--limit", type=float, default=60, help="seconds of tests for one mutant")
    parser.add_argument("--jobs", type=int, default=2, help="how many processes record what tests run")
    parser.add_argument(
        "--map", type=Path, help="the beginning of files for what tests run, to be used again"
    )
    parser.add_argument("--state", type=Path, help="a file for verdicts, to stop and to continue")
    args = parser.parse_args()
    rows = (
        [json.loads(line) for line in args.state.read_text().splitlines()]
        if args.state and args.state.exists()
        else []
    )
    known = {(row["path"], row["start"], row["new"]): row["verdict"] for row in rows}
    counts: Counter[str] = Counter()
    with tempfile.TemporaryDirectory() as folder:
        tree = copied(Path(folder).resolve())
        covered = recorded(tree, args.map or tree / "map", args.jobs)
        for name in HEAVY:
            importlib.import_module(name)
        for mutant in chosen(args.paths, args.count, args.seed):
            key = (mutant.path, mutant.start, mutant.new)
            if key not in known:
                known[key] = verdict(tree, mutant, covered, args.limit)
                if args.state:
                    with args.state.open("a") as file:
                        file.write(json.dumps({**asdict(mutant), "verdict": known[key]}) + "\n")
            counts[known[key]] += 1
            if known[key] in ("survives", "untested"):
                print(
                    f"{known[key]} {mutant.path}:{mutant.line}: {mutant.old!r} -> {mutant.new!r}", flush=True
                )
    print(", ".join(f"{n} {k}" for k, n in sorted(counts.items())))
    return 0


if __name__ == "__main__":
    sys.exit(main())
