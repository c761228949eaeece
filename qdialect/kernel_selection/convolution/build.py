"""Builder of a convolution in another form, from the steps of a plan."""

from __future__ import annotations

from collections.abc import Sequence
from typing import Any

import numpy as np
import numpy.typing as npt
from xdsl.ir import SSAValue

from qdialect.dialects.onnx_base import OnnxOp
from qdialect.dialects.onnx_types import known_element, quantized_of, tensor_type, uniform_of
from qdialect.dialects.quant import UniformType
from qdialect.ir.build import constant_op
from qdialect.ir.names import location, node_name, wish
from qdialect.ir.values import known_array
from qdialect.kernel_selection.convolution.step import ConvolutionStep, ImageNodes
from qdialect.ops.generated import op_named
from qdialect.promises.window import window_attributes


def written(op: OnnxOp, gathering: str, steps: Sequence[ConvolutionStep], nodes: ImageNodes) -> OnnxOp:
    """
    The steps' operations in `nodes`, in order, the last with the location of `op`; the convolution among them.

    The weight must be constant, and so must a bias that any step repeats. `gathering`: the op that it becomes.
    """
    copies, geometry = 1, steps[-1].after.geometry
    x = op.operands[0]
    for step in steps:
        x, copies = step.operand(nodes, x), copies * step.copies
    inputs: list[SSAValue | None] = [x, _weight(op, steps, nodes)]
    if (bias := op.input(2)) is not None:
        inputs.append(bias if copies == 1 else _repeated(bias, copies, nodes))
    element = known_element(op.results[0].type)
    shape = (geometry.images, geometry.outputs * geometry.groups, *geometry.results)
    attributes = window_attributes(op, geometry)
    conv = op_named("", gathering).build(inputs, [tensor_type(element, shape)], attributes)
    conv.location = location(node_name(op))
    y = nodes.append(conv)
    for step in reversed(steps):
        y = step.result(nodes, y)
    nodes.ops[-1].location = op.location
    return conv


def _weight(op: OnnxOp, steps: Sequence[ConvolutionStep], nodes: ImageNodes) -> SSAValue:
    old, type, array = op.operands[1], uniform_of(op.operands[1].type), known_array(op.operands[1])
    zeros = np.asarray(type.zero_points).astype(array.dtype).reshape(-1)
    first = steps[0].after.geometry
    zeros = np.tile(zeros, first.outputs * first.groups // steps[0].copies // zeros.size)
    for step in steps:
        array, zeros = step.weight(array, zeros), np.tile(zeros, step.copies)
    name = f"{wish(old) or 'weight'}_{steps[0].__class__.__name__.lower()}"
    return _constant(np.ascontiguousarray(array), type, name, nodes)


def _repeated(bias: SSAValue, copies: int, nodes: ImageNodes) -> SSAValue:
    name = f"{wish(bias) or 'bias'}_repeated"
    return _constant(np.tile(known_array(bias), copies), quantized_of(bias.type), name, nodes)


def _constant(array: npt.NDArray[Any], type: UniformType | None, name: str, nodes: ImageNodes) -> SSAValue:
    """A constant `array` of `type`, whose scales and zero points, if several, are repeated along axis 0."""
    if type is not None and type.axis is not None:
        times = array.shape[0] // type.scales.size
        scales, zeros = np.tile(type.scales, times), np.tile(type.zero_points, times)
        type = type.replace(scales=scales, zero_points=zeros, axis=0)
    return nodes.append(constant_op(array, name, type))
