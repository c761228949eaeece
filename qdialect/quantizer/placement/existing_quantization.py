"""Existing quantization of a graph, which a placement of more casts keeps, reusing its types."""

from __future__ import annotations

from xdsl.ir import Operation, SSAValue, Use

from qdialect.dialects.onnx_base import ConstantOp, OnnxOp
from qdialect.dialects.onnx_types import quantized_of
from qdialect.dialects.quant import DequantizeOp, QuantizeOp, UniformType
from qdialect.ir.values import byte_type, constant
from qdialect.promises.base import Commutes
from qdialect.promises.linear import Linear
from qdialect.rewriting.journal import KEEP_FLOAT

MAX_FINER_STEP_RATIO = 0.75
"""Greatest ratio of a new type's step to the existing one's at which it replaces it."""


def is_quantized(value: SSAValue) -> bool:
    """True if a value has a quantized type."""
    return quantized_of(value.type) is not None


def is_integer(op: Operation) -> bool:
    """True if an op has quantized operands or results, or is a cast that placement can use."""
    if isinstance(op, ConstantOp):
        return False
    if isinstance(op, DequantizeOp):
        return constant(op.operands[0]) is None and byte_type(op.operands[0]) is not None
    if isinstance(op, QuantizeOp):
        return byte_type(op.results[0]) is not None
    return isinstance(op, OnnxOp) and any(is_quantized(v) for v in (*op.operands, *op.results))


def own_type(value: SSAValue) -> UniformType | None:
    """The type that a float is dequantized from, or to which all its quantizes convert it; None if there is none."""
    if isinstance(value.owner, DequantizeOp):
        return byte_type(value.owner.operands[0])
    types = {byte_type(cast.results[0]) for cast in quantizes(value)}
    return types.pop() if len(types) == 1 else None


def quantizes(value: SSAValue) -> list[QuantizeOp]:
    """The quantizes of a value."""
    return [use.operation for use in value.uses if isinstance(use.operation, QuantizeOp)]


def takes_another(op: Operation) -> bool:
    """True if all users of a result accept another type: dequantizes, and linear ops without a quantized bias."""
    return all(_accepts_another(use) for use in op.results[0].uses)


def followers(op: Operation) -> list[SSAValue] | None:
    """
    The results that must change type along with the result of `op`: those of ops that move or select its elements.

    None if a user of any of them needs the type that it has.
    """
    moved: list[SSAValue] = []
    left: list[SSAValue] = [op.results[0]]
    while left:
        for use in left.pop().uses:
            if _accepts_another(use):
                continue
            result = _moved(use.operation)
            if result is None:
                return None
            moved.append(result)
            left.append(result)
    return moved


def _moved(op: Operation) -> SSAValue | None:
    """The result of an op that moves elements of one operand and keeps their type; None for other ops."""
    if not isinstance(op, OnnxOp) or (promise := op.get_trait(Commutes)) is None or promise.points(op):
        return None
    operands, results = promise.types(op)
    return op.results[0] if len(operands) == 1 and operands == results and promise.moves(op) else None


def _accepts_another(use: Use) -> bool:
    return isinstance(use.operation, DequantizeOp) or _scales_freely(use.operation, use.index)


def _scales_freely(op: Operation, index: int) -> bool:
    if not isinstance(op, OnnxOp) or (linear := op.get_trait(Linear)) is None or index != 0:
        return False
    bias = op.input(2) if linear.has_bias else None
    return KEEP_FLOAT not in op.attributes and (bias is None or not is_quantized(bias))


def is_finer(type: UniformType, own: UniformType) -> bool:
    """True if the step of `type` is at most `MAX_FINER_STEP_RATIO` of the step of `own`."""
    return float(type.scale) < MAX_FINER_STEP_RATIO * float(own.scale)
