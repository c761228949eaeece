"""
Drop activations that change no stored integer.

    Relu(q), Clip(q)  ->  q      if the bounds, as stored integers, are the ends of the storage range
    Clip(q, 0, c)     ->  Relu(q)   if the type expresses nothing beyond c; likewise PRelu with a slope of 0
    LeakyRelu(q) : T  ->  q      if the type expresses nothing below zero; likewise PRelu, Elu, Abs
    LeakyRelu(q) : U  ->  qcast(dcast(q)) : U    likewise to the same numbers as integers of the other signedness
    Max(q, c), Min(q, c)  ->  q   if the type expresses nothing beyond c; else Relu(q), Clip(q)
    HardSigmoid(q)    ->  q      if alpha is 1, beta 0, and the type expresses nothing outside [0, 1]
    Relu(HardSigmoid(q))  ->  HardSigmoid(q)   and other functions whose range is known
    qcast(dcast(Clip(q))) : U  ->  qcast(dcast(q)) : U   if both ends of what it clips are one integer of U
    Clip(Clip(q, a, b), c, d)  ->  the narrower of the two, if one range of stored integers is within the other

Exact: bounds are compared in integers, since (6/37)*37 is not 6 in float32; other functions are tested on every value.
"""

from collections.abc import Sequence

from xdsl.ir import Operation, SSAValue

from qdialect.dialects.onnx_base import OnnxOp, onnx_opset, promise_of
from qdialect.dialects.onnx_types import quantized_of, uniform_of
from qdialect.dialects.quant import DequantizeOp, QuantizeOp, UniformType
from qdialect.exactness import Exactness
from qdialect.forms.storage import StorageReading
from qdialect.onnx_io.shapes import fits, fitted
from qdialect.ops.generated import op_named
from qdialect.patterns.cleanup import cleanups
from qdialect.patterns.copies import FoldSaturatedClamp
from qdialect.promises.clamping import CLIP_WITH_INPUTS, Clamp, Keeps, Range, are_alike, is_within
from qdialect.promises.elementwise import KnownRange
from qdialect.promises.monotone import stored_bounds
from qdialect.reasons import Blocked, answer
from qdialect.rewriting.driver import Pattern, Rewriter
from qdialect.rewriting.matching import OnForm, OnOp
from qdialect.rewriting.passes import RewritePass, Role

WIDER = Blocked(
    "range-wider", "the storage range exceeds the range of the activation, so it stays as a clamp"
)


class FoldRedundantClamp(OnOp[OnnxOp]):
    """A clamp, or an activation that is the identity on a range, on one quantized type."""

    def accepts(self, op_class: type[Operation]) -> bool:
        return op_class.get_trait(Clamp) is not None or op_class.get_trait(Keeps) is not None

    def match(self, op: OnnxOp, rewriter: Rewriter, /) -> Blocked | None:
        clamp, keeps = op.get_trait(Clamp), op.get_trait(Keeps)
        place = 0 if keeps is None else keeps.place(op)
        if place is None:
            return None
        kept = op.operands[place]
        type = quantized_of(kept.type)
        if type is None:
            return None
        redundant = any(one is not None and one.is_redundant(op, type) for one in (clamp, keeps))
        redundant |= clamp is not None and _is_known_within(kept, clamp.stored(op, type), type)
        if not redundant and clamp is not None and (wider := _wider(op, clamp, type)) is not None:
            rewriter.replace(wider, [], [fitted(wider.operands[0], wider, rewriter)], is_same=wider is op)
            return None
        if not fits(kept, op):
            return _requantize(op, kept, rewriter) if redundant else None
        if not redundant and (clamp is None or (keeps is not None and clamp.bounds(op) is None)):
            return None  # no remark: the op is needed
        if not redundant and clamp is not None and clamp.is_at_zero(op, type):
            return _spell_relu(op, rewriter)
        if not redundant:
            return WIDER
        rewriter.replace(op, [], [fitted(kept, op, rewriter)])
        return None


def _is_known_within(value: SSAValue, bounds: Range | None, type: UniformType) -> bool:
    """True if the op that computes `value` from integers gives none outside the bounds, stored integers of its type."""
    op = value.owner
    known = promise_of(op, KnownRange)
    if not isinstance(op, OnnxOp) or known is None or bounds is None:
        return False
    if any(quantized_of(operand.type) is None for operand in op.operands):
        return False  # of a real operand, NaN has no place in the range
    return is_within(stored_bounds(known.bounds, type), bounds)


def _wider(op: OnnxOp, clamp: Clamp, type: UniformType) -> OnnxOp | None:
    """A clamp or the one in front of it, whichever the other makes redundant on one type; None if neither is."""
    front = op.operands[0].owner
    before = promise_of(front, Clamp)
    if not isinstance(front, OnnxOp) or before is None or quantized_of(front.operands[0].type) != type:
        return None
    if not all(fits(each.operands[0], each) for each in (front, op)):
        return None
    inner, outer = before.stored(front, type), clamp.stored(op, type)
    if inner is None or outer is None:
        return None
    if is_within(inner, outer):
        return op
    return front if is_within(outer, inner) and op.operands[0].has_one_use() else None


def _requantize(op: OnnxOp, kept: SSAValue, rewriter: Rewriter) -> None:
    """Replace an op that changes only the signedness of its operand's integers by a requantize."""
    before, after = uniform_of(kept.type), quantized_of(op.results[0].type)
    if after is not None and are_alike(before, after) and fits(kept, op, retyped=True):
        real = DequantizeOp(fitted(kept, op, rewriter))
        rewriter.replace(op, [real, QuantizeOp(real.results[0], after)])


def _spell_relu(op: OnnxOp, rewriter: Rewriter) -> Blocked | None:
    """Write a clamp at zero alone as Relu, for patterns on real numbers when the model is read again."""
    relu = op_named("", "Relu")
    if isinstance(op, relu):
        return WIDER
    rewriter.replace(op, [relu.build([op.operands[0]], op.result_types)])
    return None


class ReadBound(OnForm[StorageReading]):
    """A Max or Min of integers with a constant integer, as a clamp, which other passes recognize."""

    def match(self, op: OnnxOp, form: StorageReading, rewriter: Rewriter, /) -> None:
        keeps = op.get_trait(Keeps)
        place = None if keeps is None else keeps.place(op)
        if place is None or onnx_opset(op) < CLIP_WITH_INPUTS:
            return
        value, bound = op.operands[place], op.operands[1 - place]
        type = quantized_of(value.type)
        if type is None or quantized_of(bound.type) != type or value.type != op.results[0].type:
            return
        built = answer(form.build, op, value, type)
        if isinstance(built, Blocked):
            return  # an elementwise choice between two tensors
        rewriter.replace(op, built.ops)


class FoldActivationPass(RewritePass):
    name = "fold-activation"
    exactness = Exactness.EXACT
    role = Role.SIMPLIFYING
    reasons = "range-wider"
    rewrite = "Relu(q) -> q if the zero point is the least stored integer: the storage range is the clamp"

    def patterns(self) -> Sequence[Pattern]:
        return [FoldSaturatedClamp(), FoldRedundantClamp(), ReadBound(), *cleanups()]
