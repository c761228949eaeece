"""
Legalize 8-bit types for the target: signedness of activations and weights, form of biases.

    q : i8, zero point z    ->  q xor 0x80 : u8, zero point z + 128    an activation, where activations are u8
    w : u8, zero point z    ->  w xor 0x80 : i8, zero point z - 128    a constant weight of a linear op
    q : u8, zero point z    ->  q xor 0x80 : i8, zero point z - 128    any value, where activations are i8; where zero
                                                                       points must be 0, if it becomes so
    q : i8, zero point z    ->  q xor 0x80 : u8, zero point z + 128    of a convolution, where these must be u8; z not 0
    b : i32 of a linear op  ->  dequantize(b)                          where biases are float, or b is in other steps

Exact: the same real numbers in the other signedness; a bias as its dequantized numbers. A pair of casts is inserted at
graph inputs and outputs of stored integers. A depthwise weight stays u8 unless its zero point becomes 0: it would be
slower. If zero points must be 0, a u8 with any other is kept, with a remark.
"""

from collections.abc import Callable, Iterable, Sequence
from dataclasses import dataclass

from xdsl.context import Context
from xdsl.dialects.builtin import ModuleOp
from xdsl.dialects.func import ReturnOp
from xdsl.ir import Block, Operation, SSAValue

from qdialect.dialects.onnx_base import ConstantOp, OnnxOp, promise_of
from qdialect.dialects.onnx_types import element_of, quantized_of, storage_element, with_element
from qdialect.dialects.quant import DequantizeOp, QuantizeOp, StorageCastOp, UniformType
from qdialect.exactness import Exactness
from qdialect.ir.names import location
from qdialect.ir.values import under_dequantize
from qdialect.ir.walking import operations
from qdialect.patterns.cleanup import cleanups
from qdialect.patterns.reading import real_copy
from qdialect.patterns.signedness import FlippedConstants, signed, symmetric, typed_constant, unsigned
from qdialect.patterns.target_pattern import TargetPass
from qdialect.promises.base import Commutes
from qdialect.promises.linear import Linear, bias_matches
from qdialect.promises.window import Window
from qdialect.reasons import Blocked
from qdialect.rewriting.driver import Pattern, Rewriter, apply_patterns, rewriting
from qdialect.rewriting.matching import OnOp, OnTrait
from qdialect.rewriting.passes import Role

BIAS_INDEX = 2
"""Index of a linear op's bias operand."""
OTHER_ZERO_POINT = Blocked(
    "zero-point", "the zero point is not 128, so as i8 it would not be 0", "quantize the model symmetrically"
)


Place = tuple[Operation | Block, int]
"""Key of a value that survives a change of its type: the op or block that defines it, and its index there."""


def place_of(value: SSAValue) -> Place:
    """The place of a value."""
    return value.owner, getattr(value, "index", 0)


class Agreement:
    """
    A union-find of the quantized values of some operations.

    An op that moves elements ties its operands to its results; one with subgraphs ties all values that cross their
    boundaries, a conservative choice; a storage cast ties its operand and result.
    """

    def __init__(self, ops: Iterable[Operation]):
        self._above: dict[Place, Place] = {}
        values: dict[Place, SSAValue] = {}
        for op in ops:
            tied = [v for v in _tied(op) if quantized_of(v.type) is not None or isinstance(op, StorageCastOp)]
            for value in tied:
                values.setdefault(place_of(value), value)
                self._above[self._root(place_of(value))] = self._root(place_of(tied[0]))
        self._sets: dict[Place, list[SSAValue]] = {}
        for place, value in values.items():
            self._sets.setdefault(self._root(place), []).append(value)

    def _root(self, place: Place) -> Place:
        path: list[Place] = []
        while (above := self._above.get(place, place)) != place:
            path.append(place)
            place = above
        self._above.update(dict.fromkeys(path, place))
        return place

    def around(self, values: Iterable[SSAValue]) -> list[list[SSAValue]]:
        """The sets of some values, without duplicates; an untied value is a set of its own."""
        roots = {self._root(place_of(value)): value for value in values}
        return [self._sets.get(root, [value]) for root, value in roots.items()]


