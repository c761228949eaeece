"""Ops that exporters write as arithmetic, recognized by the last op of it: LayerNormalization over channels."""

from __future__ import annotations

from collections.abc import Callable, Iterator, Sequence
from dataclasses import dataclass
from functools import partial
from typing import NamedTuple

import numpy as np
from xdsl.dialects.builtin import Float32Type
from xdsl.ir import Operation, SSAValue

from qdialect.dialects.onnx_attributes import float_attr
from qdialect.dialects.onnx_base import OnnxOp, onnx_opset
from qdialect.dialects.onnx_types import DYNAMIC, element_of, known_shape, quantized_of, shape_of, uniform_of
from qdialect.dialects.quant import DequantizeOp, QuantizeOp
from qdialect.forms.base import Form
from qdialect.forms.fused import FIRST_LAYER_NORMALIZATION
from qdialect.forms.nodes import Nodes
from qdialect.ir.values import constant_array, constant_ints, normal_axis
from qdialect.numerics import Array
from qdialect.ops.generated import op_named


class Whole(NamedTuple):
    """One op that replaces several, with ops that move elements around it."""

    kernel: str
    """Key of the costs of the op."""
    size: int
    """Number of elements that it computes with at once."""
    parts: Sequence[OnnxOp]
    """The ops that it stands for but the last; all but the first read no value but theirs and constants."""
    end: Operation
    """The op, or a quantize that alone reads its result."""
    build: Callable[[], Sequence[Operation]]
    """Makes the new operations, the last for the result of `end`: only where they are put in, as they read values."""


@dataclass(frozen=True)
class EndsArithmetic(Form):
    """The op may be the last of several that one op computes, to float rounding."""

    whole: Callable[[OnnxOp], Whole | None]
    """That op; None if there is none."""


class _Standardized(NamedTuple):
    """(x - mean(x)) / sqrt(mean((x - mean(x))^2) + epsilon), the means along one axis."""

    x: SSAValue
    axis: int
    epsilon: float
    parts: tuple[OnnxOp, ...]


def _above(value: SSAValue, *names: str) -> OnnxOp | None:
    """The op that computes `value`, if of one of these names."""
    op = value.owner
    return op if isinstance(op, tuple(op_named("", name) for name in names)) else None


def _orders(op: OnnxOp | None) -> Iterator[tuple[SSAValue, SSAValue]]:
    """The two operands, in both orders; nothing if there is no op."""
    if op is not None and len(op.operands) == 2:
        yield op.operands[0], op.operands[1]
        yield op.operands[1], op.operands[0]


def _number(value: SSAValue) -> float | None:
    array = constant_array(value)
    return None if array is None or array.size != 1 else float(array.reshape(()))


def _mean(value: SSAValue) -> tuple[OnnxOp, SSAValue, int] | None:
    """The mean along one axis, which stays: the op, its operand, and the axis; None if `value` is none."""
    op = _above(value, "ReduceMean")
    shape = None if op is None else shape_of(op.operands[0].type)
    if op is None or shape is None or not op.int_attr("keepdims", 1):
        return None
    axes = op.ints_attr("axes") or constant_ints(op.input(1)) or ()
    return (op, op.operands[0], normal_axis(axes[0], len(shape))) if len(axes) == 1 else None


def squared(value: SSAValue) -> tuple[OnnxOp, SSAValue] | None:
    """The op that squares a value, and the value."""
    op = _above(value, "Pow", "Mul")
    if op is None:
        return None
    squares = _number(op.operands[1]) == 2 if op.op_type == "Pow" else op.operands[0] is op.operands[1]
    return (op, op.operands[0]) if squares else None


def _variance(value: SSAValue) -> tuple[SSAValue, int, tuple[OnnxOp, ...]] | None:
    """The mean of squares: the squared value, the axis, and the ops."""
    mean = _mean(value)
    square = None if mean is None else squared(mean[1])
    return None if mean is None or square is None else (square[1], mean[2], (square[0], mean[0]))


