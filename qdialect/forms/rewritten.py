"""
Ops without an integer kernel that another op's kernel computes: a difference is a sum with the second operand's sign
turned, a mean of all pixels is a global average pool.
"""

from __future__ import annotations

from collections.abc import Callable, Sequence
from dataclasses import dataclass

import numpy as np
from xdsl.dialects.builtin import DenseArrayBase, i64
from xdsl.ir import Operation, SSAValue

from qdialect import numerics
from qdialect.dialects.onnx_base import ConstantOp, OnnxOp
from qdialect.dialects.onnx_tensor import from_array
from qdialect.dialects.onnx_types import (
    element_of,
    quantized_of,
    shape_of,
    storage_element,
    tensor_type,
    with_element,
)
from qdialect.dialects.quant import Storage, StorageCastOp, UniformType
from qdialect.forms.base import Form
from qdialect.ir.values import constant, constant_ints, normal_axis
from qdialect.ops.generated import op_named
from qdialect.reasons import UNKNOWN_RANK, Blocked


@dataclass(frozen=True)
class KernelOfAnother(Form):
    """The op on quantized types, one scale each, is other ops on such types."""

    kernel: str
    """The kernel that these need, of as many operands as the op has quantized ones."""
    parts: Callable[[OnnxOp], Sequence[Operation] | Blocked]
    """The other ops; the last makes the op's result."""
    on_integers: Callable[[OnnxOp], Sequence[str]] = lambda op: ()
    """Ops that they have on stored integers besides."""


def negated(type: UniformType) -> UniformType:
    """The type of the numbers of `type` with their sign turned, as stored by `numerics.mirror`."""
    s = type.storage
    low, high, zero_point = numerics.mirror(np.array([s.high, s.low, type.zero_point], s.dtype)).tolist()
    return type.replace(storage=Storage.make(s.width, s.signed, low, high), zero_points=zero_point)


def _difference(op: OnnxOp) -> Sequence[Operation] | Blocked:
    """x - y = x + -y: of each stored y the bits are turned, and so are the zero point's."""
    x, y = op.operands[:2]
    type, tensor = quantized_of(y.type), constant(y)
    assert type is not None
    other, made = negated(type), list[Operation]()
    if tensor is not None:
        made.append(ConstantOp.of(from_array(numerics.mirror(tensor.array())), with_element(y.type, other)))
    else:
        ones = ConstantOp.of(from_array(np.array(numerics.mirror(np.zeros((), type.storage.dtype)))))
        plain = StorageCastOp(y, with_element(y.type, storage_element(type)))
        turned = op_named("", "Sub").build([ones.results[0], plain.results[0]], [plain.results[0].type])
        made += [ones, plain, turned, StorageCastOp(turned.results[0], with_element(y.type, other))]
    return [*made, op_named("", "Add").build([x, made[-1].results[0]], [op.results[0].type])]


def _mean(op: OnnxOp) -> Sequence[Operation] | Blocked:
    """Over all pixels, channels first or last."""
    given = shape_of(op.operands[0].type)
    if given is None:
        return UNKNOWN_RANK
    rank, listed = len(given), op.ints_attr("axes") or constant_ints(op.input(1)) or ()
    axes = sorted(normal_axis(axis, rank) for axis in listed)
    is_last = axes == list(range(1, rank - 1))
    if rank < 3 or not (is_last or axes == list(range(2, rank))):
        return Blocked("not-all-pixels", "the mean is not over all pixels of each channel")
    element, made = element_of(op.results[0].type), list[Operation]()
    assert element is not None
    channels = given[-1] if is_last else given[1]

    def turned(value: SSAValue, perm: Sequence[int]) -> SSAValue:
        shape, elements = shape_of(value.type), element_of(value.type)
        assert shape is not None
        assert elements is not None
        type = tensor_type(elements, tuple(shape[p] for p in perm))
        turn = {"perm": DenseArrayBase.from_list(i64, list(perm))}
        made.append(op_named("", "Transpose").build([value], [type], turn))
        return made[-1].results[0]

    x = turned(op.operands[0], [0, rank - 1, *range(1, rank - 1)]) if is_last else op.operands[0]
    pooled = tensor_type(element, (given[0], channels, *[1] * (rank - 2)))
    made.append(op_named("", "GlobalAveragePool").build([x], [pooled]))
    if not op.int_attr("keepdims", 1):
        sizes = ConstantOp.of(from_array(np.array([0, -1], np.int64)))
        flat = op_named("", "Reshape").build([made[-1].results[0], sizes.results[0]], [op.results[0].type])
        made += [sizes, flat]
    elif is_last:
        turned(made[-1].results[0], [0, *range(2, rank), 1])
    return made


REWRITTEN: dict[tuple[str, str], KernelOfAnother] = {
    ("", "Sub"): KernelOfAnother(
        "QLinearAdd", _difference, lambda op: () if constant(op.operands[1]) is not None else ("Sub",)
    ),
    ("", "ReduceMean"): KernelOfAnother("QLinearGlobalAveragePool", _mean),
}
