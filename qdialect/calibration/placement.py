"""
Where a float model is to compute in integers: the cheapest placement by the target's costs, as a minimum cut.

Each op is on the integer side or on the float side; a linear one also with integers in and floats out. An edge
between an op that makes floats and one that takes integers costs a quantize, the other way a dequantize, once for
each tensor. What costs least altogether is found at once: no island of integers costs more in casts than it saves.
"""

from __future__ import annotations

from collections.abc import Collection, Sequence
from dataclasses import dataclass, field, replace

from xdsl.dialects.func import FuncOp
from xdsl.ir import Operation, OpResult, SSAValue

from qdialect.calibration.annotations import are_unlike, counted, range_of
from qdialect.calibration.cut import INFINITE, Cut
from qdialect.calibration.existing import is_integer, is_quantized, own_type
from qdialect.calibration.expected import (
    FLOAT_ONLY,
    OPEN_BATCH,
    Expected,
    elements_of,
    expected,
    in_float,
    recurrent,
)
from qdialect.calibration.fused import bias_behind, is_bias, is_fused
from qdialect.calibration.loops import inner_layers
from qdialect.dialects.onnx_base import ConstantOp, OnnxOp
from qdialect.dialects.onnx_types import DYNAMIC, quantized_of, shape_of
from qdialect.dialects.quant import DequantizeOp, QuantizeOp
from qdialect.ir.values import constant, is_float32, rank_of
from qdialect.promises.base import Commutes
from qdialect.promises.clamping import Clamp
from qdialect.promises.linear import Linear
from qdialect.reasons import COMPUTED_WEIGHT, Blocked
from qdialect.rewriting.journal import KEEP_FLOAT
from qdialect.targets import Target

QUANTIZE, DEQUANTIZE = 0.126, 0.115
"""Nanoseconds an element where the target does not say."""
IMAGE = 4
PICOSECONDS = 1000


@dataclass
class Placement:
    """What becomes integers."""

    pairs: dict[SSAValue, set[tuple[Operation, int]] | None] = field(
        default_factory=dict[SSAValue, "set[tuple[Operation, int]] | None"]
    )
    """Values to quantize and dequantize, and which uses take the result: None for all."""
    linear: list[OnnxOp] = field(default_factory=list[OnnxOp])
    """Linear ops whose weight is to be quantized."""
    dynamic: list[OnnxOp] = field(default_factory=list[OnnxOp])
    """Linear ops in float whose activation a kernel quantizes at run time."""
    groups: dict[SSAValue, SSAValue] = field(default_factory=dict[SSAValue, SSAValue])
    """Values of one type, by one of them."""
    cost: float = 0.0
    """Nanoseconds that one run is expected to take."""
    float_cost: float = 0.0
    """The cost with nothing in integers but what already is."""
    casts: int = 0
    """How many casts of activations there are."""

    def add(self, other: Placement) -> None:
        """Take in the placement of another graph."""
        self.pairs |= other.pairs
        self.groups |= other.groups
        self.linear += other.linear
        self.dynamic += other.dynamic
        self.cost += other.cost
        self.float_cost += other.float_cost

    def group_of(self, value: SSAValue) -> SSAValue:
        """The value that stands for all of the same type."""
        while self.groups.get(value, value) is not value:
            value = self.groups[value]
        return value


@dataclass
class _Node:
    """The two sides of one op in the cut."""

    takes: int
    makes: int
    cost: Expected


def _has_integers(value: SSAValue) -> bool:
    return is_float32(value) and (range_of(value) is not None or _is_joined(value))


def _is_joined(value: SSAValue) -> bool:
    """Whether a float is made of integers, by a cast that is there."""
    return isinstance(value.owner, DequantizeOp) and own_type(value) is not None


