"""Sums of products in linalg: operands minus zero points, initial values, bias, and requantized results."""

from __future__ import annotations

from collections.abc import Sequence
from math import prod
from typing import Any, NamedTuple

import numpy as np
import numpy.typing as npt
from xdsl.dialects import arith
from xdsl.dialects.builtin import f32, i16, i32
from xdsl.ir import Attribute, SSAValue

from qdialect import numerics
from qdialect.dialects.onnx_base import OnnxOp
from qdialect.dialects.onnx_types import BY_ATTRIBUTE, known_element, known_shape, quantized_of, uniform_of
from qdialect.dialects.quant import UniformType
from qdialect.ir.values import constant_array, real_constant
from qdialect.reasons import COMPUTED_BIAS, Blocked, required, unblocked
from qdialect.upstream.linalg.scalars import dequantized, quantized, requantized
from qdialect.upstream.linalg.site import Body, Compute, LinalgSite, Operand, loop, loops
from qdialect.upstream.site import per_tensor, upstream_type

FLOAT32_ONLY = Blocked("expressed-type", "float ops are lowered only in float32")


class Sum(NamedTuple):
    """A sum of products, i32 or f32, with its scale and the bias to add."""

    value: SSAValue
    scale: npt.NDArray[np.float32] | None
    """Scale of the sum, () or one for each output channel; None for a sum of floats."""
    bias: npt.NDArray[np.float32] | None
    """Real bias not yet added, one for each output channel; None if there is none."""
    channel: int
    """The axis of output channels."""


def is_integer(op: OnnxOp) -> bool:
    """True if a linear op multiplies integers: of 8 bits, per tensor and signed activation; else floats."""
    x, w = (quantized_of(v.type) for v in op.operands[:2])
    if x is None or w is None or x.storage.width > 8 or w.storage.width > 8 or w.blocks:
        return False
    return x.is_per_tensor and x.storage.signed


def factor(site: LinalgSite, value: SSAValue, *, integer: bool, last: bool = False) -> SSAValue | Blocked:
    """A factor of products: its stored integers, or its real values in f32."""
    tensor, type = site.operand(value, last=last), unblocked(per_tensor(value))
    if integer:
        return tensor
    if type is not None:
        return site.each([tensor], f32, lambda body, args: dequantized(body, args[0], type))
    return tensor if known_element(tensor.type) == f32 else FLOAT32_ONLY


def above_zero(site: LinalgSite, value: SSAValue, zero: SSAValue | None, *, last: bool = False) -> SSAValue:
    """Stored integers of ONNX minus one zero point, which may be computed, i16."""
    unsigned = BY_ATTRIBUTE[known_element(value.type)].numpy.startswith("u")
    x, shape = site.operand(value, last=last), site.shape(value, last=last)
    operands = [Operand(x, loops(len(shape)))]
    if zero is not None:
        operands.append(Operand(site.reshape(site.operand(zero), []), []))

    def compute(body: Body, args: Sequence[SSAValue]) -> SSAValue:
        wide = [body.do((arith.ExtUIOp if unsigned else arith.ExtSIOp)(one, i16)) for one in args[:-1]]
        return wide[0] if zero is None else body.do(arith.SubiOp(wide[0], wide[1]))

    return site.generic(operands, shape, i16, compute)


def centred_weight(array: npt.NDArray[Any], type: UniformType, axis: int) -> npt.NDArray[Any]:
    """Stored weights minus their zero points, i8 if all fit, else i16."""
    if not type.zero_points.any():
        return np.asarray(array, np.int8) if array.dtype != np.uint8 else array.astype(np.int16)
    zero = numerics.expand_parameters(type.zero_points.astype(np.int16), array.shape, axis)
    return narrow(array.astype(np.int16) - zero)


def narrow(wide: npt.NDArray[np.int16]) -> npt.NDArray[Any]:
    """Integers as i8 if all fit, else unchanged."""
    return wide.astype(np.int8) if -128 <= wide.min(initial=0) and wide.max(initial=0) <= 127 else wide


def product(integer: bool, zeros: tuple[int, int] = (0, 0)) -> Compute:
    """`sum + a * b` of floats, or of integers, widened, minus their zero points."""

    def integers(body: Body, args: Sequence[SSAValue]) -> SSAValue:
        wide: list[SSAValue] = []
        for value, zero in zip(args, zeros, strict=False):
            one = value if value.type == i32 else body.do(arith.ExtSIOp(value, i32))
            wide.append(body.do(arith.SubiOp(one, body.number(zero, i32))) if zero else one)
        return body.do(arith.AddiOp(args[2], body.do(arith.MuliOp(wide[0], wide[1]))))

    def floats(body: Body, args: Sequence[SSAValue]) -> SSAValue:
        return body.do(arith.AddfOp(args[2], body.do(arith.MulfOp(args[0], args[1]))))

    return integers if integer else floats


