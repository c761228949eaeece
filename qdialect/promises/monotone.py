"""
Monotone and selecting ops. A positive scale keeps order, so these choose among stored integers as they choose among the
real numbers; ties and saturation included.
"""

from __future__ import annotations

from collections.abc import Callable, Sequence
from dataclasses import dataclass
from typing import TYPE_CHECKING

import numpy as np

from qdialect import numerics
from qdialect.constants import constant_array, real_constant
from qdialect.dialects.quant import UniformType
from qdialect.promises.axes import ALONG_AXIS, follow, never, same, to_results
from qdialect.promises.base import Blocked, Commutes, Promise, every_operand

if TYPE_CHECKING:
    from qdialect.dialects.onnx_ops import OnnxOp

COMPUTED_BOUND = Blocked("computed-bound", "a bound of Clip is computed", "give Clip constant bounds")


def _batch_or_channel(op: OnnxOp, axis: int) -> int | Blocked:
    return axis if axis < 2 else ALONG_AXIS


def clip_bounds(op: OnnxOp) -> tuple[float, float] | None:
    """The real bounds of Clip, infinite where there is none; None if one is computed."""
    if "min" in op.properties or "max" in op.properties:  # before opset 11
        return op.float_attr("min", -np.inf), op.float_attr("max", np.inf)
    bounds = [-np.inf, np.inf]
    for k in (0, 1):
        if (given := op.input(k + 1)) is not None:
            array = constant_array(given)
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
    """Whether clipping what the type can express gives what the type can express."""
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
        return Blocked("bound-rounds", f"the type cannot express the bounds [{bounds[0]:g}, {bounds[1]:g}]")
    return types


def _clip_backward(op: OnnxOp, types: Sequence[UniformType]) -> Sequence[UniformType] | Blocked:
    return COMPUTED_BOUND if clip_bounds(op) is None else types


def _is_relu(op: OnnxOp) -> bool:
    slope = real_constant(op.operands[1])
    return slope is not None and not slope.any()


def _prelu(op: OnnxOp, types: Sequence[UniformType]) -> Sequence[UniformType] | Blocked:
    if not _is_relu(op):
        return Blocked("slope", "a slope other than a constant 0 makes new numbers", "use Relu")
    return follow(same)(op, types)


def _selects(axis_rule: object = never) -> Commutes:
    rule = follow(axis_rule)  # pyright: ignore[reportArgumentType]
    return Commutes(rule, rule, selects=True)


_AMONG_OPERANDS = Commutes(
    follow(never),
    to_results(follow(never), lambda op: len(op.operands)),
    operands=every_operand,
    selects=True,
)

MONOTONE: dict[tuple[str, str], Commutes] = {
    ("", "MaxPool"): _selects(_batch_or_channel),
    ("", "GlobalMaxPool"): _selects(_batch_or_channel),
    ("", "ReduceMax"): _selects(),
    ("", "ReduceMin"): _selects(),
    ("", "TopK"): _selects(),
    ("", "Max"): _AMONG_OPERANDS,
    ("", "Min"): _AMONG_OPERANDS,
    ("", "Relu"): Commutes(follow(same), follow(same), moves_storage=False, in_place=True, selects=True),
    ("", "PRelu"): Commutes(_prelu, _prelu, moves_storage=False, in_place=True, selects=True),
    ("", "Clip"): Commutes(_clip_forward, _clip_backward, moves_storage=False, in_place=True, selects=True),
}


@dataclass(frozen=True)
class Clamp(Promise):
    """The op limits each element to a range and does nothing else."""

    bounds: Callable[[OnnxOp], tuple[float, float] | None]
    """The real bounds, infinite where there is none; None if one is computed."""

    def is_redundant(self, op: OnnxOp, type: UniformType) -> bool:
        """Whether the clamp leaves every integer that `type` can store as it is."""
        bounds = self.bounds(op)
        if bounds is None:
            return False
        low, high = stored_bounds(bounds, type)
        return bool(np.all(low == type.storage.low) and np.all(high == type.storage.high))


CLAMPS: dict[tuple[str, str], Clamp] = {
    ("", "Relu"): Clamp(lambda op: (0.0, np.inf)),
    ("", "PRelu"): Clamp(lambda op: (0.0, np.inf) if _is_relu(op) else None),
    ("", "Clip"): Clamp(clip_bounds),
}
