"""Attributes that MLIR lacks: sparse tensors, references to function attributes, strings that are not UTF-8."""

from __future__ import annotations

from functools import cache
from typing import Any, cast

from xdsl.dialects.builtin import DenseArrayBase, FloatAttr, IntAttr, IntegerAttr, StringAttr, f32, i64
from xdsl.ir import Attribute, Data, ParametrizedAttribute
from xdsl.irdl import irdl_attr_definition, param_def
from xdsl.parser import AttrParser
from xdsl.printer import Printer

from qdialect.dialects.onnx_tensor import TensorAttr
from qdialect.dialects.schemas import AttributeKind


def numbers(value: DenseArrayBase) -> tuple[Any, ...]:
    """The elements of INTS or FLOATS."""
    return tuple(cast("DenseArrayBase[Any]", value).iter_values())


@irdl_attr_definition
class ReferenceAttr(ParametrizedAttribute):
    """In a function's body: a reference to the function's own attribute `attribute`, of kind `kind`."""

    name = "onnx.reference"
    attribute: StringAttr = param_def()
    kind_number: IntAttr = param_def()

    def __init__(self, attribute: str, kind: AttributeKind):
        super().__init__(StringAttr(attribute), IntAttr(int(kind)))

    @property
    def kind(self) -> AttributeKind:
        """The attribute's kind."""
        return AttributeKind(self.kind_number.data)


@irdl_attr_definition
class SparseTensorAttr(ParametrizedAttribute):
    """A sparse tensor: its non-zero values, their indices, and the type of the dense tensor."""

    name = "onnx.sparse_tensor"
    values: TensorAttr = param_def()
    indices: TensorAttr = param_def()
    dense: Attribute = param_def()


@irdl_attr_definition
class BytesStringAttr(Data[bytes]):
    """A STRING that is not UTF-8."""

    name = "onnx.bytes"

    @classmethod
    def parse_parameter(cls, parser: AttrParser) -> bytes:
        with parser.in_angle_brackets():
            text = parser.parse_str_literal()
        try:
            return bytes.fromhex(text)
        except ValueError:
            parser.raise_error("expected hex digits")

    def print_parameter(self, printer: Printer) -> None:
        with printer.in_angle_brackets():
            printer.print_string(f'"{self.data.hex()}"')


@cache
def int_attr(value: int) -> IntegerAttr:
    """INT."""
    return IntegerAttr(value, i64)


@cache
def float_attr(value: float) -> FloatAttr:
    """FLOAT."""
    return FloatAttr(value, f32)


@cache
def ints_attr(values: tuple[int, ...]) -> DenseArrayBase:
    """INTS."""
    return DenseArrayBase.from_list(i64, values)


@cache
def string_attr(value: bytes) -> StringAttr | BytesStringAttr:
    """STRING."""
    try:
        return StringAttr(value.decode())
    except UnicodeDecodeError:
        return BytesStringAttr(value)
