"""
Collapse the axes of a Transpose that only swaps two adjacent groups of axes, and those behind the axis of a Softmax.

    Transpose(x, p)        ->  Reshape(Transpose(Reshape(x, [a, b, c, d]), [0, 2, 1, 3]))
    Softmax(x) {axis = k}  ->  Reshape(Softmax(Reshape(x, [a, b, c])) {axis = 1})

Axes of size 1 are dropped, and axes that stay adjacent are merged. Exact: elements are moved. Runtimes copy contiguous
blocks; if more than one axis moves, even of size 1, they copy single elements, ten times slower. Attention is exported
so: (1, n, 1, heads, size) to (1, 1, heads, size, n) is (n, heads * size) transposed. A Softmax swaps its axis with the
last before and after: over the channels of an image, or of a detector's boxes, it takes two to five times as long.
Casts stay next to the Softmax and the Reshapes around them move integers: the form that a second compilation keeps;
without kernels for integers (`stored=false`) that is decided where casts are written.
"""

from collections.abc import Sequence
from dataclasses import dataclass
from math import prod

from xdsl.dialects.builtin import IntegerAttr, i64
from xdsl.ir import Attribute, Operation, SSAValue

from qdialect.dialects.onnx_base import OnnxOp
from qdialect.dialects.onnx_types import DYNAMIC, quantized_of, shape_of, stored_type, tensor_type
from qdialect.dialects.quant import DequantizeOp, QuantizeOp, StorageCastOp
from qdialect.exactness import Exactness
from qdialect.forms.nodes import Nodes
from qdialect.patterns.targeted import ForTarget, TargetPass
from qdialect.promises.layout import Permutes, order_of
from qdialect.promises.rows import AlongAxis
from qdialect.reasons import Blocked
from qdialect.rewriting.driver import Pattern, Rewriter
from qdialect.rewriting.matching import OnTrait
from qdialect.targets import Target

MOVES = "Transpose"
"""Key of the costs per element: moved in a block, and moved singly."""
Groups = tuple[tuple[int, ...], ...]
OPEN_SIZES = Blocked("open-sizes", "more than one size is unknown, and Reshape infers only one")


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


class CollapseTranspose(OnTrait[Permutes], ForTarget):
    """A Transpose that moves several axes and, collapsed, swaps two."""

    def match(self, op: OnnxOp, promise: Permutes, rewriter: Rewriter, /) -> Blocked | None:
        order, shape = promise.order(op), shape_of(op.operands[0].type)
        if order is None or shape is None or 0 in shape or moves_one_axis(order):
            return None
        groups = collapsed(order, shape)
        turned = [sorted(groups).index(group) for group in groups]
        if turned == sorted(turned):
            return None  # a Reshape: `fold-layout`
        if not moves_one_axis(turned):
            return Blocked("several-moves", "more than two blocks of elements change places")
        if shape.count(DYNAMIC) > 1:
            return OPEN_SIZES
        if not self._pays(groups, shape):
            return Blocked(
                "does-not-pay", "with so few elements, or such long rows, the Transpose is as fast as it is"
            )
        nodes = Nodes(op)
        sizes = [_size([shape[axis] for axis in group]) for group in sorted(groups)]
        blocks = nodes.reshape(op.operands[0], [_told(size) for size in sizes], sizes)
        block = nodes.transpose(blocks, turned)
        nodes.reshape(block, [_told(shape[axis]) for axis in order], op.results[0].type)
        nodes.ops[-1].location = op.location
        rewriter.replace(op, nodes.ops)
        return None

    def _pays(self, groups: Groups, shape: Sequence[int]) -> bool:
        """True if the gain exceeds the cost of two more calls; an unknown batch counts as 1."""
        costs, call = self._target.costs[MOVES], self._target.costs["Placement"]["call"]
        elements = prod(size for size in shape if size != DYNAMIC)
        last = sorted(groups)[-1]
        row = prod(shape[axis] for axis in last if shape[axis] != DYNAMIC) if groups[-1] == last else 1
        return elements * costs["scattered"] / row > elements * costs["moved"] + 2 * call


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
        if _was_last(op, axis):
            return Blocked("does-not-pay", "the Transposes on both sides cancel: its axis is the last")
        if not self._pays(shape):
            return Blocked("does-not-pay", f"with so few elements, {op.op_type} is as fast as it is")
        nodes, sizes = Nodes(op), [_size(shape[:axis]), shape[axis], _size(shape[axis + 1 :])]
        rows = _grouped(nodes, op.operands[0], sizes, stored=self._stored)
        attributes = op.onnx_attributes | {"axis": IntegerAttr(1, i64)}
        result = nodes.append(op.__class__.build([rows, *op.inputs[1:]], [rows.type], attributes))
        last = _quantize(op.results[0]) or op
        _whole(nodes, result, shape, last, stored=self._stored)
        nodes.ops[-1].location = last.location
        rewriter.replace(last, nodes.ops)
        return None

    def _pays(self, shape: Sequence[int]) -> bool:
        """True if both transposes of the kernel gain more than two calls cost; an unknown batch counts as 1."""
        costs, call = self._target.costs[MOVES], self._target.costs["Placement"]["call"]
        return prod(n for n in shape if n != DYNAMIC) * (costs["scattered"] - costs["moved"]) > call


