"""What the operations of the tosa dialect share: the profile's tables of types, and what an operand must be."""

from __future__ import annotations

from typing import ClassVar

from xdsl.irdl import IRDLOperation, operand_def, result_def, traits_def
from xdsl.traits import Pure

from qdialect.dialects.tosa.checks import (
    check_constants,
    check_ranks,
    check_shape,
    check_types,
    check_zero_point,
    sizes,
)

PURE = Pure()


class TosaOp(IRDLOperation):
    """An operation of TOSA 1.0, integer profile. Its types must be a row of the profile's."""

    TYPES: ClassVar[tuple[str, ...]] = ()
    """Elements of the operands in order, and of the result: `i8 i8 -> i32`."""
    ANY_COUNT: ClassVar[bool] = False
    """Whether a row's one operand stands for any number."""
    CONSTANTS: ClassVar[tuple[str, ...]] = ()
    """The operands that compilers read when they compile."""
    RANKS: ClassVar[dict[str, int]] = {}
    """Operands and results that have one rank."""
    ZERO_POINTS: ClassVar[tuple[tuple[str, str], ...]] = ()
    """Operands that are zero points, each with what it is of."""

    def verify_(self) -> None:
        sizes(self.results[0])
        check_types(self, self.TYPES, self.ANY_COUNT)
        check_constants([(name, getattr(self, name)) for name in self.CONSTANTS])
        check_ranks([(name, getattr(self, name), rank) for name, rank in self.RANKS.items()])
        for name, of in self.ZERO_POINTS:
            check_zero_point(name, getattr(self, name), getattr(self, of))
        self.check()

    def check(self) -> None:
        """Raise VerifyException for what the operation itself demands."""


class ElementOp(TosaOp):
    """A function of each element of `input1`."""

    input1 = operand_def()
    output = result_def()

    traits = traits_def(PURE)

    def check(self) -> None:
        check_shape(self.output, sizes(self.input1))


def alike(*elements: str, more: str = "") -> tuple[str, ...]:
    """Rows of one operand and the result of one element; `more`: operands behind."""
    return tuple(f"{e} {more}-> {e}" for e in elements)
