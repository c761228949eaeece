"""
Ops without an integer kernel, written with ops that have one: Sub as Add with the second operand negated, HardSigmoid
as Add with a constant, HardSwish as that and Mul, a mean of all pixels as a global average pool, an average pool as a
depthwise convolution.
"""

from __future__ import annotations

from collections.abc import Callable, Sequence
from dataclasses import dataclass
from math import prod

import numpy as np
import numpy.typing as npt
from xdsl.dialects.builtin import Float32Type, FloatAttr
from xdsl.ir import Operation

from qdialect import numerics
from qdialect.dialects.onnx_base import OnnxOp
from qdialect.dialects.onnx_types import (
    known_element,
    shape_of,
    storage_element,
    tensor_type,
    uniform_of,
    with_element,
)
from qdialect.dialects.quant import Storage, StorageCastOp, UniformType
from qdialect.forms.base import Form
from qdialect.forms.nodes import Nodes
from qdialect.forms.storage import clip_between
from qdialect.ir.values import constant, constant_ints, normal_axis
from qdialect.reasons import UNKNOWN_RANK, Blocked, required, unblocked


@dataclass(frozen=True)
class KernelOfAnother(Form):
    """The op on per-tensor quantized types can be written as other ops on such types."""

    kernel: str
    """Name of the kernel that these need, with as many operands as the op has quantized ones."""
    parts: Callable[[OnnxOp], Sequence[Operation] | Blocked]
    """The other ops; the last one defines the op's result."""
    on_integers: Callable[[OnnxOp], Sequence[str]] = lambda op: ()
    """Further ops among them, on stored integers."""
    guard: Callable[[OnnxOp], Blocked | None] = lambda op: None
    """The reason why the op has no such parts, whatever its types."""
    also: Sequence[str] = ()
    """Names of further kernels that the parts need, for the price."""
    constants: int = 0
    """Number of further operands of that kernel, constants of the first operand's storage type."""


@dataclass(frozen=True)
class AsConvolution(Form):
    """The op on per-tensor quantized types is a depthwise convolution with a constant weight."""

    weight: Callable[[OnnxOp, int], tuple[npt.NDArray[np.int8], np.float32] | Blocked]
    """From the op and its number of channels: the stored weight, (channels, 1, kernel), and its scale."""
    attributes: Sequence[str]
    """Attributes that the convolution takes from the op."""


MIN_IMAGE_RANK = 3
"""Least rank of a tensor of a batch, channels and pixels."""


HARD_SIGMOID_SCALE = np.float32(1 / 255)
"""The step of the factor of HardSwish, which is 0 to 1."""


def negated(type: UniformType) -> UniformType:
    """The type of the negated values of `type`, as stored by `numerics.mirror`."""
    s = type.storage
    low, high, zero_point = numerics.mirror(np.array([s.high, s.low, type.zero_point], s.dtype)).tolist()
    return type.replace(storage=Storage.make(s.width, s.signed, low, high), zero_points=zero_point)


def _difference(op: OnnxOp) -> Sequence[Operation] | Blocked:
    """x - y = x + -y: the bits of each stored y, and of its zero point, are inverted."""
    x, y = op.operands[:2]
    type, tensor = uniform_of(y.type), constant(y)
    nodes, negative_type = Nodes(), with_element(y.type, negated(type))
    if tensor is not None:
        negative = nodes.constant(numerics.mirror(tensor.array()), type=negative_type)
    else:
        ones = nodes.constant(numerics.mirror(np.zeros((), type.storage.dtype)))
        plain = nodes.append(StorageCastOp(y, with_element(y.type, storage_element(type))))
        mirrored = nodes.add("Sub", [ones, plain], plain.type)
        negative = nodes.append(StorageCastOp(mirrored, negative_type))
    nodes.add("Add", [x, negative], op.results[0].type)
    return nodes.ops


def _clamped_line(op: OnnxOp) -> Sequence[Operation] | Blocked:
    """max(0, min(1, alpha x + beta)) = x', the stored x at alpha times its scale, + beta where the result saturates."""
    alpha, beta = op.float_attr("alpha", 0.2), op.float_attr("beta", 0.5)
    x, y = uniform_of(op.operands[0].type), uniform_of(op.results[0].type)
    with np.errstate(over="ignore"):
        scale = numerics.bias_scale(x.scale, alpha)
    if not (np.isfinite(scale) and scale >= np.finfo(np.float32).tiny and np.isfinite(beta)):
        return Blocked("scale-value", "the slope times the operand's scale is not positive, or is subnormal")
    nodes = Nodes()
    plain = nodes.append(StorageCastOp(op.operands[0], with_element(op.operands[0].type, storage_element(x))))
    steep = nodes.append(StorageCastOp(plain, with_element(plain.type, x.replace(scales=scale))))
    one, zero = (1, 0) if beta >= 0 else (0, 1)
    level = UniformType.per_tensor(Storage.of(x.storage.name), abs(beta) or 1.0, zero)
    shift = nodes.constant(np.array(one if beta else zero, x.storage.dtype), type=tensor_type(level, ()))
    line = nodes.add("Add", [steep, shift], op.results[0].type)
    low, high = y.quantize(np.array([0, 1], np.float32)).tolist()
    if low > y.storage.low and high == y.storage.high:  # as such a clamp is read
        nodes.add("Relu", [line], op.results[0].type)
    elif (low, high) != (y.storage.low, y.storage.high):
        clamp = unblocked(clip_between(low, high, op, line, y))
        nodes.ops.extend(clamp.ops)
    return nodes.ops


