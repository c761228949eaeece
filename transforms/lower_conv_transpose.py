"""
Write a transposed convolution as a convolution of what it spreads, and a move of its results.

    conv_transpose(x, w, b), strides s1, s2  ->  spread(conv(x, w', b')),   conv: N, s1 * s2 * C, H', W'
    spread: N, H', W', s1, s2 * C -> N, H', s1, W', s2 * C = N, H' * s1, W' * s2, C, less what pads cut off

Each s1 * s2 results beside one another see the same inputs: they are channels of one pixel, and w' has for each the
elements of w that reach it, and zeros. Close: each output has the same products, so integers come out the same; a float
oracle adds them in another order.

There is no integer kernel of a transposed convolution. Whether this one and the move cost less than the float op and
its casts is looked up in what was measured; channels stand last, so that the move copies whole rows of channels.
"""

from collections.abc import Sequence
from dataclasses import dataclass
from itertools import product
from math import prod
from typing import Any, ClassVar, NamedTuple

import numpy as np
import numpy.typing as npt
from xdsl.dialects.builtin import DenseArrayBase, Float32Type, i64
from xdsl.ir import Attribute, Operation, SSAValue

from qdialect.dialects.onnx_attributes import ints_attr
from qdialect.dialects.onnx_base import ConstantOp, OnnxOp, opset_of
from qdialect.dialects.onnx_tensor import from_array
from qdialect.dialects.onnx_types import DYNAMIC, element_of, quantized_of, shape_of, tensor_type
from qdialect.dialects.quant import UniformType
from qdialect.exactness import Exactness
from qdialect.forms.casts import wish
from qdialect.ir.names import location, node_name
from qdialect.ir.values import constant, static_shape
from qdialect.ops.generated import op_named
from qdialect.patterns.convolution import MOVES, tiled
from qdialect.patterns.im2col import SLICES, SOME_SIZE, TO_THE_END, is_regular, window
from qdialect.promises.linear import Transposed
from qdialect.reasons import Blocked
from qdialect.rewriting.driver import Pattern, Rewriter
from qdialect.rewriting.passes import RewritePass
from qdialect.targets import Target, target
from qdialect.targets.pricing import ALIGNED, Convolution, cheapest, cost, float_kernels, quantized_cost

SPREADING = "ConvTranspose"
"""Where the costs are of the float op, and of a quantize and a move for each value written."""


LARGEST_WINDOW = 1 << 16
"""Kernel elements, times strides, times pads along an axis, that are looked at."""


class Phases(NamedTuple):
    """How a transposed convolution runs along one axis: each `stride` results are made from the same pixels."""

    stride: int
    taps: int
    """Pixels that they see."""
    places: tuple[tuple[int, int, int], ...]
    """Of each kernel element: which, the result it reaches, the pixel it takes."""
    before: int
    """Zeros in front of the operand, and `behind` it."""
    behind: int
    more: int
    """Pixels of the result, `stride` as one, less those of the operand."""
    first: int
    """Results cut off in front, and `last` at the end."""
    last: int

    def sizes(self, size: int) -> tuple[int, int]:
        """Pixels of the convolution, and of the result, for an operand's size; unknown if that is."""
        if size == DYNAMIC:
            return DYNAMIC, DYNAMIC
        return size + self.more, (size + self.more) * self.stride - self.first - self.last


