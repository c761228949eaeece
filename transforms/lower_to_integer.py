"""
Write linear ops on quantized types as integer sums with their scales written out.

    linear(x, w, b) : T  ->  QuantizeLinear(Cast(LinearInteger(x, w) + b) * (x_scale * w_scale))
    linear(x, w, b)      ->  Cast(LinearInteger(x, w)) * (x_scale * w_scale) + b

Close: the integer sum is exact, what follows is rounded once per op. The bias is added where it is: int32 or float.
"""

from collections.abc import Sequence
from dataclasses import dataclass
from typing import ClassVar

from qdialect.exactness import Exactness
from qdialect.patterns.casts import FoldStorageCasts
from qdialect.patterns.sums import LowerToSum
from qdialect.rewriting.driver import Pattern
from qdialect.rewriting.passes import RewritePass


@dataclass(frozen=True)
class LowerToIntegerPass(RewritePass):
    """Linear ops on quantized types become integer sums and explicit scales."""

    name = "lower-to-integer"
    exactness: ClassVar[Exactness] = Exactness.CLOSE
    rewrite: ClassVar[str] = (
        "linear(x, w) : T -> QuantizeLinear(Cast(LinearInteger(x, w)) * (x_scale * w_scale)): one step at most"
    )

    target: str = "onnxruntime"

    def patterns(self) -> Sequence[Pattern]:
        return [LowerToSum(self.target), FoldStorageCasts()]
