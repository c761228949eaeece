"""
Ops in linalg against the oracle, each by its class: many functions in one shared object, each tensor a result.

The bodies are written as those of `guard_cases.Case`.
"""

from __future__ import annotations

import ctypes
from pathlib import Path

import numpy as np
import pytest
from guard_cases import Case, text
from xdsl.context import Context

from qdialect.compiler.binaries import tool
from qdialect.dialects.onnx_types import BY_ATTRIBUTE, known_element, known_shape, stored_type
from qdialect.ops import get_all_dialects
from qdialect.oracle.form import main_of
from qdialect.oracle.observing import input_names
from qdialect.text.assembly import parse_module
from upstream import graphs, layers
from upstream.layers import Exposed
from upstream.models import Feeds

pytestmark = pytest.mark.skipif(
    tool("mlir-opt-22", "mlir-opt") is None or tool("mlir-runner-22", "mlir-runner") is None,
    reason="there is no mlir-opt or mlir-runner",
)

CASES = {
    "a convolution of 16 bits adds its bias in real numbers": """
        x: 1x2x5x3x!wide
        w = [3, -5, 7, 1, -2, 4] : 3x2x1x1xi8 as 3x2x1x1x!t
        b = [4000, -9000, 100] : 3xi32 as 3x!sum
        y = Conv(x, w, b) : 1x3x5x3x!short""",
    "a product of 16 bits adds its bias in real numbers": """
        x: 3x2x!wide
        w = [3, -5, 7, 1, -2, 4, 9, -8] : 2x4xi8 as 2x4x!t
        b = [4000, -9000, 100, 7] : 4xi32 as 4x!sum
        y = Gemm(x, w, b) : 3x4x!short""",
}


def lowered(body: str) -> Exposed:
    """A function that `lower-to-linalg` alone has run on."""
    context = Context()
    for name, dialect in get_all_dialects().items():
        context.register_dialect(name, dialect)
    module = parse_module(context, text(Case("", "", body, opset=21)), "test", Path())
    module.verify()
    graph = layers.exposed(module, whole=False)
    assert isinstance(graph, Exposed), graph
    return graph


def drawn(graph: Exposed, seed: int) -> Feeds:
    """All stored integers, or real numbers around zero."""
    draw, feeds = np.random.default_rng(seed), Feeds()
    arguments = main_of(graph.before).body.block.args
    for name, argument in zip(input_names(graph.before), arguments, strict=True):
        dtype = BY_ATTRIBUTE[known_element(stored_type(argument.type))].dtype
        shape = known_shape(argument.type)
        if dtype.kind == "f":
            feeds[name] = draw.normal(0, 2, shape).astype(dtype)
        elif dtype.kind == "b":
            feeds[name] = draw.integers(0, 2, shape).astype(dtype)
        else:
            ends = np.iinfo(dtype)
            feeds[name] = draw.integers(ends.min, ends.max, shape, dtype, endpoint=True)
    return feeds


@pytest.fixture(scope="module")
def functions() -> dict[str, Exposed]:
    """Each case lowered."""
    return {name: lowered(body) for name, body in CASES.items()}


@pytest.fixture(scope="module")
def library(functions: dict[str, Exposed], tmp_path_factory: pytest.TempPathFactory) -> ctypes.CDLL:
    """All cases in one shared object, f0, f1, ... in order."""
    named = {f"f{k}": graph for k, graph in enumerate(functions.values())}
    return layers.library(named, tmp_path_factory.mktemp("linalg") / "cases.so", level=0)


@pytest.mark.parametrize("name", CASES)
def test_op_computes_what_the_oracle_does(name: str, functions: dict[str, Exposed], library: ctypes.CDLL):
    graph, function = functions[name], library[f"f{list(CASES).index(name)}"]
    for seed in range(4):
        feeds = drawn(graph, seed)
        _, tensors = layers.results(graph, function, feeds)
        assert layers.differences(graph, feeds, tensors) == []


def test_random_graphs_are_within_their_class():
    found = graphs.chunk(300, size=12, floats=False)
    assert found.problems == {}
    assert found.whole >= 10