def _tied(op: Operation) -> list[SSAValue]:
    """Values whose types an op ties to each other."""
    if op.regions and isinstance(op, OnnxOp):
        blocks = [block for region in op.regions for block in region.blocks]
        ends = [block.last_op for block in blocks]
        inner = [v for end in ends if end is not None for v in end.operands]
        return [*op.operands, *op.results, *(a for block in blocks for a in block.args), *inner]
    if isinstance(op, StorageCastOp):
        return [*op.operands, *op.results]
    promise = op.get_trait(Commutes)
    if promise is None or not isinstance(op, OnnxOp):
        return []
    return [*promise.operand_values(op), *promise.result_values(op)]


def in_unsigned_windows(ops: Sequence[Operation]) -> frozenset[Place]:
    """
    Places of the i8 activations of convolutions, and of values tied to them, that have to become u8.

    Those are values with a zero point other than 0, and concatenated ones: OpenVINO makes u8 of the latter if it knows
    that no number is negative.
    """
    windows = (op for op in ops if op.get_trait(Window) is not None and op.get_trait(Linear) is not None)
    places: set[Place] = set()
    for values in Agreement(ops).around(op.operands[0] for op in windows):
        types = [type for v in values if (type := quantized_of(v.type)) is not None and type.storage.signed]
        if types and (any(t.zero_points.any() for t in types) or any(map(_is_joined, values))):
            places.update(map(place_of, values))
    return frozenset(places)


def _is_joined(value: SSAValue) -> bool:
    """True if a value is concatenated from several computed ones, none of which is moved elements of another."""
    computed = [v for v in _carried(value) if not isinstance(v.owner, ConstantOp)]
    return sum(not any(source in computed for source in _carried(v)) for v in computed) > 1


def _carried(value: SSAValue) -> Sequence[SSAValue]:
    """The values whose elements an op moves into `value`; none if it computes."""
    op = value.owner
    promise = promise_of(op, Commutes)
    return promise.operand_values(op) if promise is not None and isinstance(op, OnnxOp) else ()


Change = Callable[[UniformType], UniformType | None]
"""Maps a type to the target's type of the same real numbers; None if it is already legal."""


