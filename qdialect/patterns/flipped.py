"""Computed integers of 8 bits in the other signedness: 128 higher or lower, as their zero point is."""

from __future__ import annotations

from collections.abc import Callable, Sequence
from typing import NamedTuple

import numpy as np
from xdsl.ir import Attribute, Operation, SSAValue, Use

from qdialect import numerics
from qdialect.dialects.onnx_base import OnnxOp
from qdialect.dialects.onnx_types import BY_ATTRIBUTE, BY_NUMPY, known_element, with_element
from qdialect.dialects.quant import DequantizeOp, QuantizeOp, Storage, StorageCastOp, UniformType
from qdialect.forms.nodes import Nodes
from qdialect.ir.names import flipped_name, wish
from qdialect.ir.place import behind, onnx_op
from qdialect.ir.values import constant_array, static_shape
from qdialect.patterns.signedness import HALF, signed, unsigned
from qdialect.promises.base import Commutes
from qdialect.promises.casts import QuantizeForm
from qdialect.reasons import Blocked
from qdialect.rewriting.driver import Rewriter

I8, U8, I32 = (BY_NUMPY[name] for name in ("int8", "uint8", "int32"))
OTHER: dict[Attribute, Attribute] = {I8.attribute: U8.attribute, U8.attribute: I8.attribute}
AS_IS = {
    I8.attribute: UniformType.per_tensor(Storage.of("i8"), 1.0, 0),
    U8.attribute: UniformType.per_tensor(Storage.of("u8"), 1.0, 0),
}
"""The types of integers that stand for themselves."""
MOVED = {
    I8.attribute: UniformType.per_tensor(Storage.of("u8"), 1.0, HALF),
    U8.attribute: UniformType.per_tensor(Storage.of("i8"), 1.0, -HALF),
}
"""The types of the same numbers in the other signedness."""


class Step(NamedTuple):
    """An op that gives the same integers again."""

    op: Operation
    """A quantize, a storage cast, or an op that moves or takes elements of its first operand."""
    element: Attribute
    """Its result's element in the other signedness."""
    promise: Commutes | None = None


class Source(NamedTuple):
    """The quantize that gives some integers, and what only moves them behind it."""

    steps: Sequence[Step]

    def read_by(self, agrees: Callable[[Use], bool]) -> bool:
        """True if all that read the integers, moved or not, agree to read the other signedness."""
        ours = [step.op for step in self.steps]
        return all(use.operation in ours or agrees(use) for op in ours for use in op.results[0].uses)


def source_of(value: SSAValue) -> Source | None:
    """The quantize that gives `value`, if nothing but moves lies between; None if there is none."""
    steps: list[Step] = []
    while isinstance(op := value.owner, Operation):
        element, promise = _other(known_element(value.type)), op.get_trait(Commutes)
        if element is None:
            return None
        if isinstance(op, QuantizeOp) or op.get_trait(QuantizeForm) is not None:
            return Source([Step(op, element), *reversed(steps)]) if _has_zero_point(op) else None
        if isinstance(op, StorageCastOp):
            promise = None
        elif promise is None or not _moves(op, promise):
            return None
        steps.append(Step(op, element, promise))
        value = op.operands[0]
    return None


def _has_zero_point(quantize: Operation) -> bool:
    """True unless a zero point is left out, and how many there are is not known."""
    return (
        not isinstance(quantize, OnnxOp)
        or quantize.input(2) is not None
        or static_shape(quantize.operands[1]) is not None
    )


def _moves(op: Operation, promise: Commutes) -> bool:
    """True if an op moves or takes elements of its first operand, whatever they stand for."""
    if not isinstance(op, OnnxOp) or op.regions or len(op.results) != 1:
        return False
    if promise.selects or not promise.moves_storage:
        return False
    alone = list(promise.operands(op)) == list(promise.results(op)) == [0]
    return alone and not isinstance(promise.forward(op, [AS_IS[I8.attribute]]), Blocked)


def _other(element: Attribute) -> Attribute | None:
    """The element of the other signedness, stored or quantized; None for one that is not of 8 bits."""
    if isinstance(element, UniformType):
        return unsigned(element) or signed(element)
    return OTHER.get(element)


