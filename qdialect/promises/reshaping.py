"""Type transfer of Reshape, whose axes are split and merged; of Concat and Split, which join and cut scales."""

from __future__ import annotations

from collections.abc import Sequence
from itertools import pairwise
from math import prod

import numpy as np
import numpy.typing as npt
from xdsl.ir import SSAValue

from qdialect.dialects.onnx_base import OnnxOp
from qdialect.dialects.onnx_types import DYNAMIC, shape_of
from qdialect.dialects.quant import UniformType
from qdialect.ir.values import normal_axis, rank_of
from qdialect.promises import blocks
from qdialect.promises.axes import ALONG_AXIS, MIXED, NO_SCALES, Moved, taken
from qdialect.promises.base import Transfer
from qdialect.promises.blocks import lost
from qdialect.reasons import UNKNOWN_RANK, Blocked, answer, required, unblocked

MAX_REPEATED_SCALES = 4096
"""Most scales that are written where an axis was merged: each is some bytes of the file, read at every run."""
REPEATED = Blocked(
    "too-large", f"the merged axis would need more than {MAX_REPEATED_SCALES} scales, most of them repeated"
)
Sizes = Sequence[int]


def _strides(source: Sizes, axis: int, target: Sizes, k: int) -> tuple[int, int] | None:
    """
    Elements from one index to the next along `axis` of `source` and along axis k of `target`, or two numbers in the
    same ratio: both tensors have as many elements. None if too many sizes are unknown.
    """
    after, tail = source[axis + 1 :], target[k + 1 :]
    if DYNAMIC not in (*after, *tail):
        return prod(after), prod(tail)
    upto, head = source[: axis + 1], target[: k + 1]
    return None if DYNAMIC in (*upto, *head) else (prod(head), prod(upto))


def _pattern(type: UniformType) -> tuple[int, int]:
    """(run, period): each entry of the scales stands in runs of so many, and the runs repeat after so many of them."""
    both = np.stack([type.scales, type.zero_points])
    changes = np.flatnonzero((both[:, 1:] != both[:, :-1]).any(axis=0)) + 1
    run = int(np.gcd.reduce([both.shape[1], *changes]))
    runs = both[:, ::run]
    count = runs.shape[1]
    periods = (n for n in range(1, count) if not count % n and (runs[:, n:] == runs[:, :-n]).all())
    return run, next(periods, count)


def _entries(type: UniformType, steps: tuple[int, int], size: int) -> npt.NDArray[np.intp] | Blocked:
    """
    For each index along an axis of `size`, the entry of the scales of its elements; `Blocked` if these have several.

    steps: `_strides` of the scales' axis and of that one. A run of equal scales has to be made of whole indices, and
    the axis of whole periods.
    """
    (own, other), count = steps, type.scales.size
    if (own, count) == (other, size):
        return np.arange(count)
    run, period = _pattern(type)
    whole = own * run
    if not whole or not other * size or (period > 1 and (whole % other or other * size % (whole * period))):
        return ALONG_AXIS
    return (
        REPEATED
        if size > max(count, MAX_REPEATED_SCALES)
        else np.arange(size) * other // whole % period * run
    )


def _carried(type: UniformType, source: Sizes, target: Sizes) -> UniformType | Blocked:
    """The type after a reshape of a tensor of shape `source` whose scales run along an axis."""
    axis, blocked = type.axis or 0, ALONG_AXIS
    source = [*source[:axis], type.scales.size, *source[axis + 1 :]]
    as_it_was_first = sorted(range(len(target)), key=lambda k: target[k] != source[axis])
    for k in as_it_was_first:
        steps = _strides(source, axis, target, k)
        entries = UNKNOWN_RANK if steps is None or target[k] == DYNAMIC else _entries(type, steps, target[k])
        if not isinstance(entries, Blocked):
            return taken(type, Moved(k if entries.size > 1 else None, entries))
        if blocked is ALONG_AXIS:
            blocked = entries
    return blocked


