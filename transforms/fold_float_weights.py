"""
Give an op that stays in float its small quantized weights as float constants.

    linear(x, dcast(w)) : float, w constant, few elements  ->  linear(x, w'),  w' = dcast(w) as a constant

Exact: the constant is what the dequantize computes. onnxruntime packs and blocks constants when it loads a model: a
depthwise convolution runs three times faster than with weights that are dequantized in each run. The file grows by
three bytes a weight, so large ones stay integers. One in front of a quantize does too: onnxruntime would quantize the
float weight again, with one scale for the whole tensor. Under an activation of several scales every weight becomes
float: onnxruntime makes an integer product of the two dequantizes, which then refuses to run.
"""

from collections.abc import Sequence
from dataclasses import dataclass
from math import prod
from typing import ClassVar

import numpy as np
from xdsl.dialects.builtin import Float32Type
from xdsl.ir import Operation, SSAValue

from qdialect.dialects.onnx_base import ConstantOp, OnnxOp
from qdialect.dialects.onnx_tensor import from_array
from qdialect.dialects.onnx_types import element_of, quantized_of, with_element
from qdialect.dialects.quant import DequantizeOp, QuantizeOp, UniformType
from qdialect.exactness import Exactness
from qdialect.forms.casts import wish
from qdialect.ir.names import location, node_name
from qdialect.ir.values import is_constant, real_constant, static_shape
from qdialect.patterns.im2col import shape_of_conv
from qdialect.promises.base import Commutes
from qdialect.promises.linear import Linear
from qdialect.promises.padding import ZeroPads
from qdialect.reasons import Blocked
from qdialect.rewriting.driver import Pattern, Rewriter
from qdialect.rewriting.passes import RewritePass
from qdialect.targets import Target, target
from qdialect.targets.pricing import FEW_WEIGHTS, FLOAT, PACKED, cheapest


def _is_quantized_next(value: SSAValue) -> bool:
    """Whether a quantize takes the value, or what an op makes of it element by element."""
    for use in value.uses:
        user = use.operation
        promise = user.get_trait(Commutes)
        if isinstance(user, QuantizeOp) or (
            promise is not None and promise.in_place and any(map(_is_quantized_next, user.results))
        ):
            return True
    return False


def _is_refused(op: OnnxOp) -> bool:
    """Whether onnxruntime would make of a product and its casts a kernel that refuses several scales of x."""
    x = op.operands[0]
    type = quantized_of(x.owner.operands[0].type if isinstance(x.owner, DequantizeOp) else x.type)
    return type is not None and not type.is_per_tensor and op.get_trait(ZeroPads) is None


def _quantize_behind(op: OnnxOp, type: UniformType, rewriter: Rewriter) -> None:
    """Let `op`, which takes no quantized operand any more, make real numbers, and a cast its result."""
    real = op.__class__.create(
        operands=op.operands,
        result_types=[with_element(op.results[0].type, type.expressed)],
        properties=op.properties,
        attributes=op.attributes,
    )
    real.location = location(node_name(op))
    cast = QuantizeOp(real.results[0], type)
    cast.location = op.location
    rewriter.replace(op, [real, cast])


class FoldFloatWeight(Pattern):
    """A linear op with a float result and a constant quantized weight."""

    def __init__(self, target: Target, elements: int):
        self._target, self._elements = target, elements

    def accepts(self, op_class: type[Operation]) -> bool:
        return op_class.get_trait(Linear) is not None

    def rewrite(self, op: Operation, rewriter: Rewriter) -> Blocked | None:
        assert isinstance(op, OnnxOp)
        weight = op.operands[1]
        source = weight.owner.operands[0] if isinstance(weight.owner, DequantizeOp) else weight
        if quantized_of(source.type) is None or not is_constant(source):
            return None
        result, refused = quantized_of(op.results[0].type), _is_refused(op)
        expressed = element_of(op.results[0].type) if result is None else result.expressed
        if not isinstance(expressed, Float32Type) or (result is not None and not refused):
            return None
        shape = static_shape(source)
        if not refused:
            if shape is None or not self._pays(op, shape):
                return None
            if (blocked := self._guard(op, shape)) is not None:
                return blocked
        numbers = real_constant(source)
        assert numbers is not None
        made = ConstantOp.of(from_array(np.asarray(numbers, np.float32)))
        made.location = location("", [f"{wish(source) or 'weight'}_float"])
        rewriter.insert_before(op, [made])
        rewriter.set_operand(op, 1, made.results[0])
        for k, operand in enumerate(op.operands):
            if quantized_of(operand.type) is not None:  # an op on quantized types has no float weight
                cast = DequantizeOp(operand)
                rewriter.insert_before(op, [cast])
                rewriter.set_operand(op, k, cast.results[0])
        if result is not None:
            _quantize_behind(op, result, rewriter)
        return None

    def _guard(self, op: OnnxOp, shape: tuple[int, ...]) -> Blocked | None:
        """Why a weight of that shape stays as it is although it would pay."""
        if _is_quantized_next(op.results[0]):
            return Blocked(
                "quantized-next", "onnxruntime would quantize a float weight in front of a quantize"
            )
        if prod(shape) > self._elements:
            return Blocked(
                "large-weight",
                f"the file would grow by three bytes for each of more than {self._elements} weights",
                "compile with --float-weights",
            )
        return None

    def _pays(self, op: OnnxOp, weight: tuple[int, ...]) -> bool:
        """A convolution of one group is blocked by channels, which may cost more than it saves; all else gains."""
        costs = self._target.costs
        if op.get_trait(ZeroPads) is None or op.int_attr("group", 1) > 1 or PACKED not in costs:
            return True
        shape = shape_of_conv(op, weight, symmetric=False)
        return cheapest(costs, (FLOAT, PACKED), shape)[0] == PACKED


@dataclass(frozen=True)
class FoldFloatWeightsPass(RewritePass):
    """Small weights of ops that stay in float become float constants."""

    name = "fold-float-weights"
    exactness: ClassVar[Exactness] = Exactness.EXACT
    rewrite: ClassVar[str] = "linear(x, dcast(w)) : float -> linear(x, w'), w' = dcast(w) as a constant"

    target: str = "onnxruntime"
    elements: int = FEW_WEIGHTS
    """The most elements of a weight that is folded."""

    def patterns(self) -> Sequence[Pattern]:
        return [FoldFloatWeight(target(self.target), self.elements)]
