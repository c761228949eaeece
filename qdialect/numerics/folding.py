"""Folding a factor and a shift for each channel into the weight and the bias of a linear op."""

from collections.abc import Sequence
from typing import Any, NamedTuple

import numpy as np
import numpy.typing as npt

Array = npt.NDArray[Any]

_SMALLEST_NORMAL = float(np.finfo(np.float32).tiny)
MAX_FOLDED_BIAS = 2**30
"""A bias of more accumulator steps than this gets a wider weight scale; TFLite's kBiasMax is the same."""


class FoldedWeight(NamedTuple):
    """Stored integers, scales and zero points of a weight with a factor folded in."""

    stored: Array
    """The argument `stored` itself if no integer changed."""
    scales: npt.NDArray[np.float32]
    zero_points: npt.NDArray[np.int32]
    clamped: npt.NDArray[np.bool_]
    """Channels in which an integer had no negative in the storage type and was clamped."""


def _scaled(
    scales: npt.NDArray[np.float32], factor: Array
) -> tuple[npt.NDArray[np.float32], npt.NDArray[np.bool_]]:
    """Scales times a factor, and where that is no normal float32 number: there they stay."""
    with np.errstate(over="ignore", under="ignore"):
        product = (scales * factor).astype(np.float32)
    dead = product < _SMALLEST_NORMAL
    return np.where(dead, scales, product).astype(np.float32), dead


def _negated(q: Array, zero: int, low: int, high: int, *, keep_zero_points: bool) -> tuple[Array, int, bool]:
    """The integers and the zero point that stand for the negative of one channel, and whether one was clamped."""
    mirrored = 2 * zero - q.astype(np.int32)
    fits = mirrored.min(initial=low) >= low and mirrored.max(initial=low) <= high
    if fits or (keep_zero_points and not zero):
        return np.clip(mirrored, low, high).astype(q.dtype), zero, not fits
    return (low + high - q.astype(np.int32)).astype(q.dtype), low + high - zero, False


def fold_affine_weight(
    stored: Array,
    scales: npt.ArrayLike,
    zero_points: npt.ArrayLike,
    factor: npt.ArrayLike,
    axis: int,
    low: int,
    high: int,
    *,
    keep_zero_points: bool = False,
) -> FoldedWeight:
    """
    The weight whose real values are `factor` times as large, along `axis`; scales stay positive.

    factor: float64, () or (channels,); parameters: () or (channels,); results have the longer shape. A channel is

    - scaled: scale * |factor| in float64, rounded to float32 once: at most 2^-24 off, no integer changes;
    - negated if the factor is negative: 2 * zero_point - q. An integer without a negative (-128 at zero point 0)
      takes the whole channel to low + high - q at zero point low + high - zero_point, for i8 the bitwise not:
      every value exact. With `keep_zero_points` a zero point of 0 stays: the integer is clamped, the channel reported;
    - zeroed, at its old scale, where the product is below the normal float32 numbers, a factor of 0 above all: a
      scale must be positive, and the dropped factor is less than 2^-126 a step.

    A product beyond float32 gives an infinite scale, which the caller must refuse.
    """
    factor = np.asarray(factor, np.float64)
    shape = np.broadcast_shapes(factor.shape, np.shape(scales))
    zeros = np.array(np.broadcast_to(np.asarray(zero_points, np.int32), shape))
    scales, dead = _scaled(np.broadcast_to(np.asarray(scales, np.float32), shape), np.abs(factor))
    negative = np.broadcast_to(factor < 0, shape) & ~dead
    clamped = np.zeros(shape, np.bool_)
    if dead.any() or negative.any():
        stored = np.array(stored)
        channels = np.moveaxis(stored, axis, 0) if shape else stored[None]
        for c in np.flatnonzero(dead):
            channels[c] = zeros.flat[c]
        for c in np.flatnonzero(negative):
            turned = _negated(channels[c], int(zeros.flat[c]), low, high, keep_zero_points=keep_zero_points)
            channels[c], zeros.flat[c], clamped.flat[c] = turned
    return FoldedWeight(stored, scales, zeros, clamped)


