"""
Interpreter of TOSA's integer profile, in terms of `numerics`: the reference of the integer-only arithmetic.

Sums and products are exact in 64 bits and must fit in 32; a rescale is `numerics.rescale`. Arm's reference model gives
equal values throughout. The reference of the other arithmetic is onnxruntime (`evaluation/oracle_form.py`).
"""

from __future__ import annotations

from collections.abc import Callable, Sequence
from typing import Any

import numpy as np
import numpy.typing as npt
from numpy.lib.stride_tricks import sliding_window_view
from xdsl.dialects.builtin import IntegerAttr, ModuleOp
from xdsl.dialects.func import FuncOp, ReturnOp
from xdsl.ir import Operation, SSAValue

from qdialect import numerics
from qdialect.dialects.onnx_types import known_shape
from qdialect.errors import UserError
from qdialect.ir.insertion import end_of
from qdialect.ir.interface import main_of
from qdialect.upstream import tosa_dialect as tosa
from qdialect.upstream.tosa_dialect.checks import attribute_ints, element
from qdialect.upstream.tosa_dialect.types import ResizeMode

Array = npt.NDArray[Any]
DTYPES = {"i8": np.int8, "i16": np.int16, "i32": np.int32, "index": np.int64}
LIMITS = {name: np.iinfo(dtype) for name, dtype in DTYPES.items()}


def _ints(op: Operation, name: str) -> tuple[int, ...]:
    return attribute_ints(op.properties[name])


def _flag(op: Operation, name: str) -> bool:
    return bool(_number(op, name))


def _number(op: Operation, name: str) -> int:
    value = op.properties[name]
    return value.value.data if isinstance(value, IntegerAttr) else 0


def _sum32(values: Array) -> Array:
    """`values`, checked to fit in 32 bits. UserError if they do not."""
    if values.size and np.abs(values).max() > numerics.INT32_MAX:
        raise UserError("a sum does not fit in 32 bits", "report this: no pass writes such a graph")
    return values.astype(np.int32)


def _constant(op: Operation, inputs: Sequence[Array]) -> Array:
    values: Any = op.properties["values"]
    dtype = DTYPES[str(values.get_element_type())]
    return np.frombuffer(values.data.data, dtype).reshape(values.get_shape())


def _windows(image: Array, kernel: Sequence[int], strides: Sequence[int], dilations: Sequence[int]) -> Array:
    """Windows (N, H', W', C, KH, KW) of a padded image (N, H, W, C)."""
    span = [(k - 1) * d + 1 for k, d in zip(kernel, dilations, strict=True)]
    windows = sliding_window_view(image, span, (1, 2))
    return windows[:, :: strides[0], :: strides[1], :, :: dilations[0], :: dilations[1]]


def _centred(inputs: Sequence[Array]) -> tuple[Array, Array]:
    """Image and weight of a convolution minus their zero points, in f64, which holds every sum."""
    x, w, _, x_zero, w_zero = (i.astype(np.float64) for i in inputs)
    return x - x_zero, w - w_zero


def _padded(x: Array, pads: Sequence[int], value: float = 0) -> Array:
    rows = ((0, 0), (pads[0], pads[1]), (pads[2], pads[3]), (0, 0))
    return np.pad(x, rows, constant_values=value)


def _conv(op: Operation, inputs: Sequence[Array]) -> Array:
    x, w = _centred(inputs)
    windows = _windows(_padded(x, _ints(op, "pad")), w.shape[1:3], _ints(op, "stride"), _ints(op, "dilation"))
    return _sum32(np.tensordot(windows, w, ((3, 4, 5), (3, 1, 2))) + inputs[2])


def _depthwise(op: Operation, inputs: Sequence[Array]) -> Array:
    x, w = _centred(inputs)
    windows = _windows(_padded(x, _ints(op, "pad")), w.shape[:2], _ints(op, "stride"), _ints(op, "dilation"))
    sums = np.einsum("nhwckl,klcm->nhwcm", windows, w)
    return _sum32(sums.reshape(*sums.shape[:3], -1) + inputs[2])


