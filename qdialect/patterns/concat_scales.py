"""The pattern that drops requantizations of a join's operands, if the join's kernel takes any scales."""

from __future__ import annotations

from math import prod

import numpy as np
from xdsl.ir import SSAValue

from qdialect.dialects.onnx_base import OnnxOp
from qdialect.dialects.onnx_types import DYNAMIC, quantized_of, shape_of
from qdialect.dialects.quant import BYTE_BITS, DequantizeOp, QuantizeOp, UniformType
from qdialect.ir.values import constant_array
from qdialect.numerics import Array
from qdialect.promises.elementwise import Joins
from qdialect.promises.kernels import Kernels
from qdialect.rewriting.driver import Rewriter
from qdialect.rewriting.matching import OnTrait

MAX_REPEATED_ELEMENTS = 1 << 12
"""
Elements of a constant row with its repetitions. A kernel of onnxruntime starts anew for each row that is broadcast: of
128 rows of 32 elements 2.5 us less if eight are one (1.31: measured).
"""


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
    if type.storage.width != BYTE_BITS:
        return None
    return stored if other.storage == type.storage and other.expressed == type.expressed else None


def repeated_rows(op: OnnxOp, place: int) -> Array | None:
    """
    An operand of an elementwise op of two operands that is a constant row, repeated along the axes in front of it.

    None if it is no row, the other operand is broadcast too, or the constant would exceed `MAX_REPEATED_ELEMENTS`.
    """
    row, shape = constant_array(op.operands[place]), shape_of(op.results[0].type)
    if op.get_trait(Joins) is None or row is None or shape is None or row.size < 2:
        return None
    if row.shape[-1] != row.size or shape[-1] != row.size or shape_of(op.operands[1 - place].type) != shape:
        return None
    sizes = [row.size]
    for size in reversed(shape[:-1]):
        if size == DYNAMIC or size * prod(sizes) > MAX_REPEATED_ELEMENTS:
            break
        sizes.insert(0, size)
    return np.broadcast_to(row.reshape(-1), sizes) if prod(sizes) > row.size else None


class TakeAnyScales(OnTrait[Kernels]):
    """join(qcast(dcast(a : S)) : T, b) : T  ->  join(a : S, b) : T     the kernel reads a table for each operand"""

    def wants(self, promise: Kernels, /) -> bool:
        return promise.takes_any_scales

    def match(self, op: OnnxOp, promise: Kernels, rewriter: Rewriter, /) -> None:
        for place, value in enumerate(op.operands):
            stored = requantized(value, quantized_of(op.results[0].type))
            if stored is not None:
                rewriter.set_operand(op, place, stored)
