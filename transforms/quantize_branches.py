"""
Quantize the float operand of an op that joins it with a quantized branch, so that the op can run on integers.

    join(a, x), qcast(x) : T elsewhere  ->  join(a, dcast(qcast(x) : T))
    join(dcast(a), f(x)), f in [l, h]   ->  join(dcast(a), dcast(qcast(f(x)) : [l, h]))

Lossy: a quantizer that the model did not have. Its parameters are those of an existing quantize of the tensor whose
range has both signs, or the sign of all elements (one that clamps at 0 may replace a Relu), or cover the known range
of f.
"""

from collections.abc import Sequence
from dataclasses import dataclass

import numpy as np
from xdsl.ir import OpResult, SSAValue

from qdialect import numerics
from qdialect.dialects.onnx_base import ConstantOp, OnnxOp
from qdialect.dialects.quant import DequantizeOp, QuantizeOp, Storage, UniformType
from qdialect.exactness import Exactness
from qdialect.ir.values import is_float32
from qdialect.promises.elementwise import Joins, KnownRange
from qdialect.promises.ranges import ALL, Interval, range_of
from qdialect.reasons import Blocked
from qdialect.rewriting.driver import Pattern, Rewriter
from qdialect.rewriting.matching import OnTrait
from qdialect.rewriting.passes import RewritePass
from qdialect.targets import target

ONE_SIDED = Blocked(
    "float-operand", "the quantize of another consumer clamps at 0, this one may need negative values"
)


def _pair_on(value: SSAValue) -> UniformType | None:
    """The type that another user quantizes `value` to."""
    for use in value.uses:
        if isinstance(use.operation, QuantizeOp):
            return use.operation.element_type
    return None


def is_one_sided(type: UniformType, within: Interval = ALL) -> bool:
    """True if a type expresses no number below 0, or none above, in some channel, and an interval has such."""
    low, high = within
    no_negative = np.any(type.zero_points <= type.storage.low)
    no_positive = np.any(type.zero_points >= type.storage.high)
    return bool((no_negative and low < 0) or (no_positive and high > 0))


def _covering(bounds: tuple[float, float], like: UniformType) -> UniformType:
    """A type of `like`'s storage for the range `bounds`; symmetric if signed."""
    storage = Storage.of(like.storage.name)
    scale, zero_point = numerics.range_parameters(*bounds, storage.low, storage.high)
    return UniformType.per_tensor(storage, scale, zero_point, like.expressed)


class QuantizeBranch(OnTrait[Joins]):
    """A float operand of an op that joins branches."""

    def match(self, op: OnnxOp, promise: Joins, rewriter: Rewriter, /) -> Blocked | None:
        blocked = None
        others = [o.owner for o in op.operands if isinstance(o.owner, DequantizeOp)]
        for k, value in enumerate(op.operands):
            if isinstance(value.owner, DequantizeOp | ConstantOp):
                continue
            if not is_float32(value):
                continue
            type = _pair_on(value)
            known = value.op.get_trait(KnownRange) if isinstance(value, OpResult) else None
            if type is not None and known is None and is_one_sided(type, range_of(value)):
                blocked = ONE_SIDED
                continue
            if type is None and known is not None and others and others[0].element_type.is_per_tensor:
                type = _covering(known.bounds, others[0].element_type)
            if type is None:
                continue
            cast = QuantizeOp(value, type)
            real = DequantizeOp(cast)
            rewriter.insert_before(op, [cast, real])
            rewriter.set_operand(op, k, real.results[0])
            return None
        return blocked


@dataclass(frozen=True)
class QuantizeBranchesPass(RewritePass):
    name = "quantize-branches"
    exactness = Exactness.LOSSY
    reasons = "float-operand"
    rewrite = "join(a, x) -> join(a, dcast(qcast(x))): a quantizer that the model did not have"

    target: str = "tensorrt"

    def patterns(self) -> Sequence[Pattern]:
        return [QuantizeBranch()] if target(self.target).own_pairs else []
