"""
Drop ops that give their operand as it is; what was said of the copy is said of the original.

    Identity(x)  ->  x
    Dropout(x)   ->  x      at inference, its mask not read
    op(x)        ->  x      Reshape, Flatten, Expand, CenterCropPad to the same sizes; Transpose that moves no axis;
                            Cast to the same type; Slice of all; Pad by 0; Tile by 1; Concat or Sum of one, Split into
                            one; + 0, - 0, * 1, / 1

Exact: nothing is computed, or nothing that changes a number. A quantization annotation on the copy moves to the tensor
that survives. Readings of integers that meet where a copy was go if they undo each other.
"""

from xdsl.ir import BlockArgument, OpResult

from qdialect.dialects.onnx_base import ANNOTATION, OnnxOp
from qdialect.exactness import Exactness
from qdialect.onnx_io.shapes import fits, fitted
from qdialect.patterns.casts import FoldStorageCasts
from qdialect.promises.copies import Copies
from qdialect.reasons import Blocked
from qdialect.rewriting.driver import Rewriter
from qdialect.rewriting.matching import OnTrait
from qdialect.rewriting.passes import RewritePass


class FoldCopy(OnTrait[Copies]):
    """An op whose result is its operand."""

    def match(self, op: OnnxOp, copies: Copies, rewriter: Rewriter, /) -> Blocked | None:
        place = copies.place(op)
        if place is None:
            return None
        if (blocked := copies.blocked(op)) is not None:
            return blocked
        source = op.operands[place]
        if any(other.first_use is not None for other in op.results[1:]):
            return Blocked("mask-used", "another result of the op is used", "use the first result alone")
        if not fits(source, op):
            return Blocked("type-differs", "the copy is known to be of another type or shape")
        _move_annotation(op, source)
        rewriter.replace(op, [], [fitted(source, op, rewriter), *op.results[1:]])
        return None


def _move_annotation(op: OnnxOp, source: OpResult | BlockArgument | object) -> None:
    said = op.attributes.get(f"{ANNOTATION}0")
    if said is None:
        return
    if isinstance(source, OpResult):
        source.op.attributes.setdefault(f"{ANNOTATION}{source.index}", said)
    elif isinstance(source, BlockArgument) and (graph := source.block.parent_op()) is not None:
        graph.attributes.setdefault(f"{ANNOTATION}{source.index}", said)


class FoldIdentityPass(RewritePass):
    """Copies go."""

    name = "fold-identity"
    exactness = Exactness.EXACT
    rewrite = "Identity(x) -> x: nothing is computed"
    pattern_types = (FoldCopy, FoldStorageCasts)
