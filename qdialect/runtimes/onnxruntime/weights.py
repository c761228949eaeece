"""Weights of products and convolutions that a session quantizes again, fuses along a wrong axis, or does not find."""

from __future__ import annotations

from xdsl.ir import Operation, SSAValue

from qdialect.dialects.onnx_base import ConstantOp, OnnxOp, promise_of
from qdialect.dialects.onnx_types import BY_NUMPY, element_of
from qdialect.dialects.quant import UniformType
from qdialect.ir.values import constant, rank_of
from qdialect.promises.base import Commutes
from qdialect.promises.casts import dequantize_type, moved_dequantize, written_dequantize
from qdialect.promises.clamping import Clamp
from qdialect.promises.linear import Linear
from qdialect.promises.weight_only import WeightOnly
from qdialect.promises.window import Window
from qdialect.reasons import SCALE_VALUE
from qdialect.runtimes.onnxruntime.biases import biased
from qdialect.runtimes.onnxruntime.casts import brought_dequantize, has_scales, is_alike, is_bytes, quantizes
from qdialect.targets import Target

BYTE_ELEMENTS = BY_NUMPY["int8"].attribute, BY_NUMPY["uint8"].attribute
I32 = BY_NUMPY["int32"].attribute


def quantized_again(quantize: OnnxOp, session: Target) -> int | None:
    """
    0 for a quantize behind an op with a float weight and a dequantized activation; or behind clamps and moves of that,
    in front of which a session brings the quantize.

    A session quantizes the weight with one scale, even if it then has no kernel for the activation. Of a product of
    bytes without a bias it does not.
    """
    if not quantizes(quantize):
        return None
    real = quantize.operands[0]
    alone = all(is_alike(use.operation, quantize) for use in real.uses)
    while alone and isinstance(op := real.owner, OnnxOp):
        added = biased(op)
        op = op if added is None else added[0]
        if (linear := op.get_trait(Linear)) is not None:
            cast = brought_dequantize(op.operands[0], session)
            is_float = isinstance(op.operands[1].owner, ConstantOp)
            if not is_float or cast is None:
                return None
            has_bias = linear.has_bias or added is not None
            return 0 if has_bias or not is_bytes(cast.operands[0]) else None
        if op.get_trait(Clamp) is None and op.op_type not in session.moved_past:
            return None
        real = op.operands[0]
        alone = real.has_one_use()
    return None


def odd_product(op: OnnxOp, session: Target) -> int | None:
    """
    Index of the operand that parts a linear op from casts of which one has a scale that is zero, negative or not
    finite: a bias of such a scale; else the weight, as a session may find integers behind the activation's moves, or
    the activation if the weight is float.
    """
    if (linear := op.get_trait(Linear)) is None:
        return None
    x, w = brought_dequantize(op.operands[0], session), moved_dequantize(op.operands[1])
    if _is_odd(x) or _is_odd(w):
        return 0 if w is None else 1
    bias = op.input(2) if linear.has_bias else None
    return 2 if bias is not None and _is_odd(moved_dequantize(bias)) else None


def _is_odd(cast: OnnxOp | None) -> bool:
    """True for a dequantize by a scale that is zero, negative or not finite."""
    return cast is not None and dequantize_type(cast) == SCALE_VALUE


def refused_product(op: OnnxOp, session: Target) -> int | None:
    """
    Index of the operand to separate from an 8-bit product without bias whose kernel rejects its scales; else None.

    It is the weight, so that the activation stays between its casts, except for a blocked weight, which has kernels.
    """
    linear = op.get_trait(Linear)
    if linear is None or linear.has_bias:
        return None
    left, right = brought_dequantize(op.operands[0], session), moved_dequantize(op.operands[1])
    if left is None or right is None or not is_bytes(right.operands[0]):
        return None
    if right is not op.operands[1].owner:  # a session moves it below
        return 1 if has_scales(left) and is_bytes(left.operands[0]) else None
    if right.int_attr("block_size", 0):
        return 0
    of_columns = rank_of(op.operands[1]) == 2 and right.int_attr("axis", 1) in (1, -1)
    is_refused = has_scales(left) or (has_scales(right) and not of_columns)
    return 1 if is_refused and is_bytes(left.operands[0]) else None


def rounded_activation(op: OnnxOp, session: Target) -> int | None:
    """
    1 for a product of which a session would make a MatMulNBits, which rounds the activation to 8 bits again, in blocks.

    It does so for a weight of bytes if it finds no dequantize in front of the activation: an integer kernel goes first.
    """
    promise = op.get_trait(WeightOnly)
    cast = written_dequantize(op.operands[1]) if len(op.operands) > 1 else None
    if promise is None or cast is None or promise.guard(op) is not None or op.int_attr("transB", 0):
        return None
    bias, weight = op.input(2), cast.operands[0]
    if (bias is not None and rank_of(bias) != 1) or constant(weight) is None or not is_bytes(weight):
        return None
    of_columns = not cast.int_attr("block_size", 0) and (
        not has_scales(cast) or cast.int_attr("axis", 1) in (1, -1)
    )
    if rank_of(weight) != 2 or not of_columns or not op.operands[1].has_one_use():
        return None
    is_quantized = any(quantizes(use.operation) for use in op.results[0].uses)
    return 1 if not is_quantized and _hides_casts(op.operands[0], session) else None


def _hides_casts(value: SSAValue, session: Target) -> bool:
    """True if `value` is dequantized from bytes in front of moves, at least one of which stops a session's casts."""
    values, hides = [value], False
    for one in values:
        if (cast := written_dequantize(one)) is not None:
            if not is_bytes(cast.operands[0]):
                return False
            continue
        move = one.owner
        promise = promise_of(move, Commutes)
        if promise is None or not isinstance(move, OnnxOp):
            return False
        hides |= move.op_type not in session.moved_past
        values += [v for v in promise.operand_values(move) if v not in values]
    return hides


def captured_weight(op: OnnxOp, session: Target) -> int | None:
    """Index of the dequantized weight, of captured constants, of a product in a subgraph."""
    promise = op.get_trait(WeightOnly)
    if promise is None or promise.guard(op) is not None:
        return None
    cast = written_dequantize(op.operands[1])
    if cast is None or cast.parent is not op.parent or not _captures(cast):
        return None
    activation = brought_dequantize(op.operands[0], session)
    is_integer = activation is not None and element_of(activation.operands[0].type) in BYTE_ELEMENTS
    is_quantized = any(quantizes(use.operation) for use in op.results[0].uses)
    return 1 if not is_quantized and (not is_integer or cast.int_attr("block_size", 0)) else None


def _captures(op: Operation) -> bool:
    """True if `op` reads a constant of an outer graph."""
    owners = [value.owner for value in op.operands]
    return any(isinstance(owner, ConstantOp) and owner.parent is not op.parent for owner in owners)


def other_filter(op: OnnxOp, session: Target) -> int | None:
    """
    Index of a linear op's dequantized weight if it is i32, or has scales along another axis than the outputs: products
    without bias aside, of which `refused_product` knows more.
    """
    linear, window = op.get_trait(Linear), op.get_trait(Window)
    if linear is None or (window is not None and not window.gathers):
        return None
    cast = written_dequantize(op.operands[1])
    if cast is None or brought_dequantize(op.operands[0], session) is None:
        return None
    type = dequantize_type(cast)
    is_turned = isinstance(type, UniformType) and type.axis not in (None, linear.weight_axis(op))
    return 1 if (is_turned and linear.has_bias) or element_of(cast.operands[0].type) == I32 else None
