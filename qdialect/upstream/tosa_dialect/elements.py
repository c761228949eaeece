"""tosa operations: elementwise arithmetic, table, rescale, and reductions along one axis."""

from __future__ import annotations

from typing import ClassVar

from xdsl.dialects.builtin import BoolAttr, IntegerAttr
from xdsl.ir import Attribute
from xdsl.irdl import irdl_op_definition, operand_def, opt_prop_def, prop_def, result_def

from qdialect.upstream.tosa_dialect.base import ElementOp, TosaOp, alike
from qdialect.upstream.tosa_dialect.checks import (
    axis_of,
    check_broadcast,
    check_shape,
    check_zero_point,
    element,
    require,
    sizes,
    values_of,
)
from qdialect.upstream.tosa_dialect.types import NanMode, NanModeAttr, RoundingMode, RoundingModeAttr

TABLE_SIZE = 256
SHIFTED = ("i8 i8 -> i8", "i16 i16 -> i16", "i32 i32 -> i32")


class _Binary(TosaOp):
    TYPES: ClassVar[tuple[str, ...]] = ("i32 i32 -> i32",)

    input1 = operand_def()
    input2 = operand_def()
    output = result_def()

    def check(self) -> None:
        check_broadcast([self.input1, self.input2], self.output)


@irdl_op_definition
class AddOp(_Binary):
    """input1 + input2; overflow of 32 bits is undefined."""

    name = "tosa.add"


@irdl_op_definition
class SubOp(_Binary):
    """input1 - input2."""

    name = "tosa.sub"


@irdl_op_definition
class MaximumOp(_Binary):
    """max(input1, input2)."""

    name = "tosa.maximum"
    nan_mode = opt_prop_def(NanModeAttr, default_value=NanModeAttr(NanMode.PROPAGATE))


@irdl_op_definition
class MinimumOp(_Binary):
    """min(input1, input2)."""

    name = "tosa.minimum"
    nan_mode = opt_prop_def(NanModeAttr, default_value=NanModeAttr(NanMode.PROPAGATE))


@irdl_op_definition
class IntDivOp(_Binary):
    """input1 / input2, rounded towards zero; division by 0 is undefined."""

    name = "tosa.intdiv"


@irdl_op_definition
class ArithmeticRightShiftOp(_Binary):
    """input1 >> input2; `round` adds the last bit that is shifted out."""

    name = "tosa.arithmetic_right_shift"
    TYPES: ClassVar[tuple[str, ...]] = SHIFTED
    round = prop_def(BoolAttr)


@irdl_op_definition
class LogicalLeftShiftOp(_Binary):
    """input1 << input2, truncated to 32 bits."""

    name = "tosa.logical_left_shift"
    TYPES: ClassVar[tuple[str, ...]] = SHIFTED


@irdl_op_definition
class ClzOp(ElementOp):
    """Count of leading zeros; 32 for 0."""

    name = "tosa.clz"
    TYPES: ClassVar[tuple[str, ...]] = alike("i32")


@irdl_op_definition
class MulOp(_Binary):
    """input1 * input2, of 32 bits shifted right by `shift`, ties up."""

    name = "tosa.mul"
    TYPES: ClassVar[tuple[str, ...]] = ("i8 i8 i8 -> i32", "i16 i16 i8 -> i32", "i32 i32 i8 -> i32")
    CONSTANTS: ClassVar[tuple[str, ...]] = ("shift",)
    input1, input2 = operand_def(), operand_def()  # again: they stand in front of the shift
    shift = operand_def()

    def check(self) -> None:
        super().check()
        check_shape(self.shift, (1,), "shift")
        (amount,) = values_of(self.shift) or [0]
        least = 0 <= amount <= 63 if element(self.input1) == "i32" else amount == 0
        require(least, f"a product of {element(self.input1)} is not shifted by {amount}")  # T20


@irdl_op_definition
class ClampOp(TosaOp):
    """min(max(x, min_val), max_val)."""

    name = "tosa.clamp"
    TYPES: ClassVar[tuple[str, ...]] = alike("i8")

    input = operand_def()
    output = result_def()
    min_val = prop_def(IntegerAttr)
    max_val = prop_def(IntegerAttr)
    nan_mode = opt_prop_def(NanModeAttr, default_value=NanModeAttr(NanMode.PROPAGATE))

    def check(self) -> None:
        check_shape(self.output, sizes(self.input))
        low, high = self.min_val, self.max_val
        bounds = {str(low.type), str(high.type)}
        require(bounds == {"i8"}, f"the bounds are i8, not {' and '.join(sorted(bounds))}")  # T21
        least, greatest = low.value.data, high.value.data
        require(least <= greatest, f"the least value {least} is above the greatest {greatest}")  # T21


