"""
Drop ops that give their operand as it is; what was said of the copy is said of the original.

    Identity(x)  ->  x
    Dropout(x)   ->  x      at inference, its mask not read

Exact: nothing is computed. A quantization annotation on the copy moves to the tensor that survives.
"""

from collections.abc import Sequence
from dataclasses import dataclass
from typing import ClassVar

from xdsl.context import Context
from xdsl.dialects.builtin import DYNAMIC_INDEX, ModuleOp, TensorType, UnrankedTensorType
from xdsl.ir import Block, BlockArgument, Operation, OpResult, SSAValue

from qdialect.constants import constant
from qdialect.dialects.onnx_ops import OnnxOp
from qdialect.dialects.onnx_types import element_of
from qdialect.dialects.quant import QuantizeOp
from qdialect.passes import Exactness, RewritePass
from qdialect.promises.base import Blocked
from qdialect.promises.layout import Copies
from qdialect.rewriting import Pattern, Rewriter, refresh_signatures
from qdialect.shapes import learn_sizes
from qdialect.walking import operations

ANNOTATION = "onnx.quantization."


class FoldCopy(Pattern):
    """An op whose result is its operand."""

    def accepts(self, op_class: type[Operation]) -> bool:
        return op_class.get_trait(Copies) is not None

    def rewrite(self, op: Operation, rewriter: Rewriter) -> Blocked | None:
        assert isinstance(op, OnnxOp)
        copies = op.get_trait(Copies)
        assert copies is not None
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


def fits(value: SSAValue, op: OnnxOp) -> bool:
    """Whether `value` can be in place of the op's first result: of its type, but for sizes that only this knows."""
    known, result = value.type, op.results[0].type
    if known == result:
        return True
    if element_of(known) != element_of(result) or not isinstance(result, TensorType):
        return False
    block = value.owner if isinstance(value.owner, Block) else value.owner.parent
    if block is op.parent and not isinstance(value.owner, OnnxOp | QuantizeOp):
        return False  # a graph that yields it would say less of its result
    if isinstance(known, UnrankedTensorType):
        return True
    if not isinstance(known, TensorType) or known.get_num_dims() != result.get_num_dims():
        return False
    return all(a in (b, DYNAMIC_INDEX) for a, b in zip(known.get_shape(), result.get_shape(), strict=True))


def fitted(value: SSAValue, op: OnnxOp, rewriter: Rewriter) -> SSAValue:
    """What is in place of the op's first result, with what is known of that: not of a branch, which may not run."""
    result = op.results[0].type
    if value.type == result or not isinstance(value.owner, OnnxOp) or value.owner.parent is not op.parent:
        return value
    return rewriter.retype(value, result)


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

    def apply(self, ctx: Context, op: ModuleOp) -> None:
        copied = [o.operands[0] for o in operations(op) if o.get_trait(Copies) is not None]
        super().apply(ctx, op)
        if learn_sizes(op, [value for value in copied if constant(value) is not None]):
            refresh_signatures(op)
