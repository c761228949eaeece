"""Stored integers read as elements of a quantized type."""
# Around the driver: it changes only drafts, which stand in no block yet.

from __future__ import annotations

from collections.abc import Sequence

import numpy as np
from xdsl.ir import Operation, OpResult, SSAValue

from qdialect.dialects.onnx_base import ConstantOp, OnnxOp
from qdialect.dialects.onnx_tensor import from_array
from qdialect.dialects.onnx_types import BY_ATTRIBUTE, quantized_of, with_element
from qdialect.dialects.quant import DequantizeOp, StorageCastOp, UniformType
from qdialect.ir.names import location, tensor_name
from qdialect.ir.values import real_constant


def reads_as(value: SSAValue, type: UniformType) -> Sequence[Operation]:
    """Operations, the last of which has `value`'s integers as elements of `type`; none if `value` is such already."""
    wanted = with_element(value.type, type)
    if isinstance(value, OpResult):
        if isinstance(value.op, StorageCastOp) and value.op.operands[0].type == wanted:
            return ()
        if isinstance(value.op, ConstantOp) and value.op.value is not None:
            constant = ConstantOp.of(value.op.value, wanted)
            constant.location = value.op.location
            return (constant,)
    return (StorageCastOp(value, wanted),)


def dequantize_operands(op: OnnxOp) -> list[Operation]:
    """Let `op` take real numbers, for `fuse-quantized` to see a quantize that may follow; the casts are returned."""
    casts: list[Operation] = []
    for place, value in enumerate(op.operands):
        if quantized_of(value.type) is not None:
            cast = DequantizeOp(value)
            casts.append(cast)
            op.operands[place] = cast.results[0]
    return casts


def as_type(value: SSAValue, type: UniformType) -> tuple[Sequence[Operation], SSAValue]:
    """`value`'s integers as elements of `type`, and the operations that read them so."""
    casts = reads_as(value, type)
    if casts:
        return casts, casts[-1].results[0]
    if not isinstance(value.owner, StorageCastOp):
        raise TypeError(f"{value.type} is no storage cast's result")
    return (), value.owner.operands[0]


def real_copy(source: ConstantOp, type: UniformType) -> ConstantOp:
    """What a dequantize of a constant of `type` makes, as a constant, not inserted yet."""
    real = np.asarray(real_constant(source.results[0]), BY_ATTRIBUTE[type.expressed].dtype)
    new, name = ConstantOp.of(from_array(real)), tensor_name(source)
    new.location = location(
        "", [name.removesuffix("_quantized") if name.endswith("_quantized") else f"{name}_real"]
    )
    return new
