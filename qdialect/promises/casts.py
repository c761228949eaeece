"""QuantizeLinear and DequantizeLinear, in both domains, and the quantized types of the casts that they become."""

from __future__ import annotations

from collections.abc import Iterable
from math import inf

import numpy as np
from xdsl.dialects.builtin import BFloat16Type, Float16Type, Float32Type, IntegerType, Signedness
from xdsl.ir import Attribute, OpResult, SSAValue

from qdialect.dialects.onnx_base import OnnxOp, onnx_opset
from qdialect.dialects.onnx_tensor import TensorAttr
from qdialect.dialects.onnx_types import (
    ANY,
    BY_ATTRIBUTE,
    BY_NUMBER,
    DYNAMIC,
    element_of,
    quantized_of,
    shape_of,
)
from qdialect.dialects.quant import (
    BYTE_BITS,
    MAX_BLOCK_PARAMETERS,
    DequantizeOp,
    Expressed,
    Half,
    Storage,
    UniformType,
)
from qdialect.dialects.snapshot import MICROSOFT
from qdialect.ir.values import constant, constant_array, is_constant, normal_axis
from qdialect.promises.base import Commutes, Promise
from qdialect.reasons import SCALE_VALUE, UNKNOWN_RANK, UNKNOWN_STORAGE, Blocked

EMPTY_AXIS = Blocked("empty-tensor", "an axis without elements has no scales")
RUN_TIME = Blocked("run-time-scale", "scale or zero point is computed at run time", "use static quantization")
UNFOLDED = Blocked(
    "unfolded-scale",
    "scale or zero point is computed from constants by nodes that are not folded yet",
    "run fold-identity,fold-constants first",
)
FIRST_CASTS = 10
"""The first opset with QuantizeLinear and DequantizeLinear."""
PRECISION_OF_DIVISION = 23
"""The first opset whose QuantizeLinear divides in the type of its scale, or in that of an attribute `precision`."""
MAX_FOLDED_OPS = 16
"""Greatest number of ops that `_of_constants` inspects."""


class QuantizeForm(Promise):
    """QuantizeLinear: operands x, scale, zero point."""


class DequantizeForm(Promise):
    """DequantizeLinear: operands q, scale, zero point."""


def written_dequantize(value: SSAValue) -> OnnxOp | None:
    """The DequantizeLinear that defines `value`; None if there is none."""
    cast = value.owner
    return cast if isinstance(cast, OnnxOp) and cast.get_trait(DequantizeForm) is not None else None


def moved_dequantize(value: SSAValue) -> OnnxOp | None:
    """The DequantizeLinear whose elements `value` has, through ops that move elements of one operand."""
    while isinstance(op := value.owner, OnnxOp) and (promise := op.get_trait(Commutes)) is not None:
        if len(promise.operands(op)) != 1:
            return None
        value = promise.operand_values(op)[0]
    return written_dequantize(value)


def _storage(op: OnnxOp, integers: Attribute | None) -> Storage | Blocked:
    number = op.int_attr("output_dtype", 0)
    if integers is None and (zero_point := op.input(2)) is not None:
        integers = element_of(zero_point.type)
    if integers is None:
        element = BY_NUMBER.get(number or 2)
        integers = None if element is None else element.attribute
    if not isinstance(integers, IntegerType):
        if integers not in BY_ATTRIBUTE:
            return UNKNOWN_STORAGE
        return Blocked(
            "storage-type", f"{integers} stores floats, which no integer kernel takes", "quantize to int8"
        )
    signed = integers.signedness.data != Signedness.UNSIGNED
    return Storage.of(f"{'i' if signed else 'u'}{integers.width.data}")


def _of_constants(values: Iterable[SSAValue]) -> bool:
    """True if values depend on constants alone, through at most `MAX_FOLDED_OPS` ops, as exporters write them."""
    waiting = [value.owner for value in values]
    for count in range(MAX_FOLDED_OPS):
        if count == len(waiting):
            return True
        op = waiting[count]
        if not isinstance(op, OnnxOp) or op.regions or not (op.operands or is_constant(op.results[0])):
            return False
        waiting += [operand.owner for operand in op.operands]
    return False


