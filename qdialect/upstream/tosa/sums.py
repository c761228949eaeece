"""TOSA forms of linear ops: convolutions, products with a constant matrix as 1x1 convolutions, others as matmul."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import replace
from math import prod
from typing import Any, NamedTuple

import numpy as np
import numpy.typing as npt
from xdsl.dialects.builtin import i32
from xdsl.ir import SSAValue

from qdialect import numerics
from qdialect.dialects.onnx_base import OnnxOp
from qdialect.dialects.onnx_types import known_shape, quantized_of, uniform_of
from qdialect.dialects.quant import UniformType
from qdialect.ir.values import constant_array
from qdialect.promises.linear import LINEAR, Linear
from qdialect.promises.window import UNRESOLVED_PADS, WINDOWS, Geometry
from qdialect.reasons import (
    BIAS_BY_ROW,
    COMPUTED_BIAS,
    COMPUTED_WEIGHT,
    GEMM_FORM,
    Blocked,
    required,
    unblocked,
)
from qdialect.upstream import tosa_dialect as tosa
from qdialect.upstream.tosa.pools import fitted
from qdialect.upstream.tosa.site import HIGH, LOW, TosaForm, TosaSite, activations, array_attr, takes

WEIGHT_ZEROS = Blocked(
    "zero-point", "the weight's zero points differ by channel, and its values need more than i8"
)
OTHER_RANK = Blocked("window-form", "TOSA has 8-bit convolutions only for one and two spatial axes")
DILATED = Blocked("window-form", "TOSA's transposed convolution has no dilation")


class _Factors(NamedTuple):
    """A linear op with a constant weight: types, i8 weight, bias, and ratio of scales."""

    x: UniformType
    y: UniformType
    weight: npt.NDArray[np.int8]
    """The weight in ONNX's layout."""
    zero: int
    bias: npt.NDArray[np.int32]
    """Bias of each output channel, in steps of the sum."""
    ratio: npt.NDArray[np.float32]
    """Scale of the sum over the scale of the result: one, or one for each output channel."""
    largest: int
    """Upper bound of the magnitude of a sum."""

    def of(self, weights: slice, channels: slice) -> _Factors:
        """The factors of one group: slice `weights` of the weight's first axis, `channels` of the output channels."""
        ratio = self.ratio if self.ratio.size == 1 else self.ratio[channels]
        return self._replace(weight=self.weight[weights], bias=self.bias[channels], ratio=ratio)


def weight_in_i8(op: OnnxOp, linear: Linear) -> tuple[npt.NDArray[np.int8], int] | Blocked:
    """The constant weight in i8, and its one zero point."""
    type, array = quantized_of(op.operands[1].type), required(constant_array(op.operands[1]), COMPUTED_WEIGHT)
    if type is None or type.storage.width > 8 or type.blocks:
        return Blocked("no-kernel", "the integer profile takes weights of at most 8 bits")
    zeros = np.unique(type.zero_points)
    wide = array.astype(np.int16)
    if (
        zeros.size == 1
        and -128 <= wide.min(initial=0)
        and wide.max(initial=0) <= 127
        and -128 <= zeros[0] <= 127
    ):
        return wide.astype(np.int8), int(zeros[0])
    if zeros.size == 1 and not type.storage.signed:
        return (wide - 128).astype(np.int8), int(zeros[0]) - 128
    wide -= numerics.expand_parameters(type.zero_points.astype(np.int16), wide.shape, linear.weight_axis(op))
    if wide.min(initial=0) < -128 or wide.max(initial=0) > 127:
        return WEIGHT_ZEROS
    return wide.astype(np.int8), 0


