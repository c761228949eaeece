"""
Collapse the axes of a Transpose that only swaps two adjacent groups of axes, and those behind the axis of a Softmax.

    Transpose(x, p)        ->  Reshape(Transpose(Reshape(x, [a, b, c, d]), [0, 2, 1, 3]))
    Split(Transpose(x, p)) {axis = k}  ->  Transpose(Split(x) {axis = p[k]}, p)      into parts of one slice
    Softmax(x) {axis = k}  ->  Reshape(Softmax(Reshape(x, [a, b, c])) {axis = 1})

Axes of size 1 are dropped, and axes that stay adjacent are merged. Exact: elements are moved. Runtimes copy contiguous
blocks; if more than one axis moves, even of size 1, they copy single elements, ten times slower. Attention is exported
so: (1, n, 1, heads, size) to (1, 1, heads, size, n) is (n, heads * size) transposed. Queries, keys and values side by
side are cut apart first: of (batch, n, 3, heads, size) to (3, batch, heads, size, n) three blocks change places, of
each part two. A Softmax swaps its axis with the last before and after: over the channels of an image, or of a
detector's boxes, it takes two to five times as long. Casts stay next to the Softmax and the Reshapes around them move
integers: the form that a second compilation keeps; without kernels for integers (`stored=false`) that is decided where
casts are written.
"""

from collections.abc import Sequence
from dataclasses import dataclass
from math import prod

from xdsl.dialects.builtin import IntegerAttr, i64
from xdsl.ir import Attribute, Operation, SSAValue

from qdialect.dialects.onnx_attributes import ints_attr
from qdialect.dialects.onnx_base import OnnxOp, promise_of
from qdialect.dialects.onnx_types import (
    DYNAMIC,
    known_element,
    quantized_of,
    shape_of,
    stored_type,
    tensor_type,
)
from qdialect.dialects.quant import DequantizeOp, QuantizeOp, StorageCastOp
from qdialect.exactness import Exactness
from qdialect.forms.nodes import Nodes
from qdialect.ir.names import location, node_name
from qdialect.patterns.target_pattern import ForTarget, TargetPass
from qdialect.promises.layout import Cuts, Permutes, order_of
from qdialect.promises.rows import AlongAxis
from qdialect.reasons import Blocked
from qdialect.rewriting.driver import Pattern, Rewriter
from qdialect.rewriting.matching import OnTrait
from qdialect.targets import Target

MOVES = "Transpose"
"""Key of the costs per element: moved in a block, and moved singly."""
Groups = tuple[tuple[int, ...], ...]
OPEN_SIZES = Blocked("open-size", "more than one size is unknown, and Reshape infers only one")


def moves_one_axis(order: Sequence[int]) -> bool:
    """True if all axes but one keep their order."""
    ordered = list(range(len(order)))
    return any([a for a in order if a != one] == [a for a in ordered if a != one] for one in ordered)


def collapsed(order: Sequence[int], shape: Sequence[int]) -> Groups:
    """Groups of the operand's axes that stay adjacent, in the order of the result, without axes of size 1."""
    groups: list[tuple[int, ...]] = []
    kept = [axis for axis in range(len(shape)) if shape[axis] != 1]
    before = dict(zip(kept[1:], kept, strict=False))
    for axis in order:
        if shape[axis] == 1:
            continue
        if groups and before.get(axis) == groups[-1][-1]:
            groups[-1] = (*groups[-1], axis)
        else:
            groups.append((axis,))
    return tuple(groups)


def _turned(order: Sequence[int], shape: Sequence[int]) -> list[int]:
    """The permutation of the collapsed groups."""
    groups = collapsed(order, shape)
    return [sorted(groups).index(group) for group in groups]


def _known(sizes: Sequence[int]) -> int:
    """Number of elements; an unknown size counts as 1."""
    return prod(size for size in sizes if size != DYNAMIC)


def _row(groups: Groups, shape: Sequence[int]) -> int:
    """Number of elements that stay side by side as the last group stays the last; 1 if it does not."""
    last = sorted(groups)[-1]
    return _known([shape[axis] for axis in last]) if groups[-1] == last else 1


