"""Which tests run a line, and how long each takes: the whole suite runs once, in this process, under coverage."""

from __future__ import annotations

import json
import os
import sys
import time
from collections.abc import Iterator, Mapping, Sequence
from dataclasses import dataclass
from pathlib import Path

import coverage
import pytest

from mutation.inline import Inline

LIT = ("test/transforms", "test/dialects", "test/issues")
LEFT_OUT = (
    "api", "bench", "benchmarks", "cli", "compare", "convolution_forms", "default_session", "docs", "external_data",
    "forms", "hostile", "keep_float", "layers", "linalg", "max_drop", "mlir_interop", "openvino", "options",
    "packaging", "phases", "plugin", "quantize", "quantize_recurrent", "random_graphs", "remarks", "report_page",
    "reports", "target_rules", "test_files", "tosa_verifier", "twice", "verdict", "writing_a_pass", "wrong_inputs",
)  # fmt: skip
"""Unit tests that start processes, or that take long for what they tell of a line."""
PARTS = ("qdialect", "transforms")


class Recorder:
    """A plugin that tells coverage which test runs, and keeps the seconds of those that pass."""

    def __init__(self, cover: coverage.Coverage):
        self.cover = cover
        self.seconds: dict[str, float] = {}

    @pytest.hookimpl(wrapper=True)
    def pytest_runtest_protocol(self, item: pytest.Item) -> Iterator[None]:
        """Around a test, its fixtures with it."""
        self.cover.switch_context(item.nodeid)
        start = time.perf_counter()
        passed = yield
        self.seconds.setdefault(item.nodeid, time.perf_counter() - start)
        self.cover.switch_context("")
        return passed

    def pytest_runtest_logreport(self, report: pytest.TestReport) -> None:
        """What fails without a change tells nothing."""
        if report.outcome != "passed":
            self.seconds[report.nodeid] = -1.0


@dataclass(frozen=True)
class Covered:
    """What `record` wrote."""

    seconds: Mapping[str, float]
    """Of each test that passes."""
    lines: Mapping[str, Mapping[int, frozenset[str]]]
    """By file, below the root, and line: the tests that run it. What an import runs has none."""

    @classmethod
    def read(cls, paths: Sequence[Path]) -> Covered:
        """From files, whose tests are others."""
        seconds: dict[str, float] = {}
        lines: dict[str, dict[int, frozenset[str]]] = {}
        for data in (json.loads(path.read_text()) for path in paths):
            names = list(data["seconds"])
            passing = {test: spent for test, spent in data["seconds"].items() if spent >= 0}
            seconds |= passing
            for file, rows in data["lines"].items():
                mine = lines.setdefault(file, {})
                for number, tests in rows.items():
                    running = frozenset(names[k] for k in tests) & passing.keys()
                    mine[int(number)] = mine.get(int(number), frozenset()) | running
        return cls(seconds, lines)

    def tests(self, path: str, first: int, last: int, limit: float) -> list[str]:
        """
        Tests that run a line of these, the quickest first, lit's files of the same name before them, up to `limit`
        seconds; where only an import runs them, tests that run most of the file.
        """
        rows = self.lines.get(path, {})
        running = {test for n in range(first, last + 1) for test in rows.get(n, ())}
        count = {test: 0 for test in self.seconds} if not running else {}
        for tests in rows.values() if not running else ():
            for test in tests:
                count[test] += 1
        stem = Path(path).stem
        flag = stem.replace("_", "-")

        def rank(test: str) -> tuple[bool, int, float]:
            near = f"/{flag}" in test.partition("::")[0] or f"test_{stem}" in test
            return not near, -count.get(test, 0), self.seconds[test]

        chosen: list[str] = []
        for test in sorted(running or {test for test, lines in count.items() if lines}, key=rank):
            limit -= self.seconds[test]
            if limit < 0 and len(chosen) >= 3:
                break
            chosen.append(test)
        return chosen


def suites(root: Path, count: int) -> list[list[str]]:
    """What is run for the lines, in so many parts."""
    files = [p for name in LIT for p in sorted((root / name).rglob("*.mlir"))]
    files += [p for p in sorted((root / "test/unit").glob("test_*.py")) if p.stem[5:] not in LEFT_OUT]
    names = [str(p.relative_to(root)) for p in files]
    return [names[k::count] for k in range(count)]


def record(root: Path, path: Path, suite: Sequence[str]) -> None:
    """Run tests of the tree at `root`, which is the current folder, and write what ran where."""
    cover = coverage.Coverage(
        data_file=None, branch=False, source=[str(root / p) for p in PARTS], config_file=False
    )
    recorder = Recorder(cover)
    cover.start()
    pytest.main(["-q", "-p", "no:cacheprovider", *suite], plugins=[recorder, Inline()])
    cover.stop()
    data = cover.get_data()
    place = {test: k for k, test in enumerate(recorder.seconds)}
    lines: dict[str, dict[int, set[int]]] = {}
    for file in data.measured_files():
        rows = lines.setdefault(os.path.relpath(os.path.realpath(file), os.path.realpath(root)), {})
        for number, contexts in data.contexts_by_lineno(file).items():
            rows.setdefault(number, set()).update(place[c] for c in contexts if c in place)
    flat = {file: {n: sorted(tests) for n, tests in rows.items()} for file, rows in lines.items()}
    path.write_text(json.dumps({"seconds": recorder.seconds, "lines": flat}))


if __name__ == "__main__":
    record(Path.cwd(), Path(sys.argv[1]), sys.argv[2:])
