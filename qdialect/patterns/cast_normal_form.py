"""
Placement of casts: the normal form that `sink-dequantize` and `hoist-quantize` reach and `lower-to-qdq` writes.

A quantize stands above an op that only moves or selects elements unless `Hoisting.above` returns a reason; a
dequantize always stands below one. Reading and writing use the same function, so that a round trip is stable.
"""

from __future__ import annotations

from collections.abc import Callable, Mapping, Sequence
from dataclasses import dataclass
from typing import NamedTuple

from xdsl.ir import OpResult, SSAValue

from qdialect.dialects.onnx_base import ConstantOp, OnnxOp
from qdialect.dialects.onnx_types import quantized_of
from qdialect.dialects.quant import BYTE_BITS, DequantizeOp, QuantizeOp, StorageCastOp, UniformType
from qdialect.ir.values import is_constant, under
from qdialect.patterns.casts import settles
from qdialect.promises.base import Commutes, sometimes
from qdialect.promises.clamping import Clamp
from qdialect.promises.control import Carries
from qdialect.promises.elementwise import Undefined
from qdialect.reasons import NO_ROUND_TRIP, Blocked
from qdialect.rewriting.uses import has_kernel, more_work
from qdialect.targets import Target

INDICES_USED = Blocked("equal-elements", "the op also returns indices, and rounded elements may be equal")
NOT_A_NUMBER = Blocked("not-a-number", "a NaN would be quantized to the least integer before the selection")
OTHER_RESULT_TYPE = Blocked("other-type", "the op returns another type for these operand types")
PER_AXIS = Blocked(
    "activation-per-axis", "the result has a scale for each channel, which no integer kernel makes"
)


@dataclass(frozen=True)
class Hoisting:
    """Options and rules for moving quantizes up."""

    activations: bool = False
    """True to move above an activation of a float op's result too: lowering to QDQ moves the activation back."""
    is_integer: Callable[[OnnxOp], bool] = has_kernel
    """True if an op above has an integer kernel, which computes the integers itself."""
    selects: bool = True
    """True to move above ops that select or clamp, which changes the treatment of NaN."""
    wants_integers: Callable[[OnnxOp], bool] = sometimes
    """True if an op saves more time on integers than quantizing all its operands' elements takes."""

    def above(
        self,
        op: OnnxOp,
        promise: Commutes,
        types: Sequence[UniformType],
        operands: Sequence[SSAValue | None] | None = None,
    ) -> list[UniformType] | Blocked:
        """
        The types of quantizes above `op` that replace those of its results, or `Blocked`.

        operands: those that carry elements, None for dequantized ones; by default those of `op`.
        """
        operands = promise.operand_values(op) if operands is None else operands
        if promise.selects and not (self.selects and all(map(is_number, operands))):
            return NOT_A_NUMBER
        if promise.points(op):
            return INDICES_USED
        moved = promise.backward(op, types)
        if isinstance(moved, Blocked):
            return moved
        if any(map(_repeats, moved, operands)):
            return NO_ROUND_TRIP
        if len(moved) > 1:
            forward = promise.forward(op, moved)
            if isinstance(forward, Blocked) or list(forward) != list(types):
                return OTHER_RESULT_TYPE
        is_computed = operands[0] is None or isinstance(operands[0], OpResult)
        if not (self.activations and promise.in_place if is_computed else _is_redundant(op, moved)):
            blocked = None if self.wants_integers(op) else more_work(op, promise, self.is_integer, operands)
            blocked = blocked or _per_axis(moved, operands)
            if blocked is not None:
                return blocked
        return list(moved)


def _repeats(type: UniformType, real: SSAValue | None) -> bool:
    """True if `real` is dequantized from `type` and a quantize to `type` may still give other integers, so it stays."""
    cast = None if real is None else real.owner
    return isinstance(cast, DequantizeOp) and cast.element_type == type and not type.round_trips


def _is_redundant(op: OnnxOp, types: Sequence[UniformType]) -> bool:
    """True if the op is a clamp, redundant on its operand's type, which is per tensor."""
    clamp = op.get_trait(Clamp)
    return clamp is not None and types[0].is_per_tensor and clamp.is_redundant(op, types[0])


def _per_axis(types: Sequence[UniformType], operands: Sequence[SSAValue | None]) -> Blocked | None:
    """`Blocked` for a kernel's result with several scales, which none supports; onnxruntime fuses it and then fails."""
    for type, value in zip(types, operands, strict=True):
        source = None if value is None else value.owner
        if not type.is_per_tensor and isinstance(source, OnnxOp) and not isinstance(source, ConstantOp):
            return PER_AXIS
    return None


MAX_VISITED_VALUES = 100
"""Greatest number of values that `is_number` visits, so that a pass stays linear in the size of the graph."""


