"""
Quantized modules in which each site of rounding can be switched on individually, for sensitivity analysis.

The casts of `insert-casts` are taken apart: the pair on an activation into a clip and a rounding, a weight into its
float and its rounded elements, a dynamically quantized op into itself and the float op. A Where selects between
them by a graph input, so that one session serves all sites.
"""

from __future__ import annotations

from collections.abc import Iterable, Mapping, Sequence
from dataclasses import dataclass, field
from itertools import islice

import numpy as np
import numpy.typing as npt
from xdsl.dialects.builtin import ArrayAttr, DictionaryAttr, ModuleOp, StringAttr, TensorType, i1
from xdsl.dialects.func import ReturnOp
from xdsl.ir import Operation, SSAValue

from qdialect import numerics
from qdialect.dialects.onnx_base import ConstantOp, OnnxOp
from qdialect.dialects.quant import DequantizeOp, QuantizeOp, UniformType
from qdialect.errors import UserError
from qdialect.evaluation.parallel import parallel_map
from qdialect.ir.build import constant_op
from qdialect.ir.insertion import end_of, next_of, onnx_op, remove
from qdialect.ir.interface import attributes_of_inputs, main_of
from qdialect.ir.names import called
from qdialect.ir.values import constant, is_float32, real_constant
from qdialect.numerics import Array
from qdialect.ops.generated import op_named
from qdialect.quantizer.rounding.layers import spread
from qdialect.quantizer.search.sensitivity import Budget, Cause, RoundingSite
from qdialect.quantizer.statistics.observer import DEFAULT_MEMORY_BYTES, Feeds, Observer

SWITCH_TYPE = TensorType(i1, [])
BYTES_PER_STEP = 4


def steps_of(module: ModuleOp) -> list[Operation]:
    """The ops of the graph, without casts and constants."""
    return [
        op
        for op in main_of(module).body.block.ops
        if isinstance(op, OnnxOp) and not isinstance(op, ConstantOp | QuantizeOp | DequantizeOp | ReturnOp)
    ]


@dataclass
class Switches:
    """A module with switches: its last inputs, in the order of the graph."""

    module: ModuleOp
    sites: list[RoundingSite] = field(default_factory=list[RoundingSite])

    @property
    def names(self) -> list[str]:
        """Names of the switches' inputs, by site."""
        return [f"switch {k}" for k in range(len(self.sites))]


