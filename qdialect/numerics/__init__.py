"""
The arithmetic of quantization, once: every pass, folder, verifier and test computes with these functions.

    real = scale * (stored - zero_point)

They give the numbers that ONNX defines and onnxruntime 1.31 computes: float32, round half to even, then the
zero point, then the clamp. Shapes: a parameter is an array of shape () for a whole tensor, (n,) along `axis`,
or, with `blocks`, of the rank of the tensor: one entry for each block.

`rescale` alone is another arithmetic, called *integer only*: a 32-bit multiplier and a shift, ties up. The arithmetic
of all other functions is called *as onnxruntime*. The 8-bit results that both give for equal sums differ by at most
one step. With the multipliers of `near_ties` hardly any differ; where ties are common, it rounds twice, then to even.
"""

from collections.abc import Sequence

import numpy as np
import numpy.typing as npt

from qdialect.numerics.folding import Array as Array

Blocks = Sequence[tuple[int, int]]
"""(axis, block size) pairs; an axis that is not named is one block."""

INT32_MAX = 2**31 - 1

_EXACT_FLOAT32 = 2**24
"""Float32 holds every integer up to this magnitude."""


def expand_parameters(
    parameters: npt.ArrayLike, shape: Sequence[int], axis: int | None = None, blocks: Blocks | None = None
) -> Array:
    """
    An array that broadcasts with `shape` and holds each element's parameter: a view, except that blocks
    repeat each entry (ONNX's block_size; the last block may be short).
    """
    p = np.asarray(parameters)
    if blocks:
        for block_axis, size in blocks:
            if p.shape[block_axis] > 1 and size > 1:
                p = np.repeat(p, size, block_axis)
                p = p[(slice(None),) * block_axis + (slice(shape[block_axis]),)]
        return p
    if axis is None or p.ndim == 0:
        return p
    axis = axis % len(shape)
    return p.reshape((1,) * axis + (-1,) + (1,) * (len(shape) - axis - 1))


def quantize(
    x: npt.ArrayLike,
    scale: npt.ArrayLike,
    zero_point: npt.ArrayLike,
    low: int,
    high: int,
    dtype: npt.DTypeLike,
    axis: int | None = None,
    blocks: Blocks | None = None,
) -> Array:
    """
    saturate(rint(x / scale) + zero_point) in [low, high], as `dtype`.

    ONNX QuantizeLinear. Divides (a product with 1/scale differs on 5e-6 of all values). float16 and bfloat16
    are widened to float32 first, as in onnxruntime. NaN gives `low`, infinities saturate. (onnxruntime's
    float16 kernel gives `low` for +inf too, since it overflows int32; we saturate, as ONNX says.)
    """
    x = np.asarray(x)
    scale = expand_parameters(np.asarray(scale).astype(np.float32, copy=False), x.shape, axis, blocks)
    zero_point = expand_parameters(zero_point, x.shape, axis, blocks)
    with np.errstate(over="ignore", under="ignore", divide="ignore", invalid="ignore"):
        y = np.atleast_1d(np.divide(x.astype(np.float32, copy=False), scale, dtype=np.float32))
    return _round_and_clamp(y, zero_point, low, high, dtype).reshape(
        np.broadcast_shapes(x.shape, scale.shape)
    )


def _round_and_clamp(y: Array, zero_point: Array, low: int, high: int, dtype: npt.DTypeLike) -> Array:
    """saturate(rint(y) + zero_point) as `dtype`; overwrites `y` (float32)."""
    np.rint(y, out=y)
    if max(-low, high) >= _EXACT_FLOAT32:
        y = y.astype(np.float64)  # float32 cannot hold these bounds
    if zero_point.any():
        y += zero_point.astype(y.dtype, copy=False)
    np.fmax(y, low, out=y)  # fmax and fmin drop a NaN: it becomes `low`
    np.fmin(y, high, out=y)
    return y.astype(dtype)


def dequantize(
    q: npt.ArrayLike,
    scale: npt.ArrayLike,
    zero_point: npt.ArrayLike,
    dtype: npt.DTypeLike = np.float32,
    axis: int | None = None,
    blocks: Blocks | None = None,
) -> Array:
    """
    scale * (q - zero_point): the difference in int32, the product in float32, rounded to `dtype`.

    ONNX DequantizeLinear as onnxruntime computes it, float16 included.
    """
    q = np.asarray(q)
    scale = expand_parameters(np.asarray(scale).astype(np.float32, copy=False), q.shape, axis, blocks)
    zero_point = np.asarray(zero_point)
    if zero_point.any():
        # uint32 does not fit in int32; nothing else needs more.
        wide = np.int64 if q.dtype == np.uint32 else np.int32
        zero_point = expand_parameters(zero_point.astype(wide, copy=False), q.shape, axis, blocks)
        y = np.asarray(np.subtract(q, zero_point, dtype=wide)).astype(np.float32)
    else:
        y = q.astype(np.float32)
    with np.errstate(over="ignore", under="ignore"):
        np.multiply(y, scale, out=y)
        return y.astype(dtype, copy=False)