def _bias(op: OnnxOp, channels: int) -> npt.NDArray[np.int32] | Blocked:
    value = op.input(2)
    if value is None:
        return np.zeros(channels, np.int32)
    type, array = quantized_of(value.type), required(constant_array(value), COMPUTED_BIAS)
    if type is None:
        scales = uniform_of(op.operands[1].type).scales
        scales = np.tile(scales, channels // scales.size) if scales.size > 1 else scales
        array, overflow = numerics.quantize_bias(array, uniform_of(op.operands[0].type).scale, scales)
        if overflow.any():
            return Blocked("bias-range", "a bias does not fit in int32")
    else:  # in steps of x_scale * w_scale, as the verifier asks
        array = array.astype(np.int32)
    if array.size != 1 and (array.size != channels or array.shape[-1] != channels):
        return BIAS_BY_ROW
    return np.broadcast_to(array.reshape(-1), (channels,))


def factors_of(op: OnnxOp, channels: int) -> _Factors | Blocked:
    """The factors of a linear op with a constant weight, or `Blocked` if the profile cannot express it."""
    linear, (x, y) = LINEAR[op.domain, op.op_type], activations(op.operands[0], op.results[0])
    weight, zero = unblocked(weight_in_i8(op, linear))
    bias = unblocked(_bias(op, channels))
    type = uniform_of(op.operands[1].type)
    axis = linear.weight_axis(op)
    ratio = np.atleast_1d(numerics.requantize_multiplier(x.scale, type.scales, y.scale))
    if ratio.size > 1:
        ratio = np.tile(ratio, channels // ratio.size)
    reach = numerics.accumulator_bound(weight, LOW, HIGH, x.zero_point, zero, output_axis=axis or 0)
    largest = int(reach.max()) + int(np.abs(bias.astype(np.int64)).max(initial=0))
    if largest > numerics.INT32_MAX:
        return Blocked(
            "accumulator-overflow", f"sums can reach {largest}, int32 holds at most {numerics.INT32_MAX}"
        )
    unblocked(takes(ratio, largest))
    return _Factors(x, y, weight, zero, bias, ratio, largest)


def _windowed(site: TosaSite, image: SSAValue, f: _Factors, geometry: Geometry) -> SSAValue:
    """The i8 result of one group, channels last."""
    g, outputs = geometry, f.bias.size
    x, pads = fitted(site, image, g.results, g.kernel, g.strides, g.dilations, g.pads or ())
    if depthwise := g.groups > 1:  # (C * M, 1, y, x): M outputs of each channel
        weight = f.weight.reshape(g.groups, outputs // g.groups, *g.kernel).transpose(2, 3, 0, 1)
    else:
        weight = f.weight.transpose(0, 2, 3, 1)
    sums = site.make(
        tosa.DepthwiseConv2DOp if depthwise else tosa.Conv2DOp,
        _operands(site, x, f, weight),
        (g.images, *g.results, outputs),
        pad=array_attr(pads),
        stride=array_attr(g.strides),
        dilation=array_attr(g.dilations),
        acc_type=i32,
    )
    return site.requantized_sum(sums, f.ratio, f.y, f.largest)


def _spread(site: TosaSite, image: SSAValue, f: _Factors, geometry: Geometry) -> SSAValue:
    """The i8 result of one group of a transposed convolution, channels last."""
    before = [-p for p, _ in geometry.pads or ()]
    pads: list[int] = []
    for axis, (size, result, kernel, stride) in enumerate(
        zip(geometry.sizes, geometry.results, geometry.kernel, geometry.strides, strict=True)
    ):
        pads += [before[axis], result - (size - 1) * stride - kernel - before[axis]]
    sums = site.make(
        tosa.TransposeConv2DOp,
        _operands(site, image, f, f.weight.transpose(1, 2, 3, 0)),
        (geometry.images, *geometry.results, f.bias.size),
        out_pad=array_attr(pads),
        stride=array_attr(geometry.strides),
        acc_type=i32,
    )
    return site.requantized_sum(sums, f.ratio, f.y, f.largest)


def _operands(site: TosaSite, x: SSAValue, f: _Factors, weight: npt.NDArray[np.int8]) -> list[SSAValue]:
    zeros = [site.zero_point(f.x.zero_point), site.zero_point(f.zero)]
    constants = site.constant(np.ascontiguousarray(weight)), site.constant(f.bias, np.int32)
    return [x, *constants, *zeros]


def _image(site: TosaSite, value: SSAValue) -> SSAValue:
    """An activation as (N, H, W, C); H = 1 for a single spatial axis."""
    if len(known_shape(value.type)) == 4:
        return site.operand(value, last=True)
    n, c, w = known_shape(value.type)
    return site.reshape(site.transpose(site.operand(value), (0, 2, 1)), (n, 1, w, c))


def _give_image(site: TosaSite, result: SSAValue, image: SSAValue) -> None:
    if len(known_shape(result.type)) == 4:
        site.give(result, image, last=True)
        return
    n, _, w, c = known_shape(image.type)
    site.give(result, site.transpose(site.reshape(image, (n, w, c)), (0, 2, 1)))


def with_two_axes(geometry: Geometry) -> Geometry | Blocked:
    """The sizes of a convolution with one spatial axis as those with two."""
    if geometry.axes == 2:
        return geometry
    if geometry.axes != 1:
        return OTHER_RANK
    g, one = geometry, (1,)
    return replace(
        g,
        kernel=one + g.kernel,
        strides=one + g.strides,
        dilations=one + g.dilations,
        pads=None if g.pads is None else ((0, 0), *g.pads),
        sizes=one + g.sizes,
        results=one + g.results,
    )


def _convolution(op: OnnxOp, site: TosaSite) -> Blocked | None:
    """A convolution, each group by itself unless depthwise: TOSA has no other groups."""
    window = WINDOWS[op.domain, op.op_type]
    geometry = unblocked(with_two_axes(unblocked(window.geometry(op))))
    if geometry.pads is None or op.ints_attr("output_shape") is not None:
        return UNRESOLVED_PADS
    if not window.gathers and prod(geometry.dilations) != 1:
        return DILATED
    f = unblocked(factors_of(op, geometry.outputs * geometry.groups))
    f = f._replace(weight=f.weight.reshape(*f.weight.shape[:2], *geometry.kernel))
    image = _image(site, op.operands[0])
    whole = geometry.groups == 1 or (window.gathers and geometry.inputs == 1)
    groups = 1 if whole else geometry.groups
    results: list[SSAValue] = []
    for k in range(groups):
        part, group = image, f
        if groups > 1:
            counts = [geometry.images, *geometry.sizes, geometry.inputs]
            part = site.cut(image, [0, 0, 0, k * geometry.inputs], counts)
            rows = geometry.outputs if window.gathers else geometry.inputs
            outputs = geometry.outputs
            group = f.of(slice(k * rows, (k + 1) * rows), slice(k * outputs, (k + 1) * outputs))
        one = geometry if whole else replace(geometry, groups=1)
        results.append((_windowed if window.gathers else _spread)(site, part, group, one))
    _give_image(site, op.results[0], site.joined(results, 3))
    return None


def _by_constant(
    op: OnnxOp, site: TosaSite, left: SSAValue, weight: npt.NDArray[Any], f: _Factors
) -> SSAValue:
    """
    A product with a constant matrix (inputs, outputs) as a 1x1 convolution, which adds a bias, of an image whose pixels
    are the rows.
    """
    shape = known_shape(left.type)
    inputs, outputs = weight.shape
    rows, one = (1, prod(shape[:-1])), (1, 1)
    pointwise = Geometry(1, inputs, outputs, 1, one, one, one, ((0, 0), (0, 0)), rows, rows)
    kernel = f._replace(weight=weight.T.reshape(outputs, inputs, 1, 1))
    result = _windowed(site, site.reshape(left, (1, *rows, inputs)), kernel, pointwise)
    return site.reshape(result, known_shape(op.results[0].type))


def _by_matrix(
    op: OnnxOp, site: TosaSite, left: SSAValue, right: SSAValue, types: Sequence[UniformType]
) -> Blocked | None:
    """A product of two activations, or batches of matrices: equal batch shapes, or a batch of one matrix."""
    a, b, y = types
    first, second = list(known_shape(left.type)), list(known_shape(right.type))
    if len(first) < 2 or len(second) < 2:
        return Blocked("product-form", "one operand of a product of computed tensors is a vector")
    batches = [prod(first[:-2]), prod(second[:-2])]
    if batches[1] == 1:
        batch, rows = 1, prod(first[:-1])
    elif batches[0] == batches[1]:
        batch, rows = batches[0], first[-2]
    else:
        return Blocked("product-form", "the batch axes of the operands are broadcast")
    ratio = numerics.requantize_multiplier(a.scale, b.scale, y.scale)
    reach = 255 * 255 * first[-1]
    unblocked(takes(ratio, reach))
    operands = [
        site.reshape(left, (batch, rows, first[-1])),
        site.reshape(right, (batch, *second[-2:])),
        site.zero_point(a.zero_point),
        site.zero_point(b.zero_point),
    ]
    sums = site.make(tosa.MatMulOp, operands, (batch, rows, second[-1]))
    result = site.requantized_sum(sums, ratio, y, reach)
    site.give(op.results[0], site.reshape(result, known_shape(op.results[0].type)))
    return None


def _matmul(op: OnnxOp, site: TosaSite) -> Blocked | None:
    weight = constant_array(op.operands[1])
    if weight is not None and weight.ndim == 2:
        f = unblocked(factors_of(op, weight.shape[1]))
        site.give(op.results[0], _by_constant(op, site, site.operand(op.operands[0]), f.weight, f))
        return None
    types = activations(*op.operands[:2], op.results[0])
    return _by_matrix(op, site, site.operand(op.operands[0]), site.operand(op.operands[1]), types)


def _gemm(op: OnnxOp, site: TosaSite) -> Blocked | None:
    if op.float_attr("alpha", 1.0) != 1.0 or (op.input(2) is not None and op.float_attr("beta", 1.0) != 1.0):
        return GEMM_FORM
    turned = [bool(op.int_attr(name, 0)) for name in ("transA", "transB")]

    def matrix(place: int) -> SSAValue:
        value = site.operand(op.operands[place])
        return site.transpose(value, (1, 0)) if turned[place] else value

    if constant_array(op.operands[1]) is not None:
        f = unblocked(factors_of(op, known_shape(op.results[0].type)[1]))
        weight = f.weight.T if turned[1] else f.weight
        site.give(op.results[0], _by_constant(op, site, matrix(0), weight, f))
        return None
    types = activations(*op.operands[:2], op.results[0])
    if op.input(2) is not None:
        return Blocked("product-form", "a product of two activations has a bias", "decompose Gemm")
    return _by_matrix(op, site, matrix(0), matrix(1), types)


_CONVOLUTION = TosaForm(_convolution)
SUM_FORMS: dict[tuple[str, str], TosaForm] = {
    ("", "Conv"): _CONVOLUTION,
    ("", "ConvTranspose"): _CONVOLUTION,
    ("", "MatMul"): TosaForm(_matmul),
    ("", "Gemm"): TosaForm(_gemm),
}
