"""Functions in linalg, with inputs for them."""

from __future__ import annotations

from pathlib import Path

import numpy as np
import pytest
from guard_cases import Case, full_context, text

from qdialect.dialects.onnx_types import BY_ATTRIBUTE, known_element, known_shape, stored_type
from qdialect.evaluation.observing import input_names
from qdialect.ir.interface import main_of
from qdialect.text.assembly import parse_module
from qdialect.upstream.binaries import tool
from upstream import layers
from upstream.layers import Exposed
from upstream.models import Feeds

NEEDS_MLIR = pytest.mark.skipif(
    tool("mlir-opt-22", "mlir-opt") is None or tool("mlir-runner-22", "mlir-runner") is None,
    reason="there is no mlir-opt or mlir-runner",
)


def lowered(body: str) -> Exposed:
    """A function that `lower-to-linalg` alone has run on."""
    context = full_context()
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
