"""
Unroll a loop over a few steps, so that each step has quantization parameters of its own.

    s, ys = scan(s0, xs) { step }  ->  s1, y1 = step(s0, xs[0]); s2, y2 = step(s1, xs[1]); ...; ys = concat(y1, y2)

Exact: the same ops on the same values. Only for a known number of steps, up to `steps`, and no more than `MOST_OPS`
new operations; the axes of steps are the first.
"""

from collections.abc import Sequence
from dataclasses import dataclass

import numpy as np
from xdsl.dialects.builtin import IntegerAttr, i64
from xdsl.ir import Operation, SSAValue

from qdialect.dialects.onnx_base import ConstantOp, OnnxOp, YieldOp
from qdialect.dialects.onnx_tensor import from_array
from qdialect.dialects.onnx_types import (
    DYNAMIC,
    known_element,
    known_shape,
    shape_of,
    tensor_type,
)
from qdialect.exactness import Exactness
from qdialect.ir.names import location, node_name, tensor_names
from qdialect.ir.place import end_of
from qdialect.ops.generated import op_named
from qdialect.promises.control import Carries, Slot
from qdialect.reasons import Blocked
from qdialect.rewriting.driver import Pattern, Rewriter
from qdialect.rewriting.matching import OnTrait
from qdialect.rewriting.passes import RewritePass

MOST_OPS = 4096
AXES = ("scan_input_axes", "scan_output_axes")


def _is_reverse(op: OnnxOp, name: str, place: int) -> bool:
    directions = op.ints_attr(name) or ()
    return place < len(directions) and directions[place] == 1


class Unroll(OnTrait[Carries]):
    """A Scan, whose body runs once for each slice of an operand."""

    def __init__(self, steps: int):
        self._steps = steps

    def wants(self, promise: Carries, /) -> bool:
        return not promise.branches

    def match(self, op: OnnxOp, promise: Carries, rewriter: Rewriter, /) -> Blocked | None:
        slots = promise.slots(op)
        carried = [slot for slot in slots if slot.operand is not None]
        stacked = [slot for slot in carried if slot.stacked]
        if not stacked or len(carried) != len(op.operands):
            return Blocked("computed-steps", "how many steps there are is computed")
        sizes = {(shape_of(op.operands[slot.operand or 0].type) or (DYNAMIC,))[0] for slot in stacked}
        count = sizes.pop()
        if sizes or count < 1:
            return Blocked("unknown-steps", "how many steps there are is not known")
        body = op.regions[0].block
        if count > self._steps or count * len(body.ops) > MOST_OPS:
            return Blocked("many-steps", f"{count} steps of {len(body.ops)} operations are too many")
        if any(any(op.ints_attr(name) or ()) for name in AXES):
            return Blocked("other-axis", "the steps are not along the first axis")
        results = _Steps(op, slots, count).write()
        rewriter.replace(op, results.ops, results.values)
        return None


@dataclass
class _Written:
    ops: list[Operation]
    values: list[SSAValue]


class _Steps:
    """The steps of one op."""

    def __init__(self, op: OnnxOp, slots: Sequence[Slot], count: int):
        self._op, self._slots, self._count = op, slots, count
        self._ops: list[Operation] = []
        self._stacks: dict[int, list[SSAValue]] = {}

    def write(self) -> _Written:
        """All operations, and the values that replace the results."""
        op = self._op
        carried = [s for s in self._slots if not s.stacked]
        state = {s.argument: op.operands[s.operand] for s in carried if s.operand is not None}
        for step in range(self._count):
            values = self._step(step, state)
            state = {s.argument: values[s.yielded] for s in carried if s.yielded is not None}
        results: list[SSAValue] = list(op.results)
        outputs = [s for s in self._slots if s.stacked and s.operand is None]
        for slot in self._slots:
            if slot.result is None:
                continue
            if slot.stacked and slot.yielded is not None:
                results[slot.result] = self._stack(slot.result, slot.yielded, outputs.index(slot))
            else:
                results[slot.result] = state[slot.argument]
        return _Written(self._ops, results)

    def _step(self, step: int, state: dict[int | None, SSAValue]) -> list[SSAValue]:
        """Append one copy of the body; returns the yielded values."""
        body = self._op.regions[0].block
        values: dict[SSAValue, SSAValue] = {}
        inputs = [(s.argument, s.operand) for s in self._slots if s.stacked]
        known = ((a, o) for a, o in inputs if a is not None and o is not None)
        for k, (argument, operand) in enumerate(known):
            place = self._count - 1 - step if _is_reverse(self._op, "scan_input_directions", k) else step
            values[body.args[argument]] = self._slice(self._op.operands[operand], place)
        for place, value in state.items():
            if place is not None:
                values[body.args[place]] = value
        for op in body.ops:
            if op is body.last_op:
                break
            copy = op.clone(values)
            copy.location = location(f"{node_name(op)}/{step}", [f"{n}/{step}" for n in tensor_names(op)])
            self._ops.append(copy)
        yielded = [values.get(v, v) for v in end_of(body, YieldOp).operands]
        for slot in self._slots:
            if slot.stacked and slot.operand is None and slot.yielded is not None:
                self._stacks.setdefault(slot.yielded, []).append(yielded[slot.yielded])
        return yielded

    def _slice(self, value: SSAValue, place: int) -> SSAValue:
        index = ConstantOp.of(from_array(np.array(place, np.int64)))
        element, shape = known_element(value.type), known_shape(value.type)
        slice = op_named("", "Gather").build(
            [value, index.results[0]], [tensor_type(element, shape[1:])], {"axis": IntegerAttr(0, i64)}
        )
        slice.location = location(f"{node_name(self._op)}/slice_{place}")
        self._ops += [index, slice]
        return slice.results[0]

    def _stack(self, place: int, yielded: int, output: int) -> SSAValue:
        """The yielded values of all steps stacked along a new first axis: result `place`, stacked output `output`."""
        parts = self._stacks[yielded]
        if _is_reverse(self._op, "scan_output_directions", output):
            parts = parts[::-1]
        type = self._op.results[place].type
        element, shape = known_element(type), known_shape(type)
        axes = ConstantOp.of(from_array(np.array([0], np.int64)))
        self._ops.append(axes)
        rows: list[SSAValue] = []
        for part in parts:
            row = op_named("", "Unsqueeze").build(
                [part, axes.results[0]], [tensor_type(element, (1, *shape[1:]))]
            )
            self._ops.append(row)
            rows.append(row.results[0])
        whole = op_named("", "Concat").build(rows, [type], {"axis": IntegerAttr(0, i64)})
        names = tensor_names(self._op)
        name = [names[place]] if place < len(names) else []
        whole.location = location(f"{node_name(self._op)}/stack", name)
        self._ops.append(whole)
        return whole.results[0]


@dataclass(frozen=True)
class UnrollPass(RewritePass):
    """Loops over a few steps are unrolled."""

    name = "unroll"
    exactness = Exactness.EXACT
    rewrite = "s, ys = scan(s0, xs) { step } -> step(step(s0, xs[0]), xs[1]) ...: the same ops"

    steps: int = 32
    """Greatest number of steps that are unrolled."""

    def patterns(self) -> Sequence[Pattern]:
        return [Unroll(self.steps)]
