"""
Write what is on quantized types as ONNX's own casts around float ops.

    op(a, b) : T     ->  QuantizeLinear(op(DequantizeLinear(a), DequantizeLinear(b)))
    act(op(a)) : T   ->  QuantizeLinear(act(op(DequantizeLinear(a))))     one consumer, act elementwise: one pair
    f(qcast(x)) : T  ->  QuantizeLinear(f(x))                             one consumer, f moves: f stands in front of Q
    f(a, qcast(dcast(b : U)) : T) : T  ->  QuantizeLinear(f(DequantizeLinear(a), DequantizeLinear(b)))

Exact: the first line is what an op on quantized types means; the others drop a dequantize of a quantize between which
only elements were moved or clamped. Every QuantizeLinear is followed directly by its DequantizeLinear; where the target
wants whole pairs, narrower storage bounds are a Clip of reals in front, else one of integers between.
"""

from dataclasses import dataclass
from typing import ClassVar

from xdsl.context import Context
from xdsl.dialects.builtin import ModuleOp
from xdsl.dialects.func import FuncOp
from xdsl.ir import Attribute, Block, Operation, OpResult, SSAValue
from xdsl.passes import ModulePass
from xdsl.traits import Pure

from qdialect.dialects.onnx_base import ConstantOp, OnnxOp
from qdialect.dialects.onnx_types import expressed_of, quantized_of, with_element
from qdialect.dialects.quant import DequantizeOp, QuantizeOp, StorageCastOp, UniformType
from qdialect.errors import UserError
from qdialect.exactness import Exactness
from qdialect.forms.casts import Parameters, cast_op, clamped, clamped_real, clamps_integers, stored, wish
from qdialect.ir.names import location, node_name, tensor_names
from qdialect.patterns.boundaries import dequantize_across
from qdialect.promises.base import Commutes
from qdialect.promises.clamping import Clamp
from qdialect.promises.layout import SizesOnly
from qdialect.reasons import Blocked
from qdialect.rewriting.driver import refresh_signatures
from qdialect.rewriting.uses import more_work
from qdialect.targets import Target, target


@dataclass
class _Real:
    """The float tensor whose quantization a quantized value is."""

    value: SSAValue
    on_grid: bool
    """Whether the type expresses every element already: quantizing it changes nothing."""
    read: bool = False
    """Whether it is integers from outside, dequantized and at most moved: there is no pair to complete."""


def _check_signature(func: FuncOp) -> None:
    """Raise UserError if a graph's input or output is of quantized type, which ONNX has not."""
    if any(quantized_of(t) is not None for t in (*func.function_type.inputs, *func.function_type.outputs)):
        raise UserError(
            f"@{func.sym_name.data} takes or gives a value of quantized type",
            "let integers come in and go out through quant.scast",
        )


