"""
Composite ops: their decomposition into simpler ops, and the composition of ops into them.

    Gemm(A, B, C) = alpha * (A' B') + beta * C
    BatchNormalization(x) = x * factor + shift, by its promise `Affine`
"""

from __future__ import annotations

from collections.abc import Callable, Sequence
from dataclasses import dataclass
from typing import NamedTuple

import numpy as np
from xdsl.ir import Operation, SSAValue

from qdialect.dialects.onnx_base import OnnxOp
from qdialect.dialects.onnx_types import BY_NUMPY, element_of
from qdialect.forms.base import Form
from qdialect.forms.nodes import Nodes
from qdialect.ir.values import rank_of, static_shape
from qdialect.ops.generated import op_named
from qdialect.promises.affine import AffineMap, affine_map
from qdialect.reasons import UNKNOWN_RANK, Blocked

Parts = Sequence["Operation"]


class Decomposed(NamedTuple):
    """Simpler ops in order, and the values that replace the results of the decomposed op."""

    ops: Parts
    results: Sequence[SSAValue]


@dataclass(frozen=True)
class Decomposes(Form):
    """The op can be written as simpler ops."""

    parts: Callable[[OnnxOp], Parts | Decomposed | Blocked]
    """The simpler ops; unless in `Decomposed`, the last one defines the op's result."""
    loops: bool = False
    """True if the op goes through steps, one after another."""
    products: bool = False
    """True if the parts are one product of matrices, and moves of elements."""
    function: bool = False
    """True if the op and its parts are elementwise: for targets whose kernel of the op is slower than the parts."""


@dataclass(frozen=True)
class TakesBias(Form):
    """The op followed by an addition can be written as one op."""

    whole: Callable[[OnnxOp, SSAValue], OnnxOp | Blocked]
    """The one op, from the op and the bias; or `Blocked`."""


def _scaled(value: SSAValue, factor: float, nodes: Nodes) -> SSAValue:
    return (
        value if factor == 1.0 else nodes.add("Mul", [value, nodes.constant(factor, np.float32)], value.type)
    )


def _gemm_parts(op: OnnxOp) -> Parts | Blocked:
    if element_of(op.results[0].type) != BY_NUMPY["float32"].attribute:
        return Blocked("expressed-type", "only a Gemm in f32 is decomposed")
    nodes, result_type = Nodes(), op.results[0].type
    left, right, bias = op.operands[0], op.operands[1], op.input(2)
    if op.int_attr("transA", 0):
        left = nodes.transpose(left, (1, 0))
    if op.int_attr("transB", 0):
        right = nodes.transpose(right, (1, 0))
    result = _scaled(nodes.add("MatMul", [left, right], result_type), op.float_attr("alpha", 1.0), nodes)
    if bias is not None:
        nodes.add("Add", [result, _scaled(bias, op.float_attr("beta", 1.0), nodes)], result_type)
    return nodes.ops


def _affine_parts(op: OnnxOp) -> Parts | Blocked:
    """A Mul and an Add that compute an affine op with a map along channels."""
    map, rank = affine_map(op.results[0]), rank_of(op.operands[0])
    if not isinstance(map, AffineMap):
        return map or Blocked("invalid-op", "it has no channels")
    if element_of(op.results[0].type) != BY_NUMPY["float32"].attribute:
        return Blocked("expressed-type", f"only a {op.op_type} in f32 is decomposed")
    if rank is None or map.axis is None:
        return UNKNOWN_RANK
    shape = (-1, *[1] * (rank - map.axis - 1))
    nodes, result_type = Nodes(), op.results[0].type
    scale, shift = (nodes.constant(a.reshape(shape), np.float32) for a in (map.factor, map.shift))
    nodes.add("Add", [nodes.add("Mul", [op.operands[0], scale], result_type), shift], result_type)
    return nodes.ops


def _gemm_of(op: OnnxOp, bias: SSAValue) -> OnnxOp | Blocked:
    sizes, weight = static_shape(bias), static_shape(op.operands[1])
    if rank_of(op.operands[0]) != 2 or weight is None or len(weight) != 2:
        return Blocked("invalid-op", "Gemm multiplies matrices, the operands have other ranks")
    if sizes is None or sizes[-1:] != weight[-1:] or any(s != 1 for s in sizes[:-1]) or len(sizes) > 2:
        return Blocked("bias-shape", "the addend is not one value for each column")
    return op_named("", "Gemm").build([*op.operands, bias], [op.results[0].type])


DECOMPOSITIONS: dict[tuple[str, str], Decomposes] = {
    ("", "Gemm"): Decomposes(_gemm_parts),
    ("", "BatchNormalization"): Decomposes(_affine_parts),
}
COMPOSITIONS: dict[tuple[str, str], TakesBias] = {
    ("", "MatMul"): TakesBias(_gemm_of),
}
