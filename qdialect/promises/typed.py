"""Operands of which an op reads the type, and no element."""

from __future__ import annotations

from collections.abc import Collection
from dataclasses import dataclass

from xdsl.dialects.builtin import TensorType
from xdsl.ir import Attribute

from qdialect.dialects.onnx_base import OnnxOp, promise_of
from qdialect.dialects.onnx_types import ANY, BY_ATTRIBUTE, expressed_of, shape_of, tensor_type
from qdialect.ir.values import static_shape
from qdialect.promises.base import Promise


@dataclass(frozen=True)
class TypeOnly(Promise):
    """
    The op reads the element type and the sizes of one operand, or one of the two, and no element. With a known type,
    the result depends on the other operands alone.
    """

    place: int = 0
    sizes: bool = True
    """True if the sizes are read."""

    def is_known(self, op: OnnxOp) -> bool:
        """True if the operand's type says what the op reads of it."""
        operand = op.input(self.place)
        if operand is None or expressed_of(operand.type) not in BY_ATTRIBUTE:
            return False
        return not self.sizes or static_shape(operand) is not None


class SizesOnly(TypeOnly):
    """The op reads its operand's shape, and neither its element type nor an element."""


def type_alone(op: OnnxOp) -> Collection[int]:
    """
    Places of operands of which the op reads the type alone, and the type says all that it reads. None of an op that
    reads sizes alone: sizes are followed where some are unknown, too (`Counts`).
    """
    promise = promise_of(op, TypeOnly)
    if promise is None or isinstance(promise, SizesOnly) or not promise.is_known(op):
        return ()
    return (promise.place,)


def stand_in(op: OnnxOp, place: int) -> TensorType[Attribute]:
    """The type of a tensor that may take the place of an operand of which the type alone is read."""
    type, promise = op.operands[place].type, op.get_trait(TypeOnly)
    shape = shape_of(type) if promise is not None and promise.sizes else ()
    return tensor_type(expressed_of(type) or ANY, shape or ())


TYPED: dict[tuple[str, str], TypeOnly] = {
    ("", "Shape"): SizesOnly(),
    ("", "Size"): SizesOnly(),
    ("", "EyeLike"): TypeOnly(),
    ("", "CastLike"): TypeOnly(1, sizes=False),
    ("", "OptionalHasElement"): TypeOnly(sizes=False),
}
