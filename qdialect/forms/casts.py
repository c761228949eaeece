"""Helpers of the lowerings to ONNX: parameters as constants, values as stored integers, clamps, Q and DQ nodes."""

from __future__ import annotations

from collections.abc import Sequence
from typing import Any

import numpy as np
import numpy.typing as npt
from xdsl.dialects.builtin import f32
from xdsl.dialects.func import FuncOp
from xdsl.ir import Attribute, Block, Operation, OpResult, SSAValue

from qdialect import numerics
from qdialect.dialects.onnx_attributes import int_attr
from qdialect.dialects.onnx_base import ConstantOp, FunctionOp, OnnxOp, onnx_opset
from qdialect.dialects.onnx_tensor import from_array
from qdialect.dialects.onnx_types import BY_ATTRIBUTE, shape_of, storage_element, uniform_of, with_element
from qdialect.dialects.quant import BYTE_BITS, Half, StorageCastOp, UniformType
from qdialect.dialects.snapshot import MICROSOFT
from qdialect.forms.nodes import Nodes
from qdialect.ir.insertion import block_of, first_of
from qdialect.ir.names import location, wish
from qdialect.ir.values import constant_array
from qdialect.ops.generated import op_named
from qdialect.promises.casts import FIRST_CASTS, PRECISION_OF_DIVISION
from qdialect.promises.clamping import CLIP_WITH_INPUTS

CLIP_OF_BYTES = 12
"""The first opset whose Clip takes integers."""


def _graph_block(op: Operation) -> Block:
    """The block of the outermost graph, or model-local function, that contains `op`."""
    while (scope := op.parent_op()) is not None and not isinstance(scope, FuncOp | FunctionOp):
        op = scope
    return block_of(op)


def written_type(type: UniformType) -> UniformType:
    """`type`, or the same in f32 if its scales are no numbers of its half precision: casts of ONNX take such ones."""
    dtype = BY_ATTRIBUTE[type.expressed].dtype
    if (type.scales.astype(dtype).astype(np.float32) == type.scales).all():
        return type
    return type.replace(expressed=f32)


def converted(value: SSAValue, element: Attribute) -> OnnxOp:
    """A Cast of `value` to another float type."""
    attributes = {"to": int_attr(BY_ATTRIBUTE[element].number)}
    return op_named("", "Cast").build([value], [with_element(value.type, element)], attributes)


def parameter_constants(type: UniformType) -> list[Operation]:
    """New constants with the scales and the zero points of `type`."""
    scales = type.scales.astype(BY_ATTRIBUTE[type.expressed].dtype)
    zero_points = type.zero_points.astype(BY_ATTRIBUTE[storage_element(type)].dtype)
    return [ConstantOp.of(from_array(np.asarray(values))) for values in (scales, zero_points)]


class Parameters:
    """Scales and zero points as constants at the head of the graph, each written once."""

    def __init__(self) -> None:
        self._pairs: dict[tuple[Block, UniformType], tuple[SSAValue, SSAValue]] = {}

    def of(self, type: UniformType, user: Operation, tensor: SSAValue | str) -> tuple[SSAValue, SSAValue]:
        """Scale and zero point of `type` as constants that dominate `user`, named after a tensor."""
        block = _graph_block(user)
        pair_of_values = self._pairs.get((block, type))
        if pair_of_values is None:
            pair = parameter_constants(type)
            name = tensor if isinstance(tensor, str) else wish(tensor)
            for op, suffix in zip(pair, ("scale", "zero_point"), strict=True):
                op.location = location("", [f"{name}_{suffix}" if name else suffix])
            block.insert_ops_before(pair, first_of(block))
            pair_of_values = self._pairs[block, type] = pair[0].results[0], pair[1].results[0]
        return pair_of_values


def stored(value: SSAValue) -> tuple[SSAValue, list[Operation]]:
    """The stored integers of a quantized value, and the new operations, not inserted yet, that compute them."""
    type = uniform_of(value.type)
    if isinstance(value, OpResult):
        if isinstance(value.op, StorageCastOp):
            return value.op.operands[0], []
        if isinstance(value.op, ConstantOp) and value.op.value is not None:
            plain = ConstantOp.of(value.op.value)
            plain.location = value.op.location
            return plain.results[0], [plain]
    cast = StorageCastOp(value, with_element(value.type, storage_element(type)))
    return cast.results[0], [cast]


