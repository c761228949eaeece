"""
Fold requantizations of a join's operands into the producers of the operands.

    join(qcast(dcast(op(a) : S)) : T, b)  ->  join(clamp(op(a) : T), b)     S no coarser than T
    qcast(dcast(constant))                ->  constant                      exact

Close: one rounding less moves an integer by at most one step, as S has no wider steps than T; the clamp has the bounds
of S. Ops that only move elements pass the type on to the op that computes them.
"""

from math import prod

import numpy as np
from xdsl.ir import Operation, SSAValue

from qdialect.dialects.onnx_base import ConstantOp, OnnxOp
from qdialect.dialects.onnx_types import DYNAMIC, quantized_of, shape_of, uniform_of
from qdialect.dialects.quant import QuantizeOp, UniformType
from qdialect.exactness import Exactness
from qdialect.forms.storage import clip_between
from qdialect.ir.names import location, node_name, tensor_name
from qdialect.patterns.affine import SECOND_CONSUMER
from qdialect.patterns.concat_scales import requantized
from qdialect.patterns.fold_local_constants import RequantizeConstant
from qdialect.patterns.reading import retyped
from qdialect.promises.base import Commutes
from qdialect.promises.kernels import Kernels
from qdialect.reasons import OTHER_REGION, Blocked, answer, unblocked
from qdialect.rewriting.driver import Rewriter
from qdialect.rewriting.matching import OnTrait
from qdialect.rewriting.passes import RewritePass, Role

MAX_RECAST_ELEMENTS = 2**14
"""Number of elements up to which two casts take no longer than a few kernel calls (onnxruntime: measured)."""


class RequantizeAbove(OnTrait[Kernels]):
    """A join whose kernel takes operands of any scales."""

    def wants(self, promise: Kernels, /) -> bool:
        return promise.takes_any_scales

    def match(self, op: OnnxOp, promise: Kernels, rewriter: Rewriter, /) -> Blocked | None:
        type, reason = quantized_of(op.results[0].type), None
        for value in op.operands if type is not None else ():
            stored = requantized(value, quantized_of(value.type))
            if type is None or stored is None:
                continue
            built = answer(_quantized_above, stored, type)
            if not isinstance(built, Blocked):
                rewriter.replace(value.owner, built)  # pyright: ignore[reportArgumentType]
                return None
            reason = reason or built
        return reason


def _quantized_above(stored: SSAValue, type: UniformType) -> list[Operation] | Blocked:
    """New operations, the last of which defines `stored` as `type`, clamped to the bounds of its own type."""
    users = [use.operation for use in stored.uses]
    if not all(user.results and user.results[0].has_one_use() for user in users):  # a yield has none
        return SECOND_CONSUMER
    chain, other, shape = unblocked(_chain(stored)), uniform_of(stored.type), shape_of(stored.type)
    if shape is None or prod(size for size in shape if size != DYNAMIC) < MAX_RECAST_ELEMENTS:
        return Blocked(
            "does-not-pay", "the tensor is so small that removing the second quantize saves nothing"
        )
    if other.scale > type.scale:
        return Blocked(
            "other-parameters",
            "the last scale is smaller, so removing the first rounding would change elements by more than one step",
        )
    low, high = (
        int(i) for i in type.quantize(other.dequantize(np.array([other.storage.low, other.storage.high])))
    )
    ops = retyped(chain[::-1], type)
    if (low, high) == (type.storage.low, type.storage.high):
        return ops
    clamp = unblocked(clip_between(low, high, chain[0], ops[-1].results[0], type))
    ops[-1].location = location(node_name(chain[0]))
    name = node_name(chain[0]) or tensor_name(chain[0])
    clamp.ops[-1].location = location(f"{name}_range", [tensor_name(chain[0])])
    return [*ops, *clamp.ops]


def _chain(value: SSAValue) -> list[OnnxOp | QuantizeOp] | Blocked:
    """The chain of ops from the one that defines `value` up to the one that computes it, each with a single user."""
    chain: list[OnnxOp | QuantizeOp] = []
    while True:
        op = value.owner
        if isinstance(op, ConstantOp) or not isinstance(op, OnnxOp | QuantizeOp) or op.regions:
            return Blocked(
                "integers-used", "the integers are a graph input, a result of a subgraph, or a constant"
            )
        if chain and op.parent is not chain[0].parent:
            return OTHER_REGION
        if not value.has_one_use() or len(op.results) != 1:
            return SECOND_CONSUMER
        chain.append(op)
        promise = op.get_trait(Commutes)
        if promise is None or not isinstance(op, OnnxOp):
            return chain
        if len(promise.operands(op)) != 1 or not promise.moves(op):
            return Blocked(
                "other-parameters", "the value is joined from several operands, or is clamped in between"
            )
        value = promise.operand_values(op)[0]


class FoldRequantizePass(RewritePass):
    name = "fold-requantize"
    exactness = Exactness.CLOSE
    role = Role.SIMPLIFYING
    reasons = "does-not-pay integers-used other-parameters second-consumer sides-differ"
    rewrite = "join(qcast(dcast(op(a) : S)) : T, b) -> join(clamp(op(a) : T), b): one rounding less, one step at most"
    pattern_types = (RequantizeAbove, RequantizeConstant)