class _Writer:
    """One walk over a module, operands before users."""

    def __init__(self, target: Target):
        self._target = target
        self._parameters = Parameters()
        self._reals: dict[SSAValue, _Real] = {}
        self._stored: dict[SSAValue, SSAValue] = {}
        self._dequantized: dict[tuple[SSAValue, Block], SSAValue] = {}
        self._dead: list[Operation] = []
        self._requantizes: dict[Operation, UniformType] = {}
        self._boundary: set[Operation] = set()
        self._behind: dict[Operation, list[Operation]] = {}
        self._off_grid: set[Operation] = set()

    def write(self, module: ModuleOp) -> None:
        """Replace every op on quantized types and every cast."""
        self._behind = dequantize_across(list(module.walk()))
        self._boundary = {cast for sides in self._behind.values() for cast in sides}
        ops = list(module.walk())
        # Known before the walk replaces what they quantize.
        self._requantizes = {
            op: op.operands[0].owner.element_type
            for op in ops
            if isinstance(op, QuantizeOp) and isinstance(op.operands[0].owner, DequantizeOp)
        }
        for op in ops:
            if isinstance(op, FuncOp):
                _check_signature(op)
            if isinstance(op, OnnxOp | QuantizeOp | DequantizeOp | StorageCastOp):
                self._op(op)
        for op in reversed(self._dead):
            op.detach()
            op.erase()
        _erase_unused(module)

    def _op(self, op: Operation) -> None:
        if isinstance(op, DequantizeOp):
            self._dequantize(op)
        elif isinstance(op, StorageCastOp):
            source, result = op.operands[0], op.results[0]
            if quantized_of(source.type) is None:
                self._stored[result] = source
            elif result.first_use is not None:
                self._replace(result, self._integers(source, op))
        elif isinstance(op, QuantizeOp):
            sides = self._behind.get(op)
            on_grid = sides is not None and self._off_grid.isdisjoint(sides)
            self._reals[op.results[0]] = _Real(op.operands[0], on_grid)
        elif isinstance(op, ConstantOp):
            if op.value is None or quantized_of(op.results[0].type) is None:
                return
            plain, reads = stored(op.results[0])
            self._insert(reads, op)
            self._stored[op.results[0]] = plain
        elif any(quantized_of(v.type) is not None for v in (*op.operands, *op.results)):
            self._rebuild(op)
        else:
            return
        self._dead.append(op)

    def _dequantize(self, op: DequantizeOp) -> None:
        """A cast that nothing took in: each residual edge behind it gets a pair of its own."""
        source, result = op.operands[0], op.results[0]
        real = self._reals.get(source)
        if op in self._boundary and real is not None and source.has_one_use():
            self._replace(result, real.value)  # quantized again behind the boundary
            if not real.on_grid:
                self._off_grid.add(op)
            return
        shared = not result.has_one_use()
        for use in list(result.uses):
            if self._is_own(source, use.operation, shared=shared):
                use.operation.operands[use.index] = self._float(source, op, own=True)
        if result.first_use is not None:
            self._replace(result, self._float(source, op, for_layout=True))

    def _is_own(self, value: SSAValue, user: Operation, *, shared: bool = False) -> bool:
        """Whether the target wants a pair for `user` alone; `shared`: the value has other users besides those seen."""
        if not self._target.own_pairs or value not in self._reals:
            return False
        return (shared or not value.has_one_use()) and _joins(user)

    def _insert(self, ops: list[Operation], anchor: Operation) -> None:
        assert anchor.parent is not None
        anchor.parent.insert_ops_before(ops, anchor)

    def _replace(self, old: SSAValue, new: SSAValue) -> None:
        old.replace_all_uses_with(new)

    def _integers(self, value: SSAValue, anchor: Operation, *, own: bool = False) -> SSAValue:
        """The stored integers of a quantized value, quantized now if they are not yet, or for this user alone."""
        found = self._stored.get(value)
        if found is not None and not (own and value in self._reals):
            return found
        real, type = self._reals[value], quantized_of(value.type)
        assert type is not None
        place = _in_block_of(value, anchor)
        name = wish(value)
        source, clip = real.value, self._clip(real, type, place)
        if clip:
            self._insert(clip, place)
            source = clip[-1].results[0]
        cast = cast_op(True, source, type, self._parameters, place, name)
        owner = value.owner
        cast.location = (
            location(node_name(owner), [name])
            if isinstance(owner, QuantizeOp) and value not in self._stored
            else location(f"{name}_QuantizeLinear" if name else "", [name])
        )
        clamp = [] if clip else clamped(cast.results[0], type)
        self._insert([cast, *clamp], place)
        stored_now = clamp[-1].results[0] if clamp else cast.results[0]
        if not own:
            self._stored[value] = stored_now
        return stored_now

    def _clip(self, real: _Real, type: UniformType, user: Operation) -> list[Operation]:
        """What clamps to narrower storage bounds in front of a quantize, where nothing may or can stand behind it."""
        if clamps_integers(type, user) and not (self._target.whole_pairs and type.is_per_tensor):
            return []
        return clamped_real(real.value, type, user)

    def _float(
        self, value: SSAValue, anchor: Operation, *, for_layout: bool = False, own: bool = False
    ) -> SSAValue:
        """
        The real numbers that a quantized value stands for.

        `for_layout`: a cast need not stand right there. `own`: by casts that nobody else reads.
        """
        real = self._reals.get(value)
        if real is not None and not own and (real.read or (for_layout and real.on_grid)):
            return real.value
        assert anchor.parent is not None
        key = value, anchor.parent
        if not own and key in self._dequantized:
            return self._dequantized[key]
        type = quantized_of(value.type)
        assert type is not None
        name = wish(value)
        integers = self._integers(value, anchor, own=own)
        cast = cast_op(False, integers, type, self._parameters, anchor, name)
        cast.location = location(
            f"{name}_DequantizeLinear" if name else "", [f"{name}_dequantized"] if name else []
        )
        self._insert([cast], anchor)
        if not own:
            self._dequantized[key] = cast.results[0]
        return cast.results[0]

    def _rebuild(self, op: Operation) -> None:
        assert isinstance(op, OnnxOp)
        promise = op.get_trait(Commutes)
        moves = promise is not None and promise.moves(op)
        mixed = self._mixed(op, promise) if moves and promise is not None else {}
        absorbed = {
            value: real
            for value in op.operands
            if moves and (real := self._reals.get(value)) is not None and self._absorbs(op, promise, value)
        }
        on_grid = moves and not mixed and all(real.on_grid for real in absorbed.values())
        # In front of a quantize it is a float op, and has no casts around it.
        free = moves and not (self._target.pairs_around_moves and on_grid)
        read = moves and promise is not None and not promise.selects
        operands: list[SSAValue] = []
        for value in op.operands:
            if quantized_of(value.type) is None:
                operands.append(value)
                continue
            before = self._reals.get(value)
            read &= before.read if before is not None else isinstance(value.owner, StorageCastOp)
            if op.get_trait(SizesOnly) is not None:
                operands.append(self._integers(value, op) if before is None else before.value)
            elif value in mixed:
                operands.append(mixed[value])
            elif (real := absorbed.get(value)) is not None:
                operands.append(real.value)
            else:
                operands.append(self._float(value, op, for_layout=free, own=self._is_own(value, op)))
        new = op.__class__.create(
            operands=operands,
            result_types=[_expressed(t) for t in op.result_types],
            properties=op.properties,
            attributes=op.attributes,
            regions=[region.clone() for region in op.regions],
        )
        names = tensor_names(op)
        quantized = [quantized_of(r.type) is not None for r in op.results]
        new.location = location(
            node_name(op), [f"{n}_real" if q and n else n for n, q in zip(names, quantized, strict=False)]
        )
        self._insert([new], op)
        for old, real, is_quantized in zip(op.results, new.results, quantized, strict=True):
            if is_quantized:
                self._reals[old] = _Real(real, on_grid, read)
            else:
                self._replace(old, real)

    def _mixed(self, op: OnnxOp, promise: Commutes) -> dict[SSAValue, SSAValue]:
        """
        Operands that are requantized only to have the others' type, and the reals that they are quantized from: the
        quantize behind the op does it too.
        """
        values = [op.operands[p] for p in promise.operands(op)]
        sources = [
            self._requantizes.get(v.owner) if isinstance(v.owner, QuantizeOp) else None for v in values
        ]
        again = {
            v: v.owner.operands[0]
            for v, s in zip(values, sources, strict=True)
            if s is not None and isinstance(v.owner, QuantizeOp)
        }
        if len(values) < 2 or not again or not all(v.has_one_use() for v in again):
            return {}
        types = [s or quantized_of(v.type) for v, s in zip(values, sources, strict=True)]
        known = [t for t in types if t is not None]
        # Where one type says it all, the op would be read on that and the requantize behind it.
        mixes = len(known) == len(values) and isinstance(promise.forward(op, known), Blocked)
        return again if mixes else {}

    def _absorbs(self, op: OnnxOp, promise: Commutes | None, value: SSAValue) -> bool:
        """Whether the op can stand in front of its operand's quantize: nobody else needs the integers."""
        if promise is None or not value.has_one_use() or not isinstance(value, OpResult):
            return False
        if value.op in self._requantizes:
            return False  # read again, the op would go above both casts: a form that does not last
        if not _comes_back(op, promise):
            return False
        if promise.selects:
            source = value.op.operands[0] if isinstance(value.op, QuantizeOp) else value
            return promise.in_place and (isinstance(source, OpResult) or _narrows(op))
        if not promise.in_place and len(promise.operands(op)) > 1 and more_work(op, promise) is not None:
            return False  # read again, the quantize would stay below
        return promise.in_place or (self._from_quantize(value) and not self._stays_below(op, promise, value))

    def _stays_below(self, op: OnnxOp, promise: Commutes, value: OpResult) -> bool:
        """Whether a quantize behind `op` would not reach the subgraph above it when read, which then yields floats."""
        while isinstance(value.op, OnnxOp) and isinstance(source := value.op.operands[0], OpResult):
            value = source
        real = self._reals.get(value)
        if value.op not in self._behind or real is None or real.on_grid:
            return False
        return more_work(op, promise) is not None

    def _from_quantize(self, value: OpResult) -> bool:
        """Whether only moving ops stand between `value` and a cast of a float tensor."""
        if isinstance(value.op, QuantizeOp):
            return value.op not in self._requantizes
        promise = value.op.get_trait(Commutes) if isinstance(value.op, OnnxOp) else None
        if promise is None or not isinstance(value.op, OnnxOp) or len(promise.operands(value.op)) != 1:
            return False
        source = value.op.operands[0]
        if promise.selects and not self._absorbs(value.op, promise, source):
            return False  # it stands between casts of its own
        return isinstance(source, OpResult) and source.has_one_use() and self._from_quantize(source)