def clamped(value: SSAValue, type: UniformType) -> list[Operation]:
    """An integer Clip to the storage bounds if they are narrower than the storage's width; else no operations."""
    if type.storage.is_full_range:
        return []
    nodes, dtype = Nodes(), BY_ATTRIBUTE[storage_element(type)].dtype
    ends = [nodes.constant(end, dtype) for end in (type.storage.low, type.storage.high)]
    nodes.add("Clip", [value, *ends], value.type)
    return nodes.ops


def clamps_integers(type: UniformType, user: Operation) -> bool:
    """True if Clip takes the stored integers of `type` in the opset of `user`: 8 bits, from opset 12 on."""
    return type.storage.width == BYTE_BITS and onnx_opset(user) >= CLIP_OF_BYTES


def clamped_real(
    value: SSAValue, type: UniformType, user: Operation, *, always: bool = False
) -> list[Operation]:
    """
    A clamp of reals, quantized next, to the reals of the storage bounds: equal to a clamp of the integers afterwards.

    A Clip, or Max and Min if the bounds differ by channel or Clip takes none as operands. No operations if the bounds
    are the full range of the storage, unless `always`, or if the rank is unknown along which they run.
    """
    shape = shape_of(value.type)
    if (
        (type.storage.is_full_range and not always)
        or type.blocks
        or (shape is None and not type.is_per_tensor)
    ):
        return []
    nodes, dtype = Nodes(), BY_ATTRIBUTE[type.expressed].dtype
    ends = (type.storage.low, type.storage.high)
    low, high = (nodes.constant(_real_end(end, type, shape or (), dtype)) for end in ends)
    if type.is_per_tensor and onnx_opset(user) >= CLIP_WITH_INPUTS:
        nodes.add("Clip", [value, low, high], value.type)
    else:
        nodes.add("Min", [nodes.add("Max", [value, low], value.type), high], value.type)
    return nodes.ops


def under_clamp(value: SSAValue, clamp: Sequence[Operation]) -> SSAValue | None:
    """The operand of the clamp that defines `value`, if equal to `clamp`, as `clamped_real` builds it; else None."""
    for op in reversed(clamp):
        if isinstance(op, ConstantOp):
            continue
        known = value.owner
        if not isinstance(known, type(op)) or len(known.operands) != len(op.operands):
            return None
        for one, other in zip(known.operands[1:], op.operands[1:], strict=True):
            bound, wanted = constant_array(one), constant_array(other)
            if bound is None or wanted is None or not np.array_equal(bound, wanted):
                return None
        value = known.operands[0]
    return value


def _real_end(end: int, type: UniformType, shape: Sequence[int], dtype: npt.DTypeLike) -> npt.NDArray[Any]:
    """The real value of stored integer `end`: (), or an array that broadcasts along the type's axis."""
    stored = np.full(type.scales.shape, end, np.int32)
    real = numerics.dequantize(stored, type.scales, type.zero_points, dtype)  # of each channel: no axis yet
    return real if type.is_per_tensor else numerics.expand_parameters(real, shape, type.axis)


def cast_op(
    quantize: bool, value: SSAValue, type: UniformType, parameters: Parameters, user: Operation, name: str
) -> OnnxOp:
    """A QuantizeLinear or DequantizeLinear node, in the domain that has it for the type."""
    scale, zero_point = parameters.of(type, user, name)
    opset = onnx_opset(user)
    # What ONNX's casts lack in an old opset, com.microsoft's have in every opset.
    beyond = opset < FIRST_CASTS or (type.storage.width not in (8, 32) and opset < 21)
    beyond |= type.axis is not None and opset < 13
    attributes = {}
    if type.axis is not None:
        attributes["axis"] = int_attr(type.axis)
    if type.blocks:
        axis, size = max(type.blocks, key=lambda block: block[1])
        attributes |= {"axis": int_attr(axis), "block_size": int_attr(size)}
    wide = (
        type.storage.width > BYTE_BITS
    )  # narrower integers move by a step at most if the quotient is rounded first
    if quantize and wide and isinstance(type.expressed, Half) and opset >= PRECISION_OF_DIVISION:
        attributes["precision"] = int_attr(BY_ATTRIBUTE[f32].number)
    element = storage_element(type) if quantize else type.expressed
    cls = op_named(MICROSOFT if beyond else "", "QuantizeLinear" if quantize else "DequantizeLinear")
    return cls.build([value, scale, zero_point], [with_element(value.type, element)], attributes)
