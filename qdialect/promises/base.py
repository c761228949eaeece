"""What a promise is made of: a trait on the operation, and the reason why it does not hold."""

from __future__ import annotations

from collections.abc import Callable, Sequence
from dataclasses import dataclass
from typing import TYPE_CHECKING

from xdsl.traits import OpTrait

if TYPE_CHECKING:
    from qdialect.dialects.onnx_ops import OnnxOp
    from qdialect.dialects.quant import UniformType


@dataclass(frozen=True)
class Blocked:
    """Why a rewrite does not fire."""

    id: str
    """A short name, the same wherever the reason is the same."""
    message: str
    """What stands in the way."""
    fix: str = ""
    """What the user can do about it, if anything."""


@dataclass(frozen=True)
class Promise(OpTrait):
    """What an operation states once about quantization, for every pass to ask."""


Transfer = Callable[["OnnxOp", "Sequence[UniformType]"], "Sequence[UniformType] | Blocked"]
Places = Callable[["OnnxOp"], "Sequence[int]"]


def first(op: OnnxOp) -> Sequence[int]:
    """The first operand, or the first result."""
    return (0,)


def every_operand(op: OnnxOp) -> Sequence[int]:
    """All operands."""
    return range(len(op.operands))


def every_result(op: OnnxOp) -> Sequence[int]:
    """All results."""
    return range(len(op.results))


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
