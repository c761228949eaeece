"""
Patterns that move casts across the boundaries of If, Loop and Scan, for `sink-dequantize`, `hoist-quantize`,
`fold-casts` and `lower-to-qoperator`.
"""

from __future__ import annotations

import numpy as np
from xdsl.ir import Operation, OpResult, SSAValue

from qdialect.dialects.onnx_base import ConstantOp, OnnxOp, onnx_opset, promise_of
from qdialect.dialects.onnx_types import BY_ATTRIBUTE, element_of, quantized_of, storage_element, with_element
from qdialect.dialects.quant import DequantizeOp, QuantizeOp, StorageCastOp, UniformType
from qdialect.ir.insertion import first_of, next_of
from qdialect.ir.names import (
    QUANTIZED,
    location,
    node_name,
    result_names,
    tensor_name,
    tensor_names,
    value_name,
)
from qdialect.ir.values import constant_array, known_constant, under
from qdialect.patterns.constant_folding import quantized_constant
from qdialect.patterns.target_pattern import ForTarget
from qdialect.promises.control import Carries, Slot, argument, result, yields
from qdialect.reasons import OTHER_REGION, Blocked, unblocked
from qdialect.rewriting.driver import Rewriter
from qdialect.rewriting.matching import OnOp, OnTrait
from qdialect.rewriting.uses import quantized_anyway, quantized_uses, read_sizes_of

FLOAT_SIDE = Blocked(
    "sides-differ",
    "one side of the subgraph's boundary is float",
    "quantize the value with the same type on both sides",
)
STORED_SIDE = Blocked(
    "sides-differ",
    "on one side of the subgraph's boundary the value is integer without a known scale",
    "quantize the value with the same type on both sides",
)
SIDES_DIFFER = Blocked(
    "sides-differ", "the sides of a subgraph's boundary have different scales or zero points", "use one"
)


Cast = type[DequantizeOp | StorageCastOp]
"""A cast of a quantized value: to real numbers, or to its stored integers."""


def _cast_type(value: SSAValue, cast: Cast = DequantizeOp) -> UniformType | None:
    """The quantized type that `value` is cast from; None if it is not."""
    source = under(value, cast)
    return None if source is None else quantized_of(source.type)


def is_expressible(value: SSAValue, type: UniformType, cast: Cast = DequantizeOp) -> bool:
    """True if `value` is a constant all of whose elements `type`, per tensor, expresses exactly."""
    array = constant_array(value)
    if array is None or not type.is_per_tensor:
        return False
    if cast is StorageCastOp:
        return element_of(value.type) == storage_element(type) and type.storage.is_full_range
    if array.dtype != BY_ATTRIBUTE[type.expressed].dtype:
        return False
    return np.array_equal(type.dequantize(type.quantize(array), array.dtype), array)


def _integers(value: SSAValue, type: UniformType, before: Operation, rewriter: Rewriter) -> SSAValue:
    """The quantized value under a cast, or a constant as one, inserted before `before`."""
    if isinstance(value.owner, DequantizeOp | StorageCastOp):
        return value.owner.operands[0]
    stored, name = known_constant(value), value_name(value)
    if element_of(value.type) != storage_element(type):
        stored, name = quantized_constant(stored, type), name and f"{name}{QUANTIZED}"
    integers = ConstantOp.of(stored, with_element(value.type, type))
    if name:
        integers.location = location("", [name])
    rewriter.insert_before(before, [integers])
    return integers.results[0]


def _takers(op: OnnxOp, slot: Slot) -> list[tuple[Operation, int]]:
    """What takes the values that enter a slot, and in which place: the op itself, the ends of its subgraphs."""
    own = [] if slot.operand is None else [(op, slot.operand)]
    return [*own, *((end, place) for end, place, _ in yields(op, slot))]


def _cast_below(op: OnnxOp, place: int, type: UniformType, cast: Cast, rewriter: Rewriter) -> None:
    """Change a result to quantized `type` and cast it for its users; a dequantized value takes the tensor's name."""
    names = tensor_names(op)
    new = rewriter.retype(op.results[place], with_element(op.results[place].type, type))
    below = _read(new, type, cast, next_of(op), rewriter)
    if cast is StorageCastOp:
        return
    below.location = location("", [tensor_name(op, place)])
    if place < len(names):
        names[place] = ""
        op.location = location(node_name(op), names)


def _read(value: SSAValue, type: UniformType, cast: Cast, before: Operation, rewriter: Rewriter) -> Operation:
    """A cast of `value`, of quantized `type`, inserted for all its users."""
    plain = with_element(value.type, storage_element(type))
    reading = StorageCastOp(value, plain) if cast is StorageCastOp else DequantizeOp(value)
    rewriter.insert_before(before, [reading])
    rewriter.replace_uses(value, reading.results[0], reading)
    return reading


