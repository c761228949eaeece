"""How lit runs `test/`: `lit test`, from the repository's root, runs every RUN line below it."""

import os
import sys
from pathlib import Path

import lit.formats

root = Path(__file__).parent

config.name = "qdialect"
config.suffixes = [".mlir"]
config.test_format = lit.formats.ShTest()
config.test_source_root = root
config.test_exec_root = root / "build" / "lit"

# Take the tools from the environment that runs lit, activated or not.
config.environment["PATH"] = os.pathsep.join((str(Path(sys.executable).parent), os.environ["PATH"]))

# `make coverage` measures the tools that the tests start; PYTHONPATH picks another checkout.
config.environment |= {k: v for k, v in os.environ.items() if k.startswith(("COVERAGE_", "PYTHONPATH"))}

# One spelling for each kind of test, so that RUN lines stay one line long.
config.substitutions += [
    ("ROUNDTRIP", "OPT %s --print-op-generic | OPT | FILECHECK %s"),
    ("DIAGNOSTICS", "OPT %s --verify-diagnostics"),
    ("OPT", "qdialect-opt --split-input-file"),
    ("FILECHECK", "filecheck --enable-var-scope --reject-empty-vars"),
]
