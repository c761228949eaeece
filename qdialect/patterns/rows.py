"""The pattern that runs an op on quantized types in float, if its integer kernel is slower."""

from __future__ import annotations

from collections.abc import Sequence

from xdsl.ir import Operation, SSAValue

from qdialect.dialects.onnx_base import OnnxOp
from qdialect.dialects.onnx_types import quantized_of, with_element
from qdialect.dialects.quant import DequantizeOp, QuantizeOp, UniformType
from qdialect.ir.build import copied
from qdialect.ir.names import location, node_name
from qdialect.promises.kernels import Kernels
from qdialect.reasons import Blocked
from qdialect.rewriting.driver import Rewriter
from qdialect.rewriting.matching import OnTrait
from qdialect.targets import Target
from qdialect.targets.pricing import WORTH, Costs, row_cost

FLOAT_IS_FASTER = Blocked(
    "float-is-faster", "for rows of this length the float kernel between casts is faster"
)


def quantized_behind(op: OnnxOp, operands: Sequence[SSAValue], type: UniformType) -> list[Operation]:
    """`op` on `operands`, with a float result, and the quantize of it to `type`."""
    real = copied(op, operands, [with_element(op.results[0].type, type.expressed)])
    real.location = location(node_name(op))
    cast = QuantizeOp(real.results[0], type)
    cast.location = op.location
    return [real, cast]


def is_faster_in_float(op: OnnxOp, kernels: Kernels, costs: Costs) -> bool:
    """True if the float kernel with its casts costs less than the integer kernel; False if a cost is missing."""
    for kernel in kernels.forms:
        sizes = None if kernel.rows is None else kernel.rows(op)
        if sizes is not None and {kernel.op_type, op.op_type} <= costs.keys():
            now = row_cost(costs, kernel.op_type, sizes)
            return row_cost(costs, op.op_type, sizes) < WORTH * now
    return False


class LowerToFloat(OnTrait[Kernels]):
    """
    op(q) : T  ->  qcast(op(dcast q))     the float kernel and its casts cost less than the integer kernel

    `keep_unfused` prevents a session from fusing op and casts into the integer kernel again.
    """

    def __init__(self, target: Target):
        self._target = target
        self._floats: set[Operation] = set()

    def match(self, op: OnnxOp, promise: Kernels, rewriter: Rewriter) -> Blocked | None:
        if op in self._floats:
            return FLOAT_IS_FASTER
        x, y = quantized_of(op.operands[0].type), quantized_of(op.results[0].type)
        if x is None or y is None or not is_faster_in_float(op, promise, self._target.costs):
            return None
        real = DequantizeOp(op.operands[0])
        computed, cast = quantized_behind(op, [real.results[0]], y)
        self._floats.add(computed)
        rewriter.replace(op, [real, computed, cast])
        return None