class SinkAcross(OnTrait[Carries]):
    """
    Casts, from one type, of values that cross the boundary of subgraphs, to reals or to stored integers.

        If: yield dcast(a) : T, yield dcast(b) : T   ->  yield a, yield b; dcast of the result
        If: yield scast(a : T), yield scast(b : T)   ->  yield a, yield b; scast of the result
        Loop: dcast(init) : T, yield dcast(next) : T ->  init, next; dcast of the argument and of the result
    """

    def match(self, op: OnnxOp, promise: Carries, rewriter: Rewriter, /) -> Blocked | None:
        reason: Blocked | None = None
        for slot in promise.slots(op):
            for cast in (DequantizeOp, StorageCastOp):
                before = rewriter.rewrites
                blocked = self._slot(op, slot, cast, rewriter)
                if rewriter.rewrites != before:
                    return None
                reason = reason or blocked
        return reason

    def _slot(self, op: OnnxOp, slot: Slot, cast: Cast, rewriter: Rewriter) -> Blocked | None:
        inside = argument(op, slot)
        sides = [value for _, _, value in yields(op, slot) if value is not inside]
        if slot.operand is not None:
            sides.append(op.operands[slot.operand])
        types = [t for side in sides if (t := _cast_type(side, cast)) is not None]
        outer = result(op, slot)
        if not types or (slot.operand is None and (outer is None or outer.first_use is None)):
            return None
        type = types[0]
        if any(t != type for t in types):
            return SIDES_DIFFER
        if not all(_cast_type(s, cast) is not None or is_expressible(s, type, cast) for s in sides):
            return FLOAT_SIDE if cast is DequantizeOp else STORED_SIDE
        moved = slot.inner(type)
        if isinstance(moved, Blocked):
            return moved
        self._build(op, slot, type, cast, rewriter)
        return None

    def _build(self, op: OnnxOp, slot: Slot, type: UniformType, cast: Cast, rewriter: Rewriter) -> None:
        if (inside := argument(op, slot)) is not None:
            new = rewriter.retype(inside, with_element(inside.type, type))
            _read(new, type, cast, first_of(op.regions[0].block), rewriter)
        for user, place in _takers(op, slot):
            rewriter.set_operand(user, place, _integers(user.operands[place], type, user, rewriter))
        if slot.result is not None:
            _cast_below(op, slot.result, type, cast, rewriter)


class HoistAcross(OnOp[QuantizeOp]):
    """qcast(If(...)) -> If(yield qcast(a), yield qcast(b)); likewise stacked results of Loop and Scan."""

    def match(self, op: QuantizeOp, rewriter: Rewriter, /) -> Blocked | None:
        source = op.operands[0]
        owner = source.owner
        promise = promise_of(owner, Carries)
        if promise is None or not isinstance(owner, OnnxOp) or not isinstance(source, OpResult):
            return None
        slot = next((s for s in promise.slots(owner) if s.result == source.index), None)
        if slot is None:
            return None
        if slot.operand is not None:
            return Blocked(
                "quantizer-between", "each iteration would start from the rounded result of the previous one"
            )
        if not quantized_anyway(source):
            return OTHER_REGION
        type = quantized_uses(source)
        if not isinstance(type, UniformType):
            return type
        moved = unblocked(slot.inner(type))
        for end, place, value in yields(owner, slot):
            cast = QuantizeOp(value, moved)
            rewriter.insert_before(end, [cast])
            rewriter.set_operand(end, place, cast.results[0])
        casts = [use.operation for use in source.uses if isinstance(use.operation, QuantizeOp)]
        new = rewriter.retype(source, with_element(source.type, type), is_same=False)
        read_sizes_of(source, new, rewriter)
        names = result_names(owner)
        names[slot.result or 0] = tensor_name(casts[0])
        owner.location = location(node_name(owner), names)
        for cast in casts:
            rewriter.replace(cast, [], [new])
        return None


class RequantizeBehind(OnTrait[Carries]):
    """
    Requantizations in every branch as one behind the If: the branches are of one type already.

        If: yield qcast(dcast(a : U)) : T, yield qcast(dcast(b : U)) : T -> yield a, yield b; qcast(dcast(...)) : T
    """

    def match(self, op: OnnxOp, promise: Carries, rewriter: Rewriter, /) -> None:
        for slot in promise.slots(op):
            if slot.operand is None and slot.result is not None:
                self._slot(op, slot, slot.result, rewriter)

    def _slot(self, op: OnnxOp, slot: Slot, place: int, rewriter: Rewriter) -> None:
        type, sides = quantized_of(op.results[place].type), yields(op, slot)
        owners = [value.owner for _, _, value in sides]
        # Narrower storage bounds are written as a clamp, which stays in place.
        casts = [c for c in owners if isinstance(c, QuantizeOp) and c.element_type.storage.is_full_range]
        casts = [c for c in casts if c.results[0].has_one_use()]  # otherwise there would be one more cast
        sources = [cast.operands[0] for cast in casts]
        types = {_cast_type(source) for source in sources}
        below = next(iter(types), None)
        if type is None or below is None or len(types) > 1 or len(casts) < len(sides):
            return
        if op.next_op is None or isinstance(slot.inner(below), Blocked):
            return
        for (end, k, _), source in zip(sides, sources, strict=True):
            rewriter.set_operand(end, k, _integers(source, below, end, rewriter))
        new = rewriter.retype(op.results[place], with_element(op.results[place].type, below), is_same=False)
        real = DequantizeOp(new)
        again = QuantizeOp(real.results[0], type)
        again.location = casts[0].location
        if name := tensor_name(op, place):  # that name belongs to the requantized tensor
            again.location = location(node_name(casts[0]), [name])
            names = [other if k != place else "" for k, other in enumerate(tensor_names(op))]
            op.location = location(node_name(op), names)
        rewriter.insert_before(op.next_op, [real, again])
        rewriter.replace_uses(new, again.results[0], real)


