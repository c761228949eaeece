"""Rules by which the axis of per-axis scales follows a layout op: the building blocks of layout promises."""

from __future__ import annotations

from collections.abc import Callable, Sequence
from typing import NamedTuple

import numpy as np
import numpy.typing as npt

from qdialect.dialects.onnx_base import OnnxOp
from qdialect.dialects.quant import UniformType
from qdialect.ir.values import normal_axis, rank_of
from qdialect.promises.base import Transfer
from qdialect.promises.blocks import BlockRule, kept, lost
from qdialect.reasons import UNKNOWN_RANK, Blocked, answer, required

MIXED = Blocked("mixed-scales", "the operands have different scales or zero points")
NO_SCALES = Blocked("scales-along-axis", "the op removes the axis that the scales run along")
NOT_CONSTANT = Blocked(
    "computed-parameter", "an axis, index or size that determines the axis of the scales is computed"
)
ALONG_AXIS = Blocked("scales-along-axis", "the scales run along an axis that this op changes")


class Moved(NamedTuple):
    """Parameters after the op: along `axis`, entry k is old entry `indices[k]`; axis None: one entry, per tensor."""

    axis: int | None
    indices: npt.NDArray[np.intp]


def places_of(axes: Sequence[int], rank: int) -> list[int] | Blocked:
    """Axes of a tensor of `rank`, non-negative; `Blocked` if one is not there, or is listed twice."""
    places = [normal_axis(axis, rank) for axis in axes]
    if len(set(places)) < len(places) or any(not 0 <= at < rank for at in places):
        return Blocked("invalid-parameters", f"axes {list(axes)} are not all among {rank}, each once")
    return places


AxisRule = Callable[["OnnxOp", int], "int | Moved | Blocked"]
"""Maps an op and the axis of its operand's scales to the axis, or the selected scales, of its result, or `Blocked`."""


def taken(type: UniformType, moved: Moved) -> UniformType:
    """A per-axis type with the entries that `moved` picks."""
    scales, zero_points = type.scales[moved.indices], type.zero_points[moved.indices]
    if moved.axis is None:
        scales, zero_points = scales.reshape(()), zero_points.reshape(())
    return type.replace(scales=scales, zero_points=zero_points, axis=moved.axis)


def follow(rule: AxisRule, blocks: BlockRule | None = None) -> Transfer:
    """One operand, one type: per tensor unchanged, per axis by `rule`, per block by `blocks`."""
    per_block = blocks or (kept if rule is same else lost)

    def transfer(op: OnnxOp, types: Sequence[UniformType]) -> Sequence[UniformType] | Blocked:
        head = types[0]
        if any(t != head for t in types[1:]):
            return MIXED
        if head.is_per_tensor:
            return [head]
        moved = answer(per_block, op, head) if head.axis is None else answer(rule, op, head.axis)
        if isinstance(moved, Blocked):
            return moved
        if isinstance(moved, Moved):
            return [taken(head, moved)] if moved.indices.size else NO_SCALES
        return [moved if isinstance(moved, UniformType) else head.replace(axis=moved)]

    return transfer


def same(op: OnnxOp, axis: int) -> int:
    """The op keeps all axes."""
    return axis


def never(op: OnnxOp, axis: int) -> Blocked:
    """The op preserves no axis."""
    return ALONG_AXIS


def elsewhere(default: int) -> AxisRule:
    """The op works along its attribute `axis` and preserves the others."""

    def rule(op: OnnxOp, axis: int) -> int | Blocked:
        rank = required(rank_of(op.operands[0]), UNKNOWN_RANK)
        return ALONG_AXIS if axis == normal_axis(op.int_attr("axis", default), rank) else axis

    return rule


def to_results(transfer: Transfer, count: Callable[[OnnxOp], int]) -> Transfer:
    """The one type of `transfer`, repeated for `count(op)` results."""

    def repeated(op: OnnxOp, types: Sequence[UniformType]) -> Sequence[UniformType] | Blocked:
        moved = transfer(op, types)
        return moved if isinstance(moved, Blocked) else [moved[0]] * count(op)

    return repeated
