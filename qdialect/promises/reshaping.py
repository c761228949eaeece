"""Reshape: type transfer where elements keep their order and axes are split and merged."""

from __future__ import annotations

from collections.abc import Sequence
from math import prod

import numpy as np
import numpy.typing as npt

from qdialect.dialects.onnx_base import OnnxOp
from qdialect.dialects.onnx_types import DYNAMIC, shape_of
from qdialect.dialects.quant import UniformType
from qdialect.promises.axes import ALONG_AXIS, Moved, taken
from qdialect.promises.base import Transfer
from qdialect.promises.blocks import lost
from qdialect.reasons import UNKNOWN_RANK, Blocked

MOST_REPEATED = 4096
"""Most scales that are written where an axis was merged: each is some bytes of the file, read at every run."""
REPEATED = Blocked(
    "repeated-scales", f"the merged axis would need more than {MOST_REPEATED} scales, most of them repeated"
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
    return REPEATED if size > max(count, MOST_REPEATED) else np.arange(size) * other // whole % period * run


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
