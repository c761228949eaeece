"""
Break the code in small ways, one at a time, and see whether the tests notice.

    python benchmarks/mutants.py [--count 300] [--seed 0] [--state FILE] [--map FILE] [--limit 60]
                                 [PATH ...] [--tests FILE ...]

A mutant is one change in one function: a comparison, an operator, a constant, a guard that never fires. First tests run
once, lit's files in the same process, and what mutants change is computed both ways: a test that a mutant makes no
difference to need not be asked; `--map` keeps this. Then each mutant is judged in a fork, where everything is imported
and collected: by the tests that are left, the quickest first, until one fails or they have taken `--limit` seconds. A
mutant that none fails on is printed with its line: a test is missing, or it is equal to the original, which
`mutation/equal.toml` says with a reason. What an import runs is not changed, and tests that start processes see no
change. With `--state`, what was judged is written down, and is not judged again.
"""

import argparse
import gc
import json
import os
import resource
import signal
import sys
import tempfile
import time
import tomllib
from collections import Counter
from collections.abc import Callable, Sequence
from dataclasses import asdict, dataclass, field
from functools import partial
from itertools import zip_longest
from pathlib import Path

import pytest

from mutation.changes import Live, Mutant, mutants
from mutation.inline import Inline
from mutation.probes import Recorder, tests

ROOT = Path(__file__).parents[1]
EQUAL = Path(__file__).parent / "mutation" / "equal.toml"
DEFAULT = ("transforms", "qdialect/patterns", "qdialect/promises", "qdialect/numerics", "qdialect/forms")
LIT = ("test/transforms", "test/dialects", "test/issues", "test/pipelines")
LEFT_OUT = (
    "cli/test_bench",
    "cli/test_cli",
    "cli/test_wrong_inputs",
    "compiler/test_options",
    "compiler/test_pipeline",
    "house/test_author_pages",
    "house/test_benchmarks",
    "house/test_docs",
    "house/test_layers",
    "house/test_lit_files",
    "house/test_packaging",
    "onnx_io/test_hostile",
    "ops/test_outside",
    "quantizer/test_quantize",
    "report/page/test_html",
    "targets/test_openvino",
    "test_api",
    "text/test_upstream",
    "upstream/tosa_dialect/test_checks",
)
"""Unit tests that start processes, or that take long for what they tell of a line."""
UNKNOWN = 3
VERDICTS = {0: "survives", UNKNOWN: "is not changed"}
"""By how a fork ends."""
MEMORY = 8 << 30
"""Bytes of addresses that a changed program may take."""


def suite() -> list[str]:
    """Test files."""
    files = [p for name in LIT for p in sorted((ROOT / name).rglob("*.mlir"))]
    left_out = {ROOT / "test/unit" / f"{name}.py" for name in LEFT_OUT}
    files += [p for p in sorted((ROOT / "test/unit").rglob("test_*.py")) if p not in left_out]
    return [str(p.relative_to(ROOT)) for p in files]


def equal(path: Path = EQUAL) -> dict[tuple[str, str, str, str], str]:
    """Why a mutant cannot be told from the original, by its file, line, old and new text."""
    rows = tomllib.loads(path.read_text())["equal"]
    return {(row["path"], row["text"], row["old"], row["new"]): row["why"] for row in rows}


def identity(mutant: Mutant) -> tuple[str, str, str, str]:
    """What `equal` knows it by."""
    return mutant.function.path, mutant.text, mutant.old, mutant.new


@dataclass
class Record:
    """What `Recorder` says."""

    seconds: dict[str, float] = field(default_factory=dict[str, float])
    tests: dict[str, list[str]] = field(default_factory=dict[str, list[str]])
    reached: list[str] = field(default_factory=list[str])


def fork(job: Callable[[], int], seconds: float) -> int:
    """Run a function in a silent child, for at most so long; the status, negative for a signal."""
    child = os.fork()
    if not child:
        os.setpgid(0, 0)
        silence = os.open(os.devnull, os.O_RDWR)
        for stream in (0, 1, 2):
            os.dup2(silence, stream)
        os._exit(job())
    end = time.monotonic() + seconds
    while time.monotonic() < end:
        ended, status = os.waitpid(child, os.WNOHANG)
        if ended:
            return os.waitstatus_to_exitcode(status)
        time.sleep(0.02)
    os.killpg(child, signal.SIGKILL)
    os.waitpid(child, 0)
    return -signal.SIGKILL


