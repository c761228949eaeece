"""
`TosaSite`, the builder of forms in TOSA's integer profile.

Every value is i8 with a zero point, every sum i32. Results of sums are rescaled by a multiplier and a shift
(`numerics.rescale`), with the ratio of scales that onnxruntime computes in float32, which 31 bits hold.
"""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass
from typing import Any, ClassVar

import numpy as np
import numpy.typing as npt
from xdsl.dialects.builtin import (
    BoolAttr,
    DenseArrayBase,
    DenseIntOrFPElementsAttr,
    Float32Type,
    IndexType,
    IntegerAttr,
    IntegerType,
    TensorType,
    i8,
    i32,
    i64,
)
from xdsl.ir import Attribute, Operation, SSAValue

from qdialect import numerics
from qdialect.dialects.onnx_types import known_element, known_shape, quantized_of, tensor_type
from qdialect.dialects.quant import UniformType
from qdialect.numerics.near_ties import Factors, faithful_rounding
from qdialect.reasons import ACTIVATION_PER_AXIS, Blocked, required, unblocked
from qdialect.upstream import tosa_dialect as tosa
from qdialect.upstream.site import Site, UpstreamForm, dense
from qdialect.upstream.tosa_dialect.types import NanMode, RoundingMode

LOW, HIGH = -128, 127
MAX_OPERANDS = 64
"""Operands of a concat at level 8K: MAX_TENSOR_LIST_SIZE."""
NAN_MODE = tosa.NanModeAttr(NanMode.PROPAGATE)
FLOAT = Blocked(
    "float-operand", "the integer profile has no float tensors", "quantize every operand and result"
)
EMPTY = Blocked("empty-tensor", "TOSA has no tensors without elements")
LARGE_SUM = Blocked(
    "accumulator-overflow", "a sum may be too large for the multiplier and shift that scale it"
)


@dataclass(frozen=True)
class TosaForm(UpstreamForm):
    """The form of an op in TOSA's integer profile. Its class is `close`: at most one step from the op between casts."""


def other_storage(type: UniformType) -> Blocked:
    """The reason for a quantized type that is not stored in i8."""
    return Blocked("storage-type", f"the integer profile computes with i8, not with {type.storage.name}")


def activation(value: SSAValue) -> UniformType | Blocked:
    """The quantized type of a value, if the profile supports it: i8, per tensor; else `Blocked`."""
    type = required(quantized_of(value.type), FLOAT)
    if 0 in known_shape(value.type):
        return EMPTY
    if not type.is_per_tensor:
        return ACTIVATION_PER_AXIS
    if type.storage.width != 8 or not type.storage.signed:
        return other_storage(type)
    if not isinstance(type.expressed, Float32Type):
        return Blocked("expressed-type", f"the scales are for f32, not for {type.expressed}")
    return type


def activations(*values: SSAValue) -> list[UniformType]:
    """The quantized types of values. Raises Refused if the profile does not support one."""
    return [unblocked(activation(value)) for value in values]


def array_attr(values: Sequence[int], element: IntegerType = i64) -> DenseArrayBase[Any]:
    """A dense array of integers."""
    return DenseArrayBase.from_list(element, [int(v) for v in values])


def takes(scales: npt.ArrayLike, largest: int) -> Blocked | None:
    """`Blocked` if values of magnitude `largest` cannot be rescaled by `scales`."""
    try:
        _, shift = numerics.rescale_factors(scales)
    except ValueError:
        return Blocked("scale-value", "no multiplier and shift represent the ratio of the scales")
    return None if largest <= numerics.rescale_reach(shift) else LARGE_SUM


