"""Float ops that a session fuses to a slower kernel, or has a slow kernel for, written as others with equal results."""
# Around the driver: the results have the types and names that they had.

from __future__ import annotations

from xdsl.ir import OpResult

from qdialect.dialects.onnx_base import OnnxOp
from qdialect.dialects.onnx_types import shape_of
from qdialect.forms.exact_equivalents import Spelled
from qdialect.forms.table import form_of
from qdialect.ir.insertion import insert_before, remove
from qdialect.ir.values import is_constant
from qdialect.ops.generated import op_named
from qdialect.targets import Target


def spell_producer(op: OnnxOp, session: Target) -> bool:
    """
    Write the op that defines the first operand of `op`, of two computed operands of equal shape, as another op, by
    `unfused` of the target's file.
    """
    spelled = session.unfused.get(op.op_type, {})
    value = op.operands[0] if spelled else None
    above = value.op if isinstance(value, OpResult) else None
    if value is None or not isinstance(above, OnnxOp) or above.domain != "" or above.op_type not in spelled:
        return False
    if len({shape_of(v.type) for v in above.operands}) > 1 or any(map(is_constant, above.operands)):
        return False
    other = op_named("", spelled[above.op_type]).build(list(above.operands), [value.type])
    other.location = above.location
    insert_before(above, other)
    value.replace_all_uses_with(other.results[0])
    remove(above)
    return True


def spell_out(op: OnnxOp, session: Target) -> bool:
    """Write an op of `spelled` of the target's file as others with equal results."""
    form = form_of(type(op), Spelled) if op.op_type in session.spelled else None
    parts = None if form is None else form.parts(op)
    if parts is None:
        return False
    parts[-1].location = op.location
    insert_before(op, *parts)
    op.results[0].replace_all_uses_with(parts[-1].results[0])
    remove(op)
    return True
