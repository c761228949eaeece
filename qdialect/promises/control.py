"""
If, Loop and Scan: which operands, body arguments, yielded values and results carry one value across the regions.

A value of one quantized type on all sides can be passed as integers: nothing is computed at the
boundary of a subgraph. Both sides must agree on the type.
"""

from __future__ import annotations

from collections.abc import Callable, Sequence
from dataclasses import dataclass
from typing import NamedTuple

from xdsl.ir import BlockArgument, Operation, OpResult, SSAValue

from qdialect.dialects.onnx_base import OnnxOp, onnx_opset
from qdialect.dialects.quant import UniformType
from qdialect.promises.axes import ALONG_AXIS
from qdialect.promises.base import Promise
from qdialect.reasons import Blocked


class Slot(NamedTuple):
    """One value that crosses the boundary of a subgraph, as indices into operands, results, body arguments, yields."""

    result: int | None = None
    operand: int | None = None
    argument: int | None = None
    """Index of the body's argument."""
    yielded: int | None = None
    """Index in the terminator of each region."""
    stacked: bool = False
    """True if the values of all iterations are one tensor outside, along an additional axis."""
    axis: int = 0
    """That axis of an operand."""

    def inner(self, type: UniformType) -> UniformType | Blocked:
        """The type inside the subgraph for a type outside."""
        return ALONG_AXIS if self.stacked and not type.is_per_tensor else type


@dataclass(frozen=True)
class Carries(Promise):
    """The op has subgraphs and passes values into and out of them unchanged."""

    every: Callable[[OnnxOp], Sequence[Slot]]
    """The slots by the operator's definition."""
    branches: bool = False
    """True if exactly one of the subgraphs runs, once."""
    keeps_shapes: bool = False
    """True if a state has one shape in all iterations."""

    def slots(self, op: OnnxOp) -> list[Slot]:
        """The slots, without those that a subgraph of an invalid model does not have."""
        ends = [region.block.last_op for region in op.regions]
        if not ends or any(end is None for end in ends):
            return []
        yielded = min(len(end.operands) for end in ends if end is not None)
        arguments = len(op.regions[0].block.args)
        return [
            slot
            for slot in self.every(op)
            if (slot.yielded is None or slot.yielded < yielded)
            and (slot.argument is None or slot.argument < arguments)
        ]


def yields(op: OnnxOp, slot: Slot) -> list[tuple[Operation, int, SSAValue]]:
    """Of each region: its terminator, the index of the slot in it, and the value yielded there."""
    if slot.yielded is None:
        return []
    ends = [region.block.last_op for region in op.regions]
    return [(end, slot.yielded, end.operands[slot.yielded]) for end in ends if end is not None]


def argument(op: OnnxOp, slot: Slot) -> BlockArgument | None:
    """The body argument of a slot; None if it has none."""
    return None if slot.argument is None else op.regions[0].block.args[slot.argument]


def result(op: OnnxOp, slot: Slot) -> OpResult | None:
    """The op result of a slot; None if it has none."""
    return None if slot.result is None else op.results[slot.result]


def _places(values: Sequence[object | None]) -> list[int | None]:
    """Index of each value among those present; None for omitted ones."""
    places: list[int | None] = []
    count = 0
    for value in values:
        places.append(None if value is None else count)
        count += value is not None
    return places


def _if(op: OnnxOp) -> list[Slot]:
    return [Slot(result=r, yielded=k) for k, r in enumerate(_places(op.outputs)) if r is not None]


def _loop(op: OnnxOp) -> list[Slot]:
    operands, results = _places(op.inputs)[2:], _places(op.outputs)
    results += [None] * (len(operands) - len(results))
    carried = [Slot(results[k], o, 2 + k, 1 + k) for k, o in enumerate(operands)]
    stacked = [
        Slot(r, yielded=1 + k, stacked=True)
        for k, r in enumerate(results)
        if k >= len(operands) and r is not None
    ]
    return [*carried, *stacked]


def _scan(op: OnnxOp) -> list[Slot]:
    if onnx_opset(op) < 9:  # of batches, with lengths
        return []
    operands, results = _places(op.inputs), _places(op.outputs)
    states = len(operands) - op.int_attr("num_scan_inputs", 1)
    results += [None] * (states - len(results))
    axes = [0] * states + [*(op.ints_attr("scan_input_axes") or ()), *[0] * len(operands)]
    return [
        *(Slot(results[k], operands[k], k, k) for k in range(states)),
        *(
            Slot(operand=operands[k], argument=k, stacked=True, axis=axes[k])
            for k in range(states, len(operands))
        ),
        *(
            Slot(results[k], yielded=k, stacked=True)
            for k in range(states, len(results))
            if results[k] is not None
        ),
    ]


CONTROL: dict[tuple[str, str], Carries] = {
    ("", "If"): Carries(_if, branches=True),
    ("", "Loop"): Carries(_loop),
    ("", "Scan"): Carries(_scan, keeps_shapes=True),
}
