"""
Keep what computes in half precision as it is.

    f(x : f16)  ->  f(x) {kept}     likewise bf16

Exact: no op changes. onnxruntime computes most of these ops in float32, and whether it rounds to half precision between
two of them hangs on their neighbours: a copy of a scale that goes, or a constant that is folded, moves the roundings.
"""
# Around the driver: an attribute is set, and nothing rewritten.

from xdsl.context import Context
from xdsl.dialects.builtin import BFloat16Type, Float16Type, ModuleOp, StringAttr
from xdsl.passes import ModulePass

from qdialect.dialects.onnx_base import ConstantOp, OnnxOp
from qdialect.dialects.onnx_types import element_of
from qdialect.exactness import Exactness
from qdialect.rewriting.journal import HALF, KEEP_FLOAT


class KeepHalfPass(ModulePass):
    """No rewrite changes an op in half precision."""

    name = "keep-half"
    exactness = Exactness.EXACT
    rewrite = "f(x : f16) -> f(x) {kept}: roundings between such ops hang on the ops"

    def apply(self, ctx: Context, op: ModuleOp) -> None:
        for one in op.walk():
            if isinstance(one, OnnxOp) and not isinstance(one, ConstantOp):
                values = (*one.operands, *one.results)
                is_half = any(isinstance(element_of(v.type), Float16Type | BFloat16Type) for v in values)
                if is_half and KEEP_FLOAT not in one.attributes:
                    one.attributes[KEEP_FLOAT] = StringAttr(HALF.id)