class _Graph:
    def __init__(
        self, func: FuncOp, target: Target, *, kernels: bool, bias: float, static: bool, weights: bool
    ):
        self.block = func.body.block
        self.target, self.kernels, self.bias, self.static = target, kernels, bias, static
        self.weights = weights
        shapes = [shape_of(arg.type) for arg in self.block.args]
        self.batch = OPEN_BATCH if all(s and s[0] == DYNAMIC for s in shapes) else 1
        self.cut = Cut()
        self.nodes: dict[Operation, _Node] = {}
        self.now: set[int] = set()
        """Sides that are integers whatever is decided."""

    def elements(self, value: SSAValue) -> int:
        return elements_of(value, counted(value), self.batch)

    def build(self) -> None:
        for op in self.block.ops:
            if is_integer(op):
                self._add_integer(op)
            else:
                self._add(op)
        values = [*self.block.args, *(r for op in self.block.ops for r in op.results)]
        for value in values:
            if is_float32(value) and not isinstance(value.owner, ConstantOp):
                self._connect(value)
        if self.kernels:
            for op in self.nodes:
                if (added := bias_behind(op)) is not None:
                    first, second = self.nodes[op], self.nodes[added]
                    self.cut.divide(first.makes, second.makes, INFINITE)
                    self.cut.divide(second.makes, first.makes, INFINITE)

    def _add(self, op: Operation) -> None:
        cost = FLOAT_ONLY
        if isinstance(op, OnnxOp) and not isinstance(op, ConstantOp) and KEEP_FLOAT not in op.attributes:
            if not self.weights and op.get_trait(Linear) is not None:
                cost = in_float(op, self.target, self.elements)
            elif self.kernels and (gain := recurrent(op, self.target, self.elements)) is not None:
                cost = gain if self.weights else Expected(gain.plain or gain.floating)
            elif self._can_be_integer(op):
                cost = expected(op, self.target, self.elements, kernels=self.kernels)
            if self.kernels and is_bias(op) is not None and cost.integer is not None:
                cost = Expected(0.0, 0.0)
            if not self.static:
                cost = Expected(cost.floating, dynamic=cost.dynamic, plain=cost.plain)
        takes = self.cut.node()
        makes = takes
        if cost.integer is None:
            self.cut.prefer(takes, INFINITE, 0)
        elif cost.float_result is None:
            self.cut.prefer(takes, _picoseconds(cost.integer * self.bias), _picoseconds(cost.floating))
        else:
            makes = self.cut.node()
            # integers in: at least the float result; integers out: what a quantized one costs besides
            base = min(cost.integer, cost.float_result)
            self.cut.prefer(takes, _picoseconds(base * self.bias), _picoseconds(cost.floating))
            self.cut.prefer(makes, _picoseconds(cost.integer - base), 0)
            self.cut.divide(takes, makes, _picoseconds(cost.float_result - base))
            self.cut.divide(makes, takes, INFINITE)
        self.nodes[op] = _Node(takes, makes, cost)

    def _add_integer(self, op: Operation) -> None:
        """What takes integers now; a sum of products of them may make integers too."""
        takes = makes = self.cut.node()
        self.cut.prefer(takes, 0, INFINITE)
        self.now.add(takes)
        cost = FLOAT_ONLY
        if isinstance(op, OnnxOp) and any(is_float32(result) for result in op.results):
            makes = self.cut.node()
            free = op.get_trait(Linear) is not None and KEEP_FLOAT not in op.attributes
            if free and self._can_be_integer(op):
                cost = expected(op, self.target, self.elements, kernels=self.kernels)
            into_float = cost.floating if cost.float_result is None else cost.float_result
            if cost.integer is None:
                self.cut.prefer(makes, INFINITE, 0)
            else:
                self.cut.prefer(makes, _picoseconds(cost.integer), _picoseconds(into_float))
                cost = replace(cost, float_result=into_float)
        self.nodes[op] = _Node(takes, makes, cost)

    def _can_be_integer(self, op: OnnxOp) -> bool:
        """Whether all that the op takes and makes has a range, or is constant."""
        promise = op.get_trait(Commutes)
        if promise is not None:
            values = [*promise.operand_values(op), *promise.result_values(op)]
        elif op.get_trait(Linear) is not None:
            values = [op.operands[0], op.results[0]]
        else:
            values = [*op.operands, op.results[0]]
        if constant(values[0]) is not None or are_unlike(promise.operand_values(op) if promise else ()):
            return False
        return all(
            _has_integers(v) or is_quantized(v) or (constant(v) is not None and is_float32(v)) for v in values
        )

    def _connect(self, value: SSAValue) -> None:
        """What a quantize and a dequantize of `value` cost."""
        cut, count = self.cut, self.elements(value)
        readers = self._readers(value)
        maker = self.nodes[value.op].makes if isinstance(value, OpResult) else None
        quantize, dequantize = (self._cast(value, count, each) for each in (QUANTIZE, DEQUANTIZE))
        someone = cut.node()
        for reader in readers:
            if reader is not None:
                cut.divide(reader, someone, INFINITE)
        if maker is None:
            cut.prefer(someone, quantize, 0)
            return
        cut.divide(someone, maker, quantize)
        everyone = cut.node()
        for reader in readers:
            if reader is None:
                cut.prefer(everyone, INFINITE, 0)
            else:
                cut.divide(everyone, reader, INFINITE)
        cut.divide(maker, everyone, dequantize)

    def casts(self, is_integer: Sequence[bool]) -> list[float]:
        """Nanoseconds of each cast."""
        values = [*self.block.args, *(r for op in self.block.ops for r in op.results)]
        return [c for v in values if is_float32(v) and (c := self._casts(v, is_integer)) > 0]

    def total(self, is_integer: Sequence[bool], *, dynamic: bool = True) -> float:
        """Nanoseconds of one run with these sides, casts included."""
        result = sum(self.casts(is_integer))
        for node in self.nodes.values():
            cost = node.cost
            if not is_integer[node.takes]:
                result += cost.floating if dynamic or not cost.dynamic else cost.plain
            elif is_integer[node.makes] or cost.float_result is None:
                result += cost.integer or 0.0
            else:
                result += cost.float_result
        return result

    def _casts(self, value: SSAValue, is_integer: Sequence[bool]) -> float:
        if isinstance(value.owner, ConstantOp):
            return 0.0
        makes = isinstance(value, OpResult) and is_integer[self.nodes[value.op].makes]
        takes = {reader is not None and is_integer[reader] for reader in self._readers(value)}
        count = self.elements(value)
        if makes and False in takes:
            return self._cast(value, count, DEQUANTIZE) / PICOSECONDS
        return self._cast(value, count, QUANTIZE) / PICOSECONDS if not makes and True in takes else 0.0

    def _cast(self, value: SSAValue, count: int, each: float) -> int:
        if not self.kernels or "Placement" not in self.target.costs:
            return _picoseconds(1.5)
        place = self.target.costs["Placement"]
        calls, moves = place["call"], 0.0
        if rank_of(value) == IMAGE:  # channels last in integers, in blocks in float
            moves, calls = place["move_byte"] + place["reorder"], 3 * calls
        return _picoseconds(calls + count * (each + moves))

    def _readers(self, value: SSAValue) -> list[int | None]:
        """The sides of those that read elements of `value`; None for one that takes floats whatever happens."""
        readers: list[int | None] = []
        for use in value.uses:
            op = use.operation
            node = self.nodes.get(op)
            promise = op.get_trait(Commutes) if isinstance(op, OnnxOp) else None
            if promise is not None and use.index not in promise.operands(op):  # pyright: ignore[reportArgumentType]
                readers.append(None)
            elif promise is not None and not promise.results(op):  # pyright: ignore[reportArgumentType]
                continue  # it reads a size
            else:
                readers.append(None if node is None or op.parent is not self.block else node.takes)
        return readers


