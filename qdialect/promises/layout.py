"""
Layout ops: each element of the result is an element of the operand, unchanged. Per tensor they carry any type;
per axis the scales follow their axis (docs/spec.md, "layout").

Some fill the rest with the real number 0, which each type stores as its zero point, for any scale:

    DQ(f(q, fill z)) = f(DQ(q), fill 0)       Q(f(x, fill 0)) = f(Q(x), fill z)
"""

from __future__ import annotations

from bisect import bisect
from collections.abc import Callable, Sequence
from dataclasses import dataclass
from typing import Any

import numpy as np
from xdsl.ir import Block, Operation

from qdialect.dialects.onnx_base import OnnxOp, promise_of
from qdialect.dialects.onnx_types import DYNAMIC, shape_of
from qdialect.dialects.quant import UniformType
from qdialect.ir.values import constant_array, constant_ints, ints_of, normal_axis, rank_of, static_shape
from qdialect.promises import blocks
from qdialect.promises.axes import (
    ALONG_AXIS,
    NOT_CONSTANT,
    AxisRule,
    Moved,
    elsewhere,
    follow,
    never,
    same,
    to_results,
)
from qdialect.promises.base import (
    Commutes,
    Promise,
    Transfer,
    always,
    every_operand,
    every_result,
    no_types,
    none,
)
from qdialect.promises.blocks import BlockRule
from qdialect.promises.monotone import batch_or_channel
from qdialect.promises.padding import only_adds, pad_backward, pad_forward
from qdialect.promises.reshaping import (
    concat_backward,
    concat_forward,
    reshape_backward,
    reshape_forward,
    split_backward,
    split_forward,
)
from qdialect.promises.resizing import resize_nearest
from qdialect.reasons import UNKNOWN_RANK, Blocked, required, unblocked

OUT_OF_RANGE = Blocked("invalid-op", "an index is out of the operand's range", "check the model")


def _order(op: OnnxOp) -> tuple[int, ...] | None:
    perm, rank = op.ints_attr("perm"), rank_of(op.operands[0])
    return tuple(reversed(range(rank))) if perm is None and rank is not None else perm


def _transpose_forward(op: OnnxOp, axis: int) -> int | Blocked:
    order = _order(op)
    return UNKNOWN_RANK if order is None else order.index(axis)


def _transpose_backward(op: OnnxOp, axis: int) -> int | Blocked:
    order = _order(op)
    return UNKNOWN_RANK if order is None else order[axis]


def _permuted(forward: bool) -> BlockRule:
    def rule(op: OnnxOp, type: UniformType) -> UniformType:
        perm = op.ints_attr("perm") or tuple(reversed(range(type.scales.ndim)))
        return blocks.permuted(type, perm if forward else [perm.index(k) for k in range(len(perm))])

    return rule


def _reranked(axes_of: Callable[[OnnxOp], list[int] | Blocked], *, inserts: bool) -> Transfer:
    """Axes of size 1 inserted, or removed."""

    def by_axis(op: OnnxOp, axis: int) -> int | Moved:
        axes = unblocked(axes_of(op))
        return _spread(axis, axes) if inserts else _closed(axis, axes)

    def by_block(op: OnnxOp, type: UniformType) -> UniformType:
        axes = unblocked(axes_of(op))
        return blocks.with_axes(type, axes) if inserts else blocks.without_axes(type, axes)

    return follow(by_axis, by_block)


def inserted_axes(op: OnnxOp) -> list[int] | Blocked:
    axes = required(ints_of(op, "axes", 1), NOT_CONSTANT)
    rank = required(rank_of(op.operands[0]), UNKNOWN_RANK)
    return sorted(normal_axis(a, rank + len(axes)) for a in axes)


