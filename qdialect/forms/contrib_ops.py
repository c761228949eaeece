"""Nodes of other domains or layouts as ONNX's own ops: NhwcMaxPool, MatMulNBits, and special cases of Sum and PRelu."""

from __future__ import annotations

from collections.abc import Callable, Mapping, Sequence
from dataclasses import dataclass

import numpy as np
from xdsl.dialects.builtin import Float32Type, FloatAttr
from xdsl.ir import Attribute, Operation

from qdialect.dialects.onnx_base import OnnxOp, onnx_opset
from qdialect.dialects.onnx_types import BY_NUMPY, DYNAMIC, element_of, known_element, shape_of, tensor_type
from qdialect.dialects.snapshot import MICROSOFT
from qdialect.forms.base import Form
from qdialect.forms.exact_equivalents import read_prelu
from qdialect.forms.nodes import Nodes
from qdialect.ir.names import wish
from qdialect.ir.values import constant_array
from qdialect.ops.generated import op_named
from qdialect.promises.casts import dequantized_constant
from qdialect.promises.weight_only import unpacked_weight
from qdialect.reasons import Blocked, unblocked

FIRST_WITH_BLOCKS = 21
"""The first opset whose DequantizeLinear has blocks and 4-bit integers."""
FIRST_INTEGER_POOL = 12
"""The first opset whose MaxPool takes integers."""
HALF_BYTE = 4
"""Bits of the smallest integers that have blocks."""
FLOAT_SUMS = (0, 1)
"""accuracy_level: the activations are not rounded. 0 leaves that to onnxruntime, which does round some."""
TRANSPOSE = op_named("", "Transpose")


@dataclass(frozen=True)
class StandsFor(Form):
    """The node can be written as ONNX's own ops, the last of which defines its result."""

    parts: Callable[[OnnxOp], Sequence[Operation] | Blocked | None]
    """
    The ops; None if the node has no such form. If the last one is a Transpose, a user that undoes it can take its
    operand.
    """
    written: bool
    """True if lowering to QOperator form, or a session, writes the node again from these ops."""
    fused: bool = False
    """True if a session of onnxruntime makes the node of several."""


def perm_of(op: Operation) -> tuple[int, ...] | None:
    """The permutation of a Transpose; None for other ops, and if `perm` is absent."""
    if not isinstance(op, TRANSPOSE):
        return None
    perm = op.ints_attr("perm")
    return None if perm is None else tuple(perm)


def _max_pool_parts(op: OnnxOp) -> Sequence[Operation] | Blocked:
    """NhwcMaxPool: MaxPool of rows, images or volumes, channels last."""
    if onnx_opset(op) < FIRST_INTEGER_POOL:
        return Blocked("opset", f"MaxPool takes integers from opset {FIRST_INTEGER_POOL} on")
    return channels_first(op, "MaxPool", len(op.ints_attr("kernel_shape") or ()), op.onnx_attributes)


def channels_first(
    op: OnnxOp, name: str, axes: int, attributes: Mapping[str, Attribute], *, domain: str = ""
) -> Sequence[Operation]:
    """The channels-first op `name` on images with `axes` axes, for an op on channels-last images."""
    to_first, to_last = (0, axes + 1, *range(1, axes + 1)), (0, *range(2, axes + 2), 1)
    source, nodes = op.operands[0].owner, Nodes()
    if isinstance(source, TRANSPOSE) and perm_of(source) == to_last and source.parent is op.parent:
        x = source.operands[0]
    else:
        x = nodes.transpose(op.operands[0], to_first)
    shape = shape_of(op.results[0].type) or (DYNAMIC,) * (axes + 2)
    type = tensor_type(known_element(op.results[0].type), tuple(shape[p] for p in to_first))
    result = nodes.add(name, [x, *op.inputs[1:]], type, attributes, domain=domain)
    nodes.transpose(result, to_last, op.results[0].type)
    return nodes.ops


