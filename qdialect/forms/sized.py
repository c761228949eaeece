"""Bit-identical forms with constant sizes: CenterCropPad as Slice and Pad, Pad and Resize of some axes as of all."""

from __future__ import annotations

from collections.abc import Callable, Sequence
from dataclasses import dataclass

import numpy as np
from xdsl.ir import Operation

from qdialect.dialects.onnx_base import OnnxOp
from qdialect.dialects.onnx_types import shape_of
from qdialect.forms.base import Form
from qdialect.forms.nodes import Nodes
from qdialect.ir.values import constant_array, constant_ints, rank_of
from qdialect.numerics.pixels import size_factor
from qdialect.promises.axes import places_of
from qdialect.promises.padding import Pads, pads_of
from qdialect.reasons import UNKNOWN_RANK, Blocked, required, unblocked

LISTED = Blocked("out-of-range", "the number of sizes differs from the number of axes", "check the model")
COMPUTED = Blocked("computed-parameter", "the sizes or factors are computed")
CROPS, CROP = "coordinate_transformation_mode", "tf_crop_and_resize"


@dataclass(frozen=True)
class Sized(Form):
    """The op with constant sizes can be written as simpler ops."""

    parts: Callable[[OnnxOp], Sequence[Operation] | Blocked]
    """The simpler ops, the last of which defines the result; none if the op is simple."""


def _listed(pads: Pads, rank: int) -> list[int]:
    """The pads before each axis, then those behind each."""
    each = [pads.get(axis, (0, 0)) for axis in range(rank)]
    return [n for ends in zip(*each, strict=True) for n in ends]


def _pad_of_all_axes(op: OnnxOp) -> Sequence[Operation] | Blocked:
    nodes = Nodes()
    if op.input(3) is not None:
        pads = _listed(unblocked(pads_of(op)), rank_of(op.operands[0]) or 0)
        inputs = [op.operands[0], nodes.constant(pads, np.int64), op.input(2)]
        nodes.add("Pad", inputs, op.results[0].type, op.onnx_attributes)
    return nodes.ops


def _resize_of_all_axes(op: OnnxOp) -> Sequence[Operation] | Blocked:
    axes, nodes = op.ints_attr("axes"), Nodes()
    if axes is None:
        return []
    old = required(shape_of(op.operands[0].type), UNKNOWN_RANK)
    places = unblocked(places_of(axes, len(old)))
    if op.str_attr("keep_aspect_ratio_policy", "stretch") != "stretch" or op.str_attr(CROPS, "") == CROP:
        return Blocked("resize-mode", "Resize has a keep_aspect_ratio_policy or a region of interest")
    if op.input(3) is None:
        factors = required(constant_array(op.input(2)), COMPUTED).reshape(-1).tolist()
    else:
        new = zip(places, required(constant_ints(op.input(3)), COMPUTED), strict=False)
        factors = [size_factor(old[at], size) if old[at] > 0 else None for at, size in new]
    if len(factors) != len(places):
        return LISTED
    scaled = {at: factor for at, factor in zip(places, factors, strict=True) if factor is not None}
    if len(scaled) < len(places):
        return Blocked("no-factor", "a size is unknown, or no float32 factor gives the new one")
    scales = nodes.constant([scaled.get(axis, 1.0) for axis in range(len(old))], np.float32)
    attributes = {name: value for name, value in op.onnx_attributes.items() if name != "axes"}
    nodes.add("Resize", [op.operands[0], None, scales], op.results[0].type, attributes)
    return nodes.ops


def _changes(op: OnnxOp) -> dict[int, tuple[int, int]] | Blocked:
    """(old size, new size) of each axis that a CenterCropPad changes."""
    shape = required(shape_of(op.operands[0].type), UNKNOWN_RANK)
    wanted = required(constant_ints(op.input(1)), COMPUTED)
    axes = op.ints_attr("axes") or tuple(range(len(shape)))
    if len(axes) != len(wanted):
        return LISTED
    places = unblocked(places_of(axes, len(shape)))
    if any(shape[at] < 0 for at in places):
        return UNKNOWN_RANK
    return {at: (shape[at], size) for at, size in zip(places, wanted, strict=True) if shape[at] != size}


def _slice_and_pad(op: OnnxOp) -> Sequence[Operation] | Blocked:
    """What is odd is cut off, or added, behind."""
    changes, nodes, result = unblocked(_changes(op)), Nodes(), op.operands[0]
    starts = {at: (old - new) // 2 for at, (old, new) in changes.items() if new < old}
    if starts:
        stops = [start + changes[at][1] for at, start in starts.items()]
        sizes = [
            changes[at][1] if at in starts else size for at, size in enumerate(shape_of(result.type) or ())
        ]
        lists = [list(starts.values()), stops, list(starts)]
        result = nodes.add("Slice", [result, *(nodes.constant(one, np.int64) for one in lists)], sizes)
    more = {at: new - old for at, (old, new) in changes.items() if new > old}
    if more:
        pads = _listed({at: (n // 2, n - n // 2) for at, n in more.items()}, rank_of(result) or 0)
        nodes.add("Pad", [result, nodes.constant(pads, np.int64)], op.results[0].type)
    return nodes.ops


SIZED: dict[tuple[str, str], Sized] = {
    ("", "Pad"): Sized(_pad_of_all_axes),
    ("", "Resize"): Sized(_resize_of_all_axes),
    ("", "CenterCropPad"): Sized(_slice_and_pad),
}
