"""
Ops that a session makes a part of the float kernel in front, and the time that it saves; and the pattern that runs an
op on quantized types in float, if its integer kernel is slower.
"""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import replace

from xdsl.ir import Operation, SSAValue

from qdialect.dialects.onnx_base import OnnxOp
from qdialect.dialects.onnx_types import quantized_of, with_element
from qdialect.dialects.quant import DequantizeOp, QuantizeOp, UniformType
from qdialect.ir.build import copied
from qdialect.ir.names import location, node_name
from qdialect.ir.values import constant, rank_of
from qdialect.patterns.target_pattern import ForTarget
from qdialect.promises.kernels import Kernels
from qdialect.reasons import Blocked, Times
from qdialect.rewriting.driver import Rewriter
from qdialect.rewriting.matching import OnTrait
from qdialect.targets.pricing import IMAGE_RANK, MAX_TIME_RATIO, Costs, row_cost

BEHIND, OF_IMAGES = "Behind", "OfImages"
"""Prefix of the keys of the costs of ops behind one of a name, and the suffix if its channels are in blocks."""
ELEMENTWISE = "Elementwise"
"""Key of the costs of elementwise ops alone."""


def part_of(op: OnnxOp, costs: Costs) -> tuple[OnnxOp, float, str] | None:
    """
    The op into whose float kernel a session fuses `op`, nanoseconds for each element, and `OF_IMAGES` if that is so
    between blocks of channels alone; None if there is none.
    """
    read = [value for value in op.operands if constant(value) is None]
    value = read[-1] if read else None
    if value is None or not isinstance(value.owner, OnnxOp) or not value.has_one_use():
        return None
    for kind in ("", OF_IMAGES) if rank_of(value) == IMAGE_RANK else ("",):
        table = costs.get(f"{BEHIND}{_name(value.owner)}{kind}", {})
        if _name(op) in table and set(read) <= {value, value.owner.operands[0]}:
            return value.owner, table[_name(op)], kind
    return None


def saved_behind(op: OnnxOp, costs: Costs) -> tuple[float, float]:
    """
    Nanoseconds for each element that the op behind `op` takes less as a part of its float kernel: whatever its weight,
    and with one that is a float constant.
    """
    behind = next((use.operation for use in op.results[0].uses), None)
    part = part_of(behind, costs) if isinstance(behind, OnnxOp) else None
    if part is None or part[0] is not op or not isinstance(behind, OnnxOp):
        return 0.0, 0.0
    saved = max(costs.get(ELEMENTWISE, {}).get(_name(behind), 0.0) - part[1], 0.0)
    return (0.0 if part[2] else saved), saved


def _name(op: OnnxOp) -> str:
    return op.SCHEMA.name if op.SCHEMA is not None else ""


FLOAT_IS_FASTER = Blocked("float-faster", "for rows of this length the float kernel between casts is faster")


def quantized_behind(op: OnnxOp, operands: Sequence[SSAValue], type: UniformType) -> list[Operation]:
    """`op` on `operands`, with a float result, and the quantize of it to `type`."""
    real = copied(op, operands, [with_element(op.results[0].type, type.expressed)])
    real.location = location(node_name(op))
    return [real, QuantizeOp(real.results[0], type)]


def faster_in_float(op: OnnxOp, kernels: Kernels, costs: Costs) -> Times | None:
    """The times, if the float kernel with its casts costs less than the integer kernel; None if a cost is missing."""
    for kernel in kernels.forms:
        sizes = None if kernel.rows is None else kernel.rows(op)
        if sizes is not None and {kernel.op_type, op.op_type} <= costs.keys():
            now, other = row_cost(costs, kernel.op_type, sizes), row_cost(costs, op.op_type, sizes)
            return Times(other, now) if other < MAX_TIME_RATIO * now else None
    return None


class LowerToFloat(OnTrait[Kernels], ForTarget):
    """
    op(q) : T  ->  qcast(op(dcast q))     the float kernel and its casts cost less than the integer kernel

    `keep_unfused` prevents a session from fusing op and casts into the integer kernel again.
    """

    def match(self, op: OnnxOp, promise: Kernels, rewriter: Rewriter) -> None:
        x, y = quantized_of(op.operands[0].type), quantized_of(op.results[0].type)
        if x is None or y is None or (times := faster_in_float(op, promise, self._target.costs)) is None:
            return
        real = DequantizeOp(op.operands[0])
        computed, cast = quantized_behind(op, [real.results[0]], y)
        rewriter.note(computed, replace(FLOAT_IS_FASTER, expected=times))
        rewriter.replace(op, [real, computed, cast])
