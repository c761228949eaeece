"""
Placement of quantization in a float model: the cheapest by the target's costs, as a minimum cut.

Each op is on the integer side or on the float side; a linear one may also take integers and return floats. A quantize
between an op that returns floats and one that takes integers, or a dequantize for the reverse, is paid once for each
tensor. The cut minimizes the total cost: no island of integers costs more in casts than it saves.
"""

from __future__ import annotations

from collections.abc import Collection, Sequence
from dataclasses import dataclass, field, replace
from typing import NamedTuple

from xdsl.dialects.func import FuncOp
from xdsl.ir import BlockArgument, Operation, OpResult, SSAValue, Use

from qdialect.dialects.onnx_base import ConstantOp, OnnxOp, promise_of
from qdialect.dialects.onnx_types import DYNAMIC, quantized_of, shape_of
from qdialect.dialects.quant import DequantizeOp, QuantizeOp
from qdialect.ir.values import constant, is_float32
from qdialect.promises.base import Commutes
from qdialect.promises.clamping import Clamp
from qdialect.promises.linear import Linear
from qdialect.quantizer.placement.annotations import are_unlike, counted, range_of
from qdialect.quantizer.placement.cut import INFINITE, Cut
from qdialect.quantizer.placement.existing_quantization import is_integer, is_quantized, own_type
from qdialect.quantizer.placement.kernel_fusion import bias_behind, clamps_in_front, is_bias, is_fused
from qdialect.quantizer.placement.op_costs import (
    BATCH_OF_ONE,
    FLOAT_ONLY,
    OPEN_BATCH,
    Costing,
    Expected,
    elements_of,
)
from qdialect.quantizer.statistics.loop_ranges import inner_layers
from qdialect.reasons import COMPUTED_WEIGHT, Blocked, Times
from qdialect.rewriting.journal import KEEP_FLOAT
from qdialect.targets import Target

QUANTIZE_NS, DEQUANTIZE_NS = 0.126, 0.115
"""Nanoseconds per element on targets that state none."""
PICOSECONDS_PER_NS = 1000
FREE_CASTS = 0.01
"""Fraction of the costs of casts where all is to be in integers: islands of integers are joined, none is left out."""


@dataclass
class Placement:
    """A placement: the values, weights and kernels that become integer."""

    pairs: dict[SSAValue, set[tuple[Operation, int]] | None] = field(
        default_factory=dict[SSAValue, "set[tuple[Operation, int]] | None"]
    )
    """Values to quantize and dequantize, with the uses that take the result; None for all."""
    linear: list[OnnxOp] = field(default_factory=list[OnnxOp])
    """Linear ops whose weight is to be quantized."""
    dynamic: list[OnnxOp] = field(default_factory=list[OnnxOp])
    """Linear ops in float whose activation a kernel quantizes at run time."""
    others: list[OnnxOp] = field(default_factory=list[OnnxOp])
    """Further ops that take integers: they compute with them, select or move them."""
    quieter: set[OnnxOp] = field(default_factory=set[OnnxOp])
    """Linear ops that would take less time in integers, but not so much less that it is worth their noise."""
    groups: dict[SSAValue, SSAValue] = field(default_factory=dict[SSAValue, SSAValue])
    """Representative of the values that share a quantized type, by value."""
    cost: float = 0.0
    """Nanoseconds that one run is expected to take."""
    float_cost: float = 0.0
    """Nanoseconds of one run with no further quantization."""
    one_cost: float = 0.0
    """As `cost`, of a batch of one if the batch is open; else the same."""
    one_float_cost: float = 0.0
    """As `float_cost`, likewise."""
    casts: int = 0
    """Number of casts of activations."""
    expected: dict[Operation, Times] = field(default_factory=dict[Operation, Times])
    """What linear ops that stay in float would take in either form, where the target's costs are measured."""

    def shares(self, more: float = 0.0) -> tuple[float, float]:
        """Time as a fraction of that with no further quantization, with `more` nanoseconds; and of a batch of one."""
        rows = (self.cost, self.float_cost), (self.one_cost, self.one_float_cost)
        share, of_one = ((cost + more) / max(before, 1e-9) for cost, before in rows)
        return share, of_one

    def add(self, other: Placement) -> None:
        """Merge the placement of another graph."""
        self.pairs |= other.pairs
        self.groups |= other.groups
        self.linear += other.linear
        self.dynamic += other.dynamic
        self.others += other.others
        self.cost += other.cost
        self.float_cost += other.float_cost
        self.one_cost += other.one_cost
        self.one_float_cost += other.one_float_cost
        self.expected |= other.expected

    def group_of(self, value: SSAValue) -> SSAValue:
        """The representative of the values that share the type of `value`."""
        while self.groups.get(value, value) is not value:
            value = self.groups[value]
        return value


