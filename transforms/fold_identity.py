"""
Drop ops that give their operand as it is; what was said of the copy is said of the original.

    Identity(x)  ->  x
    Dropout(x)   ->  x      at inference, its mask not read

Exact: nothing is computed. A quantization annotation on the copy moves to the tensor that survives.
"""

from dataclasses import dataclass

from xdsl.context import Context
from xdsl.dialects.builtin import ModuleOp
from xdsl.ir import BlockArgument, OpResult

from qdialect.dialects.onnx_base import OnnxOp
from qdialect.ir.values import constant
from qdialect.ir.walking import operations
from qdialect.onnx_io.shapes import fits, fitted, learn_sizes
from qdialect.promises.layout import Copies
from qdialect.reasons import Blocked
from qdialect.rewriting.driver import Rewriter, refresh_signatures
from qdialect.rewriting.matching import OnTrait
from qdialect.rewriting.passes import Exactness, RewritePass

ANNOTATION = "onnx.quantization."


class FoldCopy(OnTrait[Copies]):
    """An op whose result is its operand."""

    def match(self, op: OnnxOp, copies: Copies, rewriter: Rewriter, /) -> Blocked | None:
        if (blocked := copies.blocked(op)) is not None:
            return blocked
        source = op.operands[0]
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
    exactness = Exactness.EXACT
    rewrite = "Identity(x) -> x: nothing is computed"

    pattern_types = (FoldCopy,)

    def apply(self, ctx: Context, op: ModuleOp) -> None:
        copied = [o.operands[0] for o in operations(op) if o.get_trait(Copies) is not None]
        super().apply(ctx, op)
        if learn_sizes(op, [value for value in copied if constant(value) is not None]):
            refresh_signatures(op)
