"""OneHot, whose result holds one-hot vectors, Gather, which takes rows of a table, and ops along one axis."""

from __future__ import annotations

from qdialect.dialects.onnx_base import OnnxOp, onnx_opset
from qdialect.dialects.snapshot import MICROSOFT
from qdialect.ir.values import constant_array, normal_axis, rank_of
from qdialect.promises.base import Promise


class MarksRows(Promise):
    """The result has a one-hot vector for each index in operand 0; negative indices count from the end."""

    def depth(self, op: OnnxOp) -> int | None:
        """Length of the vectors, if they lie along the last axis and hold 0 and 1; None otherwise, or if unknown."""
        depth, values = constant_array(op.operands[1]), constant_array(op.operands[2])
        rank = rank_of(op.results[0])
        if depth is None or depth.size != 1 or values is None or values.tolist() != [0, 1] or rank is None:
            return None
        is_last = normal_axis(op.int_attr("axis", -1), rank) == rank - 1
        return int(depth.reshape(-1)[0]) if is_last else None


class TakesRows(Promise):
    """The result has a slice of operand 0 in place of each index in operand 1."""

    def is_of_rows(self, op: OnnxOp) -> bool:
        """True if operand 0 is a matrix, and the slices are its rows."""
        return rank_of(op.operands[0]) == 2 and normal_axis(op.int_attr("axis", 0), 2) == 0


class AlongAxis(Promise):
    """The result has the type of operand 0, and values along one axis follow from those along it alone."""

    def axis(self, op: OnnxOp) -> int | None:
        """The axis; None if its place is unknown, or if all axes from it on are one row, as before opset 13."""
        rank, opset = rank_of(op.operands[0]), op.int_attr("opset", onnx_opset(op))
        if rank is None:
            return None
        is_one = opset >= SOFTMAX_OF_ONE_AXIS
        axis = normal_axis(op.int_attr("axis", -1 if is_one else 1), rank)
        return axis if is_one or axis == rank - 1 else None


SOFTMAX_OF_ONE_AXIS = 13
"""Opset from which Softmax and its like take one axis."""

ROWS: dict[tuple[str, str], Promise] = {
    ("", "OneHot"): MarksRows(),
    ("", "Gather"): TakesRows(),
    ("", "Softmax"): AlongAxis(),
    ("", "LogSoftmax"): AlongAxis(),
    (MICROSOFT, "QLinearSoftmax"): AlongAxis(),
}
