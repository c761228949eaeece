"""
Samples that are kept besides being counted: some to round weights by, others to judge the result on.

Which are kept, and what for, is decided by their hashes: not by the order in which they came.
"""

from __future__ import annotations

from bisect import insort
from collections.abc import Mapping
from typing import Any

import numpy as np
import numpy.typing as npt

Array = npt.NDArray[Any]
Row = Mapping[str, Array]

MOST = 128
"""Samples that are kept: more steer weights little better."""
BYTES = 256 << 20
JUDGES = 4
"""One sample of so many judges."""
MOST_JUDGES = 32


class Samples:
    """The samples with the least hashes."""

    def __init__(self, most: int = MOST, memory: int = BYTES):
        self._most, self._memory = most, memory
        self._rows: list[tuple[int, int, Row]] = []
        self._count = 0

    def add(self, key: int, row: Row) -> None:
        """One more sample and its hash."""
        self._count += 1
        if len(self._rows) >= self._most and key >= self._rows[-1][0]:
            return
        insort(self._rows, (key, self._count, row))
        while len(self._rows) > self._most or (len(self._rows) > 2 and self.size > self._memory):
            self._rows.pop()

    @property
    def size(self) -> int:
        """Bytes of the samples that are kept."""
        return sum(array.nbytes for _, _, row in self._rows for array in row.values())

    @property
    def judging(self) -> list[Row]:
        """The samples that candidates are compared on."""
        rows = [row for _, _, row in self._rows]
        return rows[: min(max(len(rows) // JUDGES, 1), MOST_JUDGES)]

    @property
    def steering(self) -> list[Row]:
        """The samples that weights are rounded by: all others, or the same if there is but one."""
        rows = [row for _, _, row in self._rows]
        return rows[len(self.judging) :] or rows


def noise_ratio(expected: list[list[Array]], found: list[list[Array]]) -> float:
    """Signal to noise of all float outputs over all samples, in dB; infinite if they are equal, else finite."""
    signal = noise = 0.0
    for one, other in zip(expected, found, strict=True):
        for x, y in zip(one, other, strict=True):
            if x.dtype.kind != "f" or x.shape != y.shape:
                continue
            wide = x.astype(np.float64)
            signal += float((wide**2).sum())
            noise += float(((wide - y.astype(np.float64)) ** 2).sum())
    if noise == 0:
        return np.inf
    if not np.isfinite(noise):
        return -np.inf
    return float(10 * np.log10(max(signal, 1e-300) / noise))
