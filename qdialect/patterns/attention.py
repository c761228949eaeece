"""The parts of an attention: heads as views of projected tensors, the scores and their mask, the joined result."""

from __future__ import annotations

from collections.abc import Iterator
from itertools import chain
from typing import NamedTuple

from xdsl.ir import Operation, OpResult, SSAValue

from qdialect.dialects.onnx_base import OnnxOp, promise_of
from qdialect.dialects.onnx_types import DYNAMIC, shape_of
from qdialect.ir.values import is_float32, rank_of, static_shape
from qdialect.promises.arithmetic import Scales, step_of
from qdialect.promises.elementwise import Adds, KnownRange
from qdialect.promises.linear import Linear
from qdialect.promises.rows import AlongAxis
from qdialect.promises.views import Axis, Rearranges, Run, View, joined, rearranged, size_of, view_of
from qdialect.reasons import Blocked, required, unblocked

MAX_OPS_BETWEEN = 12
"""Most ops between a product and the tensor whose parts it reads."""
OTHER_RESULT = Blocked("attention-form", "the results of the heads are not joined side by side")
UNEQUAL = Blocked("attention-form", "query, key and value differ in batch, or in number or size of heads")
NO_MASK = Blocked("attention-form", "the mask repeats the scores, or is not of float32")
OPEN_MASK = Blocked(
    "attention-form", "no constant shape splits batch and heads of a mask with two unknown sizes"
)
NO_SCALE = Blocked("attention-form", "the scores are multiplied by 0 or a negative number")
NO_HEADS = Blocked(
    "attention-form",
    "a factor of the attention is not made of heads that lie side by side in one tensor's last axis",
)


class Heads(NamedTuple):
    """One operand of an attention, by head: equal parts of a tensor's last axis, side by side."""

    source: SSAValue
    """Shape (..., width of all): its leading axes are the batch and the length, in this order."""
    offset: int
    """Index along the last axis at which the first head begins."""
    heads: int
    size: int
    """Width of each head."""
    batch: int
    length: int
    """`DYNAMIC` if it is not known, as `batch`."""
    factor: float
    """What the elements are multiplied by."""

    @property
    def width(self) -> int:
        """Elements of all heads."""
        return self.heads * self.size

    @property
    def is_whole_rank(self) -> bool:
        """True if the source has the axes batch, length and width."""
        return (shape_of(self.source.type) or ())[:-1] == (self.batch, self.length)


class Scores(NamedTuple):
    """softmax operand = query * key * factor + mask."""

    product: OnnxOp
    factor: float
    mask: SSAValue | None


class Attention(NamedTuple):
    """What one kernel computes."""

    query: Heads
    key: Heads
    value: Heads
    scores: Scores
    product: OnnxOp
    """The product of the weights, which the Softmax gives, and the value."""
    end: Operation
    """The op that gives the result, with all heads side by side."""
    sizes: tuple[int, ...]
    """The sizes of that result, 0 for a kept one; () if its axes are batch, length and width."""
    mask: tuple[int, ...] | None
    """Sizes of the mask along batch, heads, query and key; None without a mask."""

    @property
    def scale(self) -> float:
        """The factor of the product of query and key."""
        return self.scores.factor * self.query.factor * self.key.factor