class _Values:
    """
    Retypes values of any origin. weights: those of linear ops too; windows: only those that a
    convolution reads as i8 with a zero point.
    """

    def __init__(
        self, module: ModuleOp, change: Change, rewriter: Rewriter, *, weights: bool, windows: bool = False
    ):
        self._change, self._rewriter, self._weights = change, rewriter, weights
        self._flipped = FlippedConstants()
        self._ops = operations(module)
        self._scope = in_unsigned_windows(self._ops) if windows else None
        self._left: set[SSAValue] = set()

    def _moved(self, value: SSAValue) -> UniformType | None:
        """The new type of a value; None if it keeps its own."""
        type = quantized_of(value.type)
        if type is None or (self._scope is not None and place_of(value) not in self._scope):
            return None
        return self._change(type)

    def retype(self) -> None:
        """Retype all values of the module."""
        returned = [(op, op.operand_types) for op in self._ops if isinstance(op, ReturnOp)]
        casts = [op for op in self._ops if isinstance(op, StorageCastOp)]
        leaving = {op: None for op in casts if quantized_of(op.operands[0].type) is not None}
        for op in self._ops:
            if isinstance(op, StorageCastOp) and op in leaving:
                self._rewriter.attempt(op, "ReadAgain", self._read)
            else:
                self._rewriter.attempt(op, "Retype", self._retype)
        for op in leaving:
            self._rewriter.attempt(op, "Leave", self._leave)
        for op, types in returned:
            for k, (value, type) in enumerate(zip(list(op.operands), types, strict=True)):
                if value.type != type and (old := quantized_of(type)) is not None:
                    self._rewriter.set_operand(op, k, self._requantize(value, old, op))

    def _requantize(self, value: SSAValue, type: UniformType, before: Operation) -> SSAValue:
        """`value` in another type of the same real numbers, by a pair of casts in front of `before`."""
        real = DequantizeOp(value)
        cast = QuantizeOp(real, type)
        for op in (real, cast):
            op.location = location("")
        self._rewriter.insert_before(before, [real, cast])
        return cast.results[0]

    def _read(self, op: StorageCastOp, rewriter: Rewriter) -> None:
        """
        Retype the integers of a retyped value, and the values read from them, if they are only read as other types.
        """
        now, plain = quantized_of(op.operands[0].type), op.results[0]
        into = self._read_as(op)
        if now is None or storage_element(now) == element_of(plain.type) or not into:
            return
        rewriter.retype(plain, with_element(plain.type, storage_element(now)))
        for value, type in into:
            rewriter.retype(value, with_element(value.type, type))

    def _read_as(self, op: StorageCastOp) -> Sequence[tuple[SSAValue, UniformType]]:
        """The values as which alone a cast's integers are read, with their new types; empty unless all change."""
        readers = [use.operation for use in op.results[0].uses]
        values = [r.results[0] for r in readers if isinstance(r, StorageCastOp)]
        changed = [(value, moved) for value in values if (moved := self._moved(value)) is not None]
        return changed if len(changed) == len(readers) else []

    def _retype(self, op: Operation, rewriter: Rewriter) -> Blocked | None:
        """Retype an op's constant operands, its results, and the arguments of its subgraphs."""
        blocked: Blocked | None = None
        if isinstance(op, ConstantOp):
            return None
        if isinstance(op, OnnxOp) or (self._weights and isinstance(op, DequantizeOp)):
            self._constants(op, rewriter)
        inside = [a for region in op.regions for a in region.block.args] if isinstance(op, OnnxOp) else []
        for value in (*inside, *op.results):
            type = quantized_of(value.type)
            moved = self._moved(value)
            if type is None or moved is None:
                if type is not None and self._change is symmetric and signed(type) is not None:
                    blocked = OTHER_ZERO_POINT
            elif isinstance(op, StorageCastOp):
                self._enter(op, moved)
            elif self._stays(op, value):
                self._left.add(value)
            elif isinstance(op, OnnxOp | QuantizeOp):
                rewriter.retype(value, with_element(value.type, moved))
        return blocked

    def _stays(self, op: Operation, value: SSAValue) -> bool:
        """
        True if `op` quantizes what is only read as plain integers, or moves elements of such a value.

        Integers that are only read as other types, each of which changes, do not count.
        """
        if isinstance(op, QuantizeOp):
            casts = _exits(value)
            return casts is not None and not all(map(self._read_as, casts))
        return (carried := _moved_alone(op)) is not None and carried in self._left

    def _constants(self, op: Operation, rewriter: Rewriter) -> None:
        """Retype constants among activations like activations; weights too, or they keep their type."""
        for k, operand in enumerate(op.operands):
            constant = typed_constant(operand)
            is_left = k == 0 and constant is not None and not constant[1].is_per_tensor
            is_weight = op.get_trait(Linear) is not None and (k > 0 or is_left)
            moved = None if constant is None or (is_weight and not self._weights) else self._moved(operand)
            if constant is not None and moved is not None:
                rewriter.touch(op)
                rewriter.set_operand(op, k, self._flipped.of(constant[0], moved, rewriter))

    def _enter(self, op: StorageCastOp, type: UniformType) -> None:
        """Retype integers of graph inputs for all users but dequantizes."""
        users = [use for use in op.results[0].uses if not isinstance(use.operation, DequantizeOp)]
        if not users or op.next_op is None:
            return
        moved = self._requantize(op.results[0], type, op.next_op)
        for use in users:
            if not isinstance(use.operation, StorageCastOp):
                self._rewriter.set_operand(use.operation, use.index, moved)

    def _leave(self, op: StorageCastOp, rewriter: Rewriter) -> None:
        """Keep the type of integers that are graph outputs."""
        now, plain = quantized_of(op.operands[0].type), element_of(op.results[0].type)
        if now is None or storage_element(now) == plain:
            return
        before = signed(now) or unsigned(now)
        if before is not None and storage_element(before) == plain:
            rewriter.set_operand(op, 0, self._requantize(op.operands[0], before, op))


def _exits(value: SSAValue) -> list[StorageCastOp] | None:
    """The casts to plain integers of a value and of its moved elements; None if anything else reads these."""
    casts, values = list[StorageCastOp](), [value]
    for moved in values:
        for op in (use.operation for use in moved.uses):
            if isinstance(op, StorageCastOp):
                casts.append(op)
            elif _moved_alone(op) is moved:
                values.extend(op.results)
            else:
                return None
    return casts


