"""
Drop two mirrors that undo each other.

    Mirror(Mirror(x) {axis}) {axis}  ->  x

Exact: each element stands where it stood, whole.
"""

from dataclasses import dataclass

from qdialect.dialects.onnx_base import OnnxOp
from qdialect.exactness import Exactness
from qdialect.reasons import Blocked
from qdialect.rewriting.driver import Rewriter
from qdialect.rewriting.matching import OnTrait
from qdialect.rewriting.passes import RewritePass, Role
from qdialect_mirror.promises import Reverses


class FoldMirrors(OnTrait[Reverses]):
    """An op that reverses what another has reversed."""

    def match(self, op: OnnxOp, promise: Reverses, rewriter: Rewriter, /) -> Blocked | None:
        inner = op.operands[0].owner
        if not isinstance(inner, OnnxOp) or inner.get_trait(Reverses) is None:
            return None
        if promise.axis(inner) is None or promise.axis(op) != promise.axis(inner):
            return Blocked("another-axis", "the two mirrors reverse different axes, or one that is not known")
        rewriter.replace(op, [], [inner.operands[0]])
        return None


@dataclass(frozen=True)
class FoldMirrorsPass(RewritePass):
    name = "fold-mirrors"
    exactness = Exactness.EXACT
    role = Role.SIMPLIFYING
    reasons = "another-axis"
    rewrite = "Mirror(Mirror(x)) -> x: each element stands where it stood"
    pattern_types = (FoldMirrors,)
