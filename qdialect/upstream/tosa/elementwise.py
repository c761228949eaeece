"""
TOSA forms of elementwise ops.

Sums, differences and maxima are computed in i32 in steps 2^-k of the result's scale, k as large as 32 bits allow, so
that the error of the first rescales is negligible; products in i32; clamps on the stored integers.
"""

from __future__ import annotations

from collections.abc import Callable, Sequence
from functools import partial, reduce
from typing import Any, NamedTuple

import numpy as np
import numpy.typing as npt
from xdsl.dialects.builtin import i8
from xdsl.ir import Operation, SSAValue

from qdialect import numerics
from qdialect.dialects.onnx_base import OnnxOp
from qdialect.dialects.onnx_types import element_of, known_shape, quantized_of
from qdialect.dialects.quant import UniformType
from qdialect.forms.geometry import TO_LAST
from qdialect.ir.values import constant_array, real_constant
from qdialect.numerics.near_ties import faithful_ratios
from qdialect.promises.monotone import clip_bounds, stored_bounds
from qdialect.reasons import COMPUTED_BOUND, Blocked, required, unblocked
from qdialect.upstream import tosa_dialect as tosa
from qdialect.upstream.tosa.site import (
    EMPTY,
    FLOAT,
    HIGH,
    TosaForm,
    TosaSite,
    activation,
    activations,
    takes,
)

Bounds = Callable[[OnnxOp, UniformType], "tuple[int, int] | Blocked"]
"""Maps an op and its result's type to the least and greatest stored integer of the clamp."""
MAX_FRACTION_BITS = 20
"""Greatest number of fraction bits k: sums of 255 steps stay well within 32 bits."""
MAX_STORED_DISTANCE = 255
"""Greatest |q - zero_point| of i8."""
COARSE = Blocked("mixed-scales", "an operand's scale is too far above the result's for sums in 32 bits")


class Operands:
    """Operands reshaped to one rank, in the layout of those that have the result's shape."""

    def __init__(self, op: OnnxOp, site: TosaSite, values: Sequence[SSAValue]):
        shape = known_shape(op.results[0].type)
        self._site, self._values, self._rank = site, values, len(shape)
        whole = [v for v in values if known_shape(v.type) == shape and constant_array(v) is None]
        self.last = bool(whole) and len(shape) == len(TO_LAST) and site.alike(*whole)[1]

    def tensor(self, place: int) -> SSAValue:
        """An operand as an i8 tensor of that rank and layout."""
        value = self._values[place]
        own = known_shape(value.type)
        if len(own) == self._rank:
            return self._site.operand(value, last=self.last)
        tensor = self._site.reshape(self._site.operand(value), (1,) * (self._rank - len(own)) + own)
        return self._site.transpose(tensor, TO_LAST) if self.last else tensor

    def constant(self, value: SSAValue) -> npt.NDArray[Any] | None:
        """The elements of a constant in that rank and layout; None if the value is computed."""
        array = constant_array(value)
        return None if array is None else self.laid(array)

    def laid(self, array: npt.NDArray[Any]) -> npt.NDArray[Any]:
        """An array that broadcasts to the result, in that rank and layout."""
        array = array.reshape((1,) * (self._rank - array.ndim) + array.shape)
        return np.ascontiguousarray(array.transpose(TO_LAST)) if self.last else array

    def wide(self, place: int, type: UniformType, scale: float) -> SSAValue:
        """(operand - zero point) * scale in i32; operand may be constant."""
        array = self.constant(self._values[place])
        if array is None:
            return self._site.rescaled(self.tensor(place), scale, (type.zero_point, 0))
        factors = numerics.rescale_factors(scale)
        bounds = -numerics.INT32_MAX - 1, numerics.INT32_MAX
        return self._site.constant(numerics.rescale(array, *factors, type.zero_point, 0, *bounds, np.int32))

    def term(self, place: int, term: Term, bits: int) -> SSAValue:
        """A term of a sum in steps 2^-bits of the result's scale, i32."""
        if term.type is not None:
            return self.wide(place, term.type, term.ratio * 2.0**bits)
        return self._site.constant(np.rint(self.laid(term.real) * 2.0**bits), np.int32)


class Term(NamedTuple):
    """A term of a sum: an i8 tensor, or real constants."""

    ratio: float
    """Scale of the term over the scale of the result."""
    type: UniformType | None
    real: npt.NDArray[np.float64]
    """Real constants in steps of the result; None for an i8 tensor."""


