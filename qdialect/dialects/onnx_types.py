"""
ONNX's element types and value types as xDSL types.

int8 is `i8` and uint8 `ui8`; a value of unknown type is `tensor<*x!onnx.any>`. Types that MLIR lacks (strings,
sequences, optionals, maps, sparse tensors) are types of this dialect.
"""

from __future__ import annotations

from functools import cache
from operator import attrgetter
from typing import Any, NamedTuple

import numpy as np
from xdsl.dialects.builtin import (
    DYNAMIC_INDEX,
    ArrayAttr,
    BFloat16Type,
    ComplexType,
    Float4E2M1FNType,
    Float6E2M3FNType,
    Float6E3M2FNType,
    Float8E4M3FNType,
    Float8E4M3FNUZType,
    Float8E5M2FNUZType,
    Float8E5M2Type,
    Float8E8M0FNUType,
    Float16Type,
    Float32Type,
    Float64Type,
    IntAttr,
    IntegerType,
    Signedness,
    TensorType,
    UnrankedTensorType,
)
from xdsl.ir import Attribute, ParametrizedAttribute, TypeAttribute
from xdsl.irdl import irdl_attr_definition, param_def

from qdialect.dialects.quant import UniformType


@irdl_attr_definition
class AnyElementType(ParametrizedAttribute, TypeAttribute):
    """The element type of a tensor whose element type is unknown."""

    name = "onnx.any"


@irdl_attr_definition
class StringType(ParametrizedAttribute, TypeAttribute):
    """ONNX's string element."""

    name = "onnx.string"


@irdl_attr_definition
class SequenceType(ParametrizedAttribute, TypeAttribute):
    """A sequence of values of one type."""

    name = "onnx.seq"
    element: Attribute = param_def()


@irdl_attr_definition
class OptionalType(ParametrizedAttribute, TypeAttribute):
    """An optional value."""

    name = "onnx.optional"
    element: Attribute = param_def()


@irdl_attr_definition
class MapType(ParametrizedAttribute, TypeAttribute):
    """A map from integers or strings to values."""

    name = "onnx.map"
    key: Attribute = param_def()
    value: Attribute = param_def()


@irdl_attr_definition
class SparseTensorType(ParametrizedAttribute, TypeAttribute):
    """A sparse tensor; `dense` is the tensor type it stands for."""

    name = "onnx.sparse"
    dense: Attribute = param_def()


class ElementType(NamedTuple):
    """One ONNX element type: its number, its name in schemas, its attribute here and its numpy dtype."""

    number: int
    """`TensorProto.DataType`."""
    spelling: str
    """As in a schema: `tensor(SPELLING)`."""
    attribute: Attribute
    bits: int
    numpy: str
    """numpy's name, or ml_dtypes'."""

    @property
    def dtype(self) -> np.dtype[Any]:
        """The dtype of one unpacked element."""
        try:
            return np.dtype(self.numpy)
        except TypeError:
            import ml_dtypes  # registers the narrow floats and integers

            return np.dtype(getattr(ml_dtypes, self.numpy))


@cache
def _integer(width: int, unsigned: bool = False) -> IntegerType:
    return IntegerType(width, Signedness.UNSIGNED if unsigned else Signedness.SIGNLESS)


ELEMENT_TYPES = (
    ElementType(1, "float", Float32Type(), 32, "float32"),
    ElementType(2, "uint8", _integer(8, True), 8, "uint8"),
    ElementType(3, "int8", _integer(8), 8, "int8"),
    ElementType(4, "uint16", _integer(16, True), 16, "uint16"),
    ElementType(5, "int16", _integer(16), 16, "int16"),
    ElementType(6, "int32", _integer(32), 32, "int32"),
    ElementType(7, "int64", _integer(64), 64, "int64"),
    ElementType(8, "string", StringType(), 0, "object"),
    ElementType(9, "bool", _integer(1), 8, "bool"),
    ElementType(10, "float16", Float16Type(), 16, "float16"),
    ElementType(11, "double", Float64Type(), 64, "float64"),
    ElementType(12, "uint32", _integer(32, True), 32, "uint32"),
    ElementType(13, "uint64", _integer(64, True), 64, "uint64"),
    ElementType(14, "complex64", ComplexType(Float32Type()), 64, "complex64"),
    ElementType(15, "complex128", ComplexType(Float64Type()), 128, "complex128"),
    ElementType(16, "bfloat16", BFloat16Type(), 16, "bfloat16"),
    ElementType(17, "float8e4m3fn", Float8E4M3FNType(), 8, "float8_e4m3fn"),
    ElementType(18, "float8e4m3fnuz", Float8E4M3FNUZType(), 8, "float8_e4m3fnuz"),
    ElementType(19, "float8e5m2", Float8E5M2Type(), 8, "float8_e5m2"),
    ElementType(20, "float8e5m2fnuz", Float8E5M2FNUZType(), 8, "float8_e5m2fnuz"),
    ElementType(21, "uint4", _integer(4, True), 4, "uint4"),
    ElementType(22, "int4", _integer(4), 4, "int4"),
    ElementType(23, "float4e2m1", Float4E2M1FNType(), 4, "float4_e2m1fn"),
    ElementType(24, "float8e8m0", Float8E8M0FNUType(), 8, "float8_e8m0fnu"),
    ElementType(25, "uint2", _integer(2, True), 2, "uint2"),
    ElementType(26, "int2", _integer(2), 2, "int2"),
    ElementType(27, "float6e2m3", Float6E2M3FNType(), 8, "float6_e2m3fn"),
    ElementType(28, "float6e3m2", Float6E3M2FNType(), 8, "float6_e3m2fn"),
)
BY_NUMBER = {e.number: e for e in ELEMENT_TYPES}
BY_ATTRIBUTE: dict[Attribute, ElementType] = {e.attribute: e for e in ELEMENT_TYPES}
_BY_IDENTITY = {id(e.attribute): e for e in ELEMENT_TYPES}
BY_NUMPY = {e.numpy: e for e in ELEMENT_TYPES}

