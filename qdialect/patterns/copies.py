"""Patterns that drop ops which return their operand unchanged, and clamps that a requantize implies."""

from __future__ import annotations

import numpy as np
from xdsl.dialects.builtin import Float32Type
from xdsl.ir import BlockArgument, OpResult, SSAValue

from qdialect.dialects.onnx_base import ANNOTATION, OnnxOp, promise_of
from qdialect.dialects.onnx_types import quantized_of
from qdialect.dialects.quant import DequantizeOp, QuantizeOp
from qdialect.onnx_io.shapes import fits, fitted
from qdialect.promises.clamping import Clamp
from qdialect.promises.copies import Copies
from qdialect.reasons import Blocked, unblocked
from qdialect.rewriting.driver import Rewriter
from qdialect.rewriting.matching import OnOp, OnTrait


class FoldCopy(OnTrait[Copies]):
    """copy(x) -> x."""

    def match(self, op: OnnxOp, copies: Copies, rewriter: Rewriter, /) -> Blocked | None:
        place = copies.place(op)
        if place is None:
            return None
        unblocked(copies.blocked(op))
        source = op.operands[place]
        if any(other.first_use is not None for other in op.results[1:]):
            return Blocked("training-mode", "another result of the op is used", "use only the first result")
        if not fits(source, op):
            return Blocked("invalid-op", "the copy is declared with another type or shape")
        move_annotation(op, source)
        rewriter.replace(op, [], [fitted(source, op, rewriter), *op.results[1:]])
        return None


def move_annotation(op: OnnxOp, source: SSAValue) -> None:
    said = op.attributes.get(f"{ANNOTATION}0")
    if said is None:
        return
    if isinstance(source, OpResult):
        source.op.attributes.setdefault(f"{ANNOTATION}{source.index}", said)
    elif isinstance(source, BlockArgument) and (graph := source.block.parent_op()) is not None:
        graph.attributes.setdefault(f"{ANNOTATION}{source.index}", said)


class FoldSaturatedClamp(OnOp[QuantizeOp]):
    """A quantize of clamped integers to a type that saturates at the same bound as the clamp."""

    def match(self, op: QuantizeOp, rewriter: Rewriter, /) -> None:
        real, after = op.operands[0].owner, op.element_type
        clamp = (
            real.operands[0].owner
            if isinstance(real, DequantizeOp) and op.operands[0].has_one_use()
            else None
        )
        promise = promise_of(clamp, Clamp)
        if promise is None or not isinstance(clamp, OnnxOp) or not clamp.results[0].has_one_use():
            return
        kept, type = clamp.operands[0], quantized_of(clamp.operands[0].type)
        if type is None or not isinstance(type.expressed, Float32Type) or not fits(kept, clamp):
            return
        stored = promise.stored(clamp, type)
        if stored is None or not (type.is_per_tensor and after.is_per_tensor):
            return
        ends = np.array([type.storage.low, *(bound.item() for bound in stored), type.storage.high])
        least, low, high, greatest = after.quantize(type.dequantize(ends))
        if least == low and greatest == high:  # quantizing is monotone: all values in between give the same
            whole = DequantizeOp(fitted(kept, clamp, rewriter))
            rewriter.replace(op, [whole, QuantizeOp(whole.results[0], after)])


def fold_saturated(clamped: SSAValue, rewriter: Rewriter) -> None:
    """Apply `FoldSaturatedClamp` to the requantizes of `clamped`, which a pass writes that lowers the clamp next."""
    casts = [use.operation for use in clamped.uses if isinstance(use.operation, DequantizeOp)]
    for quantize in [use.operation for cast in casts for use in cast.results[0].uses]:
        if isinstance(quantize, QuantizeOp):
            FoldSaturatedClamp().match(quantize, rewriter)