class Judge:
    """A plugin that runs tests in forks, in the place of pytest's own loop: all for the map, then some for a mutant."""

    def __init__(
        self, chosen: Sequence[Mutant], path: Path, limit: float, say: Callable[[Mutant, str], None]
    ):
        self.chosen, self.path, self.limit, self.say = chosen, path, limit, say
        self.failed = False

    def pytest_runtest_logreport(self, report: pytest.TestReport) -> None:
        """In a fork: what a test says."""
        self.failed |= report.failed

    def pytest_runtestloop(self, session: pytest.Session) -> bool:
        """Judge all mutants."""
        for mutant in self.chosen:
            mutant.function.module()  # passes are imported when they run
        gc.collect()
        self.live = Live()
        gc.freeze()  # what a fork does not touch stays shared
        record = self._record(session)
        items = {item.nodeid: item for item in session.items}
        for mutant in self.chosen:
            if mutant.key not in record.reached:
                self.say(mutant, "is not reached")
                continue
            named = tests(mutant, record.tests[mutant.key], record.seconds, self.limit)
            seconds = [record.seconds[test] for test in named]
            job = partial(self._judge, mutant, [items[test] for test in named], seconds)
            self.say(mutant, VERDICTS.get(fork(job, 60 + 20 * sum(seconds)), "killed"))
        return True

    def _record(self, session: pytest.Session) -> Record:
        record = Record(**json.loads(self.path.read_text())) if self.path.exists() else Record()
        new = [mutant for mutant in self.chosen if mutant.key not in record.tests]
        if new and fork(partial(self._run_all, session.items, new, record), 4 * 3600):
            raise SystemExit("the tests were not recorded")
        return Record(**json.loads(self.path.read_text()))

    def _run_all(self, items: Sequence[pytest.Item], new: Sequence[Mutant], record: Record) -> int:
        recorder = Recorder(ROOT, new, self.live)
        items[0].config.pluginmanager.register(recorder)
        self._run(items)
        record.seconds |= recorder.seconds
        record.tests |= {key: list(contexts) for key, contexts in recorder.tests.items()}
        record.reached += recorder.reached
        self.path.write_text(json.dumps(asdict(record)))
        return 0

    def _judge(self, mutant: Mutant, items: Sequence[pytest.Item], seconds: Sequence[float]) -> int:
        if not mutant.apply(ROOT, self.live):
            return UNKNOWN
        resource.setrlimit(resource.RLIMIT_AS, (MEMORY, MEMORY))
        for test, following, usual in zip_longest(items, items[1:], seconds):
            signal.setitimer(
                signal.ITIMER_PROF, 10 + 10 * usual
            )  # of processor time; its signal ends the fork
            self._run([test], following)
            if self.failed:
                return 1
        return 0

    @staticmethod
    def _run(items: Sequence[pytest.Item], last: pytest.Item | None = None) -> None:
        for test, following in zip(items, [*items[1:], last], strict=True):
            test.config.hook.pytest_runtest_protocol(item=test, nextitem=following)


def chosen(paths: Sequence[str], count: int, seed: int) -> list[Mutant]:
    """So many mutants of the files and folders."""
    roots = [ROOT / p for p in paths]
    files = [f for root in roots for f in (sorted(root.rglob("*.py")) if root.is_dir() else [root])]
    every = [mutant for f in files for mutant in mutants(f, ROOT)[1].values()]
    print(f"{len(every)} mutants in {len(files)} files", flush=True)
    return sorted(every, key=lambda mutant: mutant.order(seed))[:count]


def main() -> int:
    parser = argparse.ArgumentParser(
        description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter
    )
    parser.add_argument("paths", nargs="*", default=DEFAULT, metavar="PATH")
    parser.add_argument("--count", type=int, default=300)
    parser.add_argument("--seed", type=int, default=0)
    parser.add_argument("--tests", nargs="+", default=suite(), help="files of tests, in place of all")
    parser.add_argument("--limit", type=float, default=60, help="seconds of tests for one mutant")
    parser.add_argument("--map", type=Path, help="a file for what tests tell, to be used again")
    parser.add_argument("--state", type=Path, help="a file for verdicts, to stop and to continue")
    args = parser.parse_args()
    rows = args.state.read_text().splitlines() if args.state and args.state.exists() else []
    known = {row["key"]: row["verdict"] for row in map(json.loads, rows)}
    reasons = equal()
    counts: Counter[str] = Counter()

    def say(mutant: Mutant, verdict: str) -> None:
        counts[verdict] += 1
        if verdict not in ("killed", "equal"):
            place = f"{mutant.function.path}:{mutant.line}"
            print(f"{verdict}: {place}: {mutant.old!r} -> {mutant.new!r}", flush=True)
        if args.state and verdict != "equal" and mutant.key not in known:
            with args.state.open("a") as file:
                file.write(json.dumps({"key": mutant.key, "verdict": verdict}) + "\n")

    new: list[Mutant] = []
    for mutant in chosen(args.paths, args.count, args.seed):
        verdict = "equal" if identity(mutant) in reasons else known.get(mutant.key)
        if verdict is None:
            new.append(mutant)
        else:
            say(mutant, verdict)
    os.chdir(ROOT)
    with tempfile.TemporaryDirectory() as folder:
        judge = Judge(new, args.map or Path(folder, "map"), args.limit, say)
        pytest.main(["-q", "-s", "-p", "no:cacheprovider", *args.tests], plugins=[Inline(), judge])
    print(", ".join(f"{n} {k}" for k, n in sorted(counts.items())))
    unequal = counts.total() - counts["equal"]
    print(f"{counts['killed'] / max(unequal, 1):.1%} of {unequal} that are not equal are killed")
    return 0


if __name__ == "__main__":
    sys.exit(main())