def removed_axes(op: OnnxOp) -> list[int] | Blocked:
    shape = required(shape_of(op.operands[0].type), UNKNOWN_RANK)
    has_axes = op.ints_attr("axes") is not None or op.input(1) is not None
    axes = required(ints_of(op, "axes", 1) if has_axes else (), NOT_CONSTANT)
    if axes:
        return sorted(normal_axis(a, len(shape)) for a in axes)
    return UNKNOWN_RANK if DYNAMIC in shape else [k for k, size in enumerate(shape) if size == 1]


def _spread(axis: int, inserted: Sequence[int]) -> int:
    for position in inserted:
        axis += position <= axis
    return axis


def _closed(axis: int, removed: Sequence[int]) -> int | Moved:
    if axis in removed:  # its size is 1, so there is one scale
        return Moved(None, np.array([0]))
    return axis - bisect(removed, axis)


def slices_of(op: OnnxOp) -> dict[int, slice] | Blocked:
    """The slices that a Slice takes, by axis."""
    starts, ends = (required(ints_of(op, *at), NOT_CONSTANT) for at in (("starts", 1), ("ends", 2)))
    rank = required(rank_of(op.operands[0]), UNKNOWN_RANK)
    has_axes = op.ints_attr("axes") is not None or op.input(3) is not None
    axes = ints_of(op, "axes", 3) if has_axes else tuple(range(len(starts)))
    steps = ints_of(op, "steps", 4) if op.input(4) is not None else (1,) * len(starts)
    axes, steps = (required(known, NOT_CONSTANT) for known in (axes, steps))
    if not len(starts) == len(ends) == len(axes) == len(steps) or 0 in steps:
        return OUT_OF_RANGE
    cuts: dict[int, slice] = {}
    for start, end, axis, step in zip(starts, ends, axes, steps, strict=True):
        cuts[normal_axis(axis, rank)] = slice(start, end, step)
    return cuts


def _slice_forward(op: OnnxOp, axis: int) -> int | Moved | Blocked:
    cuts, shape = unblocked(slices_of(op)), shape_of(op.operands[0].type)
    if axis not in cuts:
        return axis
    if shape is None or shape[axis] == DYNAMIC:
        return UNKNOWN_RANK
    return Moved(axis, np.arange(shape[axis])[cuts[axis]])


def _slice_blocks(op: OnnxOp, type: UniformType) -> UniformType | Blocked:
    cuts, shape = unblocked(slices_of(op)), required(static_shape(op.operands[0]), UNKNOWN_RANK)
    for axis, taken in cuts.items():
        start, stop, step = taken.indices(shape[axis])
        if step != 1:
            return blocks.BLOCK_CUT
        type = unblocked(blocks.cut(type, axis, start, stop, shape[axis]))
    return type


def _slice_backward(op: OnnxOp, axis: int) -> int | Blocked:
    return ALONG_AXIS if axis in unblocked(slices_of(op)) else axis


def _gather_axes(op: OnnxOp) -> tuple[int, int] | Blocked:
    rank, indices = (required(rank_of(value), UNKNOWN_RANK) for value in op.operands[:2])
    return normal_axis(op.int_attr("axis", 0), rank), indices


def _gather_forward(op: OnnxOp, axis: int) -> int | Moved | Blocked:
    gathered, rank = unblocked(_gather_axes(op))
    if axis < gathered:
        return axis
    if axis > gathered:
        return axis + rank - 1
    indices = required(constant_array(op.operands[1]), NOT_CONSTANT)
    if rank > 1:
        return ALONG_AXIS
    size = shape_of(op.operands[0].type)[axis]  # pyright: ignore[reportOptionalSubscript] -- the rank is known
    if size == DYNAMIC:
        return UNKNOWN_RANK
    if ((indices < -size) | (indices >= size)).any():
        return OUT_OF_RANGE
    return Moved(axis if rank else None, indices.reshape(-1))


def _gather_backward(op: OnnxOp, axis: int) -> int | Blocked:
    gathered, rank = unblocked(_gather_axes(op))
    if axis < gathered:
        return axis
    return ALONG_AXIS if axis < gathered + rank else axis - rank + 1


