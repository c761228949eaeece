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
from math import prod
from typing import ClassVar

from xdsl.ir import Block, Operation, OpResult, SSAValue

from qdialect.boundaries import HoistAcross
from qdialect.constants import static_shape
from qdialect.dialects.onnx_ops import ConstantOp, OnnxOp
from qdialect.dialects.onnx_types import quantized_of, with_element
from qdialect.dialects.quant import DequantizeOp, QuantizeOp, StorageCastOp, UniformType
from qdialect.names import location, node_name, tensor_names
from qdialect.passes import Exactness, RewritePass
from qdialect.promises.base import Blocked, Commutes, Promise
from qdialect.promises.clamping import Clamp
from qdialect.promises.control import Carries
from qdialect.promises.kernels import Kernels
from qdialect.promises.layout import SizesOnly
from qdialect.promises.linear import Transposed
from qdialect.promises.rewritten import KernelOfAnother
from qdialect.rewriting import KEEP_FLOAT, KEPT, Pattern, Rewriter

OTHER_REGION = Blocked("other-region", "the quantize stands in a subgraph, its operand outside")


def quantized_uses(value: SSAValue) -> UniformType | Blocked | None:
    """The one type that every user of `value` quantizes it to, or why there is none; None if nobody quantizes it."""
    types: set[UniformType] = set()
    others = 0
    for use in value.uses:
        if isinstance(use.operation, QuantizeOp):
            types.add(use.operation.element_type)
        elif use.operation.get_trait(SizesOnly) is None:
            others += 1
    if not types:
        return None
    if others:
        return Blocked(
            "second-consumer", "the float result has a second consumer", "quantize it for every consumer"
        )
    if len(types) > 1:
        return Blocked(
            "two-quantizers", "the result is quantized in two ways", "use one scale and zero point"
        )
    return types.pop()


def quantized_anyway(value: SSAValue) -> bool:
    """Whether a quantize of `value` runs whenever it is made: one beside it, or one in each branch of an If."""
    made = value.owner if isinstance(value.owner, Block) else value.owner.parent
    pending = [use.operation.parent for use in value.uses if isinstance(use.operation, QuantizeOp)]
    found: set[Block] = set()
    while pending:
        block = pending.pop()
        if block is made:
            return True
        around = None if block is None else block.parent_op()
        if block is None or around is None:
            continue
        found.add(block)
        promise = around.get_trait(Carries)
        if promise is not None and promise.branches and all(r.block in found for r in around.regions):
            pending.append(around.parent)
    return False


def _forward(op: OnnxOp, promise: Commutes, types: Sequence[UniformType]) -> Sequence[UniformType]:
    made = promise.forward(op, types)
    return () if isinstance(made, Blocked) else made


def read_sizes_of(old: SSAValue, new: SSAValue, rewriter: Rewriter) -> None:
    """Let what reads only the shape of `old` read that of `new`."""
    for use in list(old.uses):
        if use.operation.get_trait(SizesOnly) is not None:
            rewriter.set_operand(use.operation, use.index, new)


class HoistQuantize(Pattern):
    """Rebuild the op under a quantize on quantized operands."""

    def __init__(self, activations: bool = False, rewritten: bool = False):
        self._activations = activations
        self._kernels = (Kernels, Transposed, KernelOfAnother) if rewritten else (Kernels,)

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
        if KEEP_FLOAT in below.attributes:
            return KEPT
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
            blocked = more_work(below, promise, self._kernels) or _per_axis(below, promise, moved)
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
        if KEEP_FLOAT in below.attributes:
            return KEPT
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


def _elements(values: Sequence[SSAValue]) -> int | None:
    shapes = [static_shape(v) for v in values]
    return None if None in shapes else sum(prod(s) for s in shapes if s is not None)


def _makes_integers(value: SSAValue, kernels: Sequence[type[Promise]]) -> bool:
    """Whether a quantize of `value` would be part of what makes it: a cast undone, a constant, an integer kernel."""
    if not isinstance(value, OpResult):
        return False
    if isinstance(value.op, DequantizeOp | ConstantOp):
        return True
    if not isinstance(value.op, OnnxOp) or not value.has_one_use():
        return False
    promise = value.op.get_trait(Commutes)
    if promise is not None:
        return all(_makes_integers(v, kernels) for v in promise.operand_values(value.op))
    if not any(value.op.get_trait(promise) for promise in kernels):
        return False
    sources = [o.owner for o in value.op.operands]
    return all(isinstance(s, DequantizeOp | ConstantOp) for s in sources)


def more_work(op: OnnxOp, promise: Commutes, kernels: Sequence[type[Promise]] = (Kernels,)) -> Blocked | None:
    """
    Quantizing more elements than before pays only if an op above makes the integers itself.

    kernels: promises of ops that can.
    """
    if promise.keeps_order or (
        not promise.selects and promise.keeps_all(op)
    ):  # also where a size is not known
        return None
    operands = promise.operand_values(op)
    before, after = _elements(promise.result_values(op)), _elements(operands)
    if not promise.selects and before is not None and after is not None and after <= before:
        return None
    if all(_makes_integers(o, kernels) for o in operands):
        return None
    if promise.selects:
        return Blocked("made-in-float", "what the op selects from is made in float, so the op stays in float")
    return Blocked("more-work", "there are more elements to quantize above the op than below it")


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
