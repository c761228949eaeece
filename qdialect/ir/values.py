"""Static facts about values: quantized type, shape, rank, constant elements."""

from __future__ import annotations

from typing import Any

import numpy.typing as npt
from xdsl.dialects.builtin import Float32Type
from xdsl.ir import Operation, OpResult, SSAValue

from qdialect.dialects.onnx_base import ConstantOp, OnnxOp
from qdialect.dialects.onnx_tensor import TensorAttr
from qdialect.dialects.onnx_types import DYNAMIC, element_of, quantized_of, shape_of
from qdialect.dialects.quant import BYTE_BITS, DequantizeOp, UniformType


def quantized_type(value: SSAValue) -> UniformType | None:
    """
    The quantized type of a tensor's elements, None if they are not quantized. Its `scales` and `zero_points` are arrays
    of shape () per tensor, of one entry for each index of `axis` per axis, and of one for each block otherwise.
    """
    return quantized_of(value.type)


def constant(value: SSAValue | None) -> TensorAttr | None:
    """The tensor that a constant holds, as stored; None if the value is computed or absent."""
    op = value.op if isinstance(value, OpResult) else None
    return op.value if type(op) is ConstantOp else None  # `isinstance` is slow for what is not one


def constant_array(value: SSAValue | None) -> npt.NDArray[Any] | None:
    """The elements of a constant; None if the value is computed or absent."""
    tensor = constant(value)
    return None if tensor is None else tensor.array()


def known_constant(value: SSAValue | None) -> TensorAttr:
    """The tensor of a constant. ValueError if the value is none."""
    if (tensor := constant(value)) is None:
        raise ValueError("a constant is expected")
    return tensor


def known_array(value: SSAValue | None) -> npt.NDArray[Any]:
    """The elements of a constant. ValueError if the value is none."""
    return known_constant(value).array()


def under(value: SSAValue, cast: type[Operation]) -> SSAValue | None:
    """The operand of the cast of class `cast` that defines `value`; None if no such cast does."""
    op = value.op if isinstance(value, OpResult) else None
    return op.operands[0] if op is not None and type(op) is cast else None


def under_dequantize(value: SSAValue) -> SSAValue:
    """The quantized value that `value` is dequantized from; `value` itself if it is not."""
    return owner.operands[0] if type(owner := value.owner) is DequantizeOp else value


def is_constant(value: SSAValue | None) -> bool:
    """True if `real_constant` has the values; does not read them."""
    return value is not None and constant(under_dequantize(value)) is not None


def real_constant(value: SSAValue | None) -> npt.NDArray[Any] | None:
    """The real values of a constant, dequantized if its type says so or a cast does; None if they are computed."""
    if value is None or (tensor := constant(value := under_dequantize(value))) is None:
        return None
    type = quantized_of(value.type)
    return tensor.array() if type is None else type.dequantize(tensor.array())


def constant_ints(value: SSAValue | None) -> tuple[int, ...] | None:
    """The integers of a small constant, flat; None if the value is computed or absent."""
    array = constant_array(value)
    if array is None or array.dtype.kind not in "iu":
        return None
    return tuple(int(v) for v in array.reshape(-1))


def ints_of(op: OnnxOp, name: str, place: int) -> tuple[int, ...] | None:
    """Integers that were attribute `name` in old opsets and are input `place` in new ones; None if not constant."""
    stated = op.ints_attr(name)
    return constant_ints(op.input(place)) if stated is None else stated


def is_float32(value: SSAValue) -> bool:
    """True if a value is a tensor of float32."""
    return isinstance(element_of(value.type), Float32Type)


def byte_type(value: SSAValue) -> UniformType | None:
    """The quantized type of a value if kernels take such activations: 8 bits, one scale, of f32; None otherwise."""
    type = quantized_of(value.type)
    if type is None or not type.is_per_tensor or type.storage.width != BYTE_BITS:
        return None
    return type if isinstance(type.expressed, Float32Type) else None


def rank_of(value: SSAValue) -> int | None:
    """The rank of a tensor; None if it is not known."""
    shape = shape_of(value.type)
    return None if shape is None else len(shape)


def static_shape(value: SSAValue) -> tuple[int, ...] | None:
    """The sizes of a tensor if all are known."""
    shape = shape_of(value.type)
    return None if shape is None or DYNAMIC in shape else shape


def normal_axis(axis: int, rank: int) -> int:
    """An axis counted from the front."""
    return axis + rank if axis < 0 else axis
