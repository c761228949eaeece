"""
Operators that quantize and dequantize in one: QONNX's Quant and BipolarQuant, OpenVINO's FakeQuantize. No runtime of
ONNX has them.

    Quant         (rounded(clip(x / scale + z, low, high)) - z) * scale    bounds by bit width, `signed` and `narrow`
    BipolarQuant  sign(x) * scale, where sign(0) = 1
    FakeQuantize  rint((clip(x, low, high) - low) / step) * step + low, step = (high - low) / (levels - 1)

A cast rounds to nearest, ties to even. A Quant that rounds down or up is a cast of x moved by half a step; this gives
the next integer where x is within float32's precision of it, and the same for multiples of the scale.

Sources: QONNX's specification of its operators, OpenVINO's of its operation set.
"""

from __future__ import annotations

from collections.abc import Callable
from dataclasses import dataclass
from typing import NamedTuple

import numpy as np
from xdsl.ir import SSAValue

from qdialect.dialects.onnx_base import OnnxOp
from qdialect.dialects.quant import Storage, UniformType
from qdialect.ir.values import constant_array, rank_of
from qdialect.numerics import Array, directed, folding
from qdialect.promises.arithmetic import along
from qdialect.promises.base import Promise
from qdialect.promises.casts import EMPTY_AXIS, RUN_TIME
from qdialect.reasons import SCALE_VALUE, UNKNOWN_RANK, Blocked, required, unblocked

STORAGE_BITS = (8, 16, 32)
MAX_BITS = STORAGE_BITS[-1]
MAX_ZERO_POINT_DISTANCE = 1e-2
"""Greatest distance of a zero point from an integer, in steps: a range is written in float32."""
QONNX = ("qonnx.custom_op.general", "onnx.brevitas", "finn.custom_op.general", "qonnx", "finn", "")
"""The domain of QONNX's operators, and those that exporters and converters wrote before."""
COMPUTED_SIGNS = Blocked(
    "unlike-a-cast",
    "the values are -scale or scale, computed at run time, and no quantize gives only these two",
    "use two bits",
)
HALF_EVEN = ("ROUND", "HALF_EVEN")
"""QONNX's names of rounding to nearest, half to even."""


class FakeQuantization(NamedTuple):
    """Parameters of (clip(rint(x / scale) + zero_point, low, high) - zero_point) * scale."""

    scale: Array
    """Of a shape that broadcasts to x."""
    zero_point: float | Array
    storage: Storage
    exact: bool
    """True if a quantize of this type gives the same integers; otherwise it may round to the other side of a tie."""
    sign: bool = False
    """True if each value is one of two, -scale where x is negative and scale elsewhere."""
    factor: Array | None = None
    shift: Array | None = None
    """If given, x * factor + shift is quantized, not x; of shapes that broadcast to x."""
    result: Array | None = None
    """The scale of the real numbers that the integers stand for, if not `scale`; the zero point is 0 then."""
    integers: bool = False
    """True if the results are integers as floats, as are the weights of products around the op."""
    stored: Array | None = None
    """The integers of a constant operand, where a quantize of it would give others."""

    @property
    def stands_for(self) -> Array:
        """The scale of the results."""
        return self.scale if self.result is None else self.result


@dataclass(frozen=True)
class FakeQuantizes(Promise):
    """The op quantizes operand 0 and gives the real numbers that its integers stand for."""

    parameters: Callable[[OnnxOp], FakeQuantization | Blocked]


def uniform_type(
    storage: Storage, scale: Array, zero_point: float | Array, value: SSAValue
) -> UniformType | Blocked:
    """The type of `value` quantized with a scale and a zero point that broadcast to it."""
    zeros = np.asarray(zero_point, np.float64)
    if not scale.size or not zeros.size:
        return EMPTY_AXIS
    if not (np.isfinite(scale).all() and (scale > 0).all()):
        return SCALE_VALUE
    outside = zeros[(zeros < storage.low) | (zeros > storage.high)]
    if outside.size:
        return Blocked("invalid-parameters", f"the zero point {outside[0]:g} is outside the storage range")
    if scale.size == zeros.size == 1:
        return UniformType.per_tensor(storage, np.float32(scale.item()), int(zeros.item()))
    rank, longest = required(rank_of(value), UNKNOWN_RANK), max(scale, zeros, key=np.size)
    axis = int(np.argmax(longest.shape)) + rank - longest.ndim
    scales, zeros = along(scale, rank, axis), along(zeros, rank, axis)
    if scales is None or zeros is None:
        return Blocked("weight-axis", "the scales run along more than one axis")
    scales, zeros = np.broadcast_arrays(scales, zeros)
    return UniformType.per_axis(storage, axis, scales.astype(np.float32), zeros.astype(np.int32))


def number(value: SSAValue | None) -> float | None:
    """The value of a constant whose elements are all equal; None for others."""
    array = constant_array(value)
    same = array is not None and array.size and (array == array.reshape(-1)[0]).all()
    return float(array.reshape(-1)[0]) if array is not None and same else None


