"""What a promise is made of: a trait on the operation, and the reason why it does not hold."""

from __future__ import annotations

from collections.abc import Callable, Sequence
from dataclasses import dataclass
from typing import NamedTuple

from xdsl.ir import Attribute, SSAValue
from xdsl.traits import OpTrait

from qdialect.dialects.onnx_base import OnnxOp
from qdialect.dialects.onnx_types import quantized_of, with_element
from qdialect.dialects.quant import UniformType
from qdialect.reasons import Blocked


@dataclass(frozen=True)
class Promise(OpTrait):
    """What an operation states once about quantization, for every pass to ask."""


Transfer = Callable[[OnnxOp, Sequence[UniformType]], Sequence[UniformType] | Blocked]
Places = Callable[[OnnxOp], Sequence[int]]


def first(op: OnnxOp) -> Sequence[int]:
    """The first operand, or the first result."""
    return (0,)


def none(op: OnnxOp) -> Sequence[int]:
    """No result: what the op says of its operand's elements are indices, truths or sizes."""
    return ()


def every_operand(op: OnnxOp) -> Sequence[int]:
    """All operands."""
    return range(len(op.operands))


def every_result(op: OnnxOp) -> Sequence[int]:
    """All results."""
    return range(len(op.results))


def always(op: OnnxOp) -> bool:
    """Whatever the operands are."""
    return True


def unguarded(op: OnnxOp) -> Blocked | None:
    """The guard of a promise that holds of every op of its class."""
    return None


def sometimes(op: OnnxOp) -> bool:
    """Not always."""
    return False


class Carried(NamedTuple):
    """The quantized types of what carries elements, None where a tensor is not quantized."""

    operands: list[UniformType | None]
    results: list[UniformType | None]


@dataclass(frozen=True)
class Commutes(Promise):
    """
    The op moves or selects elements and computes nothing, so a cast can stand on either side of it.

    `forward` gives the results' types from those of the operands that carry elements, `backward` the operands' from
    the results', or the reason why no type says it.
    """

    forward: Transfer
    backward: Transfer
    operands: Places = first
    """Which operands carry elements (the others are shapes, indices, masks)."""
    results: Places = first
    """Which results carry elements."""
    moves_storage: bool = True
    """Whether the op does the same to stored integers, whatever their zero point."""
    in_place: bool = False
    """Whether each element of the result is made from the element at the same place, and from no other."""
    selects: bool = False
    """Whether elements are compared, not only moved: then where the casts stand is a matter of speed."""
    keeps_order: bool = False
    """Whether the result's elements, read in order, are the operand's: only the shape is new."""
    keeps_all: Callable[[OnnxOp], bool] = sometimes
    """Whether every element of the operands is in the results, whatever the sizes: there are no fewer of them."""

    def operand_values(self, op: OnnxOp) -> list[SSAValue]:
        """The operands that carry elements."""
        return [op.operands[place] for place in self.operands(op)]

    def result_values(self, op: OnnxOp) -> list[SSAValue]:
        """The results that carry elements."""
        return [op.results[place] for place in self.results(op)]

    def types(self, op: OnnxOp) -> Carried:
        """The types of what carries elements, operands and results."""
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
            result_types[place] = with_element(result_types[place], element)
        return op.__class__.create(
            operands=values, result_types=result_types, properties=op.properties, attributes=op.attributes
        )

    def moves(self, op: OnnxOp) -> bool:
        """Whether the op stands on quantized types and carries its operands' to its results: nothing rounds in it."""
        operands, results = self.types(op)
        known = [t for t in operands if t is not None]
        if len(known) != len(operands) or None in results:
            return False
        moved = self.forward(op, known)
        return not isinstance(moved, Blocked) and list(moved) == results

    def points(self, op: OnnxOp) -> bool:
        """Whether another result, that somebody reads, says which elements were chosen, or how they compare."""
        carried = set(self.results(op))
        others = [r for k, r in enumerate(op.results) if k not in carried]
        return self.selects and any(r.first_use is not None for r in others)
