"""
Lower a graph to linalg, arith, math and tensor of upstream MLIR, with onnxruntime's arithmetic.

    op(a, b) : T             ->  linalg.generic sums in i32; rint(f32(sum) * (a_scale * b_scale / scale)) + zero point
    f(a) : T,  no kernel     ->  linalg.generic of f32: quantize(f(dequantize(a)))
    g(a : f32)               ->  linalg.generic of f32
    f(q),  f moves           ->  the stored integers, moved

Close: a sum of integers rounds once, where the float form rounds in each step; ops that move are exact. All sizes
must be known. Quantized values are signless integers; images have their channels last between ops that prefer that
layout. Ops without a form are kept, with a remark.
"""

from xdsl.context import Context
from xdsl.dialects.builtin import ModuleOp

from qdialect.exactness import Exactness
from qdialect.rewriting.passes import Pass, Role
from qdialect.upstream.linalg.site import LinalgSite
from qdialect.upstream.linalg.table import LINALG_FORMS
from qdialect.upstream.lowering import lower


class LowerToLinalgPass(Pass):
    name = "lower-to-linalg"
    exactness = Exactness.CLOSE
    role = Role.LOWERING
    reasons = (
        "activation-per-axis bias-shape block-scales computed-parameter equal-elements expressed-type "
        "interpolates invalid-op no-form open-size other-type pad-form product-form storage-type "
        "training-mode zero-point"
    )
    rewrite = "op(a, b) : T -> rint(f32(sum of i32) * (a_scale * b_scale / scale)) + zero point, half to even"

    def apply(self, ctx: Context, op: ModuleOp) -> None:
        lower(op, self.name, LINALG_FORMS, LinalgSite)