def terms_of_sum(values: Sequence[SSAValue], y: UniformType) -> tuple[list[Term], int] | Blocked:
    """The terms of a sum, and the number of fraction bits k that 32 bits allow."""
    terms: list[Term] = []
    for value in values:
        real = constant_array(value) if quantized_of(value.type) is None else None
        if real is not None and real.dtype == np.float32 and np.isfinite(real).all():
            steps = real.astype(np.float64) / float(y.scale)
            terms.append(Term(float(np.abs(steps).max(initial=0.0)) / MAX_STORED_DISTANCE, None, steps))
            continue
        type = unblocked(activation(value))
        terms.append(Term(float(np.float32(type.scale) / np.float32(y.scale)), type, np.zeros(())))
    widest = max(term.ratio for term in terms)
    bits = _bits_below(widest, len(terms))
    return bits if isinstance(bits, Blocked) else (terms, bits)


def _bits_below(factor: float, count: int = 1) -> int | Blocked:
    """Number of fraction bits k that 32 bits allow to a sum of `count` terms, of i8 times `factor` at most."""
    bits = MAX_FRACTION_BITS - max(0, int(np.frexp(factor)[1])) - max(0, (count - 1).bit_length() - 2)
    return COARSE if bits < 1 else bits


def _aligned(kind: type[Operation], op: OnnxOp, site: TosaSite) -> None:
    """The tosa op `kind` of operands in steps 2^-k of the result's scale."""
    y = unblocked(activation(op.results[0]))
    (terms, bits), operands = unblocked(terms_of_sum(op.operands, y)), Operands(op, site, op.operands)
    if kind is tosa.AddOp:
        terms = _faithful(terms, y, bits)
    wide = [operands.term(k, term, bits) for k, term in enumerate(terms)]
    result = site.quantized(reduce(partial(site.binary, kind), wide), 2.0**-bits, y)
    site.give(op.results[0], result, last=operands.last)


def _faithful(terms: list[Term], y: UniformType, bits: int) -> list[Term]:
    """Two i8 terms, their ratios adjusted so that near ties of the sum round as in onnxruntime."""
    types = [term.type for term in terms if term.type is not None]
    if len(terms) != 2 or len(types) != 2:
        return terms
    zeros = (types[0].zero_point, types[1].zero_point, y.zero_point)
    ratios = (np.float32(terms[0].ratio), np.float32(terms[1].ratio))
    ends = (y.storage.low - y.zero_point, y.storage.high - y.zero_point)
    moved = faithful_ratios(ratios, zeros, *ends, bits)
    return [term._replace(ratio=ratio) for term, ratio in zip(terms, moved, strict=True)]


def _chosen(op: OnnxOp, site: TosaSite) -> Blocked | None:
    """Where with a constant mask: a * mask + b * (1 - mask), since few NPUs have a select."""
    y = unblocked(activation(op.results[0]))
    (terms, bits), operands = unblocked(terms_of_sum(op.operands[1:], y)), Operands(op, site, op.operands[1:])
    mask = operands.constant(op.operands[0])
    if mask is None:
        return Blocked("computed-parameter", "the condition is computed at run time")
    parts = [
        site.product(operands.term(k, term, bits), site.constant(factor, np.int32))
        for k, (term, factor) in enumerate(zip(terms, (mask, ~mask), strict=True))
    ]
    result = site.quantized(site.binary(tosa.AddOp, *parts), 2.0**-bits, y)
    site.give(op.results[0], result, last=operands.last)
    return None


def _scaled(op: OnnxOp, site: TosaSite, place: int, factor: npt.NDArray[Any]) -> None:
    """An operand times real constants, which may be negative, as a product in i32."""
    x, y = activations(op.operands[place], op.results[0])
    steps = factor.astype(np.float64) * float(np.float32(x.scale) / np.float32(y.scale))
    bits = unblocked(_bits_below(float(np.abs(steps).max(initial=0.0))))
    operands = Operands(op, site, op.operands)
    factors, shift = numerics.product_factors(steps * 2.0**bits)
    product = site.product(operands.wide(place, x, 1.0), site.constant(operands.laid(factors)), shift)
    site.give(op.results[0], site.quantized(product, 2.0**-bits, y), last=operands.last)