def _moved_alone(op: Operation) -> SSAValue | None:
    """The value whose elements `op` moves if there is one alone; its results hold no others."""
    promise = promise_of(op, Commutes)
    if promise is None or not isinstance(op, OnnxOp) or op.regions:
        return None
    carried = promise.operand_values(op)
    return carried[0] if len(carried) == 1 and len(op.results) == len(promise.results(op)) else None


class RetypeWeight(OnTrait[Linear]):
    """A constant weight of a linear op on quantized types."""

    def __init__(self, change: Change):
        self._change, self._flipped = change, FlippedConstants()

    def match(self, op: OnnxOp, promise: Linear, rewriter: Rewriter) -> None:
        weight, groups = typed_constant(op.operands[1]), op.int_attr("group", 1)
        if weight is None or quantized_of(op.operands[0].type) is None:
            return
        moved = self._change(weight[1])
        if moved is None or (groups > 1 and promise.is_depthwise(op, groups) and moved.zero_points.any()):
            return
        rewriter.set_operand(op, 1, self._flipped.of(weight[0], moved, rewriter))


class RealBias(OnOp[OnnxOp]):
    """A bias, as its dequantized numbers. every: one in steps of x_scale * w_scale too."""

    def __init__(self, *, every: bool):
        self._every = every
        self._real: dict[Operation, SSAValue] = {}

    def match(self, op: OnnxOp, rewriter: Rewriter, /) -> None:
        for k, operand in enumerate(op.operands):
            source = self._source(op, k, operand)
            if source is None:
                continue
            if source[0] not in self._real:
                real = real_copy(*source)
                rewriter.insert_after(source[0], [real])
                self._real[source[0]] = real.results[0]
            rewriter.set_operand(op, k, self._real[source[0]])

    def _source(self, op: Operation, index: int, value: SSAValue) -> tuple[ConstantOp, UniformType] | None:
        """The quantized constant that an operand is, or is dequantized from, if it is a bias to change."""
        linear, constant = op.get_trait(Linear), typed_constant(under_dequantize(value))
        if constant is None or (not self._every and constant[0] is value.owner):
            return None
        types = [quantized_of(under_dequantize(value).type) for value in op.operands[:2]]
        if not self._every and types[0] is None:
            return None  # an op on a float activation reads the bias with the bias's own scale
        x, w = (*types, None)[:2]
        if not self._every and x is not None and w is not None and bias_matches(x, w, constant[1]):
            return None
        if linear is not None and linear.has_bias and index == BIAS_INDEX:
            return constant
        # i32 is a bias too if a separate addition adds it; among integers that are joined it is one of them.
        types = [quantized_of(result.type) for result in op.results]
        is_added = constant[1].storage.name == "i32" and not any(t and t.storage.name == "i32" for t in types)
        return constant if self._every and is_added else None


@dataclass(frozen=True)
class LegalizePass(TargetPass):
    name = "legalize"
    exactness = Exactness.EXACT
    role = Role.LEGALIZING
    reasons = "zero-point"
    rewrite = "q : i8, z -> q xor 0x80 : u8, z + 128: the same real numbers"

    weights: bool = True
    """True to legalize weights and biases too; the target's integer sums take weights of the other signedness."""

    def patterns(self) -> Sequence[Pattern]:
        """The patterns for biases and weights; activations change all at once, so that producer and consumer agree."""
        wanted, patterns = self.runtime, list[Pattern]()
        if wanted.bias == "i32" or (self.weights and wanted.bias is not None):
            patterns.append(RealBias(every=wanted.bias == "float"))
        if self.weights and wanted.weights == "i8":
            patterns.append(RetypeWeight(symmetric if wanted.symmetric_weights else signed))
        return patterns

    def apply(self, ctx: Context, op: ModuleOp) -> None:
        super().apply(ctx, op)
        wanted = self.runtime
        with rewriting(op, self.name) as rewriter:
            if wanted.activations == "i8":
                change = symmetric if wanted.symmetric_activations else signed
                _Values(op, change, rewriter, weights=self.weights).retype()
            if wanted.activations == "u8":
                _Values(op, unsigned, rewriter, weights=False).retype()
            elif wanted.unsigned_windows:
                _Values(op, unsigned, rewriter, weights=False, windows=True).retype()
        apply_patterns(op, self.name, cleanups())  # types may have differed in signedness only