Position = tuple[int, int]
"""A value: the position of its op in the graph and its index; of an argument, the op around it and -1 - its index."""


class PlacementKey(NamedTuple):
    """
    What a placement puts into integers, by positions: equal for two clones of a module that become equal.

    Constants count apart, since some are added with corrected biases.
    """

    linear: tuple[int, ...]
    dynamic: tuple[int, ...]
    others: tuple[int, ...]
    pairs: frozenset[tuple[Position, frozenset[tuple[int, int]] | None]]
    """The values, with the operands that take integers: position of the op, and index; None for all."""
    groups: frozenset[tuple[Position, Position]]
    """The values that share the type of another one, which follows."""
    costs: tuple[float, float]
    """Expected nanoseconds, and those of a batch of one."""


def placement_key(func: FuncOp, placement: Placement) -> PlacementKey:
    """The key of a placement of this graph."""
    ops = list(func.walk())
    constants = [op for op in ops if isinstance(op, ConstantOp)]
    at = {op: k for k, op in enumerate(op for op in ops if not isinstance(op, ConstantOp))}
    at |= {op: -1 - k for k, op in enumerate(constants)}

    def position(value: SSAValue) -> Position:
        if isinstance(value, OpResult):
            return at[value.op], value.index
        assert isinstance(value, BlockArgument)
        around = value.owner.parent_op()
        assert around is not None
        return at[around], -1 - value.index

    pairs = (
        (position(value), None if uses is None else frozenset((at[op], k) for op, k in uses))
        for value, uses in placement.pairs.items()
    )
    return PlacementKey(
        linear=tuple(at[op] for op in placement.linear),
        dynamic=tuple(at[op] for op in placement.dynamic),
        others=tuple(at[op] for op in placement.others),
        pairs=frozenset(pairs),
        groups=frozenset((position(v), position(placement.group_of(v))) for v in placement.groups),
        costs=(placement.cost, placement.one_cost),
    )


@dataclass
class _Node:
    """The two sides of one op in the cut."""

    takes: int
    makes: int
    cost: Expected
    whole: _Node | None = None
    """The node of the op into whose float kernel onnxruntime fuses this one."""


def _has_integers(value: SSAValue) -> bool:
    return is_float32(value) and (range_of(value) is not None or _is_joined(value))


def _is_joined(value: SSAValue) -> bool:
    """True if a float is the result of an existing dequantize."""
    return isinstance(value.owner, DequantizeOp) and own_type(value) is not None


