"""
Ranges for 8-bit parameters, from the histogram of a tensor: which reals the integers are to cover.

`minmax` covers every value. A percentile leaves as many outside on both sides together as it says. `mse` is the range
with the least mean squared error of rounding and clipping over the bins' centres: each end is one of `STEPS` fractions of
the extreme.
"""

from __future__ import annotations

import numpy as np
import numpy.typing as npt

from qdialect.calibration.statistics import Statistics
from qdialect.errors import UserError

METHODS = ("minmax", "mse", "99.999", "99.99")
STEPS = 31
LEAST = 0.1
"""The narrowest range that `mse` looks at, as a fraction of the extreme."""


def find_range(statistics: Statistics, method: str, steps: int, symmetric: bool) -> tuple[float, float]:
    """
    The reals (low, high) that `steps` equal steps are to cover; they hold 0.

    `method`: one of `METHODS` or another percentile. Raises UserError for what is no method.
    """
    low, high = min(statistics.low, 0.0), max(statistics.high, 0.0)
    if method == "minmax" or statistics.counts.size == 0:
        return (low, high) if statistics.counts.size else (0.0, 0.0)
    if method == "mse":
        return _least_error(statistics, low, high, steps, symmetric)
    try:
        share = 1 - float(method) / 100
    except ValueError:
        raise UserError(f"there is no range '{method}'", f"choose from {', '.join(METHODS)}") from None
    if not 0 <= share < 1:
        raise UserError(f"{method} is no percentile", "choose one up to 100")
    return _percentile(statistics, low, high, share, symmetric)


def _percentile(
    statistics: Statistics, low: float, high: float, share: float, symmetric: bool
) -> tuple[float, float]:
    centres, counts = statistics.centres, statistics.counts
    half = 2.0**statistics.exponent / 2
    outside = share * statistics.count
    if symmetric:
        order = np.argsort(np.abs(centres), kind="stable")
        inside = np.cumsum(counts[order])
        k = int(np.searchsorted(inside, statistics.count - outside))
        reach = abs(float(centres[order[min(k, order.size - 1)]])) + half
        return max(low, -reach), min(high, reach)
    sides = (low < 0) + (high > 0)
    each = outside / max(sides, 1)
    below = np.cumsum(counts)
    first = int(np.searchsorted(below, each, side="right"))
    last = int(np.searchsorted(below, statistics.count - each))
    least = max(low, float(centres[min(first, centres.size - 1)]) - half)
    greatest = min(high, float(centres[min(last, centres.size - 1)]) + half)
    return min(least, 0.0), max(greatest, 0.0)


def _least_error(
    statistics: Statistics, low: float, high: float, steps: int, symmetric: bool
) -> tuple[float, float]:
    fractions = np.linspace(LEAST, 1, STEPS)
    used = np.flatnonzero(statistics.counts)
    x, weights = statistics.centres[used], statistics.counts[used].astype(np.float64)
    if symmetric:
        reach = max(-low, high)
        pairs = np.stack([-fractions * reach, fractions * reach], axis=1)
    else:
        lows = fractions * low if low < 0 else np.zeros(1)
        highs = fractions * high if high > 0 else np.zeros(1)
        pairs = np.stack(np.meshgrid(lows, highs, indexing="ij"), axis=-1).reshape(-1, 2)
    errors = [_error(x, weights, float(a), float(b), steps) for a, b in pairs]
    # The first of the greatest ranges wins a tie: nothing is clipped that need not be.
    best = pairs[len(errors) - 1 - int(np.argmin(errors[::-1]))]
    return max(float(best[0]), low), min(float(best[1]), high)


def _error(
    x: npt.NDArray[np.float64], weights: npt.NDArray[np.float64], low: float, high: float, steps: int
) -> float:
    """The weighted squared error of `steps` equal steps over [low, high]: rounding inside, clipping outside."""
    scale = (high - low) / steps
    if scale <= 0:
        return float(weights @ (x * x))
    beyond = x - np.clip(x, low, high)
    return float(weights @ (beyond * beyond)) + float(weights.sum()) * scale * scale / 12
