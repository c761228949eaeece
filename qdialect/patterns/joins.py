"""The pattern that drops requantizations of a join's operands, if the join's kernel takes any scales."""

from __future__ import annotations

from xdsl.ir import SSAValue

from qdialect.dialects.onnx_base import OnnxOp
from qdialect.dialects.onnx_types import quantized_of
from qdialect.dialects.quant import DequantizeOp, QuantizeOp, UniformType
from qdialect.promises.kernels import Kernels
from qdialect.reasons import Blocked
from qdialect.rewriting.driver import Rewriter
from qdialect.rewriting.matching import OnTrait

KERNEL_WIDTH = 8
"""Bits of the operands of kernels of joins."""


def requantized(value: SSAValue, type: UniformType | None) -> SSAValue | None:
    """The value that `value` requantizes to `type`, 8 bits, per tensor, of equal storage; None for others."""
    cast = value.owner
    if not isinstance(cast, QuantizeOp) or not isinstance(cast.operands[0].owner, DequantizeOp):
        return None
    stored = cast.operands[0].owner.operands[0]
    other = quantized_of(stored.type)
    if quantized_of(value.type) != type:
        return None  # left to a kernel already: a cast above it rounds a second time
    if type is None or other is None or not (type.is_per_tensor and other.is_per_tensor):
        return None
    if type.storage.width != KERNEL_WIDTH:
        return None
    return stored if other.storage == type.storage and other.expressed == type.expressed else None


class TakeAnyScales(OnTrait[Kernels]):
    """join(qcast(dcast(a : S)) : T, b) : T  ->  join(a : S, b) : T     the kernel reads a table for each operand"""

    def wants(self, promise: Kernels, /) -> bool:
        return promise.takes_any_scales

    def match(self, op: OnnxOp, promise: Kernels, rewriter: Rewriter, /) -> Blocked | None:
        for place, value in enumerate(op.operands):
            stored = requantized(value, quantized_of(op.results[0].type))
            if stored is not None:
                rewriter.set_operand(op, place, stored)
        return None
