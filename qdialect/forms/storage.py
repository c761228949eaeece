"""
Ops on stored integers where they differ from the op on real numbers: Relu clamps at the zero point, Clip and Pad
quantize their constants.
"""

from __future__ import annotations

from collections.abc import Callable, Sequence
from dataclasses import dataclass
from typing import TYPE_CHECKING, NamedTuple

import numpy as np
from xdsl.ir import Operation, SSAValue

from qdialect import numerics
from qdialect.dialects.onnx_base import OnnxOp
from qdialect.dialects.onnx_types import (
    BY_ATTRIBUTE,
    shape_of,
    storage_element,
    with_element,
)
from qdialect.dialects.quant import UniformType
from qdialect.forms.base import Form
from qdialect.forms.nodes import Nodes
from qdialect.ir.values import constant_array, normal_axis, rank_of
from qdialect.ops.generated import op_named
from qdialect.promises.layout import triangle
from qdialect.promises.monotone import clip_bounds, stored_bounds
from qdialect.promises.padding import pad_value
from qdialect.reasons import (
    CLIP_PER_AXIS,
    COMPUTED_BOUND,
    COMPUTED_PAD_VALUE,
    OTHER_OPERAND,
    PAD_VALUE_PER_AXIS,
    UNKNOWN_RANK,
    Blocked,
    required,
    unblocked,
)

if TYPE_CHECKING:
    import numpy.typing as npt


MAX_MASK_BYTES = 1 << 20
"""Greatest size of a Trilu's mask in bytes: a sequence of 1,024 tokens."""


class Built(NamedTuple):
    """New operations, and the name of the op whose kernel they need."""

    ops: Sequence[Operation]
    kernel: str


Build = Callable[["OnnxOp", "SSAValue", UniformType], "Built | Blocked"]


@dataclass(frozen=True)
class StorageForm(Form):
    """The op on stored integers. build: from the op, its operand as integers, and the type of operand and result."""

    build: Build
    slow_in_float: bool = False
    """True if quantizing the operand and running the integer kernel is faster than the float kernel."""


def _zeros(type: UniformType, op: OnnxOp) -> npt.NDArray[np.generic] | Blocked:
    """The zero points of `type`, which broadcast against the operand."""
    zeros = type.zero_points
    if type.blocks:
        return Blocked("block-scales", "zero points per block are not an operand of this op")
    if type.axis is not None:
        shape = required(shape_of(op.operands[0].type), UNKNOWN_RANK)
        zeros = numerics.expand_parameters(zeros, shape, type.axis)
    return zeros.astype(type.storage.dtype)


def stored_result(op: OnnxOp, type: UniformType):
    """The type of the result of `op` as integers."""
    return with_element(op.results[0].type, storage_element(type))


def _relu(op: OnnxOp, x: SSAValue, type: UniformType) -> Built | Blocked:
    zeros, nodes = unblocked(_zeros(type, op)), Nodes()
    nodes.add("Max", [x, nodes.constant(zeros)], stored_result(op, type))
    return Built(nodes.ops, "Max")


def _clip(op: OnnxOp, x: SSAValue, type: UniformType) -> Built | Blocked:
    bounds = required(clip_bounds(op), COMPUTED_BOUND)
    if not type.is_per_tensor:
        return CLIP_PER_AXIS
    nodes, (low, high) = Nodes(), stored_bounds(bounds, type)
    # A lower bound alone is that of a Relu where the integers are read with it as their zero point.
    is_lower = type.storage.is_full_range and high == type.storage.high
    kernel, ends = ("Max", [low]) if is_lower else ("Clip", [low, high])
    nodes.add(kernel, [x, *map(nodes.constant, ends)], stored_result(op, type))
    return Built(nodes.ops, kernel)


def _pad(op: OnnxOp, x: SSAValue, type: UniformType) -> Built | Blocked:
    if op.input(1) is None:
        return Blocked("opset", "Pad takes integers from opset 11 on")
    value = pad_value(op)
    if value is None or not type.is_per_tensor:
        return PAD_VALUE_PER_AXIS
    nodes = Nodes()
    inputs = [x, op.input(1), nodes.constant(type.quantize(np.float32(value))), op.input(3)]
    nodes.add("Pad", inputs, stored_result(op, type), op.onnx_attributes)
    return Built(nodes.ops, "Pad")


def _trilu(op: OnnxOp, x: SSAValue, type: UniformType) -> Built | Blocked:
    """Trilu as Where: Trilu itself fills with the integer 0, and few runtimes have one for 8-bit integers."""
    kept = unblocked(triangle(op))
    if kept.size > MAX_MASK_BYTES:
        return Blocked("too-large", f"the triangle as a mask would take more than {MAX_MASK_BYTES} bytes")
    zeros, nodes = unblocked(_zeros(type, op)), Nodes()
    nodes.add("Where", [nodes.constant(kept), x, nodes.constant(zeros)], stored_result(op, type))
    return Built(nodes.ops, "Where")


def _index_of_greatest(op: OnnxOp, x: SSAValue, type: UniformType) -> Built | Blocked:
    """ArgMax along the last axis: along others, onnxruntime's 8-bit kernel takes twice the time of the float one."""
    rank = rank_of(x)
    if rank is None or normal_axis(op.int_attr("axis", 0), rank) != rank - 1:
        return Blocked("does-not-pay", f"{op.op_type} on bytes is fast only along the last axis")
    return Built([op_named("", op.op_type).build([x], op.result_types, op.onnx_attributes)], op.op_type)


