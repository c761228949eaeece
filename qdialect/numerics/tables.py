"""Lookup tables of 256 entries that start exp, 1/x and 1/sqrt(x) on wide integers; entry k is for the byte k - 128."""

from __future__ import annotations

import numpy as np
import numpy.typing as npt

Entries = npt.NDArray[np.int64]
"""256 numbers from 0 to 2^24 - 1."""
GUESS_BITS = 23
"""Fraction bits of the first guess of a reciprocal or of an inverse square root."""
ROOT_INDEX = 23
"""Low bits of a 31-bit number that the index into `inverse_roots` drops."""


def exponentials(scale: float, bits: int) -> Entries:
    """exp(d * scale) in steps of 2^-bits for the differences d from -255 to 0."""
    return np.rint(np.exp(np.arange(-255, 1) * scale) * 2.0**bits).astype(np.int64)


def reciprocals(most: float) -> tuple[Entries, float]:
    """1 / s in steps of 2^-23, not above it, for s from 1 to `most` in 256 steps; the greatest relative error."""
    width = most / 255
    upper = np.maximum((np.arange(256) + 0.5) * width, 1.0)  # upper bounds of the sums of each entry
    entries = np.floor(2.0**GUESS_BITS / upper).astype(np.int64)
    error = (1 - np.maximum(upper - width, 1.0) * entries / 2.0**GUESS_BITS).max()
    return entries, float(error)


def inverse_roots() -> Entries:
    """
    1 / sqrt(m / 2^31) in steps of 2^-22 for numbers m of 2^29 to 2^31 - 1, of which m / 2^23, rounded, is the index:
    0.4 % off at most. 0 below 64, where no such m is.
    """
    numbers = np.arange(64, 256) * 2.0**ROOT_INDEX
    entries = np.rint(2.0 ** (GUESS_BITS - 1) / np.sqrt(numbers / 2.0**31)).astype(np.int64)
    return np.concatenate([np.zeros(64, np.int64), entries])