class _Writer:
    """Inserts switches into a clone of a quantized module."""

    def __init__(self, module: ModuleOp):
        self.result = Switches(module)
        self.func = main_of(module)
        self.block = self.func.body.block

    def site(self, layers: Iterable[str], cause: Cause) -> SSAValue:
        """Add a switch for a site; returns its input."""
        self.result.sites.append(RoundingSite(tuple(dict.fromkeys(layers)), cause))
        return self.block.insert_arg(SWITCH_TYPE, len(self.block.args))

    def _add(self, before: Operation, name: str, inputs: list[SSAValue], like: SSAValue) -> SSAValue:
        op = op_named("", name).build([*inputs], [like.type])
        self.block.insert_op_before(op, before)
        return op.results[0]

    def constant(self, before: Operation, array: Array) -> SSAValue:
        """A constant inserted in front of an op."""
        op = constant_op(array)
        self.block.insert_op_before(op, before)
        return op.results[0]

    def choose(self, before: Operation, switch: SSAValue, on: SSAValue, off: SSAValue) -> SSAValue:
        """A Where: `on` if the switch is on, else `off`."""
        return self._add(before, "Where", [switch, on, off], off)

    def pair(self, cast: DequantizeOp, source: QuantizeOp) -> None:
        """Replace a pair of casts by a switchable clip and rounding; other users of the integers keep them."""
        type, x = source.element_type, source.operands[0]
        users = [use.operation for use in cast.results[0].uses if isinstance(use.operation, OnnxOp)]
        if not users and isinstance(x.owner, OnnxOp):  # a result of the graph
            users = [x.owner]
        layers = [called(user) for user in users]
        low, high, step = (self.constant(cast, a) for a in _bounds(type))
        inside = self._add(cast, "Min", [self._add(cast, "Max", [x, low], x), high], x)
        kept = self.choose(cast, self.site(layers, Cause.CLIPPING), inside, x)
        counted = self._add(cast, "Round", [self._add(cast, "Div", [kept, step], x)], x)
        rounded = self._add(cast, "Mul", [counted, step], x)
        result = self.choose(cast, self.site(layers, Cause.ROUNDING), rounded, kept)
        cast.results[0].replace_all_uses_with(result)
        remove(cast)

    def weight(self, op: Operation, place: int, real: Array, switch: SSAValue) -> None:
        """Add a switch for a constant operand that differs between the modules."""
        value = op.operands[place]
        op.operands[place] = self.choose(op, switch, value, self.constant(op, real))

    def other_op(self, op: Operation, copy: Operation, layer: str) -> None:
        """Add a switch between an op and the float op, of this name, that it replaces."""
        self.block.insert_op_before(copy, op)
        switch = self.site([layer], Cause.ROUNDING)
        following = next_of(op)
        for mine, plain in zip(op.results, copy.results, strict=True):
            users = list(mine.uses)
            result = self.choose(following, switch, mine, plain)
            for use in users:
                use.operation.operands[use.index] = result

    def name_inputs(self) -> None:
        """Update the function's type and names for the new inputs."""
        rows = attributes_of_inputs(self.func)[: -len(self.result.sites) or None]
        rows += [DictionaryAttr({"onnx.name": StringAttr(name)}) for name in self.result.names]
        self.func.arg_attrs = ArrayAttr(rows)
        self.func.update_function_type()


def _bounds(type: UniformType) -> tuple[Array, Array, Array]:
    """The least and greatest real of a type, and its step."""
    ends = np.array([type.storage.low, type.storage.high])
    real = numerics.dequantize(ends, type.scales, type.zero_points)
    return real[0], real[1], type.scales.astype(np.float32).reshape(())


def with_switches(float_module: ModuleOp, quantized: ModuleOp) -> Switches:
    """
    `quantized` with a switch for each site: with all of them off it is equivalent to `float_module`.

    `quantized` is the result of `insert-casts` and weight rounding on a clone of `float_module`: the same ops
    in the same order, except for casts, constants and dynamically quantized ops. Raises UserError if it is not.
    """
    values: dict[SSAValue, SSAValue] = {}
    module = quantized.clone()
    writer = _Writer(module)
    originals = _originals(steps_of(float_module), steps_of(module))
    for old, new in zip(main_of(float_module).body.block.args, writer.block.args, strict=True):
        values[old] = new
    for op in list(writer.block.ops):
        if isinstance(op, DequantizeOp) and isinstance(source := op.operands[0].owner, QuantizeOp):
            if source.element_type.is_per_tensor:
                writer.pair(op, source)
        if (old := originals.get(op)) is not None:
            values.update(zip(old.results, op.results, strict=True))
            if old.name == op.name:
                _operands(writer, old, op)
            else:
                writer.other_op(op, _copy(writer, old, op, values), called(old))
    writer.name_inputs()
    return writer.result


def _originals(theirs: Sequence[Operation], ours: Sequence[Operation]) -> dict[Operation, Operation]:
    """
    The float op of each op of the quantized module. A 1x1 convolution as a dynamically quantized product of rows is
    three ops, of which the last gives its result.
    """
    originals: dict[Operation, Operation] = {}
    rest = iter(ours)
    for old in theirs:
        new = next(rest, None)
        if isinstance(new, OnnxOp) and new.op_type == "Reshape" and new.name != old.name:
            new = next(islice(rest, 1, None), None)
        if new is None or len(new.results) != len(old.results):
            break
        originals[new] = old
    if len(originals) != len(theirs) or next(rest, None) is not None:
        raise UserError("the quantized model has other operations than the float one")
    return originals