def start(
    site: LinalgSite, shape: Sequence[int], channel: int, element: Attribute, added: npt.NDArray[Any] | None
) -> SSAValue:
    """Initial value of a sum: zeros, or a number for each output channel."""
    if added is None or not added.any():
        return site.filled(shape, element, 0)
    dtype = np.float32 if element == f32 else np.int32
    one = site.constant(np.ascontiguousarray(added.reshape(-1), dtype))
    axes = [loop(channel)] if added.size > 1 else []
    if not axes:
        one = site.reshape(one, [])

    def own(body: Body, args: Sequence[SSAValue]) -> SSAValue:
        # IREE 3.13 elides a copy of one row and then rejects the write to the constant itself.
        is_copy = element == f32 and added.size == prod(shape)
        return body.do(arith.AddfOp(args[0], body.number(0, f32))) if is_copy else args[0]

    return site.generic([Operand(one, axes)], shape, element, own)


class Addends(NamedTuple):
    """The scale of a linear op's sums, and what is added to them."""

    scale: npt.NDArray[np.float32] | None
    """Of a step of the sums, () or one for each channel of the weight; None for sums of floats."""
    added: npt.NDArray[Any] | None
    """A number for each output channel, of the sums' type; None if there is none."""
    real: npt.NDArray[np.float32] | None
    """A real bias to add once the sums are scaled; None if there is none."""


def addends(op: OnnxOp, sums: npt.NDArray[np.int64] | None) -> Addends | Blocked:
    """
    The scale and the addends of a linear op. sums: those of the weight's integers for each output channel, the factors
    of the operand's zero point; None if they are not known, or for floats.
    """
    value, steps, real = op.input(2), None, None
    if value is not None:
        array, type = required(constant_array(value), COMPUTED_BIAS), quantized_of(value.type)
        if type is not None and type.storage.name == "i32" and is_integer(op):
            steps = array.reshape(-1).astype(np.int64)
        else:
            real = np.asarray(real_constant(value), np.float32).reshape(-1)
    if not is_integer(op):
        return Addends(None, real, None)
    x, w = uniform_of(op.operands[0].type), uniform_of(op.operands[1].type)
    if sums is not None:  # partial sums may wrap modulo 2^32, the total wraps back
        steps = (0 if steps is None else steps) - int(x.zero_point) * sums
        steps = steps.astype(np.uint32).view(np.int32)
    return Addends(numerics.bias_scale(x.scales, w.scales), steps, real)


def finished(op: OnnxOp, site: LinalgSite, sum: Sum) -> SSAValue | Blocked:
    """A sum as elements of the result: stored integers, or real values."""
    type = unblocked(per_tensor(op.results[0]))
    if type is None and known_element(op.results[0].type) != f32:
        return FLOAT32_ONLY
    scale, bias, shape = sum.scale, sum.bias, known_shape(sum.value.type)
    if type is None and scale is None:
        return sum.value
    if scale is not None and bias is None and type is not None:
        scale = np.asarray(scale / type.scales, np.float32)
    known = [numbers for numbers in (scale, bias) if numbers is not None]
    each = [numbers.reshape(-1) for numbers in known if numbers.size > 1]
    channel = [loop(sum.channel)]
    operands = [Operand(sum.value, loops(len(shape)))]
    operands += [Operand(site.constant(numbers, np.float32), channel) for numbers in each]

    def compute(body: Body, args: Sequence[SSAValue]) -> SSAValue:
        of_channels = iter(args[1:])
        numbers = [
            next(of_channels) if one.size > 1 else body.number(float(one.reshape(-1)[0]), f32)
            for one in known
        ]
        if scale is not None and bias is None and type is not None:
            return requantized(body, args[0], numbers[0], type)
        real = args[0]
        if scale is not None:
            real = body.do(arith.MulfOp(body.do(arith.SIToFPOp(real, f32)), numbers[0]))
        if bias is not None:
            real = body.do(arith.AddfOp(real, numbers[1]))
        return real if type is None else quantized(body, real, type)

    return site.generic(operands, shape, stored_element(op.results[0]), compute)


def stored_element(value: SSAValue) -> Attribute:
    """The upstream element type that stores a value's elements; the value must have one."""
    return unblocked(upstream_type(value.type)).element_type
