"""
Functions that rise by one step at each of several thresholds, as a quantize of `x * factor + shift`.

A quantize never falls where its operand rises. So it equals a staircase of n thresholds if it does at 2 n numbers: each
threshold, and the largest number of the operand below it.
"""

from __future__ import annotations

from typing import NamedTuple

import numpy as np
import numpy.typing as npt

from qdialect.numerics import Array, quantize

MAX_STEP_DEVIATION = 1e-3
"""Greatest distance of a threshold from equal steps, in steps: beyond float32's precision, below what one would see."""
MAX_PAIRED_THRESHOLDS = 1 << 10
"""Greatest number of thresholds of which each two are compared."""


class Line(NamedTuple):
    """Equally spaced points: `first + k * step`."""

    first: float
    step: float


class Steps(NamedTuple):
    """rint(x * factor + shift), clamped to [low, high]; float32, of one entry or one for each channel."""

    factor: npt.NDArray[np.float32]
    shift: npt.NDArray[np.float32]
    low: int
    high: int
    scale: np.float32 | None = None
    """The quantize's own scale, if it divides x instead; then factor and shift do not apply."""

    def __call__(self, x: Array) -> Array:
        """The integers of `x`, (channels, numbers)."""
        if self.scale is not None:
            return quantize(x, self.scale, 0, self.low, self.high, np.int32)
        with np.errstate(over="ignore", invalid="ignore"):
            moved = x.astype(np.float32) * self.factor.reshape(-1, 1) + self.shift.reshape(-1, 1)
        return quantize(moved, np.float32(1), 0, self.low, self.high, np.int32)


def line_through(least: Array, most: Array) -> Line | None:
    """
    Equally spaced points, the k-th between least[k] and most[k]; None if there are none. With one point, steps of 1.

    There are if every two points allow it: (least[j] - most[i]) / (j - i) <= step <= (most[j] - least[i]) / (j - i).
    """
    count = least.size
    if count == 1:
        return Line(float((least[0] + most[0]) / 2), 1.0)
    middle = (least + most) / 2
    step = (middle[-1] - middle[0]) / (count - 1)
    even = middle[0] + step * np.arange(count)
    if ((even >= least) & (even <= most)).all():
        return Line(float(middle[0]), float(step))
    if count > MAX_PAIRED_THRESHOLDS:
        return None
    apart = np.arange(count)[None, :] - np.arange(count)[:, None]
    later = apart > 0
    lower = ((least[None, :] - most[:, None])[later] / apart[later]).max()
    upper = ((most[None, :] - least[:, None])[later] / apart[later]).min()
    if lower > upper:
        return None
    step = (lower + upper) / 2
    rest = np.arange(count) * step
    return Line(float(((least - rest).max() + (most - rest).min()) / 2), float(step))


def lines_of(thresholds: Array, *, integers: bool) -> list[Line] | None:
    """
    Equal steps of each row of thresholds, (channels, count), ascending; None if a row has none.

    integers: the operand holds integers, so that a threshold stands for all numbers down to the next integer.
    """
    lines: list[Line] = []
    if not np.isfinite(thresholds).all():
        return None
    for row in thresholds.astype(np.float64):
        if integers:
            above = np.ceil(row)
            least, most = above - 1 + MAX_STEP_DEVIATION, above - MAX_STEP_DEVIATION
        else:
            gap = MAX_STEP_DEVIATION * abs(row[-1] - row[0]) / max(row.size - 1, 1)
            least, most = row - gap, row + gap
        line = line_through(least, most)
        if line is None or line.step <= 0:
            return None
        lines.append(line)
    return lines


def steps_along(lines: list[Line], low: int, high: int) -> Steps:
    """The steps whose k-th threshold, from low to low + 1 + k, lies on each channel's line."""
    step = np.array([line.step for line in lines])
    first = np.array([line.first for line in lines])
    # At first + k * step the sum is low + k + 1/2.
    factor, shift = 1 / step, low + 0.5 - first / step
    is_one = (
        np.ptp(step) <= MAX_STEP_DEVIATION * MAX_STEP_DEVIATION * step[0]
        and (np.abs(shift) <= MAX_STEP_DEVIATION).all()
    )
    return Steps(
        factor.astype(np.float32),
        shift.astype(np.float32),
        low,
        high,
        np.float32(step[0]) if is_one else None,
    )