def attention_at(op: OnnxOp) -> Attention | None:
    """
    The attention around a Softmax; None if it is not between two products.

    Raises Refused if it has no form as one kernel.
    """
    promise, known = op.get_trait(AlongAxis), op.get_trait(KnownRange)
    if promise is None or known is None or not known.shares:
        return None
    weights, scores = op.results[0], scores_of(op.operands[0])
    use = next(iter(weights.uses)) if weights.has_one_use() else None
    if scores is None or use is None or use.index:
        return None
    shape, product = shape_of(weights.type), use.operation
    if (product.results and product_of(product.results[0]) is not product) or not isinstance(product, OnnxOp):
        return None
    if shape is None or promise.axis(op) != len(shape) - 1 or not is_float32(weights):
        return None
    query, key = heads_of(scores.product.operands[0]), heads_of(scores.product.operands[1], is_key=True)
    value = heads_of(product.operands[1], is_scaled=False)
    if query.size != key.size or any(
        (query.batch, query.heads) != (one.batch, one.heads) for one in (key, value)
    ):
        unblocked(UNEQUAL)
    end, sizes = required(joined_result(product, query), OTHER_RESULT)
    parts = (query, key, value)
    if any(DYNAMIC in (one.batch, one.length) and not one.is_whole_rank for one in parts):
        unblocked(NO_HEADS)
    mask = _mask_sizes(scores, query)
    found = Attention(query, key, value, scores, product, end, sizes, mask)
    return found if found.scale > 0 else unblocked(NO_SCALE)


def _mask_sizes(scores: Scores, query: Heads) -> tuple[int, ...] | None:
    """The sizes of a mask along batch, heads, query and key. Raises Refused unless it repeats as the scores do."""
    if scores.mask is None:
        return None
    shape = required(shape_of(scores.mask.type), NO_MASK)
    sizes = (*(1,) * (4 - len(shape)), *shape)
    if rank_of(scores.product.results[0]) == 3 and len(shape) == 3:
        first = {1: (1, 1), query.batch * query.heads: (query.batch, query.heads)}
        sizes = (*required(first.get(shape[0]), NO_MASK), *shape[1:])
    if sizes[0] > 1 and len(shape) < 4 and sizes.count(DYNAMIC) > 1:
        unblocked(OPEN_MASK)
    repeats = sizes[0] in (1, query.batch) and sizes[1] in (1, query.heads, DYNAMIC)
    return sizes if repeats and is_float32(scores.mask) else unblocked(NO_MASK)


def product_of(value: SSAValue) -> OnnxOp | None:
    """The product of two computed tensors of float32 that defines `value` and is used only there; None if none does."""
    op = value.op if isinstance(value, OpResult) else None
    linear = promise_of(op, Linear)
    if linear is None or not linear.inputs_last or linear.has_bias or not isinstance(op, OnnxOp):
        return None
    return op if value.has_one_use() and all(map(is_float32, op.operands)) else None


def scores_of(value: SSAValue) -> Scores | None:
    """The scores that a Softmax reads; None if they are no product, scaled or not, with a mask or without."""
    mask, op = None, value.owner
    if promise_of(op, Adds) is not None and isinstance(op, OnnxOp) and value.has_one_use():
        places = [k for k, operand in enumerate(op.operands) if _scaled(operand)[0] is not None]
        if len(places) != 1:
            return None
        value, mask = op.operands[places[0]], op.operands[1 - places[0]]
    product, factor = _scaled(value)
    return None if product is None else Scores(product, factor, mask)


def _scaled(value: SSAValue) -> tuple[OnnxOp | None, float]:
    """The product that `value` is a multiple of, if nothing else uses either, and the factor."""
    factor = _number(value)
    if factor is None or not value.has_one_use():
        return product_of(value), 1.0
    return product_of(factor[0]), factor[1]


def _number(value: SSAValue) -> tuple[SSAValue, float] | None:
    """The operand and the factor of an op that multiplies by one constant number; None for another op."""
    promise, op = promise_of(value.owner, Scales), value.owner
    step = step_of(op, ordered=promise.inverse) if promise is not None and isinstance(op, OnnxOp) else None
    if (
        promise is None
        or step is None
        or step.constant.size != 1
        or step.constant.ndim > (rank_of(value) or 0)
    ):
        return None
    number = float(step.constant.reshape(()))
    if promise.inverse and not number:
        return None
    return step.value, 1 / number if promise.inverse else number


