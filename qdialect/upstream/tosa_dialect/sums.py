"""tosa operations: convolutions, matrix product, pooling, resize."""

from __future__ import annotations

from typing import ClassVar

from xdsl.dialects.builtin import DenseArrayBase, i32, i64
from xdsl.ir import Attribute
from xdsl.irdl import irdl_op_definition, operand_def, opt_prop_def, prop_def, result_def

from qdialect.upstream.tosa_dialect.base import TosaOp
from qdialect.upstream.tosa_dialect.checks import (
    LARGEST_IMAGE,
    LARGEST_NUMERATOR,
    attribute_ints,
    check_range,
    check_shape,
    check_window,
    check_windows_fit,
    element,
    known_sizes,
    require,
    sizes,
)
from qdialect.upstream.tosa_dialect.types import NanMode, NanModeAttr, ResizeMode, ResizeModeAttr

_INTS = DenseArrayBase.constr(i64)


class _Convolution(TosaOp):
    """Sums of products of (x - input_zp) and (w - weight_zp), plus a bias, in i32."""

    TYPES: ClassVar[tuple[str, ...]] = ("i8 i8 i32 i8 i8 -> i32",)
    CONSTANTS: ClassVar[tuple[str, ...]] = ("input_zp", "weight_zp")
    RANKS: ClassVar[dict[str, int]] = {"input": 4, "weight": 4, "output": 4, "bias": 1}
    ZERO_POINTS: ClassVar[tuple[tuple[str, str], ...]] = (("input_zp", "input"), ("weight_zp", "weight"))

    input = operand_def()
    weight = operand_def()
    bias = operand_def()
    input_zp = operand_def()
    weight_zp = operand_def()
    output = result_def()
    stride = prop_def(_INTS)
    acc_type = prop_def(Attribute)

    def inputs(self) -> int:
        """Number of input channels of the weight."""
        return sizes(self.weight)[3]

    def outputs(self) -> int:
        """Number of output channels of the weight."""
        return sizes(self.weight)[0]

    def check(self) -> None:
        require(self.acc_type == i32, f"the sums of i8 are i32, not {self.acc_type}")  # T14
        (count,), outputs = sizes(self.bias), self.outputs()
        require(count in (1, outputs), f"{count} biases for {outputs} channels")  # T15
        batch, *_, channels = sizes(self.output)
        require(
            (batch, channels) == (sizes(self.input)[0], outputs),
            f"the result has {sizes(self.input)[0]} images of {outputs} channels, not {batch} of {channels}",
        )  # T9
        inputs, channels = self.inputs(), sizes(self.input)[3]
        require(inputs == channels, f"the weight is for {inputs} channels, the input has {channels}")  # T16
        self.check_images()

    def check_images(self) -> None:
        """Raise VerifyException unless the windows fit."""


class _Gathering(_Convolution):
    pad = prop_def(_INTS)
    dilation = prop_def(_INTS)

    def kernel(self) -> tuple[int, ...]:
        """Size of the window, (y, x)."""
        return sizes(self.weight)[1:3]

    def check_images(self) -> None:
        strides, pads = attribute_ints(self.stride), attribute_ints(self.pad)
        dilations = attribute_ints(self.dilation)
        check_window(self.kernel(), pads, strides, dilations)
        image, result = sizes(self.input)[1:3], sizes(self.output)[1:3]
        check_windows_fit(image, result, self.kernel(), pads, strides, dilations)


@irdl_op_definition
class Conv2DOp(_Gathering):
    """input: (N, H, W, C); weight: (O, KH, KW, C); bias: (O) or (1); output: (N, H', W', O)."""

    name = "tosa.conv2d"


@irdl_op_definition
class DepthwiseConv2DOp(_Gathering):
    """Each channel by itself. weight: (KH, KW, C, M); output: (N, H', W', C * M)."""

    name = "tosa.depthwise_conv2d"

    def inputs(self) -> int:
        return sizes(self.weight)[2]

    def outputs(self) -> int:
        return sizes(self.weight)[2] * sizes(self.weight)[3]

    def kernel(self) -> tuple[int, ...]:
        return sizes(self.weight)[:2]


@irdl_op_definition
class TransposeConv2DOp(_Convolution):
    """Each pixel spread over a window. weight: (O, KH, KW, C); out_pad: (top, bottom, left, right), may be negative."""

    name = "tosa.transpose_conv2d"
    out_pad = prop_def(_INTS)

    def check_images(self) -> None:
        kernel, strides = sizes(self.weight)[1:3], attribute_ints(self.stride)
        pads = attribute_ints(self.out_pad)
        check_window(kernel, pads, strides, least_pad=1 - min(kernel))
        expected = [
            (size - 1) * stride + sum(pads[2 * k : 2 * k + 2]) + kernel[k]
            for k, (size, stride) in enumerate(zip(sizes(self.input)[1:3], strides, strict=True))
        ]
        batch, *_, channels = sizes(self.output)
        check_shape(self.output, (batch, *expected, channels))


