"""
onnxruntime's scalar arithmetic in arith and math ops: dequantize, quantize, requantize, as in `qdialect.numerics`.

Products and quotients are f32, rounded half to even; each step is one operation, so that nothing is fused.
"""

from __future__ import annotations

import numpy as np
from xdsl.dialects import arith, math
from xdsl.dialects.builtin import IntegerType, f32, i32
from xdsl.ir import SSAValue

from qdialect.dialects.quant import UniformType
from qdialect.forms.linalg.site import Body


def widened(body: Body, value: SSAValue, type: UniformType) -> SSAValue:
    """A stored integer as i32."""
    if value.type == i32:
        return value
    return body.do((arith.ExtSIOp if type.storage.signed else arith.ExtUIOp)(value, i32))


def centred(body: Body, value: SSAValue, type: UniformType) -> SSAValue:
    """A stored integer minus its zero point, i32."""
    wide, zero = widened(body, value, type), int(type.zero_point)
    return body.do(arith.SubiOp(wide, body.number(zero, i32))) if zero else wide


def dequantized(body: Body, value: SSAValue, type: UniformType) -> SSAValue:
    """scale * (q - zero point), f32."""
    real = body.do(arith.SIToFPOp(centred(body, value, type), f32))
    return body.do(arith.MulfOp(real, body.number(float(np.float32(type.scale)), f32)))


def quantized(body: Body, value: SSAValue, type: UniformType) -> SSAValue:
    """saturate(rint(x / scale) + zero point), as stored."""
    steps = body.do(arith.DivfOp(value, body.number(float(np.float32(type.scale)), f32)))
    return rounded(body, steps, type)


def rounded(body: Body, steps: SSAValue, type: UniformType) -> SSAValue:
    """
    saturate(rint(steps) + zero point), as stored; the least value for NaN, as in onnxruntime.

    Clamped before the zero point is added, so that no sum is rounded.
    """
    return rounded_above(body, steps, int(type.zero_point), type)


def rounded_above(body: Body, steps: SSAValue, zero: SSAValue | int, type: UniformType) -> SSAValue:
    """`rounded`, with a zero point that is a number or an i32 value."""
    storage, ends = type.storage, list[SSAValue]()
    for end in (storage.low, storage.high):
        if isinstance(zero, int):
            ends.append(body.number(float(np.float32(end - zero)), f32))
        else:
            ends.append(body.do(arith.SIToFPOp(body.do(arith.SubiOp(body.number(end, i32), zero)), f32)))
    above = body.do(arith.MaxnumfOp(steps, ends[0]))
    inside = body.do(arith.MinnumfOp(above, ends[1]))
    whole = body.do(arith.FPToSIOp(body.do(math.RoundEvenOp(inside)), i32))
    if not isinstance(zero, int):
        whole = body.do(arith.AddiOp(whole, zero))
    elif zero:
        whole = body.do(arith.AddiOp(whole, body.number(zero, i32)))
    width = max(storage.width, 8)
    return whole if width == 32 else body.do(arith.TruncIOp(whole, IntegerType(width)))


def requantized(body: Body, sum: SSAValue, multiplier: SSAValue, type: UniformType) -> SSAValue:
    """saturate(rint(f32(sum) * multiplier) + zero point): onnxruntime's MlasRequantizeOutput."""
    real = body.do(arith.SIToFPOp(sum, f32))
    return rounded(body, body.do(arith.MulfOp(real, multiplier)), type)