def _was_last(op: OnnxOp, axis: int) -> bool:
    """True if a Transpose moves the axis from the last place, and another moves it back."""
    before = order_of(op.operands[0].owner)
    after = [order_of(use.operation) for use in op.results[0].uses]
    return bool(before) and before[axis] == len(before) - 1 and any(a and a[-1] == axis for a in after)


def _grouped(nodes: Nodes, value: SSAValue, sizes: Sequence[int], *, stored: bool) -> SSAValue:
    """`value` reshaped to `sizes`; if it is dequantized, what is quantized is reshaped in front of the dequantize."""
    cast = value.owner
    if not (isinstance(cast, DequantizeOp) and cast.element_type.is_per_tensor):
        return nodes.reshape(value, [_told(size) for size in sizes], sizes)
    type = tensor_type(cast.element_type, tuple(sizes))
    return nodes.append(DequantizeOp(_reshaped(nodes, cast.input, sizes, type, stored=stored)))


def _reshaped(nodes: Nodes, x: SSAValue, sizes: Sequence[int], type: Attribute, *, stored: bool) -> SSAValue:
    """Quantized `x` reshaped to `type`, of `sizes`; stored: its integers are, as kernels take and give them."""
    told = [_told(size) for size in sizes]
    if not stored:
        return nodes.reshape(x, told, type)
    integers = nodes.append(StorageCastOp(x, stored_type(x.type)))
    return nodes.append(StorageCastOp(nodes.reshape(integers, told, stored_type(type)), type))


def _quantize(value: SSAValue) -> QuantizeOp | None:
    """The per-tensor quantize that is the only user of `value`; None if there is none."""
    cast = value.get_user_of_unique_use()
    return cast if isinstance(cast, QuantizeOp) and cast.element_type.is_per_tensor else None


def _whole(nodes: Nodes, value: SSAValue, sizes: Sequence[int], last: Operation, *, stored: bool) -> None:
    """Reshape `value` to `sizes`, those of the result of `last`; if `last` is a quantize, behind it."""
    type = last.results[0].type
    if isinstance(last, QuantizeOp):
        _reshaped(nodes, nodes.append(QuantizeOp(value, last.element_type)), sizes, type, stored=stored)
    else:
        nodes.reshape(value, [_told(size) for size in sizes], type)


def _size(sizes: Sequence[int]) -> int:
    return DYNAMIC if DYNAMIC in sizes else prod(sizes)


def _told(size: int) -> int:
    """A size as an element of Reshape's operand: -1 if unknown."""
    return -1 if size == DYNAMIC else size


@dataclass(frozen=True)
class CollapseTransposePass(TargetPass):
    """Transposes that swap two groups of axes, and ops along an axis in front of several, move two blocks."""

    name = "collapse-transpose"
    exactness = Exactness.EXACT
    rewrite = "Transpose(x, p) -> Reshape(Transpose(Reshape(x, [a, b, c, d]), [0, 2, 1, 3]))"

    stored: bool = True
    """True to move stored integers, as kernels beside read them; else what is quantized."""

    def patterns(self) -> Sequence[Pattern]:
        if MOVES not in self.runtime.costs:
            return []
        return [CollapseTranspose(self.runtime), CollapseRows(self.runtime, stored=self.stored)]
