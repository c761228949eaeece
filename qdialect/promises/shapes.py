"""The sizes of a result, known ones and symbols, from those of the operands; and types that onnx's inference lacks."""

from __future__ import annotations

from collections.abc import Callable, Sequence
from dataclasses import dataclass
from math import floor, prod

import numpy as np
from xdsl.dialects.builtin import DenseArrayBase

from qdialect.dialects.onnx_base import OnnxOp
from qdialect.dialects.onnx_types import DYNAMIC, shape_of
from qdialect.dialects.snapshot import MICROSOFT
from qdialect.ir.values import constant_array, ints_of, normal_axis
from qdialect.promises.base import Promise
from qdialect.promises.elementwise import NAMES
from qdialect.promises.layout import slices_of
from qdialect.promises.sizes import Element, Elements, Known, Symbol
from qdialect.reasons import Blocked, answer


@dataclass(frozen=True)
class Shaped(Promise):
    """Sizes of the op's first result are sizes of its operands; None for each that is another."""

    sizes: Callable[[OnnxOp, Known], Sequence[Element] | None]


class KeepsType(Promise):
    """The op's result has the type of the first operand, which onnx's inference does not say of this op."""


class LosesSizes(Promise):
    """onnx's inference says nothing of the op's result if an operand is computed: files state its type."""


@dataclass(frozen=True)
class Doubtful(Promise):
    """
    On these axes of the first result, onnx's inference and runtimes count other sizes, of which neither is ONNX's own:
    a size that the file states is believed there, and no other.
    """

    axes: Callable[[OnnxOp], Sequence[int]]


def _padded_result(op: OnnxOp) -> Sequence[int]:
    """The axes of a transposed convolution whose `auto_pad` says the size, and `output_padding` adds to it."""
    padding = op.ints_attr("output_padding") or ()
    is_same = op.str_attr("auto_pad", "NOTSET").startswith("SAME")
    return [2 + k for k, size in enumerate(padding) if size] if is_same else ()


def _dilated_pool(op: OnnxOp) -> Sequence[int]:
    """The axes of a pool whose `auto_pad` says the size: runtimes leave out that dilated windows need more pads."""
    dilations = op.ints_attr("dilations") or ()
    is_same = op.str_attr("auto_pad", "NOTSET").startswith("SAME")
    return [2 + k for k, dilation in enumerate(dilations) if dilation != 1] if is_same else ()


def _rounded_factor(op: OnnxOp) -> Sequence[int]:
    """The axes whose size times a factor is a whole number in one precision, and just less in another."""
    place = len(op.inputs) - 1 if len(op.inputs) < RESIZE_SCALES + 1 else RESIZE_SCALES
    scales, shape = op.input(place) if place else None, shape_of(op.operands[0].type) or ()
    listed = op.properties.get("scales")
    array = None if scales is None else constant_array(scales)
    if array is None and isinstance(listed, DenseArrayBase):
        array = np.array(list(listed.iter_values()), np.float32)
    axes = op.ints_attr("axes") or range(len(shape))
    if array is None or array.dtype != np.float32 or array.size != len(axes):
        return ()
    pairs = zip(axes, map(np.float32, array.reshape(-1)), strict=True)
    sizes = ((axis % len(shape), shape[axis], factor) for axis, factor in pairs if shape)
    return [
        k
        for k, size, factor in sizes
        if size > 0 and floor(float(factor) * size) != int(factor * np.float32(size))
    ]


RESIZE_SCALES = 2
"""The place of the factors of a Resize from opset 11 on; before, and of an Upsample, they are last."""


def _same(op: OnnxOp, known: Known) -> Sequence[Element] | None:
    return known.sizes(op.operands[0])


def _images(op: OnnxOp, known: Known) -> Sequence[Element] | None:
    """The batch alone."""
    sizes = known.sizes(op.operands[0])
    return sizes and (sizes[0], *[None] * (len(sizes) - 1))


def _common(elements: Sequence[Element]) -> Element:
    """The size to which several are broadcast: that which is not 1, if there is one."""
    others = {e for e in elements if e != 1}
    return others.pop() if len(others) == 1 else None if others else 1


def _broadcast(op: OnnxOp, known: Known) -> Sequence[Element] | None:
    return _joined([known.sizes(value) for value in op.operands])


def _joined(rows: Sequence[Elements | None]) -> Sequence[Element] | None:
    if not rows or None in rows:
        return None
    rank = max(len(row or ()) for row in rows)
    padded = [(1,) * (rank - len(row or ())) + (row or ()) for row in rows]
    return [_common(column) for column in zip(*padded, strict=True)]


def _product(op: OnnxOp, known: Known) -> Sequence[Element] | None:
    a, b = (known.sizes(value) for value in op.operands[:2])
    if a is None or b is None or min(len(a), len(b)) < 2:
        return None
    batch = _joined([a[:-2], b[:-2]])
    return None if batch is None else [*batch, a[-2], b[-1]]


def _transposed(op: OnnxOp, known: Known) -> Sequence[Element] | None:
    sizes = known.sizes(op.operands[0])
    perm = op.ints_attr("perm") or range(len(sizes or ()))[::-1]
    return None if sizes is None or len(perm) != len(sizes) else [sizes[p] for p in perm]


def _concatenated(op: OnnxOp, known: Known) -> Sequence[Element] | None:
    rows = [row for value in op.operands if (row := known.sizes(value)) is not None]
    if not rows or len({len(row) for row in rows}) != 1:
        return None
    axis = normal_axis(op.int_attr("axis", 0), len(rows[0]))
    columns = (sorted(column, key=lambda e: not isinstance(e, int)) for column in zip(*rows, strict=True))
    return [None if k == axis else column[0] for k, column in enumerate(columns)]


