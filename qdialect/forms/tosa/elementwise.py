"""
What is computed element by element.

A sum, difference or greatest of two is one of i32 in steps 2^-k of the result's, k as large as 32 bits allow, so that
what is lost by the first rescales does not count; a product is one of i32; a clamp is one of the stored integers.
"""

from __future__ import annotations

from collections.abc import Callable, Sequence
from functools import partial, reduce
from typing import Any

import numpy as np
import numpy.typing as npt
from xdsl.dialects.builtin import i8
from xdsl.ir import Operation, SSAValue

from qdialect import numerics
from qdialect.dialects import tosa
from qdialect.dialects.onnx_base import OnnxOp
from qdialect.dialects.onnx_types import known_shape, quantized_of
from qdialect.dialects.quant import UniformType
from qdialect.forms.tosa.site import FLOAT, HIGH, TosaForm, TosaSite, activations, takes
from qdialect.forms.upstream import TO_LAST
from qdialect.ir.values import constant_array, real_constant
from qdialect.promises.monotone import clip_bounds, stored_bounds
from qdialect.reasons import COMPUTED_BOUND, Blocked

Bounds = Callable[[OnnxOp, UniformType], "tuple[int, int] | Blocked"]
"""The least and greatest stored integer of a clamp, from the op and its result's type."""
FINEST = 20
"""Bits below a step: 255 of them are far from 32 bits, and their sums too."""
REACH = 255
"""The farthest that i8 is from its zero point."""
COARSE = Blocked("scale-ratio", "an operand's scale is too far above the result's for sums in 32 bits")


class Operands:
    """Operands of one rank, in the layout of those that are as large as the result."""

    def __init__(self, op: OnnxOp, site: TosaSite, values: Sequence[SSAValue]):
        shape = known_shape(op.results[0].type)
        whole = [v for v in values if known_shape(v.type) == shape]
        self.last = bool(whole) and len(shape) == len(TO_LAST) and site.alike(*whole)[1]
        self._rank = len(shape)
        self.tensors = [self._tensor(site, v, self._rank) for v in values]
        self.constants = [self.constant(v) for v in values]

    def _shape(self, value: SSAValue, rank: int) -> tuple[int, ...]:
        own = known_shape(value.type)
        return (1,) * (rank - len(own)) + own

    def _tensor(self, site: TosaSite, value: SSAValue, rank: int) -> SSAValue:
        full = self._shape(value, rank)
        if len(known_shape(value.type)) == rank:
            return site.operand(value, last=self.last)
        tensor = site.reshape(site.operand(value), full)
        return site.transpose(tensor, TO_LAST) if self.last else tensor

    def constant(self, value: SSAValue) -> npt.NDArray[Any] | None:
        """What a constant holds, of that rank and layout; None if the value is computed."""
        array = constant_array(value)
        return None if array is None else self.laid(array)

    def laid(self, array: npt.NDArray[Any]) -> npt.NDArray[Any]:
        """An array that is broadcast to the result, of that rank and layout."""
        array = array.reshape((1,) * (self._rank - array.ndim) + array.shape)
        return np.ascontiguousarray(array.transpose(TO_LAST)) if self.last else array

    def wide(self, site: TosaSite, place: int, type: UniformType, scale: float) -> SSAValue:
        """An operand above its zero point, times `scale`, in i32: of a constant too."""
        array = self.constants[place]
        if array is None:
            return site.rescaled(self.tensors[place], scale, (type.zero_point, 0))
        factors = numerics.rescale_factors(scale)
        bounds = -numerics.INT32_MAX - 1, numerics.INT32_MAX
        return site.constant(numerics.rescale(array, *factors, type.zero_point, 0, *bounds, np.int32))


def _bits(op: OnnxOp, inputs: Sequence[UniformType], y: UniformType) -> tuple[list[float], int] | Blocked:
    """The operands' steps in the result's, and the bits below these that sums in 32 bits leave."""
    ratios = [float(np.float32(x.scale) / np.float32(y.scale)) for x in inputs]
    bits = FINEST - max(0, int(np.frexp(max(ratios))[1])) - max(0, (len(inputs) - 1).bit_length() - 2)
    return COARSE if bits < 1 else (ratios, bits)


def _aligned(kind: type[Operation], op: OnnxOp, site: TosaSite) -> Blocked | None:
    """`kind` of operands in steps 2^-k of the result's."""
    types = activations(*op.operands, op.results[0])
    if isinstance(types, Blocked):
        return types
    *inputs, y = types
    steps = _bits(op, inputs, y)
    if isinstance(steps, Blocked):
        return steps
    ratios, bits = steps
    operands = Operands(op, site, op.operands)
    wide = [operands.wide(site, k, x, ratios[k] * 2.0**bits) for k, x in enumerate(inputs)]
    result = site.quantized(reduce(partial(site.binary, kind), wide), 2.0**-bits, y)
    site.give(op.results[0], result, last=operands.last)
    return None


def _chosen(op: OnnxOp, site: TosaSite) -> Blocked | None:
    """A constant mask: a * mask + b * (1 - mask), for few NPUs have a select."""
    types = activations(*op.operands[1:], op.results[0])
    if isinstance(types, Blocked):
        return types
    *inputs, y = types
    steps = _bits(op, inputs, y)
    if isinstance(steps, Blocked):
        return steps
    ratios, bits = steps
    operands = Operands(op, site, op.operands[1:])
    mask = operands.constant(op.operands[0])
    if mask is None:
        return Blocked("computed-parameter", "the condition is computed at run time")
    parts = [
        site.product(operands.wide(site, k, x, ratios[k] * 2.0**bits), site.constant(factor, np.int32))
        for k, (x, factor) in enumerate(zip(inputs, (mask, ~mask), strict=True))
    ]
    result = site.quantized(site.binary(tosa.AddOp, *parts), 2.0**-bits, y)
    site.give(op.results[0], result, last=operands.last)
    return None


