"""Registry of dialects by name, each imported on first use."""

from collections.abc import Callable
from importlib import import_module

from xdsl.ir import Dialect

OWN = {
    "onnx": ("qdialect.ops.dialects", "Onnx"),
    "onnx_ml": ("qdialect.ops.dialects", "OnnxMl"),
    "onnx_ms": ("qdialect.ops.dialects", "OnnxMs"),
    "quant": ("qdialect.dialects.quant", "Quant"),
}
"""Module and name of each dialect that this package defines."""
READ = {
    "builtin": ("xdsl.dialects.builtin", "Builtin"),
    "func": ("xdsl.dialects.func", "Func"),
    "test": ("xdsl.dialects.test", "Test"),
    # in place of xDSL's, which knows fewer operations: no dialect of our own for `xdsl-opt`
    "tosa": ("qdialect.upstream.tosa_dialect", "Tosa"),
}
"""The same of further dialects that our tools read."""


def _factory(module: str, name: str) -> Callable[[], Dialect]:
    return lambda: getattr(import_module(module), name)


def get_own_dialects() -> dict[str, Callable[[], Dialect]]:
    """Factories of the dialects that this package defines, by name."""
    return {name: _factory(*home) for name, home in OWN.items()}


def get_all_dialects() -> dict[str, Callable[[], Dialect]]:
    """Factories of our dialects and of xDSL's that our tools read, by name."""
    return {name: _factory(*home) for name, home in (READ | OWN).items()}