class CollapseTranspose(OnTrait[Permutes], ForTarget):
    """A Transpose that moves several axes and, collapsed, swaps two."""

    def match(self, op: OnnxOp, promise: Permutes, rewriter: Rewriter, /) -> Blocked | None:
        order, shape = promise.order(op), shape_of(op.operands[0].type)
        if order is None or shape is None or 0 in shape or moves_one_axis(order):
            return None
        groups, turned = collapsed(order, shape), _turned(order, shape)
        if turned == sorted(turned):
            return None  # a Reshape: `fold-layout`
        if not moves_one_axis(turned):
            return Blocked("axes-change-places", "the Transpose permutes more than two blocks of axes")
        if shape.count(DYNAMIC) > 1:
            return OPEN_SIZES
        if not self.pays(groups, shape):
            return Blocked(
                "does-not-pay", "with so few elements, or such long rows, the unchanged Transpose is as fast"
            )
        nodes = Nodes(op)
        sizes = [_size([shape[axis] for axis in group]) for group in sorted(groups)]
        blocks = nodes.reshape(op.operands[0], [_entry(size) for size in sizes], sizes)
        block = nodes.transpose(blocks, turned)
        nodes.reshape(block, [_entry(shape[axis]) for axis in order], op.results[0].type)
        nodes.ops[-1].location = op.location
        rewriter.replace(op, nodes.ops)
        return None

    def pays(self, groups: Groups, shape: Sequence[int]) -> bool:
        """True if the gain exceeds the cost of two more calls; an unknown batch counts as 1."""
        costs, call = self._target.costs[MOVES], self._target.costs["Placement"]["call"]
        elements = _known(shape)
        return elements * costs["scattered"] / _row(groups, shape) > elements * costs["moved"] + 2 * call


class CutFirst(OnTrait[Permutes], ForTarget):
    """A Transpose of several blocks that is cut into slices, each of which swaps two."""

    def match(self, op: OnnxOp, promise: Permutes, rewriter: Rewriter, /) -> None:
        order, shape = promise.order(op), shape_of(op.operands[0].type)
        cut = op.results[0].get_user_of_unique_use()
        cuts = promise_of(cut, Cuts)
        if order is None or shape is None or 0 in shape or cuts is None or not isinstance(cut, OnnxOp):
            return
        axis, type = cuts.axis(cut), quantized_of(op.results[0].type)
        if axis is None or cut.parent is not op.parent or not (type is None or type.is_per_tensor):
            return
        if any((sizes := shape_of(part.type)) is None or sizes[axis] != 1 for part in cut.results):
            return
        place = order[axis]
        parts = [(*shape[:place], 1, *shape[place + 1 :]) for _ in cut.results]
        if moves_one_axis(_turned(order, shape)) or not moves_one_axis(_turned(order, parts[0])):
            return
        if not self.pays(order, shape, place, len(parts)):
            return
        types = [tensor_type(known_element(op.operands[0].type), part) for part in parts]
        attributes = cut.onnx_attributes | {"axis": IntegerAttr(place, i64)}
        apart = cut.__class__.build([op.operands[0], *cut.inputs[1:]], types, attributes)
        apart.location = location(node_name(cut))
        perm = op.onnx_attributes | {"perm": ints_attr(order)}
        turned = [
            op.__class__.build([value], [old.type], perm)
            for value, old in zip(apart.results, cut.results, strict=True)
        ]
        rewriter.replace(cut, [apart, *turned], [one.results[0] for one in turned])

    def pays(self, order: Sequence[int], shape: Sequence[int], place: int, parts: int) -> bool:
        """True if blocks in place of single elements save more than calls and shorter copies cost."""
        costs, call = self._target.costs[MOVES], self._target.costs["Placement"]["call"]
        elements = _known(shape)
        before = costs["scattered"] / _row(collapsed(order, shape), shape)
        after = costs["moved"] + costs["scattered"] / _known(shape[place + 1 :])
        return elements * before > elements * after + 2 * parts * call


