"""Type transfer of Resize with mode nearest, whose results are elements of the operand."""

from __future__ import annotations

from collections.abc import Sequence

from qdialect.dialects.onnx_base import OnnxOp
from qdialect.dialects.onnx_types import shape_of
from qdialect.dialects.quant import UniformType
from qdialect.ir.values import constant_array, normal_axis
from qdialect.promises.axes import ALONG_AXIS, NOT_CONSTANT, follow
from qdialect.reasons import UNKNOWN_RANK, Blocked

HALF_A_STEP_OFF = ("tf_half_pixel_for_nn", "tf_crop_and_resize")
"""Coordinate modes that shift pixels even at scale factor 1."""


def _not_resized(op: OnnxOp, axis: int) -> int | Blocked:
    """`axis` if its scale factor is exactly 1: equal sizes alone may hide a factor like 1.2 that is rounded down."""
    source, target = shape_of(op.operands[0].type), shape_of(op.results[0].type)
    if source is None or target is None:
        return UNKNOWN_RANK
    axes = op.ints_attr("axes")
    listed = range(len(source)) if axes is None else [normal_axis(a, len(source)) for a in axes]
    if axis not in listed:
        return axis
    if source[axis] != target[axis] or op.str_attr("coordinate_transformation_mode", "") in HALF_A_STEP_OFF:
        return ALONG_AXIS
    if op.input(3) is not None:
        return axis if op.str_attr("keep_aspect_ratio_policy", "stretch") == "stretch" else ALONG_AXIS
    scales = constant_array(op.input(2) if op.input(2) is not None else op.input(1))
    if scales is None or scales.size != len(listed):
        return NOT_CONSTANT
    return axis if scales[list(listed).index(axis)] == 1 else ALONG_AXIS


def resize_nearest(op: OnnxOp, types: Sequence[UniformType]) -> Sequence[UniformType] | Blocked:
    """The result's type from the operand's, or the reverse: scales may run along an axis that is not resized."""
    if op.str_attr("mode", "nearest") != "nearest":
        return Blocked("interpolates", "Resize computes new elements between the old ones")
    if op.str_attr("coordinate_transformation_mode", "half_pixel") == "tf_crop_and_resize":
        return Blocked("extrapolates", "Resize fills in a value where it looks beyond the tensor")
    return follow(_not_resized)(op, types)
