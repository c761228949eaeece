"""
TOSA forms of pools and reductions: means are depthwise convolutions with ones, so that only one rescale rounds.
"""

from __future__ import annotations

from collections.abc import Sequence
from functools import partial
from math import lcm, prod

import numpy as np
from xdsl.dialects.builtin import IntegerAttr, i8, i32
from xdsl.ir import Operation, SSAValue

from qdialect.dialects.onnx_base import OnnxOp
from qdialect.dialects.onnx_types import known_element, known_shape
from qdialect.dialects.quant import UniformType
from qdialect.forms.geometry import TO_FIRST, TO_LAST, pool, pool_counts, reduced_axes
from qdialect.reasons import Blocked, unblocked
from qdialect.upstream import tosa_dialect as tosa
from qdialect.upstream.site import COMPARED_TYPE
from qdialect.upstream.tosa.elementwise import MAX_STORED_DISTANCE
from qdialect.upstream.tosa.site import (
    NAN_MODE,
    TosaForm,
    TosaSite,
    activations,
    array_attr,
    takes,
)

DILATED = Blocked("window-form", "TOSA has no dilated pools")
IMAGES = Blocked("window-form", "TOSA pools only over two spatial axes")
MAX_WINDOW = 64
"""Greatest size of a mean's window as a convolution; NPU compilers lack larger kernels, so sums go axis by axis."""


