"""
Drop ops that give their operand as it is; what was said of the copy is said of the original.

    Identity(x)  ->  x

Exact: nothing is computed. A quantization annotation on the copy moves to the tensor that survives.
"""

from collections.abc import Sequence
from dataclasses import dataclass
from typing import ClassVar

from xdsl.ir import BlockArgument, Operation, OpResult

from qdialect.dialects.onnx_ops import OnnxOp
from qdialect.passes import Exactness, RewritePass
from qdialect.promises.base import Blocked, Commutes
from qdialect.rewriting import Pattern, Rewriter

ANNOTATION = "onnx.quantization."


class FoldCopy(Pattern):
    """An op whose result is its operand."""

    def accepts(self, op_class: type[Operation]) -> bool:
        promise = op_class.get_trait(Commutes)
        return promise is not None and promise.in_place and promise.keeps_order

    def rewrite(self, op: Operation, rewriter: Rewriter) -> Blocked | None:
        assert isinstance(op, OnnxOp)
        source, result = op.operands[0], op.results[0]
        if source.type != result.type:
            return Blocked("type-differs", "the copy is known to be of another type or shape")
        _move_annotation(op, source)
        rewriter.replace(op, [], [source])
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
