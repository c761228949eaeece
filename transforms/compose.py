"""
Read a product and the bias added to it as the one op that computes both, which one integer kernel does.

    Add(MatMul(dcast(x), dcast(w)), b)  ->  Gemm(dcast(x), dcast(w), b)

Close: the bias joins the sum before it is rounded instead of after. Only between casts, and only if nobody else takes
the product.
"""

from collections.abc import Sequence
from dataclasses import dataclass
from typing import ClassVar

from xdsl.ir import Operation, OpResult, SSAValue

from qdialect.dialects.onnx_base import ConstantOp, OnnxOp
from qdialect.dialects.quant import DequantizeOp
from qdialect.exactness import Exactness
from qdialect.forms.composition import TakesBias
from qdialect.forms.table import form_of
from qdialect.promises.joins import Adds
from qdialect.reasons import Blocked
from qdialect.rewriting.driver import Pattern, Rewriter
from qdialect.rewriting.passes import RewritePass


def _is_bias(value: SSAValue) -> bool:
    source = value.owner.operands[0] if isinstance(value.owner, DequantizeOp) else value
    return isinstance(source.owner, ConstantOp)


class ComposeBias(Pattern):
    """An addition of a constant behind a product of dequantized operands."""

    def accepts(self, op_class: type[Operation]) -> bool:
        return op_class.get_trait(Adds) is not None

    def rewrite(self, op: Operation, rewriter: Rewriter) -> Blocked | None:
        for product, bias in (op.operands, reversed(op.operands)):
            if not (isinstance(product, OpResult) and isinstance(product.op, OnnxOp) and _is_bias(bias)):
                continue
            promise = form_of(type(product.op), TakesBias)
            if promise is None or not all(isinstance(o.owner, DequantizeOp) for o in product.op.operands):
                continue
            if not product.has_one_use():
                return Blocked("second-consumer", "the product has a second consumer")
            whole = promise.whole(product.op, bias)
            if isinstance(whole, Blocked):
                return whole
            rewriter.replace(op, [whole])
            return None
        return None


@dataclass(frozen=True)
class ComposePass(RewritePass):
    """A product and its bias become one op."""

    name = "compose"
    exactness: ClassVar[Exactness] = Exactness.CLOSE
    rewrite: ClassVar[str] = (
        "Add(MatMul(x, w), b) -> Gemm(x, w, b): the bias joins the sum before it is rounded"
    )

    def patterns(self) -> Sequence[Pattern]:
        return [ComposeBias()]
