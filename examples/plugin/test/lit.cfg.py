"""Of lit: `qdialect-opt` and `filecheck` are on the path, and the package is installed."""

import os
import tempfile

import lit.formats

config.name = "qdialect-mirror"
config.suffixes = [".mlir"]
config.test_source_root = os.path.dirname(__file__)
config.test_exec_root = os.path.join(tempfile.gettempdir(), config.name)
config.test_format = lit.formats.ShTest()
config.environment.update({k: v for k, v in os.environ.items() if k in ("PATH", "PYTHONPATH")})