def heads_of(value: SSAValue, *, is_key: bool = False, is_scaled: bool = True) -> Heads:
    """
    The heads that a factor of shape (batch, heads, length, size), or (batch * heads, length, size), is made of.

    is_key: its last two axes are (size, length). is_scaled: it may be a multiple of them. Raises Refused if there are
    none.
    """
    shape = required(shape_of(value.type), NO_HEADS)
    found = (
        _heads(source, view, is_key, factor) for source, view, factor in _views(value, len(shape), is_scaled)
    )
    return required(next((one for one in found if one is not None), None), NO_HEADS)


def _views(value: SSAValue, rank: int, is_scaled: bool) -> Iterator[tuple[SSAValue, View, float]]:
    """The tensors of which a factor of rank 3 or 4 is a view, the nearest first, times a factor."""
    scaled: list[tuple[SSAValue, SSAValue]] = []
    source, factor = value, 1.0
    for _ in range(MAX_OPS_BETWEEN if rank in (3, 4) else 0):
        if is_scaled and (number := _number(source)) is not None:
            scaled.append((source, number[0]))
            source, factor = number[0], factor * number[1]
        elif (above := rearranged(source)) is not None:
            source = above
        else:
            return
        view = view_of(value, source, dict(scaled))
        if view is not None:
            yield source, view, factor


def _heads(source: SSAValue, view: View, is_key: bool, factor: float) -> Heads | None:
    """The heads of a view of `source`; None if they are not side by side in its last axis."""
    shape = shape_of(source.type) or ()
    last = len(shape) - 1
    batch, heads, rows, columns = _by_head(view, last)
    length, part = (columns, rows) if is_key else (rows, columns)
    if len(heads) != 1 or len(part) != 1 or any(view.offsets[:last]):
        return None
    count, size = heads[0].size, part[0].size
    if heads[0] != Run(last, size, count) or part[0] != Run(last, 1, size):
        return None
    leading = chain.from_iterable(View.whole(shape[:last]).axes)
    if joined([*batch, *length]) != [*leading]:
        return None
    return Heads(source, view.offsets[last], count, size, size_of(batch), size_of(length), factor)


def _by_head(view: View, last: int) -> tuple[Axis, Axis, Axis, Axis]:
    """The axes of a factor: batch and heads, which a product of matrices has in one, then rows and columns."""
    if len(view.axes) == 4:
        return view.axes[0], view.axes[1], view.axes[2], view.axes[3]
    both, rows, columns = view.axes
    return tuple(r for r in both if r.axis != last), tuple(r for r in both if r.axis == last), rows, columns


def joined_result(product: OnnxOp, query: Heads) -> tuple[Operation, tuple[int, ...]] | None:
    """
    The op that gives the result of all heads side by side, row by row, and its sizes unless its axes are batch, length
    and width, 0 for that of a kept axis.

    The first op with these axes, or the last of others; None if there is neither.
    """
    value, rank = product.results[0], rank_of(product.results[0])
    sizes = (query.batch, query.heads, query.length, (shape_of(value.type) or (DYNAMIC,))[-1])
    view = View.whole(sizes)
    apart = tuple(view.axes[axis] for axis in (0, 2, 1, 3))
    wanted = [*chain.from_iterable(apart)]
    if rank == 3:
        view = View(((*view.axes[0], *view.axes[1]), *view.axes[2:]), view.offsets)
    found: tuple[Operation, tuple[int, ...]] | None = None
    for _ in range(MAX_OPS_BETWEEN):
        op = next(iter(value.uses)).operation if value.has_one_use() else None
        promise = promise_of(op, Rearranges)
        if (
            promise is None
            or not isinstance(op, OnnxOp)
            or op.operands[0] is not value
            or len(op.results) > 1
        ):
            break
        moved = promise.view(op, 0, view)
        if moved is None:
            break
        view, value = moved, op.results[0]
        if joined([*chain.from_iterable(view.axes)]) != wanted:
            continue
        if view.axes == (*apart[:2], (*apart[2], *apart[3])):
            return op, ()
        shape = (0, 0, sizes[1], sizes[3]) if view.axes == apart else static_shape(value)
        found = found if shape is None else (op, shape)
    return found