@irdl_op_definition
class MatMulOp(TosaOp):
    """A batch of products. a: (N, H, C); b: (N, C, W); output: (N, H, W)."""

    name = "tosa.matmul"
    TYPES: ClassVar[tuple[str, ...]] = ("i8 i8 i8 i8 -> i32",)
    CONSTANTS: ClassVar[tuple[str, ...]] = ("a_zp", "b_zp")
    RANKS: ClassVar[dict[str, int]] = {"a": 3, "b": 3, "output": 3}
    ZERO_POINTS: ClassVar[tuple[tuple[str, str], ...]] = (("a_zp", "a"), ("b_zp", "b"))

    a = operand_def()
    b = operand_def()
    a_zp = operand_def()
    b_zp = operand_def()
    output = result_def()

    def check(self) -> None:
        a, b = sizes(self.a), sizes(self.b)
        require((a[0], a[2]) == b[:2], f"{list(a)} and {list(b)} cannot be multiplied")  # T17
        check_shape(self.output, (a[0], a[1], b[2]))


class _Pool(TosaOp):
    """Pooling: one result pixel per window. input: (N, H, W, C); output: (N, H', W', C)."""

    RANKS: ClassVar[dict[str, int]] = {"input": 4, "output": 4}

    input = operand_def()
    output = result_def()
    kernel = prop_def(_INTS)
    stride = prop_def(_INTS)
    pad = prop_def(_INTS)

    def check(self) -> None:
        kernel, strides, pads = (attribute_ints(a) for a in (self.kernel, self.stride, self.pad))
        check_window(kernel, pads, strides)
        for axis in (0, 1):  # T18
            widest = max(pads[2 * axis : 2 * axis + 2])
            require(widest < kernel[axis], f"the pad {widest} covers the whole window of {kernel[axis]}")
        (batch, *image, channels), result = sizes(self.input), sizes(self.output)
        check_windows_fit(image, result[1:3], kernel, pads, strides)
        check_shape(self.output, (batch, *result[1:3], channels))


@irdl_op_definition
class MaxPool2DOp(_Pool):
    """Maximum of each window, padding excluded."""

    name = "tosa.max_pool2d"
    TYPES: ClassVar[tuple[str, ...]] = ("i8 -> i8",)

    nan_mode = opt_prop_def(NanModeAttr, default_value=NanModeAttr(NanMode.PROPAGATE))


@irdl_op_definition
class AvgPool2DOp(_Pool):
    """Mean of each window, padding excluded, ties rounded up."""

    name = "tosa.avg_pool2d"
    TYPES: ClassVar[tuple[str, ...]] = ("i8 i8 i8 -> i8",)
    CONSTANTS: ClassVar[tuple[str, ...]] = ("input_zp", "output_zp")
    ZERO_POINTS: ClassVar[tuple[tuple[str, str], ...]] = (("input_zp", "input"), ("output_zp", "output"))

    input = operand_def()  # again: it stands in front of the zero points
    input_zp = operand_def()
    output_zp = operand_def()
    acc_type = prop_def(Attribute)

    def check(self) -> None:
        require(self.acc_type == i32, f"the sums of i8 are i32, not {self.acc_type}")
        super().check()


@irdl_op_definition
class ResizeOp(TosaOp):
    """Pixel o is at (o * scale_d + offset) / scale_n of the input; scale: (yn, yd, xn, xd); offset, border: (y, x)."""

    name = "tosa.resize"
    TYPES: ClassVar[tuple[str, ...]] = ("i8 shape shape shape -> i8", "i8 shape shape shape -> i32")
    CONSTANTS: ClassVar[tuple[str, ...]] = ("scale", "offset", "border")
    RANKS: ClassVar[dict[str, int]] = {"input": 4, "output": 4}

    input = operand_def()
    scale = operand_def()
    offset = operand_def()
    border = operand_def()
    output = result_def()
    mode = prop_def(ResizeModeAttr)

    def check(self) -> None:
        scales = known_sizes(self.scale, "scale", 4)
        offsets, borders = known_sizes(self.offset, "offset", 2), known_sizes(self.border, "border", 2)
        (batch, *image, channels), (_, *result, _) = sizes(self.input), sizes(self.output)
        require(max(*image, *result) < LARGEST_IMAGE, f"an image is {LARGEST_IMAGE} or more wide")  # T19
        expected: list[int] = []
        for axis, name in enumerate("yx"):
            n, d = scales[2 * axis : 2 * axis + 2]
            offset, border = offsets[axis], borders[axis]
            for quantity, value, low, high in (  # T19
                ("scale's numerator", n, 1, LARGEST_NUMERATOR + 1),
                ("scale's denominator", d, 1, 16 * n),
                ("offset", offset, -n, 16 * n),
                ("border", border, -16 * n, n),
            ):
                check_range(quantity, value, low, high, name)
            span = (image[axis] - 1) * n - offset + border
            require(not span % d, f"the scale's {d} does not divide {span} along {name}")  # T19
            expected.append(span // d + 1)
        check_shape(self.output, (batch, *expected, channels))
        wanted = "i32" if self.mode.data is ResizeMode.BILINEAR else "i8"
        require(element(self.output) == wanted, f"{self.mode.data} makes {wanted} of i8")  # T19
