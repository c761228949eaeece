"""
TOSA forms of Softmax, LayerNormalization and Div, in integers.

Softmax is exp of how far an element is below its row's greatest, over the sum of these. Such a difference is one of 256
stored values, whose exp, in steps of 2^-bits, is read from three tables of 8 bits. One over the sum is Newton's
r (2 - s r), which doubles the right bits of a first guess that a table gives too, below the true one: a division would
be exact, but few NPUs have one.

LayerNormalization of rows of N elements is y = d sqrt(N) / sqrt(q) * gamma + beta. d, N times how far an element is
from its row's mean, is exact, and q, the sum of the row's d * d and of N^3 epsilon, is kept to 31 bits. Shifted left by
an even number of bits, 2 h, it is a number m of 30 or 31 bits. 1 / sqrt(m) begins with a table of the upper 8 bits and
is Newton's r (3 - m r r) / 2 twice, about as near as 27 bits are; d is shifted by h. The factor of the result has 31
bits and may be negative, which a rescale rejects: it is applied as a product.
"""

from __future__ import annotations

from functools import partial, reduce
from math import ceil, log2, prod
from typing import NamedTuple

import numpy as np
import numpy.typing as npt
from xdsl.dialects.builtin import BoolAttr, i8
from xdsl.ir import SSAValue

from qdialect import numerics
from qdialect.dialects.onnx_base import OnnxOp
from qdialect.dialects.onnx_types import known_shape
from qdialect.dialects.quant import UniformType
from qdialect.forms.geometry import COMPUTED
from qdialect.ir.values import normal_axis, real_constant
from qdialect.numerics import tables
from qdialect.promises.kernels import softmax_axis
from qdialect.reasons import Blocked, unblocked
from qdialect.upstream import tosa_dialect as tosa
from qdialect.upstream.site import STATISTICS_USED
from qdialect.upstream.tosa.elementwise import COARSE, Operands
from qdialect.upstream.tosa.pools import along
from qdialect.upstream.tosa.site import HIGH, LOW, TosaForm, TosaSite, activations

MAX_EXP_BITS = 22
"""Greatest number of fraction bits of exp, where exp(0) = 1: 30 bits at a result scale of 2^-8."""
MIN_EXP_BITS = 12
"""Fewest: with less a step of exp would show in the result."""
RECIPROCAL_BITS = 28
"""Fraction bits of one over a sum, which is at most 1."""
CLOSE_ENOUGH = 2.0**-16
"""Relative error of a reciprocal at which Newton's iteration ends: 2^-8 of a result's step."""
ENTRY_BYTES = 3
"""Bytes of an entry of a table, each looked up by itself."""
MAX_DIVIDED_BITS, MIN_DIVIDED_BITS = 12, 4
"""Most and fewest fraction bits of a quotient: a rescale of i8 gives numerators up to 2^(bits + 8)."""
LONG_ROW = Blocked("too-large", "the row is so long that too few bits remain for each exponential")

MAX_ROW_ELEMENTS = 1 << 14
"""Greatest number of elements of a row for which the sum of squares fits."""
ROOT_BITS = 27
"""Fraction bits of 1 / sqrt(m / 2^31), which is from 1 to 2."""
NEWTON_STEPS = 2
"""Newton steps, on one number per row. After one, 2^-15 off, one result in ten thousand rounds differently."""
WHOLE_BITS = 30
"""Greatest number of bits of a term, so that a sum of two has 31."""
MAX_RESULT_BITS, MIN_RESULT_BITS = 20, 6
"""Most and fewest fraction bits of the result before the last rescale."""


def from_tables(site: TosaSite, index: SSAValue, entries: tables.Entries, shift: int = 0) -> SSAValue:
    """entries[x + 128] * 2^shift of i8 values x, in i32; entries: 256 numbers from 0 to 2^24 - 1."""
    parts: list[SSAValue] = []
    for k in range(ENTRY_BYTES):
        table = (((entries >> (8 * k)) & 0xFF) + LOW).astype(np.int8)
        parts.append(site.rescaled(site.looked_up(index, table), 2.0 ** (8 * k + shift), (LOW, 0)))
    return reduce(partial(site.binary, tosa.AddOp), parts)


