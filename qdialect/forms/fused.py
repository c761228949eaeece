"""
Nodes that onnxruntime's optimizer makes of several, as ONNX's own ops: a session that was saved is full of them.

Passes know those ops, and targets without ops of com.microsoft read them. A session of onnxruntime fuses them again.
"""

from __future__ import annotations

from collections.abc import Callable, Sequence
from math import sqrt

import numpy as np
from xdsl.dialects.builtin import DenseArrayBase, FloatAttr, f32, i32
from xdsl.ir import Attribute, Operation, SSAValue

from qdialect.dialects.onnx_attributes import float_attr, numbers
from qdialect.dialects.onnx_base import OnnxOp, onnx_opset
from qdialect.dialects.onnx_types import BY_NUMPY, element_of, tensor_type, with_element
from qdialect.dialects.snapshot import MICROSOFT
from qdialect.forms.contrib_ops import StandsFor, channels_first
from qdialect.forms.nodes import Nodes
from qdialect.ir.values import constant_array, rank_of
from qdialect.ops.generated import op_named
from qdialect.promises.clamping import CLIP_WITH_INPUTS, OLD_CLIP
from qdialect.reasons import UNKNOWN_RANK, Blocked, required

FIRST_LAYER_NORMALIZATION = 17
FIRST_GELU = 20
FLOAT32 = 1
"""ONNX's code of f32."""
SKIP_EPSILON = 1e-12
"""Of SkipLayerNormalization, if it states none."""
QUICK_ALPHA = 1.702
"""Of QuickGelu, if it states none."""
U8 = BY_NUMPY["uint8"].attribute
PARAMETERS = {
    "Relu": (), "Tanh": (), "Sigmoid": (), "LeakyRelu": ("alpha",), "HardSigmoid": ("alpha", "beta"),
}  # fmt: skip
"""Activations that a kernel applies to its sums, and the names of their parameters."""

Parts = Sequence[Operation] | Blocked


def _activated(x: SSAValue, name: str, parameters: Sequence[float], nodes: Nodes) -> Blocked | None:
    """Add the activation of `x` to `nodes`."""
    if name == "Clip" and len(parameters) == 2:
        bounds = [nodes.constant(number, np.float32) for number in parameters]
        nodes.add("Clip", [x, *bounds], x.type)
    elif name in PARAMETERS and len(parameters) == len(PARAMETERS[name]):
        pairs = zip(PARAMETERS[name], parameters, strict=True)
        nodes.add(name, [x], x.type, {key: float_attr(value) for key, value in pairs})
    else:
        return Blocked("recurrent-form", f"the node applies the unknown function '{name}' to its sums")
    return None


def _plain(op: OnnxOp) -> dict[str, Attribute]:
    """The op's attributes without those of its activation."""
    return {name: value for name, value in op.onnx_attributes.items() if not name.startswith("activation")}


def _convolution(op: OnnxOp) -> Parts:
    """FusedConv: Conv, an addition to its result, an activation."""
    if onnx_opset(op) < CLIP_WITH_INPUTS:
        return OLD_CLIP
    nodes, type = Nodes(), op.results[0].type
    x = nodes.add("Conv", [op.input(k) for k in range(3)], type, _plain(op))
    if (added := op.input(3)) is not None:
        x = nodes.add("Add", [x, added], type)
    stated = op.attribute("activation_params")
    parameters = numbers(stated) if isinstance(stated, DenseArrayBase) else ()
    blocked = _activated(x, op.str_attr("activation", ""), parameters, nodes)
    return nodes.ops if blocked is None else blocked


def _gemm(op: OnnxOp) -> Parts:
    """FusedGemm: Gemm and an activation."""
    nodes = Nodes()
    x = nodes.add("Gemm", [op.input(k) for k in range(3)], op.results[0].type, _plain(op))
    name = op.str_attr("activation", "")
    known = [op.attribute(f"activation_{key}") for key in PARAMETERS.get(name, ())]
    stated = [value.value.data for value in known if isinstance(value, FloatAttr)]
    blocked = _activated(x, name, stated, nodes)
    return nodes.ops if blocked is None else blocked


