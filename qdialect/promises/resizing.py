"""Resize: type transfer with mode nearest, whose results are elements of the operand; matrices with the other modes."""

from __future__ import annotations

from collections.abc import Callable, Mapping, Sequence
from dataclasses import dataclass
from typing import NamedTuple

import numpy as np

from qdialect.dialects.onnx_base import OnnxOp
from qdialect.dialects.onnx_types import DYNAMIC, shape_of
from qdialect.dialects.quant import UniformType
from qdialect.ir.values import constant_array, normal_axis
from qdialect.numerics import Array
from qdialect.numerics.pixels import Pixels, interpolation
from qdialect.promises.axes import ALONG_AXIS, NOT_CONSTANT, follow
from qdialect.promises.base import Promise
from qdialect.reasons import UNKNOWN_RANK, Blocked, required, unblocked

HALF_A_STEP_OFF = ("tf_half_pixel_for_nn", "tf_crop_and_resize")
"""Coordinate modes that shift pixels even at scale factor 1."""
TAPS = {"linear": 2, "cubic": 4}
"""Elements of the operand along an axis that an element of the result is a sum of, by `mode`."""


class Scaling(NamedTuple):
    """Operands and attributes of a Resize or Upsample: ONNX's operators.md, "Resize"."""

    axes: list[int]
    """The axes that it may scale, non-negative."""
    scales: Array | None
    """A factor for each of `axes`; None if they are computed, or sizes are stated instead."""
    mode: str
    """How coordinates of pixels are counted."""
    rounding: str
    """Which pixel is nearest to a coordinate between two."""


def scaling(op: OnnxOp, rank: int) -> Scaling:
    """How `op` scales an operand of `rank`."""
    stated = op.ints_attr("axes")
    axes = list(range(rank)) if stated is None else [normal_axis(a, rank) for a in stated]
    # Before opset 11 there was one way to count pixels, and the scales were the second operand.
    newest = op.input(2) is not None or op.input(3) is not None
    scales = constant_array(op.input(2 if newest else 1))
    return Scaling(
        axes,
        scales if scales is not None and scales.size == len(axes) else None,
        op.str_attr("coordinate_transformation_mode", "half_pixel") if newest else "asymmetric",
        op.str_attr("nearest_mode", "round_prefer_floor") if newest else "floor",
    )


def _not_resized(op: OnnxOp, axis: int) -> int | Blocked:
    """`axis` if its scale factor is exactly 1: equal sizes alone may hide a factor like 1.2 that is rounded down."""
    source, target = (required(shape_of(v.type), UNKNOWN_RANK) for v in (op.operands[0], op.results[0]))
    how = scaling(op, len(source))
    if axis not in how.axes:
        return axis
    if source[axis] != target[axis] or how.mode in HALF_A_STEP_OFF:
        return ALONG_AXIS
    if op.input(3) is not None:
        return axis if op.str_attr("keep_aspect_ratio_policy", "stretch") == "stretch" else ALONG_AXIS
    scale = required(how.scales, NOT_CONSTANT)[how.axes.index(axis)]
    return axis if scale == 1 else ALONG_AXIS


def resize_nearest(op: OnnxOp, types: Sequence[UniformType]) -> Sequence[UniformType] | Blocked:
    """The result's type from the operand's, or the reverse: scales may run along an axis that is not resized."""
    if op.str_attr("mode", "nearest") != "nearest":
        return Blocked("interpolates", "Resize computes new elements between the old ones")
    if op.str_attr("coordinate_transformation_mode", "half_pixel") == "tf_crop_and_resize":
        return Blocked("interpolates", "Resize fills positions outside the tensor with a constant")
    return follow(_not_resized)(op, types)


@dataclass(frozen=True)
class Interpolates(Promise):
    """
    Along each axis, elements of the result are sums of those of the operand, with the same weights in every row.

    `matrices`: for each axis that does not stay as it is, its float32 matrix (new size, old size), or the reason why
    there are none. Only of an op with several taps: one with a single tap picks elements.
    """

    matrices: Callable[[OnnxOp], Mapping[int, Pixels] | Blocked]
    taps: Callable[[OnnxOp], int]
    """Elements of the operand that one of the result is made from, along one axis."""


def _matrices(op: OnnxOp) -> Mapping[int, Pixels] | Blocked:
    if op.int_attr("antialias", 0) or op.str_attr("keep_aspect_ratio_policy", "stretch") != "stretch":
        return Blocked("interpolates", "Resize has antialias or a keep_aspect_ratio_policy")
    steps = unblocked(_steps(op))
    mode = scaling(op, 0).mode
    cubic = op.float_attr("cubic_coeff_a", -0.75) if op.str_attr("mode", "nearest") == "cubic" else None
    excludes = bool(op.int_attr("exclude_outside", 0))
    try:
        by_axis = {
            axis: interpolation(old, new, scale, mode, cubic, excludes=excludes)
            for axis, (old, new, scale) in steps.items()
        }
    except KeyError:
        return Blocked("interpolates", f"Resize has the coordinate transformation {mode}")
    return {axis: matrix for axis, matrix in by_axis.items() if not _is_identity(matrix)}


def _is_identity(matrix: Pixels) -> bool:
    return matrix.shape[0] == matrix.shape[1] and np.array_equal(matrix, np.eye(len(matrix)))


def _steps(op: OnnxOp) -> dict[int, tuple[int, int, float]] | Blocked:
    """The old size, the new one and the scale of each axis that the op may not leave as it is."""
    source, target = shape_of(op.operands[0].type), shape_of(op.results[0].type)
    if source is None or target is None or len(source) != len(target):
        return UNKNOWN_RANK
    axes, scales, *_ = scaling(op, len(source))
    if scales is None and op.input(3) is None:
        return NOT_CONSTANT
    steps: dict[int, tuple[int, int, float]] = {}
    for place, axis in enumerate(axes):
        old, new = source[axis], target[axis]
        if scales is not None and scales[place] == 1:
            continue
        if DYNAMIC in (old, new) or 0 in (old, new):
            return Blocked(
                "open-size", f"the size of axis {axis} is unknown, in the operand or in the result"
            )
        steps[axis] = (old, new, new / old if scales is None else float(scales[place]))
    return steps


def _taps(op: OnnxOp) -> int:
    return TAPS.get(op.str_attr("mode", "nearest"), 1)


INTERPOLATES: dict[tuple[str, str], Interpolates] = {
    ("", "Resize"): Interpolates(_matrices, _taps),
}