def phases(kernel: int, stride: int, dilation: int, pads: tuple[int, int], padding: int) -> Phases:
    """
    The least taps, then the least to cut off, for an axis of a transposed convolution.

    Result o = j * stride + r - first and kernel element t take pixel i where o + pads[0] = i * stride + t * dilation.
    """
    found: list[Phases] = []
    for first in range(pads[0] + 1):
        steps = [
            (t, r, (r - first + pads[0] - t * dilation) // stride)
            for t in range(kernel)
            for r in range(stride)
            if (r - first + pads[0] - t * dilation) % stride == 0
        ]
        low, high = (pick(step for _, _, step in steps) for pick in (min, max))
        whole = first + (kernel - 1) * dilation + 1 - sum(pads) + padding - stride
        more = max(-(-whole // stride), -high)
        if low <= 0:
            places = tuple((t, r, step - low) for t, r, step in steps)
            cut = more * stride - whole
            found.append(Phases(stride, high - low + 1, places, -low, more + high, more, first, cut))
    return min(found, key=lambda one: (one.taps, one.first + one.last))


class LowerConvTranspose(Pattern):
    """A transposed convolution of quantized operands."""

    def __init__(self, target: Target, always: bool = False):
        self._target, self._always = target, always

    def accepts(self, op_class: type[Operation]) -> bool:
        return op_class.get_trait(Transposed) is not None

    def rewrite(self, op: Operation, rewriter: Rewriter) -> Blocked | None:
        assert isinstance(op, OnnxOp)
        x, w, y = (quantized_of(v.type) for v in (*op.operands[:2], op.results[0]))
        if x is None or w is None or not x.is_per_tensor or SPREADING not in self._target.costs:
            return None
        if [x.storage.name, w.storage.name] != ["u8", "i8"]:
            return Blocked("storage", "an operand is not stored in 8 bits as the kernels want it")
        if y is None and element_of(op.results[0].type) != Float32Type():
            return Blocked("expressed-type", "the result is neither quantized nor f32")
        if y is not None and (not y.is_per_tensor or y.storage.name != "u8"):
            return Blocked("storage", "the result is not stored in 8 bits with one scale")
        weight = static_shape(op.operands[1])
        if (blocked := self._guard(op, weight)) is not None:
            return blocked
        assert weight is not None
        rank = len(weight)
        pads, padding = window(op, "pads", rank, 0), op.ints_attr("output_padding") or (0,) * (rank - 2)
        axes = [
            phases(weight[2 + k], stride, dilation, (pads[k], pads[k + rank - 2]), padding[k])
            for k, (stride, dilation) in enumerate(
                zip(window(op, "strides", rank), window(op, "dilations", rank), strict=True)
            )
        ]
        if (blocked := self._shape_guard(op, axes)) is not None:
            return blocked
        if not self._always and not self._pays(op, weight, axes, w, y):
            return Blocked(
                "float-is-faster", "with these channels the transposed convolution is as fast in float"
            )
        self._build(op, weight, axes, rewriter)
        return None

    def _guard(self, op: OnnxOp, weight: tuple[int, ...] | None) -> Blocked | None:
        bias, given = op.input(2), shape_of(op.operands[0].type)
        if (
            weight is None
            or constant(op.operands[1]) is None
            or (bias is not None and constant(bias) is None)
        ):
            return Blocked("computed-weight", "the weight or bias is computed at run time")
        rank = len(weight)
        if rank not in (3, 4) or given is None or len(given) != rank or given[-1] == DYNAMIC:
            return Blocked("unknown-width", "the width is not known, or it is no image and no line")
        if op.int_attr("group", 1) != 1:
            return Blocked("grouped", "the channels come in groups")
        strides, pads = window(op, "strides", rank), window(op, "pads", rank, 0)
        if not is_regular(op) or max(weight[2:]) * max(strides) * (max(pads) + 1) > LARGEST_WINDOW:
            return Blocked("large-window", "the window is no usual one: its attributes are out of range")
        if op.ints_attr("output_shape") is not None or op.str_attr("auto_pad", "NOTSET") not in (
            "NOTSET",
            "VALID",
        ):
            return Blocked("auto-pad", "the transposed convolution works its pads out by itself")
        return None

    def _shape_guard(self, op: OnnxOp, axes: Sequence[Phases]) -> Blocked | None:
        given, made = shape_of(op.operands[0].type), shape_of(op.results[0].type)
        assert given is not None
        expected = [axis.sizes(size)[1] for axis, size in zip(axes, given[2:], strict=True)]
        if (
            made is None
            or len(made) != len(given)
            or any(DYNAMIC not in (e, m) and e != m for e, m in zip(expected, made[2:], strict=True))
        ):
            return Blocked("other-shape", "the result is stated to have another shape than it will have")
        if any(axis.first or axis.last for axis in axes) and (opset_of(op, "") or 13) < SLICES:
            return Blocked("opset", f"Slice takes computed bounds of bytes from opset {SLICES} on")
        return None

    def _pays(
        self,
        op: OnnxOp,
        weight: tuple[int, ...],
        axes: Sequence[Phases],
        w: UniformType,
        y: UniformType | None,
    ) -> bool:
        costs, given = self._target.costs, shape_of(op.operands[0].type)
        assert given is not None
        sizes = [SOME_SIZE if size == DYNAMIC else size for size in given[2:]]
        images = 1 if given[0] == DYNAMIC else given[0]  # it must pay for one alone
        ones, times = (1,) * (len(weight) - 2), prod(axis.stride for axis in axes)
        symmetric = not w.zero_points.any()
        spread = Convolution(weight[0], prod(weight[1:]), ones, ones, prod(sizes), symmetric, images)
        pixels = prod(axis.sizes(size)[0] for axis, size in zip(axes, sizes, strict=True))
        taps = tuple(axis.taps for axis in axes)
        shape = Convolution(weight[0], weight[1] * times, taps, ones, pixels, symmetric, images)
        spreading, written = costs[SPREADING], shape.outputs * pixels * images
        moves = (times > 1) + any(axis.first or axis.last for axis in axes)
        now = cost(costs, SPREADING, spread)
        if y is None:
            new = (
                cheapest(costs, float_kernels((shape.outputs, weight[0], *taps)), shape)[1]
                + written * moves * spreading["move_float"]
            )
        else:
            now += written * spreading["quantize"]
            new = quantized_cost(costs, shape) + written * moves * spreading["move_byte"]
        return ALIGNED in costs and new + 2 * MOVES < now

    def _build(self, op: OnnxOp, weight: tuple[int, ...], axes: Sequence[Phases], rewriter: Rewriter) -> None:
        channels, times, made = weight[1], prod(axis.stride for axis in axes), list[Operation]()
        tensor, w, bias = constant(op.operands[1]), quantized_of(op.operands[1].type), op.input(2)
        assert tensor is not None
        assert w is not None
        rows, name = spread_weight(tensor.array(), w.zero_points, axes), wish(op.operands[1]) or "weight"
        made.append(tiled(op.operands[1], rows, times, f"{name}_spread", axis=0))
        inputs: list[SSAValue | None] = [op.operands[0], made[0].results[0]]
        if bias is not None:
            values = constant(bias)
            assert values is not None
            made.append(tiled(bias, np.tile(values.array(), times), times, f"{wish(bias) or 'bias'}_spread"))
            inputs.append(made[1].results[0])
        given, element = shape_of(op.operands[0].type), element_of(op.results[0].type)
        assert given is not None
        assert element is not None
        promise = op.get_trait(Transposed)
        assert promise is not None
        attributes = {"kernel_shape": ints_attr(rows.shape[2:])}
        pads = (*(axis.before for axis in axes), *(axis.behind for axis in axes))
        if any(pads):
            attributes["pads"] = ints_attr(pads)
        sizes = [axis.sizes(size)[0] for axis, size in zip(axes, given[2:], strict=True)]
        conv = op_named("", promise.forward).build(
            inputs, [tensor_type(element, (given[0], channels * times, *sizes))], attributes
        )
        conv.location = location(node_name(op))
        made.append(conv)
        if times > 1 or any(axis.first or axis.last for axis in axes):
            self._spread(op, conv.results[0], channels, axes, made)
        made[-1].location = op.location
        rewriter.replace(op, made)

    def _spread(
        self, op: OnnxOp, value: SSAValue, channels: int, axes: Sequence[Phases], made: list[Operation]
    ) -> None:
        """The results of one pixel as the window that they fill, less what is cut off."""
        shape, element = shape_of(value.type), element_of(value.type)
        assert shape is not None
        assert element is not None

        def add(name: str, inputs: list[SSAValue], shape: Sequence[int], **given: Attribute) -> SSAValue:
            new = op_named("", name).build([*inputs], [tensor_type(element, tuple(shape))], given)
            new.location = location(f"{node_name(op)}_spread")
            made.append(new)
            return new.results[0]

        def ints(values: Sequence[int], what: str) -> SSAValue:
            made.append(ConstantOp.of(from_array(np.array(values, np.int64))))
            made[-1].location = location("", [f"{node_name(op)}_spread_{what}"])
            return made[-1].results[0]

        def turned(value: SSAValue, perm: Sequence[int]) -> SSAValue:
            old = shape_of(value.type)
            assert old is not None
            turn = DenseArrayBase.from_list(i64, list(perm))
            return add("Transpose", [value], [old[p] for p in perm], perm=turn)

        batch, *sizes = shape[0], *shape[2:]
        strides = [axis.stride for axis in axes]
        last = turned(value, [0, *range(2, len(shape)), 1])
        if len(axes) == 2 and strides[0] > 1:
            run = strides[1] * channels
            wanted = ints([0, 0, sizes[1], strides[0], run], "shape")
            apart = add("Reshape", [last, wanted], [batch, *sizes, strides[0], run])
            last = turned(apart, [0, 1, 3, 2, 4])
        whole = [size if DYNAMIC == size else size * by for size, by in zip(sizes, strides, strict=True)]
        if prod(strides) > 1:
            wanted = ints([0, *[-1] * (len(axes) - 1), whole[-1], channels], "shape")
            last = add("Reshape", [last, wanted], [batch, *whole, channels])
        cut = [k for k, axis in enumerate(axes) if axis.first or axis.last]
        if cut:
            ends = [-axes[k].last or TO_THE_END for k in cut]
            bounds = [[axes[k].first for k in cut], ends, [k + 1 for k in cut]]
            for k in cut:
                whole[k] -= 0 if whole[k] == DYNAMIC else axes[k].first + axes[k].last
            last = add("Slice", [last, *(ints(b, "part") for b in bounds)], [batch, *whole, channels])
        turned(last, [0, len(shape) - 1, *range(1, len(shape) - 1)])


def spread_weight(
    weight: npt.NDArray[Any], zero_points: npt.NDArray[Any], axes: Sequence[Phases]
) -> npt.NDArray[Any]:
    """
    The weight (inputs, outputs, kernel) as that of the convolution, (strides * outputs, inputs, taps).

    zero_points: () or (outputs,); what is in no kernel is stored as it.
    """
    inputs, outputs = weight.shape[:2]
    strides, taps = [axis.stride for axis in axes], [axis.taps for axis in axes]
    zeros = np.asarray(zero_points).astype(weight.dtype).reshape(-1, 1, *[1] * len(axes))
    result = np.array(np.broadcast_to(zeros, (*strides, outputs, inputs, *taps)))
    for places in product(*(axis.places for axis in axes)):
        element, reached, taken = zip(*places, strict=True)
        result[(*reached, slice(None), slice(None), *taken)] = weight[(slice(None), slice(None), *element)].T
    return result.reshape(-1, inputs, *taps)


@dataclass(frozen=True)
class LowerConvTransposePass(RewritePass):
    """Transposed convolutions become convolutions and a move."""

    name = "lower-conv-transpose"
    exactness: ClassVar[Exactness] = Exactness.CLOSE
    rewrite: ClassVar[str] = (
        "conv_transpose(x, w) -> spread(conv(x, w')), as many results from each pixel as the strides: the same integers"
    )

    target: str = "onnxruntime"
    always: bool = False
    """Whether to do so whatever it costs."""

    def patterns(self) -> Sequence[Pattern]:
        return [LowerConvTranspose(target(self.target), self.always)]
