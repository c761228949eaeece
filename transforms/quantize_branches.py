"""
Quantize the float operand of an op that joins it with a quantized branch, so that the whole op can be int8.

    join(a, x), qcast(x) : T elsewhere  ->  join(a, dcast(qcast(x) : T))
    join(dcast(a), f(x)), f in [l, h]   ->  join(dcast(a), dcast(qcast(f(x)) : [l, h]))

Lossy: a quantizer that the model did not have. Its parameters are those that stand on the same tensor already, or cover
the known range of f.
"""

from collections.abc import Sequence
from dataclasses import dataclass
from typing import ClassVar

from xdsl.dialects.builtin import Float32Type
from xdsl.ir import Operation, OpResult, SSAValue

from qdialect import numerics
from qdialect.dialects.onnx_base import ConstantOp, OnnxOp
from qdialect.dialects.onnx_types import element_of
from qdialect.dialects.quant import DequantizeOp, QuantizeOp, Storage, UniformType
from qdialect.exactness import Exactness
from qdialect.promises.joins import Joins, KnownRange
from qdialect.reasons import Blocked
from qdialect.rewriting.driver import Pattern, Rewriter
from qdialect.rewriting.passes import RewritePass
from qdialect.targets import target


def _pair_on(value: SSAValue) -> UniformType | None:
    """The type that another user quantizes `value` to."""
    for use in value.uses:
        if isinstance(use.operation, QuantizeOp):
            return use.operation.element_type
    return None


def _covering(bounds: tuple[float, float], like: UniformType) -> UniformType:
    """A type of `like`'s storage for the range `bounds`; symmetric if signed."""
    storage = Storage.of(like.storage.name)
    scale, zero_point = numerics.range_parameters(*bounds, storage.low, storage.high)
    return UniformType.per_tensor(storage, scale, zero_point, like.expressed)


class QuantizeBranch(Pattern):
    """A float operand of an op that joins branches."""

    def accepts(self, op_class: type[Operation]) -> bool:
        return op_class.get_trait(Joins) is not None

    def rewrite(self, op: Operation, rewriter: Rewriter) -> Blocked | None:
        assert isinstance(op, OnnxOp)
        others = [o.owner for o in op.operands if isinstance(o.owner, DequantizeOp)]
        for k, value in enumerate(op.operands):
            if isinstance(value.owner, DequantizeOp | ConstantOp):
                continue
            if not isinstance(element_of(value.type), Float32Type):
                continue
            type = _pair_on(value)
            known = value.op.get_trait(KnownRange) if isinstance(value, OpResult) else None
            if type is None and known is not None and others and others[0].element_type.is_per_tensor:
                type = _covering(known.bounds, others[0].element_type)
            if type is None:
                continue
            cast = QuantizeOp(value, type)
            real = DequantizeOp(cast)
            rewriter.insert_before(op, [cast, real])
            rewriter.set_operand(op, k, real.results[0])
            return None
        return None


@dataclass(frozen=True)
class QuantizeBranchesPass(RewritePass):
    """Float branches that meet quantized ones are quantized, for targets that want it."""

    name = "quantize-branches"
    exactness: ClassVar[Exactness] = Exactness.LOSSY
    rewrite: ClassVar[str] = "join(a, x) -> join(a, dcast(qcast(x))): a quantizer that the model did not have"

    target: str = "tensorrt"

    def patterns(self) -> Sequence[Pattern]:
        return [QuantizeBranch()] if target(self.target).own_pairs else []
