"""Patterns that write an average pool, or a product with a constant matrix, as a convolution, if that is faster."""

from __future__ import annotations

from math import prod

from xdsl.dialects.builtin import Float32Type

from qdialect.dialects.onnx_base import OnnxOp
from qdialect.dialects.onnx_types import DYNAMIC, quantized_of, shape_of, tensor_type
from qdialect.dialects.quant import Storage, UniformType
from qdialect.forms.kernel_substitutes import AsConvolution
from qdialect.forms.nodes import Nodes
from qdialect.forms.pointwise import AsPointwise
from qdialect.ir.names import tensor_name
from qdialect.patterns.target_pattern import ForTarget
from qdialect.promises.kernels import Kernels, Rows
from qdialect.promises.linear import Linear
from qdialect.reasons import Blocked, unblocked
from qdialect.rewriting.driver import Rewriter
from qdialect.rewriting.matching import OnForm
from qdialect.targets.pricing import (
    ALIGNED,
    DEPTHWISE,
    MAX_TIME_RATIO,
    SOME_IMAGES,
    SOME_SIZE,
    Convolution,
    quantized_cost,
    quantized_kernel,
    row_cost,
)

MEASURED = (3, 4)
"""Ranks of operands whose convolutions were measured."""
STORED = Storage.of("u8")
"""The storage of operand and result for which kernels are measured; that of the weight is i8."""


class WriteAsConvolution(OnForm[AsConvolution], ForTarget):
    """op(x) -> conv(x, w), a group for each channel: the same sums, rounded once."""

    def match(self, op: OnnxOp, form: AsConvolution, rewriter: Rewriter, /) -> Blocked | None:
        x, y = (quantized_of(v.type) for v in (op.operands[0], op.results[0]))
        shape = shape_of(op.operands[0].type)
        if x is None or y is None or not (_is_measured(x) and _is_measured(y)):
            return None
        if shape is None or len(shape) not in MEASURED or shape[1] == DYNAMIC:
            return None
        weight = unblocked(form.weight(op, shape[1]))
        stored, scale = weight
        if not self.pays(op, shape[1], stored.shape[2:]):
            return Blocked("does-not-pay", "the op's own kernel takes less time than a convolution")
        nodes, type = Nodes(), UniformType.per_tensor(Storage.of("i8"), scale)
        name = f"{tensor_name(op)}_ones"
        w = nodes.constant(stored, name=name, type=tensor_type(type, stored.shape))
        known = {k: v for k, v in op.onnx_attributes.items() if k in form.attributes}
        nodes.add("Conv", [op.operands[0], w], op.results[0].type, {**known, "group": shape[1]})
        rewriter.replace(op, nodes.ops)
        return None

    def pays(self, op: OnnxOp, channels: int, kernel: tuple[int, ...]) -> bool:
        """True if the convolution takes at most `MAX_TIME_RATIO` of the time of the op's own kernel."""
        costs, promise = self._target.costs, op.get_trait(Kernels)
        if DEPTHWISE not in costs:
            return False
        own = next((k.op_type for k in promise.forms if k.op_type in costs), None) if promise else None
        if own is None:
            return False
        images, _, *sizes = shape_of(op.results[0].type) or (DYNAMIC,) * (2 + len(kernel))
        images = SOME_IMAGES if images == DYNAMIC else images
        pixels = prod(SOME_SIZE if size == DYNAMIC else size for size in sizes)
        strides = op.ints_attr("strides") or (1,) * len(kernel)
        shape = Convolution(1, 1, kernel, strides, pixels, True, images, channels)
        operand = [
            SOME_SIZE if size == DYNAMIC else size for size in (shape_of(op.operands[0].type) or ())[2:]
        ]
        planes = images * channels
        now = row_cost(costs, own, Rows(planes * pixels, prod(kernel), planes * prod(operand)))
        return quantized_cost(costs, shape) < MAX_TIME_RATIO * now


def _is_measured(type: UniformType) -> bool:
    return type.is_per_tensor and type.storage == STORED and isinstance(type.expressed, Float32Type)


TYPES = ["u8", "i8"]
"""The storage of activation and weight for which kernels are measured."""
ROWS_KEY = "rows"
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
        least = costs.get(form.kernel, {}).get(ROWS_KEY)
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
