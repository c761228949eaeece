"""
Products that quantizers write less often: weights of 1 to 4 bits, vectors as operands, weights in batches with a zero
point for each column, scales along other axes than the output channels, half and double precision beside float32.
"""

from __future__ import annotations

from collections.abc import Sequence
from typing import Any

import ml_dtypes
import numpy as np
from onnx import TensorProto, helper

from graphs.drawing import Array, Drawing, Value, bias, disguised, f32
from graphs.forms import MICROSOFT
from graphs.ops import Draw

HALF = np.dtype(np.float16)
NARROW: list[tuple[Any, int, int]] = [
    (ml_dtypes.int4, -8, 7), (ml_dtypes.uint4, 0, 15), (ml_dtypes.int2, -2, 1), (ml_dtypes.uint2, 0, 3),
    (np.int8, -1, 1), (np.int8, -2, 1), (np.int8, -8, 7), (np.uint8, 0, 3), (np.uint8, 0, 15),
]  # fmt: skip
"""Storage type, least and greatest integer of weights of few bits."""


def pair(
    d: Drawing, x: Value, scale: Array, zero: Array, axis: int | None = None, back: Array | None = None
) -> Value:
    """A value behind casts with these parameters; `back`: the scale of the second cast, if it is another."""
    attributes = {} if axis is None else {"axis": axis}
    names = [disguised(d, scale), disguised(d, zero)]
    stored = d.node("QuantizeLinear", [x.name, *names], x.shape, **attributes)
    out = [names[0] if back is None else d.constant(back), names[1]]
    return d.node("DequantizeLinear", [stored.name, *out], x.shape, **attributes)


def scale_of(d: Drawing, *shape: int, low: float = 0.01, high: float = 0.06) -> Array:
    """A scale, or as many as the shape says."""
    return f32(d.rng.uniform(low, high, shape))