def cast_type(
    op: OnnxOp, shape: tuple[int, ...] | None, expressed: Attribute | None, integers: Attribute | None
) -> UniformType | Blocked:
    """
    The quantized element type of a Q's result or a DQ's operand, or `Blocked`.

    `shape` is the tensor's, `expressed` its float element, `integers` its stored element if that is known.
    """
    storage = _storage(op, integers)
    if isinstance(storage, Blocked) and storage != UNKNOWN_STORAGE:
        return storage
    scales, zero_points = constant_array(op.input(1)), constant_array(op.input(2))
    if scales is None or (op.input(2) is not None and zero_points is None):
        return UNFOLDED if _of_constants(op.operands[1:]) else RUN_TIME
    if isinstance(storage, Blocked):
        return storage
    if not isinstance(expressed, Expressed):
        return Blocked("expressed-type", f"{expressed} is not an expressed type of quantization")
    if scales.dtype != BY_EXPRESSED[type(expressed)]:
        message = f"the scale is {scales.dtype}, the tensor {expressed}"
        return Blocked("expressed-type", message, "quantize with scales of the tensor's type")
    if not scales.size:
        return EMPTY_AXIS
    scales = scales.astype(np.float32)
    if not _all_positive(scales):
        return SCALE_VALUE
    if zero_points is not None and zero_points.size != scales.size:
        return Blocked("invalid-parameters", f"{scales.size} scales but {zero_points.size} zero points")
    zeros = np.zeros(scales.shape, np.int32) if zero_points is None else zero_points.astype(np.int32)
    if scales.size == 1 and not op.int_attr("block_size", 0):
        return UniformType.per_tensor(storage, scales.item(), zeros.item(), expressed)
    return _structured(op, shape, storage, scales, zeros, expressed)


def _all_positive(scales: np.ndarray) -> bool:
    """True if every scale is finite and greater than zero."""
    if scales.size == 1:  # numpy's reductions take ten times as long
        return 0 < scales.item() < inf
    return bool(np.isfinite(scales).all() and (scales > 0).all())


