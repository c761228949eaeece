"""ONNX models of a few nodes, as tests write them."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from typing import Any

import numpy as np
import onnx
from onnx import helper, numpy_helper

Shape = Sequence[int | str | None] | None
Ends = Sequence[onnx.ValueInfoProto] | Mapping[str, list[Any] | tuple[int, Shape] | None]
"""Inputs or outputs, as messages, or by name the shape of a tensor in f32, or a pair of element type and shape."""
IR_VERSIONS = {19: 9, 20: 9, 21: 10, 22: 10, 23: 11, 24: 11, 25: 12}
"""The IR version that came with each opset, but for older ones."""


def _ends(ends: Ends) -> Sequence[onnx.ValueInfoProto]:
    if not isinstance(ends, Mapping):
        return ends
    pairs = {k: end if isinstance(end, tuple) else (onnx.TensorProto.FLOAT, end) for k, end in ends.items()}
    return [helper.make_tensor_value_info(name, kind, shape) for name, (kind, shape) in pairs.items()]


def onnx_model(
    nodes: Sequence[onnx.NodeProto],
    inputs: Ends,
    outputs: Ends,
    tensors: Sequence[onnx.TensorProto] | Mapping[str, Any] = (),
    *,
    opset: int = 17,
    ir_version: int | None = None,
) -> onnx.ModelProto:
    """A model of the default domain alone. tensors: its initializers, as messages, or arrays by name."""
    if isinstance(tensors, Mapping):
        tensors = [numpy_helper.from_array(np.asarray(value), name) for name, value in tensors.items()]
    graph = helper.make_graph(nodes, "g", _ends(inputs), _ends(outputs), tensors)
    version = IR_VERSIONS.get(opset, 8) if ir_version is None else ir_version
    return helper.make_model(graph, opset_imports=[helper.make_opsetid("", opset)], ir_version=version)