def _repeated(op: OnnxOp, axis: int) -> int | Moved | Blocked:
    """Expand and Tile: entries are repeated as often as the axis grows."""
    source, target = (required(static_shape(v), UNKNOWN_RANK) for v in (op.operands[0], op.results[0]))
    axis_after = axis + len(target) - len(source)
    size, after = source[axis], target[axis_after]
    return axis_after if size == after else Moved(axis_after, np.arange(after) % size)


def _unrepeated(op: OnnxOp, axis: int) -> int | Blocked:
    source, target = (required(static_shape(v), UNKNOWN_RANK) for v in (op.operands[0], op.results[0]))
    before = axis - len(target) + len(source)
    return before if before >= 0 and source[before] == target[axis] else ALONG_AXIS


def _reverse_sequence(op: OnnxOp, axis: int) -> int | Blocked:
    return ALONG_AXIS if axis == op.int_attr("time_axis", 0) else axis


def _overwritten(op: OnnxOp, types: Sequence[UniformType]) -> Sequence[UniformType] | Blocked:
    if op.str_attr("reduction", "none") != "none":
        return Blocked("interpolates", "the op computes with the elements that it overwrites")
    return follow(never)(op, types)


def _compressed(op: OnnxOp, axis: int) -> int | Moved | Blocked:
    if "axis" not in op.properties:
        return ALONG_AXIS  # the rest is one row
    moved = elsewhere(0)(op, axis)
    kept = constant_array(op.operands[1])
    size = static_shape(op.operands[0])
    if moved != ALONG_AXIS or kept is None or size is None or kept.size > size[axis]:
        return moved
    return Moved(axis, np.flatnonzero(kept))


def _compressed_backward(op: OnnxOp, axis: int) -> int | Moved | Blocked:
    return ALONG_AXIS if "axis" not in op.properties else elsewhere(0)(op, axis)


def training(op: OnnxOp) -> Blocked | None:
    """`Blocked` for a Dropout that is active, since it runs in training mode; None for one that is a copy."""
    mode = constant_array(op.input(2))
    if op.input(2) is not None and (mode is None or mode.any()):
        return Blocked(
            "training-mode", "Dropout is in training mode, or may be", "export the model for inference"
        )
    return None


def _dropout(op: OnnxOp, types: Sequence[UniformType]) -> Sequence[UniformType] | Blocked:
    return training(op) or types


def layout(forward: AxisRule = never, backward: AxisRule = never, **more: Any) -> Commutes:
    """
    The promise of an op whose first operand's elements are its result's, each whole.

    forward: where scales along an axis of the operand go; by default they stay with the op, and only a type with one
        scale moves past it. backward: the same from the result to the operand. more: the other fields of `Commutes`.
    """
    return Commutes(follow(forward), follow(backward), **more)


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


def _nearest(op: OnnxOp, types: Sequence[UniformType]) -> Sequence[UniformType] | Blocked:
    if op.str_attr("mode", "linear") != "nearest":
        return Blocked("interpolates", f"{op.op_type} computes new elements between the old ones")
    return follow(batch_or_channel)(op, types)


FILLING: dict[tuple[str, str], Commutes] = {
    ("", "Trilu"): Commutes(follow(same), follow(same), moves_storage=False),
    ("", "MaxUnpool"): Commutes(follow(batch_or_channel), follow(batch_or_channel), moves_storage=False),
    ("", "GridSample"): Commutes(_nearest, _nearest, moves_storage=False),
}


_PER_TENSOR = layout()
_TO_TWO = to_results(follow(never), lambda op: 2)
_SIZES = Commutes(no_types, no_types, results=none)
_DATA_AND_UPDATES = Commutes(
    _overwritten, to_results(_overwritten, lambda op: 2), operands=lambda op: (0, len(op.operands) - 1)
)

