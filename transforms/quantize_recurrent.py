"""
Quantize the weights of recurrent ops for dynamically quantized kernels.

    LSTM(x, W, R, ..)  ->  DynamicQuantizeLSTM(x, qcast(W), qcast(R), .., scales, zero points)    one for each column

Lossy: 8 bits. Only if the target has such a kernel, and it was measured to be faster than the float one: a decomposed
loop is slower than either.
"""

from collections.abc import Sequence
from dataclasses import dataclass

from qdialect.exactness import Exactness
from qdialect.patterns.recurrent import QuantizeRecurrent
from qdialect.patterns.target_pattern import TargetPass
from qdialect.rewriting.driver import Pattern


@dataclass(frozen=True)
class QuantizeRecurrentPass(TargetPass):
    name = "quantize-recurrent"
    exactness = Exactness.LOSSY
    reasons = "computed-parameter expressed-type float-faster recurrent-form"
    rewrite = "LSTM(x, W, R) -> DynamicQuantizeLSTM(x, qcast(W), qcast(R)): 8 bits, a scale a column"

    least: int = 0
    """Least number of hidden units; 0: as measured on the target."""

    def patterns(self) -> Sequence[Pattern]:
        return [QuantizeRecurrent(self.runtime, self.least)]
