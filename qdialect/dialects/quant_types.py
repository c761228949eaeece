"""
The types of the quant dialect: `UniformType` with real = scale * (stored - zero_point), `AnyType`, `CalibratedType`.

Spelled as in https://mlir.llvm.org/docs/Dialects/QuantDialect/, and checked more strictly: the constraints
C1, C2, ... are numbered in docs/spec.md. A type owns its scales as bytes, so that thousands of them are
hashed, compared and printed once.
"""

from __future__ import annotations

from collections.abc import Iterable, Sequence
from functools import lru_cache
from typing import Any

import numpy as np
import numpy.typing as npt
from xdsl.dialects.builtin import DYNAMIC_INDEX, TensorType, UnrankedTensorType, f32
from xdsl.ir import Attribute, Data, TypeAttribute
from xdsl.irdl import irdl_attr_definition
from xdsl.parser import AttrParser
from xdsl.printer import Printer
from xdsl.utils.exceptions import VerifyException

from qdialect import numerics
from qdialect.dialects import quant_text
from qdialect.dialects.quant_parameters import (
    FORMATS,
    Expressed,
    Storage,
    UniformParameters,
    checked_expressed,
)

MAX_BLOCK_PARAMETERS = 4096
"""Above this many scales, blocked weights stay tensors of an op: a type is no place for data."""


