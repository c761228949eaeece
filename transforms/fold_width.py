"""
Let neighbours in a row be channels of one pixel, where a convolution has too few channels to be fast.

    conv(x, w, b)  ->  unfold(conv(fold(x), w', b')),   fold: N, C, H, W -> N, g * C, H, W / g

With channels last both folds are a Reshape: no byte moves. A pixel of the folded convolution makes f outputs in a row
from g inputs in a row; w' holds w once for each of the f, and zeros where an output does not see an input. Close: the
sums have the same products and zeros, so integers come out the same; a float oracle adds them in another order.

Integer kernels gather and pack channels in blocks, so that twice the products in half the pixels can take half the
time. Which f and g pay is looked up in what was measured on the target; real zeros outside of the image stay zeros.
"""

from collections.abc import Iterator, Sequence
from dataclasses import dataclass
from math import prod
from typing import Any, ClassVar, NamedTuple

import numpy as np
import numpy.typing as npt
from xdsl.dialects.builtin import DenseArrayBase, i64
from xdsl.ir import Attribute, Operation, SSAValue

from qdialect.dialects.onnx_attributes import ints_attr
from qdialect.dialects.onnx_base import ConstantOp, OnnxOp
from qdialect.dialects.onnx_tensor import from_array
from qdialect.dialects.onnx_types import DYNAMIC, element_of, quantized_of, shape_of, tensor_type
from qdialect.exactness import Exactness
from qdialect.forms.casts import wish
from qdialect.ir.names import location, node_name
from qdialect.ir.values import constant, static_shape
from qdialect.ops.generated import op_named
from qdialect.patterns.convolution import MOVES, WORTH, is_measured, shape_of_fold, tiled
from qdialect.patterns.im2col import SOME_SIZE, window
from qdialect.promises.linear import Linear
from qdialect.promises.padding import ZeroPads
from qdialect.reasons import Blocked
from qdialect.rewriting.driver import Pattern, Rewriter
from qdialect.rewriting.passes import RewritePass
from qdialect.targets import Target, target
from qdialect.targets.pricing import (
    ALIGNED,
    POINTWISE,
    PRODUCT,
    QUANTIZED,
    VOLUME,
    Convolution,
    Costs,
    cost,
    float_kernels,
    least_cost,
    quantized_cost,
    quantized_kernel,
)

MOST = 16
"""Pixels that are folded into one, at most."""


class Row(NamedTuple):
    """How a convolution runs along the last axis."""

    width: int
    """Of the operand."""
    made: int
    """Of the result."""
    kernel: int
    stride: int
    dilation: int
    before: int
    """Zeros in front of the row."""


class Fold(NamedTuple):
    """How many pixels become one, and what the convolution along the row is then."""

    inputs: int
    outputs: int
    kernel: int
    stride: int
    before: int
    behind: int


