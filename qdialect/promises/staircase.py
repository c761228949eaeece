"""
Operators that count thresholds, or shift and round sums: FINN's MultiThreshold, Deeploy's RequantShift, QONNX's Trunc.

    MultiThreshold  out_scale * (number of thresholds t with x >= t) + out_bias      the thresholds of each channel
    RequantShift    clip(floor((x * mul + add) / div + 1/2), low, high)              x holds integers
    Trunc           rounded(rint(x / scale) / 2^bits) * out_scale                    fewer bits of quantized numbers

Sources: qonnx's MultiThreshold and Trunc; Deeploy's kernels, whose tests state results.
"""

from __future__ import annotations

from collections.abc import Sequence

import numpy as np
import numpy.typing as npt
from xdsl.dialects.builtin import DenseArrayBase, FloatAttr, IntegerAttr
from xdsl.ir import SSAValue

from qdialect.dialects.onnx_attributes import numbers
from qdialect.dialects.onnx_base import OnnxOp
from qdialect.dialects.onnx_tensor import TensorAttr
from qdialect.dialects.onnx_types import DYNAMIC, quantized_of, shape_of
from qdialect.dialects.quant import DequantizeOp, Storage
from qdialect.ir.values import constant_array
from qdialect.numerics import staircase
from qdialect.promises.affine import Homogeneous
from qdialect.promises.base import Commutes
from qdialect.promises.casts import RUN_TIME
from qdialect.promises.fake_quantize import (
    COMPUTED_SIGNS,
    QONNX,
    STORAGE_BITS,
    FakeQuantization,
    FakeQuantizes,
    number,
)
from qdialect.promises.integral import holds_integers, is_integral
from qdialect.reasons import SCALE_VALUE, UNKNOWN_RANK, Blocked, answer, required, unblocked

UNEQUAL = Blocked(
    "unlike-a-cast",
    "its thresholds are not equally spaced, the steps of a cast are",
    "quantize with equal steps",
)
BETWEEN = Blocked("unlike-a-cast", "0 is not one of its results, or not of all channels")
UNSIGNED = Blocked("storage-type", "whether the truncated integers have a sign is not known")
MAX_STEPS = 1 << 16
"""Greatest number of thresholds, or of levels, of one channel."""
MIN_SCALE, MAX_SCALE = float(np.finfo(np.float32).tiny), float(np.finfo(np.float32).max)
"""Scales that float32 holds in full precision; those of Trunc may be float64 constants."""


def attribute_numbers(op: OnnxOp, name: str) -> npt.NDArray[np.float64] | None:
    """A numeric attribute as an array, whether INT, FLOAT, a list of them or a TENSOR; None if it is absent."""
    match op.attribute(name):
        case IntegerAttr() | FloatAttr() as one:
            return np.asarray(one.value.data, np.float64)
        case DenseArrayBase() as several:
            return np.asarray(numbers(several), np.float64)
        case TensorAttr() as tensor:
            return tensor.array().astype(np.float64)
        case _:
            return None


def _attribute_number(op: OnnxOp, *names: str) -> float | None:
    """The first of several attributes that is one number; None if there is none."""
    for name in names:
        array = attribute_numbers(op, name)
        if array is not None and array.size == 1:
            return float(array.reshape(()))
    return None


def _storage(low: int, high: int) -> Storage | Blocked:
    """The narrowest integers from low to high, around 0."""
    for width in STORAGE_BITS[:2]:
        least = -(1 << (width - 1)) if low < 0 else 0
        if least <= low <= 0 <= high < least + (1 << width) and low < high:
            return Storage.make(width, low < 0, low, high)
    if low > 0 or high < 0:
        return BETWEEN
    return Blocked("storage-type", f"no 8-bit or 16-bit integers hold [{low}, {high}]")


def _stated(
    steps: staircase.Steps, scale: float, shape: Sequence[int], *, exact: bool, integers: bool
) -> FakeQuantization | Blocked:
    """The quantization of these steps, whose results stand for multiples of `scale`, channels laid out as `shape`."""
    storage = unblocked(_storage(steps.low, steps.high))
    result = np.asarray(scale, np.float32)
    if steps.scale is not None:
        own = np.asarray(steps.scale)
        return FakeQuantization(own, 0.0, storage, exact, result=result, integers=integers)
    factor, shift = (array.reshape(shape if array.size > 1 else ()) for array in (steps.factor, steps.shift))
    one = np.asarray(np.float32(1))
    return FakeQuantization(
        one, 0.0, storage, exact, factor=factor, shift=shift, result=result, integers=integers
    )


