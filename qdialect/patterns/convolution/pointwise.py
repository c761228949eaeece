"""The pattern that writes a product with a constant matrix as a 1x1 convolution, if that is faster."""

from __future__ import annotations

from xdsl.dialects.builtin import Float32Type

from qdialect.dialects.onnx_base import OnnxOp
from qdialect.dialects.onnx_types import quantized_of, shape_of
from qdialect.forms.pointwise import AsPointwise
from qdialect.patterns.targeted import ForTarget
from qdialect.promises.linear import Linear
from qdialect.reasons import Blocked
from qdialect.rewriting.driver import Rewriter
from qdialect.rewriting.matching import OnForm
from qdialect.targets.pricing import ALIGNED, Convolution, quantized_kernel

TYPES = ["u8", "i8"]
"""The storage of activation and weight for which kernels are measured."""
LEAST = "rows"
"""Key in the costs of the number of rows from which on the convolution is faster."""


class WriteAsPointwise(OnForm[AsPointwise], ForTarget):
    """op(x, w, b) : T  ->  transpose(conv(transpose(x), w', b))      the same sums, rounded once"""

    def match(self, op: OnnxOp, form: AsPointwise, rewriter: Rewriter, /) -> Blocked | None:
        x, w, y = (quantized_of(v.type) for v in (*op.operands[:2], op.results[0]))
        costs, linear, shape = self._target.costs, op.get_trait(Linear), shape_of(op.operands[0].type)
        if x is None or w is None or y is None or linear is None or shape is None or not form.matches(op):
            return None
        names = [type.storage.name for type in (x, w)]
        if names != TYPES or not self._target.has_kernel("QLinearConv", names, y.storage.name):
            return None
        if not (x.is_per_tensor and y.is_per_tensor and isinstance(x.expressed, Float32Type)):
            return None
        least = costs.get(form.kernel, {}).get(LEAST)
        rows, outputs = form.rows(op), linear.output_channels(op)
        if least is None or outputs is None:
            return None
        if rows is None or rows < least:
            return Blocked("does-not-pay", "a product of so few rows, or of an unknown number, is as fast")
        same = Convolution(shape[-1], outputs, (1,), (1,), rows, not w.zero_points.any())
        if quantized_kernel(costs, same) != ALIGNED:
            return Blocked("does-not-pay", "with these channels a convolution takes as long as the product")
        rewriter.replace(op, form.parts(op))
        return None