class Standing(NamedTuple):
    """Placement of the casts around one op on quantized types."""

    above: Mapping[int, SSAValue]
    """Of operands whose quantize moves below the op, by index: the real value under the quantize."""
    moves: bool
    """True if the op only moves, selects or clamps elements."""
    keeps_integers: bool
    """True if the op moves and does not select, so that stored integers of graph inputs stay unchanged."""
    on_grid: bool
    """True if a type expresses all of the op's results before they are quantized."""
    free: bool
    """True if the op may take real numbers without a pair of casts."""


class Source(NamedTuple):
    """What the elements are made of that an op moves."""

    of_constants: bool
    """True if some are those of a constant."""
    looked_up: bool
    """True if a run selects among them."""


def _is_stored_constant(value: SSAValue) -> bool:
    """True for integers of a constant under a storage cast."""
    cast = value.owner
    return isinstance(cast, StorageCastOp) and isinstance(cast.operands[0].owner, ConstantOp)


class Reals:
    """Facts about real values while ops on quantized types are written between casts, operands before users."""

    def __init__(self, target: Target, hoisting: Hoisting):
        self._target, self._hoisting = target, hoisting
        self._behind_moves = frozenset(target.no_pair_behind)
        self._grid: dict[SSAValue, UniformType] = {}
        """Moved real values and a type that expresses all of them: quantizing them changes nothing."""
        self._read: set[SSAValue] = set()
        """Keys of `_grid` that are dequantized graph inputs, at most moved: they need no quantize."""
        self._moved: set[SSAValue] = set()
        """Written quantizes of moved values: their integers are those that were moved, whatever Q(DQ(q)) would give."""
        self._of_constants: set[SSAValue] = set()
        """Keys of `_grid` with elements of dequantized constants, at most moved."""
        self._looked_up: set[SSAValue] = set()
        """Those of `_of_constants` that a run selects, as rows of a table."""
        self._computed: set[SSAValue] = set()
        """Results of computing ops: a quantize stands directly behind them, or behind their activations."""

    def standing(self, op: OnnxOp) -> Standing:
        """The placement of the casts around `op`."""
        promise = op.get_trait(Commutes)
        if promise is None or not promise.moves(op):
            return Standing({}, False, False, False, False)
        above = self._above(op, promise)
        on_grid = all(self.exact(op.operands[place]) is not None for place in above)
        # In front of a quantize it is a float op, without casts around it.
        free = not (self._target.pairs_around_moves and on_grid)
        return Standing(above, True, not promise.selects, on_grid, free)

    def note(self, cast: SSAValue, at: Standing, *, is_read: bool, source: Source) -> None:
        """Record the result of a written op and its quantize. is_read: it consists of integers of graph inputs."""
        value, type = under(cast, QuantizeOp), quantized_of(cast.type)
        if value is None or type is None:
            return
        if at.on_grid:
            self._grid[value] = type
            self._moved.add(cast)
            if is_read and at.keeps_integers:
                self._read.add(value)
            if source.of_constants:
                self._of_constants.add(value)
            if source.looked_up:
                self._looked_up.add(value)
        if not at.moves or not self._computed.isdisjoint(at.above.values()):
            self._computed.add(value)

    def exact(self, value: SSAValue) -> SSAValue | None:
        """The real value that `value` is quantized from, if its type expresses all elements; None otherwise."""
        real, type = under(value, QuantizeOp), quantized_of(value.type)
        if real is None or type is None or self._grid_type(real) != type:
            return None
        return real if value in self._moved or settles(type) else None

    def source(self, op: OnnxOp) -> Source:
        """What the quantized elements that `op` moves are made of."""
        values = [value for value in op.operands if quantized_of(value.type) is not None]
        exact = [self.exact(value) for value in values]
        constants = [
            real in self._of_constants or _is_stored_constant(value)
            for value, real in zip(values, exact, strict=True)
        ]
        of_run = any(not is_constant(value) for value in op.operands if value not in values)
        selected = any(real in self._looked_up for real in exact) or (any(constants) and of_run)
        return Source(any(constants), selected)

    def without_pair(self, value: SSAValue, *, free: bool, product: bool = False) -> SSAValue | None:
        """
        The real value that a float op may take for `value` without a pair of casts; None if it needs one.

        product: True for an operand of an integer product. What it looks up in a table gets a pair: a runtime
        dequantizes the table once, and would compute the product in float.
        """
        exact = self.exact(value)
        if product and self._target.pairs_around_moves and exact in self._looked_up:
            type = quantized_of(value.type)
            if type is not None and settles(type):
                return None
        passes = free or exact in self._read or (exact is not None and self._is_read_past(exact.owner))
        return exact if passes else None

    def is_read(self, value: SSAValue) -> bool:
        """True if `value` consists of integers of graph inputs, at most moved."""
        return isinstance(value.owner, StorageCastOp) or self.exact(value) in self._read

    def _grid_type(self, value: SSAValue) -> UniformType | None:
        """A type that expresses all elements of `value`; None if none is known."""
        if isinstance(value.owner, DequantizeOp):
            return value.owner.element_type
        if (known := self._grid.get(value)) is not None or not isinstance(value, OpResult):
            return known
        promise = value.op.get_trait(Carries)
        if promise is None or not isinstance(value.op, OnnxOp):
            return None
        slot = next((s for s in promise.slots(value.op) if s.result == value.index), None)
        if slot is None or slot.operand is not None:
            return None
        ends = [region.block.last_op for region in value.op.regions]
        types = {self._grid_type(e.operands[slot.yielded or 0]) for e in ends if e is not None}
        return types.pop() if len(types) == 1 else None

    def _read_once(self, value: SSAValue) -> bool:
        """True if a quantize has one user, not counting dequantizes that return the unchanged real value."""
        kept = self.exact(value) is None
        return sum(kept or not isinstance(use.operation, DequantizeOp) for use in value.uses) == 1

    def _is_read_past(self, op: object) -> bool:
        """True if the target moves a dequantize past `op`, so that no pair is written behind it."""
        if not isinstance(op, OnnxOp) or op.op_type not in self._behind_moves:
            return False
        promise = op.get_trait(Commutes)
        return promise is not None and not promise.points(op)

    def _above(self, op: OnnxOp, promise: Commutes) -> Mapping[int, SSAValue]:
        """Of operands whose quantize can move below the op, by index: the real value under the quantize."""
        types = [t for t in promise.types(op).results if t is not None]
        if not types or self._is_read_past(op):
            return {}  # only indices remain, or the target wants the quantize in front
        above = {
            place: real
            for place in promise.operands(op)
            if (real := self._under(op, promise, op.operands[place])) is not None
        }
        if not above:
            return {}
        carried = [above.get(p) for p in promise.operands(op)]
        known = [
            quantized_of(op.operands[p].type) if real is None else self._grid_type(real)
            for p, real in zip(promise.operands(op), carried, strict=True)
        ]
        grids = [t for t in known if t is not None]
        forward = promise.forward(op, grids) if len(grids) == len(known) else None
        if forward is not None and not isinstance(forward, Blocked):
            return above if list(forward) == types else {}  # a dequantize moves below the op
        moved = self._hoisting.above(op, promise, types, carried)
        if isinstance(moved, Blocked):
            passes = self._hoisting.selects and all(map(is_number, above.values()))
            return above if passes and promise.in_place and _narrows(op) else {}
        return above if moved == promise.types(op).operands else {}

    def _under(self, op: OnnxOp, promise: Commutes, value: SSAValue) -> SSAValue | None:
        """The real value under the quantize that defines `value`, if `op` may be placed between the two; else None."""
        real = under(value, QuantizeOp) if self._read_once(value) else None
        if real is None or (self._target.pairs_above_clamps and _clamps_kernel(op, real)):
            return None
        stays = self._target.pairs_around_moves if self.exact(value) is not None else real in self._computed
        return real if promise.in_place or not stays else None