def _picoseconds(nanoseconds: float) -> int:
    return max(round(nanoseconds * PICOSECONDS), 0)


def place(
    func: FuncOp,
    target: Target,
    *,
    kernels: bool,
    bias: float = 1.0,
    static: bool = True,
    weights: bool = True,
) -> Placement:
    """
    The placement that costs least on `target`. Values need a range (`annotations.annotate`) to become integers.

    kernels: whether integers are run by kernels of their own. bias: what integer ops are taken to cost, as a multiple.
    static: whether any tensor gets a range of its own; else only kernels that quantize at run time are used.
    weights: whether ops with float weights become integer; else only what stands between integers that are there.
    """
    graph = _Graph(func, target, kernels=kernels, bias=bias, static=static, weights=weights)
    graph.build()
    is_integer = graph.cut.solve()
    placement = Placement(
        cost=graph.total(is_integer),
        float_cost=graph.total([k in graph.now for k in range(len(is_integer))], dynamic=False),
        casts=len(graph.casts(is_integer)),
    )
    _weights(graph, is_integer, placement)
    takes = {op for op, node in graph.nodes.items() if is_integer[node.takes]}
    makes = {op for op, node in graph.nodes.items() if is_integer[node.makes]}
    _pairs(graph, takes, makes, placement)
    for op in inner_layers(func) if weights and (target.kernels or not kernels) else ():
        value = op.operands[0]
        if KEEP_FLOAT not in op.attributes and is_float32(value) and range_of(value) is not None:
            placement.linear.append(op)
            uses = placement.pairs.setdefault(value, set())
            if uses is not None:
                uses.add((op, 0))
    return placement