ANY = AnyElementType()
UNKNOWN: UnrankedTensorType[Attribute] = UnrankedTensorType(ANY)
"""The type of a value whose element type and rank are unknown."""

DYNAMIC = DYNAMIC_INDEX
"""An unknown dimension; `?` in text."""


@cache
def _sizes(shape: tuple[int, ...]) -> ArrayAttr[IntAttr]:
    return ArrayAttr([IntAttr(size) for size in shape])


@cache
def tensor_type(element: Attribute, shape: tuple[int, ...]) -> TensorType[Attribute]:
    """`tensor<shape x element>`; built once, since a model repeats few types many times."""
    return TensorType(element, _sizes(shape))  # a model has more element types than shapes


_TENSORS = (TensorType, UnrankedTensorType)


def element_of(type: Attribute) -> Attribute | None:
    """The element type of a tensor type, quantized or not; None for other types."""
    return type.element_type if isinstance(type, _TENSORS) else None


def onnx_element(type: Attribute) -> ElementType | None:
    """ONNX's element type of a tensor type; None if it is quantized or unknown, and for other types."""
    element = element_of(type)
    # Most are the table's own attributes: a hash of what they consist of takes longer.
    return None if element is None else _BY_IDENTITY.get(id(element)) or BY_ATTRIBUTE.get(element)


def expressed_of(tensor: Attribute) -> Attribute | None:
    """The element type as ONNX sees it: a quantized element counts as its expressed float."""
    element = element_of(tensor)
    return element.expressed if type(element) is UniformType else element


def quantized_of(tensor: Attribute) -> UniformType | None:
    """The quantized element type of a tensor type, if it has one."""
    element = element_of(tensor)
    return element if type(element) is UniformType else None  # `isinstance` is slow for what is not one


def uniform_of(type: Attribute) -> UniformType:
    """The quantized element type of a tensor type that is known to have one. TypeError if it has none."""
    if (element := quantized_of(type)) is None:
        raise TypeError(f"{type} is not quantized")
    return element


_SIZE = attrgetter("data")


def shape_of(type: Attribute) -> tuple[int, ...] | None:
    """The shape of a tensor type, `DYNAMIC` for unknown sizes; None if the rank is not known."""
    return tuple(map(_SIZE, type.shape.data)) if isinstance(type, TensorType) else None


def known_element(type: Attribute) -> Attribute:
    """The element type of a tensor type. TypeError for other types."""
    if (element := element_of(type)) is None:
        raise TypeError(f"{type} is no tensor")
    return element


def known_shape(type: Attribute) -> tuple[int, ...]:
    """The shape of a tensor type whose rank is known. TypeError if it is not."""
    if (shape := shape_of(type)) is None:
        raise TypeError(f"the rank of {type} is not known")
    return shape


def with_element(type: Attribute, element: Attribute) -> Attribute:
    """The tensor type `type` with another element type."""
    shape = shape_of(type)
    return UnrankedTensorType(element) if shape is None else tensor_type(element, shape)


def storage_element(element: UniformType) -> Attribute:
    """The ONNX element type that a quantized element is stored in: u8 in `ui8`, i8 in `i8`."""
    return _integer(element.storage.width, not element.storage.signed)


def stored_type(type: Attribute) -> Attribute:
    """A type with quantized elements as the integers that are stored."""
    quantized = quantized_of(type)
    return type if quantized is None else with_element(type, storage_element(quantized))


def expressed_type(type: Attribute) -> Attribute:
    """A type with quantized elements as the real numbers that they stand for."""
    quantized = quantized_of(type)
    return type if quantized is None else with_element(type, quantized.expressed)


@cache
def spelling_of(element: Attribute) -> str | None:
    """`tensor(element)` as a schema spells it; None if ONNX has no such element type."""
    known = BY_ATTRIBUTE.get(element)
    return None if known is None else f"tensor({known.spelling})"


def spelling(type: Attribute) -> str | None:
    """A value's type as a schema spells it; None if the type is unknown."""
    match type:
        case SequenceType():
            inner = spelling(type.element)
            return inner and f"seq({inner})"
        case OptionalType():
            inner = spelling(type.element)
            return inner and f"optional({inner})"
        case MapType():
            key, value = spelling_of(type.key), spelling(type.value)
            return (
                key and value and f"map({key[7:-1]}, {value[7:-1] if value.startswith('tensor') else value})"
            )
        case SparseTensorType():
            inner = spelling(type.dense)
            return inner and f"sparse_{inner}"
        case _:
            element = expressed_of(type)
            return None if element is None else spelling_of(element)
