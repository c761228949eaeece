"""
Write a product of one-hot vectors and a constant weight as a gather of the weight's rows.

    MatMul(OneHot(i, depth, {0, 1}), w)  ->  Gather(w', i')                  w' = w and a row of zeros
    MatMulInteger(y, w, z), y, scale, z = DynamicQuantizeLinear(OneHot(i, depth, {0, 1}))
                                         ->  Gather(w', i'), scale = 1 / 255      w' = 255 * (w - z) and a row of zeros

Exact: in each sum all products but one are zero. i' is i if it is within the depth, negative ones counted from the end;
else the index of the row of zeros, since a OneHot out of range is all zeros. If all vectors are zero the run-time scale
differs, but it is only a factor of these products, which are zero then. TensorFlow's embeddings are exported so; a
session multiplies by all the zeros.
"""

from math import prod
from typing import Any, NamedTuple

import numpy as np
import numpy.typing as npt
from xdsl.dialects.builtin import i1, i32, i64
from xdsl.ir import OpResult, SSAValue

from qdialect.dialects.onnx_base import OnnxOp
from qdialect.dialects.onnx_types import (
    BY_ATTRIBUTE,
    DYNAMIC,
    element_of,
    known_element,
    shape_of,
    with_element,
)
from qdialect.exactness import Exactness
from qdialect.forms.nodes import Nodes
from qdialect.ir.build import constant_op
from qdialect.ir.names import wish
from qdialect.ir.values import constant_array
from qdialect.promises.arithmetic import QuantizesAtRunTime, Scales
from qdialect.promises.base import Commutes
from qdialect.promises.linear import IntegerProduct, Linear
from qdialect.promises.rows import MarksRows
from qdialect.rewriting.driver import Rewriter
from qdialect.rewriting.matching import OnTrait
from qdialect.rewriting.passes import RewritePass, Role

MAX_TABLE_ELEMENTS = 1 << 18
"""Greatest number of elements of a table: one of integers has four bytes for each byte of the weight."""
STORED_ONE = 255
"""The stored integer of 1.0, quantized at run time from the range [0, 1]."""


class Marked(NamedTuple):
    """One-hot vectors, possibly with leading axes permuted or flattened."""

    numbers: SSAValue
    depth: int
    is_flat: bool
    """True if the vectors are the rows of a matrix."""


def _marked(value: SSAValue) -> Marked | None:
    """The OneHot whose vectors `value` holds; None if it does not consist of 0/1 vectors along the last axis."""
    flat = False
    while isinstance(value, OpResult) and isinstance(value.op, OnnxOp):
        op = value.op
        marks, moves = op.get_trait(MarksRows), op.get_trait(Commutes)
        if marks is not None:
            depth = marks.depth(op)
            fits = element_of(op.operands[0].type) in (i32, i64)
            return Marked(op.operands[0], depth, flat) if depth is not None and fits else None
        if moves is None or not moves.keeps_order:
            return None
        before, after = shape_of(op.operands[0].type), shape_of(value.type)
        if not before or after is None or len(after) != 2:
            return None
        if before[-1] == DYNAMIC or before[-1] != after[-1]:
            return None
        flat, value = True, op.operands[0]
    return None


def _taken(op: OnnxOp, marked: Marked, table: npt.NDArray[Any]) -> Nodes:
    """A gather of rows of `table`, whose last row is zeros, shaped like the result of `op`."""
    nodes, numbers = Nodes(op), marked.numbers
    dtype = BY_ATTRIBUTE[known_element(numbers.type)].dtype
    zero, depth = (nodes.constant(np.array(number, dtype)) for number in (0, marked.depth))
    truths = with_element(numbers.type, i1)

    def chosen(when: SSAValue, yes: SSAValue, no: SSAValue) -> SSAValue:
        return nodes.add("Where", [when, yes, no], numbers.type)

    negative = nodes.add("Less", [numbers, zero], truths)
    row = chosen(negative, nodes.add("Add", [numbers, depth], numbers.type), numbers)
    row = chosen(nodes.add("Less", [row, zero], truths), depth, row)
    row = chosen(nodes.add("Less", [row, depth], truths), row, depth)
    rows = nodes.constant(table, name=f"{wish(op.operands[1]) or 'weight'}_rows")
    columns = table.shape[1]
    shape = (*(shape_of(numbers.type) or ()), columns)
    taken = nodes.add("Gather", [rows, row], shape, {"axis": 0})
    if marked.is_flat:
        number = DYNAMIC if DYNAMIC in shape else prod(shape[:-1])
        nodes.reshape(taken, [-1, columns], (number, columns))
    nodes.ops[-1].location = op.location
    return nodes


def _weight(op: OnnxOp, marked: Marked) -> npt.NDArray[Any] | None:
    """The weight, if it is a matrix with a row for each index and at most `MAX_TABLE_ELEMENTS`; None otherwise."""
    weight = constant_array(op.operands[1])
    if weight is None or weight.ndim != 2 or len(weight) != marked.depth or weight.size > MAX_TABLE_ELEMENTS:
        return None
    return weight


class TakeRows(OnTrait[Linear]):
    """A product of one-hot vectors and a float weight."""

    def match(self, op: OnnxOp, promise: Linear, rewriter: Rewriter, /) -> None:
        marked = None if promise.has_bias or len(op.operands) != 2 else _marked(op.operands[0])
        weight = None if marked is None else _weight(op, marked)
        if marked is None or weight is None or weight.dtype != np.float32 or not np.isfinite(weight).all():
            return
        table = np.vstack([weight, np.zeros_like(weight[:1])])
        rewriter.replace(op, _taken(op, marked, table).ops)


class TakeIntegerRows(OnTrait[IntegerProduct]):
    """An integer product of one-hot vectors that are quantized at run time."""

    def match(self, op: OnnxOp, promise: IntegerProduct, rewriter: Rewriter, /) -> None:
        source = op.operands[0].owner
        if not isinstance(source, OnnxOp) or source.get_trait(QuantizesAtRunTime) is None:
            return
        marked, zero = _marked(source.operands[0]), constant_array(op.input(3))
        weight = None if marked is None or promise.channel_axis != -1 else _weight(op, marked)
        if marked is None or weight is None or (op.input(3) is not None and zero is None):
            return
        if op.input(2) is not source.results[2] or not _is_its_own(op, source):
            return
        wide = weight.astype(np.int32) - (0 if zero is None else zero.astype(np.int32))
        table = np.vstack([STORED_ONE * wide, np.zeros_like(wide[:1])])
        scale = constant_op(np.float32(1) / np.array(STORED_ONE, np.float32), wish(source.results[1]))
        rewriter.insert_before(source, [scale])
        rewriter.replace_uses(source.results[1], scale.results[0])
        rewriter.replace(op, _taken(op, marked, table).ops)


def _is_its_own(op: OnnxOp, source: OnnxOp) -> bool:
    """True if only `op` uses the integers, and the scale is used as a factor only."""
    integers = all(use.operation is op for place in (0, 2) for use in source.results[place].uses)
    factors = (use.operation for use in source.results[1].uses)
    return integers and all(user.get_trait(Scales) is not None for user in factors)


class FoldOneHotPass(RewritePass):
    name = "fold-one-hot"
    exactness = Exactness.EXACT
    role = Role.SIMPLIFYING
    rewrite = "OneHot(i) @ w -> Gather(w, i): all products but one are zero"
    pattern_types = (TakeRows, TakeIntegerRows)
