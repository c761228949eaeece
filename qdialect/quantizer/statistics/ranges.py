"""
Range estimation for 8-bit quantization from a tensor's histogram: min-max, percentile, least squared error.

`minmax` covers every value. A percentile p clips (100 - p) % of the values, both sides together. `mse` is the range
with the least mean squared error of rounding and clipping over the bins' centres: each end is one of `MSE_STEPS`
fractions of the extreme.
"""

from __future__ import annotations

import numpy as np
import numpy.typing as npt

from qdialect.errors import UserError
from qdialect.quantizer.statistics.statistics import Statistics

METHODS = ("minmax", "mse", "99.999", "99.99")
MSE_STEPS = 31
MIN_MSE_SHARE = 0.1
"""Narrowest range that `mse` considers, as a fraction of the extreme."""


def find_range(statistics: Statistics, method: str, steps: int, symmetric: bool) -> tuple[float, float]:
    """
    The reals (low, high) that `steps` equal steps are to cover; they hold 0.

    method: one of `METHODS` or another percentile. Raises UserError as `check_range` does.
    """
    low, high = min(statistics.low, 0.0), max(statistics.high, 0.0)
    if method == "minmax" or statistics.counts.size == 0:
        return (low, high) if statistics.counts.size else (0.0, 0.0)
    if method == "mse":
        return _least_error(statistics, low, high, steps, symmetric)
    return _percentile(statistics, low, high, _share_outside(method), symmetric)


def check_range(method: str) -> None:
    """Raise UserError for text that is neither one of `METHODS` nor a percentile."""
    if method not in METHODS:
        _share_outside(method)


def _share_outside(percentile: str) -> float:
    try:
        share = 1 - float(percentile) / 100
    except ValueError:
        raise UserError(
            f"there is no range '{percentile}'", "choose minmax, mse or a percentile such as 99.99"
        ) from None
    if not 0 <= share < 1:
        raise UserError(f"{percentile} is not a percentile", "choose one above 0, at most 100")
    return share


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
    """
    The range of least error. Clipping error on a side depends on that end alone, rounding error on the width:
    width^2 / (12 steps^2) for each value except those in the bin of 0, since 0 is exact.
    """
    fractions = np.linspace(MIN_MSE_SHARE, 1, MSE_STEPS)
    x, weights = statistics.centres, statistics.counts.astype(np.float64)
    place = -statistics.first
    rounded = float(weights.sum()) - (float(weights[place]) if 0 <= place < weights.size else 0.0)
    if symmetric:
        ends = fractions * max(-low, high)
        errors = _beyond(x, weights, ends) + _beyond(-x, weights, ends)
        errors += rounded * (2 * ends / steps) ** 2 / 12
        reach = float(ends[_last_least(errors)])
        return max(low, -reach), min(high, reach)
    lows = fractions * -low if low < 0 else np.zeros(1)
    highs = fractions * high if high > 0 else np.zeros(1)
    both = _beyond(-x, weights, lows)[:, None] + _beyond(x, weights, highs)[None, :]
    both = both + rounded * ((lows[:, None] + highs[None, :]) / steps) ** 2 / 12
    k = _last_least(both.reshape(-1))
    return -float(lows[k // highs.size]), float(highs[k % highs.size])


def _last_least(errors: npt.NDArray[np.float64]) -> int:
    """Index of the last minimum: the widest range wins a tie, so that nothing is clipped without gain."""
    return errors.size - 1 - int(np.argmin(errors[::-1]))


def _beyond(
    x: npt.NDArray[np.float64], weights: npt.NDArray[np.float64], ends: npt.NDArray[np.float64]
) -> npt.NDArray[np.float64]:
    """For each end, the summed squared distance of all values above it."""
    above = np.maximum(x[None, :] - ends[:, None], 0.0)
    return (above * above) @ weights
