"""
Affine ops: each element times a constant factor plus a constant shift, per tensor or per channel.

    result[.., c, ..] = factor[c] * operand[.., c, ..] + shift[c]

And ops that commute with a positive factor per channel, f(x * s) = f(x) * s, or absorb it into an operand.
"""

from __future__ import annotations

from collections.abc import Callable
from dataclasses import dataclass
from typing import NamedTuple

import numpy as np
from xdsl.dialects.builtin import BFloat16Type, Float16Type, Float32Type, Float64Type
from xdsl.ir import SSAValue

from qdialect.dialects.onnx_base import OnnxOp, promise_of
from qdialect.dialects.onnx_types import expressed_of
from qdialect.ir.values import is_constant, rank_of, real_constant, static_shape
from qdialect.numerics import Array
from qdialect.promises.base import Promise
from qdialect.reasons import UNKNOWN_RANK, Blocked

BATCH_NORM_EPSILON = 1e-5
TRAINING = Blocked(
    "training-mode", "BatchNormalization computes its statistics", "export the model for inference"
)
COMPUTED_STATISTICS = Blocked("computed-parameter", "the statistics are computed at run time")
NOT_FINITE = Blocked("invalid-parameters", "a factor or shift is not finite")


class AffineMap(NamedTuple):
    """Factor and shift of an affine op: float64 arrays of shape (), or (channels,) along `axis`."""

    place: int
    """Index of the operand that is mapped; the others are constants."""
    axis: int | None
    factor: Array
    shift: Array

    def after(self, first: AffineMap) -> AffineMap | None:
        """Composition: this map applied to the result of `first`; None if the two run along different axes."""
        axes = {a for a in (self.axis, first.axis) if a is not None}
        if len(axes) > 1:
            return None
        factor, shift = self.factor * first.factor, self.factor * first.shift + self.shift
        return AffineMap(first.place, axes.pop() if axes else None, factor, shift)

    @property
    def is_shift(self) -> bool:
        """True if every factor is 1."""
        return bool(np.all(self.factor == 1))

    @property
    def is_scale(self) -> bool:
        """True if every shift is 0."""
        return not np.any(self.shift)


@dataclass(frozen=True)
class Affine(Promise):
    """The op is affine for suitable constants; `find` returns None where it is another function."""

    find: Callable[[OnnxOp], AffineMap | Blocked | None]

    def map(self, op: OnnxOp) -> AffineMap | Blocked | None:
        """The op's map, all entries finite; `Blocked` if it has none; None if the op is not affine."""
        map = self.find(op)
        if isinstance(map, AffineMap) and not map.factor.size:
            return None  # of no channels
        if isinstance(map, AffineMap) and not (
            np.isfinite(map.factor).all() and np.isfinite(map.shift).all()
        ):
            return NOT_FINITE
        return map


def _batch_norm(op: OnnxOp) -> AffineMap | Blocked:
    # Before opset 14 further outputs mean training, before 7 a missing `is_test` does; before 9 statistics could
    # be those of every element (`spatial` 0).
    if op.int_attr("training_mode", 0) or len(op.results) > 1 or not op.int_attr("spatial", 1):
        return TRAINING
    constants = [real_constant(op.input(k)) for k in range(1, 5)]
    arrays = [c.astype(np.float64) for c in constants if c is not None]
    if len(arrays) < 4 or len({a.shape for a in arrays}) > 1:  # the shapes differ only in an invalid model
        return COMPUTED_STATISTICS
    gamma, beta, mean, variance = arrays
    with np.errstate(divide="ignore", invalid="ignore", over="ignore"):
        factor = gamma / np.sqrt(variance + op.float_attr("epsilon", BATCH_NORM_EPSILON))
        shift = beta - mean * factor
    return AffineMap(0, 1, factor, shift)


def _one_constant(op: OnnxOp) -> tuple[int, int | None, Array] | Blocked | None:
    """Of a binary op with a constant: index of the other operand, the constant's axis and elements, (n,) or ()."""
    if not isinstance(
        expressed_of(op.results[0].type), Float32Type | Float16Type | BFloat16Type | Float64Type
    ):
        return None
    known = [is_constant(op.operands[k]) for k in (0, 1)]
    if known[0] == known[1]:
        return None
    place = known.index(False)
    rank, shape = rank_of(op.operands[place]), static_shape(op.operands[1 - place])
    if shape is None:
        return None
    if rank is None and len(shape) > 0:
        return UNKNOWN_RANK
    axes = [k - len(shape) for k, size in enumerate(shape) if size != 1]
    if len(shape) > (rank or 0) or len(axes) > 1:
        return None  # it broadcasts the operand, or varies along more than one axis
    array = real_constant(op.operands[1 - place])
    assert array is not None
    flat = array.reshape(-1 if axes else ()).astype(np.float64)
    return place, axes[0] + (rank or 0) if axes else None, flat


Maps = Callable[[int, Array], "tuple[Array, Array] | None"]
"""Maps the index of the operand that varies, and the constant, to factor and shift."""


def _binary(maps: Maps) -> Affine:

    def find(op: OnnxOp) -> AffineMap | Blocked | None:
        operand = _one_constant(op)
        if operand is None or isinstance(operand, Blocked):
            return operand
        place, axis, c = operand
        with np.errstate(divide="ignore"):
            pair = maps(place, c)
        return None if pair is None else AffineMap(place, axis, *pair)

    return Affine(find)


AFFINE: dict[tuple[str, str], Affine] = {
    ("", "BatchNormalization"): Affine(_batch_norm),
    ("", "Mul"): _binary(lambda place, c: (c, np.zeros_like(c))),
    ("", "Add"): _binary(lambda place, c: (np.ones_like(c), c)),
    ("", "Div"): _binary(lambda place, c: None if place else (1 / c, np.zeros_like(c))),
    ("", "Sub"): _binary(lambda place, c: (-np.ones_like(c), c) if place else (np.ones_like(c), -c)),
}


@dataclass(frozen=True)
class RunningStatistics(Promise):
    """Two operands hold the mean and the variance that each channel (axis 1) of operand 0 had in training."""

    mean: int
    variance: int


STATISTICS: dict[tuple[str, str], RunningStatistics] = {("", "BatchNormalization"): RunningStatistics(3, 4)}


def affine_map(value: SSAValue) -> AffineMap | Blocked | None:
    """The map of the op that makes `value`; None if it is not affine."""
    op = value.owner
    promise = promise_of(op, Affine)
    return None if promise is None else promise.map(op)  # pyright: ignore[reportArgumentType]


@dataclass(frozen=True)
class Homogeneous(Promise):
    """Each channel (axis 1) of the result depends on that channel alone and is proportional to it."""

    not_negative: bool = False
    """True if no element of the result is negative."""


@dataclass(frozen=True)
class Scaled(Promise):
    """The op ends with a factor and a shift for each position on its last axes, as normalizations do."""

    factor: int
    """Index of the factor's operand."""
    shift: int
    first_axis: int
    """The first of those axes unless attribute `axis` states another."""


FACTORS: dict[tuple[str, str], Promise] = {
    ("", "Relu"): Homogeneous(not_negative=True),
    ("", "LeakyRelu"): Homogeneous(),
    ("", "MaxPool"): Homogeneous(),
    ("", "AveragePool"): Homogeneous(),
    ("", "GlobalAveragePool"): Homogeneous(),
    ("", "GlobalMaxPool"): Homogeneous(),
    ("", "LayerNormalization"): Scaled(1, 2, -1),
}
