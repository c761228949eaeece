"""What `Mirror` of the domain `example.images` promises: it reverses one axis of its operand, the attribute `axis`."""

from dataclasses import dataclass

import numpy as np

from qdialect.dialects.onnx_base import OnnxOp
from qdialect.dialects.onnx_types import DYNAMIC, shape_of
from qdialect.ir.values import normal_axis
from qdialect.promises.axes import Moved
from qdialect.promises.base import Promise, always
from qdialect.promises.layout import layout
from qdialect.reasons import UNKNOWN_RANK, Blocked


@dataclass(frozen=True)
class Reverses(Promise):
    """The op reverses an axis: twice along the same one is nothing."""

    def axis(self, op: OnnxOp) -> int | None:
        """Which axis, counted from the first; None if the operand's rank is not known."""
        shape = shape_of(op.operands[0].type)
        return None if shape is None else normal_axis(op.int_attr("axis", -1), len(shape))


def _scales(op: OnnxOp, axis: int) -> int | Moved | Blocked:
    """Scales along the reversed axis are reversed too; along any other they stay."""
    shape = shape_of(op.operands[0].type)
    if shape is None or shape[axis] == DYNAMIC:
        return UNKNOWN_RANK
    if axis != normal_axis(op.int_attr("axis", -1), len(shape)):
        return axis
    return Moved(axis, np.arange(shape[axis])[::-1])


PROMISES = {("example.images", "Mirror"): (layout(_scales, _scales, keeps_all=always), Reverses())}
