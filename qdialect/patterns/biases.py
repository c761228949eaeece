"""The pattern that merges the Add of a bias into a kernel of integers, or of integer weights, with a float result."""

from __future__ import annotations

import numpy as np
from xdsl.ir import Operation, OpResult, SSAValue

from qdialect.dialects.onnx_base import OnnxOp
from qdialect.dialects.onnx_types import quantized_of, shape_of
from qdialect.ir.values import constant, is_constant, real_constant
from qdialect.patterns.affine import SECOND_CONSUMER, new_constant
from qdialect.promises.joins import Adds
from qdialect.promises.qoperator import QOperator, Reading, reading
from qdialect.promises.weight_only import AddsRow
from qdialect.reasons import Blocked, unblocked
from qdialect.rewriting.driver import Rewriter
from qdialect.rewriting.matching import OnTrait


def _adding(value: SSAValue) -> tuple[OnnxOp, int] | None:
    """The node that defines the value and can add a bias to it, and the bias's place; None if it cannot."""
    node = value.op if isinstance(value, OpResult) else None
    if not isinstance(node, OnnxOp):
        return None
    if (row := node.get_trait(AddsRow)) is not None:
        return (node, row.place) if node.input(row.place) is None else None
    operands = reading(node) if node.get_trait(QOperator) is not None else None
    if not isinstance(operands, Reading) or not operands.kernel.adds or operands.bias is not None:
        return None
    return node, len(operands.kernel.inputs.split())


class AddInKernel(OnTrait[Adds]):
    """Add(kernel(x, w), b)  ->  kernel(x, w, b)     b one float for each column"""

    def match(self, op: OnnxOp, promise: Adds, rewriter: Rewriter, /) -> Blocked | None:
        for product, bias in (op.operands, reversed(op.operands)):
            adding = _adding(product)
            if adding is None or not is_constant(bias):
                continue
            if not product.has_one_use():
                return SECOND_CONSUMER
            row = unblocked(_row(bias, product))
            (node, place), constants = adding, [*row]
            inputs: list[SSAValue | None] = [node.input(k) for k in range(place)]
            inputs.append(constants[-1].results[0] if constants else bias)
            new = node.__class__.build(inputs, [op.results[0].type], node.onnx_attributes)
            rewriter.replace(op, [*constants, new])
            return None
        return None


def _row(bias: SSAValue, product: SSAValue) -> list[Operation] | Blocked:
    """The constant as one float per column of the product, built if needed; empty if it has that form."""
    real, sizes = real_constant(bias), shape_of(product.type)
    assert real is not None
    is_row = sizes is not None and real.ndim <= len(sizes) and real.shape[-1:] == sizes[-1:] == (real.size,)
    if not is_row or real.dtype != np.float32:
        return Blocked("bias-shape", "the addend is not one float for each column")
    is_plain = real.ndim == 1 and constant(bias) is not None and quantized_of(bias.type) is None
    return [] if is_plain else [new_constant(real.reshape(-1), bias)]
