"""Patterns that merge consecutive Transposes and Reshapes, drop those without effect, and simplify others."""

from __future__ import annotations

import numpy as np
from xdsl.ir import Operation, OpResult, SSAValue

from qdialect.dialects.onnx_attributes import ints_attr
from qdialect.dialects.onnx_base import ConstantOp, OnnxOp
from qdialect.dialects.onnx_tensor import from_array
from qdialect.dialects.onnx_types import DYNAMIC, element_of, shape_of
from qdialect.forms.exact_equivalents import Sized
from qdialect.ir.values import constant_ints, is_constant
from qdialect.onnx_io.shapes import fits
from qdialect.ops.generated import op_named
from qdialect.promises.base import Commutes
from qdialect.promises.layout import Permutes, order_of
from qdialect.promises.sizes import TakesShape
from qdialect.reasons import unblocked
from qdialect.rewriting.driver import Rewriter
from qdialect.rewriting.matching import OnForm, OnOp, OnTrait


def reshape_sizes(value: SSAValue) -> tuple[int, ...] | None:
    """The shape as an operand of Reshape, -1 for an unknown size; None if more than one is unknown."""
    shape = shape_of(value.type)
    if shape is None or shape.count(DYNAMIC) > 1 or 0 in shape:
        return None
    return tuple(-1 if size == DYNAMIC else size for size in shape)


def keeps_order(op: OnnxOp) -> bool:
    """True if the op keeps its first operand's elements in row-major order."""
    commutes, order = op.get_trait(Commutes), order_of(op)
    if commutes is not None and commutes.keeps_order:
        return True
    shape = None if order is None else shape_of(op.operands[0].type)
    if order is None or shape is None:
        return False
    moved = [axis for axis in order if shape[axis] != 1]
    return moved == sorted(moved)


def _above(op: OnnxOp) -> OnnxOp | None:
    """The op that defines the operand of `op`, if in the same block."""
    value = op.operands[0] if op.operands else None
    above = value.op if isinstance(value, OpResult) else None
    return above if isinstance(above, OnnxOp) and above.parent is op.parent else None


class FoldTransposes(OnTrait[Permutes]):
    """Transpose of Transpose becomes one Transpose, or none if the axes are back in order."""

    def match(self, op: OnnxOp, second: Permutes, rewriter: Rewriter, /) -> None:
        above, after = _above(op), second.order(op)
        before = order_of(above)
        if above is None or before is None or after is None or not _may_merge(op, above):
            return
        if len(before) != len(after):
            return
        order, source = tuple(before[k] for k in after), above.operands[0]
        if order == tuple(range(len(order))) and fits(source, op):
            rewriter.replace(op, [], [source])
            return
        turned = op_named("", "Transpose").build([source], [op.results[0].type], {"perm": ints_attr(order)})
        rewriter.replace(op, [turned])


def _may_merge(op: OnnxOp, above: OnnxOp) -> bool:
    """True if `above` has no other users, or both ops cancel."""
    return above.results[0].has_one_use() or above.operands[0].type == op.results[0].type


class FoldReshapes(OnOp[OnnxOp]):
    """Two ops one after another that only reshape become one Reshape, or none if the shape is back."""

    def accepts(self, op_class: type[Operation]) -> bool:
        commutes = op_class.get_trait(Commutes)
        ordered = commutes is not None and commutes.keeps_order
        return issubclass(op_class, OnnxOp) and (ordered or op_class.get_trait(Permutes) is not None)

    def match(self, op: OnnxOp, rewriter: Rewriter, /) -> None:
        above = _above(op)
        if above is None or not (keeps_order(op) and keeps_order(above)):
            return
        source, sizes = above.operands[0], reshape_sizes(op.results[0])
        if sizes is None or not _may_merge(op, above) or is_constant(source):
            return
        if element_of(source.type) != element_of(op.results[0].type):
            return
        if source.type == op.results[0].type:
            rewriter.replace(op, [], [source])
            return
        if op.get_trait(TakesShape) is not None and constant_ints(op.operands[1]) == sizes:
            rewriter.set_operand(op, 0, source)
            return
        listed = ConstantOp.of(from_array(np.array(sizes, np.int64)))
        new = op_named("", "Reshape").build([source, listed.results[0]], [op.results[0].type])
        rewriter.replace(op, [listed, new])


class SimplifyMove(OnForm[Sized]):
    """An op that moves elements or adds zeros, with constant sizes, becomes simpler ops."""

    def match(self, op: OnnxOp, form: Sized, rewriter: Rewriter, /) -> None:
        if parts := unblocked(form.parts(op)):
            rewriter.replace(op, parts)
