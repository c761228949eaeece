"""
im2col: the elements under the window of a convolution, gathered as channels of one pixel; and convolutions with a float
result as matrix products, channels last.

    conv(x, w, b) : float  ->  transpose(MatMulIntegerToFloat(gathered(transpose(x)), w', b))
"""

from __future__ import annotations

import numpy as np
from xdsl.dialects.builtin import Float32Type
from xdsl.ir import Operation, SSAValue

from qdialect.dialects.onnx_attributes import int_attr
from qdialect.dialects.onnx_base import OnnxOp
from qdialect.dialects.onnx_types import DYNAMIC, known_shape, quantized_of, tensor_type, uniform_of
from qdialect.dialects.snapshot import MICROSOFT
from qdialect.forms.casts import Parameters, stored
from qdialect.ir.names import location, node_name, tensor_name, wish
from qdialect.ir.values import constant_array, known_array, rank_of, real_constant
from qdialect.kernel_selection.convolution.step import (
    BYTE_SLICES_OPSET,
    OLD_SLICES,
    TO_THE_END,
    ImageNodes,
    Spec,
)
from qdialect.ops.generated import op_named
from qdialect.promises.window import UNRESOLVED_PADS, Geometry
from qdialect.reasons import COMPUTED_BIAS, UNKNOWN_RANK, Blocked
from qdialect.targets import Target
from qdialect.targets.pricing import PRODUCT


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


def product_guard(op: OnnxOp, spec: Spec, target: Target) -> Blocked | None:
    """`Blocked` if `op`, whose weight is constant, cannot be written as a product."""
    bias, w = op.input(2), quantized_of(op.operands[1].type)
    if rank_of(op.operands[0]) is None or rank_of(op.results[0]) is None:
        return UNKNOWN_RANK
    if spec.geometry.pads is None:
        return UNRESOLVED_PADS
    if bias is not None and real_constant(bias) is None:
        return COMPUTED_BIAS
    if spec.opset < BYTE_SLICES_OPSET and not spec.geometry.is_pointwise:
        return OLD_SLICES
    if w is None or not target.has_kernel(PRODUCT, ["u8", w.storage.name], "f32"):
        return Blocked("no-kernel", f"{target.name} has no {PRODUCT} for this weight")
    return None


def product(op: OnnxOp, spec: Spec, parameters: Parameters) -> list[Operation]:
    """The operations, the last of which defines the result of `op`. `product_guard` must return None."""
    array, nodes, g = known_array(op.operands[1]), ImageNodes(op), spec.geometry
    x, w = uniform_of(op.operands[0].type), uniform_of(op.operands[1].type)
    integers, reads = stored(op.operands[0])
    nodes.ops += reads
    x_scale, x_zero = parameters.of(x, op, op.operands[0])
    by_column = w if w.is_per_tensor else w.replace(axis=1)
    w_scale, w_zero = parameters.of(by_column, op, op.operands[1])
    columns = gathered(nodes, nodes.channels_last(integers), g, x_zero)
    rows = array.transpose(*range(2, array.ndim), 1, 0).reshape(-1, array.shape[0])
    matrix = nodes.constant(np.ascontiguousarray(rows), name=f"{wish(op.operands[1]) or 'weight'}_matrix")
    inputs: list[SSAValue | None] = [columns, matrix, x_scale, w_scale, x_zero, w_zero]
    if (bias := op.input(2)) is not None:
        name = tensor_name(bias.owner) if isinstance(bias.owner, Operation) else ""
        inputs.append(nodes.constant(np.asarray(real_constant(bias), np.float32), name=name or "bias"))
    shape = (g.images, *g.results, g.outputs)
    node = op_named(MICROSOFT, PRODUCT).build(inputs, [tensor_type(Float32Type(), shape)])
    node.location = location(node_name(op))
    nodes.channels_first(nodes.append(node))
    nodes.ops[-1].location = op.location
    return nodes.ops