class _Graph:
    def __init__(
        self,
        func: FuncOp,
        target: Target,
        *,
        kernels: bool,
        bias: float,
        static: bool,
        weights: bool,
        ends: bool,
        batch: int,
    ):
        self.block = func.body.block
        self.target, self.kernels, self.bias, self.static = target, kernels, bias, static
        self.weights, self._costing = weights, Costing(target, self.elements, self.block, kernels=kernels)
        shapes = [shape_of(arg.type) for arg in self.block.args]
        self.is_open = all(s and s[0] == DYNAMIC for s in shapes)
        self.batch = batch if self.is_open else 1
        self.cut = Cut()
        self.nodes: dict[Operation, _Node] = {}
        self.now: set[int] = set()
        """Nodes of ops that are integer in any placement."""
        self.ends = self.cut.node() if ends else None
        """The node of the caller, if it passes and takes integers."""
        if self.ends is not None:
            self.cut.prefer(self.ends, 0, INFINITE)

    @property
    def values(self) -> list[SSAValue]:
        """The inputs and results of the graph."""
        return [*self.block.args, *(r for op in self.block.ops for r in op.results)]

    def elements(self, value: SSAValue) -> int:
        return elements_of(value, counted(value), self.batch)

    def build(self) -> None:
        for op in self.block.ops:
            if is_integer(op):
                self._add_integer(op)
            else:
                self._add(op)
        for value in self.values:
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
                cost = self._costing.in_float(op)
            elif self.kernels and (gain := self._costing.recurrent(op)) is not None:
                cost = gain if self.weights else Expected(gain.plain or gain.floating)
            elif self._can_be_integer(op):
                cost = self._costing.expected(op)
            if self.kernels and is_bias(op) is not None and cost.integer is not None:
                cost = Expected(0.0, 0.0)
            if not self.static:
                cost = replace(cost, integer=None, float_result=None, whole=None, apart=0.0)
        takes = self.cut.node()
        makes = takes
        if cost.integer is None:
            self.cut.prefer(takes, INFINITE, 0)
        elif cost.float_result is None:
            self.cut.prefer(takes, _picoseconds(cost.integer * self.bias), _picoseconds(cost.floating))
        else:
            makes = self.cut.node()
            # integer operands: at least the cost with a float result; integer result: its additional cost
            base = min(cost.integer, cost.float_result)
            self.cut.prefer(takes, _picoseconds(base * self.bias), _picoseconds(cost.floating))
            self.cut.prefer(makes, _picoseconds(cost.integer - base), 0)
            self.cut.divide(takes, makes, _picoseconds(cost.float_result - base))
            self.cut.divide(makes, takes, INFINITE)
        whole = None if cost.whole is None else self.nodes.get(cost.whole)
        if whole is not None:
            self.cut.divide(whole.takes, takes, _picoseconds(cost.apart))
        self.nodes[op] = _Node(takes, makes, cost, whole)

    def _add_integer(self, op: Operation) -> None:
        """Add an op on integers already; a linear one may return integers as well."""
        takes = makes = self.cut.node()
        self.cut.prefer(takes, 0, INFINITE)
        self.now.add(takes)
        cost = FLOAT_ONLY
        if isinstance(op, OnnxOp) and any(is_float32(result) for result in op.results):
            makes = self.cut.node()
            free = op.get_trait(Linear) is not None and KEEP_FLOAT not in op.attributes
            if free and self._can_be_integer(op):
                cost = self._costing.expected(op)
            into_float = cost.floating if cost.float_result is None else cost.float_result
            if cost.integer is None:
                self.cut.prefer(makes, INFINITE, 0)
            else:
                self.cut.prefer(makes, _picoseconds(cost.integer), _picoseconds(into_float))
                cost = replace(cost, float_result=into_float)
        self.nodes[op] = _Node(takes, makes, cost)

    def _can_be_integer(self, op: OnnxOp) -> bool:
        """True if all operands and results of the op have a range or are constant."""
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
        """Add the costs of a quantize and a dequantize of `value`."""
        cut, count = self.cut, self.elements(value)
        factor = 1.0 if self.bias else FREE_CASTS
        readers = self._readers(value)
        maker = self._maker(value)
        quantize, dequantize = (
            _picoseconds(factor * self._costing.cast(value, count, each))
            for each in (QUANTIZE_NS, DEQUANTIZE_NS)
        )
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

    def _maker(self, value: SSAValue) -> int | None:
        """The node of what computes a value; None for a caller that passes floats."""
        if isinstance(value, OpResult):
            return self.nodes[value.op].makes
        return self.ends if _has_integers(value) else None

    def casts(self, is_integer: Sequence[bool]) -> list[float]:
        """Nanoseconds of each cast."""
        return [c for v in self.values if is_float32(v) and (c := self._casts(v, is_integer)) > 0]

    def dynamic(self, is_integer: Sequence[bool]) -> set[Operation]:
        """The ops in float with a dynamically quantized kernel."""
        return {op for op, n in self.nodes.items() if n.cost.dynamic and not is_integer[n.takes]}

    def total(self, is_integer: Sequence[bool], dynamic: Collection[Operation] = ()) -> float:
        """Nanoseconds of one run with these sides and dynamically quantized kernels, casts included."""
        result = sum(self.casts(is_integer))
        for op, node in self.nodes.items():
            cost = node.cost
            if not is_integer[node.takes]:
                plain = cost.plain if cost.dynamic else cost.floating
                result += cost.run_time if op in dynamic else plain
                result += cost.apart if node.whole is not None and is_integer[node.whole.takes] else 0.0
            elif is_integer[node.makes] or cost.float_result is None:
                result += cost.integer or 0.0
            else:
                result += cost.float_result
        return result

    def expected(self, op: OnnxOp, is_integer: Sequence[bool]) -> Times | None:
        """The times of an op that is in float, alone in integers with its casts; None without measured costs."""
        node = self.nodes[op]
        cost = node.cost
        if cost.integer is None or not self._costing.has_measured_kernels:
            return None
        sides, values = list(is_integer), (op.operands[0], op.results[0])
        before, taken = sum(self._casts(v, sides) for v in values), list[float]()
        sides[node.takes] = True
        for makes, own in ((False, cost.float_result), (True, cost.integer)):
            if own is not None and (makes or node.makes != node.takes):
                sides[node.makes] = makes
                taken.append(own + sum(self._casts(v, sides) for v in values) - before)
        return Times(cost.plain if cost.dynamic else cost.floating, max(min(taken), 0.0), self.batch)

    def _casts(self, value: SSAValue, is_integer: Sequence[bool]) -> float:
        if isinstance(value.owner, ConstantOp):
            return 0.0
        maker = self._maker(value)
        makes = maker is not None and is_integer[maker]
        takes = {reader is not None and is_integer[reader] for reader in self._readers(value)}
        count = self.elements(value)
        if makes and False in takes:
            return self._cast(value, count, DEQUANTIZE_NS) / PICOSECONDS_PER_NS
        return (
            self._cast(value, count, QUANTIZE_NS) / PICOSECONDS_PER_NS if not makes and True in takes else 0.0
        )

    def _cast(self, value: SSAValue, count: int, each: float) -> int:
        return _picoseconds(self._costing.cast(value, count, each))

    def _readers(self, value: SSAValue) -> list[int | None]:
        """The nodes of the ops that read elements of `value`; None for one that always takes floats."""
        readers: list[int | None] = []
        for use in value.uses:
            op = use.operation
            if self.ends is not None and op is self.block.last_op and _has_integers(value):
                readers.append(self.ends)
                continue
            node = self.nodes.get(op)
            promise = promise_of(op, Commutes)
            if promise is not None and use.index not in promise.operands(op):  # pyright: ignore[reportArgumentType]
                readers.append(None)
            elif promise is not None and not promise.results(op):  # pyright: ignore[reportArgumentType]
                continue  # it reads the shape only
            else:
                readers.append(None if node is None or op.parent is not self.block else node.takes)
        return readers