LAYOUT: dict[tuple[str, str], Commutes] = {
    ("", "Transpose"): Commutes(
        follow(_transpose_forward, _permuted(True)),
        follow(_transpose_backward, _permuted(False)),
        keeps_all=always,
    ),
    ("", "Reshape"): Commutes(reshape_forward, reshape_backward, keeps_order=True),
    ("", "Flatten"): Commutes(reshape_forward, reshape_backward, keeps_order=True),
    ("", "Unsqueeze"): Commutes(
        _reranked(inserted_axes, inserts=True), _reranked(inserted_axes, inserts=False), keeps_order=True
    ),
    ("", "Squeeze"): Commutes(
        _reranked(removed_axes, inserts=False), _reranked(removed_axes, inserts=True), keeps_order=True
    ),
    ("", "Identity"): layout(same, same, in_place=True, keeps_order=True),
    ("", "Dropout"): Commutes(_dropout, _dropout, in_place=True, keeps_all=always),
    ("", "Slice"): Commutes(follow(_slice_forward, _slice_blocks), follow(_slice_backward)),
    ("", "Gather"): layout(_gather_forward, _gather_backward),
    ("", "Expand"): layout(_repeated, _unrepeated, keeps_all=always),
    ("", "Tile"): layout(_repeated, _unrepeated, keeps_all=always),
    ("", "Concat"): Commutes(concat_forward, concat_backward, operands=every_operand, keeps_all=always),
    ("", "Split"): Commutes(split_forward, split_backward, results=every_result, keeps_all=always),
    ("", "Pad"): Commutes(pad_forward, pad_backward, moves_storage=False, keeps_all=only_adds),
    ("", "Resize"): Commutes(resize_nearest, resize_nearest),
    ("", "DepthToSpace"): layout(keeps_all=always),
    ("", "SpaceToDepth"): layout(keeps_all=always),
    ("", "GatherElements"): _PER_TENSOR,
    ("", "GatherND"): _PER_TENSOR,
    ("", "ReverseSequence"): layout(_reverse_sequence, _reverse_sequence, keeps_all=always),
    ("", "Compress"): layout(_compressed, _compressed_backward),
    ("", "OneHot"): Commutes(follow(never), follow(never), operands=lambda op: (2,)),
    ("", "ScatterElements"): _DATA_AND_UPDATES,
    ("", "ScatterND"): _DATA_AND_UPDATES,
    ("", "Scatter"): _DATA_AND_UPDATES,
    ("", "TensorScatter"): Commutes(follow(never), _TO_TWO, operands=lambda op: (0, 1)),
    ("", "Where"): Commutes(follow(never), _TO_TWO, operands=lambda op: (1, 2)),
    ("", "Shape"): _SIZES,
    ("", "Size"): _SIZES,
}


@dataclass(frozen=True)
class Permutes(Promise):
    """The op transposes its operand."""

    order: Callable[[OnnxOp], tuple[int, ...] | None]
    """The permutation: axis k of the result is axis order[k]; None if the rank is unknown."""


def order_of(op: Operation | Block | None) -> tuple[int, ...] | None:
    """The permutation of an op that transposes; None for another op, or if the rank is unknown."""
    promise = promise_of(op, Permutes)
    return promise.order(op) if promise is not None and isinstance(op, OnnxOp) else None


@dataclass(frozen=True)
class Cuts(Promise):
    """The op cuts its first operand along one axis; the parts are its results, in order."""

    axis: Callable[[OnnxOp], int | None]
    """The axis, from 0 on; None if the rank is unknown."""


def _cut_along(op: OnnxOp) -> int | None:
    rank = rank_of(op.operands[0])
    return None if rank is None else normal_axis(op.int_attr("axis", 0), rank)


MOVES: dict[tuple[str, str], Promise] = {
    ("", "Split"): Cuts(_cut_along),
    ("", "Transpose"): Permutes(_order),
}