def requantize_multiplier(x_scale: npt.ArrayLike, w_scale: npt.ArrayLike, y_scale: npt.ArrayLike) -> Array:
    """(x_scale * w_scale) / y_scale, each step in float32: onnxruntime's QLinearConv and QLinearMatMul."""
    return np.asarray(bias_scale(x_scale, w_scale) / np.asarray(y_scale, np.float32))


def requantize(
    accumulator: npt.ArrayLike,
    multiplier: npt.ArrayLike,
    zero_point: npt.ArrayLike,
    low: int,
    high: int,
    dtype: npt.DTypeLike,
    axis: int | None = None,
) -> Array:
    """
    saturate(rint(float32(accumulator) * multiplier) + zero_point) as `dtype`.

    accumulator: int32. onnxruntime's MlasRequantizeOutput; no difference in 3.6 million values. A float64 or
    fixed-point multiplier is another arithmetic.
    """
    accumulator = np.asarray(accumulator)
    multiplier = expand_parameters(np.asarray(multiplier, np.float32), accumulator.shape, axis)
    zero_point = expand_parameters(zero_point, accumulator.shape, axis)
    y = np.atleast_1d(np.multiply(accumulator.astype(np.float32), multiplier, dtype=np.float32))
    return _round_and_clamp(y, zero_point, low, high, dtype).reshape(accumulator.shape)


MIN_SHIFT, MAX_SHIFT = 2, 62
"""Bounds of a rescale's shift: TOSA 1.0, apply_scale_32."""


def rescale_factors(scale: npt.ArrayLike) -> tuple[npt.NDArray[np.int32], npt.NDArray[np.int8]]:
    """
    Multipliers in [2^30, 2^31) and shifts with multiplier / 2^shift = scale, each of the shape of `scale`.

    A float32 scale is met without error: 31 bits hold its 24. Below 2^-32 the shift ends at 62, and the multiplier is
    rounded to what remains of it. ValueError for a scale that is not positive, not finite, or above 2^28.
    """
    scale = np.asarray(scale, np.float64)
    if not (np.isfinite(scale) & (scale > 0)).all():
        raise ValueError("a rescale needs scales that are positive and finite")
    mantissa, exponent = np.frexp(scale)  # scale = mantissa * 2^exponent, mantissa in [0.5, 1)
    shift = np.minimum(31 - exponent, MAX_SHIFT)
    multiplier = np.rint(np.ldexp(mantissa, shift + exponent)).astype(np.int64)
    full = multiplier == 1 << 31
    multiplier, shift = np.where(full, 1 << 30, multiplier), np.where(full, shift - 1, shift)
    if (shift < MIN_SHIFT).any():
        raise ValueError(f"a rescale cannot multiply by {scale.max():g}")
    return np.asarray(multiplier.astype(np.int32)), np.asarray(shift.astype(np.int8))


def product_factors(factors: npt.ArrayLike) -> tuple[npt.NDArray[np.int32], int]:
    """
    Integers below 2^30 and one shift of 62 at most with integers / 2^shift = factors, for 32-bit products.

    ValueError for a factor that is not finite, or of 2^30 or more.
    """
    factors = np.asarray(factors, np.float64)
    most = float(np.abs(factors).max(initial=0.0))
    if not np.isfinite(most) or most >= 2.0**30:
        raise ValueError(f"no product of 32 bits multiplies by {most:g}")
    shift = min(30 - int(np.frexp(most)[1]), 62)
    return np.rint(np.ldexp(factors, shift)).astype(np.int32), shift


def rescale_reach(shift: npt.ArrayLike) -> int:
    """Greatest magnitude of a value that a rescale by these shifts accepts: the result then fits in 32 bits."""
    return (1 << (min(int(np.min(shift)), 32) - 1)) - 1


