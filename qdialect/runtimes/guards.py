"""
Guards: a Sum of one operand in front of an operand. It is the identity, and a session fuses nothing across it, nor
moves a cast past it.
"""
# Around the driver: a Sum of one operand has the type and the elements of what it stands behind.

from __future__ import annotations

from xdsl.ir import SSAValue

from qdialect.dialects.onnx_base import OnnxOp
from qdialect.ir.insertion import insert_before
from qdialect.ir.names import location, wish
from qdialect.ops.generated import op_named


def summed(value: SSAValue, name: str = "") -> OnnxOp:
    """A Sum with the single operand `value`, named `name`; not inserted yet."""
    name = name or wish(value)
    copy = op_named("", "Sum").build([value], [value.type])
    copy.location = location(f"{name}_Sum", [f"{name}_sum"])
    return copy


def is_parted(value: SSAValue) -> bool:
    """True if such a Sum defines `value`, as in half precision, where `exact` keeps what was written before."""
    maker = value.owner
    return (
        isinstance(maker, OnnxOp)
        and (maker.domain, maker.op_type) == ("", "Sum")
        and len(maker.operands) == 1
    )


def part(op: OnnxOp, place: int) -> None:
    """Insert a Sum in front of operand `place` of `op`, unless one stands there."""
    if is_parted(op.operands[place]):
        return
    copy = summed(op.operands[place])
    insert_before(op, copy)
    op.operands[place] = copy.results[0]


def part_from_all(quantize: OnnxOp) -> None:
    """Insert a Sum in front of all users of what a quantize reads: a session merges equal quantizes among them."""
    real = quantize.operands[0]
    if is_parted(real):
        return
    others = [use.operation for use in real.uses if use.operation is not quantize]
    part(quantize, 0)
    for other in others:
        other.operands[0] = quantize.operands[0]