STORAGE_FORMS: dict[tuple[str, str], StorageForm] = {
    ("", "Relu"): StorageForm(_relu),
    ("", "PRelu"): StorageForm(_relu),
    ("", "Clip"): StorageForm(_clip),
    ("", "Pad"): StorageForm(_pad),
    ("", "Trilu"): StorageForm(_trilu),
    ("", "ArgMax"): StorageForm(_index_of_greatest),
    ("", "ArgMin"): StorageForm(_index_of_greatest),
}


@dataclass(frozen=True)
class StorageReading(Form):
    """A clamp or Pad of stored integers read as the op on a quantized type: the inverse of a `StorageForm`."""

    build: Build
    """Builds the op from the one on integers, its operand as a quantized value, and the quantized type."""


def _only_integer(op: OnnxOp, place: int) -> int | None:
    array = constant_array(op.input(place))
    return int(array.reshape(-1)[0]) if array is not None and array.size == 1 and array.ndim < 2 else None


def _real(stored: int | None, type: UniformType, default: int, nodes: Nodes) -> SSAValue | None:
    """A stored integer as a real constant; None if it is the default."""
    if stored is None or stored == default:
        return None
    return nodes.constant(type.dequantize(np.array(stored), BY_ATTRIBUTE[type.expressed].dtype))


def clip_between(
    low: int | None, high: int | None, op: Operation, x: SSAValue, type: UniformType
) -> Built | Blocked:
    """Clip of `x`, of `type`, to stored bounds, with the result shape of `op`."""
    if not type.is_per_tensor:
        return CLIP_PER_AXIS
    if low is not None and high is not None and low > high:
        return Blocked("empty-tensor", "no stored integer lies between the bounds of the clamp")
    inside = [b is None or type.storage.low <= b <= type.storage.high for b in (low, high)]
    if not all(inside) or not type.round_trips:
        return Blocked("bound-outside", "the bound is outside the storage range")
    nodes = Nodes()
    least, most = _real(low, type, type.storage.low, nodes), _real(high, type, type.storage.high, nodes)
    nodes.add("Clip", [x, least, most], with_element(op.results[0].type, type))
    return Built(nodes.ops, "Clip")


def _read_clip(op: OnnxOp, x: SSAValue, type: UniformType) -> Built | Blocked:
    bounds = [_only_integer(op, place) for place in (1, 2)]
    if any(b is None and op.input(place) is not None for place, b in enumerate(bounds, 1)):
        return COMPUTED_BOUND
    return clip_between(bounds[0], bounds[1], op, x, type)


def _as_relu(op: OnnxOp, x: SSAValue, type: UniformType) -> Built:
    return Built([op_named("", "Relu").build([x], [with_element(op.results[0].type, type)])], "Relu")


def _read_bound(lower: bool) -> Build:
    """Max or Min with a constant as either operand."""

    def read(op: OnnxOp, x: SSAValue, type: UniformType) -> Built | Blocked:
        if len(op.operands) != 2:
            return Blocked("float-operand", "the op has more operands than a value and a bound")
        arrays = [a for o in op.operands if (a := constant_array(o)) is not None]
        if len(arrays) != 1:
            return OTHER_OPERAND
        shape = shape_of(x.type)
        (array,) = arrays
        is_number = shape is not None and array.size == 1 and array.ndim <= len(shape)
        if shape is None or not (is_number or type.axis is not None):
            return Blocked("not-a-quantize", "the bound differs from element to element")
        zeros = numerics.expand_parameters(type.zero_points, shape, type.axis)
        if lower and array.size == zeros.size and np.all(array.reshape(zeros.shape) == zeros):
            return _as_relu(op, x, type)
        if array.size != 1:
            return CLIP_PER_AXIS
        bound = int(array.reshape(-1)[0])
        return clip_between(bound if lower else None, None if lower else bound, op, x, type)

    return read


def _read_relu(op: OnnxOp, x: SSAValue, type: UniformType) -> Built | Blocked:
    if not type.zero_points.any():
        return _as_relu(op, x, type)
    return clip_between(0, None, op, x, type)


def _read_pad(op: OnnxOp, x: SSAValue, type: UniformType) -> Built | Blocked:
    if not type.is_per_tensor or op.input(1) is None:
        return PAD_VALUE_PER_AXIS
    stored = required(0 if op.input(2) is None else _only_integer(op, 2), COMPUTED_PAD_VALUE)
    if not (type.storage.low <= stored <= type.storage.high and type.round_trips):
        return Blocked("bound-outside", "the value that Pad inserts is outside the storage range")
    nodes = Nodes()
    inputs = [x, op.input(1), _real(stored, type, type.zero_point, nodes), op.input(3)]
    nodes.add("Pad", inputs, with_element(op.results[0].type, type), op.onnx_attributes)
    return Built(nodes.ops, "Pad")


STORAGE_READINGS: dict[tuple[str, str], StorageReading] = {
    ("", "Relu"): StorageReading(_read_relu),
    ("", "Clip"): StorageReading(_read_clip),
    ("", "Max"): StorageReading(_read_bound(lower=True)),
    ("", "Min"): StorageReading(_read_bound(lower=False)),
    ("", "Pad"): StorageReading(_read_pad),
}
