"""
Ops that are several ops in one: what they decompose into, and what composes into them.

    Gemm(A, B, C) = alpha * (A' B') + beta * C
    BatchNormalization(x) = x * (gamma / sqrt(var + eps)) + (beta - mean * gamma / sqrt(var + eps))
"""

from __future__ import annotations

from collections.abc import Callable, Sequence
from dataclasses import dataclass
from typing import NamedTuple

import numpy as np
from xdsl.ir import Operation, SSAValue

from qdialect.dialects.onnx_attributes import ints_attr
from qdialect.dialects.onnx_base import ConstantOp, OnnxOp
from qdialect.dialects.onnx_tensor import from_array
from qdialect.dialects.onnx_types import BY_NUMPY, DYNAMIC, element_of, shape_of, tensor_type
from qdialect.forms.base import Form
from qdialect.ir.values import constant_array, rank_of, static_shape
from qdialect.ops.generated import op_named
from qdialect.reasons import Blocked

Parts = Sequence["Operation"]


class Decomposed(NamedTuple):
    """Simpler ops in order, and what stands in for the results of the op that they are."""

    ops: Parts
    results: Sequence[SSAValue]


@dataclass(frozen=True)
class Decomposes(Form):
    """The op can be written as simpler ops."""

    parts: Callable[[OnnxOp], Parts | Decomposed | Blocked]
    """They; without `Decomposed`, the last makes the op's result."""


@dataclass(frozen=True)
class TakesBias(Form):
    """The op and an addition behind it are one op."""

    whole: Callable[[OnnxOp, SSAValue], OnnxOp | Blocked]
    """The one op, from the op and the bias; or why there is none."""


def _scaled(value: SSAValue, factor: float, ops: list[Operation]) -> SSAValue:
    if factor == 1.0:
        return value
    constant = ConstantOp.of(from_array(np.array(factor, np.float32)))
    product = op_named("", "Mul").build([value, constant.results[0]], [value.type])
    ops += [constant, product]
    return product.results[0]


def _transposed(value: SSAValue, ops: list[Operation]) -> SSAValue:
    shape = shape_of(value.type) or (DYNAMIC, DYNAMIC)
    element = element_of(value.type)
    assert element is not None
    new = op_named("", "Transpose").build(
        [value], [tensor_type(element, (shape[1], shape[0]))], {"perm": ints_attr((1, 0))}
    )
    ops.append(new)
    return new.results[0]


def _gemm_parts(op: OnnxOp) -> Parts | Blocked:
    if element_of(op.results[0].type) != BY_NUMPY["float32"].attribute:
        return Blocked("element-type", "only a Gemm in f32 is decomposed")
    ops: list[Operation] = []
    left, right, bias = op.operands[0], op.operands[1], op.input(2)
    if op.int_attr("transA", 0):
        left = _transposed(left, ops)
    if op.int_attr("transB", 0):
        right = _transposed(right, ops)
    product = op_named("", "MatMul").build([left, right], [op.results[0].type])
    ops.append(product)
    result = _scaled(product.results[0], op.float_attr("alpha", 1.0), ops)
    if bias is not None:
        added = _scaled(bias, op.float_attr("beta", 1.0), ops)
        ops.append(op_named("", "Add").build([result, added], [op.results[0].type]))
    return ops


def _normalization_parts(op: OnnxOp) -> Parts | Blocked:
    if len(op.outputs) > 1 or op.int_attr("training_mode", 0):
        return Blocked("training-mode", "BatchNormalization computes its own statistics")
    if element_of(op.results[0].type) != BY_NUMPY["float32"].attribute:
        return Blocked("element-type", "only a BatchNormalization in f32 is decomposed")
    arrays = [constant_array(op.input(k)) for k in range(1, 5)]
    rank = rank_of(op.operands[0])
    if rank is None or any(a is None or a.ndim != 1 for a in arrays):
        return Blocked(
            "computed-parameter", "a parameter of BatchNormalization is computed, or not one for each channel"
        )
    gamma, beta, mean, variance = (np.asarray(a, np.float64) for a in arrays)
    variance = variance + op.float_attr("epsilon", 1e-5)
    if not (variance > 0).all():
        return Blocked("not-finite", "a variance is negative or not finite", "train the model again")
    factor = gamma / np.sqrt(variance)
    shape = (-1, *[1] * (rank - 2))
    scale = ConstantOp.of(from_array(factor.astype(np.float32).reshape(shape)))
    shift = ConstantOp.of(from_array((beta - mean * factor).astype(np.float32).reshape(shape)))
    product = op_named("", "Mul").build([op.operands[0], scale.results[0]], [op.results[0].type])
    total = op_named("", "Add").build([product.results[0], shift.results[0]], [op.results[0].type])
    return [scale, shift, product, total]


def _gemm_of(op: OnnxOp, bias: SSAValue) -> OnnxOp | Blocked:
    sizes, weight = static_shape(bias), static_shape(op.operands[1])
    if rank_of(op.operands[0]) != 2 or weight is None or len(weight) != 2:
        return Blocked("gemm-rank", "Gemm multiplies matrices, the operands have other ranks")
    if sizes is None or sizes[-1:] != weight[-1:] or any(s != 1 for s in sizes[:-1]) or len(sizes) > 2:
        return Blocked("bias-shape", "what is added is not one value for each column")
    return op_named("", "Gemm").build([*op.operands, bias], [op.results[0].type])


DECOMPOSITIONS: dict[tuple[str, str], Decomposes] = {
    ("", "Gemm"): Decomposes(_gemm_parts),
    ("", "BatchNormalization"): Decomposes(_normalization_parts),
}
COMPOSITIONS: dict[tuple[str, str], TakesBias] = {
    ("", "MatMul"): TakesBias(_gemm_of),
}