def below(thresholds: npt.NDArray[np.float32], *, integers: bool) -> npt.NDArray[np.float32]:
    """The largest operand below each threshold: the float before it, or the integer."""
    if integers:
        return np.ceil(thresholds) - np.float32(1)
    return np.nextafter(thresholds, np.float32(-np.inf))


def are_equal(steps: Steps, thresholds: npt.NDArray[np.float32], *, integers: bool) -> bool:
    """True if the steps rise at each threshold, (channels, count), from low on, and nowhere else."""
    levels = steps.low + np.arange(thresholds.shape[1])
    at = np.ceil(thresholds) if integers else thresholds
    before = below(thresholds, integers=integers)
    return bool((steps(at) == levels + 1).all() and (steps(before) == levels).all())


def steps_of_shift(
    multiplier: npt.NDArray[np.int64], addend: npt.NDArray[np.int64], divisor: int, low: int, high: int
) -> Steps:
    """
    floor((x * multiplier + addend) / divisor + 1/2) of integers x, clamped, one multiplier and addend for each channel.

    Half of the least difference of two quotients is added, so that no sum lies on a tie.
    """
    unit = divisor // int(np.gcd.reduce(np.concatenate([multiplier, addend, [divisor]])))
    off_ties = 1 / (2 * unit) if unit > 1 else 0.0
    factor, shift = multiplier / divisor, addend / divisor + off_ties
    is_one = (
        bool((multiplier == multiplier[0]).all()) and not addend.any() and multiplier[0] > 0 and unit == 1
    )
    return Steps(
        factor.astype(np.float32),
        shift.astype(np.float32),
        low,
        high,
        np.float32(divisor / multiplier[0]) if is_one else None,
    )


def is_shift(
    steps: Steps, multiplier: npt.NDArray[np.int64], addend: npt.NDArray[np.int64], divisor: int
) -> bool:
    """
    True if the steps are floor((x * multiplier + addend) / divisor + 1/2) for each integer x: they are at the two
    integers where it passes from k to k + 1, for each k.
    """
    levels = np.arange(steps.low + 1, steps.high + 1, dtype=np.int64)
    rows = zip(multiplier.tolist(), addend.tolist(), strict=True)
    for k, (factor, term) in enumerate(rows):  # one at a time, for the memory
        size = abs(factor) or 1
        # x * size >= level * divisor - term - divisor / 2, doubled
        least = -((2 * term + divisor - 2 * levels * divisor) // (2 * size))
        x = np.concatenate([least, least - 1]) * (-1 if factor < 0 else 1)
        exact = (2 * (x * factor + term) + divisor) // (2 * divisor)
        own = steps._replace(factor=steps.factor[k : k + 1], shift=steps.shift[k : k + 1])
        if (own(x[None]) != np.clip(exact, steps.low, steps.high)).any():
            return False
    return True


def truncation(
    scale: float,
    bits: int,
    wide: int,
    narrow: int,
    *,
    mode: str,
    signed: bool,
    narrow_range: bool,
    clamps: bool,
) -> tuple[Steps, bool]:
    """
    QONNX's Trunc: rounded(rint(x / scale) / 2^bits), as steps; and whether they are its result for every multiple of
    `scale` that `wide` bits hold. clamps: to `narrow` bits, before it rounds.
    """
    rounded = {"FLOOR": np.floor, "CEIL": np.ceil}.get(mode, np.rint)
    least, most = (-(1 << (wide - 1)), (1 << (wide - 1)) - 1) if signed else (0, (1 << wide) - 1)
    stored = np.arange(least, most + 1, dtype=np.float32)
    parts = stored / np.float32(1 << bits)
    if clamps:
        low = -(1 << (narrow - 1)) + narrow_range if signed else 0
        high = (1 << (narrow - 1)) - 1 if signed else (1 << narrow) - 1 - narrow_range
        parts = np.clip(parts, low, high)
    result = rounded(parts)
    low, high = int(result.min()), int(result.max())
    half = {"FLOOR": -1, "CEIL": 1}.get(mode, 0) * (0.5 - 0.5 / (1 << bits))
    unit = np.float32(scale) * np.float32(1 << bits)
    steps = Steps(
        np.array([1 / unit], np.float32), np.array([half], np.float32), low, high, None if half else unit
    )
    x = stored * np.float32(scale)
    return steps, bool((steps(x[None]) == result).all())
