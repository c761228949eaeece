"""How lit runs `test/`: `lit test`, from the repository's root, runs every RUN line below it."""

# pyright: reportUndefinedVariable=false
import os
import sys
from pathlib import Path

root = Path(__file__).parent
sys.path.insert(0, str(Path(__file__).resolve().parent / "test"))

from in_process import SUBSTITUTIONS, InProcess  # noqa: E402

config.name = "qdialect"
config.suffixes = [".mlir"]
config.test_format = InProcess()
config.test_source_root = root
config.test_exec_root = root / "build" / "lit"
config.test_exec_root.mkdir(parents=True, exist_ok=True)

# Take the tools from the environment that runs lit, activated or not.
config.environment["PATH"] = os.pathsep.join((str(Path(sys.executable).parent), os.environ["PATH"]))

# `make coverage` measures the tools that the tests start; PYTHONPATH picks another checkout.
config.environment |= {k: v for k, v in os.environ.items() if k.startswith(("COVERAGE_", "PYTHONPATH"))}

config.substitutions += SUBSTITUTIONS
