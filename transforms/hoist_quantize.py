"""
Move quantize above ops that move or select elements, towards the op that made them.

    qcast(f(x, ...))  ->  f(qcast(x), ...)
    qcast(If(yield a, yield b))  ->  If(yield qcast(a), yield qcast(b))     likewise what Loop and Scan stack
    scast(f(x, ...))  ->  f(scast(x), ...)      integers that come into the graph, read as a quantized type

Exact: f computes nothing, so rounding before it or after it is the same. Never more work: not where the operand has
more elements than the result and nothing above would take the cast, nor where the float result is needed besides.
A quantize in each branch of an If is one outside. An activation of what is made in float keeps its place in front of
the quantize, unless `activations`; one of what comes into the graph keeps it always, as nobody makes that, unless the
storage range is the same clamp.
"""

from collections.abc import Sequence
from dataclasses import dataclass
from typing import ClassVar

from xdsl.ir import Operation, OpResult

from qdialect.dialects.onnx_base import ConstantOp, OnnxOp
from qdialect.dialects.onnx_types import quantized_of, with_element
from qdialect.dialects.quant import QuantizeOp, StorageCastOp, UniformType
from qdialect.exactness import Exactness
from qdialect.forms.rewritten import KernelOfAnother
from qdialect.forms.table import form_of
from qdialect.ir.names import location, node_name, tensor_names
from qdialect.patterns.boundaries import HoistAcross
from qdialect.promises.base import Commutes
from qdialect.promises.clamping import Clamp
from qdialect.promises.linear import Transposed
from qdialect.reasons import Blocked
from qdialect.rewriting.driver import Pattern, Rewriter
from qdialect.rewriting.passes import RewritePass
from qdialect.rewriting.uses import (
    OTHER_REGION,
    has_kernel,
    more_work,
    quantized_anyway,
    quantized_uses,
    read_sizes_of,
)


def _forward(op: OnnxOp, promise: Commutes, types: Sequence[UniformType]) -> Sequence[UniformType]:
    made = promise.forward(op, types)
    return () if isinstance(made, Blocked) else made


def _is_rewritten(op: OnnxOp) -> bool:
    """Whether an integer kernel computes the op, its own or that of the ops it is written with."""
    return (
        has_kernel(op)
        or op.get_trait(Transposed) is not None
        or form_of(type(op), KernelOfAnother) is not None
    )


class HoistQuantize(Pattern):
    """Rebuild the op under a quantize on quantized operands."""

    def __init__(self, activations: bool = False, rewritten: bool = False):
        self._activations = activations
        self._is_integer = _is_rewritten if rewritten else has_kernel

    def accepts(self, op_class: type[Operation]) -> bool:
        return op_class is QuantizeOp

    def rewrite(self, op: Operation, rewriter: Rewriter) -> Blocked | None:
        source = op.operands[0]
        if not (isinstance(source, OpResult) and isinstance(source.op, OnnxOp)):
            return None
        below = source.op
        promise = below.get_trait(Commutes)
        if promise is None or source.index not in promise.results(below):
            return None
        if not quantized_anyway(source):
            return OTHER_REGION
        types: list[UniformType] = []
        for place in promise.results(below):
            type = quantized_uses(below.results[place])
            if type is None:
                return Blocked("second-consumer", "another result of the op is used in float")
            if isinstance(type, Blocked):
                return type
            types.append(type)
        if promise.points(below):
            return Blocked(
                "indices-used", "the op also says where elements come from, and rounded ones may be equal"
            )
        moved = promise.backward(below, types)
        if isinstance(moved, Blocked):
            return moved
        if len(moved) > 1 and list(_forward(below, promise, moved)) != types:
            return Blocked("other-type", "of operands quantized so the op makes another type")
        made = isinstance(below.operands[0], OpResult)
        if not (self._activations and promise.in_place if made else _is_redundant(below, moved)):
            blocked = more_work(below, promise, self._is_integer) or _per_axis(below, promise, moved)
            if blocked is not None:
                return blocked
        _rebuild(below, promise, types, moved, rewriter)
        return None


