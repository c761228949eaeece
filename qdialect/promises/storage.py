"""
What an op does to stored integers where that is not what it does to real numbers: Relu clamps at the zero point, Clip
and Pad quantize their constants.
"""

from __future__ import annotations

from collections.abc import Callable, Sequence
from dataclasses import dataclass
from typing import TYPE_CHECKING, NamedTuple

import numpy as np

from qdialect import numerics
from qdialect.dialects.onnx_ops import ConstantOp, op_named
from qdialect.dialects.onnx_tensor import from_array
from qdialect.dialects.onnx_types import shape_of, storage_element, with_element
from qdialect.dialects.quant import UniformType
from qdialect.promises.base import Blocked, Promise
from qdialect.promises.monotone import clip_bounds, stored_bounds
from qdialect.promises.padding import pad_value

if TYPE_CHECKING:
    import numpy.typing as npt
    from xdsl.ir import Operation, SSAValue

    from qdialect.dialects.onnx_ops import OnnxOp


class Built(NamedTuple):
    """New operations, and the op type whose kernel they need."""

    ops: Sequence[Operation]
    kernel: str


Build = Callable[["OnnxOp", "SSAValue", UniformType], "Built | Blocked"]


@dataclass(frozen=True)
class StorageForm(Promise):
    """The op on stored integers: from the op, its operand as integers, and the type that they have in common."""

    build: Build


def _stored(values: npt.NDArray[np.generic], type: UniformType, op: OnnxOp) -> ConstantOp | Blocked:
    """Per-channel integers as a constant that broadcasts against the operand."""
    if type.axis is not None:
        shape = shape_of(op.operands[0].type)
        if shape is None:
            return Blocked("unknown-rank", "the operand's rank is not known")
        values = numerics.expand_parameters(values, shape, type.axis)
    return ConstantOp.of(from_array(np.array(values, type.storage.dtype)))


def _result(op: OnnxOp, type: UniformType):
    return with_element(op.results[0].type, storage_element(type))


def _relu(op: OnnxOp, x: SSAValue, type: UniformType) -> Built | Blocked:
    zero = _stored(type.zero_points, type, op)
    if isinstance(zero, Blocked):
        return zero
    clamp = op_named("", "Max").build([x, zero.results[0]], [_result(op, type)])
    return Built([zero, clamp], "Max")


def _clip(op: OnnxOp, x: SSAValue, type: UniformType) -> Built | Blocked:
    bounds = clip_bounds(op)
    if bounds is None:
        return Blocked("computed-bound", "a bound of Clip is computed", "give Clip constant bounds")
    if not type.is_per_tensor:
        return Blocked("clip-per-axis", "Clip has one bound, the channels have several")
    low, high = (ConstantOp.of(from_array(np.array(b))) for b in stored_bounds(bounds, type))
    clamp = op_named("", "Clip").build([x, low.results[0], high.results[0]], [_result(op, type)])
    return Built([low, high, clamp], "Clip")


def _pad(op: OnnxOp, x: SSAValue, type: UniformType) -> Built | Blocked:
    if op.input(1) is None:
        return Blocked("opset", "Pad takes integers from opset 11 on")
    value = pad_value(op)
    if value is None or not type.is_per_tensor:
        return Blocked("pad-value-per-axis", "Pad has one value, the channels have several")
    stored = numerics.quantize(
        np.float32(value),
        type.scales,
        type.zero_points,
        type.storage.low,
        type.storage.high,
        type.storage.dtype,
    )
    constant = ConstantOp.of(from_array(np.array(stored)))
    pad = op_named("", "Pad").build(
        [x, op.input(1), constant.results[0], op.input(3)], [_result(op, type)], op.onnx_attributes
    )
    return Built([constant, pad], "Pad")


STORAGE_FORMS: dict[tuple[str, str], StorageForm] = {
    ("", "Relu"): StorageForm(_relu),
    ("", "Clip"): StorageForm(_clip),
    ("", "Pad"): StorageForm(_pad),
}
