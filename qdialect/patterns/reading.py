"""Helpers that read stored integers as elements of a quantized type: storage casts, constants."""
# Around the driver: it changes only drafts, which stand in no block yet.

from __future__ import annotations

from collections.abc import Sequence

import numpy as np
from xdsl.ir import Operation, OpResult, SSAValue

from qdialect.dialects.onnx_base import ConstantOp, OnnxOp
from qdialect.dialects.onnx_types import BY_ATTRIBUTE, quantized_of, with_element
from qdialect.dialects.quant import DequantizeOp, QuantizeOp, StorageCastOp, UniformType
from qdialect.ir.build import constant_op, copied
from qdialect.ir.names import QUANTIZED, tensor_name
from qdialect.ir.values import real_constant
from qdialect.promises.base import Commutes


def reads_as(value: SSAValue, type: UniformType) -> Sequence[Operation]:
    """Operations, the last of which has the integers of `value` as elements of `type`; empty if `value` has it."""
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
    """Dequantize the operands of `op`, so that `fuse-quantized` can match a quantize behind it; returns the casts."""
    casts: list[Operation] = []
    for place, value in enumerate(op.operands):
        if quantized_of(value.type) is not None:
            cast = DequantizeOp(value)
            casts.append(cast)
            op.operands[place] = cast.results[0]
    return casts


def retyped(chain: Sequence[OnnxOp | QuantizeOp], type: UniformType) -> list[Operation]:
    """An op with one result, and those that move it, as new operations on another quantized type."""
    ops: list[Operation] = []
    for op in chain:
        promise = op.get_trait(Commutes) if isinstance(op, OnnxOp) and ops else None
        if isinstance(op, QuantizeOp):
            new: Operation = QuantizeOp(op.operands[0], type)
        elif promise is not None:
            new = promise.rebuilt(op, [ops[-1].results[0]], [type])
        else:
            new = copied(op, op.operands, [with_element(op.results[0].type, type)])
        new.location = op.location
        ops.append(new)
    return ops


def as_type(value: SSAValue, type: UniformType) -> tuple[Sequence[Operation], SSAValue]:
    """The operations of `reads_as`, and the value of `type`."""
    casts = reads_as(value, type)
    if casts:
        return casts, casts[-1].results[0]
    if not isinstance(value.owner, StorageCastOp):
        raise TypeError(f"{value.type} is no storage cast's result")
    return (), value.owner.operands[0]


def real_copy(source: ConstantOp, type: UniformType) -> ConstantOp:
    """The dequantized constant of a constant of `type`, not inserted yet."""
    real = np.asarray(real_constant(source.results[0]), BY_ATTRIBUTE[type.expressed].dtype)
    name = tensor_name(source)
    name = name.removesuffix(QUANTIZED) if name.endswith(QUANTIZED) else f"{name}_real"
    return constant_op(real, name)
