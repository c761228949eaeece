"""
Write what is on quantized types as ONNX's own casts around float ops.

    op(a, b) : T     ->  QuantizeLinear(op(DequantizeLinear(a), DequantizeLinear(b)))
    act(op(a)) : T   ->  QuantizeLinear(act(op(DequantizeLinear(a))))     one consumer, act elementwise: one pair, but
                         for a clamp of what has an integer kernel where the target wants a pair of its own between
    f(qcast(x)) : T  ->  QuantizeLinear(f(x))                             one consumer, f moves: f stands in front of Q
    g(qcast(f(dcast(q)) : T))  ->  g(f(DequantizeLinear(q)))              f moves, and the target reads past it
    f(a, qcast(dcast(b : U)) : T) : T  ->  QuantizeLinear(f(DequantizeLinear(a), DequantizeLinear(b)))
    Reshape(qcast(dcast(Reshape(x)))) : T  ->  QuantizeLinear(Reshape(DequantizeLinear(x)))     moves that so meet

A quantize stands below an op that moves only where `hoist-quantize` takes it above again: what is written is read back
as it was.

Exact: the first line is what an op on quantized types means; the others drop a dequantize of a quantize between which
only elements were moved or clamped. Every QuantizeLinear is followed directly by its DequantizeLinear; where the target
wants whole pairs, narrower storage bounds are a Clip of reals in front, else one of integers between.
"""

from collections.abc import Sequence
from dataclasses import dataclass
from typing import ClassVar

from xdsl.context import Context
from xdsl.dialects.builtin import ModuleOp
from xdsl.dialects.func import FuncOp
from xdsl.ir import Operation, OpResult, SSAValue
from xdsl.passes import ModulePass

from qdialect.dialects.onnx_base import ConstantOp, OnnxOp, YieldOp
from qdialect.dialects.onnx_types import expressed_type, quantized_of
from qdialect.dialects.quant import DequantizeOp, QuantizeOp, StorageCastOp, UniformType
from qdialect.errors import UserError
from qdialect.exactness import Exactness
from qdialect.ir.names import location, merge_constants, node_name, settle_names, tensor_names
from qdialect.ir.walking import constants_in_order, operations
from qdialect.patterns.boundaries import real_across, yields_only
from qdialect.patterns.captured import pair_moved, part_captured, widen_biases
from qdialect.patterns.moves import FoldReshapes, FoldTransposes
from qdialect.patterns.pairs import PairWriter
from qdialect.patterns.placement import Hoisting
from qdialect.patterns.unfused import keep_unfused
from qdialect.promises.base import Commutes
from qdialect.promises.clamping import Clamp
from qdialect.promises.control import Carries
from qdialect.promises.layout import SizesOnly
from qdialect.reasons import Blocked
from qdialect.rewriting.driver import Rewriter, apply_patterns, rewriting
from qdialect.rewriting.uses import has_kernel
from qdialect.targets import Target, target

INTEGER_KERNELS = 8
"""Bits of what integer kernels compute with."""


def _check_signature(func: FuncOp) -> None:
    """Raise UserError if a graph's input or output is of quantized type, which ONNX has not."""
    if any(quantized_of(t) is not None for t in (*func.function_type.inputs, *func.function_type.outputs)):
        raise UserError(
            f"@{func.sym_name.data} takes or gives a value of quantized type",
            "let integers come in and go out through quant.scast",
        )


def _real(value: SSAValue) -> SSAValue | None:
    """The real numbers that `value` is quantized from."""
    return value.owner.operands[0] if isinstance(value.owner, QuantizeOp) else None


