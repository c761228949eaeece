"""
Break the code in small ways, one at a time, and see whether the tests notice.

    python benchmarks/mutants.py [--count 300] [--seed 0] [--state FILE] [--map FILE] [--limit 60] [PATH ...]

A mutant is one change in one function: a comparison, an operator, a constant, a guard that never fires. First tests run
once under coverage, lit's files in the same process; `--map` keeps what they ran. Then each mutant is judged in a fork,
where everything is imported and collected: by the tests that run its lines, the quickest first, until one fails or they
have taken `--limit` seconds. A mutant that none fails on is printed with its line: it is equal to the original, or a
test is missing. What an import runs is not changed, and tests that start processes see no change. With `--state`, what
was judged is written down, and is not judged again.
"""

import argparse
import gc
import json
import os
import random
import signal
import subprocess
import sys
import tempfile
import time
from collections import Counter
from collections.abc import Callable, Sequence
from dataclasses import asdict
from itertools import zip_longest
from pathlib import Path

import pytest

from mutation.changes import Mutant, mutants
from mutation.cover import Covered, suites
from mutation.inline import Inline

ROOT = Path(__file__).parents[1]
DEFAULT = ("transforms", "qdialect/patterns", "qdialect/promises", "qdialect/numerics", "qdialect/forms")
UNKNOWN = 3
VERDICTS = {0: "survives", UNKNOWN: "not changed"}
"""By how a fork ends."""


class Judge:
    """A plugin that runs tests in forks, a mutant in each, in the place of pytest's own loop."""

    def __init__(
        self, covered: Covered, limit: float, mutants: Sequence[Mutant], told: Callable[[Mutant, str], None]
    ):
        self.covered, self.limit, self.mutants, self.told = covered, limit, mutants, told
        self.failed = False

    def pytest_runtest_logreport(self, report: pytest.TestReport) -> None:
        """In a fork: what a test says."""
        self.failed |= report.failed

    def pytest_runtestloop(self, session: pytest.Session) -> bool:
        """Judge all mutants."""
        items = {item.nodeid: item for item in session.items}
        gc.collect()
        gc.freeze()  # what a fork does not touch stays shared
        for mutant in self.mutants:
            tests = self.covered.tests(mutant.path, mutant.line, mutant.last, self.limit)
            self.told(mutant, self._verdict(mutant, [items[test] for test in tests if test in items]))
        return True

    def _verdict(self, mutant: Mutant, tests: Sequence[pytest.Item]) -> str:
        if not tests:
            return "untested"
        child = os.fork()
        if not child:
            os.setsid()
            silence = os.open(os.devnull, os.O_RDWR)
            for stream in (0, 1, 2):
                os.dup2(silence, stream)
            os._exit(self._run(mutant, tests))
        end = time.monotonic() + 120 + 20 * self.limit
        while time.monotonic() < end:
            ended, status = os.waitpid(child, os.WNOHANG)
            if ended:
                return VERDICTS.get(os.waitstatus_to_exitcode(status), "killed")
            time.sleep(0.02)
        os.killpg(child, signal.SIGKILL)
        os.waitpid(child, 0)
        return "endless"

    def _run(self, mutant: Mutant, tests: Sequence[pytest.Item]) -> int:
        if not mutant.apply(ROOT):
            return UNKNOWN
        for test, following in zip_longest(tests, tests[1:]):
            test.config.hook.pytest_runtest_protocol(item=test, nextitem=following)
            if self.failed:
                return 1
        return 0


def recorded(path: Path, jobs: int) -> Covered:
    """What tests run, read from `path` and a number, or recorded by so many processes."""
    parts = sorted(path.parent.glob(f"{path.name}.*"))
    if not parts:
        environment = os.environ | {"PYTHONPATH": f"{ROOT}{os.pathsep}{ROOT / 'benchmarks'}"}
        parts = [path.absolute().with_name(f"{path.name}.{k}") for k in range(jobs)]
        commands = [
            [sys.executable, "-m", "mutation.cover", str(part), *suite]
            for part, suite in zip(parts, suites(ROOT, jobs), strict=True)
        ]
        running = [subprocess.Popen(command, cwd=ROOT, env=environment) for command in commands]
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

    def told(mutant: Mutant, verdict: str) -> None:
        counts[verdict] += 1
        if verdict in ("survives", "untested"):
            print(f"{verdict} {mutant.path}:{mutant.line}: {mutant.old!r} -> {mutant.new!r}", flush=True)
        if args.state and (mutant.path, mutant.start, mutant.new) not in known:
            with args.state.open("a") as file:
                file.write(json.dumps({**asdict(mutant), "verdict": verdict}) + "\n")

    with tempfile.TemporaryDirectory() as folder:
        covered = recorded(args.map or Path(folder, "map"), args.jobs)
    new: list[Mutant] = []
    for mutant in chosen(args.paths, args.count, args.seed):
        verdict = known.get((mutant.path, mutant.start, mutant.new))
        if verdict is None:
            new.append(mutant)
        else:
            told(mutant, verdict)
    os.chdir(ROOT)
    arguments = ["-q", "-s", "-p", "no:cacheprovider", *suites(ROOT, 1)[0]]
    pytest.main(arguments, plugins=[Inline(), Judge(covered, args.limit, new, told)])
    print(", ".join(f"{n} {k}" for k, n in sorted(counts.items())))
    return 0


if __name__ == "__main__":
    sys.exit(main())
