"""
Einsum of two tensors as a product of matrices.

    Einsum(a, b) {bqhd,bkhd->bhqk}  =  MatMul(Transpose(a) : bhqd, Transpose(b) : bhdk)
    Einsum(a, w) {btd,dhe->bthe}    =  Reshape(MatMul(a, Reshape(w) : d(he)) : bt(he))

Indices of both operands are batches if the result has them, else they are summed. Of the left operand's own indices the
last one is that of the rows, the others are batches that the right operand lacks. The summed ones are one axis, and so
are the right operand's own, the columns.
"""

from __future__ import annotations

from collections.abc import Sequence
from math import prod
from typing import NamedTuple

from xdsl.ir import Operation, SSAValue

from qdialect.dialects.onnx_base import OnnxOp
from qdialect.dialects.onnx_types import BY_NUMPY, DYNAMIC, element_of, shape_of
from qdialect.forms.composition import Decomposes
from qdialect.forms.nodes import Nodes
from qdialect.reasons import UNKNOWN_RANK, Blocked, required

OUTER = "0123456789"
"""Indices that stand for an ellipsis, the innermost last."""
NO_PRODUCT = Blocked("product-form", "the equation is not a product of two matrices")


class Indices(NamedTuple):
    """The indices of a product by their place in it, each group in the order of the result."""

    batches: str
    """Of the left operand, and of the right one or not; those that the right one lacks come first."""
    shared: str
    """The batches of both."""
    row: str
    summed: str
    columns: str


def _indices(left: str, right: str, result: str) -> Indices | None:
    """None if they are not those of a product of matrices."""
    if any(len(set(term)) < len(term) for term in (left, right, result)):
        return None
    rows = [i for i in result if i in left and i not in right]
    columns = [i for i in result if i in right and i not in left]
    shared = [i for i in result if i in left and i in right]
    summed = [i for i in left if i in right and i not in result]
    if {*left, *right} != {*rows, *columns, *shared, *summed} or not {*result} <= {*left, *right}:
        return None
    if not (rows and columns and summed):
        return None
    groups = [*rows[:-1], *shared], shared, rows[-1:], summed, columns
    return Indices(*map("".join, groups))


def terms_of(equation: str, ranks: Sequence[int]) -> tuple[str, str, str] | None:
    """The indices of two operands and of the result; None for other ranks or another number of operands."""
    operands, arrow, result = equation.replace(" ", "").partition("->")
    terms = operands.split(",")
    if len(terms) != 2:
        return None
    if not arrow:
        result = "".join(sorted((set(terms[0]) ^ set(terms[1])) - {"."}))
        result = f"...{result}" if "." in operands else result
    free = [rank - len(term.replace("...", "")) for term, rank in zip(terms, ranks, strict=True)]
    if any(n < 0 or (n > 0 and "..." not in term) for term, n in zip(terms, free, strict=True)):
        return None
    left, right, result = (
        term.replace("...", OUTER[len(OUTER) - n :])
        for term, n in zip((*terms, result), (*free, max(free)), strict=True)
    )
    return left, right, result


def _matrix_parts(op: OnnxOp) -> Sequence[Operation] | Blocked:
    shapes = [shape for operand in op.operands if (shape := shape_of(operand.type)) is not None]
    if element_of(op.results[0].type) != BY_NUMPY["float32"].attribute:
        return Blocked("expressed-type", "only an Einsum in f32 is decomposed")
    if len(shapes) < len(op.operands):
        return UNKNOWN_RANK
    terms = required(terms_of(op.str_attr("equation", ""), [len(shape) for shape in shapes]), NO_PRODUCT)
    indices = required(_indices(*terms), NO_PRODUCT)
    left, right = (dict(zip(term, shape, strict=True)) for term, shape in zip(terms, shapes, strict=False))
    if any(left[i] != right[i] or left[i] == DYNAMIC for i in indices.summed) or (
        len(indices.columns) > 1 and any(right[i] == DYNAMIC for i in indices.columns)
    ):
        return Blocked("open-size", "a summed size is unknown, or one of several column sizes")
    return _product(op, terms, indices, left | right)


def _product(
    op: OnnxOp, terms: tuple[str, str, str], indices: Indices, sizes: dict[str, int]
) -> Sequence[Operation]:
    nodes, (left, right, result) = Nodes(), terms
    outer, shared = indices.batches + indices.row, indices.shared
    summed, columns = indices.summed, indices.columns
    depth, width = (prod(sizes[i] for i in group) for group in (summed, columns))
    a = _ordered(nodes, op.operands[0], left, outer + summed)
    if len(summed) > 1:
        a = nodes.reshape(a, [*[0] * len(outer), depth], [*(sizes[i] for i in outer), depth])
    b = _ordered(nodes, op.operands[1], right, shared + summed + columns)
    if len(summed) > 1 or len(columns) > 1:
        b = nodes.reshape(b, [*[0] * len(shared), depth, width], [*(sizes[i] for i in shared), depth, width])
    y = nodes.add("MatMul", [a, b], [*(sizes[i] for i in outer), width])
    if len(columns) > 1:
        split = [sizes[i] for i in columns]
        y = nodes.reshape(y, [*[0] * len(outer), *split], [*(sizes[i] for i in outer), *split])
    _ordered(nodes, y, outer + columns, result)
    return nodes.ops


def _ordered(nodes: Nodes, x: SSAValue, old: str, new: str) -> SSAValue:
    """`x` with the axes of indices `old` in the order of `new`."""
    return x if old == new else nodes.transpose(x, [old.index(i) for i in new])


EQUATIONS = {("", "Einsum"): Decomposes(_matrix_parts, products=True)}