class Flipped:
    """Values and zero points in the other signedness, each computed once."""

    def __init__(self) -> None:
        self._known: dict[SSAValue, SSAValue] = {}

    def __contains__(self, value: SSAValue) -> bool:
        known = self._known.get(value)
        return known is not None and isinstance(known.owner, Operation) and known.owner.parent is not None

    def zero_point(self, zero: SSAValue, rewriter: Rewriter) -> SSAValue:
        """A zero point, constant or computed."""
        if zero not in self:
            nodes, array, element = Nodes(), constant_array(zero), OTHER[known_element(zero.type)]
            if array is None:
                moved_zero_point(zero, element, nodes)
            else:
                name = flipped_name(wish(zero), "u8" if element == U8.attribute else "i8")
                nodes.constant(numerics.flip_signedness(array), name=name)
            rewriter.insert_before(behind(zero), nodes.ops)
            self._known[zero] = nodes.ops[-1].results[0]
        return self._known[zero]

    def quantized(self, source: Source, rewriter: Rewriter) -> SSAValue:
        """The integers that `source` gives, quantized and moved as they are."""
        for step in source.steps:
            old = step.op.results[0]
            if old not in self:
                new = self._quantize(step, rewriter) if step is source.steps[0] else self._move(step)
                new.location = step.op.location
                rewriter.insert_before(behind(old), [new])
                self._known[old] = new.results[0]
        return self._known[source.steps[-1].op.results[0]]

    def requantized(self, value: SSAValue, rewriter: Rewriter) -> SSAValue:
        """Integers of any origin: a pair of casts of scale 1 moves them by 128."""
        if value not in self:
            plain = known_element(value.type)
            ops: list[Operation] = [StorageCastOp(value, with_element(value.type, AS_IS[plain]))]
            ops.append(DequantizeOp(ops[-1].results[0]))
            ops.append(QuantizeOp(ops[-1].results[0], MOVED[plain]))
            ops.append(StorageCastOp(ops[-1].results[0], with_element(value.type, OTHER[plain])))
            rewriter.insert_before(behind(value), ops)
            self._known[value] = ops[-1].results[0]
        return self._known[value]

    def _quantize(self, step: Step, rewriter: Rewriter) -> Operation:
        element = step.element
        if isinstance(element, UniformType):
            return QuantizeOp(step.op.operands[0], element)
        op = onnx_op(step.op)
        if (old := op.input(2)) is not None:
            zero = self.zero_point(old, rewriter)
        else:
            nodes = half(element, static_shape(op.operands[1]) or ())
            rewriter.insert_before(op, nodes.ops)
            zero = nodes.ops[0].results[0]
        attributes = {k: v for k, v in op.onnx_attributes.items() if k != "output_dtype"}
        result = with_element(op.results[0].type, element)
        return type(op).build([op.operands[0], op.operands[1], zero], [result], attributes)

    def _move(self, step: Step) -> Operation:
        value = self._known[step.op.operands[0]]
        if step.promise is not None:
            return step.promise.rebuilt(onnx_op(step.op), [value], [step.element])
        return StorageCastOp(value, with_element(step.op.results[0].type, step.element))


def half(element: Attribute, shape: Sequence[int] = ()) -> Nodes:
    """A constant of zero points that are 0 in the other signedness."""
    nodes, zeros = Nodes(), np.zeros(shape, BY_ATTRIBUTE[OTHER[element]].dtype)
    nodes.constant(numerics.flip_signedness(zeros), name="half")
    return nodes


def moved_zero_point(zero: SSAValue, element: Attribute, nodes: Nodes) -> SSAValue:
    """A computed zero point in the other signedness, `element`."""
    step = nodes.constant(HALF, np.int32, name="half")
    wide_type, is_unsigned = with_element(zero.type, I32.attribute), element == U8.attribute
    wide = nodes.add("Cast", [zero], wide_type, {"to": I32.number})
    moved = nodes.add("Add" if is_unsigned else "Sub", [wide, step], wide_type)
    number = U8.number if is_unsigned else I8.number
    return nodes.add("Cast", [moved], with_element(zero.type, element), {"to": number})