def rescale(
    value: npt.ArrayLike,
    multiplier: npt.ArrayLike,
    shift: npt.ArrayLike,
    input_zero_point: int,
    output_zero_point: int,
    low: int,
    high: int,
    dtype: npt.DTypeLike,
    axis: int | None = None,
) -> Array:
    """
    saturate(((value - input_zero_point) * multiplier + 2^(shift - 1) >> shift) + output_zero_point) as `dtype`.

    Integer only: TOSA 1.0's RESCALE with scale32 and SINGLE_ROUND (apply_scale_32). value: 8, 16 or 32-bit integers;
    multiplier: int32, not negative; shift: int8 in [2, 62]; both () or (n,) along `axis`. Of an int32 accumulator whose
    result is within 16 bits it differs by at most one step from `requantize`, which rounds the product to float32 first
    and ties to even. ValueError for a value beyond `rescale_reach`, whose result the standard leaves undefined.
    """
    value = np.asarray(value)
    wide = value.astype(np.int64) - input_zero_point
    multiplier = expand_parameters(np.asarray(multiplier, np.int64), value.shape, axis)
    shift = expand_parameters(np.asarray(shift, np.int64), value.shape, axis)
    bound = np.left_shift(np.int64(1), np.minimum(shift, 32) - 1)
    if ((wide < -bound) | (wide >= bound)).any():
        raise ValueError("a value is too large for the shift of its rescale")
    scaled = (wide * multiplier + np.left_shift(np.int64(1), shift - 1)) >> shift
    return np.asarray(np.clip(scaled + output_zero_point, low, high).astype(dtype))


def bias_scale(x_scale: npt.ArrayLike, w_scale: npt.ArrayLike) -> Array:
    """x_scale * w_scale in float32: the scale of a linear op's accumulator, and so of its bias; inf beyond float32."""
    with np.errstate(over="ignore"):
        return np.asarray(np.asarray(x_scale, np.float32) * np.asarray(w_scale, np.float32))


def sum_scale(x_scale: npt.ArrayLike, w_scale: npt.ArrayLike) -> Array:
    """`bias_scale` where the product is written out: the smallest normal number where it is less, for no scale is 0."""
    return np.maximum(bias_scale(x_scale, w_scale), np.finfo(np.float32).tiny)


def quantize_bias(
    bias: npt.ArrayLike, x_scale: npt.ArrayLike, w_scale: npt.ArrayLike
) -> tuple[npt.NDArray[np.int32], npt.NDArray[np.bool_]]:
    """
    rint(bias / (x_scale * w_scale)) as int32, zero point 0, and where that does not fit (or is not finite).

    The entries that do not fit are 0: widen those channels' weight scales and ask again, never clip
    (onnxruntime #21000: "> 51 % accuracy loss"). The quotient is float64: float32 cannot hold the result.
    """
    step = bias_scale(x_scale, w_scale).astype(np.float64)
    with np.errstate(over="ignore", divide="ignore", invalid="ignore"):
        y = np.rint(np.asarray(bias, np.float64) / step)
        overflow = ~(np.abs(y) <= INT32_MAX)
    return np.where(overflow, 0, y).astype(np.int32), overflow


def accumulator_bound(
    weight: npt.ArrayLike,
    x_low: int,
    x_high: int,
    x_zero_point: int,
    w_zero_point: npt.ArrayLike = 0,
    output_axis: int = 0,
) -> npt.NDArray[np.int64]:
    """
    For each index of `output_axis`, the largest |accumulator| that a linear op can reach: int64 (channels,).

    sum |w - w_zero_point| * max |x - x_zero_point|: no partial sum in any order exceeds it, so at
    most `INT32_MAX` means that int32 never wraps. weight: stored integers.
    """
    w = np.moveaxis(np.asarray(weight), output_axis, 0).reshape(np.shape(weight)[output_axis], -1)
    zero_point = np.asarray(w_zero_point).astype(w.dtype).reshape(-1, 1)
    # max - min is |w - zp|: unlike the difference, both fit the storage type, so no wide copy is made.
    above = np.maximum(w, zero_point).sum(axis=1, dtype=np.int64)
    below = np.minimum(w, zero_point).sum(axis=1, dtype=np.int64)
    reach = max(abs(x_low - x_zero_point), abs(x_high - x_zero_point))
    return (above - below) * reach


def largest_pair_sum(weight: npt.ArrayLike, x_high: int, output_axis: int = 0) -> int:
    """
    The largest |x0 * w0 + x1 * w1| over any two weights of an output and any two x in [0, x_high].

    x86's vpmaddubsw adds these in int16, saturating, before it widens: without VNNI, u8 x s8 products are exact if
    this is at most 32767, whichever way a kernel packs them. Weights of at most 64 are safe at any u8.
    """
    w = np.moveaxis(np.asarray(weight, np.int64), output_axis, 0).reshape(np.shape(weight)[output_axis], -1)
    ends = np.partition(w, (0, min(1, w.shape[1] - 1), -min(2, w.shape[1]), -1), axis=1)
    lowest, highest = ends[:, :2], ends[:, -2:]
    sums = np.maximum(-np.minimum(lowest, 0).sum(axis=1), np.maximum(highest, 0).sum(axis=1))
    return int(sums.max(initial=0)) * x_high