def _weights(graph: _Graph, is_integer: Sequence[bool], placement: Placement) -> None:
    """The ops whose weights are to be quantized, and those that run by kernels which quantize at run time."""
    for op, node in graph.nodes.items():
        if node.takes in graph.now:
            continue
        if isinstance(op, OnnxOp) and op.get_trait(Linear) is not None:
            if is_integer[node.takes]:
                placement.linear.append(op)
            elif node.cost.dynamic:
                placement.dynamic.append(op)
        elif isinstance(op, OnnxOp) and node.cost.dynamic:
            placement.dynamic.append(op)


def _pairs(
    graph: _Graph, takes: Collection[Operation], makes: Collection[Operation], placement: Placement
) -> None:
    for op in graph.block.ops:
        if not isinstance(op, OnnxOp):
            continue
        promise = op.get_trait(Commutes)
        if promise is not None and op in takes and op.get_trait(Clamp) is None:
            values = [
                v for v in (*promise.operand_values(op), *promise.result_values(op)) if constant(v) is None
            ]
            _join(values, placement)
    for value in [*graph.block.args, *(r for op in graph.block.ops for r in op.results)]:
        if not _has_integers(value) or isinstance(value.owner, ConstantOp | DequantizeOp):
            continue
        if isinstance(value, OpResult) and value.op in makes:
            if not is_fused(value, takes, kernels=graph.kernels):
                placement.pairs[value] = None
            continue
        uses = {
            (u.operation, u.index)
            for u in value.uses
            if u.operation in takes
            and not isinstance(u.operation, QuantizeOp)
            and _reads(u.operation, u.index)
        }
        if uses:
            placement.pairs[value] = uses


def _reads(op: Operation, index: int) -> bool:
    """Whether operand `index` of an op is elements."""
    assert isinstance(op, OnnxOp)
    promise = op.get_trait(Commutes)
    if promise is not None:
        return index in promise.operands(op)
    return op.get_trait(Linear) is None or index == 0


def _join(values: list[SSAValue], placement: Placement) -> None:
    """Let values have one type."""
    first = placement.group_of(values[0])
    for value in values[1:]:
        other = placement.group_of(value)
        if other is not first:
            placement.groups[other] = first


def ranges(placement: Placement) -> dict[SSAValue, tuple[float, float]]:
    """The range of each value with a pair: that of all values of the same type together."""
    whole: dict[SSAValue, tuple[float, float]] = {}
    members = set(placement.pairs) | set(placement.groups)
    for value in members:
        known, group = range_of(value), placement.group_of(value)
        if known is not None and value in placement.pairs:
            low, high = whole.get(group, known)
            whole[group] = min(low, known[0]), max(high, known[1])
    return {v: whole[placement.group_of(v)] for v in placement.pairs}


def reason_for_float(op: OnnxOp) -> Blocked | None:
    """Why a linear op is not among those that a placement quantizes; None if its weight is quantized already."""
    if quantized_of(op.operands[1].type) is not None or isinstance(op.operands[1].owner, DequantizeOp):
        return None
    if constant(op.operands[1]) is None:
        return COMPUTED_WEIGHT
    if not (_has_integers(op.operands[0]) and _has_integers(op.results[0])):
        return Blocked("no-range", "no range is known of what the op takes or makes", "calibrate the model")
    return Blocked("float-faster", "float is expected to be as fast here, casts included")
