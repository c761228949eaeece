"""
The quant dialect: types that carry scale and zero point, and the casts between them and floats.

    real = scale * (stored - zero_point)

Spelled as in https://mlir.llvm.org/docs/Dialects/QuantDialect/, so that text is interchangeable. Two
things differ: the checks are stricter (docs/spec.md), and `dcast(qcast(x))` is never folded to `x`, as
upstream does: that rounding is part of the model's meaning.
"""

from __future__ import annotations

from collections.abc import Sequence
from functools import lru_cache
from typing import Self

from xdsl.dialects.builtin import ArrayAttr, IntAttr, IntegerType, Signedness, TensorType, UnrankedTensorType
from xdsl.interfaces import HasFolderInterface
from xdsl.ir import Attribute, Dialect, Operation, SSAValue
from xdsl.irdl import IRDLOperation, irdl_op_definition, operand_def, result_def, traits_def
from xdsl.parser import Parser
from xdsl.printer import Printer
from xdsl.traits import Pure
from xdsl.utils.exceptions import VerifyException

from qdialect.dialects.quant_parameters import BYTE_BITS, Expressed, Half, Storage, UniformParameters
from qdialect.dialects.quant_types import (
    MAX_BLOCK_PARAMETERS,
    AnyType,
    CalibratedType,
    UniformType,
    verify_quantized_tensor,
)

__all__ = [
    "BYTE_BITS",
    "MAX_BLOCK_PARAMETERS",
    "AnyType",
    "CalibratedType",
    "DequantizeOp",
    "Expressed",
    "Half",
    "Quant",
    "QuantizeOp",
    "Storage",
    "StorageCastOp",
    "UniformParameters",
    "UniformType",
    "element_type_of",
    "verify_quantized_tensor",
    "with_element_type",
]


def element_type_of(type: Attribute) -> Attribute:
    """The element type of a tensor, or a scalar's own type."""
    return type.element_type if isinstance(type, TensorType | UnrankedTensorType) else type


@lru_cache(4096)
def _tensor_type(element: Attribute, shape: ArrayAttr[IntAttr], encoding: Attribute) -> TensorType[Attribute]:
    return TensorType(element, shape, encoding)


def with_element_type(type: Attribute, element: Attribute) -> Attribute:
    """The type with its element type replaced; a scalar becomes `element`."""
    match type:
        case TensorType():
            return _tensor_type(element, type.shape, type.encoding)
        case UnrankedTensorType():
            return UnrankedTensorType(element)
        case _:
            return element


def _uniform(type: Attribute) -> UniformType:
    element = element_type_of(type)
    if not isinstance(element, UniformType):  # C22
        raise VerifyException(f"expected a uniform quantized type, got {type}")
    return element


def _verify_shapes(source: Attribute, target: Attribute) -> None:
    """Two scalars, two unranked tensors, or two tensors of one shape, which the scales fit."""
    if with_element_type(source, element_type_of(target)) != target:  # C23
        raise VerifyException(
            "failed to verify that input and result are both scalars or both tensors with matching shape: "
            f"{source} and {target}"
        )
    verify_quantized_tensor(source)
    verify_quantized_tensor(target)


def _verify_cast(quantized: Attribute, real: Attribute) -> None:
    element = _uniform(quantized)
    if element_type_of(real) != element.expressed:  # C24
        raise VerifyException(
            f"expressed type in quantized type expected to match float type: {element.expressed} and {real}"
        )
    _verify_shapes(quantized, real)


