"""Ops that a session makes a part of the float kernel in front, and the time that it saves."""

from __future__ import annotations

from qdialect.dialects.onnx_base import OnnxOp
from qdialect.ir.values import rank_of
from qdialect.targets.pricing import IMAGE, Costs

BEHIND, OF_IMAGES = "Behind", "OfImages"
"""Prefix of the keys of the costs of ops behind one of a name, and the suffix if its channels are in blocks."""
ELEMENTWISE = "Elementwise"
"""Key of the costs of elementwise ops alone."""


def part_of(op: OnnxOp, costs: Costs) -> tuple[OnnxOp, float, str] | None:
    """
    The op into whose float kernel a session fuses `op`, nanoseconds for each element, and `OF_IMAGES` if that is so
    between blocks of channels alone; None if there is none.
    """
    value = op.operands[-1] if op.operands else None
    if value is None or not isinstance(value.owner, OnnxOp) or not value.has_one_use():
        return None
    for kind in ("", OF_IMAGES) if rank_of(value) == IMAGE else ("",):
        table = costs.get(f"{BEHIND}{_name(value.owner)}{kind}", {})
        if _name(op) in table and set(op.operands) <= {value, value.owner.operands[0]}:
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
