"""The tools that upstream MLIR's texts are read by, each set in a virtual environment of its own: they pin packages."""

from __future__ import annotations

import os
import subprocess
import sys
from collections.abc import Sequence
from pathlib import Path

from qdialect.upstream.binaries import tool

FOLDER = Path(__file__).parents[2] / "build" / "tools"
LISTED = "installed.txt"
"""What is in an environment, written when it is complete."""


def environment(name: str, packages: Sequence[str], folder: Path = FOLDER) -> Path:
    """
    The folder of programs of an environment that holds `packages`, put on PATH; made where it is not there.

    Raises CalledProcessError if pip cannot install them.
    """
    root = folder / name
    programs, listed = root / "bin", root / LISTED
    if not listed.exists() or listed.read_text().split() != list(packages):
        print(f"installing {', '.join(packages)} into {root}", flush=True)
        subprocess.run([sys.executable, "-m", "venv", "--clear", str(root)], check=True)
        pip = [str(programs / "pip"), "install", "--quiet", "--disable-pip-version-check"]
        subprocess.run([*pip, *packages], check=True)
        listed.write_text("\n".join(packages))
    os.environ["PATH"] = f"{programs}{os.pathsep}{os.environ['PATH']}"
    return programs


def mlir_tools() -> bool:
    """Whether mlir-opt, mlir-runner and gcc are there; apt installs the first two, where it may."""
    wanted = (("mlir-opt-22", "mlir-opt"), ("mlir-runner-22", "mlir-runner"), ("gcc", "cc"))
    if not all(tool(*names) for names in wanted) and os.geteuid() == 0 and tool("apt-get"):
        install = ["apt-get", "install", "--yes", "--no-install-recommends", "mlir-22-tools", "gcc"]
        subprocess.run(install, check=False, capture_output=True)
    return all(tool(*names) for names in wanted)
