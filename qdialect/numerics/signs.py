"""Negative scales made positive: the integers turned round their zero point."""

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
