"""
Multipliers of the integer-only arithmetic that round results near a tie as onnxruntime's float32 does.

A float32 ratio leaves seven of a multiplier's 31 bits free. Moved by less than float32's own error, the multiplier says
on which side of a tie a sum lies that float32 cannot tell from one. One multiplier has few such sums, mostly one or
none; where two of them want the opposite, the one nearer to 0 decides, for it occurs more often.
"""

from __future__ import annotations

import numpy as np
import numpy.typing as npt

from qdialect.numerics import INT32_MAX, rescale_factors

Factors = tuple[npt.NDArray[np.int32], npt.NDArray[np.int8]]
"""Multipliers and shifts."""
Ints = npt.NDArray[np.int64]
Floats = npt.NDArray[np.float64]
_NEAR = 2.0**-22
"""Two errors of float32: how far apart, of their size, a product and a tie may be for it to take one for the other."""
_PAIRS_NEAR = 2.0**-10
"""How near to a tie, in steps, a sum of two terms is that a moved ratio might carry over it."""
_MOVES = 40 * 2.0**-23
"""How far a ratio of a sum of two terms is moved at most, of its size."""
_TYPICAL = 20.0
"""Steps from 0 at which a sum of two terms counts a third of what one at 0 does."""


def faithful_factors(ratio: npt.ArrayLike, low: int, high: int) -> Factors:
    """
    As `rescale_factors` of float32 ratios, (n,): of int32 sums, results from `low` to `high` are as `requantize` has
    them, above their zero point, but for those that want opposite multipliers.

    ValueError for a ratio that is not positive, not finite, or above 2^28.
    """
    ratio = np.asarray(ratio, np.float32)
    multiplier, shift = rescale_factors(ratio)
    ties = np.arange(low, high) + 0.5
    sums = np.rint(ties / ratio[:, None].astype(np.float64))
    products = sums * ratio[:, None]
    near = (np.abs(products - ties) <= np.abs(ties) * _NEAR) & (np.abs(sums) <= INT32_MAX)
    rows, columns = np.nonzero(near)
    value, tie = sums[rows, columns], ties[columns]
    is_up = np.rint(value.astype(np.float32) * ratio[rows]) > tie
    limit = np.ldexp(tie, shift[rows]) / value  # the multiplier that makes a tie, which goes up
    is_least = (value > 0) == is_up
    least = np.where(is_up, np.ceil(limit), np.floor(limit) + 1).astype(np.int64)
    greatest = np.where(is_up, np.floor(limit), np.ceil(limit) - 1).astype(np.int64)
    bound = np.where(is_least, least, greatest)
    start = multiplier.astype(np.int64)
    is_met = np.where(is_least, start[rows] >= bound, start[rows] <= bound)
    for row in np.unique(rows[~is_met]):
        of = rows == row
        start[row] = _within(int(start[row]), bound[of], is_least[of], 1 / np.abs(tie[of]))
    return start.astype(np.int32), shift


def _within(start: int, bounds: Ints, is_least: npt.NDArray[np.bool_], weights: Floats) -> int:
    """The integer nearest to `start` that keeps to the bounds of most weight."""
    candidates = np.array([start, *(b for b in bounds.tolist() if 0 < b <= INT32_MAX)])
    candidates = candidates[np.argsort(np.abs(candidates - start), kind="stable")]
    kept = np.where(is_least, candidates[:, None] >= bounds, candidates[:, None] <= bounds)
    return int(candidates[np.argmax(kept @ weights)])


def faithful_ratios(
    ratios: tuple[np.float32, np.float32], zero_points: tuple[int, int, int], low: int, high: int, bits: int
) -> tuple[float, float]:
    """
    The ratios of two terms of bytes, moved so that their sum, of terms each in steps 2^-bits, is as onnxruntime's
    QLinearAdd on most pairs. zero_points: of the terms and the result, of i8. low, high: of the result, above its zero
    point.
    """
    first, second = (np.arange(-128.0, 128.0) - zero for zero in zero_points[:2])
    a, b = (float(ratio) for ratio in ratios)
    sums = a * first[:, None] + b * second
    ties = np.floor(sums) + 0.5
    near = (np.abs(sums - ties) < _PAIRS_NEAR) & (sums > low - 1) & (sums < high + 1)
    rows, columns = np.nonzero(near)
    x, y, tie = first[rows], second[columns], ties[near]
    is_up = _as_onnxruntime_adds(ratios, zero_points, x, y) > tie
    weights = np.exp(-(np.abs(a * x) + np.abs(b * y)) / _TYPICAL)

    def missed(moves: tuple[Floats, Floats]) -> Floats:
        fine = np.rint(np.outer(1 + moves[0], a * x) * 2.0**bits)
        fine += np.rint(np.outer(1 + moves[1], b * y) * 2.0**bits)
        return ((fine >= tie * 2.0**bits) != is_up) @ weights

    still = np.zeros(1)
    if not missed((still, still)).any():
        return a, b
    line = np.linspace(-_MOVES, _MOVES, 81)
    moves = np.array(np.meshgrid(line, line)).reshape(2, -1)
    moves = moves[:, np.argsort(np.abs(moves).sum(0), kind="stable")]
    best = int(np.argmin(missed((moves[0], moves[1]))))
    return a * (1 + float(moves[0, best])), b * (1 + float(moves[1, best]))


def _as_onnxruntime_adds(
    ratios: tuple[np.float32, np.float32], zero_points: tuple[int, int, int], x: Floats, y: Floats
) -> Floats:
    """
    Rounded sums above the result's zero point, of terms above theirs: MLAS's QLinearAdd of u8 on x86, whose products
    and sums are fused (qladd_avx2.cpp).
    """
    (a, b), (a_zero, b_zero, y_zero) = ratios, (zero + 128 for zero in zero_points)
    shared = np.float32(y_zero) - _fused(a, a_zero, b * np.float32(b_zero))
    return np.rint(_fused(a, x + a_zero, _fused(b, y + b_zero, shared))) - y_zero


def _fused(a: np.float32, b: npt.ArrayLike, c: npt.ArrayLike) -> npt.NDArray[np.float32]:
    """a * b + c, rounded to float32 once; b: bytes."""
    return np.asarray(float(a) * np.asarray(b, np.float64) + np.asarray(c, np.float64)).astype(np.float32)
