"""
Samples retained from calibration data: some steer the rounding of weights, others judge the result.

They are selected and divided by their hashes, independently of the order of the data.
"""

from __future__ import annotations

from bisect import insort
from collections.abc import Mapping
from dataclasses import dataclass

import numpy as np
import numpy.typing as npt

from qdialect.numerics import Array

Row = Mapping[str, Array]

MAX_SAMPLES = 128
"""Greatest number of samples kept: more improve the rounding little."""
MAX_SAMPLE_BYTES = 256 << 20
SAMPLES_PER_JUDGE = 4
"""One sample in so many judges."""
MAX_JUDGES = 32
MIN_SAMPLES = 8
"""Least number of samples of which two are kept apart to judge."""


class Samples:
    """The samples with the least hashes."""

    def __init__(self) -> None:
        self._rows: list[tuple[int, int, Row]] = []
        self._count = self._bytes = 0

    def add(self, key: int, row: Row) -> None:
        """Add one sample with its hash."""
        self._count += 1
        if len(self._rows) >= MAX_SAMPLES and key >= self._rows[-1][0]:
            return
        row = {name: array.copy() for name, array in row.items()}  # a view would keep the whole batch
        insort(self._rows, (key, self._count, row))
        self._bytes += sum(array.nbytes for array in row.values())
        while len(self._rows) > MAX_SAMPLES or (len(self._rows) > 2 and self._bytes > MAX_SAMPLE_BYTES):
            self._bytes -= sum(array.nbytes for array in self._rows.pop()[2].values())

    def merge(self, other: Samples) -> None:
        """Keep the samples with the least hashes of both."""
        for key, _, row in other._rows:
            self.add(key, row)

    @property
    def _kept(self) -> list[Row]:
        return [row for _, _, row in self._rows]

    @property
    def count(self) -> int:
        """Number of samples kept."""
        return len(self._rows)

    @property
    def distinct(self) -> int:
        """Number of samples kept, without repetitions."""
        return len({key for key, _, _ in self._rows})

    @property
    def judging(self) -> list[Row]:
        """The samples that judge weights rounded by the others."""
        return self._kept[: min(max(len(self._rows) // SAMPLES_PER_JUDGE, 1), MAX_JUDGES)]

    @property
    def steering(self) -> list[Row]:
        """The samples that steer rounding: all others, or the same if there is only one."""
        return self._kept[len(self.judging) :] or self._kept

    @property
    def measured(self) -> list[Row]:
        """The samples that candidates run on: first all that judge, then at most as many others."""
        return self._kept[: 2 * MAX_JUDGES]


@dataclass(frozen=True)
class Noise:
    """Signal and noise of a model's outputs relative to the float model's, by sample."""

    signal: npt.NDArray[np.float64]
    """Sum of squares of the float model's outputs, (samples,)."""
    noise: npt.NDArray[np.float64]
    """Sum of squares of the differences, (samples,)."""

    def ratio(self, count: int | None = None) -> float:
        """Signal to noise of the first `count` samples together, in dB; infinite if nothing differs."""
        signal, noise = float(self.signal[:count].sum()), float(self.noise[:count].sum())
        if noise == 0:
            return np.inf
        return float(10 * np.log10(max(signal, 1e-300) / noise)) if np.isfinite(noise) else -np.inf

    def doubt(self, other: Noise, count: int | None = None) -> float:
        """Standard error of the difference of the two ratios in dB, over the first `count` samples."""
        tiny = 1e-30
        each = 10 * np.log10((self.noise[:count] + tiny) / (other.noise[:count] + tiny))
        each = each[np.isfinite(each)]
        return float(each.std(ddof=1) / np.sqrt(each.size)) if each.size > 1 else 1.0


def measure_noise(expected: list[list[Array]], measured: list[list[Array]]) -> Noise:
    """The noise of all float outputs; each list has the outputs of one sample."""
    signal, noise = np.zeros(len(expected)), np.zeros(len(expected))
    for k, (one, other) in enumerate(zip(expected, measured, strict=True)):
        for x, y in zip(one, other, strict=True):
            if x.dtype.kind != "f" or x.shape != y.shape:
                continue
            wide = x.astype(np.float64)
            signal[k] += float((wide**2).sum())
            noise[k] += float(((wide - y.astype(np.float64)) ** 2).sum())
    return Noise(signal, noise)