def _softmax(op: OnnxOp, site: TosaSite) -> Blocked | None:
    x, y = activations(op.operands[0], op.results[0])
    shape = known_shape(op.operands[0].type)
    axis, one_row = softmax_axis(op)
    axis = normal_axis(axis, len(shape))
    rows = (prod(shape[:axis]), prod(shape[axis:])) if one_row else shape
    place = 1 if one_row else axis
    # Neither the sum of a row nor an exp over the result's step may need more than 31 bits.
    bits = min(MAX_EXP_BITS, 30 - int(np.ceil(np.log2(max(rows[place], 2, 1 / float(y.scale))))))
    if bits < MIN_EXP_BITS:
        return LONG_ROW
    value = site.reshape(site.operand(op.operands[0]), rows)
    powers = _exponentials(site, value, place, float(x.scale), bits)
    sums = along(site, tosa.ReduceSumOp, powers, place)
    parts = site.product(powers, _reciprocal(site, sums, rows[place], bits), RECIPROCAL_BITS)
    result = site.quantized(parts, 2.0**-bits / float(y.scale), y)
    site.give(op.results[0], site.reshape(result, shape))
    return None


def _exponentials(site: TosaSite, value: SSAValue, axis: int, scale: float, bits: int) -> SSAValue:
    """exp((x - greatest) * scale) in steps of 2^-bits, i32."""
    greatest = along(site, tosa.ReduceMaxOp, value, axis)
    wide = [site.rescaled(v, 1.0) for v in (value, greatest)]
    below = site.rescaled(site.binary(tosa.SubOp, *wide), 1.0, (0, HIGH), i8)  # -255 to 0, as -128 to 127
    return from_tables(site, below, tables.exponentials(scale, bits))


def _reciprocal(site: TosaSite, sums: SSAValue, most: int, bits: int) -> SSAValue:
    """2^RECIPROCAL_BITS over sums from 1 to `most`, which are in steps of 2^-bits."""
    guess, error = tables.reciprocals(most)
    index = site.rescaled(sums, 255 / (most * 2.0**bits), (0, LOW), i8)
    reciprocal = from_tables(site, index, guess, RECIPROCAL_BITS - tables.GUESS_BITS)
    two = site.constant(np.full((1,) * len(known_shape(sums.type)), 2 << RECIPROCAL_BITS), np.int32)
    while error > CLOSE_ENOUGH:
        correction = site.binary(tosa.SubOp, two, site.product(sums, reciprocal, bits))
        reciprocal = site.product(reciprocal, correction, RECIPROCAL_BITS)
        error = error**2
    return reciprocal


def _divided(op: OnnxOp, site: TosaSite) -> Blocked | None:
    """
    An integer division of a numerator in steps 2^-k of the result's, towards zero, then one rescale.

    A divisor of zero is replaced by 1, and its numerator by one so large that the result saturates: 0 / 0 is 0.
    """
    a, b, y = activations(*op.operands, op.results[0])
    ratio = float(numerics.requantize_multiplier(a.scale, 1 / b.scale, y.scale))
    bits = min(MAX_DIVIDED_BITS, 20 - int(np.frexp(ratio)[1]))
    if bits < MIN_DIVIDED_BITS:
        return COARSE
    pair = Operands(op, site, op.operands)
    above, below = pair.wide(0, a, ratio * 2.0**bits), pair.wide(1, b, 1.0)
    is_zero = (np.arange(LOW, HIGH + 1) == b.zero_point).astype(np.int8)
    zeros = site.rescaled(site.looked_up(pair.tensor(1), is_zero), 1.0)
    far = site.product(pair.wide(0, a, 2.0 ** (bits + 8)), zeros)
    quotient = site.binary(
        tosa.IntDivOp, site.binary(tosa.AddOp, above, far), site.binary(tosa.AddOp, below, zeros)
    )
    site.give(op.results[0], site.quantized(quotient, 2.0**-bits, y), last=pair.last)
    return None


class _Row(NamedTuple):
    """Compile-time constants of a row."""

    size: int
    lost: int
    """Low bits dropped from each square, so that their sum has 30 bits."""
    small: int
    """N^3 epsilon, in steps of the squares."""

    @property
    def bits(self) -> int:
        """Fraction bits that fit below d sqrt(2^31 / q), which has 15.5 bits and half of `lost`."""
        return int(WHOLE_BITS - 15.5 - self.lost / 2)

    @property
    def unit(self) -> float:
        """Real value of one step of d / sqrt(m) with `bits` fraction bits."""
        return self.size**0.5 * 2.0 ** -(15.5 + self.lost / 2 + self.bits)


def rows_of(op: OnnxOp, x: UniformType, count: int) -> _Row | Blocked:
    if not 1 < count <= MAX_ROW_ELEMENTS:
        return LONG_ROW
    epsilon = count**3 * op.float_attr("epsilon", 1e-5) / float(x.scale) ** 2
    # No row's variance is above that of half zeros and half 255.
    most = count**3 * 127.5**2 + epsilon
    lost = max(0, ceil(log2(most)) - WHOLE_BITS)
    row = _Row(count, lost, int(np.rint(epsilon / 2.0**lost)))
    return row if row.bits >= 0 else LONG_ROW