def fold_affine_bias(factor: npt.ArrayLike, shift: npt.ArrayLike, bias: npt.ArrayLike = 0.0) -> Array:
    """factor * bias + shift in float64; the caller rounds it once, to the type that it is kept in."""
    return np.asarray(factor, np.float64) * np.asarray(bias, np.float64) + np.asarray(shift, np.float64)


def fold_in_front(
    weight: Array,
    factor: npt.ArrayLike,
    shift: npt.ArrayLike,
    bias: Array | None,
    axis: int,
    alpha: float = 1.0,
) -> tuple[Array, npt.NDArray[np.float64]]:
    """
    weight * factor in the weight's type, and the bias, (channels,), that the shift of each input becomes.

    factor, shift: broadcast against the weight, whose output channels are `axis`: a channel gains alpha times its sum
    of weight * shift, in float64. bias: () or (channels,), a further summand; None if there is none.
    """
    real = weight.astype(np.float64)
    others = tuple(k for k in range(weight.ndim) if k != axis)
    gained = (real * np.asarray(shift, np.float64)).sum(axis=others) * alpha
    return (real * np.asarray(factor, np.float64)).astype(
        weight.dtype
    ), gained if bias is None else gained + bias


def shift_in_front(factor: Array, shift: Array, dtype: npt.DTypeLike) -> Array:
    """shift / factor in `dtype`: x + this, times the factor, is x * factor + shift. No factor is zero."""
    return (shift / factor).astype(dtype)


def divided_scales(scales: Array, factor: Array) -> npt.NDArray[np.float32]:
    """scale / factor in float32; infinite where that is beyond it, which the caller must refuse."""
    with np.errstate(over="ignore"):
        return (scales / factor).astype(np.float32)


class WidenedWeight(NamedTuple):
    """A weight some of whose channels have a larger scale, so that their bias fits."""

    stored: Array
    scales: npt.NDArray[np.float32]
    moved: npt.NDArray[np.float64]
    """Sum of |change of the real weights| of each channel."""


def widen_for_bias(
    stored: Array,
    scales: npt.ArrayLike,
    zero_points: npt.ArrayLike,
    bias: npt.ArrayLike,
    x_scale: npt.ArrayLike,
    which: npt.ArrayLike,
    axis: int,
    low: int,
    high: int,
) -> WidenedWeight:
    """
    Requantize the channels `which` (bool, (channels,)) so that |bias| is at most `MAX_FOLDED_BIAS` accumulator steps.

    The new scale is |bias| / (x_scale * 2^30), a little more; zero points stay. bias: real, (channels,); scales and
    zero points: () or (channels,). A weight moves by at most half its new scale, so n of them times |x| <= r steps
    move the result by at most n * r / 2^31 of the bias: 8-bit sums of 800 products stay below 1e-4 of it.
    """
    bias, which = np.asarray(bias, np.float64), np.asarray(which)
    old = np.array(np.broadcast_to(np.asarray(scales, np.float32), bias.shape))
    zeros = np.broadcast_to(np.asarray(zero_points, np.int64), bias.shape)
    needed = np.abs(bias) / (float(np.asarray(x_scale)) * MAX_FOLDED_BIAS) * (1 + 2.0**-20)
    new = np.where(which, np.maximum(needed, _SMALLEST_NORMAL), old).astype(np.float32)
    moved = np.zeros(bias.shape)
    result = np.array(stored)
    channels = np.moveaxis(result, axis, 0)
    for c in np.flatnonzero(which):
        real = (channels[c].astype(np.float64) - zeros[c]) * old[c]
        steps = np.clip(np.rint(real / new[c]) + zeros[c], low, high)
        moved[c] = np.abs(real - (steps - zeros[c]) * new[c]).sum()
        channels[c] = steps.astype(result.dtype)
    return WidenedWeight(result, new, moved)