# --- MultiThreshold ---


def _channel_axis(op: OnnxOp, shape: Sequence[int], channels: int) -> int | Blocked:
    """
    The axis of the thresholds' channels in an operand of this shape: the last of NHWC, the second of images, the last
    of other ranks.
    """
    if op.str_attr("data_layout", "NCHW").endswith("C"):
        return len(shape) - 1
    axis = 1 if len(shape) in (2, 4) else len(shape) - 1
    if len(shape) == 3 and shape[1] == channels:  # versions differ
        if shape[-1] == channels:
            return Blocked("unknown-shape", "its thresholds may run along either of two axes")
        axis = 1
    return axis


def _multi_threshold(op: OnnxOp) -> FakeQuantization | Blocked:
    thresholds = required(constant_array(op.input(1)), RUN_TIME)
    scale, bias = op.float_attr("out_scale", 1.0), op.float_attr("out_bias", 0.0)
    if thresholds.ndim != 2 or not 0 < thresholds.shape[1] < MAX_STEPS or not thresholds.shape[0]:
        return Blocked("invalid-op", "its thresholds are not a row for each channel")
    if not (MIN_SCALE <= scale <= MAX_SCALE and np.isfinite(bias)):
        return SCALE_VALUE
    rows, zero = np.sort(thresholds.astype(np.float32), axis=1), -bias / scale
    rows = rows[:1] if (rows == rows[0]).all() else rows
    if abs(zero) > MAX_STEPS:
        return BETWEEN
    low, count = -int(np.rint(zero)), rows.shape[1]
    if abs(low + zero) > 1e-5:
        return COMPUTED_SIGNS if count == 1 and 0 < zero < 1 else BETWEEN
    integers = holds_integers(op.operands[0])
    lines = required(staircase.lines_of(rows, integers=integers), UNEQUAL)
    steps = staircase.steps_along(lines, low, low + count)
    levels = np.arange(count + 1, dtype=np.float32)
    as_stated = np.array_equal(
        np.float32(scale) * levels + np.float32(bias), np.float32(scale) * (levels + low)
    )
    shape: tuple[int, ...] = ()
    if len(rows) > 1:
        sizes = required(shape_of(op.operands[0].type), UNKNOWN_RANK)
        axis = unblocked(_channel_axis(op, sizes, len(rows)))
        shape = (-1, *[1] * (len(sizes) - axis - 1))
        if sizes[axis] not in (DYNAMIC, len(rows)):
            return Blocked(
                "invalid-parameters", f"{len(rows)} rows of thresholds for an axis of {sizes[axis]}"
            )
    exact = as_stated and staircase.are_equal(steps, rows, integers=integers)
    return _stated(steps, scale, shape, exact=exact, integers=is_integral(np.asarray(scale)))


# --- RequantShift ---


def _along_channels(op: OnnxOp, shape: tuple[int, ...]) -> tuple[int, ...] | Blocked:
    """
    A shape with at most one axis of more than one number, as it broadcasts to the operand. If it does not, its numbers
    are those of the channels, as Deeploy's kernels have it for rows of images: 16x1x1 for 1x16x32.
    """
    size = max(shape, default=1)
    if size == 1:
        return ()
    sizes = required(shape_of(op.operands[0].type), UNKNOWN_RANK)
    axis = len(sizes) - len(shape) + shape.index(size)
    if axis < 0 or sizes[axis] not in (DYNAMIC, size):
        axis = 1
    if len(sizes) < 2 or sizes[axis] not in (DYNAMIC, size):
        return Blocked("invalid-parameters", f"mul has {size} numbers, no axis of the operand as many")
    return (-1, *[1] * (len(sizes) - axis - 1))


