"""im2col: the elements under the window of a convolution, gathered as channels of one pixel."""

from __future__ import annotations

from xdsl.ir import SSAValue

from qdialect.dialects.onnx_attributes import int_attr
from qdialect.dialects.onnx_types import DYNAMIC, known_shape
from qdialect.ir.names import location, node_name
from qdialect.ir.values import constant_array
from qdialect.patterns.convolution.step import TO_THE_END, ImageNodes
from qdialect.promises.window import Geometry


def gathered(
    nodes: ImageNodes, x: SSAValue, geometry: Geometry, zero_point: SSAValue | None, axes: int | None = None
) -> SSAValue:
    """
    The operand (N, sizes, C) of a convolution as (N, result sizes, kernel * C).

    One axis after the other, of all or of the first `axes`: a slice for each kernel element, side by side. Kernel
    elements count in row-major order, the channels of each together. Outside of the image stands the zero point of
    integers, or real zero if there is none. The pads must be known.
    """
    axes = geometry.axes if axes is None else axes
    assert geometry.pads is not None
    pads = [*geometry.pads[:axes], *[(0, 0)] * (geometry.axes - axes)]
    if any(map(any, pads)):
        array = constant_array(zero_point)
        value = zero_point if array is None else nodes.constant(array)
        constant = nodes.ops[-1:]
        x = nodes.padded(x, pads, value)
        if array is not None and (name := node_name(nodes.ops[-1])):
            # A constant of its own, under the name that it gets when the written model is read.
            constant[0].location = location(f"{name}_Constant")
    for axis in reversed(range(axes)):
        x = _along(nodes, x, geometry, axis)
    return x


def _along(nodes: ImageNodes, x: SSAValue, geometry: Geometry, axis: int) -> SSAValue:
    """The elements of a kernel gathered along one axis, as strided slices."""
    kernel, stride, dilation = geometry.kernel[axis], geometry.strides[axis], geometry.dilations[axis]
    if kernel == 1 and stride == 1:
        return x
    shape = list(known_shape(x.type))
    shape[axis + 1] = geometry.results[axis]
    parts: list[SSAValue] = []
    for at in range(kernel):
        end = (at - kernel + 1) * dilation or TO_THE_END
        bounds = [nodes.ints([value], "window") for value in (at * dilation, end, axis + 1, stride)]
        parts.append(nodes.add("Slice", [x, *bounds], shape))
    if kernel == 1:
        return parts[0]
    shape[-1] *= 1 if shape[-1] == DYNAMIC else kernel
    return nodes.add("Concat", parts, shape, {"axis": int_attr(len(shape) - 1)})
