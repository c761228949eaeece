"""Floats that are integers of 4 bits times a scale for each block: the integers."""

from __future__ import annotations

from typing import NamedTuple

import numpy as np

from qdialect.numerics.folding import Array

BITS = 4


class InBlocks(NamedTuple):
    """A matrix in blocks along axis 0."""

    stored: Array
    """Unsigned integers of 4 bits, in bytes."""
    scales: Array
    """One for each block and column, positive."""
    zero_points: Array


def rows_alike(scales: Array) -> int:
    """The number of rows in each block of a matrix, all rows of which are alike."""
    changes = np.flatnonzero((scales[1:] != scales[:-1]).any(axis=1)) + 1
    return int(np.gcd.reduce(np.append(changes, len(scales))))


def in_blocks(reals: Array, scales: Array, rows: int) -> InBlocks | None:
    """
    The integers whose products with the scales of their blocks, of so many rows, are `reals`.

    Zero points are 8 if all integers fit around it, else the least that the block needs. None if some do not fit.
    """
    one_each = np.abs(scales[::rows])
    one_each = np.where(one_each == 0, np.float32(1), one_each)
    blocks = reals.reshape(len(one_each), rows, -1)
    with np.errstate(all="ignore"):
        integers = np.rint(blocks / one_each[:, None])
        if not (integers * one_each[:, None] == blocks).all():
            return None
    low, high, half = np.minimum(integers.min(1), 0), np.maximum(integers.max(1), 0), 1 << (BITS - 1)
    zeros = np.full_like(low, half) if low.min() >= -half and high.max() < half else -low
    if (high + zeros >= 2 * half).any():
        return None
    stored = (integers + zeros[:, None]).astype(np.uint8).reshape(reals.shape)
    return InBlocks(stored, one_each, zeros.astype(np.uint8))
