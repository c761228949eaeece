"""
Streaming statistics of one tensor that depend on the multiset of its values alone.

A histogram has bins of width 2^e, the bin of x is floor(x / 2^e): exact in binary floating point. If the bins
between the least and the greatest value become more than `MAX_BINS`, e grows by one, neighbouring counts are added, and
floor(floor(x / 2^e) / 2) = floor(x / 2^(e + 1)); so e is the least that suffices for the range, in any order of
the data. Sums are integers: values in units of 2^-40, rounded one by one.
"""

from __future__ import annotations

from dataclasses import dataclass, field, replace

import numpy as np
import numpy.typing as npt

from qdialect.errors import UserError
from qdialect.numerics import Array

MAX_BINS = 2048
"""Greatest number of bins between the least and the greatest value: 8 for each step of an 8-bit range."""
MIN_BIN_EXPONENT = -120
"""Exponent of the narrowest bin: scaling by its inverse is exact in float32."""
COARSE_BITS, FINE_BITS = 10, 40
"""A value is summed as two integers: its multiple of 2^-10, and the remainder in units of 2^-40."""
MAX_SUMMED_MAGNITUDE = 2.0**31
"""Magnitude to which values are clipped in sums: no 8-bit range is that large."""


@dataclass
class Channels:
    """Statistics of the channels of a tensor."""

    axis: int
    """The axis of channels, counted from the end."""
    low: npt.NDArray[np.float32]
    high: npt.NDArray[np.float32]
    sums: list[int]
    """In units of 2^-`FINE_BITS`."""
    count: int = 0
    """Number of values in each channel."""

    def means(self) -> Array:
        """The mean of each channel: float64 (channels,)."""
        return np.array([s / max(self.count, 1) * 2.0**-FINE_BITS for s in self.sums], np.float64)

    def update(self, values: Array) -> None:
        """Count the values of one more array of the same number of channels."""
        rows = np.moveaxis(values, self.axis, 0).reshape(self.low.size, -1)
        if rows.size == 0:
            return
        self.low = np.minimum(self.low, rows.min(axis=1))
        self.high = np.maximum(self.high, rows.max(axis=1))
        wide = np.clip(rows.astype(np.float64), -MAX_SUMMED_MAGNITUDE, MAX_SUMMED_MAGNITUDE)
        coarse = np.rint(wide * 2.0**COARSE_BITS)
        fine = np.rint((wide - coarse * 2.0**-COARSE_BITS) * 2.0**FINE_BITS)
        whole = coarse.astype(np.int64).sum(axis=1), fine.astype(np.int64).sum(axis=1)
        shift = 1 << (FINE_BITS - COARSE_BITS)
        self.sums = [s + int(c) * shift + int(f) for s, c, f in zip(self.sums, *whole, strict=True)]
        self.count += rows.shape[1]

    def merge(self, other: Channels) -> None:
        """Add the counts of `other`."""
        self.low = np.minimum(self.low, other.low)
        self.high = np.maximum(self.high, other.high)
        self.sums = [a + b for a, b in zip(self.sums, other.sums, strict=True)]
        self.count += other.count