def _sloped(op: OnnxOp, site: TosaSite) -> Blocked | None:
    """LeakyRelu and PRelu: max(x, 0) + slope * min(x, 0), two products, since a slope may be negative."""
    (x, y), slope = activations(op.operands[0], op.results[0]), real_constant(op.operands[1])
    if slope is None:
        return Blocked("computed-parameter", "the slope is computed at run time")
    ratio = float(np.float32(x.scale) / np.float32(y.scale))
    most = ratio * max(1.0, float(np.abs(slope).max(initial=0.0)))
    bits = unblocked(_bits_below(most))
    operands = Operands(op, site, op.operands[:1])
    above = operands.wide(0, x, 1.0)
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
    for place, value in enumerate(op.operands):
        real = constant_array(value) if quantized_of(value.type) is None else None
        if real is not None and real.dtype == np.float32 and np.isfinite(real).all():
            return _scaled(op, site, 1 - place, real)
    a, b, y = activations(*op.operands, op.results[0])
    ratio = numerics.requantize_multiplier(a.scale, b.scale, y.scale)
    unblocked(takes(ratio, MAX_STORED_DISTANCE * MAX_STORED_DISTANCE))
    pair = Operands(op, site, op.operands)
    wide = [pair.wide(k, type, 1.0) for k, type in enumerate((a, b))]
    result = site.requantized_sum(
        site.product(wide[0], wide[1]), ratio, y, MAX_STORED_DISTANCE * MAX_STORED_DISTANCE
    )
    site.give(op.results[0], result, last=pair.last)
    return None


def _held(bounds: Bounds, op: OnnxOp, site: TosaSite) -> None:
    """A clamp of the result's stored integers."""
    x, y = activations(op.operands[0], op.results[0])
    ends = unblocked(bounds(op, y))
    unblocked(takes(np.float32(x.scale) / np.float32(y.scale), MAX_STORED_DISTANCE))
    tensor, last = site.in_own_layout(op.operands[0])
    value = site.requantized(tensor, x, y)
    low, high = max(ends[0], y.storage.low), min(ends[1], y.storage.high)
    site.give(op.results[0], site.clamped(value, low, high), last=last)


def _between(op: OnnxOp, type: UniformType) -> tuple[int, int] | Blocked:
    bounds = required(clip_bounds(op), COMPUTED_BOUND)
    low, high = (int(b) for b in stored_bounds(bounds, type))
    return min(low, high), high


def looked_up(op: OnnxOp, site: TosaSite) -> Blocked | None:
    """A Gather from 256 entries by 8-bit indices, as `lower-to-table` writes it, as a table."""
    table, index = constant_array(op.operands[0]), op.operands[1]
    if (
        table is None
        or table.shape != (256,)
        or table.itemsize != 1
        or op.int_attr("axis", 0)
        or not is_bytes(site.operand(index))
    ):
        return Blocked("no-form", "TOSA's gather with computed indices does not take these types")
    if quantized_of(op.results[0].type) is None:
        return FLOAT
    if 0 in known_shape(index.type):
        return EMPTY
    bytes, last = site.in_own_layout(index)
    # The entries are in the order of unsigned bytes; TOSA's begin with -128.
    value = site.looked_up(bytes, np.roll(table, 128).astype(np.int8))
    site.give(op.results[0], value, last=last)
    return None


def is_bytes(value: SSAValue) -> bool:
    """True if a tensor's elements are i8."""
    return element_of(value.type) == i8


ELEMENTWISE_FORMS: dict[tuple[str, str], TosaForm] = {
    ("", "Add"): TosaForm(partial(_aligned, tosa.AddOp)),
    ("", "Sum"): TosaForm(partial(_aligned, tosa.AddOp)),
    ("", "Sub"): TosaForm(partial(_aligned, tosa.SubOp)),
    ("", "Max"): TosaForm(partial(_aligned, tosa.MaximumOp)),
    ("", "Min"): TosaForm(partial(_aligned, tosa.MinimumOp)),
    ("", "Mul"): TosaForm(_product),
    ("", "PRelu"): TosaForm(_sloped),
    ("", "Where"): TosaForm(_chosen),
    ("", "Relu"): TosaForm(partial(_held, lambda op, type: (type.zero_point, HIGH))),
    ("", "Clip"): TosaForm(partial(_held, _between)),
}
