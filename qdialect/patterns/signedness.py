"""8-bit types of the same real numbers in the other signedness."""

from __future__ import annotations

from xdsl.ir import SSAValue

from qdialect import numerics
from qdialect.dialects.onnx_base import ConstantOp
from qdialect.dialects.onnx_types import quantized_of
from qdialect.dialects.quant import Storage, UniformType
from qdialect.ir.build import constant_op
from qdialect.ir.names import wish
from qdialect.rewriting.driver import Rewriter

SIGN_OFFSET = 128


def signed(type: UniformType) -> UniformType | None:
    """The i8 type of the same real numbers; None if `type` is not u8."""
    return None if type.storage.signed else _flipped(type, -SIGN_OFFSET)


def unsigned(type: UniformType) -> UniformType | None:
    """The u8 type of the same real numbers; None if `type` is not i8."""
    return _flipped(type, SIGN_OFFSET) if type.storage.signed else None


def _flipped(type: UniformType, by: int) -> UniformType | None:
    """The type of the other signedness, its integers moved by `by`; None for one in blocks, or not of 8 bits."""
    s = type.storage
    if s.width != 8 or type.blocks:
        return None
    storage = Storage.make(8, not s.signed, s.low + by, s.high + by)
    return type.replace(storage=storage, zero_points=type.zero_points + by)


def symmetric(type: UniformType) -> UniformType | None:
    """The i8 type of the same real numbers whose zero points are 0; None if there is none."""
    moved = signed(type)
    return None if moved is None or moved.zero_points.any() else moved


def typed_constant(value: SSAValue) -> tuple[ConstantOp, UniformType] | None:
    """The constant that a value of quantized type is, and its type."""
    source, type = value.owner, quantized_of(value.type)
    if type is None or not isinstance(source, ConstantOp) or source.value is None:
        return None
    return source, type


class FlippedConstants:
    """Constants with the other signedness, each written once."""

    def __init__(self) -> None:
        self._new: dict[ConstantOp, SSAValue] = {}

    def of(self, source: ConstantOp, type: UniformType, rewriter: Rewriter) -> SSAValue:
        """The constant `source`, as `type`; its users must be retyped, too."""
        if source not in self._new and source.value is not None:
            name = f"{wish(source.results[0])}_{type.storage.name}"
            new = constant_op(numerics.flip_signedness(source.value.array()), name, type)
            rewriter.insert_after(source, [new])
            self._new[source] = new.results[0]
        return self._new[source]
