"""
Requantize the operands of an op that selects or joins to its result's type, so that it runs on integers.

    f(a : S, b : T) : T  ->  f(qcast(dcast(a)) : T, b) : T

Exact: rounding to T before f selects or joins equals rounding after it. If a target has a kernel for mixed scales, as
onnxruntime has for Concat and Where, that kernel gives the same result in one op.
"""

from qdialect.dialects.onnx_base import OnnxOp
from qdialect.dialects.quant import DequantizeOp, QuantizeOp
from qdialect.exactness import Exactness
from qdialect.promises.base import Commutes
from qdialect.reasons import unblocked
from qdialect.rewriting.driver import Rewriter
from qdialect.rewriting.matching import OnTrait
from qdialect.rewriting.passes import RewritePass


class UnifyOperands(OnTrait[Commutes]):
    """An op of several operands on quantized types that are not its result's."""

    def match(self, op: OnnxOp, promise: Commutes, rewriter: Rewriter, /) -> None:
        taken, result = promise.types(op)
        results = [t for t in result if t is not None]
        if len(taken) < 2 or not results or None in taken:
            return
        wanted = unblocked(promise.backward(op, results))
        for place, now, type in zip(promise.operands(op), taken, wanted, strict=True):
            if now == type:
                continue
            real = DequantizeOp(op.operands[place])
            cast = QuantizeOp(real, type)
            rewriter.insert_before(op, [real, cast])
            rewriter.set_operand(op, place, cast.results[0])


class UnifyScalesPass(RewritePass):
    name = "unify-scales"
    exactness = Exactness.EXACT
    reasons = "scales-along-axis"
    rewrite = "f(a : S, b : T) : T -> f(qcast(dcast(a)) : T, b): rounding commutes with choosing"
    pattern_types = (UnifyOperands,)