def stored_bits(bits: float, signed: bool, narrow: bool) -> Storage | Blocked:
    """The storage of integers of `bits`; narrow: without the least one, or, without a sign, the greatest."""
    width = next((w for w in STORAGE_BITS if bits <= w), None)
    if width is None or bits != int(bits) or bits < 1 + signed:
        return Blocked(
            "storage-type", f"no stored integer has {bits:g} bits{' with a sign' if signed else ''}"
        )
    low, count = (-(1 << (int(bits) - 1)) if signed else 0), 1 << int(bits)
    high = low + count - 1
    return Storage.make(width, signed, low + (narrow and signed), high - (narrow and not signed))


def _quant(op: OnnxOp) -> FakeQuantization | Blocked:
    """QONNX: operands x, scale, zero point, bit width."""
    scale, zero_point, bits = constant_array(op.input(1)), number(op.input(2)), number(op.input(3))
    if scale is None or zero_point is None or bits is None:
        return RUN_TIME
    signed = bool(op.int_attr("signed", 1))
    if bits == 1 and signed:
        return _signs(scale)
    storage = unblocked(stored_bits(bits, signed, bool(op.int_attr("narrow", 0))))
    if not zero_point.is_integer():  # nor is infinity
        return Blocked("invalid-parameters", f"the zero point {zero_point:g} is outside the storage range")
    # An offset in front of the rounding may itself round, and an odd one turns ties around.
    nearest = FakeQuantization(scale.astype(np.float32), zero_point, storage, exact=zero_point == 0)
    mode = op.str_attr("rounding_mode", "ROUND").upper()
    return nearest if mode in HALF_EVEN else _rounded(op, nearest, zero_point, mode)


def _rounded(
    op: OnnxOp, nearest: FakeQuantization, zero_point: float, mode: str
) -> FakeQuantization | Blocked:
    """The quantization of a Quant that does not round to nearest, ties to even, as `nearest` does."""
    other = Blocked(
        "unlike-a-cast",
        f"it rounds by {mode}, a cast to nearest, half to even",
        "quantize with rounding_mode ROUND",
    )
    rounding, storage = required(directed.ROUNDINGS.get(mode), other), nearest.storage
    array = constant_array(op.operands[0])
    if array is not None and not np.isnan(array.astype(np.float32)).any():
        stored = directed.rounded(array, nearest.scale, zero_point, storage.low, storage.high, rounding)
        return nearest._replace(exact=True, stored=stored)
    move = required(rounding.signed if storage.low < 0 else rounding.unsigned, other)
    largest = max(abs(storage.low), abs(storage.high))
    return nearest._replace(exact=False, shift=directed.moved(move, nearest.scale, largest))


def _signs(scale: Array) -> FakeQuantization:
    return FakeQuantization(scale.astype(np.float32), 0, Storage.make(8, True, -1, 1), exact=True, sign=True)


def _bipolar(op: OnnxOp) -> FakeQuantization | Blocked:
    """QONNX: operands x, scale."""
    return _signs(required(constant_array(op.input(1)), RUN_TIME))


def _fake_quantize(op: OnnxOp) -> FakeQuantization | Blocked:
    """OpenVINO: operands x, least and greatest input, least and greatest output."""
    ranges = (required(constant_array(op.input(k)), RUN_TIME) for k in range(1, 5))
    least, greatest, lower, upper = ranges
    if not (np.array_equal(least, lower) and np.array_equal(greatest, upper)):
        return Blocked("unlike-a-cast", "its input and output ranges differ, a cast has one range")
    levels = op.int_attr("levels", 0)
    scale, zeros = folding.steps_of_range(least, greatest, levels)
    zero_point = np.rint(zeros.reshape(-1)[0]) if zeros.size else 0.0
    known = 1 < levels <= 1 << STORAGE_BITS[1] and bool(np.isfinite(zeros).all())
    if not known or not (np.abs(zeros - zero_point) <= MAX_ZERO_POINT_DISTANCE).all():
        return Blocked(
            "unlike-a-cast", "0 lies between two steps of the range, or at different ones by channel"
        )
    width = STORAGE_BITS[0] if levels <= 1 << STORAGE_BITS[0] else STORAGE_BITS[1]
    is_middle = zero_point in (levels // 2, (levels - 1) // 2)  # weights, and activations of both signs
    signed = is_middle and levels - zero_point <= 1 << (width - 1)
    low = int(-zero_point) if signed else 0
    storage = Storage.make(width, signed, low, low + levels - 1)
    return FakeQuantization(scale, 0.0 if signed else float(zero_point), storage, exact=False)


FAKE_QUANTIZE: dict[tuple[str, str], FakeQuantizes] = {
    **{(domain, "Quant"): FakeQuantizes(_quant) for domain in QONNX},
    **{(domain, "IntQuant"): FakeQuantizes(_quant) for domain in QONNX},
    **{(domain, "BipolarQuant"): FakeQuantizes(_bipolar) for domain in QONNX},
    **{(domain, "FakeQuantize"): FakeQuantizes(_fake_quantize) for domain in ("org.openvinotoolkit", "")},
}