def few_bits(d: Drawing, real: Sequence[int], axis: int | None, block: int = 0) -> Value:
    """A weight of few bits behind a dequantize: per tensor, along `axis`, or in blocks of `block` along it."""
    kind, low, high = d.pick(NARROW)
    if d.opset < 21:
        kind, low, high = d.pick(NARROW[4:])
    stored = d.rng.integers(low, high + 1, real).astype(kind)
    shape = [] if axis is None else [real[axis]]
    if block and axis is not None:
        shape = [s // block if k == axis else s for k, s in enumerate(real)]
    fan = float(np.sqrt(np.prod(real) / max(real)))
    scale = f32(d.rng.uniform(0.5, 1.5, shape) / (fan * max(high - low, 1)))
    middle = (low + high + 1) // 2 if low >= 0 else 0
    zero = np.full(shape, middle, kind)
    if d.chance(0.2):
        zero = d.rng.integers(low, high + 1, shape).astype(kind)
    inputs = [d.constant(stored, "w"), disguised(d, scale)]
    if zero.astype(np.int32).any() or d.chance(0.5):
        inputs.append(d.constant(zero))
    attributes: dict[str, Any] = {} if axis is None else {"axis": axis}
    if block and axis is not None:
        attributes["block_size"] = block
    return d.node("DequantizeLinear", inputs, real, **attributes)


def narrow_conv(d: Drawing, x: Value) -> Value | None:
    if len(x.shape) != 4 or min(x.shape[2:]) < 3:
        return None
    n, c, h, w = x.shape
    out = int(d.rng.integers(2, 7))
    kernel = few_bits(d, (out, c, 3, 3), d.pick([None, 0]))
    value = d.node("Conv", [x.name, kernel.name, *bias(d, x, out)], [n, out, h, w], pads=[1, 1, 1, 1])
    if d.chance(0.4):
        value = normalized(d, value)
    return d.finish(value)


def normalized(d: Drawing, x: Value) -> Value:
    """BatchNormalization, one variance in four near zero."""
    c = x.shape[1]
    variance = d.rng.uniform(0.3, 2.0, c)
    if d.chance(0.25):
        variance[0] = 1e-8
    parts = [d.rng.uniform(0.7, 1.3, c), d.rng.normal(size=c) * 0.4, d.rng.normal(size=c) * 0.5, variance]
    return d.node("BatchNormalization", [x.name, *(d.constant(f32(p)) for p in parts)], x.shape)


def narrow_product(d: Drawing, x: Value) -> Value | None:
    """MatMul or Gemm with a weight of few bits: for the whole, for each column, in blocks."""
    if len(x.shape) < 2:
        return None
    k, out = x.shape[-1], int(d.rng.integers(2, 9))
    blocks = [b for b in (2, 4, 8, 16) if k % b == 0] if d.opset >= 21 else []
    axis = d.pick([None, 1, *([0] if blocks else [])])
    kernel = few_bits(d, (k, out), axis, d.pick(blocks) if axis == 0 else 0)
    if len(x.shape) == 2 and d.chance(0.5):
        return d.finish(d.node("Gemm", [x.name, kernel.name, *bias(d, x, out)], [x.shape[0], out]))
    value = d.node("MatMul", [x.name, kernel.name], [*x.shape[:-1], out])
    if d.chance(0.5):
        value = d.node("Add", [value.name, d.constant(f32(d.rng.normal(size=out)))], value.shape)
    return d.finish(value)


def vector(d: Drawing, x: Value) -> Value | None:
    """A product with a vector on one side, and numbers that are added and multiplied behind it."""
    k, n = x.shape[-1], int(d.rng.integers(2, 6))
    if len(x.shape) == 1:
        other = few_bits(d, (k, n), None) if d.chance(0.3) else _eight(d, (k, n), d.pick([None, 1]))
        inputs, shape = [x.name, other.name], [n]
    elif d.chance(0.3):
        first = x.shape[-2]
        inputs, shape = [_eight(d, (first,), None).name, x.name], [*x.shape[:-2], x.shape[-1]]
    else:
        inputs, shape = [x.name, _eight(d, (k,), d.pick([None, None, 0])).name], [*x.shape[:-1]]
    value = d.node("MatMul", inputs, shape)
    for op in d.pick([[], ["Add"], ["Mul"], ["Add", "Mul"], ["Mul", "Add"]]):
        size = d.pick([(), (1,), shape[-1:], tuple(shape)])
        value = d.node(op, [value.name, d.constant(f32(d.rng.normal(size=size)))], shape)
    return d.finish(value)


def _eight(d: Drawing, shape: Sequence[int], axis: int | None) -> Value:
    """A weight of 8 bits behind a dequantize."""
    kind = d.pick([np.int8, np.int8, np.uint8])
    info = np.iinfo(kind)
    stored = d.rng.integers(info.min, info.max + 1, shape).astype(kind)
    count = () if axis is None else (shape[axis],)
    inputs = [d.constant(stored, "w"), disguised(d, scale_of(d, *count, low=0.002, high=0.01))]
    zero = np.full(count, 0 if info.min else 128, kind)
    if d.chance(0.2):
        zero = d.rng.integers(info.min, info.max + 1, count).astype(kind)
    if zero.any() or d.chance(0.5):
        inputs.append(disguised(d, zero))
    return d.node("DequantizeLinear", inputs, shape, **({} if axis is None else {"axis": axis}))


def odd_axis(d: Drawing, x: Value) -> Value | None:
    """A convolution whose weight has its scales along inputs or rows, with groups, auto_pad, a normalization."""
    if len(x.shape) != 4 or min(x.shape[2:]) < 3:
        return None
    n, c, h, w = x.shape
    transposed = d.chance(0.4)
    groups = c if d.chance(0.3) else 1
    out = c * 2 if groups > 1 else int(d.rng.integers(2, 6))
    shape = (c, out // groups, 3, 3) if transposed else (out, c // groups, 3, 3)
    kernel = _eight(d, shape, d.pick([None, 0, 1, 2, 3]))
    attributes: dict[str, Any] = {"kernel_shape": [3, 3], "group": groups}
    same = d.chance(0.4)
    attributes |= {"auto_pad": "SAME_UPPER"} if same else {"pads": [1, 1, 1, 1]}
    if transposed and d.chance(0.5):  # onnxruntime leaves output_padding out of sight where auto_pad is given
        attributes |= {"strides": [2, 2], "output_padding": [1, 0]}
        h, w = 2 * h, 2 * w - (not same)
    op = "ConvTranspose" if transposed else "Conv"
    value = d.node(op, [x.name, kernel.name, *bias(d, x, out)], [n, out, h, w], **attributes)
    return d.finish(normalized(d, value) if d.chance(0.5) else value)


def integer_batch(d: Drawing, x: Value) -> Value | None:
    """
    MatMulInteger, MatMulIntegerToFloat or QLinearMatMul with a weight of two or three axes, and a zero point for the
    whole, for each column, or for each column of each matrix.
    """
    if len(x.shape) < 2:
        return None
    k, n = x.shape[-1], int(d.rng.integers(2, 6))
    batch = (x.shape[-3],) if len(x.shape) >= 3 and d.chance(0.6) else ()
    shape, kind = (*batch, k, n), d.pick([np.int8, np.uint8])
    stored = d.rng.integers(0, 100, shape).astype(kind)
    columns = d.pick([(), (n,), (*batch, 1, n)] if batch else [(), (n,)])
    zero = np.zeros(columns, kind) if d.chance(0.4) else d.rng.integers(0, 40, columns).astype(kind)
    result = [*x.shape[:-1], n]
    if d.chance(0.4):
        q, scale, at = _dynamic(d, x)
    else:
        scale, at = disguised(d, scale_of(d)), disguised(d, np.array(d.pick([0, 117, 128]), np.uint8))
        q = d.node("QuantizeLinear", [x.name, scale, at], x.shape).name
    scales = d.pick([(), (n,)])
    if columns == scales and d.chance(0.3):  # the kernel wants as many zero points as scales
        return _quantized_product(d, (q, scale, at), (d.constant(stored, "w"), scales, zero), result)
    w_scale = d.constant(scale_of(d, *scales, low=0.002, high=0.01))
    zeros = [d.constant(zero)] if zero.any() or d.chance(0.7) else []
    if not batch and d.chance(0.4):
        more = [d.constant(f32(d.rng.normal(size=n)))] if d.chance(0.4) else []
        inputs = [q, d.constant(stored, "w"), scale, w_scale, at, *(zeros or [""]), *more]
        return d.finish(d.node("MatMulIntegerToFloat", inputs, result, domain=MICROSOFT))
    sums = d.node("MatMulInteger", [q, d.constant(stored, "w"), at, *zeros], result)
    return d.finish(_rescaled(d, sums, scale, w_scale))


def _quantized_product(
    d: Drawing, x: tuple[str, str, str], w: tuple[str, tuple[int, ...], Array], shape: Sequence[int]
) -> Value | None:
    """QLinearMatMul of integers, scale and zero point of both operands, and what its result stands for."""
    weight, scales, zero = w
    w_scale = d.constant(scale_of(d, *scales, low=0.002, high=0.01))
    ends = [d.constant(f32(0.1)), d.constant(np.array(120, np.uint8))]
    inputs = [*x, weight, w_scale, d.constant(zero), *ends]
    product = d.node("QLinearMatMul", inputs, shape)
    value = d.node("DequantizeLinear", [product.name, *ends], shape)
    d.values.append(value)
    return value


def _dynamic(d: Drawing, x: Value) -> tuple[str, str, str]:
    """Integers, scale and zero point that a run computes."""
    names = [d.name(stem) for stem in ("q", "scale", "zero")]
    d.steps.append(helper.make_node("DynamicQuantizeLinear", [x.name], names))
    d.used.add(x.name)
    return names[0], names[1], names[2]


def _rescaled(d: Drawing, sums: Value, scale: str, w_scale: str) -> Value:
    """int32 sums as floats: by the product of both scales, or by one after the other; now and then in doubles."""
    shape = sums.shape
    if d.chance(0.15):
        wide = d.node("Cast", [sums.name], shape, to=TensorProto.DOUBLE)
        factor = d.node("Mul", [scale, w_scale], ())
        doubled = d.node("Cast", [factor.name], (), to=TensorProto.DOUBLE)
        value = d.node("Mul", [wide.name, doubled.name], shape)
        return d.node("Cast", [value.name], shape, to=TensorProto.FLOAT)
    floated = d.node("Cast", [sums.name], shape, to=TensorProto.FLOAT)
    if d.chance(0.5):
        factor = d.node("Mul", d.pick([[scale, w_scale], [w_scale, scale]]), ())
        return d.node("Mul", [floated.name, factor.name], shape)
    first = d.node("Mul", [floated.name, scale], shape)
    return d.node("Mul", [first.name, w_scale], shape)


def integer_conv(d: Drawing, x: Value) -> Value | None:
    """ConvInteger with zero points for each channel, of a weight that has the whole range or less."""
    if len(x.shape) != 4 or min(x.shape[2:]) < 3:
        return None
    n, c, h, w = x.shape
    out = int(d.rng.integers(2, 6))
    low, high = d.pick([(0, 256), (100, 160)])
    stored = d.rng.integers(low, high, (out, c, 3, 3)).astype(np.uint8)
    q, scale, at = _dynamic(d, x)
    zero = np.array(128, np.uint8) if d.chance(0.5) else np.full(out, 128, np.uint8)
    if zero.ndim and d.chance(0.5):
        zero = d.rng.integers(110, 140, out).astype(np.uint8)
    inputs = [q, d.constant(stored, "w"), at, d.constant(zero)]
    sums = d.node("ConvInteger", inputs, [n, out, h, w], pads=[1, 1, 1, 1])
    w_scale = d.constant(scale_of(d, low=0.001, high=0.004))
    value = _rescaled(d, sums, scale, w_scale)
    if d.chance(0.4):
        value = d.node("Add", [value.name, d.constant(f32(d.rng.normal(size=(1, out, 1, 1))))], value.shape)
    return d.finish(value)


def half_island(d: Drawing, x: Value) -> Value | None:
    """Half precision between casts of types: quantized by scales of half precision, computed with, and back."""
    if d.opset < 19:
        return None
    to = TensorProto.FLOAT16
    half = d.node("Cast", [x.name], x.shape, to=to)
    scale = f32(d.rng.uniform(0.02, 0.06)).astype(HALF)
    zero = np.array(d.pick([0, 7, -20]), np.int8)
    value = pair(d, half, scale, zero)
    if len(x.shape) >= 2 and d.chance(0.6):
        k, n = x.shape[-1], int(d.rng.integers(2, 6))
        count, stored = d.pick([(), (n,)]), d.rng.integers(-127, 128, (k, n)).astype(np.int8)
        inputs = [
            d.constant(stored, "w"),
            d.constant(scale_of(d, *count, low=0.002, high=0.008).astype(HALF)),
        ]
        weight = d.node("DequantizeLinear", inputs, (k, n), **({"axis": 1} if count else {}))
        value = d.node("MatMul", [value.name, weight.name], [*x.shape[:-1], n])
        if d.chance(0.4):
            added = d.constant(d.rng.normal(size=n).astype(HALF))
            value = d.node("Add", [value.name, added], value.shape)
    else:
        value = d.node(d.pick(["Relu", "Sigmoid", "Tanh", "Neg"]), [value.name], value.shape)
    if d.chance(0.3):
        value = pair(d, value, f32(0.05).astype(HALF), np.array(d.pick([0, 3]), np.int8))
    return d.finish(d.node("Cast", [value.name], value.shape, to=TensorProto.FLOAT))


def half_scale(d: Drawing, x: Value) -> Value | None:
    """QuantizeLinear by a scale of half precision, an integer product, its sums as floats of 32 bits."""
    if d.opset < 19 or len(x.shape) < 2:
        return None
    k, n = x.shape[-1], int(d.rng.integers(2, 6))
    half = d.node("Cast", [x.name], x.shape, to=TensorProto.FLOAT16)
    scale, zero = d.constant(f32(0.04).astype(HALF)), d.constant(np.array(d.pick([0, -28]), np.int8))
    q = d.node("QuantizeLinear", [half.name, scale, zero], x.shape)
    stored = d.constant(d.rng.integers(-127, 128, (k, n)).astype(np.int8), "w")
    sums = d.node("MatMulInteger", [q.name, stored, zero], [*x.shape[:-1], n])
    kind = d.pick([TensorProto.FLOAT, TensorProto.FLOAT, TensorProto.FLOAT16])
    floated = d.node("Cast", [sums.name], sums.shape, to=kind)
    factor = f32(d.rng.uniform(1e-4, 2e-4, d.pick([(), (n,)])))
    factor = factor.astype(HALF) if kind == TensorProto.FLOAT16 else factor
    value = d.node("Mul", [floated.name, d.constant(factor)], sums.shape)
    if kind == TensorProto.FLOAT16:
        value = d.node("Cast", [value.name], sums.shape, to=TensorProto.FLOAT)
    return d.finish(value)


def weight_between_types(d: Drawing, x: Value) -> Value | None:
    """A product with a weight that is stored in half precision, or dequantized in it, and cast to float32."""
    if len(x.shape) < 2:
        return None
    k, n = x.shape[-1], int(d.rng.integers(2, 9))
    if d.opset < 19 or d.chance(0.4):
        name = d.constant((d.rng.normal(size=(k, n)) / np.sqrt(k)).astype(HALF), "w")
    else:
        stored = d.constant(d.rng.integers(-127, 128, (k, n)).astype(np.int8), "w")
        scale = d.constant(scale_of(d, *d.pick([(), (n,)]), low=0.002, high=0.008).astype(HALF))
        name = d.node("DequantizeLinear", [stored, scale], (k, n), axis=1).name
    weight = d.node("Cast", [name], (k, n), to=TensorProto.FLOAT)
    return d.finish(d.node("MatMul", [x.name, weight.name], [*x.shape[:-1], n]))


def other_scale_back(d: Drawing, x: Value) -> Value | None:
    """Integers that are read by another scale than they were written by."""
    scale = scale_of(d)
    value = pair(d, x, scale, np.array(d.pick([0, 100]), np.uint8), back=f32(scale * d.pick([0.5, 1.5])))
    d.values.append(value)
    return value


def float_sum(d: Drawing, x: Value) -> Value | None:
    """A product whose bias and factors are many ops, each on constants alone."""
    if len(x.shape) < 2:
        return None
    k, n = x.shape[-1], int(d.rng.integers(2, 9))
    value = d.node("MatMul", [x.name, _eight(d, (k, n), d.pick([None, 1])).name], [*x.shape[:-1], n])
    for _ in range(int(d.rng.integers(1, 4))):
        op = d.pick(["Add", "Mul", "Div", "Sub"])
        size = d.pick([(), (1,), (n,), (1, n)])
        numbers = f32(d.rng.uniform(0.4, 1.6, size) * (d.pick([1, 1, -1])))
        inputs = [value.name, d.constant(numbers)]
        value = d.node(op, inputs if op == "Div" or d.chance(0.7) else inputs[::-1], value.shape)
    return d.finish(value)


def dynamic_lstm(d: Drawing, x: Value) -> Value | None:
    """com.microsoft's DynamicQuantizeLSTM over the first axis."""
    if len(x.shape) != 3:
        return None
    size = int(d.rng.integers(2, 5))
    steps, rows, width = x.shape
    weights = [
        d.constant(d.rng.integers(-100, 100, (1, k, 4 * size)).astype(np.int8), "w") for k in (width, size)
    ]
    scales = [d.constant(scale_of(d, 1, low=0.002, high=0.006)) for _ in weights]
    zero = d.constant(np.zeros(1, np.int8))
    added = d.constant(f32(d.rng.normal(size=(1, 8 * size)) * 0.1))
    inputs = [x.name, *weights, added, "", "", "", "", scales[0], zero, scales[1], zero]
    shape = (steps, 1, rows, size)
    value = d.node("DynamicQuantizeLSTM", inputs, shape, domain=MICROSOFT, hidden_size=size)
    return d.finish(d.node("Squeeze", [value.name, d.ints(1)], (steps, rows, size)))


PRODUCTS: list[Draw] = [
    narrow_conv, narrow_conv, narrow_product, narrow_product, narrow_product, vector, vector, odd_axis, odd_axis,
    integer_batch, integer_batch, integer_conv, half_island, half_island, half_scale, weight_between_types,
    other_scale_back, float_sum, dynamic_lstm,
]  # fmt: skip
