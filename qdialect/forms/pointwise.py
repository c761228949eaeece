"""
Products with a constant matrix as 1x1 convolutions: onnxruntime's channels-last kernel writes 8-bit results faster than
its kernels of matrix products do, and the Transposes around it cancel with those of its layout.
"""

from __future__ import annotations

from collections.abc import Callable, Sequence
from dataclasses import dataclass
from typing import TYPE_CHECKING

import numpy as np
from xdsl.ir import Operation, SSAValue

from qdialect.dialects.onnx_base import OnnxOp
from qdialect.dialects.onnx_types import DYNAMIC, known_shape, quantized_of, tensor_type, uniform_of
from qdialect.forms.base import Form
from qdialect.forms.nodes import Nodes
from qdialect.ir.names import location, node_name, wish
from qdialect.ir.values import constant, constant_array, known_array, rank_of, static_shape

if TYPE_CHECKING:
    import numpy.typing as npt

RANKS = (3, 4)
"""Ranks of operands for which convolutions were measured."""


@dataclass(frozen=True)
class AsPointwise(Form):
    """The op on quantized types, with a constant matrix used by it alone, can be a 1x1 convolution."""

    kernel: str
    """Name of the op's own kernel in the tables of costs."""
    matches: Callable[[OnnxOp], bool]
    """True if the op has this form."""
    parts: Callable[[OnnxOp], Sequence[Operation]]
    """The operations; the last one defines the op's result."""

    def rows(self, op: OnnxOp) -> int | None:
        """Number of rows of one image, the pixels; None if unknown."""
        shape = known_shape(op.operands[0].type)
        rows = shape[1:-1] if len(shape) > 2 else shape[:1]
        return None if DYNAMIC in rows else int(np.prod(rows, dtype=np.int64))


def _is_product(op: OnnxOp) -> bool:
    """True for a product whose weight has no other user: it would be stored twice."""
    stored, rank = constant_array(op.operands[1]), rank_of(op.operands[0])
    return rank in RANKS and stored is not None and stored.ndim == 2 and op.operands[1].has_one_use()


def _is_plain_gemm(op: OnnxOp) -> bool:
    weight, bias = static_shape(op.operands[1]), op.input(2)
    if op.int_attr("transA", 0) or any(op.float_attr(name, 1.0) != 1.0 for name in ("alpha", "beta")):
        return False
    if constant(op.operands[1]) is None or weight is None or not op.operands[1].has_one_use():
        return False
    outputs = (weight[0 if op.int_attr("transB", 0) else 1],)
    return bias is None or (quantized_of(bias.type) is not None and static_shape(bias) == outputs)


def _convolution(
    op: OnnxOp, x: SSAValue, matrix: npt.NDArray[np.generic], bias: SSAValue | None, nodes: Nodes
) -> SSAValue:
    """`x`: (N, ..., K); `matrix`: (M, K). K are the channels, the axes between N and K those of the image."""
    w, shape = op.operands[1], known_shape(x.type)
    rank, type = len(shape), uniform_of(w.type)
    ones = [1] * (rank - 2)
    stored = np.ascontiguousarray(matrix).reshape(*matrix.shape, *ones)
    by_row = tensor_type(type if type.axis is None else type.replace(axis=0), stored.shape)
    first = nodes.transpose(x, [0, rank - 1, *range(1, rank - 1)])
    weight = nodes.constant(stored, name=f"{wish(w) or 'weight'}_pointwise", type=by_row)
    result = tensor_type(uniform_of(op.results[0].type), (shape[0], len(matrix), *shape[1:-1]))
    inputs = [first, weight] if bias is None else [first, weight, bias]
    conv = nodes.add("Conv", inputs, result, {"kernel_shape": ones})
    nodes.ops[-1].location = location(node_name(op))
    return nodes.transpose(conv, [0, *range(2, rank), 1])


def _product(op: OnnxOp) -> Sequence[Operation]:
    nodes = Nodes(op)
    _convolution(op, op.operands[0], known_array(op.operands[1]).T, None, nodes)
    nodes.ops[-1].location = op.location
    return nodes.ops


def _gemm(op: OnnxOp) -> Sequence[Operation]:
    """Gemm: its rows are the pixels of one image."""
    nodes, stored = Nodes(op), known_array(op.operands[1])
    sizes = (1, *known_shape(op.operands[0].type))
    image = nodes.reshape(op.operands[0], sizes, sizes)
    matrix = stored if op.int_attr("transB", 0) else stored.T
    y = _convolution(op, image, matrix, op.input(2), nodes)
    nodes.reshape(y, known_shape(y.type)[1:], op.results[0].type)
    nodes.ops[-1].location = op.location
    return nodes.ops


POINTWISE: dict[tuple[str, str], AsPointwise] = {
    ("", "MatMul"): AsPointwise("QLinearMatMul", _is_product, _product),
    ("", "Gemm"): AsPointwise("QGemm", _is_plain_gemm, _gemm),
}
