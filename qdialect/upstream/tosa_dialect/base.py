"""Base classes of tosa operations: the profile's table of types, constant operands, equal ranks, zero points."""

from __future__ import annotations

from typing import ClassVar

from xdsl.irdl import IRDLOperation, operand_def, result_def, traits_def
from xdsl.traits import Pure

from qdialect.upstream.tosa_dialect.checks import (
    check_constants,
    check_ranks,
    check_shape,
    check_types,
    check_zero_point,
    sizes,
)


class TosaOp(IRDLOperation):
    """An operation of TOSA 1.0, integer profile. Its types must be a row of the profile's table."""

    TYPES: ClassVar[tuple[str, ...]] = ()
    """Rows of the table: element types of the operands in order and of the result, `i8 i8 -> i32`."""
    ANY_COUNT: ClassVar[bool] = False
    """True if the operation is variadic: a row's one operand stands for all."""
    CONSTANTS: ClassVar[tuple[str, ...]] = ()
    """Operands that must be compile-time constants."""
    RANKS: ClassVar[dict[str, int]] = {}
    """Required rank of operands and results, by name."""
    ZERO_POINTS: ClassVar[tuple[tuple[str, str], ...]] = ()
    """Zero-point operands, each with the operand or result that it applies to."""

    traits = traits_def(Pure())

    def verify_(self) -> None:
        sizes(self.results[0])
        check_types(self, self.TYPES, self.ANY_COUNT)
        check_constants([(name, getattr(self, name)) for name in self.CONSTANTS])
        check_ranks([(name, getattr(self, name), rank) for name, rank in self.RANKS.items()])
        for name, of in self.ZERO_POINTS:
            check_zero_point(name, getattr(self, name), getattr(self, of))
        self.check()

    def check(self) -> None:
        """Raise VerifyException if a constraint of this operation does not hold."""


class ElementOp(TosaOp):
    """An elementwise function of `input1`."""

    input1 = operand_def()
    output = result_def()

    def check(self) -> None:
        check_shape(self.output, sizes(self.input1))


def alike(*elements: str, more: str = "") -> tuple[str, ...]:
    """Rows in which operand and result have one element type; `more`: element types of further operands."""
    return tuple(f"{e} {more}-> {e}" for e in elements)