class TosaSite(Site):
    """Builder of one operation's lowering to TOSA."""

    DIALECT: ClassVar[str] = "TOSA's integer profile"

    # --- constants and layout

    def dense_constant(self, array: npt.NDArray[Any]) -> SSAValue:
        values = dense(array)
        return self.emit(tosa.ConstOp.create(result_types=[values.get_type()], properties={"values": values}))

    def sizes(self, values: Sequence[int]) -> SSAValue:
        """A list of sizes."""
        type: Any = TensorType(IndexType(), [len(values)])
        attribute = DenseIntOrFPElementsAttr.from_list(type, [int(v) for v in values])
        result = tosa.ShapeType.of(len(values))
        return self.emit(tosa.ConstShapeOp.create(result_types=[result], properties={"values": attribute}))

    def zero_point(self, value: int, element: Attribute = i8) -> SSAValue:
        """A zero-point constant for a tensor of `element`."""
        return self.constant([value], np.int8 if element == i8 else np.int32)

    def make(
        self,
        kind: type[Operation],
        operands: Sequence[SSAValue],
        shape: Sequence[int],
        element: Attribute = i32,
        **properties: Attribute,
    ) -> SSAValue:
        """The result of a new operation `kind`, of `shape` and `element`."""
        type = tensor_type(element, tuple(int(s) for s in shape))
        return self.emit(kind.create(operands=operands, result_types=[type], properties=properties))

    def transposed(self, value: SSAValue, order: Sequence[int]) -> SSAValue:
        shape = [known_shape(value.type)[k] for k in order]
        perms = array_attr(order, i32)
        return self.make(tosa.TransposeOp, [value], shape, known_element(value.type), perms=perms)

    def reshape(self, value: SSAValue, shape: Sequence[int]) -> SSAValue:
        if known_shape(value.type) == tuple(shape):
            return value
        return self.make(tosa.ReshapeOp, [value, self.sizes(shape)], shape, known_element(value.type))

    def cut(self, value: SSAValue, starts: Sequence[int], sizes: Sequence[int]) -> SSAValue:
        if known_shape(value.type) == tuple(sizes):
            return value
        operands = [value, self.sizes(starts), self.sizes(sizes)]
        return self.make(tosa.SliceOp, operands, sizes, known_element(value.type))

    def joined(self, values: Sequence[SSAValue], axis: int) -> SSAValue:
        """Tensors concatenated along `axis`, by as many ops as their number takes."""
        if len(values) == 1:
            return values[0]
        if len(values) > MAX_OPERANDS:
            starts = range(0, len(values), MAX_OPERANDS)
            return self.joined([self.joined(values[k : k + MAX_OPERANDS], axis) for k in starts], axis)
        shape = list(known_shape(values[0].type))
        shape[axis] = sum(known_shape(v.type)[axis] for v in values)
        return self.make(
            tosa.ConcatOp, values, shape, known_element(values[0].type), axis=IntegerAttr(axis, i32)
        )

    # --- arithmetic

    def binary(self, kind: type[Operation], a: SSAValue, b: SSAValue, **properties: Attribute) -> SSAValue:
        """An operation of two i32 tensors of one rank, broadcast."""
        shape = np.broadcast_shapes(known_shape(a.type), known_shape(b.type))
        return self.make(kind, [a, b], shape, **properties)

    def product(self, a: SSAValue, b: SSAValue, shift: int = 0) -> SSAValue:
        """a * b / 2^shift, both i32 of one rank, broadcast; the product has 64 bits."""
        shape = np.broadcast_shapes(known_shape(a.type), known_shape(b.type))
        return self.make(tosa.MulOp, [a, b, self.constant([shift], np.int8)], shape)

    def rescaled(
        self,
        value: SSAValue,
        scale: npt.ArrayLike,
        zero_points: tuple[int, int] = (0, 0),
        element: Attribute = i32,
        unsigned: tuple[bool, bool] = (False, False),
    ) -> SSAValue:
        """`numerics.rescale`. scale: one, or one per index of the last axis; pairs: (operand, result)."""
        factors = numerics.rescale_factors(np.atleast_1d(scale))
        return self._rescaled(value, factors, zero_points, element, unsigned)

    def _rescaled(
        self,
        value: SSAValue,
        factors: Factors,
        zero_points: tuple[int, int],
        element: Attribute,
        unsigned: tuple[bool, bool] = (False, False),
    ) -> SSAValue:
        multiplier, shift = factors
        operands = [
            value,
            self.constant(multiplier),
            self.constant(shift),
            self.zero_point(zero_points[0], known_element(value.type)),
            self.zero_point(zero_points[1], element),
        ]
        return self.make(
            tosa.RescaleOp,
            operands,
            known_shape(value.type),
            element,
            scale32=BoolAttr.from_bool(True),
            rounding_mode=tosa.RoundingModeAttr(RoundingMode.SINGLE_ROUND),
            per_channel=BoolAttr.from_bool(multiplier.size > 1),
            input_unsigned=BoolAttr.from_bool(unsigned[0]),
            output_unsigned=BoolAttr.from_bool(unsigned[1]),
        )

    def quantized(self, sum: SSAValue, scale: npt.ArrayLike, type: UniformType) -> SSAValue:
        """A sum, each step of which is `scale` result steps, as i8 of the result's type."""
        return self.within(self.rescaled(sum, scale, (0, type.zero_point), i8), type)

    def requantized_sum(
        self, sum: SSAValue, ratio: npt.NDArray[np.float32] | np.float32, type: UniformType, largest: int
    ) -> SSAValue:
        """
        As `quantized`; near ties round as onnxruntime's float32 product with the ratio, by one rescale if few sums
        would round otherwise, else by two. largest: upper bound of the magnitude of a sum.
        """
        zero = type.zero_point
        ends = type.storage.low - zero, type.storage.high - zero
        factors, bits, _ = faithful_rounding(np.atleast_1d(ratio), *ends, largest)
        if not bits:
            return self.within(self._rescaled(sum, factors, (0, zero), i8), type)
        return self._even(self._rescaled(sum, factors, (0, 0), i32), bits, type, zero)

    def _even(self, fine: SSAValue, bits: int, type: UniformType, origin: int) -> SSAValue:
        """
        i32 values in steps 2^-bits of the result's scale as i8, ties to even relative to `origin`, as in onnxruntime.

        A first result rounds ties up. Where it is odd, subtracting one fine step makes ties, and nothing else, round
        down.
        """
        up = self.rescaled(fine, 2.0**-bits, (0, type.zero_point), i8)
        is_odd = self.looked_up(up, ((np.arange(LOW, HIGH + 1) - origin) % 2).astype(np.int8))
        return self.quantized(self.binary(tosa.SubOp, fine, self.rescaled(is_odd, 1.0)), 2.0**-bits, type)

    def within(self, value: SSAValue, type: UniformType) -> SSAValue:
        """i8 values clamped to the bounds of a type's storage."""
        return self.clamped(value, type.storage.low, type.storage.high)

    def clamped(self, value: SSAValue, low: int, high: int) -> SSAValue:
        """i8 values clamped to [low, high]."""
        if (low, high) == (LOW, HIGH):
            return value
        bounds = {"min_val": IntegerAttr(low, i8), "max_val": IntegerAttr(high, i8)}
        return self.make(tosa.ClampOp, [value], known_shape(value.type), i8, nan_mode=NAN_MODE, **bounds)

    def centred(self, value: SSAValue, type: UniformType) -> SSAValue:
        """i8 values minus their zero point, i32."""
        return self.rescaled(value, 1.0, (type.zero_point, 0))

    def requantized(self, value: SSAValue, old: UniformType, new: UniformType) -> SSAValue:
        """i8 values requantized from type `old` to `new`: by a table if a rescale rounds some of them otherwise."""
        if (old.scales, old.zero_points) == (new.scales, new.zero_points):
            return self.within(value, new) if old.storage != new.storage else value
        ratio = np.float32(old.scale) / np.float32(new.scale)
        ends = new.storage.low, new.storage.high
        stored, factors = np.arange(LOW, HIGH + 1).astype(np.int8), numerics.rescale_factors(ratio)
        scaled = numerics.rescale(stored, *factors, old.zero_point, new.zero_point, *ends, np.int8)
        real = numerics.dequantize(stored, old.scale, old.zero_point)
        wanted = numerics.quantize(real, new.scale, new.zero_point, *ends, np.int8)
        if (scaled != wanted).any():
            return self.looked_up(value, wanted)
        return self.within(self.rescaled(value, ratio, (old.zero_point, new.zero_point), i8), new)

    def looked_up(self, value: SSAValue, table: npt.NDArray[np.int8]) -> SSAValue:
        """A table lookup of i8 values; the first entry is for -128."""
        return self.make(tosa.TableOp, [value, self.constant(table, np.int8)], known_shape(value.type), i8)
