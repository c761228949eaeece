"""
Write a branch whose condition is known in the place of its If.

    If(true) {yield a} {yield b}  ->  a

Exact: the other branch never runs. `fold-constants` and `fold-shapes` find the conditions.
"""
# Around the driver: the branch that runs is lifted out of a region that goes with its If, which the driver replaces.

from collections.abc import Sequence
from typing import ClassVar

from xdsl.context import Context
from xdsl.dialects.builtin import ModuleOp

from qdialect.dialects.onnx_base import OnnxOp
from qdialect.exactness import Exactness
from qdialect.ir.values import constant_array
from qdialect.ir.walking import operations
from qdialect.onnx_io.shapes import Cast, infer_unknown
from qdialect.promises.control import Carries
from qdialect.reasons import Blocked
from qdialect.rewriting.driver import Pattern, Rewriter, erase_unused, refresh_signatures
from qdialect.rewriting.matching import OnTrait
from qdialect.rewriting.passes import RewritePass


class FoldBranch(OnTrait[Carries]):
    """One of several branches, chosen by a constant."""

    def wants(self, promise: Carries, /) -> bool:
        return promise.branches

    def match(self, op: OnnxOp, promise: Carries, rewriter: Rewriter, /) -> Blocked | None:
        chosen = constant_array(op.operands[0])
        if chosen is None or chosen.size != 1:
            return None
        block = op.regions[op.region_names.index("then_branch" if chosen.all() else "else_branch")].block
        end = block.last_op
        if end is None or len(end.operands) != len(op.results):
            return None
        yielded, inside = list(end.operands), [one for one in block.ops if one is not end]
        end.detach()
        end.drop_all_references()
        for one in inside:
            one.detach()
        rewriter.replace(op, inside, yielded)
        return None


class FoldBranchesPass(RewritePass):
    """The branch that runs stands alone."""

    name = "fold-branches"
    exactness: ClassVar[Exactness] = Exactness.EXACT
    rewrite: ClassVar[str] = "If(true) {yield a} {yield b} -> a: the other branch never runs"

    def patterns(self) -> Sequence[Pattern]:
        return [FoldBranch()]

    def apply(self, ctx: Context, op: ModuleOp) -> None:
        ops = operations(op)
        branching = [one for one in ops if (p := one.get_trait(Carries)) is not None and p.branches]
        super().apply(ctx, op)
        if all(one.parent is not None for one in branching):
            return
        erase_unused(op)  # what only the other branch took
        if not any(isinstance(one, Cast) for one in ops):
            infer_unknown(op)
            refresh_signatures(op)