def _standardized(quotient: OnnxOp | None) -> _Standardized | None:
    if quotient is None:
        return None
    difference, root = (_above(v, n) for v, n in zip(quotient.operands, ("Sub", "Sqrt"), strict=True))
    mean = None if difference is None else _mean(difference.operands[1])
    sum = None if root is None else _above(root.operands[0], "Add")
    if difference is None or mean is None or root is None or sum is None:
        return None
    for squares, epsilon in _orders(sum):
        variance, least = _variance(squares), _number(epsilon)
        if variance is None or least is None or variance[1] != mean[2]:
            continue
        if variance[0] is not difference.results[0] or mean[1] is not difference.operands[0]:
            continue
        return _Standardized(
            mean[1], mean[2], least, (mean[0], difference, *variance[2], sum, root, quotient)
        )
    return None


def vector_along(value: SSAValue, shape: Sequence[int], axis: int) -> Array | None:
    """A constant, float32, that broadcasts along one axis of `shape` alone, as a vector; None for other values."""
    array, size = constant_array(value), shape[axis]
    if array is None or array.dtype != np.float32 or array.ndim > len(shape) or array.size not in (1, size):
        return None
    sizes = (*[1] * (len(shape) - array.ndim), *array.shape)
    others = any(s != 1 for place, s in enumerate(sizes) if place != axis)
    return None if others else np.broadcast_to(array.reshape(-1), (size,)).copy()


def _normalization(op: OnnxOp) -> Whole | None:
    """y * w + b, y standardized along an axis that is not the last: LayerNormalization between Transposes."""
    if element_of(op.results[0].type) != Float32Type() or onnx_opset(op) < FIRST_LAYER_NORMALIZATION:
        return None
    for product, shift in _orders(op):
        multiplies = _above(product, "Mul")
        for quotient, factor in _orders(multiplies):
            one = _standardized(_above(quotient, "Div"))
            if multiplies is None or one is None or one.x.type != op.results[0].type:
                continue
            shape = known_shape(one.x.type)
            gamma, beta = (vector_along(v, shape, one.axis) for v in (factor, shift))
            if one.axis == len(shape) - 1 or shape[one.axis] == DYNAMIC or gamma is None or beta is None:
                continue  # along the last axis, a session makes one op of all
            end = _quantized(op)
            parts, build = (*one.parts, multiplies), partial(_written, op, end, one, gamma, beta)
            return Whole("LayerNormalization", shape[one.axis], parts, end, build)
    return None


def _written(op: OnnxOp, end: Operation, one: _Standardized, gamma: Array, beta: Array) -> list[Operation]:
    """The new operations, the last for `end`, which is `op` or a quantize behind."""
    nodes, rank, cast = Nodes(op), len(known_shape(one.x.type)), _per_tensor(one.x.owner)
    to_last = [*(k for k in range(rank) if k != one.axis), one.axis]
    if cast is None:
        x = nodes.transpose(one.x, to_last)
    else:  # bytes are moved in less time
        x = nodes.append(DequantizeOp(nodes.transpose(cast.operands[0], to_last)))
    inputs = [x, nodes.constant(gamma), nodes.constant(beta)]
    how = {"axis": -1, "epsilon": float_attr(one.epsilon)}
    y = nodes.add("LayerNormalization", inputs, x.type, how)
    if end is not op:
        y = nodes.append(QuantizeOp(y, uniform_of(end.results[0].type)))
    nodes.transpose(y, [to_last.index(k) for k in range(rank)], end.results[0].type)
    nodes.ops[-1].location = end.location
    return nodes.ops


def _per_tensor(cast: object) -> DequantizeOp | None:
    """`cast`, if it dequantizes by one scale."""
    type = quantized_of(cast.operands[0].type) if isinstance(cast, DequantizeOp) else None
    return cast if isinstance(cast, DequantizeOp) and type is not None and type.is_per_tensor else None


def _quantized(op: OnnxOp) -> Operation:
    """The quantize by one scale that alone reads the result of `op`; `op` if there is none."""
    users = [use.operation for use in op.results[0].uses]
    if len(users) != 1 or not isinstance(users[0], QuantizeOp) or users[0].parent is not op.parent:
        return op
    return users[0] if uniform_of(users[0].results[0].type).is_per_tensor else op


ARITHMETIC: dict[tuple[str, str], EndsArithmetic] = {("", "Add"): EndsArithmetic(_normalization)}
