"""Type transfer of Concat and Split: one type for all parts, or per-axis scales joined and cut along the axis."""

from __future__ import annotations

from collections.abc import Sequence
from itertools import pairwise

import numpy as np
from xdsl.ir import SSAValue

from qdialect.dialects.onnx_base import OnnxOp
from qdialect.dialects.onnx_types import DYNAMIC, shape_of
from qdialect.dialects.quant import UniformType
from qdialect.ir.values import normal_axis, rank_of
from qdialect.promises import blocks
from qdialect.promises.axes import MIXED, NO_SCALES
from qdialect.reasons import UNKNOWN_RANK, Blocked, answer, required, unblocked

Types = Sequence[UniformType]


def _joined(types: Types, axis: int, values: Sequence[SSAValue]) -> UniformType | Blocked:
    """The type of the whole; a part of one slice has one scale, and so its type is per tensor."""
    head = next(t for t in types if not t.is_per_tensor)
    if any(t.blocks for t in types):
        return blocks.joined(types, axis)
    if any(t.storage != head.storage or t.expressed != head.expressed for t in types):
        return MIXED
    if head.axis != axis:
        return head if all(t == head for t in types) else MIXED
    for type, value in zip(types, values, strict=True):
        shape = shape_of(value.type)
        if type.axis != axis and not (type.is_per_tensor and shape is not None and shape[axis] == 1):
            return MIXED
    scales = np.concatenate([t.scales.reshape(-1) for t in types])
    zero_points = np.concatenate([t.zero_points.reshape(-1) for t in types])
    return UniformType.per_axis(head.storage, axis, scales, zero_points, head.expressed)


def _parts(type: UniformType, axis: int, values: Sequence[SSAValue]) -> list[UniformType] | Blocked:
    if not type.blocks and type.axis != axis:
        return [type] * len(values)
    ends = [0]
    for value in values:
        shape = shape_of(value.type)
        if shape is None or shape[axis] == DYNAMIC:
            return UNKNOWN_RANK
        if not shape[axis]:
            return NO_SCALES
        ends.append(ends[-1] + shape[axis])
    return [unblocked(_part(type, axis, start, stop, ends[-1])) for start, stop in pairwise(ends)]


def _part(type: UniformType, axis: int, start: int, stop: int, size: int) -> UniformType | Blocked:
    if type.blocks:
        return blocks.cut(type, axis, start, stop, size)
    at = slice(start, stop)
    return type.replace(scales=type.scales[at], zero_points=type.zero_points[at], axis=axis)


def _axis(op: OnnxOp, value: SSAValue, default: int) -> int:
    return normal_axis(op.int_attr("axis", default), required(rank_of(value), UNKNOWN_RANK))


def _whole_of(op: OnnxOp, types: Types, values: Sequence[SSAValue], default: int) -> Types | Blocked:
    """The type of the whole from those of its parts `values`, joined along `axis`, else along `default`."""
    if all(t.is_per_tensor for t in types):
        return [types[0]] if all(t == types[0] for t in types) else MIXED
    return [unblocked(_joined(types, _axis(op, op.operands[0], default), values))]


def _parts_of(
    op: OnnxOp, type: UniformType, values: Sequence[SSAValue], whole: SSAValue, default: int
) -> Types | Blocked:
    """The types of the parts `values` from that of the whole, cut along the attribute `axis`."""
    return [type] * len(values) if type.is_per_tensor else _parts(type, _axis(op, whole, default), values)


def concat_forward(op: OnnxOp, types: Types) -> Types | Blocked:
    """Operand types to the joined type."""
    return answer(_whole_of, op, types, op.operands, 1)


def concat_backward(op: OnnxOp, types: Types) -> Types | Blocked:
    """The joined type to the operands' types."""
    return answer(_parts_of, op, types[0], op.operands, op.results[0], 1)


def split_forward(op: OnnxOp, types: Types) -> Types | Blocked:
    """The whole's type to the parts' types."""
    return answer(_parts_of, op, types[0], op.results, op.operands[0], 0)


def split_backward(op: OnnxOp, types: Types) -> Types | Blocked:
    """The parts' types to the whole's type."""
    return answer(_whole_of, op, types, op.results, 0)