def _comes_back(op: OnnxOp, promise: Commutes) -> bool:
    """Whether a quantize behind `op`, read again, goes above it as what it was: not as one scale of several."""
    results = [quantized_of(op.results[p].type) for p in promise.results(op)]
    moved = promise.backward(op, [t for t in results if t is not None])
    return isinstance(moved, Blocked) or list(moved) == [
        quantized_of(op.operands[p].type) for p in promise.operands(op)
    ]


def _narrows(op: OnnxOp) -> bool:
    """Whether an op clamps to a range around zero, as narrower storage bounds do, not at zero, as activations do."""
    clamp = op.get_trait(Clamp)
    bounds = None if clamp is None else clamp.bounds(op)
    return bounds is not None and bounds[0] < 0 < bounds[1]


def _erase_unused(module: ModuleOp) -> None:
    """What nobody reads is not written: it would be gone when the model is read again."""
    for op in reversed(list(module.walk())):
        unused = isinstance(op, OnnxOp) and op.results and not any(r.first_use for r in op.results)
        if unused and op.has_trait(Pure) and not op.regions:
            op.detach()
            op.erase()


def _in_block_of(value: SSAValue, anchor: Operation) -> Operation:
    """The operation around `anchor`, or itself, that stands in the block where `value` is made."""
    block = value.owner if isinstance(value.owner, Block) else value.owner.parent
    while anchor.parent is not block and (outer := anchor.parent_op()) is not None:
        anchor = outer
    return anchor