@irdl_attr_definition
class UniformType(Data[UniformParameters], TypeAttribute):
    """
    A uniformly quantized element type: `!quant.uniform<i8:f32, 0.02:3>`.

    Per axis, a scale and zero point for each slice: `!quant.uniform<i8:f32:1, {0.5,0.25:-3}>`; sub-channel,
    one for each block: `!quant.uniform<i8:f32:{0:2, 1:2}, {{2.0:120, 3.0}, {4.0, 5.0}}>`.
    """

    name = "quant.uniform"

    # --- Making ---

    @classmethod
    def per_tensor(
        cls, storage: Storage, scale: float | np.floating, zero_point: int = 0, expressed: Attribute = f32
    ) -> UniformType:
        """One scale and zero point for the whole tensor."""
        pair: tuple[Any, Any] = scale, zero_point
        if any(isinstance(number, np.ndarray) for number in pair):  # of rank 0, or refused
            return cls(UniformParameters(storage, expressed, None, None, *pair))
        return _per_tensor(storage, float(scale), zero_point, expressed)

    @classmethod
    def per_axis(
        cls,
        storage: Storage,
        axis: int,
        scales: npt.ArrayLike,
        zero_points: npt.ArrayLike = 0,
        expressed: Attribute = f32,
    ) -> UniformType:
        """scales: (n,), where n is the tensor's size along `axis`; zero_points: (n,) or one for all."""
        return cls(UniformParameters(storage, expressed, axis, None, scales, _like(zero_points, scales)))

    @classmethod
    def along(
        cls,
        storage: Storage,
        axis: int,
        scales: npt.ArrayLike,
        zero_points: npt.ArrayLike = 0,
        expressed: Attribute = f32,
    ) -> UniformType:
        """As `per_axis`, but per tensor if there is only one scale, () or (1,): types of equal meaning are equal."""
        type = cls.per_axis(storage, axis, np.atleast_1d(scales), zero_points, expressed)
        if type.scales.size != 1:
            return type
        return cls.per_tensor(storage, type.scales[0], int(type.zero_points[0]), expressed)

    @classmethod
    def sub_channel(
        cls,
        storage: Storage,
        blocks: Iterable[tuple[int, int]],
        scales: npt.ArrayLike,
        zero_points: npt.ArrayLike = 0,
        expressed: Attribute = f32,
    ) -> UniformType:
        """blocks: (axis, block size); scales and zero_points: of the tensor's rank, dim / block size each."""
        return cls(
            UniformParameters(storage, expressed, None, tuple(blocks), scales, _like(zero_points, scales))
        )

    def replace(
        self,
        *,
        storage: Storage | None = None,
        scales: npt.ArrayLike | None = None,
        zero_points: npt.ArrayLike | None = None,
        axis: int | None = None,
        expressed: Attribute | None = None,
    ) -> UniformType:
        """
        A copy of the type with some parameters replaced.

        scales: (), or (n,) for n slices along `axis`, which a type that is per axis already has, or of the blocks'
        rank; zero_points: as the scales, or one for all. A list of one scale becomes one for the tensor, as in `along`.
        The caller adapts stored integers to new storage and zero points. VerifyException if the parameters do not fit.
        """
        d = self.data
        zeros = d.zero_points if zero_points is None else zero_points
        storage, expressed = storage or d.storage, expressed or d.expressed
        place = d.axis if axis is None else axis
        if scales is None or self.blocks is not None:
            factors = d.scales if scales is None else scales
            return UniformType(
                UniformParameters(storage, expressed, place, d.blocks, factors, _like(zeros, factors))
            )
        if np.ndim(scales) == 0 or place is None:
            return UniformType(UniformParameters(storage, expressed, None, None, scales, zeros))
        return UniformType.along(storage, place, scales, zeros, expressed)

    # --- Reading ---

    @property
    def storage(self) -> Storage:
        """The storage type."""
        return self.data.storage

    @property
    def expressed(self) -> Expressed:
        """The expressed type: f16, bf16 or f32."""
        return self.data.expressed

    @property
    def axis(self) -> int | None:
        """The axis that the parameters run along; None unless per axis."""
        return self.data.axis

    @property
    def blocks(self) -> tuple[tuple[int, int], ...] | None:
        """(axis, block size) pairs; None unless sub-channel."""
        return self.data.blocks

    @property
    def scales(self) -> npt.NDArray[np.float32]:
        """Shape () per tensor, (n,) per axis, of the tensor's rank sub-channel. Read-only."""
        return self.data.scales

    @property
    def zero_points(self) -> npt.NDArray[np.int32]:
        """As `scales`. Read-only."""
        return self.data.zero_points

    @property
    def is_per_tensor(self) -> bool:
        """True if one scale and zero point apply to the whole tensor."""
        return self.data.axis is None and self.data.blocks is None

    @property
    def scale(self) -> np.float32:
        """The one scale; ValueError unless per tensor."""
        return self._only(self.data.scales)

    @property
    def zero_point(self) -> int:
        """The one zero point; ValueError unless per tensor."""
        return int(self._only(self.data.zero_points))

    def _only(self, values: npt.NDArray[Any]) -> Any:
        if values.ndim:
            raise ValueError(f"{self} has no one scale")
        return values[()]

    @property
    def round_trips(self) -> bool:
        """True if quantize(dequantize(q)) == q for every stored q (numerics.round_trip_is_exact)."""
        limits = FORMATS[type(self.expressed)]
        return numerics.round_trip_is_exact(
            self.storage.low,
            self.storage.high,
            self.scales,
            self.zero_points,
            limits.precision,
            limits.largest,
        )

    # --- Computing ---

    def quantize(self, reals: npt.ArrayLike) -> npt.NDArray[Any]:
        """The stored integers of a tensor of reals, in `storage.dtype` and of the same shape."""
        d, s = self.data, self.data.storage
        return numerics.quantize(reals, d.scales, d.zero_points, s.low, s.high, s.dtype, d.axis, d.blocks)

    def dequantize(self, stored: npt.ArrayLike, dtype: npt.DTypeLike = np.float32) -> npt.NDArray[Any]:
        """The reals of a tensor of stored integers, in `dtype` and of the same shape."""
        d = self.data
        return numerics.dequantize(stored, d.scales, d.zero_points, dtype, axis=d.axis, blocks=d.blocks)

    # --- Text ---

    @classmethod
    def parse_parameter(cls, parser: AttrParser) -> UniformParameters:
        """`<storage : expressed (: axis-or-blocks)?, parameters>`."""
        with parser.in_angle_brackets():
            start = parser.pos
            storage = _parse_storage(parser)
            parser.parse_punctuation(":")
            expressed = parser.parse_type()
            axis, blocks = quant_text.parse_axis_or_blocks(parser)
            parser.parse_punctuation(",")
            in_braces = axis is not None or blocks is not None
            shape, *parameters = quant_text.parse_parameters(parser, in_braces)
            scales, zero_points = (array.reshape(shape) for array in parameters)
            try:
                return UniformParameters(storage, expressed, axis, blocks, scales, zero_points)
            except VerifyException as error:
                parser.raise_error(str(error), start, parser.pos)

    def print_parameter(self, printer: Printer) -> None:
        """The inverse of `parse_parameter`; equal types give equal text."""
        printer.print_string(f"<{self.data.text}>")


@lru_cache(4096)
def _per_tensor(storage: Storage, scale: float, zero_point: int, expressed: Attribute) -> UniformType:
    return UniformType(UniformParameters(storage, expressed, None, None, scale, zero_point))


def _like(zero_points: npt.ArrayLike, scales: npt.ArrayLike) -> npt.ArrayLike:
    return np.full(np.shape(scales), zero_points) if np.ndim(zero_points) == 0 else zero_points


def _parse_storage(parser: AttrParser) -> Storage:
    start = parser.pos
    width, signed, low, high = quant_text.parse_storage(parser)
    try:
        return Storage.make(width, signed, low, high)
    except VerifyException as error:
        parser.raise_error(str(error), start, parser.pos)


# --- Types without parameters: upstream's, for text that carries them ---