def _spread(op: Operation, inputs: Sequence[Array]) -> Array:
    x, w = _centred(inputs)
    top, bottom, left, right = _ints(op, "out_pad")
    (n, h, wide, _), (outputs, kh, kw, _), strides = x.shape, w.shape, _ints(op, "stride")
    full = np.zeros((n, (h - 1) * strides[0] + kh, (wide - 1) * strides[1] + kw, outputs))
    for y in range(kh):
        for k in range(kw):
            part = full[:, y : y + (h - 1) * strides[0] + 1 : strides[0]]
            part[:, :, k : k + (wide - 1) * strides[1] + 1 : strides[1]] += np.tensordot(
                x, w[:, y, k], (3, 1)
            )
    inside = full[:, max(-top, 0) : full.shape[1] + min(bottom, 0)]
    inside = inside[:, :, max(-left, 0) : full.shape[2] + min(right, 0)]
    pads = [max(p, 0) for p in (top, bottom, left, right)]
    return _sum32(_padded(inside, pads) + inputs[2])


def _matmul(op: Operation, inputs: Sequence[Array]) -> Array:
    a, b, a_zero, b_zero = (i.astype(np.float64) for i in inputs)
    return _sum32((a - a_zero) @ (b - b_zero))


def _max_pool(op: Operation, inputs: Sequence[Array]) -> Array:
    x = _padded(inputs[0], _ints(op, "pad"), np.iinfo(inputs[0].dtype).min)
    return _windows(x, _ints(op, "kernel"), _ints(op, "stride"), (1, 1)).max((4, 5))


def _resize(op: Operation, inputs: Sequence[Array]) -> Array:
    """The specification's RESIZE: y = o * d + offset, in steps 1 / n."""
    x, scales, offsets, _ = inputs
    shape = known_shape(op.results[0].type)
    bilinear = getattr(op.properties["mode"], "data", None) is ResizeMode.BILINEAR
    out = x.astype(np.int64)
    for axis in (0, 1):
        n, d = (int(v) for v in scales[2 * axis : 2 * axis + 2])
        at = np.arange(shape[1 + axis]) * d + int(offsets[axis])
        below = at // n
        fraction, last = at - below * n, x.shape[1 + axis] - 1
        low, high = np.maximum(below, 0), np.minimum(below + 1, last)
        if bilinear:
            factors = fraction.reshape(-1, *[1] * (2 - axis))
            out = np.take(out, low, 1 + axis) * (n - factors) + np.take(out, high, 1 + axis) * factors
        else:
            out = np.take(out, np.where(2 * fraction >= n, high, low), 1 + axis)
    return out


def _rescale(op: Operation, inputs: Sequence[Array]) -> Array:
    x, multiplier, shift, x_zero, y_zero = inputs
    unsigned = _flag(op, "input_unsigned"), _flag(op, "output_unsigned")
    if unsigned[0]:
        x, x_zero = x.view(np.uint8), x_zero.view(np.uint8)
    name = element(op.results[0])
    limits = np.iinfo(np.uint8) if unsigned[1] else LIMITS[name]
    zero = int((y_zero.view(np.uint8) if unsigned[1] else y_zero)[0])
    many = _flag(op, "per_channel")
    factors = (multiplier, shift) if many else (multiplier[0], shift[0])
    ends = int(limits.min), int(limits.max)
    y = numerics.rescale(x, *factors, int(x_zero[0]), zero, *ends, limits.dtype, x.ndim - 1 if many else None)
    return y.view(np.int8) if unsigned[1] else y


def _shifted_product(op: Operation, inputs: Sequence[Array]) -> Array:
    a, b, shift = (i.astype(np.int64) for i in inputs)
    amount = int(shift[0])
    return _sum32((a * b + (1 << amount >> 1)) >> amount)


def _shifted(op: Operation, inputs: Sequence[Array]) -> Array:
    value, amount = (i.astype(np.int64) for i in inputs)
    half = (1 << amount >> 1) if _flag(op, "round") else 0
    return (value + half) >> amount