FINE_BIAS = 2**20
"""Accumulator steps that stand for a bias where its scale is free: float32's precision, and room for more in int32."""


def scales_for_bias(
    bias: npt.ArrayLike, x_scale: npt.ArrayLike, w_scale: npt.ArrayLike, which: npt.NDArray[np.bool_]
) -> npt.NDArray[np.float32]:
    """
    Weight scales, (channels,), under which each bias of the channels `which` is `FINE_BIAS` accumulator steps.

    For channels whose weights are all zero: their scale multiplies nothing but the bias. bias: real, (channels,);
    w_scale: () or (channels,), kept elsewhere. x_scale * w_scale stays a normal float32 number.
    """
    bias, x = np.abs(np.asarray(bias, np.float64)), float(np.asarray(x_scale))
    needed = np.maximum(bias / (x * FINE_BIAS), _SMALLEST_NORMAL * max(2.0, 2 / x))
    old = np.broadcast_to(np.asarray(w_scale, np.float32), bias.shape)
    return np.where(which, np.minimum(needed, old), old).astype(np.float32)


MAX_FINE_WEIGHT = 63
"""Greatest distance from its zero point of a weight in finer steps: 7 bits, as processors without VNNI want."""


class FinerWeight(NamedTuple):
    """Weights with steps 2^-k times as large, which represent the same real numbers."""

    stored: npt.NDArray[np.int32]
    scales: npt.NDArray[np.float32]


def finer_weight(
    stored: Array,
    scales: Array,
    zero_points: Array,
    which: npt.NDArray[np.bool_],
    axis: int | None,
    signed: bool = True,
) -> FinerWeight:
    """
    Weights of few bits in the finest steps, scale * 2^-k, with which they lie within `MAX_FINE_WEIGHT` of their zero
    points, and in 8 bits, `signed` or not.

    `axis` is that of the channels if scales, zero points and `which`, the channels that change, are (channels,): each
    has its own k then; None if they are (). Channels of zeros alone, and scales next to float32's least, are kept.
    """
    across = () if axis is None else (-1, *(1 for _ in stored.shape[axis + 1 :]))
    zeros = zero_points.reshape(across)
    distance = stored.astype(np.int32) - zeros.astype(np.int32)
    others = None if axis is None else tuple(k for k in range(stored.ndim) if k != axis)
    largest = np.abs(distance).max(axis=others, initial=0)
    least, greatest = (-128, 127) if signed else (0, 255)
    above = np.minimum(greatest - zero_points.astype(np.int32), MAX_FINE_WEIGHT)
    below = np.minimum(zero_points.astype(np.int32) - least, MAX_FINE_WEIGHT)
    sides = (above, distance.max(axis=others, initial=0)), (below, -distance.min(axis=others, initial=0))
    times = np.minimum(*(np.where(far > 0, free / np.maximum(far, 1), np.inf) for free, far in sides))
    finest = np.log2(scales) - np.log2(_SMALLEST_NORMAL)
    room = np.minimum(np.log2(np.maximum(times, 1)), finest)
    factors = np.where(which & (largest > 0), np.exp2(np.maximum(np.floor(room), 0)), 1)
    finer = distance * factors.reshape(across).astype(np.int32) + zeros
    return FinerWeight(finer.astype(np.int32), (scales / factors).astype(np.float32))


def steps_of_range(least: Array, greatest: Array, levels: int) -> tuple[Array, Array]:
    """
    Scale and real zero point of `levels` equally spaced numbers from `least` to `greatest`: (greatest - least) /
    (levels - 1) and -least / scale, float32; not finite for an empty range or one level.
    """
    with np.errstate(all="ignore"):
        scale = ((greatest - least) / np.float32(levels - 1)).astype(np.float32)
        return scale, -least / scale