def _is_redundant(op: OnnxOp, types: Sequence[UniformType]) -> bool:
    """Whether the op clamps to no less than what its operand's type can store, once for all channels."""
    clamp = op.get_trait(Clamp)
    return clamp is not None and types[0].is_per_tensor and clamp.is_redundant(op, types[0])


class HoistStorage(Pattern):
    """Read the integers that an op moves as the type which all its users read its result as."""

    def accepts(self, op_class: type[Operation]) -> bool:
        return op_class is StorageCastOp

    def rewrite(self, op: Operation, rewriter: Rewriter) -> Blocked | None:
        source, type = op.operands[0], quantized_of(op.results[0].type)
        if type is None or not (isinstance(source, OpResult) and isinstance(source.op, OnnxOp)):
            return None
        below = source.op
        promise = below.get_trait(Commutes)
        if promise is None or not promise.moves_storage or below.parent is not op.parent:
            return None
        users = [use.operation for use in source.uses]
        if list(promise.results(below)) != [source.index] or not all(
            isinstance(u, StorageCastOp) for u in users
        ):
            return Blocked("second-consumer", "the integers have a second consumer")
        if len({u.results[0].type for u in users}) > 1:
            return Blocked("two-readings", "the integers are read as two types")
        moved = promise.backward(below, [type])
        if isinstance(moved, Blocked):
            return moved
        _rebuild(below, promise, [type], moved, rewriter, StorageCastOp)
        return None


def _per_axis(op: OnnxOp, promise: Commutes, types: Sequence[UniformType]) -> Blocked | None:
    """No integer kernel makes a result with several scales; onnxruntime tries to, and then refuses to run."""
    for place, type in zip(promise.operands(op), types, strict=True):
        source = op.operands[place].owner
        if not type.is_per_tensor and isinstance(source, OnnxOp) and not isinstance(source, ConstantOp):
            return Blocked(
                "per-axis", "the result has a scale for each channel, which no integer kernel makes"
            )
    return None


def _rebuild(
    op: OnnxOp,
    promise: Commutes,
    types: Sequence[UniformType],
    above: Sequence[UniformType],
    rewriter: Rewriter,
    cast_class: type[QuantizeOp | StorageCastOp] = QuantizeOp,
) -> None:
    casts = [
        StorageCastOp(v, with_element(v.type, type)) if cast_class is StorageCastOp else QuantizeOp(v, type)
        for v, type in zip(promise.operand_values(op), above, strict=True)
    ]
    new = promise.rebuilt(op, [cast.results[0] for cast in casts], types)
    users = [use.operation for value in promise.result_values(op) for use in value.uses]
    rewriter.insert_before(op, [*casts, new])
    for place in promise.results(op):
        read_sizes_of(op.results[place], new.results[place], rewriter)
        mine = [u for u in users if isinstance(u, cast_class) and u.operands[0] is op.results[place]]
        if len(promise.results(op)) == 1 and cast_class is QuantizeOp:
            new.location = location(node_name(op), tensor_names(mine[0]))
        else:
            new.location = op.location
        for cast in mine:
            rewriter.replace(cast, [], [new.results[place]])


@dataclass(frozen=True)
class HoistQuantizePass(RewritePass):
    """Quantizes move up past every op that allows it."""

    name = "hoist-quantize"
    exactness: ClassVar[Exactness] = Exactness.EXACT
    rewrite: ClassVar[str] = (
        "qcast(f(x)) -> f(qcast(x)) for f that moves or selects: rounding commutes with moving"
    )

    activations: bool = False
    """Whether to go above an activation of what an op makes in float too: QDQ has it back in front of the quantize."""
    rewritten: bool = False
    """Whether what another op's kernel computes, or a convolution in its place, makes integers: in QOperator form."""

    def patterns(self) -> Sequence[Pattern]:
        return [HoistQuantize(self.activations, self.rewritten), HoistStorage(), HoistAcross()]
