"""
Ranges inside Loop and Scan, whose tensors cannot be observed: derived from operands and stacked results.

A state has the range of its initial value and of its values after each iteration, if these are stacked as a result; an
element of a scanned input has the range of the whole; a gate between 0 and 1 enlarges no range.
"""

from __future__ import annotations

from collections.abc import Callable

import numpy as np
from xdsl.dialects.func import FuncOp
from xdsl.ir import BlockArgument, SSAValue

from qdialect.dialects.onnx_base import ConstantOp, OnnxOp, promise_of
from qdialect.ir.values import constant, real_constant
from qdialect.promises.base import Commutes
from qdialect.promises.control import Carries
from qdialect.promises.elementwise import KnownRange, Multiplies
from qdialect.promises.linear import Linear
from qdialect.promises.sizes import filled_with

Bounds = tuple[float, float]
Outside = Callable[[SSAValue], Bounds | None]
"""Maps a value outside the body to its range; None if unknown."""


def _joined(one: Bounds | None, other: Bounds | None) -> Bounds | None:
    return None if one is None or other is None else (min(one[0], other[0]), max(one[1], other[1]))


def _of_constant(value: SSAValue) -> Bounds | None:
    array = real_constant(value) if constant(value) is not None else None
    if array is None or not array.size or array.dtype.kind != "f" or not np.isfinite(array).all():
        return None
    return float(array.min()), float(array.max())


def _new(value: SSAValue, state: SSAValue) -> frozenset[SSAValue]:
    """The new values of a state after an iteration, through a choice between that and the old state, or a constant."""
    op = value.owner
    promise = promise_of(op, Commutes)
    if promise is not None and isinstance(op, OnnxOp) and len(values := promise.operand_values(op)) > 1:
        return frozenset(v for v in values if v is not state and constant(v) is None)
    return frozenset((value,))


def argument_range(value: BlockArgument, outside: Outside) -> Bounds | None:
    """The range of an argument of a body; None if it cannot be derived."""
    op = value.block.parent_op()
    carries = promise_of(op, Carries)
    if not isinstance(op, OnnxOp) or carries is None or carries.branches:
        return None
    slots = carries.slots(op)
    slot = next((s for s in slots if s.argument == value.index), None)
    if slot is None or slot.operand is None:
        return None
    first = op.operands[slot.operand]
    before = _of_constant(first) or _zero(first) or outside(first)
    if slot.stacked or before is None:
        return before
    end = op.regions[0].block.last_op
    if end is None or slot.yielded is None:
        return None
    after = end.operands[slot.yielded]
    after_one_step = _new(after, value)
    for other in slots:
        if other.stacked and other.result is not None and other.yielded is not None:
            if after_one_step == _new(end.operands[other.yielded], value):
                return _joined(before, outside(op.results[other.result]))
    return _joined(before, bounded(after))


def _zero(value: SSAValue) -> Bounds | None:
    number = filled_with(value)
    return None if number is None else (number, number)


def bounded(value: SSAValue) -> Bounds | None:
    """The range of a value for any input: of a bounded activation, or a product of such; None if unbounded."""
    op = value.owner
    if not isinstance(op, OnnxOp) or isinstance(op, ConstantOp):
        return None
    if (known := op.get_trait(KnownRange)) is not None:
        return known.bounds
    if op.get_trait(Multiplies) is None:
        return None
    one, other = (bounded(v) for v in op.operands)
    if one is None or other is None:
        return None
    corners = [a * b for a in one for b in other]
    return min(corners), max(corners)


def inner_range(value: SSAValue, outside: Outside) -> Bounds | None:
    """The range of a value inside a body: of an argument, or of one times a gate between 0 and 1."""
    if isinstance(value, BlockArgument):
        return argument_range(value, outside)
    op = value.owner
    if isinstance(op, OnnxOp) and op.get_trait(Multiplies):
        for k in (0, 1):
            gate = bounded(op.operands[k])
            if gate is not None and gate[0] >= 0 and gate[1] <= 1:
                return inner_range(op.operands[1 - k], outside)
    return bounded(value)


def inner_layers(func: FuncOp) -> list[OnnxOp]:
    """The linear ops with constant weights in bodies of Loop and Scan."""
    layers: list[OnnxOp] = []
    for op in func.body.block.ops:
        carries = promise_of(op, Carries)
        if carries is None or carries.branches:
            continue
        inside = (one for region in op.regions for one in region.block.ops)
        layers += [
            one
            for one in inside
            if isinstance(one, OnnxOp) and one.get_trait(Linear) and constant(one.operands[1]) is not None
        ]
    return layers
