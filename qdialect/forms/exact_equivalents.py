"""
Bit-identical rewrites of ops. Ops on some axes: Pad, Resize and CenterCropPad of all axes; the last as Slice and Pad.
Ops that are slow on some targets, and their inverses: PRelu as Max or Min and Mul.
"""

from __future__ import annotations

from collections.abc import Callable, Mapping, Sequence
from dataclasses import dataclass
from typing import Any

import numpy as np
import numpy.typing as npt
from xdsl.dialects.builtin import Float32Type, i64
from xdsl.ir import Operation, OpResult, SSAValue

from qdialect.dialects.onnx_base import OnnxOp, onnx_opset
from qdialect.dialects.onnx_types import DYNAMIC, element_of, shape_of, tensor_type
from qdialect.forms.base import Form
from qdialect.forms.nodes import Nodes
from qdialect.ir.values import constant_array, constant_ints, rank_of, static_shape
from qdialect.numerics import Array
from qdialect.numerics.pixels import size_factor
from qdialect.ops.generated import op_named
from qdialect.promises.axes import places_of
from qdialect.reasons import UNKNOWN_RANK, Blocked, required, unblocked

BROADCASTING_MAX_OPSET = 8
"""The first opset whose Max and Min broadcast."""
LISTED = Blocked("invalid-op", "the number of sizes differs from the number of axes", "check the model")
COMPUTED_AXES = Blocked("computed-parameter", "the axes are computed")
CROPS, CROP = "coordinate_transformation_mode", "tf_crop_and_resize"


@dataclass(frozen=True)
class Spelled(Form):
    """The op can be written as other ops with bit-identical results."""

    parts: Callable[[OnnxOp], Sequence[Operation] | None]
    """The other ops, the last of which defines the op's result; None if the results would differ."""


def slopes_of(x: SSAValue, slope: SSAValue | None, result: SSAValue) -> Array | None:
    """
    Several constant slopes of `x`, float32, that broadcast to its shape; None otherwise, and if a sloped axis has an
    unknown size: the product's type would then state it, and reading the result back would differ.
    """
    array, shape = constant_array(slope), shape_of(x.type)
    if array is None or array.size == 1 or shape is None or shape != shape_of(result.type):
        return None
    along = zip(reversed(array.shape), reversed(shape), strict=False)
    fits = array.ndim <= len(shape) and not any(a != 1 and size == DYNAMIC for a, size in along)
    return array if fits and element_of(x.type) == Float32Type() else None


def chooser(slopes: Array) -> str | None:
    """
    The op, Max or Min, of x and x * slope that equals PRelu: if no slope is above 1, the product is not above x if
    x is positive and not below it if x is negative, also as rounded; likewise the other way round.
    """
    if not np.isfinite(slopes).all() or not slopes.all():
        return None  # 0 times infinity is NaN
    return "Max" if (slopes <= 1).all() else "Min" if (slopes >= 1).all() else None


def _prelu(op: OnnxOp) -> Sequence[Operation] | None:
    x, slope = op.operands[:2]
    slopes = slopes_of(x, slope, op.results[0])
    name = None if slopes is None else chooser(slopes)
    if name is None or onnx_opset(op) < BROADCASTING_MAX_OPSET:
        return None
    nodes = Nodes(op)
    product = nodes.add("Mul", [x, slope], op.results[0].type)
    nodes.add(name, [x, product], op.results[0].type)
    return nodes.ops


def read_prelu(op: OnnxOp) -> Sequence[Operation] | None:
    """The PRelu that equals a Max or Min of a value and its product with constants; None if none does."""
    if len(op.operands) != 2:
        return None
    for x, product in (op.operands, reversed(op.operands)):
        above = product.op if isinstance(product, OpResult) and product.has_one_use() else None
        if not isinstance(above, op_named("", "Mul")) or x not in above.operands:
            continue
        slope = above.operands[1] if above.operands[0] is x else above.operands[0]
        slopes = slopes_of(x, slope, op.results[0])
        if slopes is not None and chooser(slopes) == op.op_type:
            nodes = Nodes()
            nodes.add("PRelu", [x, slope], op.results[0].type)
            return nodes.ops
    return None


SPELLED: dict[tuple[str, str], Spelled] = {("", "PRelu"): Spelled(_prelu)}


@dataclass(frozen=True)
class Sized(Form):
    """The op can be written as simpler ops."""

    parts: Callable[[OnnxOp], Sequence[Operation] | Blocked]
    """The simpler ops, the last of which defines the result; none if the op is simple."""


def _for_all(
    nodes: Nodes, x: SSAValue, others: npt.NDArray[Any], listed: SSAValue, axes: Sequence[int]
) -> SSAValue | Blocked:
    """The list `others` with those `listed` at the places `axes`; where a number is negative, the sizes of `x`."""
    if static_shape(listed) not in (None, (len(axes),)):
        return LISTED
    numbers, count = constant_array(listed), len(others)
    if (np.delete(others, axes) < 0).any():
        whole = nodes.add("Shape", [x], tensor_type(i64, (count,)))
    elif numbers is None:
        whole = nodes.constant(others)
    else:
        others[axes] = numbers
        return nodes.constant(others)
    places = [count + axes.index(k) if k in axes else k for k in range(count)]
    joined = nodes.add("Concat", [whole, listed], (count + len(axes),), {"axis": 0})
    return nodes.add("Gather", [joined, nodes.constant(places, np.int64)], (count,))


