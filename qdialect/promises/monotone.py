"""
Monotone and selecting ops. A positive scale keeps order, so these choose among stored integers as they choose among the
real numbers; ties and saturation included.
"""

from __future__ import annotations

from bisect import bisect
from collections.abc import Callable, Sequence
from dataclasses import dataclass

import numpy as np

from qdialect import numerics
from qdialect.dialects.onnx_base import OnnxOp
from qdialect.dialects.onnx_types import shape_of
from qdialect.dialects.quant import UniformType
from qdialect.ir.values import ints_of, rank_of, real_constant
from qdialect.promises.axes import (
    ALONG_AXIS,
    NOT_CONSTANT,
    elsewhere,
    follow,
    never,
    places_of,
    same,
    to_results,
)
from qdialect.promises.base import Commutes, Promise, every_operand, no_types, none
from qdialect.reasons import COMPUTED_BOUND, UNKNOWN_RANK, Blocked, answer, required, unblocked


@dataclass(frozen=True)
class Reduces(Promise):
    """The op chooses one element along some axes of operand 0, whatever their order."""

    axes: Callable[[OnnxOp], tuple[list[int], bool, int] | Blocked]
    """The reduced axes, keepdims, and the rank."""


def batch_or_channel(op: OnnxOp, axis: int) -> int | Blocked:
    """`axis` if it is that of the batch or the channels, which a window does not reduce; else `Blocked`."""
    return axis if axis < 2 else ALONG_AXIS


def _reduced(op: OnnxOp) -> tuple[list[int], bool, int] | Blocked:
    """Reduced axes of a ReduceMax or ReduceMin, keepdims, and the rank."""
    rank = required(rank_of(op.operands[0]), UNKNOWN_RANK)
    has_axes = op.ints_attr("axes") is not None or op.input(1) is not None
    axes = required(ints_of(op, "axes", 1) if has_axes else (), NOT_CONSTANT)
    if not axes and not op.int_attr("noop_with_empty_axes", 0):
        axes = tuple(range(rank))
    places = sorted(unblocked(places_of(axes, rank)))
    return places, bool(op.int_attr("keepdims", 1)), rank


def _reduce_forward(op: OnnxOp, axis: int) -> int | Blocked:
    axes, kept, _ = unblocked(_reduced(op))
    if axis in axes:
        return ALONG_AXIS
    return axis if kept else axis - bisect(axes, axis)


def _reduce_backward(op: OnnxOp, axis: int) -> int | Blocked:
    axes, kept, rank = unblocked(_reduced(op))
    before = axis if kept else [a for a in range(rank) if a not in axes][axis]
    return ALONG_AXIS if before in axes else before


def _reduces(op: OnnxOp, types: Sequence[UniformType]) -> Sequence[UniformType] | Blocked:
    reduced, shape = answer(_reduced, op), shape_of(op.operands[0].type)
    if not isinstance(reduced, Blocked) and shape and 0 in (shape[a] for a in reduced[0]):
        return Blocked("empty-tensor", "the maximum of no elements is infinite, which no integer represents")
    return follow(_reduce_forward)(op, types)


def _index_of_greatest(op: OnnxOp, types: Sequence[UniformType]) -> Sequence[UniformType] | Blocked:
    moved = follow(elsewhere(0))(op, types)
    return moved if isinstance(moved, Blocked) else ()


def _compared(op: OnnxOp, types: Sequence[UniformType]) -> Sequence[UniformType] | Blocked:
    moved = follow(never)(op, types)
    return moved if isinstance(moved, Blocked) else ()


def _unique_forward(op: OnnxOp, types: Sequence[UniformType]) -> Sequence[UniformType] | Blocked:
    if not types[0].round_trips:
        return Blocked("equal-elements", "two stored integers may dequantize to one float")
    return follow(never)(op, types)


def _unique_backward(op: OnnxOp, types: Sequence[UniformType]) -> Blocked:
    return Blocked("equal-elements", "quantization may make elements equal, which the op drops")


def clip_bounds(op: OnnxOp) -> tuple[float, float] | None:
    """The real bounds of Clip, infinite for a missing one; None if one is computed."""
    if "min" in op.properties or "max" in op.properties:  # before opset 11
        return op.float_attr("min", -np.inf), op.float_attr("max", np.inf)
    bounds = [-np.inf, np.inf]
    for k in (0, 1):
        if (bound := op.input(k + 1)) is not None:
            array = real_constant(bound)
            if array is None or array.size != 1:
                return None
            bounds[k] = float(array.reshape(-1)[0])
    return bounds[0], bounds[1]


