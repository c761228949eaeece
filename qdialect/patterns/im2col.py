"""A convolution as a matrix product: the pixels under its window side by side, as channels of one."""

from __future__ import annotations

from math import prod

import numpy as np
from xdsl.ir import Operation, SSAValue

from qdialect.dialects.onnx_attributes import int_attr
from qdialect.dialects.onnx_base import ConstantOp, OnnxOp
from qdialect.dialects.onnx_tensor import from_array
from qdialect.dialects.onnx_types import DYNAMIC, element_of, shape_of, tensor_type
from qdialect.ir.names import location, node_name
from qdialect.ir.values import rank_of
from qdialect.ops.generated import op_named
from qdialect.targets.pricing import Convolution

SOME_SIZE = 14
"""Pixels along an axis of an image whose size is not known."""
SOME_IMAGES = 4
"""A batch whose size is not known: few, but a file that leaves it open means more than one at times."""
FARTHEST = 1 << 12
"""The widest stride, dilation or pad of a window that is looked at."""
SLICES = 11
"""The first opset in which Slice and Pad take bytes and their bounds as operands."""
TO_THE_END = 2**63 - 1


def window(op: OnnxOp, name: str, rank: int, default: int = 1) -> tuple[int, ...]:
    """`strides`, `dilations` or `pads` of a window, in full; VALID pads nothing, whatever `pads` says."""
    count = (rank - 2) * (2 if name == "pads" else 1)
    ignored = name == "pads" and op.str_attr("auto_pad", "NOTSET") != "NOTSET"
    return (None if ignored else op.ints_attr(name)) or (default,) * count


def is_regular(op: OnnxOp) -> bool:
    """Whether a window's attributes are of its weight's rank and in range: a model may say anything."""
    weight = shape_of(op.operands[1].type)
    if weight is None or len(weight) < 3:
        return False
    spatial = len(weight) - 2
    least = {"strides": 1, "dilations": 1, "pads": 0, "output_padding": 0}
    for name, low in least.items():
        given = op.ints_attr(name)
        count = 2 * spatial if name == "pads" else spatial
        if given is not None and (len(given) != count or not all(low <= v <= FARTHEST for v in given)):
            return False
    return op.ints_attr("kernel_shape") in (None, weight[2:]) and min(weight[2:]) > 0


def is_pointwise(op: OnnxOp) -> bool:
    """Whether a convolution makes each output pixel from one input pixel, and from each one."""
    weight, rank = shape_of(op.operands[1].type), rank_of(op.operands[1])
    if weight is None or rank is None or prod(weight[2:]) != 1:
        return False
    return prod(window(op, "strides", rank)) == 1 and not any(window(op, "pads", rank, 0))


def shape_of_conv(op: OnnxOp, weight: tuple[int, ...], *, symmetric: bool) -> Convolution:
    """What decides on the cost of a convolution; sizes that are not known are assumed."""
    outputs, inputs, *kernel = weight
    groups = max(op.int_attr("group", 1), 1)
    made = shape_of(op.results[0].type) or (DYNAMIC,) * len(weight)
    pixels = prod(SOME_SIZE if size == DYNAMIC else size for size in made[2:])
    strides = window(op, "strides", len(weight))
    images = SOME_IMAGES if made[0] == DYNAMIC else made[0]
    return Convolution(inputs, outputs // groups, tuple(kernel), strides, pixels, symmetric, images, groups)


class _Builder:
    """Nodes on one tensor of stored integers, channels last."""

    def __init__(self, op: OnnxOp, value: SSAValue, made: list[Operation]):
        self._op, self._made, self.value = op, made, value
        shape, element = shape_of(value.type), element_of(value.type)
        assert shape is not None
        assert element is not None
        self.shape, self._element = shape, element
        self._constants: dict[int, SSAValue] = {}

    def ints(self, *values: int) -> SSAValue:
        """A constant list."""
        made = ConstantOp.of(from_array(np.array(values, np.int64)))
        made.location = location("", [f"{node_name(self._op)}_window"])
        self._made.append(made)
        return made.results[0]

    def one(self, value: int) -> SSAValue:
        """A constant list of one integer, written once."""
        if value not in self._constants:
            self._constants[value] = self.ints(value)
        return self._constants[value]

    def add(
        self,
        name: str,
        inputs: list[SSAValue],
        shape: tuple[int, ...],
        attributes: dict[str, int] | None = None,
    ) -> SSAValue:
        """One node."""
        given = {k: int_attr(v) for k, v in (attributes or {}).items()}
        new = op_named("", name).build([*inputs], [tensor_type(self._element, shape)], given)
        new.location = location(f"{node_name(self._op)}_columns")
        self._made.append(new)
        return new.results[0]


def columns(
    op: OnnxOp, last: SSAValue, zero_point: SSAValue | None, made: list[Operation], axes: int | None = None
) -> SSAValue:
    """
    The operand (N, sizes, C) of a convolution as (N, result sizes, kernel * C), by nodes that are added to `made`.

    One axis after the other, of all or of the first `axes`: a slice for each kernel element, side by side. Kernel
    elements count in row-major order, the channels of each together. Outside of the image stands the zero point of
    integers, real zero if there is none.
    """
    rank = rank_of(op.operands[1])
    weight, result = shape_of(op.operands[1].type), shape_of(op.results[0].type)
    assert rank is not None
    assert weight is not None
    build = _Builder(op, last, made)
    pads, spatial = list(window(op, "pads", rank, 0)), rank - 2
    axes = spatial if axes is None else axes
    pads[axes:spatial], pads[spatial + axes :] = [[0] * (spatial - axes)] * 2
    if any(pads):
        sizes = [
            size if size == DYNAMIC else size + pads[k] + pads[k + spatial]
            for k, size in enumerate(build.shape[1:-1])
        ]
        build.shape = (build.shape[0], *sizes, build.shape[-1])
        wide = build.ints(0, *pads[:spatial], 0, 0, *pads[spatial:], 0)
        given = [build.value, wide] if zero_point is None else [build.value, wide, zero_point]
        build.value = build.add("Pad", given, build.shape)
    for k in reversed(range(axes)):
        size = DYNAMIC if result is None else result[2 + k]
        stride = window(op, "strides", rank)[k]
        _along(build, k + 1, size, weight[2 + k], stride, window(op, "dilations", rank)[k])
    return build.value


def _along(build: _Builder, axis: int, size: int, kernel: int, stride: int, dilation: int) -> None:
    """The elements of a kernel along one axis; each slice leaves at the end what the later ones start with."""
    if kernel == 1 and stride == 1:
        return
    shape = (*build.shape[:axis], size, *build.shape[axis + 1 :])
    parts: list[SSAValue] = []
    for at in range(kernel):
        end = (at - kernel + 1) * dilation or TO_THE_END
        bounds = [build.one(at * dilation), build.one(end), build.one(axis), build.one(stride)]
        parts.append(build.add("Slice", [build.value, *bounds], shape))
    build.shape, build.value = shape, parts[0]
    if kernel > 1:
        build.shape = (*shape[:-1], shape[-1] * kernel if shape[-1] != DYNAMIC else DYNAMIC)
        build.value = build.add("Concat", parts, build.shape, {"axis": len(shape) - 1})
