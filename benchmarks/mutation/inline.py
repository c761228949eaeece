"""lit's files as tests of pytest."""

from __future__ import annotations

import subprocess
import sys
import tempfile
import warnings
from collections.abc import Iterator
from pathlib import Path

import pytest

sys.path.append(str(Path(__file__).parents[2] / "test"))
from in_process import failure, pipes


class LitItem(pytest.Item):
    """All RUN lines of a file."""

    def runtest(self) -> None:
        """Fail as lit does, which runs what is of other commands than the two tools."""
        with tempfile.TemporaryDirectory() as folder:
            rows = pipes(self.path.read_text(), str(self.path), str(Path(folder, "t")))
            if rows is None:
                lit = Path(sys.executable).with_name("lit")
                subprocess.run([lit, "-q", "-j1", str(self.path)], check=True, capture_output=True)
                return
            with warnings.catch_warnings():  # pytest's filters make errors of them
                warnings.simplefilter("ignore")
                said = [failure(row) for row in rows]
            assert not any(said), said

    def reportinfo(self) -> tuple[Path, int, str]:
        """Where the test is."""
        return self.path, 0, self.name


class LitFile(pytest.File):
    """A file of `test/` with RUN lines."""

    def collect(self) -> Iterator[pytest.Item]:
        """One test."""
        yield LitItem.from_parent(self, name="lit")


class Inline:
    """The plugin."""

    def pytest_collect_file(self, file_path: Path, parent: pytest.Collector) -> pytest.Collector | None:
        """lit's files."""
        if file_path.suffix == ".mlir" and "RUN:" in file_path.read_text():
            return LitFile.from_parent(parent, path=file_path)
        return None