def steps_below(threshold: Array, bits: int) -> Array:
    """threshold / 2^bits, float32: the scale of integers below 2^bits that stand for numbers below a threshold."""
    return (threshold / np.float32(2.0**bits)).astype(np.float32)


def steps_around_zero(least: Array, greatest: Array, levels: int) -> tuple[Array, Array]:
    """
    Scale and integer zero point of `levels` equally spaced numbers from `least` to `greatest`, a range that is extended
    to 0 and moved by less than half a step, so that 0 is one of them.
    """
    scale, zeros = steps_of_range(np.minimum(least, 0), np.maximum(greatest, 0), levels)
    return scale, np.rint(zeros)


def signs(array: Array) -> npt.NDArray[np.int8]:
    """-1 where an element is negative, else 1: zero counts as positive, as QONNX's BipolarQuant has it."""
    return np.where(array >= 0, np.int8(1), np.int8(-1))


def is_power_of_two(factors: npt.ArrayLike) -> bool:
    """True if every factor is 2**k and normal, as is its inverse: x * factor == x / (1 / factor), bit for bit."""
    array = np.abs(np.asarray(factors, np.float32))
    mantissas, exponents = np.frexp(array)
    return bool(np.all((mantissas == 0.5) & (np.abs(exponents) < 126)))


def near_scale(scale: Array, other: Array) -> Array:
    """
    `other` if each of its float32 numbers is that of `scale` or next to it, else `scale`, which is 1 / m rounded.

    Then x / other is as near to x * m, since m may be 1 / other rounded. Both have one element, or one shape.
    """
    if other.size == scale.size == 1:
        other = other.reshape(scale.shape)
    if other.shape != scale.shape or other.dtype != np.float32 or not np.isfinite(scale).all():
        return scale
    return other if bool(np.all(np.abs(other - scale) <= np.spacing(np.abs(scale)))) else scale


def shifted_zero_points(zero_points: Array, shift: Array, scales: Array) -> Array:
    """Zero points that also add `shift` (real) before rounding: zero_point + rint(shift / scale), not clamped."""
    return zero_points + np.rint(shift / scales)


def channel_as_weight(factor: npt.ArrayLike) -> tuple[npt.NDArray[np.int8], npt.NDArray[np.float32]]:
    """
    A factor for each channel as an int8 weight of +-127 and its scales, both (channels,).

    127 * scale is the factor to within 2^-23: all of its bits are in the scale, none lost to the 8-bit grid. A factor
    too small for a normal float32 scale becomes 0 at scale 1.
    """
    factor = np.asarray(factor, np.float64)
    scales = (np.abs(factor) / 127).astype(np.float32)
    dead = scales < _SMALLEST_NORMAL
    stored = np.where(dead, 0, np.where(factor < 0, -127, 127)).astype(np.int8)
    return stored, np.where(dead, np.float32(1), scales).astype(np.float32)


def sum_of_kernels(
    kernels: Sequence[Array], firsts: Sequence[Sequence[int]], sizes: Sequence[int]
) -> npt.NDArray[np.float64]:
    """
    Kernels over one grid, each (outputs, inputs, *its sizes), in float64: added where they lie on each other.

    firsts: where on the grid of `sizes` the first element of each kernel lies.
    """
    total = np.zeros((*kernels[0].shape[:2], *sizes), np.float64)
    for kernel, first in zip(kernels, firsts, strict=True):
        place = tuple(slice(a, a + size) for a, size in zip(first, kernel.shape[2:], strict=True))
        total[:, :, *place] += kernel
    return total


def channels_by_themselves(factor: npt.ArrayLike, channels: int, groups: int) -> npt.NDArray[np.float64]:
    """A factor, () or (channels,), as the weight (channels, channels / groups) of a product in groups."""
    inputs = channels // groups
    weight = np.zeros((channels, inputs))
    weight[np.arange(channels), np.arange(channels) % inputs] = factor
    return weight
