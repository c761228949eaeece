"""linalg forms of matrix products: MatMul, Gemm and MatMulInteger, of two activations or with a constant weight."""

from __future__ import annotations

from collections.abc import Sequence
from math import prod
from typing import Any, NamedTuple

import numpy as np
import numpy.typing as npt
from xdsl.dialects.builtin import f32, i32
from xdsl.ir import SSAValue
from xdsl.ir.affine import AffineExpr

from qdialect.dialects.onnx_base import OnnxOp
from qdialect.dialects.onnx_types import known_element, known_shape, quantized_of, uniform_of
from qdialect.ir.values import constant_array, real_constant
from qdialect.reasons import BIAS_BY_ROW, GEMM_FORM, Blocked, unblocked
from qdialect.upstream.linalg.site import LinalgForm, LinalgSite, Operand, loop, loops
from qdialect.upstream.linalg.sums import (
    Sum,
    above_zero,
    addends,
    centred_weight,
    factor,
    finished,
    is_integer,
    narrow,
    product,
    start,
)

SIGNED_WEIGHT = Blocked(
    "storage-type", "a computed operand is stored unsigned, or has a scale for each channel"
)


class _Right(NamedTuple):
    """The right operand of a matrix product."""

    value: SSAValue
    zero: int
    sums: np.ndarray[tuple[int, ...], np.dtype[np.int64]] | None
    """Sum of each column, if constant: the factor of the left operand's zero point."""


def _right(op: OnnxOp, site: LinalgSite, *, integer: bool, columns: int) -> _Right | Blocked:
    value, array = op.operands[1], constant_array(op.operands[1])
    if not integer:
        real = None if quantized_of(value.type) is None else real_constant(value)
        tensor = factor(site, value, integer=False) if real is None else site.constant(real, np.float32)
        return _Right(unblocked(tensor), 0, None)
    type = uniform_of(value.type)
    if array is None:
        if not type.is_per_tensor or not type.storage.signed:
            return SIGNED_WEIGHT
        return _Right(site.operand(value), int(type.zero_point), None)
    weight = centred_weight(array, type, columns if type.axis is None else type.axis)
    rows = weight.ndim - 1 - columns
    sums = weight.astype(np.int64).sum(axis=rows) if weight.ndim <= 2 else None
    return _Right(site.constant(weight), 0, sums)


def _multiplied(
    op: OnnxOp, site: LinalgSite, left: SSAValue, right: _Right, turned: tuple[bool, bool] = (False, False)
) -> SSAValue | Blocked:
    """The product as the result's elements. turned: True for an operand of rank 2 that is transposed."""
    parts = unblocked(addends(op, right.sums))
    zero = int(uniform_of(op.operands[0].type).zero_point) if is_integer(op) and right.sums is None else 0
    shape = known_shape(op.results[0].type)
    sum = _sums(site, left, right.value, shape, parts.added, (zero, right.zero), turned)
    return finished(op, site, Sum(sum, parts.scale, parts.real, max(len(shape) - 1, 0)))


def _sums(
    site: LinalgSite,
    left: SSAValue,
    right: SSAValue,
    shape: Sequence[int],
    added: npt.NDArray[Any] | None = None,
    zeros: tuple[int, int] = (0, 0),
    turned: tuple[bool, bool] = (False, False),
) -> SSAValue:
    """The sums of a product of shape `shape`, i32 of integers, f32 of floats. added: a number for each column."""
    a, b, integer = known_shape(left.type), known_shape(right.type), known_element(left.type) != f32
    batch = len(shape) - (len(a) > 1) - (len(b) > 1)
    m, n = [loop(batch)] * (len(a) > 1), [loop(len(shape) - 1)] * (len(b) > 1)
    k = loop(len(shape))
    element = i32 if integer else f32
    operands = [
        _matrix(site, left, batch, m, k, first=True, turned=turned[0]),
        _matrix(site, right, batch, n, k, first=False, turned=turned[1]),
    ]
    init = start(site, shape, max(len(shape) - 1, 0), element, added)
    return site.generic(operands, shape, element, product(integer, zeros), over=1, init=init)


def _matrix(
    site: LinalgSite,
    value: SSAValue,
    batch: int,
    own: Sequence[AffineExpr],
    k: AffineExpr,
    *,
    first: bool,
    turned: bool,
) -> Operand:
    """A matrix, or a batch of matrices, as an operand of a product."""
    shape = known_shape(value.type)
    count = min(len(shape), 2)
    lead = len(shape) - count
    inner = [*own, k] if first else [k, *own]
    inner = inner[::-1] if turned else inner
    axes = loops(batch)[batch - lead :]
    kept = [place for place in range(lead) if shape[place] != 1]
    if len(kept) < lead:  # broadcast over the batch, or a batch of one
        value = site.reshape(value, [*(shape[p] for p in kept), *shape[lead:]])
    return Operand(value, [*(axes[p] for p in kept), *inner])


def _matmul(op: OnnxOp, site: LinalgSite) -> None:
    integer, rank = is_integer(op), len(known_shape(op.operands[1].type))
    left = unblocked(factor(site, op.operands[0], integer=integer))
    right = unblocked(_right(op, site, integer=integer, columns=rank - 1))
    site.give(op.results[0], unblocked(_multiplied(op, site, left, right)))


def _gemm(op: OnnxOp, site: LinalgSite) -> Blocked | None:
    integer = is_integer(op)
    factors = op.float_attr("alpha", 1.0), op.float_attr("beta", 1.0) if op.input(2) is not None else 1.0
    if factors != (1.0, 1.0):
        return GEMM_FORM
    turned = bool(op.int_attr("transA", 0)), bool(op.int_attr("transB", 0))
    left = unblocked(factor(site, op.operands[0], integer=integer))
    right = unblocked(_right(op, site, integer=integer, columns=0 if turned[1] else 1))
    bias = op.input(2)
    columns, sizes = known_shape(op.results[0].type)[1:], () if bias is None else known_shape(bias.type)
    if prod(sizes) != 1 and (prod(sizes) != prod(columns) or sizes[-1:] != columns):
        return BIAS_BY_ROW
    site.give(op.results[0], unblocked(_multiplied(op, site, left, right, turned)))
    return None


def _integer_matmul(op: OnnxOp, site: LinalgSite) -> Blocked | None:
    """MatMulInteger: sums of products of integers minus zero points, which may be computed."""
    value, zeros = op.operands[1], (op.input(2), op.input(3))
    array, above = constant_array(value), None if zeros[1] is None else constant_array(zeros[1])
    counts = [1 if zero is None else prod(known_shape(zero.type)) for zero in zeros]
    if counts[0] > 1 or (counts[1] > 1 and (array is None or above is None)):
        return Blocked("zero-point", "the zero points differ by row, or are computed and differ by column")
    left = above_zero(site, op.operands[0], zeros[0])
    if array is None or (zeros[1] is not None and above is None):
        right = above_zero(site, value, zeros[1])
    else:  # zero points per column: along the last axis
        zero = np.int16(0) if above is None else above.astype(np.int16)
        right = site.constant(narrow(array.astype(np.int16) - zero))
    site.give(op.results[0], _sums(site, left, right, known_shape(op.results[0].type)))
    return None


PRODUCT_FORMS: dict[tuple[str, str], LinalgForm] = {
    ("", "MatMul"): LinalgForm(_matmul),
    ("", "MatMulInteger"): LinalgForm(_integer_matmul),
    ("", "Gemm"): LinalgForm(_gemm),
}
