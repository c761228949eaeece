"""What both lowerings share: parameters as constants, quantized values as the integers that are stored."""

from __future__ import annotations

from collections.abc import Iterable, Sequence
from typing import Any

import numpy as np
import numpy.typing as npt
from xdsl.dialects.func import FuncOp
from xdsl.ir import Block, Operation, OpResult, SSAValue

from qdialect import numerics
from qdialect.dialects.onnx_attributes import int_attr
from qdialect.dialects.onnx_base import ConstantOp, OnnxOp, opset_of
from qdialect.dialects.onnx_tensor import from_array
from qdialect.dialects.onnx_types import (
    BY_ATTRIBUTE,
    shape_of,
    storage_element,
    uniform_of,
    with_element,
)
from qdialect.dialects.quant import StorageCastOp, UniformType
from qdialect.dialects.snapshot import MICROSOFT
from qdialect.forms.nodes import Nodes
from qdialect.ir.names import location, wish
from qdialect.ir.place import block_of, first_of
from qdialect.ir.values import constant_array
from qdialect.ops.generated import op_named
from qdialect.promises.casts import DequantizeForm
from qdialect.promises.clamping import CLIP_WITH_INPUTS

BYTE_BITS = 8
CLIP_OF_BYTES = 12
"""The first opset whose Clip takes integers."""


def _graph_block(op: Operation) -> Block:
    """The block of the graph that `op` is in, subgraphs left behind."""
    while (scope := op.parent_op()) is not None and not isinstance(scope, FuncOp):
        op = scope
    return block_of(op)


class Parameters:
    """Scales and zero points as constants at the head of the graph, each written once."""

    def __init__(self) -> None:
        self._pairs: dict[tuple[Block, UniformType], tuple[SSAValue, SSAValue]] = {}

    def of(self, type: UniformType, user: Operation, name: str) -> tuple[SSAValue, SSAValue]:
        """Scale and zero point of `type` where `user` can take them; `name` is what their tensor is called."""
        block = _graph_block(user)
        pair_of_values = self._pairs.get((block, type))
        if pair_of_values is None:
            scales = type.scales.astype(BY_ATTRIBUTE[type.expressed].dtype)
            zero_points = type.zero_points.astype(BY_ATTRIBUTE[storage_element(type)].dtype)
            pair = (
                ConstantOp.of(from_array(np.asarray(scales))),
                ConstantOp.of(from_array(np.asarray(zero_points))),
            )
            for op, suffix in zip(pair, ("scale", "zero_point"), strict=True):
                op.location = location("", [f"{name}_{suffix}" if name else suffix])
            block.insert_ops_before(pair, first_of(block))
            pair_of_values = self._pairs[block, type] = pair[0].results[0], pair[1].results[0]
        return pair_of_values

    def name_after_users(self, ops: Iterable[Operation]) -> None:
        """Call them after the first of `ops` that casts with them: that is the same when these are read again."""
        zero_points = dict(self._pairs.values())
        for op in ops:
            is_cast = isinstance(op, OnnxOp) and len(op.operands) == 3
            zero_point = zero_points.pop(op.operands[1], None) if is_cast else None
            if isinstance(op, OnnxOp) and zero_point is not None:
                name = wish(op.operands[0] if op.get_trait(DequantizeForm) is not None else op.results[0])
                for value, suffix in ((op.operands[1], "scale"), (zero_point, "zero_point")):
                    if isinstance(value, OpResult):
                        value.op.location = location("", [f"{name}_{suffix}"])


def stored(value: SSAValue) -> tuple[SSAValue, list[Operation]]:
    """The integers of a quantized value, and the operations, not inserted yet, that read them."""
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
    """An integer Clip to the storage bounds, where they are narrower than the storage's width; else nothing."""
    if type.storage.is_full_range:
        return []
    nodes, dtype = Nodes(), BY_ATTRIBUTE[storage_element(type)].dtype
    ends = [nodes.constant(end, dtype) for end in (type.storage.low, type.storage.high)]
    nodes.add("Clip", [value, *ends], value.type)
    return nodes.ops


def clamps_integers(type: UniformType, user: Operation) -> bool:
    """Whether runtimes have a Clip of such integers, where `user` stands: of bytes, since opset 12."""
    return type.storage.width == BYTE_BITS and (opset_of(user, "") or 13) >= CLIP_OF_BYTES


def clamped_real(
    value: SSAValue, type: UniformType, user: Operation, *, always: bool = False
) -> list[Operation]:
    """
    A clamp of reals that are quantized next, to what the storage bounds stand for: the same integers as a clamp behind.

    A Clip, or Max and Min where the bounds differ by channel or Clip takes none as operands. Nothing where the bounds
    are the storage's own, unless it must be said `always`, or the rank is not known along which they run.
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
    if type.is_per_tensor and (opset_of(user, "") or 13) >= CLIP_WITH_INPUTS:
        nodes.add("Clip", [value, low, high], value.type)
    else:
        nodes.add("Min", [nodes.add("Max", [value, low], value.type), high], value.type)
    return nodes.ops


def under_clamp(value: SSAValue, clamp: Sequence[Operation]) -> SSAValue | None:
    """What `value` clamps as `clamp` does, which `clamped_real` has written elsewhere; None if it is no such clamp."""
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
    """What a stored integer stands for: (), or an array that broadcasts along the type's axis."""
    stored = np.full(type.scales.shape, end, np.int32)
    real = numerics.dequantize(
        stored, type.scales, type.zero_points, dtype
    )  # one for each channel: no axis yet
    return real if type.is_per_tensor else numerics.expand_parameters(real, shape, type.axis)


def cast_op(
    quantize: bool, value: SSAValue, type: UniformType, parameters: Parameters, user: Operation, name: str
) -> OnnxOp:
    """A QuantizeLinear or DequantizeLinear node, in the domain that has it for the type."""
    scale, zero_point = parameters.of(type, user, name)
    opset = opset_of(user, "") or 13
    # What ONNX's own casts cannot say yet, onnxruntime's say in every opset.
    beyond = (type.storage.width not in (8, 32) and opset < 21) or (type.axis is not None and opset < 13)
    attributes = {}
    if type.axis is not None:
        attributes["axis"] = int_attr(type.axis)
    if type.blocks:
        axis, size = max(type.blocks, key=lambda block: block[1])
        attributes |= {"axis": int_attr(axis), "block_size": int_attr(size)}
    element = storage_element(type) if quantize else type.expressed
    cls = op_named(MICROSOFT if beyond else "", "QuantizeLinear" if quantize else "DequantizeLinear")
    return cls.build([value, scale, zero_point], [with_element(value.type, element)], attributes)
