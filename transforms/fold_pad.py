"""
Fold a Pad of zeros into the pads of the following window.

    window(Pad(x, 0), pads = p)  ->  window(x, pads = p + pad)

Exact: a window pads with real zero too, which integer kernels store as the zero point. Only for a constant Pad of real
zero, on spatial axes, that crops nothing and has no other user.
"""

from xdsl.ir import OpResult

from qdialect.dialects.onnx_base import OnnxOp
from qdialect.dialects.onnx_types import element_of
from qdialect.exactness import Exactness
from qdialect.ir.build import copied
from qdialect.promises.padding import AddsPadding, ZeroPads
from qdialect.reasons import Blocked, unblocked
from qdialect.rewriting.driver import Rewriter
from qdialect.rewriting.matching import OnTrait
from qdialect.rewriting.passes import RewritePass, Role


class FoldPad(OnTrait[ZeroPads]):
    """A Pad in front of a window."""

    def match(self, op: OnnxOp, promise: ZeroPads, rewriter: Rewriter, /) -> Blocked | None:
        source = op.operands[0]
        if not (isinstance(source, OpResult) and isinstance(source.op, OnnxOp)):
            return None
        pad = source.op
        adds = pad.get_trait(AddsPadding)
        if adds is None:
            return None
        if not source.has_one_use():
            return Blocked("second-consumer", "the padded tensor has a second consumer")
        if element_of(pad.operands[0].type) != element_of(source.type):
            return Blocked("other-parameters", "Pad changes scale or zero point")
        added = unblocked(adds.spatial(pad))
        attributes = unblocked(promise.padded(op, added))
        new = copied(op, [pad.operands[0], *op.operands[1:]], op.result_types)
        new.properties |= attributes
        rewriter.replace(op, [new])
        return None


class FoldPadPass(RewritePass):
    name = "fold-pad"
    exactness = Exactness.EXACT
    role = Role.SIMPLIFYING
    reasons = (
        "computed-parameter invalid-op invalid-parameters other-parameters pad-form second-consumer "
        "unknown-shape"
    )
    rewrite = "window(Pad(x, 0), pads = p) -> window(x, pads = p + pad): both pad with real zero"
    pattern_types = (FoldPad,)
