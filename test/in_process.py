"""
lit's tests in lit's own process: starting the two commands of a RUN line takes longer than most of what they do.

A RUN line that is more than a pipe of the two runs in a shell, and so does, once more, a test that fails here: what lit
prints of it is what it always prints.
"""

from __future__ import annotations

import importlib
import io
import os
import re
import shlex
import sys
from collections.abc import Iterator, Sequence
from contextlib import redirect_stderr, redirect_stdout
from typing import Any
from unittest import mock

from filecheck.main import main as filecheck
from lit.formats import ShTest
from lit.Test import PASS, Result

SUBSTITUTIONS = [
    ("ROUNDTRIP", "OPT %s --print-op-generic | OPT | FILECHECK %s"),
    ("DIAGNOSTICS", "OPT %s --verify-diagnostics"),
    ("OPT", "qdialect-opt --split-input-file"),
    ("FILECHECK", "filecheck --enable-var-scope --reject-empty-vars"),
]
"""One spelling for each kind of test, so that RUN lines stay one line long."""


def pipes(text: str, path: str) -> Iterator[list[list[str]] | None]:
    """The commands of each RUN line of a test; None for a line that is more than a pipe of the two tools."""
    for line in re.findall(r"RUN:\s*(.*)", text):
        for short, long in SUBSTITUTIONS:
            line = re.sub(rf"\b{short}\b", long, line)
        commands = [shlex.split(part.replace("%s", path)) for part in line.split(" | ")]
        plain = not any(sign in line for sign in ("&", ">", "%t", ";"))
        well = plain and all(words[0] in ("qdialect-opt", "filecheck") for words in commands)
        yield commands if well else None


class _Input(io.TextIOWrapper):
    """Standard input that holds a text."""

    def __init__(self, text: str):
        super().__init__(io.BytesIO(text.encode()), "utf-8")


def _status(words: Sequence[str]) -> Any:
    try:
        if words[0] == "filecheck":
            return filecheck(list(words))
        return importlib.import_module("qdialect.cli.opt").main(list(words[1:]))
    except SystemExit as end:
        return end.code


def failure(commands: Sequence[Sequence[str]]) -> str:
    """Run a pipe; what its first command that fails says, or nothing."""
    text = ""
    for words in commands:
        out, said = io.StringIO(), io.StringIO()
        with mock.patch.object(sys, "stdin", _Input(text)), redirect_stdout(out), redirect_stderr(said):
            status = _status(words)
        if status:
            return f"{shlex.join(words)}: {status}\n{said.getvalue()}"
        text = out.getvalue()
    return ""


class InProcess(ShTest):
    """lit's format for a file with RUN lines."""

    def execute(self, test: Any, litConfig: Any) -> Any:
        """The verdict."""
        measured = any(name.startswith("COVERAGE_") for name in os.environ)  # which patches processes
        if not (measured or test.config.unsupported or litConfig.noExecute):
            with open(test.getSourcePath(), encoding="utf-8") as file:
                rows = list(pipes(file.read(), test.getSourcePath()))
            if rows and not any(row is None or failure(row) for row in rows):
                return Result(PASS, "")
        return super().execute(test, litConfig)
