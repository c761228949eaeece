"""Scales made positive: under a negative one the integers are turned round their zero point, under 0 they become it."""

from __future__ import annotations

from typing import NamedTuple

import numpy as np
import numpy.typing as npt

from qdialect.numerics import Blocks, expand_parameters
from qdialect.numerics.folding import Array


class Turned(NamedTuple):
    """Stored integers, and zero points that have changed."""

    stored: Array
    zero_points: npt.NDArray[np.int64] | None
    """None if they are the ones of before."""


def turn_negative(
    stored: Array,
    negative: npt.NDArray[np.bool_],
    zero_points: Array,
    low: int,
    high: int,
    axis: int | None = None,
    blocks: Blocks | None = None,
) -> Turned:
    """
    The integers that have under |scale| the real values of `stored` under the scale, which is below 0 at `negative`.

    negative, zero_points: parameters, as `expand_parameters` takes them. 2 * zero_point - q if that fits everywhere in
    [low, high], else low + high - q at zero point low + high - zero_point, which always does: every value is exact.
    """
    wide = stored.astype(np.int16 if stored.dtype.itemsize == 1 else np.int64)
    zeros = zero_points.astype(np.int64)
    turned = np.broadcast_to(expand_parameters(negative, stored.shape, axis, blocks), stored.shape)
    about = expand_parameters((2 * zeros).astype(wide.dtype), stored.shape, axis, blocks)
    same = np.where(turned, about - wide, wide)
    if low <= same.min(initial=low) and same.max(initial=high) <= high:
        return Turned(same.astype(stored.dtype), None)
    return Turned(
        np.where(turned, low + high - wide, wide).astype(stored.dtype),
        np.where(negative, low + high - zeros, zeros),
    )


DEAD_SCALE = 2.0**-10
"""The scale of a tensor of zeros, if no other scale stands beside it: any finite one gives the same numbers."""


class Repaired(NamedTuple):
    """Stored integers with positive scales, of the same real numbers."""

    stored: Array
    scales: Array
    zero_points: npt.NDArray[np.int64] | None
    """None if they are the ones of before."""


def has_odd(scales: Array) -> bool:
    """True if a finite scale is 0 or negative."""
    return bool((np.isfinite(scales) & (scales <= 0)).any())


def beside_zeros(scales: Array) -> Array:
    """The magnitudes of scales, where one of 0 is replaced by the median of the others."""
    sizes = np.abs(scales)
    others = np.sort(sizes[np.isfinite(sizes) & (sizes >= np.finfo(np.float32).tiny)], axis=None)
    return np.where(sizes == 0, others[len(others) // 2] if len(others) else DEAD_SCALE, sizes).astype(
        scales.dtype
    )


def with_positive_scales(
    stored: Array,
    scales: Array,
    zero_points: Array,
    low: int,
    high: int,
    axis: int | None = None,
    blocks: Blocks | None = None,
) -> Repaired:
    """
    The same real numbers without scales of 0 and below: (q - z) * 0 is 0 for every q, so z is stored there.

    scales, zero_points: of one shape, as `expand_parameters` takes them.
    """
    dead = np.broadcast_to(expand_parameters(scales == 0, stored.shape, axis, blocks), stored.shape)
    zeros = np.broadcast_to(expand_parameters(zero_points, stored.shape, axis, blocks), stored.shape)
    stored = np.where(dead, zeros, stored).astype(stored.dtype)
    turned = turn_negative(stored, scales < 0, zero_points, low, high, axis, blocks)
    return Repaired(turned.stored, beside_zeros(scales), turned.zero_points)