def _requant_shift(op: OnnxOp) -> FakeQuantization | Blocked:
    mul, add = (required(constant_array(op.input(k)), RUN_TIME) for k in (1, 2))
    divisor, levels = _attribute_number(op, "div", "D"), _attribute_number(op, "n_levels_out", "n_levels")
    signed = _attribute_number(op, "signed")
    if divisor is None or levels is None or signed is None:
        return Blocked(
            "invalid-parameters", "div, n_levels or signed is not stated as one number", "check the model"
        )
    if not (is_integral(mul) and is_integral(add) and divisor >= 1 and is_integral(np.asarray(divisor))):
        return Blocked("invalid-parameters", "mul, add or div is not an integer", "check the model")
    if not mul.size or not add.size or not 1 < levels <= MAX_STEPS or levels != int(levels):
        return Blocked("storage-type", f"no stored integer has {levels:g} levels")
    low = -(int(levels) // 2) if signed else 0
    shape = np.broadcast_shapes(mul.shape, add.shape)
    if sum(size > 1 for size in shape) > 1:
        return Blocked("weight-axis", "the scales run along more than one axis")
    shape = unblocked(_along_channels(op, shape))
    size = max(mul.size, add.size)
    wide, much = (np.broadcast_to(a.reshape(-1), (size,)).astype(np.int64) for a in (mul, add))
    if max(np.abs(wide).max(), np.abs(much).max(), divisor) > 1 << 31:
        return Blocked("storage-type", "mul, add or div has more than 32 bits")
    steps = staircase.steps_of_shift(wide, much, int(divisor), low, low + int(levels) - 1)
    exact = staircase.is_shift(steps, wide, much, int(divisor))
    return _stated(steps, 1.0, shape, exact=exact, integers=True)


# --- Trunc ---


def _has_sign(value: SSAValue) -> bool | None:
    """Whether quantized numbers, moved or averaged since, have a sign; None if they are not known to be quantized."""
    while True:
        op = value.owner
        if isinstance(op, DequantizeOp):
            type = quantized_of(op.operands[0].type)
            return None if type is None else bool((type.storage.low < type.zero_points).any())
        if not isinstance(op, OnnxOp):
            return None
        if (quantizes := op.get_trait(FakeQuantizes)) is not None:
            stated = answer(quantizes.parameters, op)
            return (
                None
                if isinstance(stated, Blocked)
                else bool((stated.storage.low < np.asarray(stated.zero_point)).any())
            )
        moves = op.get_trait(Commutes)
        if moves is None and op.get_trait(Homogeneous) is None:
            return None
        value = op.operands[0] if moves is None else moves.operand_values(op)[0]


def _trunc(op: OnnxOp) -> FakeQuantization | Blocked:
    """
    Operands x, scale, zero point, bits of x and of the result; since version 2 the result's scale and zero point are in
    front of the latter, and the result is clamped.
    """
    clamps = op.input(6) is not None
    places = (1, 2, 3, 6) if clamps else (1, 2, 3, 4)
    scale, zero, wide, narrow = (required(number(op.input(k)), RUN_TIME) for k in places)
    result = required(number(op.input(4)), RUN_TIME) if clamps else scale
    mode = op.str_attr("rounding_mode", "FLOOR").upper()
    if mode not in ("FLOOR", "CEIL", "ROUND", "HALF_EVEN"):
        return Blocked("unlike-a-cast", f"it rounds by {mode}", "truncate with rounding_mode FLOOR")
    if zero:
        return Blocked("invalid-parameters", f"its zero point {zero:g} is not truncated with the integers")
    if not all(MIN_SCALE <= one <= MAX_SCALE for one in (scale, result)):
        return SCALE_VALUE
    stated = _attribute_number(op, "signed")
    signed = required(_has_sign(op.operands[0]) if stated is None else bool(stated), UNSIGNED)
    whole = all(bits.is_integer() and 1 <= bits <= 16 for bits in (wide, narrow))
    bits = np.rint(np.log2(result / scale)) if clamps else wide - narrow
    if not whole or not 0 <= bits < 16:
        return Blocked("storage-type", f"{wide:g} bits are not truncated to {narrow:g}")
    steps, exact = staircase.truncation(
        scale, int(bits), int(wide), int(narrow), mode=mode, signed=signed,
        narrow_range=bool(op.int_attr("narrow", 0)), clamps=clamps,
    )  # fmt: skip
    return _stated(steps, result, (), exact=exact, integers=False)


STAIRCASES: dict[tuple[str, str], FakeQuantizes] = {
    **{(domain, "MultiThreshold"): FakeQuantizes(_multi_threshold) for domain in QONNX},
    **{(domain, "Trunc"): FakeQuantizes(_trunc) for domain in QONNX},
    **{
        (domain, "RequantShift"): FakeQuantizes(_requant_shift)
        for domain in ("", "PACTOps", "ai.onnx.contrib")
    },
}
