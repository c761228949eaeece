"""
Parameters of quantized types: storage type, expressed type, layout, scales and zero points, verified.

The constraints C1, C2, ... are numbered in docs/spec.md.
"""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass
from functools import cache
from typing import Any

import numpy as np
import numpy.typing as npt
from xdsl.dialects.builtin import BFloat16Type, Float16Type, Float32Type
from xdsl.ir import Attribute
from xdsl.utils.exceptions import VerifyException

from qdialect import numerics
from qdialect.dialects import quant_text

Half = Float16Type | BFloat16Type
Expressed = Float32Type | Half  # most are f32: asked first


@dataclass(frozen=True)
class FloatFormat:
    """Range and precision of an expressed type."""

    smallest: float  # positive, subnormal
    largest: float
    precision: int  # significand bits, the hidden one included


FORMATS: dict[type[Attribute], FloatFormat] = {
    Float16Type: FloatFormat(2.0**-24, 65504.0, 11),
    BFloat16Type: FloatFormat(2.0**-133, (2 - 2.0**-7) * 2.0**127, 8),
    Float32Type: FloatFormat(2.0**-149, (2 - 2.0**-23) * 2.0**127, 24),
}


BYTE_BITS = 8
"""Width of the storage that integer kernels take."""


@dataclass(frozen=True)
class Storage:
    """Storage type of a quantized element: a `width`-bit integer in [low, high]."""

    width: int
    signed: bool
    low: int
    high: int

    def __post_init__(self):
        if not 1 <= self.width <= 32:  # C1
            raise VerifyException(f"illegal storage type size: {self.width}")
        if self.low >= self.high:  # C2
            raise VerifyException(f"illegal storage min and storage max: ({self.low}:{self.high})")
        least, greatest = _bounds(self.width, self.signed)
        if self.low < least:  # C3
            raise VerifyException(f"illegal storage type minimum: {self.low}")
        if self.high > greatest:  # C3
            raise VerifyException(f"illegal storage type maximum: {self.high}")

    @staticmethod
    @cache
    def make(width: int, signed: bool, low: int | None = None, high: int | None = None) -> Storage:
        """A storage type; bounds default to the full range of the width."""
        if not 1 <= width <= 32:
            raise VerifyException(f"illegal storage type size: {width}")
        least, greatest = _bounds(width, signed)
        return Storage(width, signed, least if low is None else low, greatest if high is None else high)

    @staticmethod
    @cache
    def of(name: str, low: int | None = None, high: int | None = None) -> Storage:
        """`Storage.of("u8")`: by name, `i` or `u` and the width; bounds as for `make`."""
        return Storage.make(int(name[1:]), {"i": True, "u": False}[name[0]], low, high)

    @property
    def name(self) -> str:
        """`i8`, `u4`, ...: without the bounds."""
        return f"{'i' if self.signed else 'u'}{self.width}"

    @property
    def dtype(self) -> np.dtype[Any]:
        """The numpy type that holds one element; sub-byte elements take a byte each."""
        size = next(size for size in (8, 16, 32) if self.width <= size)
        return np.dtype(f"{'int' if self.signed else 'uint'}{size}")

    @property
    def is_full_range(self) -> bool:
        """True if [low, high] is the full range of the width."""
        return (self.low, self.high) == _bounds(self.width, self.signed)

    def __str__(self) -> str:
        return self.name if self.is_full_range else f"{self.name}<{self.low}:{self.high}>"


def _bounds(width: int, signed: bool) -> tuple[int, int]:
    return (-(2 ** (width - 1)), 2 ** (width - 1) - 1) if signed else (0, 2**width - 1)