def folds(row: Row) -> Iterator[Fold]:
    """The folds that a row allows, the trivial one left out."""
    for outputs in range(1, min(row.made, MOST) + 1):
        if row.made % outputs:
            continue
        step = row.stride * outputs
        for inputs in range(1, min(step, MOST) + 1):
            if step % inputs or row.width % inputs or inputs * outputs == 1:
                continue
            first = -row.before // inputs
            last = ((outputs - 1) * row.stride + (row.kernel - 1) * row.dilation - row.before) // inputs
            kernel, stride = last - first + 1, step // inputs
            behind = (row.made // outputs - 1) * stride + kernel - row.width // inputs + first
            if behind > -stride:  # less would make one pixel more
                yield Fold(inputs, outputs, kernel, stride, -first, max(behind, 0))


def folded_weight(
    weight: npt.NDArray[Any], zero_points: npt.NDArray[Any], row: Row, fold: Fold
) -> npt.NDArray[Any]:
    """
    The weight (outputs, inputs, ..., kernel) of the folded convolution, its zeros stored as `zero_points`.

    zero_points: () or (outputs,). Channels are numbered as Reshape numbers them: pixel first, then channel.
    """
    outputs, inputs, *middle, kernel = weight.shape
    shape = (fold.outputs, outputs, fold.inputs, inputs, *middle, fold.kernel)
    zeros = np.asarray(zero_points).astype(weight.dtype).reshape(-1, *[1] * (len(shape) - 2))
    result = np.array(np.broadcast_to(zeros, shape))
    for i in range(fold.outputs):
        for t in range(kernel):
            pixel = i * row.stride + t * row.dilation - row.before
            result[i, :, pixel % fold.inputs, ..., pixel // fold.inputs + fold.before] = weight[..., t]
    return result.reshape(fold.outputs * outputs, fold.inputs * inputs, *middle, fold.kernel)


def _moves(costs: Costs, folded: Convolution, fold: Fold) -> float:
    """Nanoseconds to have channels last and first again in front of and behind a kernel that wants them first."""
    by_value, pixels = costs["ConvTranspose"], folded.pixels * folded.images
    read = folded.inputs * prod(folded.strides) * pixels if 1 < fold.inputs < folded.inputs else 0
    written = folded.outputs * pixels if 1 < fold.outputs < folded.outputs else 0
    return 2 * (read * by_value["move_byte"] + written * by_value["move_float"])


class FoldWidth(Pattern):
    """A convolution of quantized operands into a quantized result."""

    def __init__(self, target: Target, asked: tuple[int, int] = (0, 0)):
        self._target, self._asked = target, asked
        self._folded: set[Operation] = set()
        self._found: dict[tuple[Convolution, Row, bool], Fold | None] = {}

    def accepts(self, op_class: type[Operation]) -> bool:
        linear = op_class.get_trait(Linear)
        return linear is not None and linear.has_bias and op_class.get_trait(ZeroPads) is not None

    def rewrite(self, op: Operation, rewriter: Rewriter) -> Blocked | None:
        assert isinstance(op, OnnxOp)
        if op in self._folded:
            return None
        weight, given, made = (
            static_shape(op.operands[1]),
            *(shape_of(v.type) for v in (op.operands[0], op.results[0])),
        )
        if weight is None or given is None or made is None or not is_measured(op, self._target, ALIGNED):
            return None
        if op.int_attr("group", 1) != 1:
            return None
        rank = len(weight)
        if not len(given) == len(made) == rank > 2:
            return None  # a model may lie about one
        strides, dilations = window(op, "strides", rank), window(op, "dilations", rank)
        row = Row(
            given[-1], made[-1], weight[-1], strides[-1], dilations[-1], window(op, "pads", rank, 0)[rank - 3]
        )
        fold = self._best(op, weight, row)
        if fold is None:
            return None
        if (blocked := self._guard(op, row)) is not None:
            return blocked
        if (given[1], made[1]) != (weight[1], weight[0]):
            return Blocked(
                "unknown-channels", "the number of channels is not known, and pixels are folded into them"
            )
        self._build(op, row, fold, rewriter)
        return None

    def _guard(self, op: OnnxOp, row: Row) -> Blocked | None:
        if DYNAMIC in (row.width, row.made):
            return Blocked(
                "unknown-width", "the width is not known, and folding pixels into channels divides it"
            )
        if op.str_attr("auto_pad", "NOTSET") not in ("NOTSET", "VALID"):
            return Blocked("auto-pad", "the convolution works its pads out by itself")
        bias = op.input(2)
        if constant(op.operands[1]) is None or (bias is not None and constant(bias) is None):
            return Blocked("computed-weight", "the weight or bias is computed at run time")
        return None

    def _best(self, op: OnnxOp, weight: tuple[int, ...], row: Row) -> Fold | None:
        """The fold that costs least, if it costs enough less than none."""
        w = quantized_of(op.operands[1].type)
        assert w is not None
        plain = shape_of_fold(op, weight, symmetric=not w.zero_points.any())
        if DYNAMIC in (row.width, row.made):
            row = row._replace(width=SOME_SIZE * row.stride, made=SOME_SIZE)
        if any(self._asked):
            return next((fold for fold in folds(row) if fold[:2] == self._asked), None)
        key = plain, row, quantized_of(op.results[0].type) is None
        if key not in self._found:
            self._found[key] = self._cheapest(*key)
        return self._found[key]

    def _cheapest(self, plain: Convolution, row: Row, is_float: bool) -> Fold | None:
        costs = self._target.costs
        kernels = float_kernels(()) if is_float else (QUANTIZED, POINTWISE, ALIGNED)
        if not is_float and quantized_kernel(costs, plain) == ALIGNED:
            kernels = (ALIGNED,)  # and so is every fold of it
        elif not is_float and len(plain.kernel) > 2:
            kernels = (POINTWISE, VOLUME)
        now = self._cost(plain, is_float)
        moves = (
            MOVES if plain.inputs == 1 else 2 * MOVES
        )  # one channel is first and last: its fold moves nothing
        best = (min(WORTH * now, now - moves), None)
        if least_cost(costs, kernels, plain) > best[0]:
            return None
        for fold in folds(row):
            folded = plain._replace(
                inputs=plain.inputs * fold.inputs,
                outputs=plain.outputs * fold.outputs,
                kernel=(*plain.kernel[:-1], fold.kernel),
                strides=(*plain.strides[:-1], fold.stride),
                pixels=plain.pixels // fold.outputs,
            )
            best = min(best, (self._cost(folded, is_float, fold), fold), key=lambda found: found[0])
        return best[1]

    def _cost(self, shape: Convolution, is_float: bool, fold: Fold | None = None) -> float:
        costs = self._target.costs
        if not is_float:
            return quantized_cost(costs, shape)
        kernels = float_kernels((shape.outputs, shape.inputs, *shape.kernel))
        moves = 0.0 if fold is None else _moves(costs, shape, fold)
        # What stands between Transposes anyway has them once.
        return min(cost(costs, name, shape) + (0.0 if name == PRODUCT else moves) for name in kernels)

    def _build(self, op: OnnxOp, row: Row, fold: Fold, rewriter: Rewriter) -> None:
        made: list[Operation] = []
        w = quantized_of(op.operands[1].type)
        x, weight, bias = op.operands[0], constant(op.operands[1]), op.input(2)
        assert weight is not None
        assert w is not None
        rank, name = len(weight.array().shape), wish(op.operands[1]) or "weight"
        array = folded_weight(weight.array(), w.zero_points, row, fold)
        inputs: list[SSAValue | None] = [
            self._regrouped(op, x, fold.inputs, False, made),
            (new := tiled(op.operands[1], array, fold.outputs, f"{name}_folded")).results[0],
        ]
        made.append(new)
        if bias is not None:
            inputs.append(self._bias(bias, fold.outputs, made))
        pads = list(window(op, "pads", rank, 0))
        pads[rank - 3], pads[-1] = fold.before, fold.behind
        attributes = {
            "kernel_shape": (*array.shape[2:],),
            "strides": (*window(op, "strides", rank)[:-1], fold.stride),
            "dilations": (*window(op, "dilations", rank)[:-1], 1),
            "pads": tuple(pads),
        }
        outer = shape_of(op.results[0].type)
        assert outer is not None
        shape = (outer[0], outer[1] * fold.outputs, *outer[2:-1], row.made // fold.outputs)
        element = element_of(op.results[0].type)
        assert element is not None
        conv = op.__class__.build(
            inputs, [tensor_type(element, shape)], {k: ints_attr(v) for k, v in attributes.items()}
        )
        conv.location = location(node_name(op))
        self._folded.add(conv)
        made.append(conv)
        self._regrouped(op, conv.results[0], fold.outputs, True, made)
        made[-1].location = op.location
        rewriter.replace(op, made)

    def _bias(self, bias: SSAValue, times: int, made: list[Operation]) -> SSAValue:
        tensor = constant(bias)
        assert tensor is not None
        new = tiled(bias, np.tile(tensor.array(), times), times, f"{wish(bias) or 'bias'}_folded")
        made.append(new)
        return new.results[0]

    def _regrouped(self, op: OnnxOp, value: SSAValue, by: int, back: bool, made: list[Operation]) -> SSAValue:
        """`by` pixels in a row as channels of one, or `back`, between Transposes; `value` itself if `by` is 1."""
        shape, element = shape_of(value.type), element_of(value.type)
        assert shape is not None
        assert element is not None
        if by == 1:
            return value
        rank = len(shape)
        to_last, to_first = (0, *range(2, rank), 1), (0, rank - 1, *range(1, rank - 1))

        def add(cls: str, inputs: list[SSAValue], shape: tuple[int, ...], **given: Attribute) -> SSAValue:
            new = op_named("", cls).build([*inputs], [tensor_type(element, shape)], given)
            new.location = location(f"{node_name(op)}_{'unfold' if back else 'fold'}")
            made.append(new)
            return new.results[0]

        channels, width = (shape[1] // by, shape[-1] * by) if back else (shape[1] * by, shape[-1] // by)
        sizes = ConstantOp.of(from_array(np.array([*[0] * (rank - 2), width, channels], np.int64)))
        sizes.location = location("", [f"{node_name(op)}_{'unfolded' if back else 'folded'}_shape"])
        made.append(sizes)
        perm = {"perm": DenseArrayBase.from_list(i64, to_last)}
        last = add("Transpose", [value], tuple(shape[p] for p in to_last), **perm)
        moved = add("Reshape", [last, sizes.results[0]], (shape[0], *shape[2:-1], width, channels))
        perm = {"perm": DenseArrayBase.from_list(i64, to_first)}
        return add("Transpose", [moved], (shape[0], channels, *shape[2:-1], width), **perm)


@dataclass(frozen=True)
class FoldWidthPass(RewritePass):
    """Convolutions of few channels take several pixels as one."""

    name = "fold-width"
    exactness: ClassVar[Exactness] = Exactness.CLOSE
    rewrite: ClassVar[str] = (
        "conv(x, w) -> unfold(conv(fold(x), w')), fold: N, C, H, W -> N, g * C, H, W / g: the same integers"
    )

    target: str = "onnxruntime"
    inputs: int = 0
    """How many input pixels become one, and `outputs` how many output pixels; 0: what costs least."""
    outputs: int = 0

    def patterns(self) -> Sequence[Pattern]:
        return [FoldWidth(target(self.target), (self.inputs, self.outputs))]
