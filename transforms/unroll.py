"""
Unroll a loop over a few steps, so that each step has quantization parameters of its own.

    s, ys = scan(s0, xs) { step }  ->  s1, y1 = step(s0, xs[0]); s2, y2 = step(s1, xs[1]); ...; ys = concat(y1, y2)

Exact: the same ops on the same values. Only for a known number of steps, up to `steps`, of at most `MAX_UNROLLED_OPS`
new operations, along the first axis.
"""

from collections.abc import Sequence
from dataclasses import dataclass

import numpy as np
from xdsl.ir import Operation, SSAValue

from qdialect.dialects.onnx_base import OnnxOp, YieldOp
from qdialect.dialects.onnx_types import DYNAMIC, known_element, known_shape, shape_of, tensor_type
from qdialect.exactness import Exactness
from qdialect.forms.nodes import Nodes
from qdialect.ir.insertion import end_of
from qdialect.ir.names import location, node_name, tensor_names
from qdialect.promises.control import Carries, Slot
from qdialect.reasons import Blocked
from qdialect.rewriting.driver import Pattern, Rewriter
from qdialect.rewriting.matching import OnTrait
from qdialect.rewriting.passes import RewritePass, Role

MAX_UNROLLED_OPS = 4096
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
            return Blocked("computed-parameter", "the number of steps is computed at run time")
        sizes = {(shape_of(op.operands[slot.operand or 0].type) or (DYNAMIC,))[0] for slot in stacked}
        count = sizes.pop()
        if sizes or count < 1:
            return Blocked("unknown-shape", "the number of steps is not known")
        body = op.regions[0].block
        if count > self._steps or count * len(body.ops) > MAX_UNROLLED_OPS:
            return Blocked("too-large", f"{count} steps of {len(body.ops)} operations are too many")
        if any(any(op.ints_attr(name) or ()) for name in AXES):
            return Blocked("weight-axis", "the steps are not along the first axis")
        rewriter.replace(op, *_Steps(op, slots, count).write())
        return None


class _Steps:
    """The steps of one op."""

    def __init__(self, op: OnnxOp, slots: Sequence[Slot], count: int):
        self._op, self._slots, self._count = op, slots, count
        self._nodes = Nodes()
        self._stacks: dict[int, list[SSAValue]] = {}

    def write(self) -> tuple[list[Operation], list[SSAValue]]:
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
        return self._nodes.ops, results

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
            self._nodes.ops.append(copy)
        yielded = [values.get(v, v) for v in end_of(body, YieldOp).operands]
        for slot in self._slots:
            if slot.stacked and slot.operand is None and slot.yielded is not None:
                self._stacks.setdefault(slot.yielded, []).append(yielded[slot.yielded])
        return yielded

    def _slice(self, value: SSAValue, place: int) -> SSAValue:
        nodes, index = self._nodes, self._nodes.constant(place, np.int64)
        row = nodes.add("Gather", [value, index], known_shape(value.type)[1:], {"axis": 0})
        nodes.ops[-1].location = location(f"{node_name(self._op)}/slice_{place}")
        return row

    def _stack(self, place: int, yielded: int, output: int) -> SSAValue:
        """The yielded values of all steps stacked along a new first axis: result `place`, stacked output `output`."""
        parts = self._stacks[yielded]
        if _is_reverse(self._op, "scan_output_directions", output):
            parts = parts[::-1]
        nodes, type = self._nodes, self._op.results[place].type
        axes = nodes.constant([0], np.int64)
        row = tensor_type(known_element(type), (1, *known_shape(type)[1:]))
        rows = [nodes.add("Unsqueeze", [part, axes], row) for part in parts]
        whole = nodes.add("Concat", rows, type, {"axis": 0})
        name = tensor_names(self._op)[place : place + 1]
        nodes.ops[-1].location = location(f"{node_name(self._op)}/stack", name)
        return whole


@dataclass(frozen=True)
class UnrollPass(RewritePass):
    name = "unroll"
    exactness = Exactness.EXACT
    role = Role.SIMPLIFYING
    reasons = "computed-parameter too-large unknown-shape weight-axis"
    rewrite = "s, ys = scan(s0, xs) { step } -> step(step(s0, xs[0]), xs[1]) ...: the same ops"

    steps: int = 32
    """Greatest number of steps that are unrolled."""

    def patterns(self) -> Sequence[Pattern]:
        return [Unroll(self.steps)]
