"""
Exclude ops in half precision from all rewrites.

    f(x : f16)        ->  f(x) {kept}             likewise bf16
    f(c, g(z)) : f16  ->  f(c, g(z) {kept})       no other operand of f is computed by such an op

Exact: no op changes. onnxruntime computes most of these ops in float32, and their neighbours decide whether it rounds
to half precision between two of them: dropping a copy of a scale, or folding a constant, moves the roundings. An op
on constants only is computed in half precision. So if no operand of an op comes from an op in half precision, the ops
that compute its operands are kept too: a constant in their place would change the op's precision.
"""
# Around the driver: an attribute is set, and nothing rewritten.

from xdsl.context import Context
from xdsl.dialects.builtin import ModuleOp, StringAttr
from xdsl.ir import Operation

from qdialect.dialects.onnx_base import ConstantOp, OnnxOp
from qdialect.dialects.onnx_types import element_of
from qdialect.dialects.quant import Half
from qdialect.exactness import Exactness
from qdialect.rewriting.journal import HALF_PRECISION, KEEP_FLOAT
from qdialect.rewriting.passes import Pass


class KeepHalfPass(Pass):
    name = "keep-half"
    exactness = Exactness.EXACT
    rewrite = "f(x : f16) -> f(x) {kept}: roundings between such ops depend on the ops"

    def apply(self, ctx: Context, op: ModuleOp) -> None:
        halves = [one for one in op.walk() if _is_computed(one) and _is_half(one)]
        for one in halves:
            makers = [v.owner for v in one.operands if isinstance(v.owner, OnnxOp) and _is_computed(v.owner)]
            for kept in (one, *(() if any(_is_half(maker) for maker in makers) else makers)):
                if KEEP_FLOAT not in kept.attributes:
                    kept.attributes[KEEP_FLOAT] = StringAttr(HALF_PRECISION.id)


def _is_computed(op: Operation) -> bool:
    return isinstance(op, OnnxOp) and not isinstance(op, ConstantOp)


def _is_half(op: Operation) -> bool:
    values = (*op.operands, *op.results)
    return any(isinstance(element_of(v.type), Half) for v in values)
