"""Weights and biases in steps of the sums that they are part of: x_scale * w_scale."""

from __future__ import annotations

from collections.abc import Sequence

import numpy as np
import numpy.typing as npt

from qdialect.numerics import Array, bias_scale, quantize_bias, requantize_multiplier, sum_scale

SUMMED = 2**24
"""More terms than sums have, about."""


def weight_scale(product_scale: npt.ArrayLike, x_scale: npt.ArrayLike) -> npt.NDArray[np.float32]:
    """
    product_scale / x_scale in float32: the scale of a weight whose `sum_scale` is written out.

    A subnormal quotient, of a dead channel, has few bits: it is rounded down where its product would be larger than
    `product_scale`, so that a channel at the smallest normal number stays there.
    """
    scale = np.asarray(np.asarray(product_scale, np.float32) / np.asarray(x_scale, np.float32))
    larger = (scale < np.finfo(np.float32).tiny) & (sum_scale(x_scale, scale) > product_scale)
    below = np.nextafter(scale, np.float32(0))
    return np.where(larger & (below > 0), below, scale)


def range_scale(values: npt.ArrayLike) -> npt.NDArray[np.float32]:
    """The scale, (), of 8 bits that reach from the least to the greatest value, 0 included."""
    return np.asarray(np.ptp(np.append(values, 0)) / 255, np.float32)


def moved_bias(
    bias: npt.ArrayLike, x_scale: npt.ArrayLike, w_scale: npt.ArrayLike
) -> tuple[npt.NDArray[np.float64], npt.NDArray[np.bool_]]:
    """How far each bias is from its steps of x_scale * w_scale, 0 where int32 does not hold it; and where that is."""
    stored, overflow = quantize_bias(bias, x_scale, w_scale)
    step = bias_scale(x_scale, w_scale).astype(np.float64)
    return np.where(overflow, 0, np.abs(stored * step - np.asarray(bias, np.float64))), overflow


def moved_half_bias(
    bias: npt.ArrayLike, x_scale: npt.ArrayLike, w_scale: npt.ArrayLike
) -> npt.NDArray[np.float64]:
    """How far each bias is from its steps of x_scale * w_scale if their number is a float16, which ends at 65504."""
    step = bias_scale(x_scale, w_scale).astype(np.float64)
    with np.errstate(over="ignore", divide="ignore", invalid="ignore"):
        count = np.rint((np.asarray(bias, np.float64) / step).astype(np.float16)).astype(np.float64)
        return np.nan_to_num(np.abs(count * step - np.asarray(bias, np.float64)), nan=np.inf)


def with_one_zero_point(weight: Array, zero_points: Array) -> tuple[Array, Array] | None:
    """
    The weight, of 8 bits, and one zero point () that give the same differences; None if its type does not hold them.

    zero_points: (channels,), along axis 0 of the weight, in its type.
    """
    spread = zero_points.reshape(-1, *[1] * (weight.ndim - 1)).astype(np.int16)
    differences, bounds = weight.astype(np.int16) - spread, np.iinfo(weight.dtype)
    least, greatest = bounds.min - differences.min(initial=0), bounds.max - differences.max(initial=0)
    if least > greatest:
        return None
    zero = np.clip(np.int16(np.rint(np.median(zero_points))), least, greatest)
    return (differences + zero).astype(weight.dtype), np.asarray(zero, weight.dtype)


def overflow(ranges: Sequence[float]) -> bool:
    """True if a sum of `SUMMED` reals, or products of two, may be beyond float32; `ranges` are the reals' widths."""
    *_, one, other = [1.0, 1.0, *sorted(ranges)]
    return max(one * other, other) * SUMMED > float(np.finfo(np.float32).max)


def multiplier_overflows(x_scale: Array, w_scale: Array, y_scale: Array) -> bool:
    """True if what a kernel multiplies sums with, to get integers of the result, is beyond float32."""
    with np.errstate(over="ignore"):
        return not np.isfinite(requantize_multiplier(x_scale, w_scale, y_scale)).all()
