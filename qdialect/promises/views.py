"""
Ops whose result lists elements of one operand in another order: which elements, as strides along the axes of a source.

A chain of such ops gives a `View` of the tensor that it begins with, such as the heads of an attention, which are part
of the last axis of the projected tensor.
"""

from __future__ import annotations

from collections.abc import Callable, Collection, Mapping, Sequence
from dataclasses import dataclass, replace
from typing import NamedTuple

from xdsl.ir import OpResult, SSAValue

from qdialect.dialects.onnx_base import OnnxOp, promise_of
from qdialect.dialects.onnx_types import DYNAMIC, shape_of
from qdialect.ir.values import constant_array, constant_ints, normal_axis
from qdialect.promises.base import Promise
from qdialect.promises.layout import Cuts, inserted_axes, order_of, removed_axes, slices_of
from qdialect.reasons import Blocked, answer


class Run(NamedTuple):
    """Elements along one axis of the source, evenly spaced."""

    axis: int
    stride: int
    size: int
    """Number of elements; `DYNAMIC` for a whole axis of unknown size."""


Axis = tuple[Run, ...]
"""The runs that an axis of a view goes through, the slowest first; none if its size is 1."""


@dataclass(frozen=True)
class View:
    """Elements of a source, by axis of the view, from an offset along each axis of the source."""

    axes: tuple[Axis, ...]
    offsets: tuple[int, ...]

    @classmethod
    def whole(cls, shape: Sequence[int]) -> View:
        """All elements of a source of that shape, in order."""
        axes = tuple(() if size == 1 else (Run(axis, 1, size),) for axis, size in enumerate(shape))
        return cls(axes, (0,) * len(shape))

    def taken(self, axis: int, start: int, step: int, count: int) -> View | None:
        """Of one axis, `count` elements from `start` on, every `step`; None if no run lists them."""
        runs, offsets = self.axes[axis], list(self.offsets)
        if not runs:
            return self if (start, count) == (0, 1) else None
        run = runs[0]
        if len(runs) > 1 or run.size == DYNAMIC:
            return None
        offsets[run.axis] += start * run.stride
        left = () if count == 1 else (Run(run.axis, run.stride * step, count),)
        return View((*self.axes[:axis], left, *self.axes[axis + 1 :]), tuple(offsets))


def size_of(axis: Axis) -> int:
    """The size of an axis of a view; `DYNAMIC` if it is not known."""
    size = 1
    for run in axis:
        if run.size == DYNAMIC:
            return DYNAMIC
        size *= run.size
    return size


Rule = Callable[[OnnxOp, int, View], "View | None"]
"""Maps an op, the place of a result and the view of its operand to the view of that result; None if there is none."""


@dataclass(frozen=True)
class Rearranges(Promise):
    """Each result lists elements of operand 0."""

    view: Rule


def view_of(value: SSAValue, source: SSAValue, like: Mapping[SSAValue, SSAValue] = {}) -> View | None:
    """
    `value` as elements of `source`, from which it is computed by ops that rearrange; None if it is no such view.

    like: operands of elementwise ops, by their results, which have the same places.
    """
    chain: list[tuple[OnnxOp, int]] = []
    while value is not source:
        if value in like:
            value = like[value]
            continue
        above = rearranged(value)
        if above is None or not isinstance(value, OpResult) or not isinstance(value.op, OnnxOp):
            return None
        chain.append((value.op, value.index))
        value = above
    shape = shape_of(source.type)
    view = None if shape is None else View.whole(shape)
    for op, place in reversed(chain):
        promise = op.get_trait(Rearranges)
        view = None if view is None or promise is None else promise.view(op, place, view)
    return view


def rearranged(value: SSAValue) -> SSAValue | None:
    """The operand whose elements `value` lists; None if no op that rearranges defines it."""
    op = value.op if isinstance(value, OpResult) else None
    return op.operands[0] if promise_of(op, Rearranges) is not None and op is not None else None


def _permuted(op: OnnxOp, place: int, view: View) -> View | None:
    order = order_of(op)
    return None if order is None else replace(view, axes=tuple(view.axes[axis] for axis in order))


def _cut(op: OnnxOp, place: int, view: View) -> View | None:
    promise = op.get_trait(Cuts)
    axis = None if promise is None else promise.axis(op)
    shapes = [shape_of(result.type) for result in op.results]
    if axis is None or any(shape is None for shape in shapes):
        return None
    sizes = [shape[axis] for shape in shapes if shape is not None]
    return None if DYNAMIC in sizes else view.taken(axis, sum(sizes[:place]), 1, sizes[place])


def _sliced(op: OnnxOp, place: int, view: View) -> View | None:
    cuts = answer(slices_of, op)
    if isinstance(cuts, Blocked):
        return None
    for axis, cut in cuts.items():
        size = size_of(view.axes[axis])
        if size == DYNAMIC:
            return None
        kept = range(size)[cut]
        taken = view.taken(axis, kept.start, kept.step, len(kept)) if kept else None
        if taken is None:
            return None
        view = taken
    return view