class StoreAcross(OnTrait[Carries], ForTarget):
    """Values of quantized types that cross the boundary of subgraphs, as stored integers."""

    def match(self, op: OnnxOp, promise: Carries, rewriter: Rewriter, /) -> Blocked | None:
        reason: Blocked | None = None
        for slot in promise.slots(op):
            blocked = self._runs(op, slot)
            if blocked is None:
                self._slot(op, slot, rewriter)
            reason = reason or blocked
        return reason

    def _runs(self, op: OnnxOp, slot: Slot) -> Blocked | None:
        """`Blocked` if the integers of a value cannot cross the boundary; None if they can."""
        sides = [argument(op, slot), result(op, slot), *(value for _, _, value in yields(op, slot))]
        sides += [] if slot.operand is None else [op.operands[slot.operand]]
        types = [type for v in sides if v is not None and (type := quantized_of(v.type)) is not None]
        for name in (type.storage.name for type in types):
            if not self._target.runs_on_storage(op.op_type, name, onnx_opset(op)):
                return Blocked(
                    "no-kernel", f"{self._target.name} has no {op.op_type} on {name} in this opset"
                )
        return None

    def _slot(self, op: OnnxOp, slot: Slot, rewriter: Rewriter) -> None:
        def read(value: SSAValue, before: Operation | None) -> None:
            type = quantized_of(value.type)
            if type is None or before is None:
                return
            new = rewriter.retype(value, with_element(value.type, storage_element(type)))
            cast = StorageCastOp(new, value.type)
            rewriter.insert_before(before, [cast])
            rewriter.replace_uses(new, cast.results[0], cast)

        if (inside := argument(op, slot)) is not None:
            read(inside, op.regions[0].block.first_op)
        for user, place in _takers(op, slot):
            value = user.operands[place]
            if (type := quantized_of(value.type)) is not None:
                cast = StorageCastOp(value, with_element(value.type, storage_element(type)))
                rewriter.insert_before(user, [cast])
                rewriter.set_operand(user, place, cast.results[0])
        if slot.result is not None:
            read(op.results[slot.result], op.next_op)


def real_across(op: OnnxOp, rewriter: Rewriter) -> None:
    """
    Give an op with subgraphs real operands, arguments and results, with a quantize behind each argument and result.

    Yielded values are left to the caller.
    """
    promise = op.get_trait(Carries)
    for slot in promise.slots(op) if promise is not None else ():
        if (inside := argument(op, slot)) is not None:
            _quantize_behind(inside, first_of(op.regions[0].block), rewriter)
        if slot.operand is not None and quantized_of(op.operands[slot.operand].type) is not None:
            cast = DequantizeOp(op.operands[slot.operand])
            rewriter.insert_before(op, [cast])
            rewriter.set_operand(op, slot.operand, cast.results[0])
        if slot.result is not None:
            _quantize_behind(op.results[slot.result], op.next_op, rewriter)


def yields_only(end: Operation, place: int) -> bool:
    """True if value `place` of a terminator is only yielded; a loop-carried one needs a dequantize on all sides."""
    op = end.parent_op()
    promise = None if op is None else op.get_trait(Carries)
    if promise is None or not isinstance(op, OnnxOp):
        return False
    slot = next((s for s in promise.slots(op) if s.yielded == place), None)
    return slot is not None and slot.operand is None and slot.result is not None


def _quantize_behind(value: SSAValue, before: Operation | None, rewriter: Rewriter) -> None:
    type = quantized_of(value.type)
    if type is None or before is None:
        return
    new = rewriter.retype(value, with_element(value.type, type.expressed))
    uses, cast = list(new.uses), QuantizeOp(new, type)
    if isinstance(new, OpResult):  # that name belongs to the quantized tensor
        names = result_names(new.op)
        cast.location = location(f"{names[new.index]}_QuantizeLinear", [names[new.index]])
        names[new.index] = ""
        new.op.location = location(node_name(new.op), names)
    rewriter.insert_before(before, [cast])
    for use in uses:
        rewriter.set_operand(use.operation, use.index, cast.results[0])
