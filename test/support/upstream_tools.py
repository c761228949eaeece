"""The compilers that read what is written for upstream MLIR, where they are on the PATH."""

import shutil
import subprocess
from pathlib import Path

import pytest

VALIDATE = ["--tosa-attach-target=profiles=pro_int level=8k", "--tosa-validate=strict-op-spec-alignment"]
"""Upstream's check of the integer profile."""


def tool(*names: str) -> Path:
    """The first tool of these names that is on the PATH; else the test is left out, in one line."""
    program = next((path for name in names if (path := shutil.which(name))), None)
    if program is None:
        pytest.skip(f"{names[0]} is not on the PATH (docs/mlir.md says how to install it)")
    return Path(program)


def run(tool: Path, arguments: list[str], text: str = "") -> subprocess.CompletedProcess[str]:
    """What a tool says of `text`."""
    return subprocess.run([str(tool), *arguments], input=text, capture_output=True, text=True, check=False)