def _gathered(op: OnnxOp, place: int, view: View) -> View | None:
    """One index, or evenly spaced ones."""
    indices, axis = constant_array(op.operands[1]), normal_axis(op.int_attr("axis", 0), len(view.axes))
    size = size_of(view.axes[axis])
    if indices is None or indices.ndim > 1 or not indices.size or size == DYNAMIC:
        return None
    places = [int(one) % size if -size <= one < size else size for one in indices.reshape(-1)]
    step = places[1] - places[0] if len(places) > 1 else 1
    if step < 1 or places[-1] >= size or places != [*range(places[0], places[-1] + 1, step)]:
        return None
    taken = view.taken(axis, places[0], step, len(places))
    if taken is None or indices.ndim:
        return taken
    return replace(taken, axes=(*taken.axes[:axis], *taken.axes[axis + 1 :]))


def _squeezed(op: OnnxOp, place: int, view: View) -> View | None:
    removed = answer(removed_axes, op)
    if isinstance(removed, Blocked):
        return None
    return replace(view, axes=tuple(axis for k, axis in enumerate(view.axes) if k not in removed))


def _unsqueezed(op: OnnxOp, place: int, view: View) -> View | None:
    inserted, axes = answer(inserted_axes, op), list(view.axes)
    if isinstance(inserted, Blocked):
        return None
    for at in inserted:
        axes.insert(at, ())
    return replace(view, axes=tuple(axes))


def _reshaped(op: OnnxOp, place: int, view: View) -> View | None:
    return _in_shape(op, view, frozenset())


def _reshaped_as_listed(op: OnnxOp, place: int, view: View) -> View | None:
    """The sizes are operand 1, in which 0 copies that of the same axis."""
    listed = () if op.int_attr("allowzero", 0) else constant_ints(op.input(1)) or ()
    return _in_shape(op, view, frozenset(place for place, size in enumerate(listed) if not size))


def _in_shape(op: OnnxOp, view: View, copied: Collection[int]) -> View | None:
    """
    The view in the shape of the result. copied: axes whose sizes are copied from the same axis of the operand.

    Axes are split and merged where the sizes of both sides agree from the front.

    An axis of unknown size stays whole. It is the same axis if the op copies its size, written as 0, or if it is the
    only other one, since both sides have as many elements.
    """
    shape = shape_of(op.results[0].type)
    if shape is None or 0 in shape:
        return None
    axes, unknown = list[Axis](), 0
    rest = list(view.axes)
    while rest or len(axes) < len(shape):
        target = shape[len(axes)] if len(axes) < len(shape) else None
        is_copied = len(axes) in copied and len(view.axes) - len(rest) == len(axes)
        if is_copied and rest:
            axes.append(rest.pop(0))
        elif target == 1:
            axes.append(())
        elif rest and size_of(rest[0]) == 1:
            rest.pop(0)
        elif not rest or target is None:
            return None
        elif DYNAMIC in (target, size_of(rest[0])):
            unknown += 1
            if unknown > 1 or target != size_of(rest[0]):
                return None
            axes.append(rest.pop(0))
        else:
            pieces = _regrouped(rest, shape[len(axes) :])
            if pieces is None:
                return None
            axes += pieces
    return replace(view, axes=tuple(axes))


def _regrouped(rest: list[Axis], sizes: Sequence[int]) -> list[Axis] | None:
    """
    The fewest axes of the first of `sizes` that have as many elements as the first axes of `rest`, which are removed;
    None if there are none of known sizes.
    """
    runs, count = list(rest[0]), 1
    have, want = size_of(rest.pop(0)), sizes[0]
    while have != want:
        if have < want:
            if not rest or size_of(rest[0]) == DYNAMIC:
                return None
            have *= size_of(rest[0])
            runs += rest.pop(0)
        else:
            if count == len(sizes) or sizes[count] == DYNAMIC:
                return None
            want *= sizes[count]
            count += 1
    return _split(joined(runs), sizes[:count])


def joined(runs: Sequence[Run]) -> list[Run]:
    """Runs with those made one that continue each other."""
    joined: list[Run] = []
    for run in runs:
        last = joined[-1] if joined else None
        if last is not None and last.axis == run.axis and last.stride == run.stride * run.size:
            joined[-1] = Run(run.axis, run.stride, last.size * run.size)
        else:
            joined.append(run)
    return joined


def _split(runs: list[Run], sizes: Sequence[int]) -> list[Axis] | None:
    """Runs cut into axes of `sizes`; None if an axis would end within a step of a run."""
    axes: list[Axis] = []
    for size in sizes:
        axis: list[Run] = []
        while size > 1:
            run = runs.pop(0)
            if size % run.size == 0:
                axis.append(run)
                size //= run.size
            elif run.size % size == 0:
                inner = run.size // size
                axis.append(Run(run.axis, run.stride * inner, size))
                runs.insert(0, Run(run.axis, run.stride, inner))
                size = 1
            else:
                return None
        axes.append(tuple(axis))
    return axes


VIEWS: dict[tuple[str, str], Rearranges] = {
    ("", "Transpose"): Rearranges(_permuted),
    ("", "Split"): Rearranges(_cut),
    ("", "Slice"): Rearranges(_sliced),
    ("", "Gather"): Rearranges(_gathered),
    ("", "Reshape"): Rearranges(_reshaped_as_listed),
    ("", "Flatten"): Rearranges(_reshaped),
    ("", "Squeeze"): Rearranges(_squeezed),
    ("", "Unsqueeze"): Rearranges(_unsqueezed),
}