@irdl_op_definition
class TableOp(ElementOp):
    """table[x + 128]: any function of 8 bits."""

    name = "tosa.table"
    TYPES: ClassVar[tuple[str, ...]] = ("i8 i8 -> i8",)
    CONSTANTS: ClassVar[tuple[str, ...]] = ("table",)

    input1 = operand_def()  # again: it stands in front of the table
    table = operand_def()

    def check(self) -> None:
        super().check()
        require(sizes(self.table) == (TABLE_SIZE,), f"a table of i8 has {TABLE_SIZE} entries")  # T22


@irdl_op_definition
class RescaleOp(TosaOp):
    """saturate(((x - input_zp) * multiplier >> shift) + output_zp), ties up: `numerics.rescale`."""

    name = "tosa.rescale"
    TYPES: ClassVar[tuple[str, ...]] = tuple(
        f"{x} {m} i8 {x} {y} -> {y}"
        for m in ("i32", "i16")
        for x in ("i8", "i16", "i32")
        for y in ("i8", "i16", "i32")
    )
    CONSTANTS: ClassVar[tuple[str, ...]] = ("multiplier", "shift", "input_zp", "output_zp")

    input = operand_def()
    multiplier = operand_def()
    shift = operand_def()
    input_zp = operand_def()
    output_zp = operand_def()
    output = result_def()
    scale32 = prop_def(BoolAttr)
    rounding_mode = prop_def(RoundingModeAttr)
    per_channel = prop_def(BoolAttr)
    input_unsigned = prop_def(BoolAttr)
    output_unsigned = prop_def(BoolAttr)

    def check(self) -> None:
        shape = sizes(self.input)
        check_shape(self.output, shape)
        per_channel = bool(self.per_channel.value.data)
        require(bool(shape) or not per_channel, "a tensor without axes has no channels")  # T23
        count = shape[-1] if per_channel else 1
        for name, value in (("multiplier", self.multiplier), ("shift", self.shift)):  # T23
            require(sizes(value) == (count,), f"{name} has {count} entries, not {list(sizes(value))}")
        wide = bool(self.scale32.value.data)
        wanted = "i32" if wide else "i16"
        require(element(self.multiplier) == wanted, f"the multiplier is {wanted}")  # T24
        mode = self.rounding_mode.data
        require(mode is RoundingMode.SINGLE_ROUND, f"{mode} is not in the profile pro_int")  # T25
        self._check_factors()
        self._check_signs()

    def _check_factors(self) -> None:
        """T26: multipliers are not negative, shifts from 2 to 62."""
        multipliers, shifts = values_of(self.multiplier) or [0], values_of(self.shift) or [2]
        require(min(multipliers) >= 0, f"the multiplier {min(multipliers)} is negative")
        require(2 <= min(shifts) and max(shifts) <= 62, "a shift is out of 2 to 62")

    def _check_signs(self) -> None:
        """T27: element types that input_unsigned and output_unsigned allow; T6: zero points, 0 or 32768 for u16."""
        ends = [element(self.input), element(self.output)]
        unsigned = [bool(self.input_unsigned.value.data), bool(self.output_unsigned.value.data)]
        require(not all(unsigned), "the input and the output are not both unsigned")
        require(not (any(unsigned) and "i32" in ends), "what is rescaled from or to i32 is signed")
        rows = (("input_zp", self.input_zp, self.input), ("output_zp", self.output_zp, self.output))
        for is_unsigned, (name, zero_point, of) in zip(unsigned, rows, strict=True):
            if is_unsigned and element(of) == "i16":
                known = {v & 0xFFFF for v in values_of(zero_point) or [0]}
                require(known <= {0, 0x8000}, f"{name} is 0 or 32768 for u16")
            else:
                check_zero_point(name, zero_point, of)


class _Reduction(TosaOp):
    """A reduction along `axis`, whose size becomes 1."""

    input = operand_def()
    output = result_def()
    axis = prop_def(Attribute)

    def check(self) -> None:
        shape, axis = list(sizes(self.input)), axis_of(self.axis, len(sizes(self.input)))
        shape[axis] = 1
        check_shape(self.output, shape)


@irdl_op_definition
class ReduceSumOp(_Reduction):
    """Sum along `axis`."""

    name = "tosa.reduce_sum"
    TYPES: ClassVar[tuple[str, ...]] = alike("i32")


@irdl_op_definition
class ReduceMaxOp(_Reduction):
    """Maximum along `axis`."""

    name = "tosa.reduce_max"
    TYPES: ClassVar[tuple[str, ...]] = alike("i8", "i16", "i32")
    nan_mode = opt_prop_def(NanModeAttr, default_value=NanModeAttr(NanMode.PROPAGATE))


@irdl_op_definition
class ReduceMinOp(_Reduction):
    """Minimum along `axis`."""

    name = "tosa.reduce_min"
    TYPES: ClassVar[tuple[str, ...]] = alike("i8", "i16", "i32")
    nan_mode = opt_prop_def(NanModeAttr, default_value=NanModeAttr(NanMode.PROPAGATE))