def _sliced(op: OnnxOp, known: Known) -> Sequence[Element] | None:
    sizes, taken = known.sizes(op.operands[0]), answer(slices_of, op)
    if sizes is None or isinstance(taken, Blocked):
        return None
    return [None if k in taken else size for k, size in enumerate(sizes)]


def _unsqueezed(op: OnnxOp, known: Known) -> Sequence[Element] | None:
    sizes = known.sizes(op.operands[0])
    listed = ints_of(op, "axes", 1)
    if sizes is None or listed is None:
        return None
    rank, rest = len(sizes) + len(listed), iter(sizes)
    axes = {normal_axis(axis, rank) for axis in listed}
    return [1 if k in axes else next(rest, None) for k in range(rank)]


def _gathered(op: OnnxOp, known: Known) -> Sequence[Element] | None:
    data, indices = (known.sizes(value) for value in op.operands)
    if not data or indices is None:
        return None
    axis = normal_axis(op.int_attr("axis", 0), len(data))
    return [*data[:axis], *indices, *data[axis + 1 :]]


def _reshaped(op: OnnxOp, known: Known) -> Sequence[Element] | None:
    before, listed = known.sizes(op.operands[0]), known.elements(op.operands[1])
    if before is None or listed is None or op.int_attr("allowzero", 0):
        return None
    sizes = [before[k] if e == 0 and k < len(before) else e for k, e in enumerate(listed)]
    rest = _rest(before, [e for e in sizes if e != -1]) if sizes.count(-1) == 1 else None
    return [rest if e == -1 else e for e in sizes]


def _rest(before: Elements, others: Sequence[Element]) -> Element:
    """The size that makes as many elements as `before` together with `others`."""
    left, numbers = [e for e in before if not isinstance(e, int)], [e for e in others if isinstance(e, int)]
    for other in others:
        if other in left and isinstance(other, Symbol):
            left.remove(other)
        elif not isinstance(other, int):
            return None
    count, of = prod(e for e in before if isinstance(e, int)), prod(numbers)
    if not of or count % of or len(left) > 1:
        return None
    return count // of if not left else left[0] if count == of else None


def _expanded(op: OnnxOp, known: Known) -> Sequence[Element] | None:
    return _joined([known.sizes(op.operands[0]), known.elements(op.operands[1])])


@dataclass(frozen=True)
class HiddenStates(Promise):
    """The results are those of ONNX's LSTM: the hidden states of all steps, the last one, the last cell state."""

    weight: int
    """The operand that holds the recurrent weights, (directions, hidden, gates)."""

    def shapes(self, op: OnnxOp) -> list[tuple[int, ...]] | None:
        """(steps, directions, batch, hidden), then twice (directions, batch, hidden); None if too little is known."""
        x, weight = shape_of(op.operands[0].type), shape_of(op.operands[self.weight].type)
        if x is None or len(x) != 3 or weight is None or len(weight) != 3 or DYNAMIC in weight:
            return None
        last = (weight[0], x[1], weight[1])
        return [(x[0], *last), last, last]


SAME = (
    "BatchNormalization Cast CastLike DequantizeLinear Dropout DynamicQuantizeLinear GroupNormalization Identity "
    "InstanceNormalization LayerNormalization LogSoftmax LpNormalization MeanVarianceNormalization Not QuantizeLinear "
    "RMSNormalization Softmax"
)
BATCHES = "AveragePool Conv ConvInteger ConvTranspose GlobalAveragePool GlobalMaxPool MaxPool"
MICROSOFTS = "DequantizeLinear FastGelu Gelu QuantizeLinear QuickGelu"
PAIRS = "And Equal Greater GreaterOrEqual Less LessOrEqual Mean Mod Or Sum Where"

SHAPED: dict[tuple[str, str], Shaped] = {
    **{("", name): Shaped(_same) for name in SAME.split()},
    **{(MICROSOFT, name): Shaped(_same) for name in MICROSOFTS.split()},
    **{("", name): Shaped(_images) for name in BATCHES.split()},
    **{("", name): Shaped(_broadcast) for name in (*NAMES.split(), *PAIRS.split())},
    **{("", name): Shaped(_product) for name in ("MatMul", "MatMulInteger")},
    ("", "Concat"): Shaped(_concatenated),
    ("", "Expand"): Shaped(_expanded),
    ("", "Gather"): Shaped(_gathered),
    ("", "Reshape"): Shaped(_reshaped),
    ("", "Slice"): Shaped(_sliced),
    ("", "Transpose"): Shaped(_transposed),
    ("", "Unsqueeze"): Shaped(_unsqueezed),
}

LOSES_SIZES: dict[tuple[str, str], LosesSizes] = {("", "CenterCropPad"): LosesSizes()}

DOUBTFUL: dict[tuple[str, str], Doubtful] = {
    ("", "ConvTranspose"): Doubtful(_padded_result),
    **{("", name): Doubtful(_dilated_pool) for name in ("AveragePool", "LpPool", "MaxPool")},
    **{("", name): Doubtful(_rounded_factor) for name in ("Resize", "Upsample")},
}

UNINFERRED: dict[tuple[str, str], Promise] = {
    ("", "GroupNormalization"): KeepsType(),
    ("", "MeanVarianceNormalization"): KeepsType(),
    (MICROSOFT, "DynamicQuantizeLSTM"): HiddenStates(2),
}
