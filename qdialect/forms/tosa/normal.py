"""
TOSA forms of Softmax and Div, in integers.

Softmax is exp of how far an element is below its row's greatest, over the sum of these. Such a difference is one of 256
stored values, whose exp, in steps of 2^-bits, is read from three tables of 8 bits. One over the sum is Newton's
r (2 - s r), which doubles the right bits of a first guess that a table gives too, below the true one: a division would
be exact, but few NPUs have one.
"""

from __future__ import annotations

from functools import partial, reduce
from math import prod

import numpy as np
from xdsl.dialects.builtin import i8
from xdsl.ir import SSAValue

from qdialect import numerics
from qdialect.dialects import tosa
from qdialect.dialects.onnx_base import OnnxOp
from qdialect.dialects.onnx_types import known_shape
from qdialect.forms.tosa.elementwise import COARSE, Operands
from qdialect.forms.tosa.pools import along
from qdialect.forms.tosa.site import HIGH, LOW, TosaForm, TosaSite, activations
from qdialect.ir.values import normal_axis
from qdialect.numerics import tables
from qdialect.promises.kernels import softmax_axis
from qdialect.reasons import Blocked

MOST_BITS = 22
"""Greatest number of fraction bits of exp, where exp(0) = 1: 30 bits at a result scale of 2^-8."""
LEAST_BITS = 12
RECIPROCAL_BITS = 28
"""Fraction bits of one over a sum, which is at most 1."""
CLOSE_ENOUGH = 2.0**-16
"""Relative error of a reciprocal at which Newton's iteration ends: 2^-8 of a result's step."""
BYTES = 3
DIVIDED_BITS, LEAST_DIVIDED_BITS = 12, 4
"""Most and fewest fraction bits of a quotient: a rescale of i8 gives numerators up to 2^(bits + 8)."""
LONG_ROW = Blocked("long-row", "the row is so long that too few bits remain for each exponential")


def from_tables(site: TosaSite, index: SSAValue, entries: tables.Entries, shift: int = 0) -> SSAValue:
    """entries[x + 128] * 2^shift of i8 values x, in i32; entries: 256 numbers from 0 to 2^24 - 1."""
    parts: list[SSAValue] = []
    for k in range(BYTES):
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
    bits = min(MOST_BITS, 30 - int(np.ceil(np.log2(max(rows[place], 2, 1 / float(y.scale))))))
    if bits < LEAST_BITS:
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
    bits = min(DIVIDED_BITS, 20 - int(np.frexp(ratio)[1]))
    if bits < LEAST_DIVIDED_BITS:
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


NORMAL_FORMS: dict[tuple[str, str], TosaForm] = {
    ("", "Div"): TosaForm(_divided),
    ("", "Softmax"): TosaForm(_softmax),
}