def _picoseconds(nanoseconds: float) -> int:
    return max(round(nanoseconds * PICOSECONDS_PER_NS), 0)


def place(
    func: FuncOp,
    target: Target,
    *,
    kernels: bool,
    bias: float = 1.0,
    static: bool = True,
    weights: bool = True,
    hoists: bool = False,
    ends: bool = False,
    batch: int = OPEN_BATCH,
) -> Placement:
    """
    The placement of least cost on `target`. Values need a range (`annotations.annotate`) to become integers.

    kernels: True if integer ops have kernels of their own. bias: factor applied to the costs of integer ops;
    0 for all in integers that has a kernel.
    static: True to quantize tensors by their ranges; otherwise only dynamically quantized kernels are used.
    weights: True if ops with float weights may become integer; otherwise only ops between existing integers.
    hoists: True if a quantize is moved above a clamp and above ops that move elements. ends: True if the caller passes
    and takes integers. batch: size for which an open batch is placed.
    """

    def priced(size: int) -> _Graph:
        graph = _Graph(
            func, target, kernels=kernels, bias=bias, static=static, weights=weights, ends=ends, batch=size
        )
        graph.build()
        return graph

    graph = priced(batch)
    is_integer = graph.cut.solve()
    dynamic = graph.dynamic(is_integer)
    # The nodes of a graph do not depend on its batch, so the sides of one are those of the other.
    is_open = graph.is_open and kernels
    one, many = (
        graph if size == batch or not is_open else priced(size) for size in (BATCH_OF_ONE, OPEN_BATCH)
    )
    before = [k in graph.now for k in range(len(is_integer))]
    placement = Placement(
        cost=many.total(is_integer, dynamic),
        float_cost=many.total(before),
        one_cost=one.total(is_integer, dynamic),
        one_float_cost=one.total(before),
        casts=len(graph.casts(is_integer)),
    )
    _weights(graph, is_integer, placement)
    takes = {op for op, node in graph.nodes.items() if is_integer[node.takes]}
    makes = {op for op, node in graph.nodes.items() if is_integer[node.makes]}
    _pairs(graph, takes - (first := clamps_in_front(takes, makes)), makes - first, placement, hoists)
    for op in inner_layers(func) if weights and (target.kernels or not kernels) else ():
        value = op.operands[0]
        if KEEP_FLOAT not in op.attributes and is_float32(value) and range_of(value) is not None:
            placement.linear.append(op)
            uses = placement.pairs.setdefault(value, set())
            if uses is not None:
                uses.add((op, 0))
    return placement