def _structured(
    op: OnnxOp,
    shape: tuple[int, ...] | None,
    storage: Storage,
    scales: np.ndarray,
    zeros: np.ndarray,
    expressed: Attribute,
) -> UniformType | Blocked:
    if shape is None:
        return UNKNOWN_RANK
    axis, block = normal_axis(op.int_attr("axis", 1), len(shape)), op.int_attr("block_size", 0)
    if not 0 <= axis < len(shape):
        return Blocked("invalid-parameters", f"axis {axis} is not one of {len(shape)}")
    if not block:
        if scales.ndim != 1 or shape[axis] not in (DYNAMIC, scales.size) or zeros.shape != scales.shape:
            return Blocked("invalid-parameters", f"{scales.size} scales for an axis of {shape[axis]}")
        return UniformType.per_axis(storage, axis, scales, zeros, expressed)
    if (
        len(shape) == 2
        and scales.ndim == 2
        and DYNAMIC not in shape
        and scales.shape[axis] == 1 <= shape[axis] <= block
    ):
        # One block, perhaps longer than its axis: a scale for each place on the other.
        return UniformType.along(storage, 1 - axis, scales.reshape(-1), zeros.reshape(-1), expressed)
    if DYNAMIC in shape or shape[axis] % block or scales.ndim != len(shape):
        return Blocked("block-size", f"blocks of {block} do not divide axis {axis} of {list(shape)}")
    counts = tuple(size // block if k == axis else size for k, size in enumerate(shape))
    if scales.shape != counts or zeros.shape != counts:
        return Blocked("invalid-parameters", f"scales of {list(scales.shape)} for {list(counts)} blocks")
    blocks = tuple((k, block if k == axis else 1) for k in range(len(shape)))
    return UniformType.sub_channel(storage, blocks, scales, zeros, expressed)


BY_EXPRESSED: dict[type[Attribute], str] = {
    Float32Type: "float32",
    Float16Type: "float16",
    BFloat16Type: "bfloat16",
}


def _carried(type: UniformType | Blocked) -> UniformType | Blocked:
    """`type`, or `Blocked` if it has more parameters than a type in the IR may carry."""
    if isinstance(type, UniformType) and type.blocks and type.scales.size > MAX_BLOCK_PARAMETERS:
        return Blocked("block-size", f"{type.scales.size} scales per block are more than a type may hold")
    return type


def quantize_type(op: OnnxOp) -> UniformType | Blocked:
    """The element type of a QuantizeLinear's result."""
    x = op.operands[0]
    type = _carried(cast_type(op, shape_of(x.type), element_of(x.type), None))
    if isinstance(type, UniformType) and (blocked := _divided(op, type)) is not None:
        return blocked
    return type


def _divided(op: OnnxOp, type: UniformType) -> Blocked | None:
    """
    `Blocked` if the node's quotient, rounded to half precision before it is rounded to an integer, is more than a step
    off that of a cast, which divides in f32.
    """
    element = division_type(op, type.expressed)
    is_stated = isinstance(element, Half) and not isinstance(type.expressed, Half)
    if isinstance(element, Half) and (is_stated or type.storage.width > BYTE_BITS):
        message = f"it divides in {element}, which moves a value by more than a step"
        return Blocked("expressed-type", message, "quantize in float32")
    return None


def division_type(op: OnnxOp, expressed: Attribute) -> Attribute | None:
    """The type in which a QuantizeLinear of `expressed` divides by its scale; None if f32, as casts do."""
    number = op.int_attr("precision", 0)
    if not number and onnx_opset(op) >= PRECISION_OF_DIVISION and not op.domain:
        return expressed
    stated = BY_NUMBER.get(number)
    return None if stated is None else stated.attribute


def dequantize_type(op: OnnxOp) -> UniformType | Blocked:
    """The element type of a DequantizeLinear's operand."""
    return _carried(described_type(op))


def described_type(op: OnnxOp) -> UniformType | Blocked:
    """The quantized type of a DequantizeLinear's operand, with any number of parameters."""
    q = op.operands[0]
    known = element_of(q.type)
    if known == ANY:  # the zero point's type decides
        known = None
    expressed = element_of(op.results[0].type)
    scale = op.operands[1]
    if not isinstance(expressed, Expressed):
        expressed = element_of(scale.type)
    return cast_type(op, shape_of(q.type) or shape_of(op.results[0].type), expressed, known)


def dequantized_constant(value: SSAValue) -> tuple[TensorAttr, UniformType] | None:
    """Stored integers and type of a dequantized constant, by a cast or by a node with more blocks than types carry."""
    if not isinstance(value, OpResult):
        return None
    if isinstance(value.op, DequantizeOp):
        stored = value.op.operands[0]
        tensor, type = constant(stored), quantized_of(stored.type)
    elif isinstance(value.op, OnnxOp) and value.op.get_trait(DequantizeForm) is not None:
        tensor, type = constant(value.op.operands[0]), described_type(value.op)
    else:
        return None
    return None if tensor is None or not isinstance(type, UniformType) else (tensor, type)


CASTS: dict[tuple[str, str], Promise] = {
    (domain, name): promise
    for domain in ("", MICROSOFT)
    for name, promise in (("QuantizeLinear", QuantizeForm()), ("DequantizeLinear", DequantizeForm()))
}

QUARK: dict[tuple[str, str], Promise] = {
    (domain, f"{prefix}{name}Linear"): promise
    for domain, prefix in (("com.amd.quark", "Extended"), ("com.vai.quantize", "Vitis"))
    for name, promise in (("Quantize", QuantizeForm()), ("Dequantize", DequantizeForm()))
}
"""Casts to more types than those of ONNX's older opsets, as AMD's Quark writes them now and before."""
