"""
Helpers that read stored integers as elements of a quantized type: storage casts, constants; and the pattern that moves
such casts below ops that move elements.
"""
# Around the driver: `dequantize_operands` changes only drafts, which stand in no block yet.

from __future__ import annotations

from collections.abc import Sequence

import numpy as np
from xdsl.ir import Attribute, Operation, OpResult, SSAValue

from qdialect.dialects.onnx_base import ConstantOp, OnnxOp, promise_of
from qdialect.dialects.onnx_tensor import TensorAttr
from qdialect.dialects.onnx_types import (
    BY_ATTRIBUTE,
    DYNAMIC,
    element_of,
    quantized_of,
    shape_of,
    storage_element,
    tensor_type,
    with_element,
)
from qdialect.dialects.quant import DequantizeOp, QuantizeOp, StorageCastOp, UniformType
from qdialect.ir.build import constant_op, copied
from qdialect.ir.names import QUANTIZED, tensor_name
from qdialect.ir.values import real_constant, under
from qdialect.promises.base import Commutes
from qdialect.promises.casts import QuantizeForm
from qdialect.reasons import unblocked
from qdialect.rewriting.driver import Rewriter
from qdialect.rewriting.matching import OnTrait


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
        promise = promise_of(op, Commutes) if ops else None
        if isinstance(op, QuantizeOp):
            new: Operation = QuantizeOp(op.operands[0], type)
        elif promise is not None:
            new = promise.rebuilt(op, [ops[-1].results[0]], [type])
        else:
            new = copied(op, op.operands, [with_element(op.results[0].type, type)])
        new.location = op.location
        ops.append(new)
    return ops


def learn_shape(value: SSAValue, reader: Operation, rewriter: Rewriter) -> SSAValue:
    """
    `value` with the sizes that the model states for the result of `reader`; likewise the values that it is cast from.
    Single sizes are not propagated out of a branch, which may not run.
    """
    known = reader.results[0].type
    shape, element = shape_of(known), element_of(value.type)
    if shape is None or element is None or not isinstance(value, OpResult):
        return value
    own, op = shape_of(value.type), value.op
    if own is not None and (DYNAMIC not in own or len(own) != len(shape)):
        return value
    if op.parent is not reader.parent and (own is not None or reader.get_trait(QuantizeForm) is not None):
        return value
    shape = shape if own is None else tuple(b if a == DYNAMIC else a for a, b in zip(own, shape, strict=True))
    if own == shape:
        return value
    is_cast = isinstance(op, QuantizeOp | DequantizeOp | StorageCastOp)  # of one shape on both sides
    if is_cast or op.get_trait(QuantizeForm) is not None:
        source = learn_shape(op.operands[0], reader, rewriter)
        if is_cast and shape_of(source.type) != shape:
            return value
    return rewriter.retype(value, tensor_type(element, shape))


def as_type(value: SSAValue, type: UniformType, rewriter: Rewriter) -> tuple[Sequence[Operation], SSAValue]:
    """
    The operations, not inserted yet, that read the integers of `value` as elements of `type`, and the value that has
    them. A constant is read once for all its users, beside it: they share its bytes in the file too.
    """
    wanted = with_element(value.type, type)
    if isinstance(value, OpResult):
        if isinstance(value.op, StorageCastOp) and value.op.operands[0].type == wanted:
            return (), value.op.operands[0]
        if isinstance(value.op, ConstantOp) and (tensor := value.op.value) is not None:
            return (), _constant_as(value.op, tensor, wanted, rewriter)
    cast = StorageCastOp(value, wanted)
    return (cast,), cast.results[0]


def _constant_as(source: ConstantOp, tensor: TensorAttr, wanted: Attribute, rewriter: Rewriter) -> SSAValue:
    """The constant of `source`'s bytes with type `wanted`, new unless it stands behind `source` already."""
    beside = source.next_op
    while isinstance(beside, ConstantOp) and beside.value is tensor:
        if beside.results[0].type == wanted:
            return beside.results[0]
        beside = beside.next_op
    constant = ConstantOp.of(tensor, wanted)
    constant.location = source.location
    rewriter.insert_after(source, [constant])
    return constant.results[0]


def real_copy(source: ConstantOp, type: UniformType) -> ConstantOp:
    """The dequantized constant of a constant of `type`, not inserted yet."""
    real = np.asarray(real_constant(source.results[0]), BY_ATTRIBUTE[type.expressed].dtype)
    name = tensor_name(source)
    name = name.removesuffix(QUANTIZED) if name.endswith(QUANTIZED) else f"{name}_real"
    return constant_op(real, name)


def cast_source(value: SSAValue, cast: type[Operation]) -> SSAValue | None:
    """The quantized value that `value` is cast from; None if it is not."""
    source = under(value, cast)
    return None if source is None or quantized_of(source.type) is None else source


class SinkReading(OnTrait[Commutes]):
    """Move a pair of storage casts, which read integers as another type, below an op that moves elements."""

    def match(self, op: OnnxOp, promise: Commutes, rewriter: Rewriter) -> None:
        if not (promise.moves_storage and promise.results(op) and promise.moves(op)):
            return  # one of other types rounds
        sources = [_read_from(value) for value in promise.operand_values(op)]
        types = [t for s in sources if s is not None and (t := quantized_of(s.type)) is not None]
        if len(types) < len(sources):
            return
        moved = unblocked(promise.forward(op, types))
        new = promise.rebuilt(op, [s for s in sources if s is not None], moved)
        known = [value.type for value in promise.result_values(op)]
        plain = [
            StorageCastOp(value, with_element(old, storage_element(type)))
            for value, old, type in zip(promise.result_values(new), known, moved, strict=True)
        ]
        casts = [StorageCastOp(one.results[0], old) for one, old in zip(plain, known, strict=True)]
        rewriter.replace(op, [new, *plain, *casts], promise.read_by(new, casts))


def _read_from(value: SSAValue) -> SSAValue | None:
    """The quantized value whose integers `value` reads as another type; None if it is no such pair of casts."""
    integers = None if quantized_of(value.type) is None else under(value, StorageCastOp)
    return None if integers is None else cast_source(integers, StorageCastOp)
