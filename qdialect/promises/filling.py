"""
Ops that move elements and fill the rest with the real number 0: on stored integers that is the zero point.

    DQ(f(q, fill z)) = f(DQ(q), fill 0)       Q(f(x, fill 0)) = f(Q(x), fill z)

since each type stores 0 as its zero point, for any scale.
"""

from __future__ import annotations

from collections.abc import Sequence

import numpy as np

from qdialect.dialects.onnx_base import OnnxOp
from qdialect.dialects.onnx_types import shape_of
from qdialect.dialects.quant import UniformType
from qdialect.ir.values import constant_ints, normal_axis, static_shape
from qdialect.promises.axes import ALONG_AXIS, NOT_CONSTANT, Moved, follow, same
from qdialect.promises.base import Commutes
from qdialect.promises.monotone import batch_or_channel
from qdialect.reasons import UNKNOWN_RANK, Blocked, required, unblocked


def diagonal_of(op: OnnxOp) -> int | None:
    """The diagonal at which a Trilu begins or ends: columns beside the main one; None if it is computed."""
    listed = constant_ints(op.input(1)) if op.input(1) is not None else [0]
    return listed[0] if listed is not None and len(listed) == 1 else None


def triangle(op: OnnxOp) -> np.ndarray | Blocked:
    """Mask of the elements that a Trilu keeps: booleans of the sizes of the last two axes."""
    shape = required(static_shape(op.operands[0]), UNKNOWN_RANK)
    k = required(diagonal_of(op), NOT_CONSTANT)
    places = np.ones(shape[-2:], bool)
    return np.triu(places, k) if op.int_attr("upper", 1) else np.tril(places, k)


def centered(op: OnnxOp) -> dict[int, tuple[int, int]] | Blocked:
    """(old size, new size) of each axis that a CenterCropPad changes."""
    shape, wanted = required(shape_of(op.operands[0].type), UNKNOWN_RANK), constant_ints(op.input(1))
    axes = op.ints_attr("axes")
    if axes is None:
        axes = tuple(range(len(shape)))
    if wanted is None:
        return NOT_CONSTANT
    if len(axes) != len(wanted):
        return Blocked(
            "out-of-range", "the number of sizes differs from the number of axes", "check the model"
        )
    widths: dict[int, tuple[int, int]] = {}
    for axis, size in zip(axes, wanted, strict=True):
        at = normal_axis(axis, len(shape))
        if shape[at] < 0:
            return UNKNOWN_RANK
        if shape[at] != size:
            widths[at] = shape[at], size
    return widths


def _center_forward(op: OnnxOp, axis: int) -> int | Moved | Blocked:
    changed = unblocked(centered(op))
    if axis not in changed:
        return axis
    before, after = changed[axis]
    start = (before - after) // 2
    return ALONG_AXIS if start < 0 else Moved(axis, np.arange(start, start + after))


def _center_backward(op: OnnxOp, axis: int) -> int | Blocked:
    return ALONG_AXIS if axis in unblocked(centered(op)) else axis


def _nearest(op: OnnxOp, types: Sequence[UniformType]) -> Sequence[UniformType] | Blocked:
    if op.str_attr("mode", "linear") != "nearest":
        return Blocked("interpolates", f"{op.op_type} computes new elements between the old ones")
    return follow(batch_or_channel)(op, types)


FILLING: dict[tuple[str, str], Commutes] = {
    ("", "Trilu"): Commutes(follow(same), follow(same), moves_storage=False),
    ("", "CenterCropPad"): Commutes(follow(_center_forward), follow(_center_backward), moves_storage=False),
    ("", "MaxUnpool"): Commutes(follow(batch_or_channel), follow(batch_or_channel), moves_storage=False),
    ("", "GridSample"): Commutes(_nearest, _nearest, moves_storage=False),
}
