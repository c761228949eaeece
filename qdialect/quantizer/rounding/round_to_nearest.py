"""Constants rounded to nearest, symmetric, in 8 bits: their integers and their type."""

from __future__ import annotations

import numpy as np

from qdialect import numerics
from qdialect.dialects.quant import Storage, UniformType
from qdialect.numerics import Array

STORAGE = Storage.of("i8")


def symmetric_type(scales: Array, axis: int | None) -> UniformType:
    """The type with a scale for each index of `axis`, or one for all if that is None, and zero points of 0."""
    return UniformType.along(STORAGE, 0 if axis is None else axis, scales)


def rounded(array: Array, axis: int | None, levels: int) -> tuple[Array, UniformType]:
    """The integers of `array`, from -levels to levels, and their `symmetric_type`."""
    others = None if axis is None else tuple(k for k in range(array.ndim) if k != axis)
    type = symmetric_type(numerics.symmetric_scales(np.abs(array).max(axis=others), levels), axis)
    bounds = -levels, levels, STORAGE.dtype
    return numerics.quantize(array, type.scales, type.zero_points, *bounds, axis=type.axis), type
