"""
Quantize the weights of recurrent ops for a kernel that quantizes their activations whenever it runs.

    LSTM(x, W, R, ..)  ->  DynamicQuantizeLSTM(x, qcast(W), qcast(R), .., scales, zero points)    a scale for each column

Lossy: 8 bits. Only where the target has such a kernel, and it was measured to be faster than the float one: a loop taken
apart is slower than either.
"""

from collections.abc import Sequence
from dataclasses import dataclass
from typing import ClassVar

from xdsl.ir import Operation

from qdialect.dialects.onnx_base import OnnxOp
from qdialect.forms.dynamic import QuantizesItself
from qdialect.forms.table import form_of
from qdialect.reasons import Blocked
from qdialect.rewriting.driver import Pattern, Rewriter
from qdialect.rewriting.passes import Exactness, RewritePass
from qdialect.targets import Target, target

TYPES = ("f32", "i8"), "f32"


class QuantizeRecurrent(Pattern):
    """One op with such a kernel on the target."""

    def __init__(self, found: Target, least: int):
        self._target, self._least = found, least

    def accepts(self, op_class: type[Operation]) -> bool:
        form = form_of(op_class, QuantizesItself)
        return form is not None and self._target.has_kernel(form.kernel, *TYPES)

    def rewrite(self, op: Operation, rewriter: Rewriter) -> Blocked | None:
        assert isinstance(op, OnnxOp)
        form = form_of(type(op), QuantizesItself)
        assert form is not None
        size, least = form.size(op), self._least or self._target.costs.get(form.kernel, {}).get("least", 1.0)
        if size is None or size < least:
            return Blocked(
                "float-is-faster", f"with less than {least:.0f} hidden units the float kernel is faster"
            )
        parts = form.parts(op)
        if isinstance(parts, Blocked):
            return parts
        rewriter.replace(op, parts)
        return None


@dataclass(frozen=True)
class QuantizeRecurrentPass(RewritePass):
    """Recurrent weights in 8 bits."""

    name = "quantize-recurrent"
    exactness: ClassVar[Exactness] = Exactness.LOSSY
    rewrite: ClassVar[str] = (
        "LSTM(x, W, R) -> DynamicQuantizeLSTM(x, qcast(W), qcast(R)): 8 bits, a scale a column"
    )

    target: str = "onnxruntime"
    least: int = 0
    """Hidden units from which on; 0: what was measured on the target."""

    def patterns(self) -> Sequence[Pattern]:
        return [QuantizeRecurrent(target(self.target), self.least)]
