"""What is quantized in a graph already: a placement of more casts leaves it, and takes its types where it can."""

from __future__ import annotations

from xdsl.dialects.builtin import Float32Type
from xdsl.ir import Operation, SSAValue

from qdialect.dialects.onnx_base import ConstantOp, OnnxOp
from qdialect.dialects.onnx_types import quantized_of
from qdialect.dialects.quant import DequantizeOp, QuantizeOp, UniformType
from qdialect.ir.values import constant
from qdialect.promises.linear import Linear
from qdialect.rewriting.journal import KEEP_FLOAT

BITS = 8
FINER = 0.75
"""A new type replaces one that is there if its step is at most this part of the old step."""


def is_quantized(value: SSAValue) -> bool:
    """Whether a value is of a quantized type."""
    return quantized_of(value.type) is not None


def is_integer(op: Operation) -> bool:
    """Whether an op takes or makes integers now: one on quantized types, or a cast that placement can join to."""
    if isinstance(op, ConstantOp):
        return False
    if isinstance(op, DequantizeOp):
        return constant(op.operands[0]) is None and _usable(op.operands[0]) is not None
    if isinstance(op, QuantizeOp):
        return _usable(op.results[0]) is not None
    return isinstance(op, OnnxOp) and any(is_quantized(v) for v in (*op.operands, *op.results))


def _usable(value: SSAValue) -> UniformType | None:
    """The type of a value, if its integers are of 8 bits and one scale, as activations are quantized."""
    type = quantized_of(value.type)
    if type is None or not type.is_per_tensor or type.storage.width != BITS:
        return None
    return type if isinstance(type.expressed, Float32Type) else None


def own_type(value: SSAValue) -> UniformType | None:
    """The type that a float is dequantized from, or that all that quantize it quantize it to; None if there is none."""
    if isinstance(value.owner, DequantizeOp):
        return _usable(value.owner.operands[0])
    types = {_usable(cast.results[0]) for cast in quantizes(value)}
    return types.pop() if len(types) == 1 else None


def quantizes(value: SSAValue) -> list[QuantizeOp]:
    """The casts that quantize a value."""
    return [use.operation for use in value.uses if isinstance(use.operation, QuantizeOp)]


def takes_another(cast: QuantizeOp) -> bool:
    """Whether what reads a cast can read one of another scale: a sum of products with a float bias, or a dequantize."""
    return all(
        isinstance(use.operation, DequantizeOp) or _scales_freely(use.operation, use.index)
        for use in cast.results[0].uses
    )


def _scales_freely(op: Operation, index: int) -> bool:
    if not isinstance(op, OnnxOp) or (linear := op.get_trait(Linear)) is None or index != 0:
        return False
    bias = op.input(2) if linear.has_bias else None
    return KEEP_FLOAT not in op.attributes and (bias is None or not is_quantized(bias))


def is_finer(type: UniformType, own: UniformType) -> bool:
    """Whether a type has clearly shorter steps than one that is there."""
    return float(type.scale) < FINER * float(own.scale)