@dataclass
class Statistics:
    """Statistics of one tensor: count, extremes, histogram, sums."""

    count: int = 0
    low: float = np.inf
    high: float = -np.inf
    exponent: int = MIN_BIN_EXPONENT
    """Bins are 2^exponent wide."""
    first: int = 0
    """The index of the first bin: floor(low / 2^exponent)."""
    counts: npt.NDArray[np.int64] = field(default_factory=lambda: np.zeros(0, np.int64))
    channels: Channels | None = None

    @property
    def centres(self) -> Array:
        """The centre of each bin: float64, as many as `counts`."""
        return (self.first + 0.5 + np.arange(self.counts.size)) * 2.0**self.exponent

    def coarse(self, most: int) -> tuple[float, float, tuple[int, ...]]:
        """The histogram in at most `most`, 2 or more, equal bins: lower end of the first one, width, counts."""
        shift = 0
        while ((self.first + self.counts.size - 1) >> shift) - (self.first >> shift) >= most:
            shift += 1
        places = (self.first + np.arange(self.counts.size)) >> shift
        first, width = self.first >> shift, 2.0 ** (self.exponent + shift)
        counts = np.bincount(places - first, weights=self.counts) if self.counts.size else np.zeros(0)
        return first * width, width, tuple(int(one) for one in counts)

    @property
    def is_unbounded(self) -> bool:
        """True if some value was NaN or infinite: the tensor has no range."""
        return self.count > 0 and self.low == -np.inf

    def update(self, values: Array, axis: int | None = None) -> None:
        """Count the values of a float array. axis: that of channels to count separately, counted from the end."""
        if values.size == 0:
            return
        flat = np.ascontiguousarray(values, np.float32).reshape(-1)
        low, high = float(flat.min()), float(flat.max())
        if self.is_unbounded or not (np.isfinite(low) and np.isfinite(high)):
            self._unbind(flat.size)
            return
        self._cover(low, high)
        self._count(flat)
        self.count += flat.size
        if axis is None:
            return
        size = values.shape[axis]
        if self.channels is None:
            full = np.full(size, np.inf, np.float32)
            self.channels = Channels(axis, full, -full, [0] * size)
        if self.channels.low.size == size:
            self.channels.update(values)

    def _unbind(self, count: int) -> None:
        """Count values of which some are NaN or infinite: no histogram and no channels remain."""
        self.low, self.high, self.exponent, self.first = -np.inf, np.inf, MIN_BIN_EXPONENT, 0
        self.counts, self.channels = np.zeros(0, np.int64), None
        self.count += count

    def _cover(self, low: float, high: float) -> None:
        """Extend the range to contain [low, high], with wider bins if necessary."""
        low, high = min(low, self.low), max(high, self.high)
        exponent = fitting_exponent(low, high)  # never less than that of a range inside
        self.low, self.high = low, high
        self._coarsen(exponent)
        first = _bin(low, exponent)
        counts = np.zeros(_bins(low, high, exponent), np.int64)
        if self.counts.size:
            counts[self.first - first : self.first - first + self.counts.size] = self.counts
        self.first, self.counts = first, counts

    def _coarsen(self, exponent: int) -> None:
        """Add counts in neighbouring bins until these are 2^exponent wide."""
        shift = exponent - self.exponent
        if shift > 0 and self.counts.size:
            old = (self.first + np.arange(self.counts.size)) >> shift
            first = int(old[0])
            counts = np.zeros(int(old[-1]) - first + 1, np.int64)
            np.add.at(counts, old - first, self.counts)
            self.first, self.counts = first, counts
        self.exponent = exponent

    def _count(self, flat: Array) -> None:
        # Above a bin of one, the product of a tiny number could underflow and change its sign.
        dtype = np.float32 if self.exponent <= 0 else np.float64
        scaled = flat.astype(dtype, copy=False) * dtype(2.0**-self.exponent)
        np.floor(scaled, out=scaled)
        bins = scaled.astype(np.int64)
        bins -= self.first
        self.counts += np.bincount(bins, minlength=self.counts.size)

    def merge(self, other: Statistics) -> None:
        """Add the counts of `other`. Raises UserError if the two tensors differ in channels."""
        if self.is_unbounded or other.is_unbounded:
            self._unbind(other.count)
            return
        if not other.counts.size:
            return
        mine, theirs = self.channels, other.channels
        if mine is not None and theirs is not None and mine.low.size != theirs.low.size:
            raise UserError("the profiles are of different tensors", "merge profiles of one model")
        other = replace(other)  # its bins become wider
        self._cover(other.low, other.high)
        other._coarsen(self.exponent)
        place = other.first - self.first
        self.counts[place : place + other.counts.size] += other.counts
        self.count += other.count
        if mine is not None and theirs is not None:
            mine.merge(theirs)
        elif theirs is not None:
            self.channels = replace(theirs)


def _bin(value: float, exponent: int) -> int:
    return int(np.floor(np.ldexp(value, -exponent)))


def _bins(low: float, high: float, exponent: int) -> int:
    return _bin(high, exponent) - _bin(low, exponent) + 1


def fitting_exponent(low: float, high: float) -> int:
    """The least exponent with which `MAX_BINS` bins hold [low, high]."""
    width = max(high - low, 0.0)
    guess = MIN_BIN_EXPONENT if width == 0 else max(int(np.frexp(width / MAX_BINS)[1]) - 2, MIN_BIN_EXPONENT)
    largest = max(abs(low), abs(high))  # a bin's index must be exact in float32
    if largest > 0:
        guess = max(guess, int(np.frexp(largest)[1]) - 23)
    while _bins(low, high, guess) > MAX_BINS:
        guess += 1
    return guess
