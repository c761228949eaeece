"""
If, Loop and Scan: which results, operands and body arguments are one value in different places.

A value that enters, goes round and leaves under one quantized type can do so as integers: nothing is computed at the
boundary of a subgraph. Both sides must agree on the type.
"""

from __future__ import annotations

from collections.abc import Callable, Sequence
from dataclasses import dataclass
from typing import NamedTuple

from xdsl.ir import BlockArgument, Operation, OpResult, SSAValue

from qdialect.dialects.onnx_base import OnnxOp, opset_of
from qdialect.dialects.quant import UniformType
from qdialect.promises.axes import ALONG_AXIS
from qdialect.promises.base import Promise
from qdialect.reasons import Blocked


class Slot(NamedTuple):
    """One value that crosses the boundary of a subgraph; each number is a place among operands, results, ..."""

    result: int | None = None
    operand: int | None = None
    argument: int | None = None
    """Of the body."""
    yielded: int | None = None
    """Of what each region yields."""
    stacked: bool = False
    """Whether the elements of all rounds come or go as one tensor, along an axis of their own."""

    def inner(self, type: UniformType) -> UniformType | Blocked:
        """The type inside a subgraph for the type outside."""
        return ALONG_AXIS if self.stacked and not type.is_per_tensor else type


@dataclass(frozen=True)
class Carries(Promise):
    """The op has subgraphs, and hands values in and out as they are."""

    every: Callable[[OnnxOp], Sequence[Slot]]
    """What the operator's definition says."""
    branches: bool = False
    """Whether one of the subgraphs runs, once."""

    def slots(self, op: OnnxOp) -> list[Slot]:
        """The values, but those for which a subgraph has no place: a model may be wrong."""
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
    """The end of each region, the place in it, and what it yields there."""
    if slot.yielded is None:
        return []
    ends = [region.block.last_op for region in op.regions]
    return [(end, slot.yielded, end.operands[slot.yielded]) for end in ends if end is not None]


def argument(op: OnnxOp, slot: Slot) -> BlockArgument | None:
    """The body's argument."""
    return None if slot.argument is None else op.regions[0].block.args[slot.argument]


def result(op: OnnxOp, slot: Slot) -> OpResult | None:
    """The op's result."""
    return None if slot.result is None else op.results[slot.result]


def _places(values: Sequence[object | None]) -> list[int | None]:
    """The place of each value among those that are given; None for those left out."""
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
    if (opset_of(op, "") or 13) < 9:  # of batches, with lengths
        return []
    operands, results = _places(op.inputs), _places(op.outputs)
    states = len(operands) - op.int_attr("num_scan_inputs", 1)
    results += [None] * (states - len(results))
    return [
        *(Slot(results[k], operands[k], k, k) for k in range(states)),
        *(Slot(operand=operands[k], argument=k, stacked=True) for k in range(states, len(operands))),
        *(
            Slot(results[k], yielded=k, stacked=True)
            for k in range(states, len(results))
            if results[k] is not None
        ),
    ]


CONTROL: dict[tuple[str, str], Carries] = {
    ("", "If"): Carries(_if, branches=True),
    ("", "Loop"): Carries(_loop),
    ("", "Scan"): Carries(_scan),
}
