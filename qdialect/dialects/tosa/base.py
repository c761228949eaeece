"""What the operations of the tosa dialect share: the profile's tables of types, and what an operand must be."""

from __future__ import annotations

from typing import ClassVar

from xdsl.irdl import IRDLOperation
from xdsl.traits import Pure

from qdialect.dialects.tosa.checks import check_constants, check_types, sizes

PURE = Pure()


class TosaOp(IRDLOperation):
    """An operation of TOSA 1.0, integer profile. Its types must be a row of the profile's."""

    TYPES: ClassVar[tuple[str, ...]] = ()
    """Elements of the operands in order, and of the result: `i8 i8 -> i32`."""
    ANY_COUNT: ClassVar[bool] = False
    """Whether a row's one operand stands for any number."""
    CONSTANTS: ClassVar[tuple[str, ...]] = ()
    """The operands that compilers read when they compile."""

    def verify_(self) -> None:
        sizes(self.results[0])
        check_types(self, self.TYPES, self.ANY_COUNT)
        check_constants([(name, getattr(self, name)) for name in self.CONSTANTS])
        self.check()

    def check(self) -> None:
        """Raise VerifyException for what the operation itself demands."""