def _along(forward: bool) -> Transfer:
    def transfer(op: OnnxOp, types: Sequence[UniformType]) -> Sequence[UniformType] | Blocked:
        type = types[0]
        if type.is_per_tensor:
            return types
        if type.axis is None:
            return lost(op, type)
        source, target = shape_of(op.operands[0].type), shape_of(op.results[0].type)
        if source is None or target is None:
            return UNKNOWN_RANK
        moved = _carried(type, source, target) if forward else _carried(type, target, source)
        return moved if isinstance(moved, Blocked) else [moved]

    return transfer


reshape_forward = _along(True)
reshape_backward = _along(False)


Types = Sequence[UniformType]


def _joined(types: Types, axis: int, values: Sequence[SSAValue]) -> UniformType | Blocked:
    """The type of the whole; a part of one slice has one scale, and so its type is per tensor."""
    head = next(t for t in types if not t.is_per_tensor)
    if any(t.blocks for t in types):
        return blocks.joined(types, axis)
    if any(t.storage != head.storage or t.expressed != head.expressed for t in types):
        return MIXED
    if head.axis != axis:
        return head if all(t == head for t in types) else MIXED
    for type, value in zip(types, values, strict=True):
        shape = shape_of(value.type)
        if type.axis != axis and not (type.is_per_tensor and shape is not None and shape[axis] == 1):
            return MIXED
    scales = np.concatenate([t.scales.reshape(-1) for t in types])
    zero_points = np.concatenate([t.zero_points.reshape(-1) for t in types])
    return UniformType.per_axis(head.storage, axis, scales, zero_points, head.expressed)


def _parts(type: UniformType, axis: int, values: Sequence[SSAValue]) -> list[UniformType] | Blocked:
    if not type.blocks and type.axis != axis:
        return [type] * len(values)
    ends = [0]
    for value in values:
        shape = shape_of(value.type)
        if shape is None or shape[axis] == DYNAMIC:
            return UNKNOWN_RANK
        if not shape[axis]:
            return NO_SCALES
        ends.append(ends[-1] + shape[axis])
    return [unblocked(_part(type, axis, start, stop, ends[-1])) for start, stop in pairwise(ends)]


def _part(type: UniformType, axis: int, start: int, stop: int, size: int) -> UniformType | Blocked:
    if type.blocks:
        return blocks.cut(type, axis, start, stop, size)
    at = slice(start, stop)
    return type.replace(scales=type.scales[at], zero_points=type.zero_points[at], axis=axis)


def _axis(op: OnnxOp, value: SSAValue, default: int) -> int:
    return normal_axis(op.int_attr("axis", default), required(rank_of(value), UNKNOWN_RANK))


def _whole_of(op: OnnxOp, types: Types, values: Sequence[SSAValue], default: int) -> Types | Blocked:
    """The type of the whole from those of its parts `values`, joined along `axis`, else along `default`."""
    if all(t.is_per_tensor for t in types):
        return [types[0]] if all(t == types[0] for t in types) else MIXED
    return [unblocked(_joined(types, _axis(op, op.operands[0], default), values))]


def _parts_of(
    op: OnnxOp, type: UniformType, values: Sequence[SSAValue], whole: SSAValue, default: int
) -> Types | Blocked:
    """The types of the parts `values` from that of the whole, cut along the attribute `axis`."""
    return [type] * len(values) if type.is_per_tensor else _parts(type, _axis(op, whole, default), values)


def concat_forward(op: OnnxOp, types: Types) -> Types | Blocked:
    """Operand types to the joined type."""
    return answer(_whole_of, op, types, op.operands, 1)


def concat_backward(op: OnnxOp, types: Types) -> Types | Blocked:
    """The joined type to the operands' types."""
    return answer(_parts_of, op, types[0], op.operands, op.results[0], 1)


def split_forward(op: OnnxOp, types: Types) -> Types | Blocked:
    """The whole's type to the parts' types."""
    return answer(_parts_of, op, types[0], op.results, op.operands[0], 0)


def split_backward(op: OnnxOp, types: Types) -> Types | Blocked:
    """The parts' types to the whole's type."""
    return answer(_whole_of, op, types, op.results, 0)
