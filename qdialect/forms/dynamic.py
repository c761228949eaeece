"""Recurrent ops as dynamically quantized kernels: 8-bit weights, activations quantized at run time."""

from __future__ import annotations

from collections.abc import Callable, Sequence
from dataclasses import dataclass

import numpy as np
import numpy.typing as npt
from xdsl.ir import Operation, SSAValue

from qdialect import numerics
from qdialect.dialects.onnx_base import OnnxOp
from qdialect.dialects.onnx_types import BY_NUMPY, DYNAMIC, element_of, shape_of
from qdialect.dialects.snapshot import MICROSOFT
from qdialect.forms.base import Form
from qdialect.forms.nodes import Nodes
from qdialect.ir.values import constant_array, known_array
from qdialect.ops.generated import op_named
from qdialect.reasons import Blocked

FLOAT = BY_NUMPY["float32"].attribute


@dataclass(frozen=True)
class QuantizesItself(Form):
    """The op has a kernel that takes its weights in 8 bits and quantizes its activations at run time."""

    kernel: str
    size: Callable[[OnnxOp], int | None]
    """Number of hidden units, which decides whether the kernel is faster; None if unknown."""
    blocked: Callable[[OnnxOp], Blocked | None]
    """`Blocked` if the kernel does not support the op; None if it does."""
    parts: Callable[[OnnxOp], Sequence[Operation]]
    """The kernel's node and its constants; the last operation defines the results."""


def _hidden_units(op: OnnxOp) -> int | None:
    shape = shape_of(op.operands[2].type)
    return None if shape is None or shape[-1] == DYNAMIC else shape[-1]


def _columns_in_8_bits(weight: npt.NDArray[np.float32], nodes: Nodes) -> list[SSAValue]:
    """A weight (directions, gates, inputs) as integers (directions, inputs, gates), their scales and zero points."""
    turned = np.ascontiguousarray(weight.transpose(0, 2, 1))
    reach = np.abs(turned).max(axis=1, initial=0).astype(np.float64)
    scales = np.where(reach > 0, reach / 127, 1).astype(np.float32)
    rows = [
        numerics.quantize(one, scale, np.zeros(scale.shape, np.int8), -127, 127, np.int8, axis=1)
        for one, scale in zip(turned, scales, strict=True)
    ]
    arrays = (np.stack(rows), scales, np.zeros(scales.shape, np.int8))
    return [nodes.constant(array) for array in arrays]


def _blocked_lstm(op: OnnxOp) -> Blocked | None:
    if element_of(op.operands[0].type) != FLOAT:
        return Blocked("element-type", f"only {op.op_type} in f32 is quantized")
    if op.int_attr("layout", 0):
        return Blocked(
            "batch-first",
            "the kernel takes the time axis first, the op has the batch axis first",
            "export the model with layout 0",
        )
    weights = [constant_array(op.input(place)) for place in (1, 2)]
    if any(w is None or w.ndim != 3 or not np.isfinite(w).all() for w in weights):
        return Blocked("computed-weight", "a weight is computed, or not finite")
    return None


def _dynamic_lstm(op: OnnxOp) -> Sequence[Operation]:
    """DynamicQuantizeLSTM with a scale for each column of each direction."""
    inputs, nodes = [*op.inputs, *[None] * (8 - len(op.inputs))], Nodes()
    for place in (1, 2):
        inputs[place], *parameters = _columns_in_8_bits(known_array(op.input(place)), nodes)
        inputs += parameters
    kept = {k: v for k, v in op.onnx_attributes.items() if k != "layout"}
    types = [None if value is None else value.type for value in op.outputs]
    nodes.append(op_named(MICROSOFT, "DynamicQuantizeLSTM").build(inputs, types, kept))
    return nodes.ops


AT_RUN_TIME = {
    ("", "LSTM"): QuantizesItself("DynamicQuantizeLSTM", _hidden_units, _blocked_lstm, _dynamic_lstm)
}
