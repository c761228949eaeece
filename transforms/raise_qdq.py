"""
Raise QuantizeLinear and DequantizeLinear to casts, so that scale and zero point are in types.

    QuantizeLinear(x, s, z)    ->  scast(qcast(x))     other users take the stored integers
    DequantizeLinear(q, s, z)  ->  dcast(scast(q))
    DequantizeLinear(w, -s, z) ->  DequantizeLinear(2 z - w, s, z)      w constant
    DequantizeLinear(w, 0, z)  ->  DequantizeLinear(z, s, z)            w constant, s that of another channel
    DequantizeLinear(q, 0, z)  ->  Expand(0, Shape(q))
    DequantizeLinear(QuantizeLinear(x, -s, z), -s, z)  ->  the same with s, at zero point low + high - z
    QuantizeLinear(Clip(x, least, most), s, z)  ->  scast(qcast(x))     of 16 bits, for a target that needs such a clamp
    Cast(dcast(q)) : f16       ->  dcast(q) : f16                       likewise bf16, if asked for
    qcast(Cast(x : f16))       ->  scast(scast(qcast(x)))               likewise

A quantization annotation without a QuantizeLinear has no effect in any runtime. It is kept and reported.

Exact: the casts are defined as what the two operators compute. Constant integers of negative scale are negated about
their zero point or, if that would leave the storage range, together with the zero point about the middle of the
range; a number of scale 0 is 0, whatever is stored. If block scales fit only another axis than the node states, that
axis is used: no runtime runs the node as written. A clamp to the bounds of the type is dropped, since a cast saturates
there; `lower-to-qdq` writes it again for the target, before the cast. A cast of half precision computes in f32, with a
scale that half precision may not represent; for such a scale `lower-to-qdq` writes a cast of f32 and a Cast. From
opset 23 on, QuantizeLinear divides in half precision by default. For 8 bits the difference is at most a step: such a
node is raised, except at `--exactness exact` (`keep-half`).
"""

from collections.abc import Sequence
from dataclasses import dataclass

from xdsl.context import Context
from xdsl.dialects.builtin import ModuleOp
from xdsl.dialects.func import FuncOp
from xdsl.ir import Attribute, Operation, SSAValue

from qdialect.dialects.onnx_attributes import int_attr
from qdialect.dialects.onnx_base import ANNOTATION, ConstantOp, OnnxOp
from qdialect.dialects.onnx_types import (
    DYNAMIC,
    element_of,
    shape_of,
    storage_element,
    with_element,
)
from qdialect.dialects.quant import BYTE_BITS, DequantizeOp, Expressed, QuantizeOp, StorageCastOp, UniformType
from qdialect.exactness import Exactness
from qdialect.forms.casts import clamped_real, under_clamp
from qdialect.ir.insertion import discard
from qdialect.ir.values import constant, normal_axis
from qdialect.patterns.half_precision_casts import QuantizeInHalf, ReadInHalf
from qdialect.patterns.odd_scales import PositiveScales, TurnedPair, ZeroOfAnyIntegers
from qdialect.patterns.reading import as_type, learn_shape
from qdialect.promises.casts import (
    DequantizeForm,
    QuantizeForm,
    dequantize_type,
    quantize_type,
)
from qdialect.reasons import Blocked, unblocked
from qdialect.rewriting.driver import Pattern, Rewriter
from qdialect.rewriting.matching import OnTrait
from qdialect.rewriting.passes import RewritePass, Role
from qdialect.rewriting.remarks import remarks_of

ANNOTATED = Blocked(
    "annotation-only",
    "an annotation states scale and zero point, but no node quantizes the tensor, so it is float",
    "insert QuantizeLinear and DequantizeLinear",
)


class RaiseQuantize(OnTrait[QuantizeForm]):
    """QuantizeLinear."""

    def __init__(self, clamped: bool):
        self._clamped = clamped

    def match(self, op: OnnxOp, promise: QuantizeForm, rewriter: Rewriter, /) -> None:
        type = unblocked(quantize_type(op))
        real = learn_shape(op.operands[0], op, rewriter)
        cast = QuantizeOp(_below_clamp(real, type, op) if self._clamped else real, type)
        cast.location = op.location
        stored = StorageCastOp(cast.results[0], with_element(cast.results[0].type, storage_element(type)))
        rewriter.replace(op, [cast, stored])


