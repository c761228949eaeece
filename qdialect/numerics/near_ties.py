"""
Multipliers of the integer-only arithmetic that round results near a tie as onnxruntime's float32 does.

A float32 ratio leaves seven of a multiplier's 31 bits free. Moved by less than float32's own error, the multiplier
decides the side of a tie for sums that float32 cannot distinguish from one. A multiplier has few such sums, mostly one
or none. Ratios of short numerators and denominators, powers of two among them, have many, which float32 rounds up and
down in turn: no multiplier does that, but two roundings do, the first to steps of 2^-bits, the second to even.
"""

from __future__ import annotations

from typing import NamedTuple

import numpy as np
import numpy.typing as npt

from qdialect.numerics import INT32_MAX, rescale_factors

Factors = tuple[npt.NDArray[np.int32], npt.NDArray[np.int8]]
"""Multipliers and shifts."""
Ints = npt.NDArray[np.int64]
Floats = npt.NDArray[np.float64]
_NEAR = 2.0**-22
"""Two errors of float32: greatest relative distance at which it takes a product for a tie."""
_LARGEST = 2**30
"""Exclusive bound of the sums considered: their products with a multiplier, and the next tie, fit in 64 bits."""
SELDOM = 2.0**-18
"""Fraction of sums with another result than onnxruntime's that is accepted for five operations less."""
_FEWEST_BITS = 8
_PAIRS_NEAR = 2.0**-10
"""Distance from a tie, in steps, within which a moved ratio may carry a sum of two terms over it."""
_MOVES = 40 * 2.0**-23
"""Greatest relative change of a ratio of a sum of two terms."""
_TYPICAL = 20.0
"""Steps from 0 at which the weight of a sum of two terms falls to a third."""


class Rounding(NamedTuple):
    """Rounding of int32 sums to results."""

    factors: Factors
    """Factors of the first rescale, to steps of 2^-bits of a result."""
    bits: int
    """0 if the first rescale gives the results, ties up; otherwise its results are rounded again, ties to even."""
    missed: float
    """Fraction of sums, evenly distributed over the results, whose result differs from onnxruntime's."""


def faithful_rounding(ratio: npt.ArrayLike, low: int, high: int, largest: int = INT32_MAX) -> Rounding:
    """
    The rounding of int32 sums of magnitudes up to `largest`, times float32 ratios, (n,), to results from `low` to
    `high` above their zero point, as in `requantize` except for a small fraction: in one step if possible, else in two.

    ValueError for a ratio that is not positive, not finite, or above 2^28.
    """
    ratio = np.asarray(ratio, np.float32)
    best = at_once = _faithful(ratio, low, high, largest, 0)
    if at_once.missed <= SELDOM:
        return at_once
    results = max(float(largest) * float(ratio.max()), 1.0)
    for bits in range(29 - int(np.frexp(results)[1]), _FEWEST_BITS - 1, -1):
        twice = _faithful(ratio, low, high, largest, bits)
        best = min(best, twice, key=lambda one: one.missed)
        if not best.missed:
            break
    return best if best.missed * 2 < at_once.missed else at_once


def _faithful(ratio: npt.NDArray[np.float32], low: int, high: int, largest: int, bits: int) -> Rounding:
    """Multipliers moved so that near ties fall as float32 has them; where they want opposites, those nearest to 0."""
    multiplier, shift = rescale_factors(ratio.astype(np.float64) * 2.0**bits)
    rows, values, ties = _near_ties(ratio, low, high, largest, bits)
    least, greatest = multiplier_bounds(
        values, np.rint(values.astype(np.float32) * ratio[rows]), shift[rows], bits
    )
    moved = multiplier.astype(np.int64)
    is_met = (least <= moved[rows]) & (moved[rows] <= greatest)
    for row in np.unique(rows[~is_met]):
        of = rows == row
        moved[row] = nearest_multiplier(int(moved[row]), least[of], greatest[of], 1 / np.abs(ties[of]))
    is_missed = (moved[rows] < least) | (moved[rows] > greatest)
    missed = float((ratio[rows] * is_missed).sum(dtype=np.float64)) / (ratio.size * (high - low))
    return Rounding((moved.astype(np.int32), shift), bits, missed)


def _near_ties(
    ratio: npt.NDArray[np.float32], low: int, high: int, largest: int, bits: int
) -> tuple[Ints, Ints, Floats]:
    """Sums that may be rounded to either side of a tie: the places of their ratios, the sums, the ties."""
    exact = ratio[:, None].astype(np.float64)
    ties = np.tile(np.arange(low, high, dtype=np.float64) + 0.5, 2)
    below = np.floor(ties / exact)
    sums = below + np.repeat([0.0, 1.0], high - low)
    reach = np.abs(ties) * _NEAR + (2.0**-bits if bits else 0)
    near = (np.abs(sums * exact - ties) <= reach) & (np.abs(sums) <= min(largest, _LARGEST)) & (sums != 0)
    rows, columns = np.nonzero(near)
    return rows, sums[near].astype(np.int64), ties[columns]


def multiplier_bounds(
    sums: Ints, results: Floats, shift: npt.NDArray[np.int8], bits: int
) -> tuple[Ints, Ints]:
    """The least and the greatest multiplier by which each sum is rounded to its result."""
    wanted, wide = results.astype(np.int64), shift.astype(np.int64)
    open_ends = wanted & 1  # an odd result has no tie
    half = (1 << bits) >> 1
    first = (wanted << bits) - half + open_ends * min(half, 1)
    last = (wanted << bits) + half - open_ends * min(half, 1)
    up = np.left_shift(np.int64(1), wide - 1)
    ends = (first << wide) - up, (last + 1 << wide) - up - 1  # of sum * multiplier
    is_positive = sums > 0
    least, greatest = np.where(is_positive, ends, ends[::-1])
    return -(-least // sums), greatest // sums


def nearest_multiplier(start: int, least: Ints, greatest: Ints, weights: Floats) -> int:
    """The integer next to `start` that keeps to the bounds of most weight, the nearest of several."""
    candidates = np.concatenate([[start], least, greatest])
    candidates = candidates[(np.abs(candidates - start) <= start * _NEAR) & (candidates <= INT32_MAX)]
    candidates = candidates[np.argsort(np.abs(candidates - start), kind="stable")]
    kept = (least <= candidates[:, None]) & (candidates[:, None] <= greatest)
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
