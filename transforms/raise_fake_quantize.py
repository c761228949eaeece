"""
Raise operators that quantize and dequantize in one to casts: QONNX's Quant, OpenVINO's FakeQuantize.

    Quant(x, s, z, bits)      ->  dcast(qcast(x))     stored in as many bits
    BipolarQuant(w, s)        ->  dcast(q)            q of -1 and 1, w a constant
    FakeQuantize(x, l, h, l, h) {levels = n}  ->  dcast(qcast(x))     scale (h - l) / (n - 1)

Exact without a zero point; else the operator adds the zero point before it rounds, so a tie, or a value within
float32's precision of one, may round differently, by one step. onnxruntime does not have these operators, so their
specification is the reference.
"""

from collections.abc import Sequence
from dataclasses import dataclass

from xdsl.ir import Operation, OpResult

from qdialect.dialects.onnx_base import OnnxOp
from qdialect.dialects.quant import DequantizeOp, QuantizeOp, UniformType
from qdialect.exactness import Exactness
from qdialect.ir.build import constant_op
from qdialect.ir.names import tensor_name
from qdialect.ir.values import constant_array, is_float32
from qdialect.numerics import folding
from qdialect.promises.fake_quantize import MOST_BITS, FakeQuantizes, uniform_type
from qdialect.reasons import INEXACT_ARITHMETIC, Blocked, unblocked
from qdialect.rewriting.driver import Pattern, Rewriter
from qdialect.rewriting.matching import OnTrait
from qdialect.rewriting.passes import RewritePass

COMPUTED_SIGNS = Blocked(
    "computed-signs",
    "the values are -scale or scale, computed at run time, and no quantize gives only these two",
    "use two bits",
)
WIDE = Blocked("wide-activation", f"only constants are quantized to {MOST_BITS} bits", "use 16 bits or fewer")


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
        rewriter.replace(op, unblocked(_signs(op, type) if stated.sign else _casts(op, type)))
        return None


def _casts(op: OnnxOp, type: UniformType) -> Sequence[Operation] | Blocked:
    x = op.operands[0]
    if type.storage.width == MOST_BITS and constant_array(x) is None:
        return WIDE
    quantize = QuantizeOp(x, type)
    return [quantize, DequantizeOp(quantize.results[0])]


def _signs(op: OnnxOp, type: UniformType) -> Sequence[Operation] | Blocked:
    """A constant of -1 and 1: zero counts as positive."""
    x = op.operands[0]
    array = constant_array(x)
    if array is None or not isinstance(x, OpResult):
        return COMPUTED_SIGNS
    constant = constant_op(folding.signs(array), tensor_name(x.op), type)
    return [constant, DequantizeOp(constant.results[0])]


@dataclass(frozen=True)
class RaiseFakeQuantizePass(RewritePass):
    name = "raise-fake-quantize"
    exactness = Exactness.CLOSE
    rewrite = "Quant(x, s, z, bits) -> dcast(qcast(x)): one step at near-ties, exact without a zero point"

    exact: bool = False
    """True to raise bit-identical cases only: those without a zero point."""

    def patterns(self) -> Sequence[Pattern]:
        return [RaiseFakeQuantize(self.exact)]