def _below_clamp(value: SSAValue, type: UniformType, op: OnnxOp) -> SSAValue:
    """The operand of a clamp to the bounds of a type of more than 8 bits, for `op` alone; `value` if it is none."""
    if type.storage.width <= BYTE_BITS or not value.has_one_use():
        return value
    clamp = clamped_real(value, type, op, always=True)
    real = under_clamp(value, clamp)
    discard(clamp)
    return value if real is None else real


class RaiseDequantize(OnTrait[DequantizeForm]):
    """DequantizeLinear."""

    def match(self, op: OnnxOp, promise: DequantizeForm, rewriter: Rewriter, /) -> Blocked | None:
        type = unblocked(dequantize_type(op))
        q = op.operands[0]
        stored: Attribute = storage_element(type)
        if element_of(q.type) != stored:
            return Blocked("storage-type", f"the operand's type is not known to be {stored}")
        q = learn_shape(q, op, rewriter)
        reads, source = as_type(q, type, rewriter)
        rewriter.replace(op, [*reads, DequantizeOp(source)])
        return None


class FittingAxis(OnTrait[DequantizeForm]):
    """DequantizeLinear in blocks whose scales fit another axis, as NNCF writes transposed weights."""

    def match(self, op: OnnxOp, promise: DequantizeForm, rewriter: Rewriter, /) -> None:
        shape, scales, block = (
            shape_of(op.operands[0].type),
            constant(op.operands[1]),
            op.int_attr("block_size", 0),
        )
        if shape is None or scales is None or block < 1 or DYNAMIC in shape or op.SCHEMA is None:
            return
        count, rank = scales.type.get_shape(), len(shape)
        fitting = [k for k in range(rank) if count == (*shape[:k], -(-shape[k] // block), *shape[k + 1 :])]
        if len(fitting) != 1 or normal_axis(op.int_attr("axis", 1), rank) in fitting:
            return
        attributes = op.onnx_attributes | {"axis": int_attr(fitting[0])}
        new = op.build(op.inputs, op.result_types, attributes)
        rewriter.replace(op, [new])


@dataclass(frozen=True)
class RaiseQdqPass(RewritePass):
    name = "raise-qdq"
    exactness = Exactness.EXACT
    role = Role.RAISING
    reasons = (
        "annotation-only block-size empty-tensor expressed-type invalid-parameters run-time-scale "
        "scale-value storage-type unfolded-scale unknown-shape"
    )
    rewrite = "QuantizeLinear(x, s, z) -> qcast(x), DequantizeLinear(q, s, z) -> dcast(q): the same function"

    clamped: bool = False
    """True to absorb the clamp that the target needs in front of a 16-bit quantize."""
    half: bool = False
    """True to absorb Casts between half precision and casts of f32."""

    def patterns(self) -> Sequence[Pattern]:
        halves = [ReadInHalf(), QuantizeInHalf()] if self.half else []
        odd = [PositiveScales(), ZeroOfAnyIntegers(), TurnedPair()]
        return [FittingAxis(), *odd, RaiseQuantize(self.clamped), RaiseDequantize(), *halves]

    def apply(self, ctx: Context, op: ModuleOp) -> None:
        super().apply(ctx, op)
        for one in op.walk():
            for key in one.attributes:
                if key.startswith(ANNOTATION) and is_float_alone(one, int(key[len(ANNOTATION) :])):
                    remarks_of(op).add(self.name, one, ANNOTATED)


def is_float_alone(op: Operation, index: int) -> bool:
    """True if result `index`, or argument of a graph, is a float tensor that is neither quantized nor dequantized."""
    values = op.body.block.args if isinstance(op, FuncOp) else op.results
    if index >= len(values) or isinstance(op, DequantizeOp | ConstantOp):
        return False
    is_float = isinstance(element_of(values[index].type), Expressed)
    return is_float and not any(isinstance(use.operation, QuantizeOp) for use in values[index].uses)