def _product(op: OnnxOp) -> Parts:
    """FusedMatMul: MatMul of operands whose last two axes may be exchanged, times a number."""
    if op.int_attr("transBatchA", 0) or op.int_attr("transBatchB", 0):
        return Blocked("product-form", "the node transposes an operand's batch axes")
    nodes, operands = Nodes(), list(op.operands)
    for place, name in enumerate(("transA", "transB")):
        if not op.int_attr(name, 0):
            continue
        rank = required(rank_of(operands[place]), UNKNOWN_RANK)
        if rank > 1:  # of a vector there is nothing to exchange
            operands[place] = nodes.transpose(operands[place], (*range(rank - 2), rank - 1, rank - 2))
    product = nodes.add("MatMul", operands, op.results[0].type)
    if (alpha := op.float_attr("alpha", 1.0)) != 1:
        nodes.add("Mul", [product, nodes.constant(alpha, np.float32)], product.type)
    return nodes.ops


def _rescaled_sums(
    op: OnnxOp, operands: Sequence[SSAValue | None], scales: tuple[SSAValue, SSAValue], nodes: Nodes
) -> Parts:
    """The product of integers, by both scales, with the bias that is the op's last operand."""
    is_dynamic = op.op_type == "DynamicQuantizeMatMul"
    name, first = ("DynamicQuantizeLinear", 11) if is_dynamic else ("MatMulInteger", 10)
    if onnx_opset(op) < first:
        return Blocked("opset", f"{name} needs opset {first}", "raise the model's opset")
    type = op.results[0].type
    sums = nodes.add("MatMulInteger", operands, with_element(type, i32))
    real = nodes.add("Cast", [sums], type, {"to": FLOAT32})
    factor = nodes.add("Mul", scales, scales[1].type)
    scaled = nodes.add("Mul", [real, factor], type)
    bias = op.input(4 if is_dynamic else 6)
    if bias is not None:
        nodes.add("Add", [scaled, bias], type)
    return nodes.ops


def _integer_product(op: OnnxOp) -> Parts | None:
    """MatMulIntegerToFloat of an activation that is quantized at run time: its scale is no constant."""
    if all(constant_array(op.input(place)) is not None for place in (2, 3)):
        return None  # an op on quantized types
    a, b, a_scale, b_scale = op.operands[:4]
    return _rescaled_sums(op, [a, b, op.input(4), op.input(5)], (a_scale, b_scale), Nodes())


def _dynamic_product(op: OnnxOp) -> Parts:
    """DynamicQuantizeMatMul: DynamicQuantizeLinear, and the product of integers."""
    nodes, (x, weight, scale) = Nodes(), op.operands[:3]
    types = [with_element(x.type, U8), tensor_type(f32, ()), tensor_type(U8, ())]
    nodes.append(op_named("", "DynamicQuantizeLinear").build([x], types))
    stored, x_scale, x_zero = nodes.ops[-1].results
    return _rescaled_sums(op, [stored, weight, x_zero, op.input(3)], (x_scale, scale), nodes)


def _images(op: OnnxOp) -> Parts:
    """QLinearConv of com.microsoft, whose channels may be last: ONNX's own, channels first."""
    attributes = {name: value for name, value in op.onnx_attributes.items() if name != "channels_last"}
    if not op.int_attr("channels_last", 0):
        nodes = Nodes()
        nodes.add("QLinearConv", list(op.inputs), op.results[0].type, attributes)
        return nodes.ops
    rank = required(rank_of(op.operands[3]), UNKNOWN_RANK)
    return channels_first(op, "QLinearConv", rank - 2, attributes)


