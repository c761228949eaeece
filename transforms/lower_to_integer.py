"""
Lower linear ops on quantized types to integer sums with explicit scaling.

    linear(x, w, b) : T  ->  QuantizeLinear(Cast(LinearInteger(x, w) + b) * (x_scale * w_scale))
    linear(x, w, b)      ->  Cast(LinearInteger(x, w)) * (x_scale * w_scale) + b

Close: the integer sum is exact, each op after it rounds once. The bias is added in its own type: int32 or float. For
a convolution with a quantized result, which one kernel computes, a remark states by which factor it is at least
slower.
"""

from collections.abc import Sequence

from xdsl.context import Context
from xdsl.dialects.builtin import ModuleOp

from qdialect.exactness import Exactness
from qdialect.ir.names import settle_names
from qdialect.patterns.casts import FoldStorageCasts
from qdialect.patterns.sums import LowerToSum
from qdialect.patterns.target_pattern import TargetPass
from qdialect.rewriting.driver import Pattern
from qdialect.rewriting.passes import Role


class LowerToIntegerPass(TargetPass):
    name = "lower-to-integer"
    exactness = Exactness.CLOSE
    role = Role.LOWERING
    reasons = (
        "activation-per-axis bias-scale computed-parameter empty-tensor expressed-type no-kernel "
        "product-form slower-form unknown-shape zero-point"
    )
    rewrite = "linear(x, w) : T -> QuantizeLinear(Cast(LinearInteger(x, w)) * (x_scale * w_scale)): one step at most"

    def patterns(self) -> Sequence[Pattern]:
        return [LowerToSum(self.runtime), FoldStorageCasts()]

    def apply(self, ctx: Context, op: ModuleOp) -> None:
        settle_names(op)  # names of new values derive from existing ones
        super().apply(ctx, op)