def _normalized(site: TosaSite, value: SSAValue, x: UniformType, row: _Row) -> SSAValue:
    """(x - mean) / sqrt(variance + epsilon) in steps of `row.unit`, of rows (n, N)."""
    whole = site.centred(value, x)
    ones = (1, 1)
    times = site.product(whole, site.constant(np.full(ones, row.size), np.int32))
    apart = site.binary(tosa.SubOp, times, along(site, tosa.ReduceSumOp, whole, 1))
    squares = along(site, tosa.ReduceSumOp, site.product(apart, apart, row.lost), 1)
    # A row of equal elements without epsilon: 0 / 1.
    small = site.constant(np.full(ones, max(row.small, 1)), np.int32)
    total = site.binary(tosa.AddOp, squares, small)
    one = site.constant(np.ones(ones), np.int32)
    zeros = site.make(tosa.ClzOp, [total], known_shape(total.type))
    half = site.binary(
        tosa.ArithmeticRightShiftOp, site.binary(tosa.SubOp, zeros, one), one, round=BoolAttr.from_bool(False)
    )
    twice = site.binary(tosa.AddOp, half, half)
    root = _inverse_root(site, site.binary(tosa.LogicalLeftShiftOp, total, twice))
    # A shift by one number per row, that operand broadcast: some NPUs require equal shapes.
    return site.product(site.binary(tosa.LogicalLeftShiftOp, apart, half), root, ROOT_BITS - row.bits)


def _inverse_root(site: TosaSite, number: SSAValue) -> SSAValue:
    """sqrt(2^31 / m) in steps of 2^-27 for numbers m of 30 or 31 bits."""
    index = site.rescaled(number, 2.0**-tables.ROOT_INDEX, (0, LOW), i8)
    root = from_tables(site, index, tables.inverse_roots(), ROOT_BITS - tables.GUESS_BITS + 1)
    three = site.constant(np.full((1, 1), 3 << ROOT_BITS), np.int32)
    for _ in range(NEWTON_STEPS):
        square = site.product(number, site.product(root, root, ROOT_BITS), 31)
        root = site.product(root, site.binary(tosa.SubOp, three, square), ROOT_BITS + 1)
    return root


def _layer_norm(op: OnnxOp, site: TosaSite) -> Blocked | None:
    (x, y), shape = activations(op.operands[0], op.results[0]), known_shape(op.operands[0].type)
    if any(result.first_use is not None for result in op.results[1:]):
        return STATISTICS_USED
    axis = normal_axis(op.int_attr("axis", -1), len(shape))
    row = unblocked(rows_of(op, x, prod(shape[axis:])))
    factor, beta = real_constant(op.operands[1]), op.input(2)
    shift = np.zeros(()) if beta is None else real_constant(beta)
    if factor is None or shift is None:
        return COMPUTED
    steps = [a.astype(np.float64) / float(y.scale) for a in (factor, shift)]
    most = row.size**0.5 * np.abs(steps[0]).max() + np.abs(steps[1]).max()
    bits = min(MAX_RESULT_BITS, WHOLE_BITS - ceil(log2(max(float(most), 1))))
    if bits < MIN_RESULT_BITS:
        return COARSE
    rows = (prod(shape[:axis]), row.size)
    normal = _normalized(site, site.reshape(site.operand(op.operands[0]), rows), x, row)
    factors, places = numerics.product_factors(_wide(steps[0], shape[axis:]) * (row.unit * 2.0**bits))
    scaled = site.product(normal, site.constant(factors), places)
    moved = site.binary(
        tosa.AddOp, scaled, site.constant(np.rint(_wide(steps[1], shape[axis:]) * 2.0**bits), np.int32)
    )
    site.give(op.results[0], site.reshape(site.quantized(moved, 2.0**-bits, y), shape))
    return None


def _wide(array: npt.NDArray[np.float64], shape: tuple[int, ...]) -> npt.NDArray[np.float64]:
    """An array broadcast to `shape`, as factors (1, N) of a row's elements."""
    return np.broadcast_to(array, shape).reshape(1, -1)


NORMALIZING_FORMS: dict[tuple[str, str], TosaForm] = {
    ("", "Div"): TosaForm(_divided),
    ("", "LayerNormalization"): TosaForm(_layer_norm),
    ("", "Softmax"): TosaForm(_softmax),
}
