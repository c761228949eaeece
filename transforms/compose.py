"""
Compose a matrix product and the bias added to it into one op, for which there is one integer kernel.

    Add(MatMul(dcast(x), dcast(w)), b)  ->  Gemm(dcast(x), dcast(w), b)

Close: the bias is added before the sum is rounded instead of after. Only between casts, and only if the product has
no other user.
"""

from xdsl.ir import OpResult

from qdialect.dialects.onnx_base import OnnxOp
from qdialect.dialects.quant import DequantizeOp
from qdialect.exactness import Exactness
from qdialect.forms.composition import TakesBias
from qdialect.forms.table import form_of
from qdialect.ir.values import is_constant
from qdialect.promises.elementwise import Adds
from qdialect.reasons import Blocked, unblocked
from qdialect.rewriting.driver import Rewriter
from qdialect.rewriting.matching import OnTrait
from qdialect.rewriting.passes import RewritePass, Role


class ComposeBias(OnTrait[Adds]):
    """An addition of a constant behind a product of dequantized operands."""

    def match(self, op: OnnxOp, promise: Adds, rewriter: Rewriter, /) -> Blocked | None:
        for product, bias in (op.operands, reversed(op.operands)):
            if not (isinstance(product, OpResult) and isinstance(product.op, OnnxOp) and is_constant(bias)):
                continue
            form = form_of(type(product.op), TakesBias)
            if form is None or not all(isinstance(o.owner, DequantizeOp) for o in product.op.operands):
                continue
            if not product.has_one_use():
                return Blocked("second-consumer", "the product has a second consumer")
            whole = unblocked(form.whole(product.op, bias))
            rewriter.replace(op, [whole])
            return None
        return None


class ComposePass(RewritePass):
    name = "compose"
    exactness = Exactness.CLOSE
    role = Role.SIMPLIFYING
    reasons = "bias-shape invalid-op second-consumer"
    rewrite = "Add(MatMul(x, w), b) -> Gemm(x, w, b): the bias joins the sum before it is rounded"
    pattern_types = (ComposeBias,)