def _weights(graph: _Graph, is_integer: Sequence[bool], placement: Placement) -> None:
    """Set the ops whose weights are to be quantized, and those with dynamically quantized kernels."""
    for op, node in graph.nodes.items():
        if node.takes in graph.now:
            continue
        if isinstance(op, OnnxOp) and op.get_trait(Linear) is not None:
            if is_integer[node.takes]:
                placement.linear.append(op)
            elif node.cost.dynamic:
                placement.dynamic.append(op)
            elif (times := graph.expected(op, is_integer)) is not None:
                placement.expected[op] = times
        elif isinstance(op, OnnxOp) and node.cost.dynamic:
            placement.dynamic.append(op)
        elif isinstance(op, OnnxOp) and is_integer[node.takes]:
            placement.others.append(op)


def _pairs(
    graph: _Graph,
    takes: Collection[Operation],
    makes: Collection[Operation],
    placement: Placement,
    hoists: bool,
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
    for value in graph.values:
        if not _has_integers(value) or isinstance(value.owner, ConstantOp | DequantizeOp):
            continue
        if isinstance(value, OpResult) and value.op in makes:
            if not is_fused(value, takes, kernels=graph.kernels, hoists=hoists):
                placement.pairs[value] = None
            continue
        if graph.ends is not None and not isinstance(value, OpResult):
            placement.pairs[value] = None
            continue
        uses = {(u.operation, u.index) for u in value.uses if _takes_integers(graph, u, takes)}
        if uses:
            placement.pairs[value] = uses


def _takes_integers(graph: _Graph, use: Use, takes: Collection[Operation]) -> bool:
    """True if a use takes a value in integers: that of an op placed so, or of a caller that takes integers."""
    op = use.operation
    if op is graph.block.last_op:
        return graph.ends is not None
    return op in takes and not isinstance(op, QuantizeOp) and _reads(op, use.index)


def _reads(op: Operation, index: int) -> bool:
    """True if the op reads elements of its operand `index`."""
    assert isinstance(op, OnnxOp)
    promise = op.get_trait(Commutes)
    if promise is not None:
        return index in promise.operands(op)
    return op.get_trait(Linear) is None or index == 0


def _join(values: list[SSAValue], placement: Placement) -> None:
    """Let values share one quantized type."""
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


def reason_for_float(op: OnnxOp, placement: Placement) -> Blocked | None:
    """Reason why a placement does not quantize a linear op; None if its weight is quantized already."""
    if quantized_of(op.operands[1].type) is not None or isinstance(op.operands[1].owner, DequantizeOp):
        return None
    if constant(op.operands[1]) is None:
        return COMPUTED_WEIGHT
    if not (_has_integers(op.operands[0]) and _has_integers(op.results[0])):
        return Blocked("no-range", "an operand or the result has no range", "calibrate the model")
    quieter = "integers would save too little time here for the noise that they add"
    slower, times = (
        "integers are not expected to be faster here, including the casts",
        placement.expected.get(op),
    )
    if op in placement.quieter:
        return Blocked(
            "noisy-layer", quieter, "quantize with --prefer speed, which takes the time", expected=times
        )
    return Blocked("float-faster", slower, expected=times)