def _max_pool(op: OnnxOp, site: TosaSite) -> Blocked | None:
    x, y = activations(op.operands[0], op.results[0])
    if x != y:
        return COMPARED_TYPE
    if len(known_shape(op.operands[0].type)) != len(TO_LAST):
        return IMAGES
    if any(result.first_use is not None for result in op.results[1:]):
        return Blocked(
            "equal-elements", "MaxPool's indices are read", "leave them out of the graph's outputs"
        )
    if op.op_type == "GlobalMaxPool":
        sizes = known_shape(op.operands[0].type)[2:]
        kernel, strides, pads = sizes, (1, 1), ((0, 0),) * 2
    else:
        window = pool(op)
        if prod(window.dilations) != 1:
            return DILATED
        kernel, strides, pads = window.kernel, window.strides, window.pads
    image, result = site.operand(op.operands[0], last=True), site.shape(op.results[0], last=True)
    image, amounts = fitted(site, image, result[1:3], kernel, strides, (1, 1), pads)
    if any(amount >= kernel[k // 2] for k, amount in enumerate(amounts)):
        return Blocked("empty-tensor", "a window covers padding only, and TOSA requires a pixel in each")
    attributes = {"kernel": array_attr(kernel), "stride": array_attr(strides), "pad": array_attr(amounts)}
    pooled = site.make(tosa.MaxPool2DOp, [image], result, i8, nan_mode=NAN_MODE, **attributes)
    site.give(op.results[0], pooled, last=True)
    for other in op.results[1:]:
        site.give(other, site.constant(np.zeros(known_shape(other.type), np.int32)))
    return None


def fitted(
    site: TosaSite,
    image: SSAValue,
    results: Sequence[int],
    kernel: Sequence[int],
    strides: Sequence[int],
    dilations: Sequence[int],
    pads: Sequence[tuple[int, int]],
) -> tuple[SSAValue, list[int]]:
    """
    An image, channels last, that the windows cover without remainder, and pads (top, bottom, left, right): trailing
    pads that no window reaches are dropped, then pixels.
    """
    counts, amounts = list(known_shape(image.type)), list[int]()
    for axis, (before, _) in enumerate(pads):
        span = (results[axis] - 1) * strides[axis] + (kernel[axis] - 1) * dilations[axis] + 1
        behind = span - counts[1 + axis] - before
        counts[1 + axis] += min(behind, 0)
        amounts += [before, max(behind, 0)]
    return site.cut(image, [0] * 4, counts), amounts


def _average_pool(op: OnnxOp, site: TosaSite) -> Blocked | None:
    """
    Sums of windows, zero padding, divided by their numbers of elements. If these differ by position, each sum is first
    multiplied by the least common multiple over its count.
    """
    (x, y), window = activations(op.operands[0], op.results[0]), pool(op)
    if len(known_shape(op.operands[0].type)) != len(TO_LAST):
        return IMAGES
    if prod(window.dilations) != 1:
        return DILATED
    counts = pool_counts(op, window).astype(np.int64)
    if not counts.all():
        return Blocked("empty-tensor", "a window covers padding only, and its mean is undefined")
    whole = lcm(*np.unique(counts).tolist())
    # a multiple may be beyond 64 bits
    largest = MAX_STORED_DISTANCE * prod(window.kernel) * (whole // int(counts.min()))
    ratio = np.float32(x.scale / np.float32(y.scale * np.float32(whole)))
    unblocked(takes(ratio, largest))
    image, result = site.operand(op.operands[0], last=True), site.shape(op.results[0], last=True)
    kernel, strides, pads = window.kernel, window.strides, window.pads
    image, amounts = fitted(site, image, result[1:3], kernel, strides, (1, 1), pads)
    sums = window_sums(site, image, x, result, kernel, strides, amounts)
    if (counts != whole).any():
        factors = np.broadcast_to(whole // counts, known_shape(op.results[0].type)[2:])
        sums = site.product(sums, site.constant(factors[None, :, :, None], np.int32))
    site.give(op.results[0], site.requantized_sum(sums, ratio, y, largest), last=True)
    return None


def window_sums(
    site: TosaSite,
    image: SSAValue,
    type: UniformType,
    result: Sequence[int],
    kernel: Sequence[int],
    strides: Sequence[int],
    pads: Sequence[int],
) -> SSAValue:
    """Sums of (pixel - zero point) over each window, i32: a depthwise convolution with ones."""
    channels = result[-1]
    operands = [
        image,
        site.constant(np.ones((*kernel, channels, 1), np.int8)),
        site.constant(np.zeros(channels, np.int32)),
        site.zero_point(type.zero_point),
        site.zero_point(0),
    ]
    return site.make(
        tosa.DepthwiseConv2DOp,
        operands,
        result,
        pad=array_attr(pads),
        stride=array_attr(strides),
        dilation=array_attr((1, 1)),
        acc_type=i32,
    )


def _summed(is_mean: bool, op: OnnxOp, site: TosaSite) -> Blocked | None:
    """A mean or sum over axes: over all pixels of images as one window, else axis by axis."""
    (x, y), axes = activations(op.operands[0], op.results[0]), unblocked(reduced_axes(op))
    shape = known_shape(op.operands[0].type)
    count = prod(shape[k] for k in axes)
    ratio = np.float32(x.scale / np.float32(y.scale * np.float32(count if is_mean else 1)))
    unblocked(takes(ratio, MAX_STORED_DISTANCE * count))
    pixels = shape[2:]
    if len(shape) == len(TO_LAST) and axes == [2, 3] and max(pixels) <= MAX_WINDOW:
        result = (shape[0], 1, 1, shape[1])
        image = site.operand(op.operands[0], last=True)
        sums, last = window_sums(site, image, x, result, pixels, (1, 1), (0,) * 4), True
    else:
        tensor, last = site.in_own_layout(op.operands[0])
        sums = site.centred(tensor, x)
        for axis in axes:
            sums = along(site, tosa.ReduceSumOp, sums, site.axis(axis, last=last))
    mean = site.requantized_sum(sums, ratio, y, MAX_STORED_DISTANCE * count)
    _give(op, site, mean, last)
    return None


def _give(op: OnnxOp, site: TosaSite, value: SSAValue, last: bool) -> None:
    """Set a tensor, with its reduced axes of size 1, as the result."""
    result = op.results[0]
    if last and len(known_shape(result.type)) == len(TO_LAST):
        site.give(result, value, last=True)
        return
    plain = site.transpose(value, TO_FIRST) if last else value
    site.give(result, site.reshape(plain, known_shape(result.type)))


def along(site: TosaSite, kind: type[Operation], value: SSAValue, axis: int) -> SSAValue:
    """A reduction along one axis, whose size becomes 1."""
    shape = list(known_shape(value.type))
    if shape[axis] == 1:
        return value
    shape[axis] = 1
    more = {} if kind is tosa.ReduceSumOp else {"nan_mode": NAN_MODE}
    element = known_element(value.type)
    return site.make(kind, [value], shape, element, axis=IntegerAttr(axis, i32), **more)


def _greatest(kind: type[Operation], op: OnnxOp, site: TosaSite) -> Blocked | None:
    (x, y), axes = activations(op.operands[0], op.results[0]), unblocked(reduced_axes(op))
    if x != y:
        return COMPARED_TYPE
    value, last = site.in_own_layout(op.operands[0])
    for axis in axes:
        value = along(site, kind, value, site.axis(axis, last=last))
    _give(op, site, value, last)
    return None


POOL_FORMS: dict[tuple[str, str], TosaForm] = {
    ("", "MaxPool"): TosaForm(_max_pool),
    ("", "GlobalMaxPool"): TosaForm(_max_pool),
    ("", "AveragePool"): TosaForm(_average_pool),
    ("", "GlobalAveragePool"): TosaForm(partial(_summed, True)),
    ("", "ReduceMean"): TosaForm(partial(_summed, True)),
    ("", "ReduceSum"): TosaForm(partial(_summed, False)),
    ("", "ReduceMax"): TosaForm(partial(_greatest, tosa.ReduceMaxOp)),
    ("", "ReduceMin"): TosaForm(partial(_greatest, tosa.ReduceMinOp)),
}