def _mean_axes(op: OnnxOp, rank: int) -> list[int]:
    listed = op.ints_attr("axes") or constant_ints(op.input(1)) or ()
    return sorted(normal_axis(axis, rank) for axis in listed)


def _over_other_axes(op: OnnxOp) -> Blocked | None:
    shape = shape_of(op.operands[0].type)
    if shape is None:
        return UNKNOWN_RANK
    rank = len(shape)
    over_pixels = [*range(1, rank - 1)], [*range(2, rank)]
    if rank >= MIN_IMAGE_RANK and _mean_axes(op, rank) in over_pixels:
        return None
    return Blocked("window-form", "the mean is not over all pixels of each channel")


def _hard_swish(op: OnnxOp) -> Sequence[Operation] | Blocked:
    """
    x * HardSigmoid(x), with 255 steps for the factor. Of all values that x stores, none moves by more than a step.
    """
    x, y = uniform_of(op.operands[0].type), uniform_of(op.results[0].type)
    level = UniformType.per_tensor(x.storage, HARD_SIGMOID_SCALE, x.storage.low)
    stored = np.arange(x.storage.low, x.storage.high + 1).astype(x.storage.dtype)
    values = x.dequantize(stored).astype(np.float64)
    factor = np.clip(values / 6 + 0.5, 0, 1)
    rounded = level.dequantize(level.quantize(factor.astype(np.float32)))
    exact, close = (y.quantize((values * f).astype(np.float32)).astype(np.int64) for f in (factor, rounded))
    if np.abs(exact - close).max() > 1:
        return Blocked("inexact-arithmetic", "a factor of 255 steps moves a result by more than one step")
    nodes = Nodes()
    gate = with_element(op.operands[0].type, level)
    line = nodes.add(
        "HardSigmoid",
        [op.operands[0]],
        gate,
        {"alpha": FloatAttr(1 / 6, Float32Type()), "beta": FloatAttr(0.5, Float32Type())},
    )
    nodes.add("Mul", [op.operands[0], line], op.results[0].type)
    return nodes.ops


def _mean(op: OnnxOp) -> Sequence[Operation] | Blocked:
    """A mean over all pixels, channels first or last, as GlobalAveragePool."""
    shape = required(shape_of(op.operands[0].type), UNKNOWN_RANK)
    if (blocked := _over_other_axes(op)) is not None:
        return blocked
    rank = len(shape)
    is_last = _mean_axes(op, rank) == list(range(1, rank - 1))
    element, nodes = known_element(op.results[0].type), Nodes()
    channels = shape[-1] if is_last else shape[1]
    x = nodes.transpose(op.operands[0], [0, rank - 1, *range(1, rank - 1)]) if is_last else op.operands[0]
    mean = nodes.add("GlobalAveragePool", [x], tensor_type(element, (shape[0], channels, *[1] * (rank - 2))))
    if not op.int_attr("keepdims", 1):
        nodes.reshape(mean, [0, -1], op.results[0].type)
    elif is_last:
        nodes.transpose(mean, [0, *range(2, rank), 1])
    return nodes.ops


def _ones(op: OnnxOp, channels: int) -> tuple[npt.NDArray[np.int8], np.float32] | Blocked:
    """An average pool whose windows all have as many pixels: a weight of ones, scaled."""
    if op.int_attr("ceil_mode", 0) or op.str_attr("auto_pad", "NOTSET") not in ("NOTSET", "VALID"):
        return Blocked(
            "window-form", "a window may extend beyond the operand, where the mean is over fewer pixels"
        )
    if any(op.ints_attr("pads") or ()) and not op.int_attr("count_include_pad", 0):
        return Blocked("window-form", "at the border the mean is over fewer pixels")
    kernel = op.ints_attr("kernel_shape") or ()  # the verifier asks for one
    return np.ones((channels, 1, *kernel), np.int8), np.float32(1 / prod(kernel))


CONVOLUTIONS: dict[tuple[str, str], AsConvolution] = {
    ("", "AveragePool"): AsConvolution(_ones, ("kernel_shape", "strides", "dilations", "pads", "auto_pad")),
}
REWRITTEN: dict[tuple[str, str], KernelOfAnother] = {
    ("", "Sub"): KernelOfAnother(
        "QLinearAdd", _difference, lambda op: () if constant(op.operands[1]) is not None else ("Sub",)
    ),
    ("", "ReduceMean"): KernelOfAnother("QLinearGlobalAveragePool", _mean, guard=_over_other_axes),
    ("", "HardSigmoid"): KernelOfAnother("QLinearAdd", _clamped_line, constants=1),
    ("", "HardSwish"): KernelOfAnother("QLinearMul", _hard_swish, constants=1, also=("QLinearAdd",)),
}