def _joins(user: Operation) -> bool:
    """Whether `user` computes one value from several computed ones."""
    if not isinstance(user, OnnxOp) or user.get_trait(Commutes) is not None or _has_weight(user):
        return False
    return sum(not isinstance(o.owner, ConstantOp) for o in user.operands) > 1


def _has_weight(op: OnnxOp) -> bool:
    """Whether the second operand, however it is made, is a weight."""
    second = op.operands[1].owner if len(op.operands) > 1 else None
    source = second.operands[0].owner if isinstance(second, DequantizeOp) else second
    return isinstance(source, ConstantOp)


def _expressed(type: Attribute) -> Attribute:
    element = expressed_of(type)
    return type if element is None or quantized_of(type) is None else with_element(type, element)


@dataclass(frozen=True)
class LowerToQdqPass(ModulePass):
    """Quantized types become QuantizeLinear and DequantizeLinear."""

    name = "lower-to-qdq"
    exactness: ClassVar[Exactness] = Exactness.EXACT
    rewrite: ClassVar[str] = "op(a) : T -> QuantizeLinear(op(DequantizeLinear(a))): by definition"

    target: str = "generic"

    def apply(self, ctx: Context, op: ModuleOp) -> None:
        _Writer(target(self.target)).write(op)
        refresh_signatures(op)