class _Expander:
    """
    Float ops between casts for ops on quantized types, in one sweep, operands before users.

    It goes around the driver's worklist: how an op is written depends on how what stands above it was.
    """

    def __init__(self, target: Target, rewriter: Rewriter, selects: bool):
        self._around_moves = target.pairs_around_moves
        self._behind_moves = frozenset(target.no_pair_behind)
        self._above_clamps = target.pairs_above_clamps
        self._rewriter = rewriter
        self._hoisting = Hoisting(activations=True, selects=selects)
        self._grid: dict[SSAValue, UniformType] = {}
        """Real numbers that are moved, all of which a type expresses already: quantizing them changes nothing."""
        self._read: set[SSAValue] = set()
        """Of these, integers from outside, at most moved: there is no pair to complete."""
        self._computed: set[SSAValue] = set()
        """What ops make that compute: a quantize stands right behind them, or behind their activations."""

    def expand(self, op: Operation) -> None:
        """Write one operation; what stands above it is written."""
        if isinstance(op, ConstantOp):
            self._constant(op)
        elif isinstance(op, DequantizeOp):
            real = self._exact(op.operands[0])
            if real is not None:
                self._rewriter.replace(op, [], [real])
        elif isinstance(op, YieldOp):
            self._yield(op)
        elif isinstance(op, OnnxOp):
            if op.get_trait(Carries) is not None:
                real_across(op, self._rewriter)
            if any(quantized_of(v.type) is not None for v in (*op.operands, *op.results)):
                self._op(op)

    def _constant(self, op: ConstantOp) -> None:
        if op.value is not None and quantized_of(op.results[0].type) is not None:
            plain = ConstantOp.of(op.value)
            plain.location = op.location
            self._rewriter.replace(op, [plain, StorageCastOp(plain.results[0], op.results[0].type)])

    def _yield(self, end: YieldOp) -> None:
        """Let what is yielded be real numbers; a quantize of these alone stands behind the subgraph too."""
        for place, value in enumerate(end.operands):
            real = _real(value)
            if quantized_of(value.type) is None:
                continue
            alone = value.has_one_use() and yields_only(end, place)
            passing = real if real is not None and alone else self._exact(value)
            self._rewriter.set_operand(end, place, passing or self._dequantized(value, end))

    def _exact(self, value: SSAValue) -> SSAValue | None:
        """The real numbers that `value` is quantized from, if its type expresses all of them."""
        real = _real(value)
        return real if real is not None and self._grid_type(real) == quantized_of(value.type) else None

    def _grid_type(self, value: SSAValue) -> UniformType | None:
        """The type that expresses all elements of `value`, if one is known to."""
        if isinstance(value.owner, DequantizeOp):
            return quantized_of(value.owner.operands[0].type)
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

    def _dequantized(self, value: SSAValue, user: Operation) -> SSAValue:
        cast = DequantizeOp(value)
        cast.location = location("", [])
        self._rewriter.insert_before(user, [cast])
        return cast.results[0]

    def _op(self, op: OnnxOp) -> None:
        promise = op.get_trait(Commutes)
        moves = promise is not None and promise.moves(op)
        taken = self._taken(op, promise) if moves and promise is not None else {}
        on_grid = moves and all(self._exact(op.operands[place]) is not None for place in taken)
        # In front of a quantize it is a float op, and has no casts around it.
        free = moves and not (self._around_moves and on_grid)
        quantized = [p for p, value in enumerate(op.operands) if quantized_of(value.type) is not None]
        read = (
            moves
            and promise is not None
            and not promise.selects
            and all(self._is_read(op.operands[p]) for p in quantized)
        )
        operands = list(op.operands)
        for place in quantized:
            operands[place] = taken.get(place) or self._operand(op, place, free)
        results = self._rebuild(op, operands)
        for value, old in results:
            if on_grid:
                self._grid[value] = old
                if read:
                    self._read.add(value)
            if not moves or not self._computed.isdisjoint(taken.values()):
                self._computed.add(value)

    def _is_read(self, value: SSAValue) -> bool:
        return isinstance(value.owner, StorageCastOp) or self._exact(value) in self._read

    def _read_once(self, value: SSAValue) -> bool:
        """Whether a quantize has one reader, but for who reads the real numbers that it changes nothing of."""
        kept = self._exact(value) is None
        return sum(kept or not isinstance(use.operation, DequantizeOp) for use in value.uses) == 1

    def _operand(self, op: OnnxOp, place: int, free: bool) -> SSAValue:
        """What the float op takes for a quantized operand."""
        value = op.operands[place]
        real = _real(value)
        if op.get_trait(SizesOnly) is not None:
            return real if real is not None else self._stored(value, op)
        exact = self._exact(value)
        if exact is not None and (free or exact in self._read or self._passes_casts(exact)):
            return exact
        return self._dequantized(value, op)

    def _passes_casts(self, real: SSAValue) -> bool:
        """Whether the target moves a dequantize past the op that makes `real`, so that no pair stands behind it."""
        return isinstance(real.owner, OnnxOp) and self._is_read_past(real.owner)

    def _is_read_past(self, op: OnnxOp) -> bool:
        """Whether the target moves a dequantize past `op`."""
        promise = op.get_trait(Commutes)
        return op.op_type in self._behind_moves and promise is not None and not promise.points(op)

    def _stored(self, value: SSAValue, user: Operation) -> SSAValue:
        if isinstance(value.owner, StorageCastOp):
            return value.owner.operands[0]
        raise AssertionError("a quantized value is a quantize of real numbers or a reading of integers")

    def _taken(self, op: OnnxOp, promise: Commutes) -> dict[int, SSAValue]:
        """The operands whose quantize the op can stand in front of, by place, and the real numbers under it."""
        types = [t for t in promise.types(op).results if t is not None]
        if not types or self._is_read_past(op):
            return {}  # there are indices alone, or the target wants the quantize in front
        above: dict[int, SSAValue] = {}
        for place in promise.operands(op):
            value = op.operands[place]
            real = _real(value) if self._read_once(value) else None
            if real is None:
                continue
            if self._above_clamps and _clamps_kernel(op, real):
                continue
            stays = self._around_moves if self._exact(value) is not None else real in self._computed
            if promise.in_place or not stays:
                above[place] = real
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
            return above if list(forward) == types else {}  # a dequantize goes below the op
        moved = self._hoisting.above(op, promise, types, carried)
        if isinstance(moved, Blocked):
            return above if self._hoisting.selects and promise.in_place and _narrows(op) else {}
        return above if moved == promise.types(op).operands else {}

    def _rebuild(self, op: OnnxOp, operands: Sequence[SSAValue]) -> list[tuple[SSAValue, UniformType]]:
        """The float op, quantized behind; its results and the types that they are quantized to."""
        new = op.__class__.create(
            operands=operands,
            result_types=[expressed_type(t) for t in op.result_types],
            properties=op.properties,
            attributes=op.attributes,
            regions=[op.detach_region(region) for region in list(op.regions)],
        )
        names = [*tensor_names(op), *[""] * len(op.results)][: len(op.results)]
        types = [quantized_of(t) for t in op.result_types]
        new.location = location(
            node_name(op), [n if t is None else "" for n, t in zip(names, types, strict=True)]
        )
        results, casts, quantized = (
            list[SSAValue](new.results),
            list[Operation](),
            list[tuple[SSAValue, UniformType]](),
        )
        for place, (type, name) in enumerate(zip(types, names, strict=True)):
            if type is not None:
                cast = QuantizeOp(new.results[place], type)
                cast.location = location(f"{name}_QuantizeLinear", [name])
                casts.append(cast)
                quantized.append((new.results[place], type))
                results[place] = cast.results[0]
        self._rewriter.replace(op, [new, *casts], results)
        return quantized


