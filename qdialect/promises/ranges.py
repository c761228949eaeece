"""Intervals in which the elements of a value lie, op by op, whatever the model's inputs are."""

from __future__ import annotations

from collections.abc import Callable
from dataclasses import dataclass

import numpy as np
from xdsl.ir import OpResult, SSAValue

from qdialect.dialects.onnx_base import OnnxOp
from qdialect.dialects.onnx_types import uniform_of
from qdialect.dialects.quant import DequantizeOp
from qdialect.ir.values import real_constant
from qdialect.promises.base import Commutes, Promise
from qdialect.promises.clamping import Clamp
from qdialect.promises.elementwise import KnownRange

Interval = tuple[float, float]
"""The least and the greatest number, infinite for a missing bound."""
Known = Callable[[SSAValue], Interval]
"""The interval of a value that is known so far."""
ALL: Interval = (-np.inf, np.inf)
NOT_NEGATIVE: Interval = (0.0, np.inf)
MAX_EXAMINED_ELEMENTS = 1 << 16
"""Greatest number of elements of constants that are examined."""
MAX_FOLLOWED_OPS = 24
"""Greatest number of ops that are followed."""


@dataclass(frozen=True)
class Ranged(Promise):
    """The elements of the op's first result lie in an interval that follows from those of its operands."""

    interval: Callable[[OnnxOp, Known], Interval]


def range_of(value: SSAValue) -> Interval:
    """The interval in which the elements of a value lie; `ALL` if nothing is known."""
    return _range(value, {}, MAX_FOLLOWED_OPS)


def _range(value: SSAValue, found: dict[SSAValue, Interval], depth: int) -> Interval:
    """`range_of`, with the intervals of the values that were visited before."""
    if value not in found:
        found[value] = _derived(value, lambda operand: _range(operand, found, depth - 1) if depth else ALL)
    return found[value]


def _derived(value: SSAValue, known: Known) -> Interval:
    array = real_constant(value)
    if array is not None:
        is_small = 0 < array.size <= MAX_EXAMINED_ELEMENTS and array.dtype.kind in "fiu"
        return (float(array.min()), float(array.max())) if is_small and np.isfinite(array).all() else ALL
    op = value.op if isinstance(value, OpResult) else None
    if isinstance(op, DequantizeOp):
        type = uniform_of(op.operands[0].type)
        ends = [(end - type.zero_points) * type.scales for end in (type.storage.low, type.storage.high)]
        return float(np.min(ends[0])), float(np.max(ends[1]))
    if not isinstance(op, OnnxOp) or value is not op.results[0]:
        return ALL
    if (promise := op.get_trait(Ranged)) is not None:
        return promise.interval(op, known)
    if (fixed := op.get_trait(KnownRange)) is not None:
        return fixed.bounds
    if (clamp := op.get_trait(Clamp)) is not None:
        return _clamped(known(op.operands[0]), clamp.bounds(op))
    moves = op.get_trait(Commutes)
    if moves is not None and moves.moves_storage and 0 in moves.results(op):
        return _hull([known(operand) for operand in moves.operand_values(op)])
    return ALL


def _hull(ranges: list[Interval]) -> Interval:
    return (min(r[0] for r in ranges), max(r[1] for r in ranges)) if ranges else ALL


def _clamped(range: Interval, bounds: Interval | None) -> Interval:
    """What a clamp leaves of an interval; a lower bound above the upper one gives the upper."""
    if bounds is None:
        return ALL
    low, high = (min(max(end, bounds[0]), bounds[1]) for end in range)
    return low, high


def _not_negative(op: OnnxOp, known: Known) -> Interval:
    return NOT_NEGATIVE


def _mean(op: OnnxOp, known: Known) -> Interval:
    """Of means, some of which may count zeros of a border."""
    return _hull([(0.0, 0.0), *map(known, op.operands)])


def _signs(op: OnnxOp, known: Known) -> Interval:
    """Of sums of any number of elements: no more than their sign."""
    low, high = known(op.operands[0])
    return 0.0 if low >= 0 else -np.inf, 0.0 if high <= 0 else np.inf


def _sum(op: OnnxOp, known: Known) -> Interval:
    ranges = list(map(known, op.operands))
    return sum(r[0] for r in ranges), sum(r[1] for r in ranges)


def _product(op: OnnxOp, known: Known) -> Interval:
    """Of a square, or of factors of known signs."""
    a, b = map(known, op.operands)
    if op.operands[0] is op.operands[1] or (min(a[0], b[0]) >= 0) or (max(a[1], b[1]) <= 0):
        return NOT_NEGATIVE
    return ALL


def _quotient(op: OnnxOp, known: Known) -> Interval:
    a, b = map(known, op.operands)
    return NOT_NEGATIVE if a[0] >= 0 and b[0] > 0 else ALL


def _power(op: OnnxOp, known: Known) -> Interval:
    """Of a base that is not negative, or an even exponent."""
    exponent = real_constant(op.operands[1])
    is_even = exponent is not None and bool(np.all(exponent % 2 == 0))
    return NOT_NEGATIVE if is_even or known(op.operands[0])[0] >= 0 else ALL


def _greatest(op: OnnxOp, known: Known) -> Interval:
    ranges = list(map(known, op.operands))
    return max(r[0] for r in ranges), max(r[1] for r in ranges)


def _least(op: OnnxOp, known: Known) -> Interval:
    ranges = list(map(known, op.operands))
    return min(r[0] for r in ranges), min(r[1] for r in ranges)


def _chosen(op: OnnxOp, known: Known) -> Interval:
    return _hull([known(op.operands[1]), known(op.operands[2])])


NORMS = "Abs Exp Sqrt Softplus ReduceL1 ReduceL2 ReduceSumSquare GlobalLpPool LpPool"
RANGES: dict[tuple[str, str], Ranged] = {
    **{("", name): Ranged(_not_negative) for name in NORMS.split()},
    **{("", name): Ranged(_mean) for name in ("AveragePool", "GlobalAveragePool", "Mean", "ReduceMean")},
    ("", "ReduceSum"): Ranged(_signs),
    **{("", name): Ranged(_sum) for name in ("Add", "Sum")},
    ("", "Mul"): Ranged(_product),
    ("", "Div"): Ranged(_quotient),
    ("", "Pow"): Ranged(_power),
    ("", "Max"): Ranged(_greatest),
    ("", "Min"): Ranged(_least),
    ("", "Where"): Ranged(_chosen),
}
