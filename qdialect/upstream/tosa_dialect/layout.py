"""tosa operations: constants, identity, reshape, transpose, concat, slice, pad."""

from __future__ import annotations

from math import prod
from typing import ClassVar

from xdsl.dialects.builtin import DenseArrayBase, DenseIntOrFPElementsAttr, i32
from xdsl.ir import Attribute
from xdsl.irdl import irdl_op_definition, operand_def, prop_def, result_def, traits_def, var_operand_def
from xdsl.traits import ConstantLike

from qdialect.upstream.tosa_dialect.base import ElementOp, TosaOp, alike
from qdialect.upstream.tosa_dialect.checks import (
    attribute_ints,
    axis_of,
    check_dense,
    check_shape,
    element,
    known_sizes,
    require,
    sizes,
)
from qdialect.upstream.tosa_dialect.types import ShapeType

_MOVED = ("i1", "i8", "i16", "i32")


@irdl_op_definition
class ConstOp(TosaOp):
    """A constant tensor."""

    name = "tosa.const"

    output = result_def()
    values = prop_def(DenseIntOrFPElementsAttr)

    traits = traits_def(ConstantLike())

    def verify_(self) -> None:
        sizes(self.output)
        check_dense(self.values, self.output.type)
        require(element(self.output) != "i64", "the profile pro_int has no i64")  # T3


@irdl_op_definition
class ConstShapeOp(TosaOp):
    """A constant list of sizes."""

    name = "tosa.const_shape"

    output = result_def(ShapeType)
    values = prop_def(DenseIntOrFPElementsAttr)

    traits = traits_def(ConstantLike())

    def verify_(self) -> None:
        check_dense(self.values, self.output.type)


@irdl_op_definition
class IdentityOp(ElementOp):
    """A copy of `input1`."""

    name = "tosa.identity"
    TYPES: ClassVar[tuple[str, ...]] = alike(*_MOVED)


@irdl_op_definition
class ReshapeOp(TosaOp):
    """`input1` in another shape, elements in the same order."""

    name = "tosa.reshape"
    TYPES: ClassVar[tuple[str, ...]] = alike(*_MOVED, more="shape ")
    CONSTANTS: ClassVar[tuple[str, ...]] = ("shape",)

    input1 = operand_def()
    shape = operand_def()
    output = result_def()

    def check(self) -> None:
        before, after = sizes(self.input1), sizes(self.output)
        require(prod(before) == prod(after), f"{list(before)} and {list(after)} differ in elements")  # T28
        stated = known_sizes(self.shape, "shape", len(after))
        check_shape(self.output, stated)


@irdl_op_definition
class TransposeOp(TosaOp):
    """`input1` transposed: axis `perms[k]` becomes axis k."""

    name = "tosa.transpose"
    TYPES: ClassVar[tuple[str, ...]] = alike(*_MOVED)

    input1 = operand_def()
    output = result_def()
    perms = prop_def(DenseArrayBase.constr(i32))

    def check(self) -> None:
        shape, perms = sizes(self.input1), attribute_ints(self.perms)
        require(
            sorted(perms) == list(range(len(shape))), f"{list(perms)} is no permutation of {len(shape)}"
        )  # T29
        check_shape(self.output, [shape[p] for p in perms])


@irdl_op_definition
class ConcatOp(TosaOp):
    """The operands concatenated along `axis`."""

    name = "tosa.concat"
    TYPES: ClassVar[tuple[str, ...]] = ("i1 -> i1", "i8 -> i8", "i32 -> i32")
    ANY_COUNT: ClassVar[bool] = True

    input1 = var_operand_def()
    output = result_def()
    axis = prop_def(Attribute)

    def check(self) -> None:
        shapes = [list(sizes(v)) for v in self.input1]
        place = axis_of(self.axis, len(shapes[0]))
        other_sizes = {(*s[:place], *s[place + 1 :]) for s in shapes}
        require(len(other_sizes) == 1, f"the operands differ on axes other than {place}")  # T30
        check_shape(self.output, [*shapes[0][:place], sum(s[place] for s in shapes), *shapes[0][place + 1 :]])


@irdl_op_definition
class SliceOp(TosaOp):
    """A slice of `size` elements along each axis, starting at `start`."""

    name = "tosa.slice"
    TYPES: ClassVar[tuple[str, ...]] = alike(*_MOVED, more="shape shape ")
    CONSTANTS: ClassVar[tuple[str, ...]] = ("start", "size")

    input1 = operand_def()
    start = operand_def()
    size = operand_def()
    output = result_def()

    def check(self) -> None:
        shape = sizes(self.input1)
        starts, counts = (
            known_sizes(v, n, len(shape)) for v, n in ((self.start, "start"), (self.size, "size"))
        )
        for axis, (start, count, size) in enumerate(zip(starts, counts, shape, strict=True)):  # T31
            inside = start >= 0 and count > 0 and start + count <= size
            require(inside, f"{count} from {start} on are out of axis {axis} of {size}")
        check_shape(self.output, counts)


@irdl_op_definition
class PadOp(TosaOp):
    """`input1` padded with `pad_const`; padding: (before, after) of each axis in turn."""

    name = "tosa.pad"
    TYPES: ClassVar[tuple[str, ...]] = tuple(f"{e} shape {e} -> {e}" for e in _MOVED)
    CONSTANTS: ClassVar[tuple[str, ...]] = ("padding", "pad_const")

    input1 = operand_def()
    padding = operand_def()
    pad_const = operand_def()
    output = result_def()

    def check(self) -> None:
        shape = sizes(self.input1)
        check_shape(self.pad_const, (1,), "pad_const")
        pads = known_sizes(self.padding, "padding", 2 * len(shape))
        require(min(pads, default=0) >= 0, f"a pad of {pads} is negative")  # T32
        check_shape(self.output, [s + pads[2 * k] + pads[2 * k + 1] for k, s in enumerate(shape)])