_OTHER_SIGN = {"int8": np.uint8, "uint8": np.int8, "int16": np.uint16, "uint16": np.int16}


def mirror(q: Array) -> Array:
    """
    Stored integers with all bits inverted: their differences to the mirrored zero point are the negated ones.

    Exact for every value, where a plain negation has none for the least i8: ~q - ~z = z - q.
    """
    return np.invert(q)


def flip_signedness(q: Array) -> Array:
    """
    The same real values in the type of the other signedness, of all its bits: the top bit is the other.

    Works on zero points as on values.
    """
    other = np.dtype(_OTHER_SIGN[q.dtype.name])
    return q.view(other) ^ np.array(1 << (q.dtype.itemsize * 8 - 1)).astype(other)


def less_zero_point(
    weight: npt.ArrayLike, zero_point: npt.ArrayLike, axis: int | None = None, blocks: Blocks | None = None
) -> tuple[npt.NDArray[np.int8], npt.NDArray[np.int16]]:
    """
    A weight of up to 8 bits minus its zero point as int8, saturated, and the excess that saturation cut off, which may
    be 128: their sum is the difference.

    zero_point: one, or one for each index of `axis` or each block.
    """
    stored = np.asarray(weight)
    shift = expand_parameters(np.asarray(zero_point, np.int16), stored.shape, axis, blocks)
    difference = stored.astype(np.int16) - shift
    low = np.clip(difference, -128, 127)
    return low.astype(np.int8), difference - low


def round_trip_is_exact(
    low: int, high: int, scale: npt.ArrayLike, zero_point: npt.ArrayLike, precision: int, largest: float
) -> bool:
    """
    Whether quantize(dequantize(q)) is q for every q in [low, high] when the real value is held in a float of
    `precision` significand bits (hidden bit included) and greatest value `largest`.

    With n = max |q - zero_point|, the product is off by 2^-precision and the float32 product and quotient by
    2^-24 each, relatively; rounding restores q if n times their sum stays below one half.
    """
    zero_point = np.asarray(zero_point, np.int64)
    reach = np.maximum(np.abs(low - zero_point), np.abs(high - zero_point))
    error = 2.0**-23 if precision >= 24 else 2.0**-precision + 2.0**-23
    return bool(
        (reach * error < 0.5).all() and (reach * np.asarray(scale, np.float64) * (1 + error) <= largest).all()
    )


def are_near(a: Array, b: Array, sizes: Array, tolerance: float) -> bool:
    """True if no elements differ by more than `tolerance` of a size, or of 1 if that is less."""
    return bool(np.all(np.abs(a - b) <= tolerance * np.maximum(np.abs(sizes), 1)))


def symmetric_scales(reach: npt.ArrayLike, levels: int) -> Array:
    """
    Float32 scales at which `levels` stands for each of `reach`, the largest magnitudes, of any shape; 1 where that is
    no normal number, as of zeros alone.
    """
    scales = (np.asarray(reach, np.float64) / levels).astype(np.float32)
    return np.where(scales < np.finfo(np.float32).tiny, np.float32(1), scales).astype(np.float32)


def rounding_ratio(weight: Array) -> float:
    """
    Signal to noise in dB, over all elements, of a weight (outputs, ..) rounded to i8 at one scale for each output.

    inf where nothing is rounded.
    """
    real = weight.reshape(weight.shape[0], -1).astype(np.float64)
    scales = symmetric_scales(np.abs(real).max(axis=1, initial=0.0, keepdims=True), 127).astype(np.float64)
    noise = float(((np.rint(real / scales) * scales - real) ** 2).sum())
    return 10 * np.log10(float((real**2).sum()) / noise) if noise else np.inf


def range_parameters(low: float, high: float, least: int, greatest: int) -> tuple[np.float32, int]:
    """
    Scale and zero point that let integers `least` to `greatest` cover the reals `low` to `high`, which hold 0.

    Signed integers (`least` < 0) cover them symmetrically, with zero point 0.
    """
    if least < 0:
        return np.float32(max(abs(low), abs(high)) / greatest), 0
    scale = np.float32((high - low) / (greatest - least))
    return scale, round(least - low / float(scale))