class _CastOp(IRDLOperation):
    """A cast of one operand to one result, with both types in the text."""

    input = operand_def()
    result = result_def()

    traits = traits_def(Pure())

    @classmethod
    def parse(cls, parser: Parser) -> Self:
        value = parser.parse_unresolved_operand()
        attributes = parser.parse_optional_attr_dict()
        parser.parse_punctuation(":")
        source = parser.parse_type()
        parser.parse_keyword("to")
        target = parser.parse_type()
        operands = parser.resolve_operands([value], [source], parser.pos)
        return cls.create(operands=operands, result_types=[target], attributes=attributes)

    def print(self, printer: Printer) -> None:
        # Not as an `assembly_format`: xDSL would import its reader of such formats with us.
        printer.print_string(" ")
        printer.print_operand(self.input)
        printer.print_op_attributes(self.attributes)
        printer.print_string(" : ")
        printer.print_attribute(self.input.type)
        printer.print_string(" to ")
        printer.print_attribute(self.result.type)

    def _make(self, value: SSAValue, result_type: Attribute) -> None:
        # IRDL's constructor finds out which argument stands for which operand; here is one.
        Operation.__init__(self, operands=[value], result_types=[result_type])


@irdl_op_definition
class QuantizeOp(_CastOp, HasFolderInterface):
    """saturate(rint(x / scale) + zero_point), half to even: ONNX QuantizeLinear."""

    name = "quant.qcast"

    def __init__(self, value: SSAValue | Operation, element_type: UniformType):
        value = SSAValue.get(value)
        self._make(value, with_element_type(value.type, element_type))

    @property
    def element_type(self) -> UniformType:
        """The quantized element type of the result."""
        return _uniform(self.result.type)

    def verify_(self) -> None:
        _verify_cast(self.result.type, self.input.type)

    def fold(self) -> Sequence[SSAValue] | None:
        """qcast(dcast(q)) of equal types folds to q if every stored value survives the round trip through the float."""
        dequantize = self.input.owner
        if not isinstance(dequantize, DequantizeOp) or dequantize.input.type != self.result.type:
            return None
        return (dequantize.input,) if self.element_type.round_trips else None


@irdl_op_definition
class DequantizeOp(_CastOp):
    """
    scale * (q - zero_point): ONNX DequantizeLinear.

    No folder, on purpose: dcast(qcast(x)) is not x.
    """

    name = "quant.dcast"

    def __init__(self, value: SSAValue | Operation):
        value = SSAValue.get(value)
        real = with_element_type(value.type, _uniform(value.type).expressed)
        self._make(value, real)

    @property
    def element_type(self) -> UniformType:
        """The quantized element type of the operand."""
        return _uniform(self.input.type)

    def verify_(self) -> None:
        _verify_cast(self.input.type, self.result.type)


@irdl_op_definition
class StorageCastOp(_CastOp, HasFolderInterface):
    """
    A bitcast between a quantized type and its storage type.

    The storage type is signless, as upstream, or `uiN` for unsigned storage, as ONNX's uint8 is here.
    """

    name = "quant.scast"

    def __init__(self, value: SSAValue | Operation, result_type: Attribute):
        self._make(SSAValue.get(value), result_type)

    @property
    def element_type(self) -> UniformType:
        """The element type of the quantized side."""
        quantized = isinstance(element_type_of(self.input.type), UniformType)
        return _uniform(self.input.type if quantized else self.result.type)

    def verify_(self) -> None:
        quantized, plain = self.input.type, self.result.type
        if not isinstance(element_type_of(quantized), UniformType):
            quantized, plain = plain, quantized
        storage = _uniform(quantized).storage
        integer = element_type_of(plain)
        if integer != IntegerType(storage.width) and (
            storage.signed or integer != IntegerType(storage.width, Signedness.UNSIGNED)
        ):  # C25
            raise VerifyException(
                f"storage type in quantized type expected to match integer type: {storage} and {integer}"
            )
        _verify_shapes(quantized, plain)

    def fold(self) -> Sequence[SSAValue] | None:
        """scast(scast(x)) back to the type of x folds to x."""
        inner = self.input.owner
        if isinstance(inner, StorageCastOp) and inner.input.type == self.result.type:
            return (inner.input,)
        return None


Quant = Dialect("quant", [DequantizeOp, QuantizeOp, StorageCastOp], [AnyType, CalibratedType, UniformType])