def _product_parts(op: OnnxOp) -> Sequence[Operation] | Blocked:
    """MatMulNBits: MatMul with a weight dequantized block by block."""
    if onnx_opset(op) < FIRST_WITH_BLOCKS:
        return Blocked(
            "opset", f"a weight in blocks needs opset {FIRST_WITH_BLOCKS}", "raise the model's opset"
        )
    if op.int_attr("accuracy_level", 0) not in FLOAT_SUMS:
        return Blocked("no-form", "the node also rounds its activations, which no ONNX op does")
    if op.input(4) is not None:
        return Blocked("attribute", "the node reorders its groups")
    if element_of(op.operands[0].type) != Float32Type():
        return Blocked("expressed-type", "the activation is not f32")
    arrays = [constant_array(op.input(k)) for k in range(1, 4)]
    packed, scales, zeros = arrays
    if packed is None or scales is None or (zeros is None and op.input(3) is not None):
        return Blocked("run-time-scale", "weight, scale or zero point is computed at run time")
    sizes = (op.int_attr("K", 0), op.int_attr("N", 0), op.int_attr("bits", 4), op.int_attr("block_size", 0))
    weight = unblocked(unpacked_weight(packed, scales, zeros, *sizes))
    stored, *parameters = weight
    if zeros is None or sizes[2] < HALF_BYTE:  # 4 bits hold the differences of fewer
        points = np.repeat(weight.zero_points.astype(np.int16), sizes[3], axis=0)[: len(stored)]
        centred = stored.astype(np.int16) - points
        stored, parameters = centred.astype(BY_NUMPY[f"int{max(sizes[2], HALF_BYTE)}"].dtype), parameters[:1]
    nodes, result_type = Nodes(), op.results[0].type
    operands = [
        nodes.constant(np.ascontiguousarray(array), name=wish(source))
        for array, source in zip((stored, *parameters), op.inputs[1:], strict=False)
        if source is not None
    ]
    real_type = tensor_type(BY_NUMPY["float32"].attribute, stored.shape)
    real = nodes.add("DequantizeLinear", operands, real_type, {"axis": 0, "block_size": sizes[3]})
    product = nodes.add("MatMul", [op.operands[0], real], result_type)
    if (bias := op.input(5)) is not None:
        nodes.add("Add", [product, bias], result_type)
    return nodes.ops


def _sum_parts(op: OnnxOp) -> Sequence[Operation] | Blocked:
    """Sum of two operands as Add, which has promises."""
    if len(op.operands) != 2:
        return Blocked("product-form", f"an Add has two operands, this Sum {len(op.operands)}")
    nodes = Nodes()
    nodes.add("Add", list(op.operands), op.results[0].type)
    return nodes.ops


def _prelu_parts(op: OnnxOp) -> Sequence[Operation] | Blocked:
    """PRelu with one slope as LeakyRelu, which has an integer kernel and takes half the time in float."""
    slope, quantized = constant_array(op.operands[1]), dequantized_constant(op.operands[1])
    if quantized is not None:
        slope = quantized[1].dequantize(quantized[0].array())
    if slope is None or slope.size != 1 or slope.dtype != np.float32:
        return Blocked("slope", "a LeakyRelu has one constant slope, of float32")
    if not slope.any():
        return Blocked("slope", "with a slope of 0 it is a Relu, and treated as one")
    shape = shape_of(op.operands[0].type)
    if shape != shape_of(op.results[0].type) or (shape is not None and slope.ndim > len(shape)):
        return Blocked("invalid-op", "the slope makes the result larger")
    nodes = Nodes()
    alpha = FloatAttr(float(slope.reshape(())), Float32Type())
    nodes.add("LeakyRelu", [op.operands[0]], op.results[0].type, {"alpha": alpha})
    return nodes.ops


FOREIGN: dict[tuple[str, str], StandsFor] = {
    (MICROSOFT, "NhwcMaxPool"): StandsFor(_max_pool_parts, written=True),
    (MICROSOFT, "MatMulNBits"): StandsFor(_product_parts, written=False),
    ("", "Max"): StandsFor(read_prelu, written=True),
    ("", "Min"): StandsFor(read_prelu, written=True),
    ("", "PRelu"): StandsFor(_prelu_parts, written=True),
    ("", "Sum"): StandsFor(_sum_parts, written=True),
}
