"""Float biases that a session of onnxruntime counts in steps of x_scale * w_scale, as int32, between any casts."""

from __future__ import annotations

import numpy as np
from xdsl.ir import SSAValue

from qdialect.dialects.onnx_base import OnnxOp, promise_of
from qdialect.dialects.onnx_types import element_of, onnx_element
from qdialect.dialects.quant import BYTE_BITS, UniformType
from qdialect.ir.values import constant_array
from qdialect.numerics import Array, sums
from qdialect.promises.casts import dequantize_type, quantize_type, written_dequantize
from qdialect.promises.elementwise import Adds
from qdialect.promises.linear import Linear


def is_bytes(value: SSAValue) -> bool:
    """True for a tensor of 8-bit elements."""
    element = onnx_element(value.type)
    return element is not None and element.bits == BYTE_BITS


def are_of_one_type(first: SSAValue, last: SSAValue) -> bool:
    """True if a session fuses an op between casts of these integers: of one type, or of bytes."""
    return element_of(first.type) == element_of(last.type) or (is_bytes(first) and is_bytes(last))


def loses_bias(op: OnnxOp, quantize: OnnxOp) -> bool:
    """
    True if a session would count a float bias in front of `quantize` in steps of x_scale * w_scale that are too fine
    for int32, or for float16 in a model of that, or so coarse that the bias moves by more than a step of the result.
    """
    found = biased(op)
    if found is None:
        return False
    linear, bias = found
    above, weights = map(written_dequantize, linear.operands[:2])
    if above is None:
        return False
    x, w = dequantize_type(above), None if weights is None else dequantize_type(weights)
    if not isinstance(x, UniformType) or not x.is_per_tensor:
        return False
    # One in float, beside an activation between casts, is quantized by the session.
    weight = constant_array(linear.operands[1])
    steps = w.scales if isinstance(w, UniformType) else None if weight is None else sums.range_scale(weight)
    if steps is None or steps.size not in (1, bias.size):
        return False
    result = quantize_type(quantize)
    moved, overflow = sums.moved_bias(bias, x.scales, steps)
    if bias.dtype == np.float16:
        moved = sums.moved_half_bias(bias, x.scales, steps)
    is_coarse = isinstance(result, UniformType) and bool((moved > result.scales.min()).any())
    return is_coarse or bool(overflow.any())


def biased(op: OnnxOp) -> tuple[OnnxOp, Array] | None:
    """
    A linear op and its constant bias, flat: of `op`, or of the op to whose result, used once, `op` adds a constant,
    which a session makes its bias.
    """
    linear = op.get_trait(Linear)
    if linear is not None:
        bias = constant_array(op.input(2)) if linear.has_bias else None
        return None if bias is None else (op, bias.reshape(-1))
    if op.get_trait(Adds) is None:
        return None
    for value, added in (op.operands, reversed(op.operands)):
        product, bias = value.owner, constant_array(added)
        if isinstance(product, OnnxOp) and promise_of(product, Linear) is not None and value.has_one_use():
            return None if bias is None else (product, bias.reshape(-1))
    return None