def _sloped(op: OnnxOp, site: TosaSite) -> Blocked | None:
    """What is above zero, and what is below times a constant slope: two products, for a slope may be negative."""
    types, slope = activations(op.operands[0], op.results[0]), real_constant(op.operands[1])
    if isinstance(types, Blocked):
        return types
    if slope is None:
        return Blocked("computed-parameter", "the slope is computed at run time")
    x, y = types
    ratio = float(np.float32(x.scale) / np.float32(y.scale))
    most = ratio * max(1.0, float(np.abs(slope).max(initial=0.0)))
    bits = FINEST - max(0, int(np.frexp(most)[1]))
    if bits < 1:
        return COARSE
    operands = Operands(op, site, op.operands[:1])
    above = operands.wide(site, 0, x, 1.0)
    zero = site.constant(np.zeros((1,) * len(known_shape(above.type))), np.int32)
    parts: list[SSAValue] = []
    for kind, factor in ((tosa.MaximumOp, np.ones(())), (tosa.MinimumOp, slope)):
        factors, shift = numerics.product_factors(factor.astype(np.float64) * ratio * 2.0**bits)
        side = site.binary(kind, above, zero)
        parts.append(site.product(side, site.constant(operands.laid(factors)), shift))
    result = site.quantized(site.binary(tosa.AddOp, *parts), 2.0**-bits, y)
    site.give(op.results[0], result, last=operands.last)
    return None


def _product(op: OnnxOp, site: TosaSite) -> Blocked | None:
    types = activations(*op.operands, op.results[0])
    if isinstance(types, Blocked):
        return types
    a, b, y = types
    ratio = numerics.requantize_multiplier(a.scale, b.scale, y.scale)
    if (blocked := takes(ratio, REACH * REACH)) is not None:
        return blocked
    pair = Operands(op, site, op.operands)
    wide = [pair.wide(site, k, type, 1.0) for k, type in enumerate((a, b))]
    site.give(op.results[0], site.quantized(site.product(wide[0], wide[1]), ratio, y), last=pair.last)
    return None


def _held(bounds: Bounds, op: OnnxOp, site: TosaSite) -> Blocked | None:
    """A clamp, of the integers that the result stores."""
    types = activations(op.operands[0], op.results[0])
    if isinstance(types, Blocked):
        return types
    x, y = types
    ends = bounds(op, y)
    if isinstance(ends, Blocked):
        return ends
    if (blocked := takes(np.float32(x.scale) / np.float32(y.scale), REACH)) is not None:
        return blocked
    last = site.is_last(op.operands[0])
    value = site.requantized(site.operand(op.operands[0], last=last), x, y)
    low, high = max(ends[0], y.storage.low), min(ends[1], y.storage.high)
    site.give(op.results[0], site.clamped(value, low, high), last=last)
    return None


def _above_zero(op: OnnxOp, type: UniformType) -> tuple[int, int]:
    return type.zero_point, HIGH


def _between(op: OnnxOp, type: UniformType) -> tuple[int, int] | Blocked:
    bounds = clip_bounds(op)
    if bounds is None:
        return COMPUTED_BOUND
    low, high = (int(b) for b in stored_bounds(bounds, type))
    return min(low, high), high


def looked_up(op: OnnxOp, site: TosaSite) -> Blocked | None:
    """A Gather from 256 bytes, by bytes: `lower-to-table` writes functions of 8 bits so, of u8 at the graph's ends."""
    table, index = constant_array(op.operands[0]), op.operands[1]
    if (
        table is None
        or table.shape != (256,)
        or table.itemsize != 1
        or op.int_attr("axis", 0)
        or not is_bytes(site.operand(index))
    ):
        return Blocked("gather", "TOSA's gather of computed indices is for other types")
    if quantized_of(op.results[0].type) is None:
        return FLOAT
    last = site.is_last(index)
    # The entries stand in the order of bytes, those of TOSA begin with -128.
    value = site.looked_up(site.operand(index, last=last), np.roll(table, 128).astype(np.int8))
    site.give(op.results[0], value, last=last)
    return None


def is_bytes(value: SSAValue) -> bool:
    """Whether a tensor is of i8."""
    return getattr(value.type, "element_type", None) == i8


ELEMENTWISE_FORMS: dict[tuple[str, str], TosaForm] = {
    ("", "Add"): TosaForm(partial(_aligned, tosa.AddOp)),
    ("", "Sum"): TosaForm(partial(_aligned, tosa.AddOp)),
    ("", "Sub"): TosaForm(partial(_aligned, tosa.SubOp)),
    ("", "Max"): TosaForm(partial(_aligned, tosa.MaximumOp)),
    ("", "Min"): TosaForm(partial(_aligned, tosa.MinimumOp)),
    ("", "Mul"): TosaForm(_product),
    ("", "PRelu"): TosaForm(_sloped),
    ("", "Where"): TosaForm(_chosen),
    ("", "Relu"): TosaForm(partial(_held, _above_zero)),
    ("", "Clip"): TosaForm(partial(_held, _between)),
}
