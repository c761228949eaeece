"""
TOSA form of LayerNormalization, in integers: y = d sqrt(N) / sqrt(q) * gamma + beta of rows of N elements.

d, N times how far an element is from its row's mean, is exact, and q, the sum of the row's d * d and of N^3 epsilon, is
kept to 31 bits. Shifted left by an even number of bits, 2 h, it is a number m of 30 or 31 bits. 1 / sqrt(m) begins with
a table of the upper 8 bits and is Newton's r (3 - m r r) / 2 twice, about as near as 27 bits are; d is shifted by h.
The factor of the result has 31 bits and may be negative, which a rescale rejects: it is applied as a product.
"""

from __future__ import annotations

from math import ceil, log2, prod
from typing import NamedTuple

import numpy as np
import numpy.typing as npt
from xdsl.dialects.builtin import i8
from xdsl.ir import SSAValue

from qdialect import numerics
from qdialect.dialects import tosa
from qdialect.dialects.onnx_base import OnnxOp
from qdialect.dialects.onnx_types import known_shape
from qdialect.dialects.quant import UniformType
from qdialect.forms.tosa.elementwise import COARSE
from qdialect.forms.tosa.normal import LONG_ROW, from_tables
from qdialect.forms.tosa.pools import along
from qdialect.forms.tosa.site import LOW, TosaForm, TosaSite, activations, flag
from qdialect.forms.upstream import COMPUTED, STATISTICS_USED
from qdialect.ir.values import normal_axis, real_constant
from qdialect.numerics import tables
from qdialect.reasons import Blocked, unblocked

LONGEST = 1 << 14
"""Greatest number of elements of a row for which the sum of squares fits."""
ROOT_BITS = 27
"""Fraction bits of 1 / sqrt(m / 2^31), which is from 1 to 2."""
NEWTON_STEPS = 2
"""Newton steps, on one number per row. After one, 2^-15 off, one result in ten thousand rounds differently."""
WHOLE_BITS = 30
"""Greatest number of bits of a term, so that a sum of two has 31."""
FINEST, COARSEST = 20, 6
"""Most and fewest fraction bits of the result before the last rescale."""


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


def _row(op: OnnxOp, x: UniformType, count: int) -> _Row | Blocked:
    if not 1 < count <= LONGEST:
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
        tosa.ArithmeticRightShiftOp, site.binary(tosa.SubOp, zeros, one), one, round=flag(False)
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
    row = unblocked(_row(op, x, prod(shape[axis:])))
    factor, beta = real_constant(op.operands[1]), op.input(2)
    shift = np.zeros(()) if beta is None else real_constant(beta)
    if factor is None or shift is None:
        return COMPUTED
    steps = [a.astype(np.float64) / float(y.scale) for a in (factor, shift)]
    most = row.size**0.5 * np.abs(steps[0]).max() + np.abs(steps[1]).max()
    bits = min(FINEST, WHOLE_BITS - ceil(log2(max(float(most), 1))))
    if bits < COARSEST:
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


LAYER_NORM_FORMS: dict[tuple[str, str], TosaForm] = {("", "LayerNormalization"): TosaForm(_layer_norm)}