class UniformParameters:
    """
    Parameters of a uniform type: storage, expressed type, layout, scales and zero points.

    Immutable, verified when made, hashed and printed at most once.
    """

    __slots__ = ("_hash", "_text", "axis", "blocks", "expressed", "key", "scales", "storage", "zero_points")

    def __init__(
        self,
        storage: Storage,
        expressed: Attribute,
        axis: int | None,
        blocks: tuple[tuple[int, int], ...] | None,
        scales: npt.ArrayLike,
        zero_points: npt.ArrayLike,
    ):
        self.storage, self.axis, self.blocks = storage, axis, blocks
        self.expressed = checked_expressed(expressed)
        self.scales = _checked_scales(scales, self.expressed)
        self.zero_points = _checked_zero_points(zero_points, storage)
        self._check_layout()
        data = (self.scales.shape, self.scales.tobytes(), self.zero_points.tobytes())
        self.key = (storage, self.expressed, axis, blocks, data)
        self._hash: int | None = None
        self._text: str | None = None

    def _check_layout(self) -> None:
        if self.scales.shape != self.zero_points.shape:  # C8
            raise VerifyException(f"{self.scales.size} scales but {self.zero_points.size} zero points")
        rank = self.scales.ndim
        if self.blocks is not None:
            _check_blocks(self.blocks, rank)
        elif self.axis is not None:
            if self.axis < 0:  # C10
                raise VerifyException(f"illegal quantized dimension: {self.axis}")
            if rank != 1:  # C9
                raise VerifyException(f"per-axis scales are a flat list, got {rank} dimensions")
        elif rank != 0:  # C9
            raise VerifyException(f"a whole tensor has one scale, got a list of {self.scales.size}")
        if self.scales.size == 0:  # C9
            raise VerifyException("expected at least one scale")

    def __eq__(self, other: object) -> bool:
        if self is other:
            return True
        return isinstance(other, UniformParameters) and hash(self) == hash(other) and self.key == other.key

    def __hash__(self) -> int:
        if self._hash is None:
            self._hash = hash(self.key)
        return self._hash

    @property
    def text(self) -> str:
        """The parameters as text, as between the angle brackets of `!quant.uniform<...>`."""
        if self._text is None:
            layout = ""
            if self.axis is not None:
                layout = f":{self.axis}"
            elif self.blocks is not None:
                layout = f":{{{', '.join(f'{axis}:{size}' for axis, size in self.blocks)}}}"
            parameters = quant_text.parameter_text(self.scales, self.zero_points)
            self._text = f"{self.storage}:{self.expressed}{layout}, {parameters}"
        return self._text

    def __repr__(self) -> str:
        return f"UniformParameters({self.text})"


def checked_expressed(expressed: Attribute) -> Expressed:
    """`expressed`, if it is f16, bf16 or f32; VerifyException otherwise."""
    if not isinstance(expressed, Expressed):  # C4
        raise VerifyException(f"expressed type must be f16, bf16 or f32, got {expressed}")
    return expressed


def _checked_scales(scales: npt.ArrayLike, expressed: Expressed) -> npt.NDArray[np.float32]:
    numbers = np.asarray(scales, np.float64)
    with np.errstate(over="ignore", under="ignore", invalid="ignore"):
        rounded = numbers.astype(np.float32)
    limits = FORMATS[type(expressed)]
    bad = ~((rounded >= limits.smallest) & (rounded <= limits.largest))
    if bad.any():  # C5
        raise VerifyException(
            f"scale {numbers[bad][0]:e} out of expressed type range [{limits.smallest:e}, {limits.largest:e}]"
        )
    # A view of bytes is read-only, so the cached hash stays valid.
    return np.frombuffer(rounded.tobytes(), np.float32).reshape(rounded.shape)


def _checked_zero_points(zero_points: npt.ArrayLike, storage: Storage) -> npt.NDArray[np.int32]:
    numbers = np.asarray(zero_points)
    if numbers.dtype.kind not in "iu":  # C7: e.g. Python integers beyond 64 bits
        raise VerifyException("zero points must be integers of 32 bits")
    low, high = storage.low, min(storage.high, numerics.INT32_MAX)
    bad = (numbers < low) | (numbers > high)
    if bad.any():  # C6
        raise VerifyException(f"zero point {numbers[bad][0]} out of storage range [{low}, {high}]")
    rounded = numbers.astype(np.int32)
    return np.frombuffer(rounded.tobytes(), np.int32).reshape(rounded.shape)


def _check_blocks(blocks: Sequence[tuple[int, int]], rank: int) -> None:
    axes = [axis for axis, _ in blocks]
    for axis, size in blocks:
        if axis < 0:  # C10
            raise VerifyException(f"illegal quantized dimension: {axis}")
        if size <= 0:  # C11
            raise VerifyException(f"illegal block size: {size}")
        if axes.count(axis) > 1:  # C12
            raise VerifyException(f"axis {axis} has two block sizes")
        if axis >= rank:  # C13
            raise VerifyException(f"block axis {axis} is out of the scales' rank {rank}")
    if rank == 0:  # C9
        raise VerifyException("sub-channel scales are nested in as many braces as the tensor has dimensions")
