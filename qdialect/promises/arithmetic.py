"""
Steps of quantization written as separate float ops: x * m, x + z, round, cast.

A step is a promise about one op with one constant; the passes match chains of steps that form a quantization.
"""

from __future__ import annotations

from collections.abc import Callable, Sequence
from dataclasses import dataclass
from typing import NamedTuple

import numpy as np
from xdsl.ir import OpResult, SSAValue

from qdialect.dialects.onnx_base import OnnxOp
from qdialect.dialects.onnx_types import BY_NUMPY, DYNAMIC, element_of, quantized_of, shape_of
from qdialect.dialects.quant import StorageCastOp
from qdialect.ir.values import constant_array, is_float32
from qdialect.numerics import Array
from qdialect.promises.base import Commutes, Promise
from qdialect.promises.monotone import clip_bounds

I32 = BY_NUMPY["int32"].attribute


class WithConstant(NamedTuple):
    """One operand and the constant that it is combined with."""

    value: SSAValue
    constant: Array


@dataclass(frozen=True)
class Scales(Promise):
    """The op multiplies its operand by a constant."""

    inverse: bool = False
    """True if the op divides by the constant instead."""


@dataclass(frozen=True)
class Shifts(Promise):
    """The op adds a constant to its operand."""

    inverse: bool = False
    """True if the op subtracts the constant instead."""


class Rounds(Promise):
    """The op rounds to the nearest integer, half to even."""


class Converts(Promise):
    """The op converts its operand to another element type."""


@dataclass(frozen=True)
class ConvertsLike(Promise):
    """The op converts its first operand to the element type of another."""

    place: int


@dataclass(frozen=True)
class Bounds(Promise):
    """The op limits its operand to a range."""

    step: Callable[[OnnxOp], tuple[SSAValue, float, float] | None]
    """(operand, lower, upper bound), infinite for a missing bound; None if one is computed."""


class QuantizesAtRunTime(Promise):
    """The op quantizes operand 0 with parameters that it computes: results u8 values, f32 scale, u8 zero point."""


def step_of(op: OnnxOp, *, ordered: bool) -> WithConstant | None:
    """The operand and the constant of a step, of two constants the smaller; `ordered`: it must come second."""
    places: Sequence[tuple[int, int]] = ((0, 1),) if ordered else ((0, 1), (1, 0))
    for value, other in places:
        array, stepped = _array(op.operands[other]), _array(op.operands[value])
        if array is not None and (stepped is None or array.size < stepped.size):
            return WithConstant(op.operands[value], array)
    return None


def _array(value: SSAValue) -> Array | None:
    """A constant's elements, also of one that is cast to float32 or int32, or reshaped."""
    op = producer(value)
    moves = None if op is None else op.get_trait(Commutes)
    if op is not None and moves is not None and moves.keeps_order:
        array, shape = _array(op.operands[0]), shape_of(value.type)
        return None if array is None or shape is None or DYNAMIC in shape else array.reshape(shape)
    dtype = np.float32 if is_float32(value) else np.int32 if element_of(value.type) == I32 else None
    if op is None or op.get_trait(Converts) is None or dtype is None:
        return constant_array(value)
    array = _array(op.operands[0])
    return None if array is None else array.astype(dtype)


def single_user(value: SSAValue) -> OnnxOp | None:
    """The only user of `value`, if it is an ONNX op; None otherwise."""
    use = value.first_use
    if use is None or not value.has_one_use() or not isinstance(use.operation, OnnxOp):
        return None
    return use.operation


def producer(value: SSAValue) -> OnnxOp | None:
    """The ONNX op that makes `value`."""
    return value.op if isinstance(value, OpResult) and isinstance(value.op, OnnxOp) else None


def multiplier(op: OnnxOp | None) -> WithConstant | None:
    """The operand and the factor, float32, of an op that multiplies by a constant; None for other ops, division too."""
    promise = None if op is None else op.get_trait(Scales)
    if op is None or promise is None or promise.inverse:
        return None
    return step_of(op, ordered=False)


def shift(op: OnnxOp | None) -> WithConstant | None:
    """The operand and the summand of an op that adds or subtracts a constant; None for other ops."""
    promise = None if op is None else op.get_trait(Shifts)
    step = None if op is None or promise is None else step_of(op, ordered=promise.inverse)
    if promise is None or step is None:
        return None
    return WithConstant(step.value, -step.constant) if promise.inverse else step


def scale_behind(value: SSAValue) -> Array | None:
    """
    The scale with which integers are read behind conversions, shifts and clamps, each with the next as its only user.

    It is a factor, of any shape, or that of a quantized type, (); None if `value` is read in another way.
    """
    user = single_user(value)
    while user is not None and (shift(user) or user.get_trait(Converts) or user.get_trait(Bounds)):
        value = user.results[0]
        user = single_user(value)
    cast = None if value.first_use is None else value.first_use.operation
    type = (
        quantized_of(cast.results[0].type)
        if isinstance(cast, StorageCastOp) and value.has_one_use()
        else None
    )
    if type is not None and type.is_per_tensor:
        return np.asarray(type.scale)
    scaled = multiplier(user)
    return None if scaled is None else scaled.constant


def unwidened(value: SSAValue) -> WithConstant:
    """The integers that `value` has in a wider type, minus a constant zero point, and that; `value` and 0 if none."""
    if element_of(value.type) != I32:
        return WithConstant(value, np.zeros(()))
    added = shift(producer(value))
    wide, zero_point = (value, np.zeros(())) if added is None else (added.value, -added.constant)
    op = producer(wide)
    if op is None or op.get_trait(Converts) is None:
        return WithConstant(value, np.zeros(()))
    return WithConstant(op.operands[0], zero_point)


def along(array: Array, rank: int | None, axis: int) -> Array | None:
    """A constant's entries if it varies along one axis only of a tensor of `rank`: shape () or (n,); else None."""
    if array.size == 1:
        return array.reshape(()) if rank is None or array.ndim <= rank else None
    if rank is None or array.ndim > rank:
        return None
    shape = (1,) * (rank - array.ndim) + array.shape
    return array.reshape(-1) if shape[axis] == array.size else None


def _clip(op: OnnxOp) -> tuple[SSAValue, float, float] | None:
    bounds = clip_bounds(op)
    return None if bounds is None else (op.operands[0], *bounds)


def _bound(lower: bool) -> Callable[[OnnxOp], tuple[SSAValue, float, float] | None]:
    def bounds(op: OnnxOp) -> tuple[SSAValue, float, float] | None:
        step = step_of(op, ordered=False) if len(op.operands) == 2 else None
        if step is None or step.constant.size != 1 or step.constant.ndim > 1:
            return None
        bound = float(step.constant.reshape(-1)[0])
        return (step.value, bound, np.inf) if lower else (step.value, -np.inf, bound)

    return bounds


ARITHMETIC: dict[tuple[str, str], Promise] = {
    ("", "Mul"): Scales(),
    ("", "Div"): Scales(inverse=True),
    ("", "Add"): Shifts(),
    ("", "Sub"): Shifts(inverse=True),
    ("", "Round"): Rounds(),
    ("", "Cast"): Converts(),
    ("", "CastLike"): ConvertsLike(1),
    ("", "Clip"): Bounds(_clip),
    ("", "Max"): Bounds(_bound(lower=True)),
    ("", "Min"): Bounds(_bound(lower=False)),
    ("", "DynamicQuantizeLinear"): QuantizesAtRunTime(),
}
