"""
lit's tests in lit's own process: starting the two commands of a RUN line takes longer than most of what they do.

A RUN line of other commands runs in a shell with its whole test, and so does, once more, a test that fails here: what
lit prints of it is what it always prints.
"""

from __future__ import annotations

import importlib
import io
import os
import re
import shlex
import sys
from collections.abc import Sequence
from contextlib import redirect_stderr, redirect_stdout
from pathlib import Path
from typing import Any
from unittest import mock

from filecheck.main import main as filecheck
from lit.formats import ShTest
from lit.Test import FAIL, PASS, Result
from lit.TestRunner import getTempPaths

sys.path.append(str(Path(__file__).parent / "support"))
from declared_reasons import Undeclared, install

install()  # here and in the processes that lit forks

SUBSTITUTIONS = [
    ("ROUNDTRIP", "OPT %s --print-op-generic | OPT | FILECHECK %s"),
    ("DIAGNOSTICS", "OPT %s --verify-diagnostics"),
    ("OPT", "qdialect-opt --split-input-file"),
    ("FILECHECK", "filecheck --enable-var-scope --reject-empty-vars"),
]
"""One spelling for each kind of test, so that RUN lines stay one line long."""


TOOLS = {"qdialect-opt": "qdialect.cli.opt", "qdialect": "qdialect.cli.command"}
"""Where the main function of each command is."""


def _plain(words: Sequence[str]) -> Sequence[str]:
    """A command without what turns its status over and what sends its messages down the pipe."""
    return words[words[0] == "not" : len(words) - (words[-1] == "2>&1")]


def _runs_here(words: Sequence[str]) -> bool:
    plain = _plain(words)
    return plain[0] in (*TOOLS, "filecheck") and not any(sign in word for word in plain for sign in "&>;")


def pipes(text: str, path: str, temporary: str) -> list[list[list[str]]] | None:
    """
    The commands of each pipe of a test, in order: of RUN lines, or of their parts between `&&`. None if any is of other
    commands. temporary: what %t stands for.
    """
    rows: list[list[list[str]]] = []
    for line in re.findall(r"RUN:\s*(.*)", text):
        for short, long in SUBSTITUTIONS:
            line = re.sub(rf"\b{short}\b", long, line)
        line = line.replace("%s", path).replace("%t", temporary)
        rows += [[shlex.split(part) for part in pipe.split(" | ")] for pipe in line.split(" && ")]
    return rows if rows and all(_runs_here(words) for row in rows for words in row) else None


class _Input(io.TextIOWrapper):
    """Standard input that holds a text."""

    def __init__(self, text: str):
        super().__init__(io.BytesIO(text.encode()), "utf-8")


def _status(words: Sequence[str]) -> Any:
    try:
        if words[0] == "filecheck":
            return filecheck(list(words))
        return importlib.import_module(TOOLS[words[0]]).main(list(words[1:]))
    except SystemExit as end:
        return end.code


def failure(commands: Sequence[Sequence[str]]) -> str:
    """Run a pipe; what its first command that fails says, or nothing."""
    text = ""
    for words in commands:
        out = io.StringIO()
        said = out if words[-1] == "2>&1" else io.StringIO()
        with mock.patch.object(sys, "stdin", _Input(text)), redirect_stdout(out), redirect_stderr(said):
            status = _status(_plain(words))
        if bool(status) is not (words[0] == "not"):
            return f"{shlex.join(words)}: {status}\n{said.getvalue()}"
        text = out.getvalue()
    return ""


class InProcess(ShTest):
    """lit's format for a file with RUN lines."""

    def execute(self, test: Any, litConfig: Any) -> Any:
        """The verdict."""
        measured = any(name.startswith("COVERAGE_") for name in os.environ)  # which patches processes
        if not (measured or test.config.unsupported or litConfig.noExecute):
            folder, temporary = getTempPaths(test)
            os.makedirs(folder, exist_ok=True)
            with open(test.getSourcePath(), encoding="utf-8") as file:
                rows = pipes(file.read(), test.getSourcePath(), temporary)
            try:
                if rows is not None and not any(map(failure, rows)):
                    return Result(PASS, "")
            except Undeclared as undeclared:  # a shell would not notice
                return Result(FAIL, str(undeclared))
        return super().execute(test, litConfig)