@irdl_attr_definition
class AnyType(Data[tuple[Storage, Expressed | None]], TypeAttribute):
    """Quantized with unknown parameters: `!quant.any<i8<-8:7>:f32>`. data: storage, expressed type."""

    name = "quant.any"

    @classmethod
    def parse_parameter(cls, parser: AttrParser) -> tuple[Storage, Expressed | None]:
        """`<storage (: expressed)?>`."""
        with parser.in_angle_brackets():
            storage = _parse_storage(parser)
            expressed = _parse_expressed(parser) if parser.parse_optional_punctuation(":") else None
        return storage, expressed

    def print_parameter(self, printer: Printer) -> None:
        """The inverse of `parse_parameter`."""
        storage, expressed = self.data
        printer.print_string(f"<{storage}>" if expressed is None else f"<{storage}:{expressed}>")


@irdl_attr_definition
class CalibratedType(Data[tuple[Expressed, float, float]], TypeAttribute):
    """A float with an observed range: `!quant.calibrated<f32<-0.998:1.2321>>`. data: type, least, greatest."""

    name = "quant.calibrated"

    @classmethod
    def parse_parameter(cls, parser: AttrParser) -> tuple[Expressed, float, float]:
        """`<expressed<least:greatest>>`."""
        with parser.in_angle_brackets():
            start = parser.pos
            expressed = _parse_expressed(parser)
            with parser.in_angle_brackets():
                low = parser.parse_float()
                parser.parse_punctuation(":")
                high = parser.parse_float()
            if not low < high:  # C14
                parser.raise_error(f"illegal min and max: ({low:e}:{high:e})", start, parser.pos)
        return expressed, low, high

    def print_parameter(self, printer: Printer) -> None:
        """The inverse of `parse_parameter`."""
        expressed, low, high = self.data
        low, high = quant_text.decimal(repr(low)), quant_text.decimal(repr(high))
        printer.print_string(f"<{expressed}<{low}:{high}>>")


def _parse_expressed(parser: AttrParser) -> Expressed:
    start = parser.pos
    try:
        return checked_expressed(parser.parse_type())
    except VerifyException as error:
        parser.raise_error(str(error), start, parser.pos)


# --- Tensors ---


def verify_quantized_tensor(tensor_type: Attribute) -> None:
    """
    Check that a uniform element type fits its tensor's shape; anything else passes.

    Every op that takes quantized tensors calls this: a type alone does not know the shape. Raises
    VerifyException.
    """
    if not isinstance(tensor_type, TensorType | UnrankedTensorType):
        return _verify_scalar(tensor_type)
    element: Attribute = tensor_type.element_type
    if not isinstance(element, UniformType) or element.is_per_tensor:
        return None
    if not isinstance(tensor_type, TensorType):
        if element.blocks is not None:  # C17
            raise VerifyException("tensor containing the sub-channel quantized type must be ranked")
        return None
    shape = tensor_type.get_shape()
    if element.axis is not None:
        return _verify_axis(element.axis, element.scales.size, shape)
    return _verify_blocks(element, shape)


def _verify_scalar(element: Attribute) -> None:
    if isinstance(element, UniformType) and element.axis is not None:  # C15
        raise VerifyException("scalar types may not use per-axis quantization")
    if isinstance(element, UniformType) and element.blocks is not None:  # C15
        raise VerifyException("scalar types may not use sub-channel quantization")


def _verify_axis(axis: int, count: int, shape: Sequence[int]) -> None:
    if axis >= len(shape):  # C16
        raise VerifyException(
            f"quantized dimension must be less than tensor rank: {axis} in rank {len(shape)}"
        )
    if shape[axis] not in (count, DYNAMIC_INDEX):  # C18
        raise VerifyException(
            f"quantized dimension size does not match number of scales: "
            f"axis {axis} has size {shape[axis]}, {count} scales"
        )


def _verify_blocks(element: UniformType, shape: Sequence[int]) -> None:
    scales = element.scales.shape
    if len(scales) != len(shape):  # C17
        raise VerifyException(f"Rank of scales {len(scales)} must match the rank of the tensor {len(shape)}")
    sizes = dict(element.blocks or ())
    for axis, (dim, count) in enumerate(zip(shape, scales, strict=True)):
        size = sizes.get(axis, dim)
        if dim == DYNAMIC_INDEX:
            expected = count if axis in sizes else 1
        elif dim == 0:  # C19
            raise VerifyException(
                "tensor dimension size of zero is not allowed with sub-channel quantization"
            )
        elif dim % size:  # C20
            raise VerifyException(
                f"tensor dimension size {dim} at axis {axis} must be divisible by "
                f"the corresponding block size {size}"
            )
        else:
            expected = dim // size
        if count != expected:  # C21
            raise VerifyException(
                f"dimension size {count} of scales tensor at axis {axis} should match "
                f"(tensor dimension at axis / block sizes at axis) = {expected}"
            )
