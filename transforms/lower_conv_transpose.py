"""
Write a transposed convolution whose windows do not overlap as a convolution of one pixel and a move of its results.

    conv_transpose(x, w, b), kernel = strides  ->  spread(conv(x, w', b')),   conv: N, k1 * k2 * C, H, W
    spread: N, H, W, k1, k2 * C -> N, H, k1, W, k2 * C = N, H * k1, W * k2, C

Close: each output has the same products, so integers come out the same; a float oracle adds them in another order.
There is no integer kernel of a transposed convolution. Whether this one and the move cost less than the float op and
its casts is looked up in what was measured; channels stand last, so that the move copies whole rows of channels.
"""

from collections.abc import Sequence
from dataclasses import dataclass
from math import prod
from typing import ClassVar

import numpy as np
from xdsl.dialects.builtin import DenseArrayBase, Float32Type, i64
from xdsl.ir import Attribute, Operation, SSAValue

from qdialect.columns import SOME_IMAGES, SOME_SIZE, window
from qdialect.constants import constant, static_shape
from qdialect.costs import ALIGNED, Convolution, cheapest, cost, float_kernels, quantized_kernel
from qdialect.dialects.onnx_ops import ConstantOp, OnnxOp, op_named
from qdialect.dialects.onnx_tensor import from_array
from qdialect.dialects.onnx_types import DYNAMIC, element_of, quantized_of, shape_of, tensor_type
from qdialect.dialects.quant import UniformType
from qdialect.importer_attributes import ints_attr
from qdialect.lowering import wish
from qdialect.names import location, node_name
from qdialect.passes import Exactness, RewritePass
from qdialect.promises.base import Blocked
from qdialect.promises.linear import Transposed
from qdialect.rewriting import Pattern, Rewriter
from qdialect.targets import Target, target
from qdialect.transforms.fold_width import MOVES, tiled

SPREADING = "ConvTranspose"
"""Where the costs are of the float op, and of a quantize and a move for each value written."""


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
        if not self._always and not self._pays(op, weight, w, y):
            return Blocked(
                "float-is-faster", "with these channels the transposed convolution is as fast in float"
            )
        self._build(op, weight, rewriter)
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
        spread = any(window(op, "pads", rank, 0)) or any(op.ints_attr("output_padding") or ())
        shaped = op.ints_attr("output_shape") is not None or op.str_attr("auto_pad", "NOTSET") not in (
            "NOTSET",
            "VALID",
        )
        if (
            window(op, "strides", rank) != weight[2:]
            or prod(window(op, "dilations", rank)) != 1
            or spread
            or shaped
        ):
            return Blocked("windows-overlap", "the windows overlap, leave gaps or are cut at the border")
        return None

    def _pays(self, op: OnnxOp, weight: tuple[int, ...], w: UniformType, y: UniformType | None) -> bool:
        costs, given = self._target.costs, shape_of(op.operands[0].type)
        assert given is not None
        pixels = prod(SOME_SIZE if size == DYNAMIC else size for size in given[2:])
        images = SOME_IMAGES if given[0] == DYNAMIC else given[0]
        ones, outputs = (1,) * (len(weight) - 2), prod(weight[1:])
        shape = Convolution(weight[0], outputs, ones, ones, pixels, not w.zero_points.any(), images)
        spreading, written = costs[SPREADING], outputs * pixels * images
        now = cost(costs, SPREADING, shape)
        if y is None:
            new = (
                cheapest(costs, float_kernels((outputs, weight[0])), shape)[1]
                + written * spreading["move_float"]
            )
        else:
            now += written * spreading["quantize"]
            new = cost(costs, quantized_kernel(costs, shape), shape) + written * spreading["move_byte"]
        return ALIGNED in costs and new + 2 * MOVES < now

    def _build(self, op: OnnxOp, weight: tuple[int, ...], rewriter: Rewriter) -> None:
        channels, kernel = weight[1], weight[2:]
        tensor, bias, made = constant(op.operands[1]), op.input(2), list[Operation]()
        assert tensor is not None
        rows = (
            tensor.array().transpose(*range(2, len(weight)), 1, 0).reshape(-1, weight[0], *[1] * len(kernel))
        )
        name, times = wish(op.operands[1]) or "weight", prod(kernel)
        made.append(tiled(op.operands[1], np.ascontiguousarray(rows), times, f"{name}_spread", axis=0))
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
        attributes = {"kernel_shape": ints_attr((1,) * len(kernel))}
        conv = op_named("", promise.forward).build(
            inputs, [tensor_type(element, (given[0], channels * times, *given[2:]))], attributes
        )
        conv.location = location(node_name(op))
        made.append(conv)
        self._spread(op, conv.results[0], channels, kernel, made)
        made[-1].location = op.location
        rewriter.replace(op, made)

    def _spread(
        self, op: OnnxOp, value: SSAValue, channels: int, kernel: tuple[int, ...], made: list[Operation]
    ) -> None:
        """The results of one pixel as the window that they fill."""
        shape, element = shape_of(value.type), element_of(value.type)
        assert shape is not None
        assert element is not None

        def add(name: str, inputs: list[SSAValue], shape: Sequence[int], **given: Attribute) -> SSAValue:
            new = op_named("", name).build([*inputs], [tensor_type(element, tuple(shape))], given)
            new.location = location(f"{node_name(op)}_spread")
            made.append(new)
            return new.results[0]

        def turned(value: SSAValue, perm: Sequence[int]) -> SSAValue:
            old = shape_of(value.type)
            assert old is not None
            turn = DenseArrayBase.from_list(i64, list(perm))
            return add("Transpose", [value], [old[p] for p in perm], perm=turn)

        def reshaped(value: SSAValue, sizes: Sequence[int], shape: Sequence[int]) -> SSAValue:
            made.append(ConstantOp.of(from_array(np.array(sizes, np.int64))))
            made[-1].location = location("", [f"{node_name(op)}_spread_shape"])
            return add("Reshape", [value, made[-1].results[0]], shape)

        batch, *sizes = shape[0], *shape[2:]
        wide = sizes[-1] * kernel[-1]
        last = turned(value, [0, *range(2, len(shape)), 1])
        if len(kernel) == 2:
            run = kernel[1] * channels
            apart = reshaped(last, [0, 0, sizes[1], kernel[0], run], [batch, *sizes, kernel[0], run])
            last = turned(apart, [0, 1, 3, 2, 4])
        high = [DYNAMIC if sizes[0] == DYNAMIC else sizes[0] * kernel[0]] if len(kernel) == 2 else []
        whole = reshaped(last, [0, *[-1] * len(high), wide, channels], [batch, *high, wide, channels])
        turned(whole, [0, len(shape) - 1, *range(1, len(shape) - 1)])


@dataclass(frozen=True)
class LowerConvTransposePass(RewritePass):
    """Transposed convolutions without overlap become convolutions of one pixel."""

    name = "lower-conv-transpose"
    exactness: ClassVar[Exactness] = Exactness.CLOSE
    rewrite: ClassVar[str] = (
        "conv_transpose(x, w), kernel = strides -> spread(conv(x, w')), a window from each pixel: the same integers"
    )

    target: str = "onnxruntime"
    always: bool = False
    """Whether to do so whatever it costs."""

    def patterns(self) -> Sequence[Pattern]:
        return [LowerConvTranspose(target(self.target), self.always)]