def _pad_of_all_axes(op: OnnxOp) -> Sequence[Operation] | Blocked:
    nodes, x = Nodes(), op.operands[0]
    if op.input(3) is not None:
        rank = required(rank_of(x), UNKNOWN_RANK)
        axes = unblocked(places_of(required(constant_ints(op.input(3)), COMPUTED_AXES), rank))
        ends = [*axes, *(rank + at for at in axes)]
        pads = unblocked(_for_all(nodes, x, np.zeros(2 * rank, np.int64), op.operands[1], ends))
        nodes.add("Pad", [x, pads, op.input(2)], op.results[0].type, op.onnx_attributes)
    return nodes.ops


def _factors(op: OnnxOp, axes: Sequence[int]) -> npt.NDArray[np.float32] | None:
    """The factors along `axes` that give the sizes of a Resize; None if they are not known."""
    old, new = shape_of(op.operands[0].type) or (), constant_ints(op.input(3)) or ()
    known = [(old[at], size) for at, size in zip(axes, new, strict=False) if old[at] > 0]
    factors = [factor for a, b in known if (factor := size_factor(a, b)) is not None]
    return np.array(factors, np.float32) if len(factors) == len(axes) == len(new) else None


def _resize_of_all_axes(op: OnnxOp) -> Sequence[Operation] | Blocked:
    nodes, x, scales, sizes = Nodes(), op.operands[0], op.input(2), op.input(3)
    if (listed := op.ints_attr("axes")) is None:
        return []
    shape = required(shape_of(x.type), UNKNOWN_RANK)
    axes = unblocked(places_of(listed, len(shape)))
    if op.str_attr("keep_aspect_ratio_policy", "stretch") != "stretch" or op.str_attr(CROPS, "") == CROP:
        return Blocked("interpolates", "Resize has a keep_aspect_ratio_policy or a region of interest")
    if sizes is not None and (factors := _factors(op, axes)) is not None:
        scales, sizes = nodes.constant(factors), None
    if sizes is not None:
        inputs = [x, None, None, unblocked(_for_all(nodes, x, np.array(shape), sizes, axes))]
    else:
        ones = np.ones(len(shape), np.float32)
        inputs = [x, None, unblocked(_for_all(nodes, x, ones, required(scales, LISTED), axes))]
    attributes = {name: value for name, value in op.onnx_attributes.items() if name != "axes"}
    nodes.add("Resize", inputs, op.results[0].type, attributes)
    return nodes.ops


def _center_of_all_axes(op: OnnxOp) -> Sequence[Operation] | Blocked:
    """Slice and Pad where all sizes are known."""
    shape, listed = required(shape_of(op.operands[0].type), UNKNOWN_RANK), op.ints_attr("axes")
    axes = unblocked(places_of(listed or range(len(shape)), len(shape)))
    sizes, nodes, result = constant_ints(op.operands[1]), Nodes(), op.operands[0]
    if sizes is not None and all(shape[at] >= 0 for at in axes):
        return _slice_and_pad(op, dict(zip(axes, sizes, strict=True))) if len(axes) == len(sizes) else LISTED
    if listed:
        wanted = unblocked(_for_all(nodes, result, np.array(shape), op.operands[1], axes))
        nodes.add("CenterCropPad", [result, wanted], op.results[0].type)
    return nodes.ops


def _slice_and_pad(op: OnnxOp, sizes: Mapping[int, int]) -> Sequence[Operation]:
    """A CenterCropPad to these sizes of axes: what is odd is cut off, or added, behind."""
    shape, nodes, result = list(shape_of(op.operands[0].type) or ()), Nodes(), op.operands[0]
    starts = {at: (shape[at] - size) // 2 for at, size in sizes.items() if size < shape[at]}
    more = {at: size - shape[at] for at, size in sizes.items() if size > shape[at]}
    if starts:
        cut = [sizes[at] if at in starts else size for at, size in enumerate(shape)]
        lists = [list(starts.values()), [start + sizes[at] for at, start in starts.items()], list(starts)]
        result = nodes.add("Slice", [result, *(nodes.constant(one, np.int64) for one in lists)], cut)
    if more:
        each = [more.get(axis, 0) for axis in range(len(shape))]
        pads = nodes.constant([*(n // 2 for n in each), *(n - n // 2 for n in each)], np.int64)
        nodes.add("Pad", [result, pads], op.results[0].type)
    return nodes.ops


SIZED: dict[tuple[str, str], Sized] = {
    ("", "Pad"): Sized(_pad_of_all_axes),
    ("", "Resize"): Sized(_resize_of_all_axes),
    ("", "CenterCropPad"): Sized(_center_of_all_axes),
}