def is_number(value: SSAValue | None) -> bool:
    """
    True if a real value holds no NaN, provided that inputs are finite and nothing overflows.

    That is so if no op between the value and the dequantizes above it gives NaN for some numbers. None, the operand of
    an op that reads a dequantized value directly, holds none.
    """
    left, seen = [value], set[SSAValue | None]()
    while left:
        one = left.pop()
        if one in seen or not isinstance(one, OpResult) or not isinstance(one.op, OnnxOp):
            continue
        seen.add(one)
        promise = one.op.get_trait(Undefined)
        if len(seen) > MAX_VISITED_VALUES or (promise is not None and promise.for_some(one.op)):
            return False
        ends = [block.last_op for region in one.op.regions for block in region.blocks]
        left += [*one.op.operands, *(v for end in ends if end is not None for v in end.operands)]
    return True


def _clamps_kernel(op: OnnxOp, real: SSAValue) -> bool:
    """True if `op` is an activation, not expressible as storage bounds, of an integer kernel's result."""
    kernel, type = real.owner, quantized_of(op.results[0].type)
    if (
        op.get_trait(Clamp) is None
        or _narrows(op)
        or not isinstance(kernel, OnnxOp)
        or not has_kernel(kernel)
    ):
        return False
    casts = [value.owner for value in kernel.operands[:2]]
    types = [type, *(c.element_type if isinstance(c, DequantizeOp) else None for c in casts)]
    whole = type is not None and type.is_per_tensor
    return whole and all(t is not None and t.storage.width == BYTE_BITS for t in types)


def _narrows(op: OnnxOp) -> bool:
    """True if an op clamps to a range around zero, as narrower storage bounds do, not at zero, as activations do."""
    clamp = op.get_trait(Clamp)
    bounds = None if clamp is None else clamp.bounds(op)
    return bounds is not None and bounds[0] < 0 < bounds[1]
