"""
Drop ops that give their operand as it is; what was said of the copy is said of the original.

    Identity(x)  ->  x
    Dropout(x)   ->  x      at inference, its mask not read
    op(x)        ->  x      Reshape, Flatten, Expand to the same sizes; Transpose that moves no axis; Cast to the same
                            type; Slice of all; Pad by 0; Tile by 1; Concat of one, Split into one; + 0, - 0, * 1, / 1

Exact: nothing is computed, or nothing that changes a number. A quantization annotation on the copy moves to the tensor
that survives.
"""

from collections.abc import Sequence
from dataclasses import dataclass
from typing import ClassVar

from xdsl.ir import BlockArgument, Operation, OpResult

from qdialect.dialects.onnx_base import OnnxOp
from qdialect.exactness import Exactness
from qdialect.onnx_io.shapes import fits, fitted
from qdialect.promises.copies import Copies
from qdialect.reasons import Blocked
from qdialect.rewriting.driver import Pattern, Rewriter
from qdialect.rewriting.passes import RewritePass

ANNOTATION = "onnx.quantization."


class FoldCopy(Pattern):
    """An op whose result is its operand."""

    def accepts(self, op_class: type[Operation]) -> bool:
        return op_class.get_trait(Copies) is not None

    def rewrite(self, op: Operation, rewriter: Rewriter) -> Blocked | None:
        assert isinstance(op, OnnxOp)
        copies = op.get_trait(Copies)
        assert copies is not None
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


@dataclass(frozen=True)
class FoldIdentityPass(RewritePass):
    """Copies go."""

    name = "fold-identity"
    exactness: ClassVar[Exactness] = Exactness.EXACT
    rewrite: ClassVar[str] = "Identity(x) -> x: nothing is computed"

    def patterns(self) -> Sequence[Pattern]:
        return [FoldCopy()]
