"""
Raise operators of training tools that quantize and dequantize in one to casts.

They are QONNX's Quant, BipolarQuant and Trunc, FINN's MultiThreshold, Deeploy's RequantShift, OpenVINO's FakeQuantize,
and the quantizers of Sony's Model Compression Toolkit.

    Quant(x, s, z, bits)      ->  dcast(qcast(x))     stored in as many bits
    Quant(x, s, z, bits) {rounding_mode = "FLOOR"}     ->  dcast(qcast(x - s / 2))
    Quant(w, s, z, bits) {rounding_mode = "FLOOR"}     ->  dcast(q)        w a constant
    BipolarQuant(w, s)        ->  dcast(q)            q of -1 and 1, w a constant
    FakeQuantize(x, l, h, l, h) {levels = n}  ->  dcast(qcast(x))     scale (h - l) / (n - 1)
    MultiThreshold(x, t) {out_scale = s}      ->  dcast(scast(qcast(x * m + a)))     m, a from equally spaced t
    RequantShift(x, mul, add) {div = d}       ->  dcast(qcast(x * (mul / d) + a))
    ActivationSymmetricQuantizer(x) {threshold = t, num_bits = n}     ->  dcast(qcast(x))     scale t / 2^(n - 1)

Thresholds and shifts are exact if the quantize rises at each threshold, and not at the operand's largest number below
it, which is checked for each: a threshold may be a tie, which a cast rounds to even. An operand that holds integers, of
sums of integers, is below a threshold by one. Float constants that are integers become the weights of such products.

A Quant that rounds down or up is exact for a constant. Else x is moved by a little less than half a step, so that
multiples of s keep their integers; a number within float32's precision below one takes it too. To zero, and away from
it, are down and up for numbers without a sign, and no move for others.

Others are exact without a zero point; else the operator adds the zero point before it rounds, so a tie, or a value
within float32's precision of one, may round differently, by one step. onnxruntime does not have these operators, so
their specification is the reference.
"""

from collections.abc import Sequence
from dataclasses import dataclass

import numpy as np
from xdsl.ir import Operation, OpResult

from qdialect.dialects.onnx_base import ConstantOp, OnnxOp
from qdialect.dialects.onnx_types import with_element
from qdialect.dialects.quant import DequantizeOp, QuantizeOp, UniformType
from qdialect.exactness import Exactness
from qdialect.forms.nodes import Nodes
from qdialect.ir.build import constant_op, read_as
from qdialect.ir.names import called, location, tensor_name
from qdialect.ir.values import constant_array, is_float32
from qdialect.numerics import Array, folding
from qdialect.patterns.integral_weights import read_integral_weights
from qdialect.promises.fake_quantize import (
    COMPUTED_SIGNS,
    MAX_BITS,
    FakeQuantization,
    FakeQuantizes,
    uniform_type,
)
from qdialect.reasons import INEXACT_ARITHMETIC, Blocked, unblocked
from qdialect.rewriting.driver import Pattern, Rewriter
from qdialect.rewriting.matching import OnTrait
from qdialect.rewriting.passes import RewritePass, Role

WIDE = Blocked("no-kernel", f"only constants are quantized to {MAX_BITS} bits", "use 16 bits or fewer")


@dataclass(frozen=True)
class RaiseFakeQuantize(OnTrait[FakeQuantizes]):
    """An operator that quantizes and dequantizes."""

    exact: bool

    def match(self, op: OnnxOp, promise: FakeQuantizes, rewriter: Rewriter, /) -> Blocked | None:
        x, stated = op.operands[0], unblocked(promise.parameters(op))
        if not is_float32(x):
            return Blocked("expressed-type", f"{x.type} is not a float32 tensor")
        if self.exact and not stated.exact:
            return INEXACT_ARITHMETIC
        type = unblocked(uniform_type(stated.storage, stated.scale, stated.zero_point, x))
        if stated.stored is not None:
            ops = [one := _constant(op, stated.stored, type), DequantizeOp(one.results[0])]
        else:
            ops = unblocked(_signs(op, type) if stated.sign else _casts(op, type, stated))
        rewriter.replace(op, ops)
        if stated.integers:
            read_integral_weights(x, ops[-1].results[0], rewriter)
        return None


def _casts(op: OnnxOp, type: UniformType, stated: FakeQuantization) -> Sequence[Operation] | Blocked:
    x, nodes = op.operands[0], Nodes()
    if type.storage.width == MAX_BITS and constant_array(x) is None:
        return WIDE
    if stated.factor is not None and (stated.factor != 1).any():
        x = nodes.add("Mul", [x, nodes.constant(stated.factor)], x.type)
    if stated.shift is not None and stated.shift.any():
        x = nodes.add("Add", [x, nodes.constant(stated.shift)], x.type)
    for part in nodes.ops:
        if not isinstance(part, ConstantOp):
            part.location = location(called(op))
    quantized = nodes.append(QuantizeOp(x, type))
    if stated.result is not None and (stated.result != stated.scale).any():
        result = UniformType.per_tensor(type.storage, np.float32(stated.result.item()))
        for cast in read_as(quantized, with_element(quantized.type, result)):
            quantized = nodes.append(cast)
    nodes.append(DequantizeOp(quantized))
    return nodes.ops


def _signs(op: OnnxOp, type: UniformType) -> Sequence[Operation] | Blocked:
    """A constant of -1 and 1: zero counts as positive."""
    x = op.operands[0]
    array = constant_array(x)
    if array is None or not isinstance(x, OpResult):
        return COMPUTED_SIGNS
    constant = _constant(op, folding.signs(array), type)
    return [constant, DequantizeOp(constant.results[0])]


def _constant(op: OnnxOp, integers: Array, type: UniformType) -> ConstantOp:
    """The stored integers of an op's constant operand."""
    x = op.operands[0]
    name = tensor_name(x.op) if isinstance(x, OpResult) else ""
    return constant_op(integers.astype(type.storage.dtype), name, type)


@dataclass(frozen=True)
class RaiseFakeQuantizePass(RewritePass):
    name = "raise-fake-quantize"
    exactness = Exactness.CLOSE
    role = Role.RAISING
    reasons = (
        "expressed-type inexact-arithmetic invalid-op invalid-parameters no-kernel run-time-scale "
        "scale-value storage-type unknown-shape unlike-a-cast weight-axis"
    )
    rewrite = "Quant(x, s, z, bits) -> dcast(qcast(x)): one step at near-ties, exact without a zero point"

    exact: bool = False
    """True to raise bit-identical cases only: those without a zero point."""

    def patterns(self) -> Sequence[Pattern]:
        return [RaiseFakeQuantize(self.exact)]