def _operands(writer: _Writer, old: Operation, new: Operation) -> None:
    """Add one switch for all changed constants of an op; an added bias counts as zeros before."""
    changed: list[tuple[int, Array]] = []
    for k, after in enumerate(new.operands[len(old.operands) :], len(old.operands)):
        if (bias := real_constant(after)) is not None:
            changed.append((k, np.zeros_like(bias)))
    for k, (before, after) in enumerate(zip(old.operands, new.operands, strict=False)):
        real = real_constant(before)
        now = real_constant(after) if constant(before) is not None else None
        if real is not None and now is not None and not np.array_equal(real, now):
            changed.append((k, real))
    if changed:
        switch = writer.site([called(new)], Cause.WEIGHT)
        for k, real in changed:
            writer.weight(new, k, real, switch)


def _copy(writer: _Writer, old: Operation, new: Operation, values: Mapping[SSAValue, SSAValue]) -> Operation:
    """A copy of the float op on the corresponding values of the quantized module."""
    old = onnx_op(old)
    operands: list[SSAValue] = []
    for value in old.operands:
        array = real_constant(value)
        operands.append(values[value] if array is None else writer.constant(new, array))
    return old.__class__.create(
        operands=operands, result_types=list(old.result_types), properties=old.properties
    )


class OutputRunner:
    """Runs a module in the oracle form for its float outputs."""

    def __init__(self, module: ModuleOp):
        end = end_of(main_of(module).body.block, ReturnOp)
        self._observer = Observer(module)
        self._values = [v for v in end.operands if self._observer.is_computed(v) and is_float32(v)]

    def run(self, feeds: Feeds) -> npt.NDArray[np.float64]:
        """
        All float outputs, flat and concatenated, for one feed keyed by input name; NaN counts as 0.

        Raises UserError if onnxruntime cannot run the model on it.
        """
        flat = [np.asarray(a, np.float64).reshape(-1) for a in self._observer.run(self._values, feeds)]
        return np.nan_to_num(np.concatenate(flat)) if flat else np.zeros(0)


class BudgetRunner:
    """Runs a module with switches, sample by sample, and accumulates a noise budget."""

    def __init__(self, switches: Switches, memory: int = DEFAULT_MEMORY_BYTES):
        """memory: bytes, a quarter of which bounds the output elements used, evenly distributed."""
        self.budget = Budget(switches.sites)
        self._most = max(memory // (4 * BYTES_PER_STEP * max(len(switches.sites), 1)), 1)
        self._names = switches.names
        self._outputs = OutputRunner(switches.module)
        self._clips = np.array([site.cause is Cause.CLIPPING for site in switches.sites], np.bool_)

    def add(self, feeds: Feeds) -> None:
        """Add one sample, keyed by input name. Raises UserError if onnxruntime cannot run the model on it."""
        count = len(self._names)
        every = np.ones(count, np.bool_)
        signal = self._run(feeds, ~every)
        error = self._run(feeds, every) - signal
        clips = self._clips.any() and not np.array_equal(self._run(feeds, ~self._clips) - signal, error)
        steps = np.zeros((count, signal.size), np.float32)
        before, last = np.zeros(signal.size), count - 1
        acting = [k for k in range(count) if k < last and (clips or not self._clips[k])]
        runs = parallel_map(lambda k: self._run(feeds, np.arange(count) <= k), acting)
        for k, outputs in zip(acting, runs, strict=True):
            steps[k], before = outputs - signal - before, outputs - signal
        if count and (clips or not self._clips[last]):
            steps[last] = error - before
        self.budget.add(signal, steps)

    def _run(self, feeds: Feeds, on: npt.NDArray[np.bool_]) -> npt.NDArray[np.float64]:
        states = {name: np.array(state) for name, state in zip(self._names, on, strict=True)}
        outputs = self._outputs.run({**feeds, **states})
        return outputs if outputs.size <= self._most else outputs[spread(outputs.size, self._most)]
