"""Base classes of promises: `Promise`, a trait of the operation, and `Commutes`, of ops that casts move past."""

from __future__ import annotations

from collections.abc import Callable, Sequence
from dataclasses import dataclass
from typing import NamedTuple

from xdsl.ir import Attribute, Operation, SSAValue
from xdsl.traits import OpTrait

from qdialect.dialects.onnx_base import OnnxOp
from qdialect.dialects.onnx_types import DYNAMIC, quantized_of, shape_of, tensor_type, with_element
from qdialect.dialects.quant import DequantizeOp, QuantizeOp, StorageCastOp, UniformType
from qdialect.ir.build import copied
from qdialect.reasons import Blocked


@dataclass(frozen=True)
class Promise(OpTrait):
    """An op interface (trait): a fact about the operation under quantization, which passes query."""


Transfer = Callable[[OnnxOp, Sequence[UniformType]], Sequence[UniformType] | Blocked]
Places = Callable[[OnnxOp], Sequence[int]]


def first(op: OnnxOp) -> Sequence[int]:
    """The first operand, or the first result."""
    return (0,)


def none(op: OnnxOp) -> Sequence[int]:
    """No result carries elements: all are indices, booleans or sizes."""
    return ()


def every_operand(op: OnnxOp) -> Sequence[int]:
    """All operands."""
    return range(len(op.operands))


def every_result(op: OnnxOp) -> Sequence[int]:
    """All results."""
    return range(len(op.results))


def no_types(op: OnnxOp, types: Sequence[UniformType]) -> Sequence[UniformType]:
    """The types of no values."""
    return ()


def always(op: OnnxOp) -> bool:
    """True for every op."""
    return True


def unguarded(op: OnnxOp) -> Blocked | None:
    """The guard of a promise that holds for every op of its class."""
    return None


def sometimes(op: OnnxOp) -> bool:
    """False: not guaranteed for every op."""
    return False


class Carried(NamedTuple):
    """Quantized types of the operands and results that carry elements; None for one that is not quantized."""

    operands: list[UniformType | None]
    results: list[UniformType | None]


def is_read_by_cast(value: SSAValue) -> bool:
    """True if a cast reads `value`: the cast's result type states the same shape and must not become less precise."""
    return any(isinstance(use.operation, QuantizeOp | DequantizeOp | StorageCastOp) for use in value.uses)


def _is_read(value: SSAValue) -> bool:
    """True if an ONNX op reads `value`: its own result type would not state a size that follows from scales alone."""
    return any(isinstance(use.operation, OnnxOp) for use in value.uses)


def with_axis_size(type: Attribute) -> Attribute:
    """`type` with the size of the axis of per-axis scales, which is their number, filled in if it was unknown."""
    element, shape = quantized_of(type), shape_of(type)
    if element is None or element.axis is None or element.blocks or shape is None:
        return type
    sizes = list(shape)
    if element.axis < len(sizes) and sizes[element.axis] == DYNAMIC:
        sizes[element.axis] = element.scales.size
    return tensor_type(element, tuple(sizes))


@dataclass(frozen=True)
class Commutes(Promise):
    """
    The op moves or selects elements and computes nothing, so a cast can stand on either side of it.

    `forward` maps the types of the operands that carry elements to the types of the results, `backward` does the
    reverse; both return `Blocked` if no type expresses the outcome.
    """

    forward: Transfer
    backward: Transfer
    operands: Places = first
    """Indices of the operands that carry elements (the others are shapes, indices, masks)."""
    results: Places = first
    """Indices of the results that carry elements."""
    moves_storage: bool = True
    """True if the op acts on stored integers as on reals, for any zero point."""
    in_place: bool = False
    """True if each element of the result depends on the element at the same position alone."""
    selects: bool = False
    """True if elements are compared, not only moved: then the position of casts affects speed."""
    keeps_order: bool = False
    """True if the op only reshapes: elements keep their row-major order."""
    keeps_all: Callable[[OnnxOp], bool] = sometimes
    """True if every element of the operands occurs in the results, for all sizes."""

    def operand_values(self, op: OnnxOp) -> list[SSAValue]:
        """The operands that carry elements."""
        return [op.operands[place] for place in self.operands(op)]

    def result_values(self, op: OnnxOp) -> list[SSAValue]:
        """The results that carry elements."""
        return [op.results[place] for place in self.results(op)]

    def types(self, op: OnnxOp) -> Carried:
        """The quantized types of the operands and results that carry elements."""
        return Carried(
            [quantized_of(v.type) for v in self.operand_values(op)],
            [quantized_of(v.type) for v in self.result_values(op)],
        )

    def rebuilt(self, op: OnnxOp, operands: Sequence[SSAValue], elements: Sequence[Attribute]) -> OnnxOp:
        """A new op, not inserted yet, with other operands and result elements where it carries elements."""
        values, result_types = list(op.operands), list(op.result_types)
        for place, operand in zip(self.operands(op), operands, strict=True):
            values[place] = operand
        for place, element in zip(self.results(op), elements, strict=True):
            result = with_element(result_types[place], element)
            stays = is_read_by_cast(op.results[place]) or (self.in_place and _is_read(op.results[place]))
            result_types[place] = result if stays else with_axis_size(result)
        return copied(op, values, result_types)

    def read_by(self, op: OnnxOp, casts: Sequence[Operation]) -> list[SSAValue]:
        """The results of `op`, those that carry elements as `casts` of them read them."""
        results: list[SSAValue] = list(op.results)
        for place, cast in zip(self.results(op), casts, strict=True):
            results[place] = cast.results[0]
        return results

    def moves(self, op: OnnxOp) -> bool:
        """True if the op's quantized result types follow from its operands' by `forward`: it rounds nothing."""
        operands, results = self.types(op)
        known = [t for t in operands if t is not None]
        if len(known) != len(operands) or None in results:
            return False
        moved = self.forward(op, known)
        return not isinstance(moved, Blocked) and list(moved) == results

    def points(self, op: OnnxOp) -> bool:
        """True if another result that has users holds the indices of the selected elements, or comparisons."""
        carried = set(self.results(op))
        others = [r for k, r in enumerate(op.results) if k not in carried]
        return self.selects and any(r.first_use is not None for r in others)