def _pool(op: OnnxOp) -> Parts | None:
    """A pool of com.microsoft whose channels are last: the same, channels first."""
    attributes = {name: value for name, value in op.onnx_attributes.items() if name != "channels_last"}
    if not op.int_attr("channels_last", 0):
        return None
    rank = required(rank_of(op.operands[0]), UNKNOWN_RANK)
    return channels_first(op, op.op_type, rank - 2, attributes, domain=MICROSOFT)


def _quick_gelu(op: OnnxOp) -> Parts:
    """QuickGelu: x * sigmoid(alpha * x)."""
    nodes, (x,) = Nodes(), op.operands
    alpha = op.float_attr("alpha", QUICK_ALPHA)
    scaled = x if alpha == 1 else nodes.add("Mul", [x, nodes.constant(alpha, np.float32)], x.type)
    nodes.add("Mul", [x, nodes.add("Sigmoid", [scaled], x.type)], op.results[0].type)
    return nodes.ops


def _bias_gelu(op: OnnxOp) -> Parts:
    """BiasGelu: Gelu(x + b) as exporters write it: (x + b) * (erf((x + b) / sqrt(2)) + 1) / 2."""
    nodes, type = Nodes(), op.results[0].type
    x = nodes.add("Add", list(op.operands), type)
    if onnx_opset(op) >= FIRST_GELU:
        nodes.add("Gelu", [x], type)
        return nodes.ops
    root, one, half = (nodes.constant(number, np.float32) for number in (sqrt(2), 1, 0.5))
    curve = nodes.add("Erf", [nodes.add("Div", [x, root], type)], type)
    nodes.add("Mul", [nodes.add("Mul", [x, nodes.add("Add", [curve, one], type)], type), half], type)
    return nodes.ops


def _normalization(op: OnnxOp) -> Parts:
    """SkipLayerNormalization: LayerNormalization of a sum."""
    if onnx_opset(op) < FIRST_LAYER_NORMALIZATION:
        return Blocked(
            "opset", f"LayerNormalization needs opset {FIRST_LAYER_NORMALIZATION}", "raise the model's opset"
        )
    if len(op.results) > 1:
        return Blocked("second-consumer", "the node also returns its sum or its statistics")
    nodes, type = Nodes(), op.results[0].type
    total = nodes.add("Add", list(op.operands[:2]), type)
    if (bias := op.input(4)) is not None:
        total = nodes.add("Add", [total, bias], type)
    how = {"axis": -1, "epsilon": float_attr(op.float_attr("epsilon", SKIP_EPSILON))}
    nodes.add("LayerNormalization", [total, op.input(2), op.input(3)], type, how)
    return nodes.ops


def _in_float32(parts: Callable[[OnnxOp], Parts | None]) -> Callable[[OnnxOp], Parts | None]:
    """`parts`, of nodes with a result in float32 alone: the numbers that they add are of that type."""

    def guarded(op: OnnxOp) -> Parts | None:
        if element_of(op.results[0].type) != f32:
            return Blocked("expressed-type", "the result is not known to be f32", "infer-shapes")
        return parts(op)

    return guarded


FUSED: dict[tuple[str, str], StandsFor] = {
    (MICROSOFT, name): StandsFor(_in_float32(parts), written=written, fused=True)
    for name, parts, written in (
        ("FusedConv", _convolution, True),
        ("FusedGemm", _gemm, True),
        ("QuickGelu", _quick_gelu, True),
        ("FusedMatMul", _product, False),
        ("MatMulIntegerToFloat", _integer_product, False),
        ("DynamicQuantizeMatMul", _dynamic_product, False),
        ("BiasGelu", _bias_gelu, False),
        ("SkipLayerNormalization", _normalization, False),
    )
} | {
    (MICROSOFT, "QLinearConv"): StandsFor(_images, written=True, fused=True),
    (MICROSOFT, "QLinearAveragePool"): StandsFor(_pool, written=False, fused=True),
    (MICROSOFT, "QLinearGlobalAveragePool"): StandsFor(_pool, written=False, fused=True),
}
