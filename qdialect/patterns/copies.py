"""The pattern that drops ops which return their operand unchanged."""

from __future__ import annotations

from xdsl.ir import BlockArgument, OpResult, SSAValue

from qdialect.dialects.onnx_base import ANNOTATION, OnnxOp
from qdialect.onnx_io.shapes import fits, fitted
from qdialect.promises.copies import Copies
from qdialect.reasons import Blocked, unblocked
from qdialect.rewriting.driver import Rewriter
from qdialect.rewriting.matching import OnTrait


class FoldCopy(OnTrait[Copies]):
    """copy(x) -> x."""

    def match(self, op: OnnxOp, copies: Copies, rewriter: Rewriter, /) -> Blocked | None:
        place = copies.place(op)
        if place is None:
            return None
        unblocked(copies.blocked(op))
        source = op.operands[place]
        if any(other.first_use is not None for other in op.results[1:]):
            return Blocked("mask-used", "another result of the op is used", "use only the first result")
        if not fits(source, op):
            return Blocked("type-differs", "the copy is declared with another type or shape")
        _move_annotation(op, source)
        rewriter.replace(op, [], [fitted(source, op, rewriter), *op.results[1:]])
        return None


def _move_annotation(op: OnnxOp, source: SSAValue) -> None:
    said = op.attributes.get(f"{ANNOTATION}0")
    if said is None:
        return
    if isinstance(source, OpResult):
        source.op.attributes.setdefault(f"{ANNOTATION}{source.index}", said)
    elif isinstance(source, BlockArgument) and (graph := source.block.parent_op()) is not None:
        graph.attributes.setdefault(f"{ANNOTATION}{source.index}", said)
