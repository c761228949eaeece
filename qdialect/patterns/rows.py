"""The pattern that leaves an op on quantized types to its float kernel, where the integer kernel is slower."""

from __future__ import annotations

from xdsl.ir import Operation

from qdialect.dialects.onnx_base import OnnxOp
from qdialect.dialects.onnx_types import quantized_of, with_element
from qdialect.dialects.quant import DequantizeOp, QuantizeOp
from qdialect.ir.names import location, node_name
from qdialect.ops.generated import op_named
from qdialect.promises.kernels import Kernels
from qdialect.reasons import Blocked
from qdialect.rewriting.driver import Rewriter
from qdialect.rewriting.matching import OnTrait
from qdialect.targets import Target
from qdialect.targets.pricing import WORTH, row_cost

FLOAT_IS_FASTER = Blocked(
    "float-is-faster", "for rows of this length the float kernel between casts is faster"
)


class LowerToFloat(OnTrait[Kernels]):
    """
    op(q) : T  ->  qcast(op(Sum(dcast q)))     the float kernel and its casts cost less than the integer kernel

    Of one operand a Sum is the identity: it keeps a session from making the integer kernel of op and casts again.
    """

    def __init__(self, target: Target):
        self._target = target
        self._floats: set[Operation] = set()

    def match(self, op: OnnxOp, promise: Kernels, rewriter: Rewriter) -> Blocked | None:
        if op in self._floats:
            return FLOAT_IS_FASTER
        x, y = quantized_of(op.operands[0].type), quantized_of(op.results[0].type)
        if x is None or y is None or not self._pays(op, promise):
            return None
        real = DequantizeOp(op.operands[0])
        copy = op_named("", "Sum").build([real.results[0]], [real.results[0].type])
        copy.location = location(f"{node_name(op)}_real")
        computed = op.__class__.create(
            operands=[copy.results[0]],
            result_types=[with_element(op.results[0].type, y.expressed)],
            properties=op.properties,
            attributes=op.attributes,
        )
        computed.location = location(node_name(op))
        cast = QuantizeOp(computed.results[0], y)
        cast.location = op.location
        self._floats.add(computed)
        rewriter.replace(op, [real, copy, computed, cast])
        return None

    def _pays(self, op: OnnxOp, promise: Kernels) -> bool:
        costs = self._target.costs
        for kernel in promise.forms:
            sizes = None if kernel.rows is None else kernel.rows(op)
            if sizes is not None and {kernel.op_type, op.op_type} <= costs.keys():
                now = row_cost(costs, kernel.op_type, *sizes)
                return row_cost(costs, op.op_type, *sizes) < WORTH * now
        return False