def stored_bounds(bounds: tuple[float, float], type: UniformType) -> tuple[np.ndarray, np.ndarray]:
    """Real bounds as stored integers, of the shape of the scales."""
    low, high = (
        numerics.quantize(
            np.full(type.scales.shape, bound, np.float32),
            type.scales,
            type.zero_points,
            type.storage.low,
            type.storage.high,
            type.storage.dtype,
        )
        for bound in bounds
    )
    return low, high


def _expressible(bounds: tuple[float, float], type: UniformType) -> bool:
    """True if clipping any value that `type` expresses gives one that it expresses."""
    low, high = (np.float32(b) for b in bounds)
    stored_low, stored_high = stored_bounds(bounds, type)
    real_low = numerics.dequantize(stored_low, type.scales, type.zero_points)
    real_high = numerics.dequantize(stored_high, type.scales, type.zero_points)
    no_low = (stored_low == type.storage.low) & (real_low >= low)
    no_high = (stored_high == type.storage.high) & (real_high <= high)
    return bool(np.all((real_low == low) | no_low) and np.all((real_high == high) | no_high))


def _clip_forward(op: OnnxOp, types: Sequence[UniformType]) -> Sequence[UniformType] | Blocked:
    bounds = clip_bounds(op)
    if bounds is None:
        return COMPUTED_BOUND
    if not _expressible(bounds, types[0]):
        return Blocked("value-rounds", f"the type cannot represent the bounds [{bounds[0]:g}, {bounds[1]:g}]")
    return types


def _clip_backward(op: OnnxOp, types: Sequence[UniformType]) -> Sequence[UniformType] | Blocked:
    return COMPUTED_BOUND if clip_bounds(op) is None else types


def is_relu(op: OnnxOp) -> bool:
    """True if a PRelu's slope is the constant 0."""
    slope = real_constant(op.operands[1])
    return slope is not None and not slope.any()


def _prelu(op: OnnxOp, types: Sequence[UniformType]) -> Sequence[UniformType] | Blocked:
    if not is_relu(op):
        return Blocked("slope", "a slope that is not a constant 0 computes new values", "use Relu")
    return follow(same)(op, types)


_OF_IMAGES = Commutes(follow(batch_or_channel), follow(batch_or_channel), selects=True)
_AMONG_OPERANDS = Commutes(
    follow(never),
    to_results(follow(never), lambda op: len(op.operands)),
    operands=every_operand,
    selects=True,
)

_ARG = Commutes(_index_of_greatest, no_types, results=none, moves_storage=False, selects=True)
_COMPARES = Commutes(_compared, no_types, operands=every_operand, results=none, selects=True)

MONOTONE: dict[tuple[str, str], Commutes] = {
    ("", "MaxPool"): _OF_IMAGES,
    ("", "GlobalMaxPool"): _OF_IMAGES,
    ("", "MaxRoiPool"): Commutes(follow(never), follow(never), moves_storage=False, selects=True),
    ("", "ReduceMax"): Commutes(_reduces, follow(_reduce_backward), selects=True),
    ("", "ReduceMin"): Commutes(_reduces, follow(_reduce_backward), selects=True),
    ("", "TopK"): Commutes(follow(elsewhere(-1)), follow(elsewhere(-1)), selects=True),
    ("", "Unique"): Commutes(_unique_forward, _unique_backward, selects=True),
    ("", "ArgMax"): _ARG,
    ("", "ArgMin"): _ARG,
    ("", "Equal"): _COMPARES,
    ("", "Less"): _COMPARES,
    ("", "LessOrEqual"): _COMPARES,
    ("", "Greater"): _COMPARES,
    ("", "GreaterOrEqual"): _COMPARES,
    ("", "Max"): _AMONG_OPERANDS,
    ("", "Min"): _AMONG_OPERANDS,
    ("", "Relu"): Commutes(follow(same), follow(same), moves_storage=False, in_place=True, selects=True),
    ("", "PRelu"): Commutes(_prelu, _prelu, moves_storage=False, in_place=True, selects=True),
    ("", "Clip"): Commutes(_clip_forward, _clip_backward, moves_storage=False, in_place=True, selects=True),
}

REDUCES: dict[tuple[str, str], Reduces] = {
    ("", "ReduceMax"): Reduces(_reduced),
    ("", "ReduceMin"): Reduces(_reduced),
}
