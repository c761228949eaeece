"""Vectors that are zero but for a one."""

from __future__ import annotations

from dataclasses import dataclass

from qdialect.dialects.onnx_base import OnnxOp
from qdialect.ir.values import constant_array, normal_axis, rank_of
from qdialect.promises.base import Promise


@dataclass(frozen=True)
class MarksRows(Promise):
    """The result has a vector for each number of operand 0: one there, counted from the end if it is negative."""

    def depth(self, op: OnnxOp) -> int | None:
        """How long the vectors are, along the last axis; None if that is not known, or they hold other than 0 and 1."""
        depth, values = constant_array(op.operands[1]), constant_array(op.operands[2])
        rank = rank_of(op.results[0])
        if depth is None or depth.size != 1 or values is None or values.tolist() != [0, 1] or rank is None:
            return None
        is_last = normal_axis(op.int_attr("axis", -1), rank) == rank - 1
        return int(depth.reshape(-1)[0]) if is_last else None


ROWS: dict[tuple[str, str], MarksRows] = {("", "OneHot"): MarksRows()}
