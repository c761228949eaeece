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
from qdialect.upstream.linalg.site import Body


def widened(body: Body, value: SSAValue, type: UniformType) -> SSAValue:
    """A stored integer as i32."""
    if value.type == i32:
        return value
    return body.do((arith.ExtSIOp if type.storage.signed else arith.ExtUIOp)(value, i32))


def centred(body: Body, value: SSAValue, type: UniformType, *zero: SSAValue) -> SSAValue:
    """A stored integer minus its zero point, i32; `zero` if that differs by channel."""
    wide = widened(body, value, type)
    if zero:
        return body.do(arith.SubiOp(wide, zero[0]))
    own = int(type.zero_point)
    return body.do(arith.SubiOp(wide, body.number(own, i32))) if own else wide


def dequantized(body: Body, value: SSAValue, type: UniformType, *own: SSAValue) -> SSAValue:
    """scale * (q - zero point), f32; `own` scale and zero point if these differ by channel."""
    real = body.do(arith.SIToFPOp(centred(body, value, type, *own[1:]), f32))
    return body.do(arith.MulfOp(real, own[0] if own else _scale(body, type)))


def quantized(body: Body, value: SSAValue, type: UniformType, *own: SSAValue) -> SSAValue:
    """saturate(rint(x / scale) + zero point), as stored; `own` scale and zero point if these differ by channel."""
    steps = body.do(arith.DivfOp(value, own[0] if own else _scale(body, type)))
    return rounded(body, steps, type, *own[1:])


def _scale(body: Body, type: UniformType) -> SSAValue:
    return body.number(float(np.float32(type.scale)), f32)


def rounded(body: Body, steps: SSAValue, type: UniformType, *zero: SSAValue) -> SSAValue:
    """
    saturate(rint(steps) + zero point), as stored; `zero` if that differs by channel. The least value for NaN, as in
    onnxruntime.

    Clamped before the zero point is added, so that no sum is rounded.
    """
    storage, ends, own = type.storage, list[SSAValue](), 0 if zero else int(type.zero_point)
    for end in (storage.low, storage.high):
        if zero:
            ends.append(body.do(arith.SIToFPOp(body.do(arith.SubiOp(body.number(end, i32), zero[0])), f32)))
        else:
            ends.append(body.number(float(np.float32(end - own)), f32))
    above = body.do(arith.MaxnumfOp(steps, ends[0]))
    inside = body.do(arith.MinnumfOp(above, ends[1]))
    whole = body.do(arith.FPToSIOp(body.do(math.RoundEvenOp(inside)), i32))
    if zero or own:
        whole = body.do(arith.AddiOp(whole, zero[0] if zero else body.number(own, i32)))
    width = max(storage.width, 8)
    return whole if width == 32 else body.do(arith.TruncIOp(whole, IntegerType(width)))


def requantized(body: Body, sum: SSAValue, multiplier: SSAValue, type: UniformType) -> SSAValue:
    """saturate(rint(f32(sum) * multiplier) + zero point): onnxruntime's MlasRequantizeOutput."""
    real = body.do(arith.SIToFPOp(sum, f32))
    return rounded(body, body.do(arith.MulfOp(real, multiplier)), type)