def _clamps_kernel(op: OnnxOp, real: SSAValue) -> bool:
    """Whether an activation, which no type is the clamp of, stands behind what an integer kernel computes."""
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
    return whole and all(t is not None and t.storage.width == INTEGER_KERNELS for t in types)


def _narrows(op: OnnxOp) -> bool:
    """Whether an op clamps to a range around zero, as narrower storage bounds do, not at zero, as activations do."""
    clamp = op.get_trait(Clamp)
    bounds = None if clamp is None else clamp.bounds(op)
    return bounds is not None and bounds[0] < 0 < bounds[1]


@dataclass(frozen=True)
class LowerToQdqPass(ModulePass):
    """Quantized types become QuantizeLinear and DequantizeLinear."""

    name = "lower-to-qdq"
    exactness: ClassVar[Exactness] = Exactness.EXACT
    rewrite: ClassVar[str] = "op(a) : T -> QuantizeLinear(op(DequantizeLinear(a))): by definition"

    target: str = "generic"
    selects: bool = True
    """Whether ops that select or clamp may stand in front of a quantize, which changes what becomes of a NaN."""

    def apply(self, ctx: Context, op: ModuleOp) -> None:
        for func in op.ops:
            if isinstance(func, FuncOp):
                _check_signature(func)
        merge_constants(op)
        settle_names(op)
        rules = target(self.target)
        with rewriting(op, self.name) as rewriter:
            expander = _Expander(rules, rewriter, self.selects)
            for one in operations(op):
                expander.expand(one)
            PairWriter(rules, rewriter).write(op)
            part_captured(op)
            pair_moved(op)
            widen_biases(op)
            keep_unfused(op, rules)
        apply_patterns(op, self.name, [FoldTransposes(), FoldReshapes()])
        merge_constants(op)
        settle_names(op)
        constants_in_order(op)