class CollapseRows(OnTrait[AlongAxis], ForTarget):
    """An op along an axis with several behind it."""

    def __init__(self, target: Target, *, stored: bool = True):
        super().__init__(target)
        self._stored = stored

    def match(self, op: OnnxOp, promise: AlongAxis, rewriter: Rewriter, /) -> Blocked | None:
        axis, shape = promise.axis(op), shape_of(op.operands[0].type)
        if axis is None or shape is None or 0 in shape or sum(n != 1 for n in shape[axis + 1 :]) < 2:
            return None
        if quantized_of(op.results[0].type) is not None:
            return None  # onnxruntime fuses it into its integer kernel, and the Transposes around it merge with its own
        if shape.count(DYNAMIC) > 1:
            return OPEN_SIZES
        if was_last(op, axis):
            return Blocked("does-not-pay", "the Transposes on both sides cancel: its axis is the last")
        if not self.pays(shape):
            return Blocked("does-not-pay", f"with so few elements, the unchanged {op.op_type} is as fast")
        nodes, sizes = Nodes(op), [_size(shape[:axis]), shape[axis], _size(shape[axis + 1 :])]
        rows = _grouped(nodes, op.operands[0], sizes, stored=self._stored)
        attributes = op.onnx_attributes | {"axis": IntegerAttr(1, i64)}
        result = nodes.append(op.__class__.build([rows, *op.inputs[1:]], [rows.type], attributes))
        last = _quantize(op.results[0]) or op
        _ungrouped(nodes, result, shape, last, stored=self._stored)
        nodes.ops[-1].location = last.location
        rewriter.replace(last, nodes.ops)
        return None

    def pays(self, shape: Sequence[int]) -> bool:
        """True if both transposes of the kernel gain more than two calls cost; an unknown batch counts as 1."""
        costs, call = self._target.costs[MOVES], self._target.costs["Placement"]["call"]
        return prod(n for n in shape if n != DYNAMIC) * (costs["scattered"] - costs["moved"]) > call


def was_last(op: OnnxOp, axis: int) -> bool:
    """True if a Transpose moves the axis from the last place, and another moves it back."""
    before = order_of(op.operands[0].owner)
    after = [order_of(use.operation) for use in op.results[0].uses]
    return bool(before) and before[axis] == len(before) - 1 and any(a and a[-1] == axis for a in after)


def _grouped(nodes: Nodes, value: SSAValue, sizes: Sequence[int], *, stored: bool) -> SSAValue:
    """`value` reshaped to `sizes`; if it is dequantized, what is quantized is reshaped in front of the dequantize."""
    cast = value.owner
    if not (isinstance(cast, DequantizeOp) and cast.element_type.is_per_tensor):
        return nodes.reshape(value, [_entry(size) for size in sizes], sizes)
    type = tensor_type(cast.element_type, tuple(sizes))
    return nodes.append(DequantizeOp(_reshaped(nodes, cast.input, sizes, type, stored=stored)))


def _reshaped(nodes: Nodes, x: SSAValue, sizes: Sequence[int], type: Attribute, *, stored: bool) -> SSAValue:
    """Quantized `x` reshaped to `type`, of `sizes`; stored: its integers are, as kernels take and give them."""
    entries = [_entry(size) for size in sizes]
    if not stored:
        return nodes.reshape(x, entries, type)
    integers = nodes.append(StorageCastOp(x, stored_type(x.type)))
    return nodes.append(StorageCastOp(nodes.reshape(integers, entries, stored_type(type)), type))


def _quantize(value: SSAValue) -> QuantizeOp | None:
    """The per-tensor quantize that is the only user of `value`; None if there is none."""
    cast = value.get_user_of_unique_use()
    return cast if isinstance(cast, QuantizeOp) and cast.element_type.is_per_tensor else None


def _ungrouped(nodes: Nodes, value: SSAValue, sizes: Sequence[int], last: Operation, *, stored: bool) -> None:
    """Reshape `value` to `sizes`, those of the result of `last`; if `last` is a quantize, behind it."""
    type = last.results[0].type
    if isinstance(last, QuantizeOp):
        _reshaped(nodes, nodes.append(QuantizeOp(value, last.element_type)), sizes, type, stored=stored)
    else:
        nodes.reshape(value, [_entry(size) for size in sizes], type)


def _size(sizes: Sequence[int]) -> int:
    return DYNAMIC if DYNAMIC in sizes else prod(sizes)


def _entry(size: int) -> int:
    """A size as an element of Reshape's operand: -1 if unknown."""
    return -1 if size == DYNAMIC else size


@dataclass(frozen=True)
class CollapseTransposePass(TargetPass):
    name = "collapse-transpose"
    exactness = Exactness.EXACT
    reasons = "axes-change-places does-not-pay open-size"
    rewrite = "Transpose(x, p) -> Reshape(Transpose(Reshape(x, [a, b, c, d]), [0, 2, 1, 3]))"

    stored: bool = True
    """True to move stored integers, as kernels beside read them; else what is quantized."""

    def patterns(self) -> Sequence[Pattern]:
        if MOVES not in self.runtime.costs:
            return []
        return [
            CutFirst(self.runtime),
            CollapseTranspose(self.runtime),
            CollapseRows(self.runtime, stored=self.stored),
        ]