def _divided(op: Operation, inputs: Sequence[Array]) -> Array:
    a, b = (i.astype(np.int64) for i in inputs)
    return np.sign(a) * np.sign(b) * (np.abs(a) // np.abs(b))


def _transpose(op: Operation, inputs: Sequence[Array]) -> Array:
    return inputs[0].transpose(_ints(op, "perms"))


def _slice(op: Operation, inputs: Sequence[Array]) -> Array:
    x, starts, counts = inputs
    return x[tuple(slice(int(s), int(s + n)) for s, n in zip(starts, counts, strict=True))]


def _reduced(function: Callable[..., Array]) -> Callable[[Operation, Sequence[Array]], Array]:
    return lambda op, inputs: function(inputs[0].astype(np.int64), axis=_number(op, "axis"), keepdims=True)


RULES: dict[type[Operation], Callable[[Operation, Sequence[Array]], Array]] = {
    tosa.ConstOp: _constant,
    tosa.ConstShapeOp: _constant,
    tosa.Conv2DOp: _conv,
    tosa.DepthwiseConv2DOp: _depthwise,
    tosa.TransposeConv2DOp: _spread,
    tosa.MatMulOp: _matmul,
    tosa.MaxPool2DOp: _max_pool,
    tosa.ResizeOp: _resize,
    tosa.RescaleOp: _rescale,
    tosa.AddOp: lambda op, i: _sum32(i[0].astype(np.int64) + i[1]),
    tosa.SubOp: lambda op, i: _sum32(i[0].astype(np.int64) - i[1]),
    tosa.MulOp: _shifted_product,
    tosa.MaximumOp: lambda op, i: np.maximum(i[0], i[1]),
    tosa.MinimumOp: lambda op, i: np.minimum(i[0], i[1]),
    tosa.IntDivOp: _divided,
    tosa.LogicalLeftShiftOp: lambda op, i: (i[0].astype(np.int64) << i[1]).astype(np.int32),
    tosa.ArithmeticRightShiftOp: _shifted,
    tosa.ClzOp: lambda op, i: np.where(i[0] < 0, 0, 32 - np.frexp(i[0].astype(np.float64))[1]),
    tosa.ClampOp: lambda op, i: np.clip(i[0], _number(op, "min_val"), _number(op, "max_val")),
    tosa.TableOp: lambda op, i: i[1][i[0].astype(np.int64) + 128],
    tosa.ReduceSumOp: _reduced(np.sum),
    tosa.ReduceMaxOp: _reduced(np.max),
    tosa.ReduceMinOp: _reduced(np.min),
    tosa.IdentityOp: lambda op, i: i[0],
    tosa.ReshapeOp: lambda op, i: i[0].reshape(known_shape(op.results[0].type)),
    tosa.TransposeOp: _transpose,
    tosa.ConcatOp: lambda op, i: np.concatenate(i, _number(op, "axis")),
    tosa.SliceOp: _slice,
    tosa.PadOp: lambda op, i: np.pad(i[0], i[1].reshape(-1, 2), constant_values=i[2][0]),
}


def run_integer(module: ModuleOp, feeds: Sequence[Array]) -> list[Array]:
    """
    The outputs of a graph in the integer profile. feeds: its inputs in order, of the shapes of its arguments, bytes.

    Raises UserError for an operation that has no rule, and if a sum does not fit in 32 bits.
    """
    func: FuncOp = main_of(module)
    block = func.body.block
    values: dict[SSAValue, Array] = {}
    for argument, feed in zip(block.args, feeds, strict=True):
        values[argument] = stored_bytes(feed)
    end = end_of(block, ReturnOp)
    for op in block.ops:
        if op is not end:
            values[op.results[0]] = value_of(op, [values[v] for v in op.operands])
    return [values[value] for value in end.operands]


def stored_bytes(array: Array) -> Array:
    """An array as the profile stores it: 8-bit values signed."""
    stored = np.ascontiguousarray(array)
    return stored.view(np.int8) if stored.dtype == np.uint8 else stored


def value_of(op: Operation, inputs: Sequence[Array]) -> Array:
    """
    The result of one operation of the profile.

    Raises UserError for an operation that has no rule, and if a sum does not fit in 32 bits.
    """
    rule = RULES.get(type(op))
    if rule is None:
        raise UserError(f"{op.name} is not an operation of the integer profile", "run lower-to-tosa first")
    values = rule(op, inputs)
    if isinstance(op, tosa.ConstOp | tosa.ConstShapeOp):
        return values
    shape = known_shape(op.results[0].type)
    if values.shape != shape:
        raise UserError(f"{op.name} made {values.shape} where its type says {shape}")
    return np.ascontiguousarray(values.astype(DTYPES[element(op.results[0])]))
