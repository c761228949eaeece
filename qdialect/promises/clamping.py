"""
Activations that are the identity on a range of numbers: no-ops on a quantized type whose values all lie in it.

For a `Clamp` the bounds as stored integers decide, for a `Keeps` a test of all real numbers that a type expresses.
"""

from __future__ import annotations

from collections.abc import Callable
from dataclasses import dataclass

import numpy as np
import numpy.typing as npt

from qdialect import numerics
from qdialect.dialects.onnx_base import OnnxOp
from qdialect.dialects.quant import UniformType
from qdialect.ir.values import is_constant, real_constant
from qdialect.numerics import Array
from qdialect.promises.base import Promise
from qdialect.promises.monotone import clip_bounds, is_relu, stored_bounds
from qdialect.reasons import Blocked

CLIP_WITH_INPUTS = 11
"""The first opset whose Clip takes its bounds as operands."""
OLD_CLIP = Blocked("opset", f"Clip takes its bounds as operands from opset {CLIP_WITH_INPUTS} on")
MAX_TESTED_VALUES = 1 << 18
"""Greatest number of values that are tested, over all scales."""

Range = tuple[npt.ArrayLike, npt.ArrayLike]
"""The least and the greatest stored integer, for all scales or one for each."""


@dataclass(frozen=True)
class Clamp(Promise):
    """The op limits each element to a range and does nothing else."""

    bounds: Callable[[OnnxOp], tuple[float, float] | None]
    """The real bounds, infinite for a missing one; None if one is computed."""

    def stored(self, op: OnnxOp, type: UniformType) -> tuple[Array, Array] | None:
        """The bounds as stored integers of `type`, one for each scale; None if one is computed."""
        bounds = self.bounds(op)
        return None if bounds is None else stored_bounds(bounds, type)

    def is_redundant(self, op: OnnxOp, type: UniformType) -> bool:
        """True if the clamp is the identity on all integers that `type` can store."""
        stored = self.stored(op, type)
        return stored is not None and is_within((type.storage.low, type.storage.high), stored)

    def is_at_zero(self, op: OnnxOp, type: UniformType) -> bool:
        """True if, on all integers that `type` can store, the clamp equals max(x, 0)."""
        bounds = self.bounds(op)
        if bounds is None or bounds[0] != 0:
            return False
        return bool(np.all(stored_bounds(bounds, type)[1] == type.storage.high))


CLAMPS: dict[tuple[str, str], Clamp] = {
    ("", "Relu"): Clamp(lambda op: (0.0, np.inf)),
    ("", "PRelu"): Clamp(lambda op: (0.0, np.inf) if is_relu(op) else None),
    ("", "Clip"): Clamp(clip_bounds),
}


def is_within(range: Range, other: Range) -> bool:
    """True if a range of stored integers has none outside another, at each scale."""
    return bool(np.all(np.greater_equal(range[0], other[0])) and np.all(np.less_equal(range[1], other[1])))


def are_alike(type: UniformType, other: UniformType) -> bool:
    """True if two types express the same real numbers by the same integers, signedness aside."""
    a, b = type.storage, other.storage
    if (a.width, a.high - a.low) != (b.width, b.high - b.low):
        return False
    return type.replace(storage=b, zero_points=type.zero_points - a.low + b.low) == other


@dataclass(frozen=True)
class Keeps(Promise):
    """The op is the identity on some real numbers."""

    kept: Callable[[OnnxOp, Array], npt.NDArray[np.bool_]]
    """For an array of reals, True where the op is the identity."""
    place: Callable[[OnnxOp], int | None] = lambda op: 0
    """Index of the operand that is returned; None if there is none."""

    def is_redundant(self, op: OnnxOp, type: UniformType) -> bool:
        """True if the op is the identity on every real number that `type` expresses, at each of its scales."""
        count = type.storage.high - type.storage.low + 1
        if count * type.scales.size > MAX_TESTED_VALUES or not type.round_trips:
            return False
        stored = np.arange(type.storage.low, type.storage.high + 1)
        each = np.broadcast_to(stored, (type.scales.size, count))
        real = numerics.dequantize(each, type.scales.reshape(-1), type.zero_points.reshape(-1), axis=0)
        return bool(np.all(self.kept(op, real)))


def _not_negative(op: OnnxOp, x: Array) -> npt.NDArray[np.bool_]:
    return x >= 0


def _above_threshold(op: OnnxOp, x: Array) -> npt.NDArray[np.bool_]:
    return (x > np.float32(op.float_attr("alpha", 1.0))) | (x == 0)


def _not_shrunk(op: OnnxOp, x: Array) -> npt.NDArray[np.bool_]:
    if op.float_attr("bias", 0.0) != 0:
        return np.zeros(x.shape, bool)
    return (np.abs(x) > np.float32(op.float_attr("lambd", 0.5))) | (x == 0)


def _unscaled(op: OnnxOp, x: Array) -> npt.NDArray[np.bool_]:
    """HardSigmoid is max(0, min(1, alpha * x + beta)): a clamp if it neither scales nor shifts."""
    clamps = op.float_attr("alpha", 0.2) == 1 and op.float_attr("beta", 0.5) == 0
    return (x >= 0) & (x <= 1) & clamps


def _beside_constant(op: OnnxOp) -> int | None:
    """The operand of a Max or Min of one operand and a constant."""
    constants = [k for k, operand in enumerate(op.operands) if is_constant(operand)]
    return 1 - constants[0] if len(op.operands) == 2 and len(constants) == 1 else None


def _beyond(lower: bool) -> Callable[[OnnxOp, Array], npt.NDArray[np.bool_]]:
    def kept(op: OnnxOp, x: Array) -> npt.NDArray[np.bool_]:
        place = _beside_constant(op)
        bound = None if place is None else real_constant(op.operands[1 - place])
        if bound is None or not bound.size:
            return np.zeros(x.shape, bool)
        return x >= bound.max() if lower else x <= bound.min()

    return kept


KEEPS: dict[tuple[str, str], Keeps] = {
    ("", "Abs"): Keeps(_not_negative),
    ("", "Elu"): Keeps(_not_negative),
    ("", "HardSigmoid"): Keeps(_unscaled),
    ("", "Max"): Keeps(_beyond(lower=True), _beside_constant),
    ("", "Min"): Keeps(_beyond(lower=False), _beside_constant),
    ("", "LeakyRelu"): Keeps(_not_negative),
    ("", "PRelu"): Keeps(_not_negative),
    ("", "ThresholdedRelu"): Keeps(_above_threshold),
    ("", "Shrink"): Keeps(_not_shrunk),
}
