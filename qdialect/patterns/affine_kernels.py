"""Patterns that merge affine ops into kernels: the Add of a bias, and ops that change no more than a type."""

from __future__ import annotations

from typing import NamedTuple

import numpy as np
from xdsl.dialects.builtin import Float32Type
from xdsl.ir import Operation, OpResult, SSAValue

from qdialect.dialects.onnx_base import OnnxOp
from qdialect.dialects.onnx_types import quantized_of, shape_of
from qdialect.dialects.quant import BYTE_BITS, UniformType
from qdialect.ir.build import read_as
from qdialect.ir.values import constant, is_constant, rank_of, real_constant
from qdialect.patterns.affine import SECOND_CONSUMER, new_constant
from qdialect.promises.affine import Affine, AffineMap
from qdialect.promises.elementwise import Adds
from qdialect.promises.qoperator import QOperator, Reading, reading
from qdialect.promises.weight_only import AddsRow
from qdialect.reasons import Blocked, unblocked
from qdialect.rewriting.driver import Rewriter
from qdialect.rewriting.matching import OnTrait


class _Adding(NamedTuple):
    """A node that can add a bias to its product."""

    node: OnnxOp
    place: int
    """Of the bias."""
    weight: SSAValue | None


def _adding(value: SSAValue) -> _Adding | None:
    """The node that defines the value and can add a bias to it; None if it cannot."""
    node = value.op if isinstance(value, OpResult) else None
    if not isinstance(node, OnnxOp):
        return None
    if (row := node.get_trait(AddsRow)) is not None:
        return _Adding(node, row.place, node.input(1)) if node.input(row.place) is None else None
    operands = reading(node) if node.get_trait(QOperator) is not None else None
    if not isinstance(operands, Reading) or not operands.kernel.adds or operands.bias is not None:
        return None
    return _Adding(node, len(operands.kernel.inputs.split()), operands.operands[1])


class AddInKernel(OnTrait[Adds]):
    """Add(kernel(x, w), b)  ->  kernel(x, w, b)     b one float for each column"""

    def match(self, op: OnnxOp, promise: Adds, rewriter: Rewriter, /) -> Blocked | None:
        for product, bias in (op.operands, reversed(op.operands)):
            adding = _adding(product)
            if adding is None or not is_constant(bias):
                continue
            if not product.has_one_use():
                return SECOND_CONSUMER
            if adding.weight is not None and rank_of(adding.weight) == 1:  # the result's last axis is of rows
                return Blocked("bias-shape", "the weight is a vector, which has no columns to add a bias to")
            node, constants = adding.node, unblocked(bias_row(bias, product))
            inputs: list[SSAValue | None] = [node.input(k) for k in range(adding.place)]
            inputs.append(constants[-1].results[0] if constants else bias)
            new = node.__class__.build(inputs, [op.results[0].type], node.onnx_attributes)
            rewriter.replace(op, [*constants, new])
            return None
        return None


def bias_row(bias: SSAValue, product: SSAValue) -> list[Operation] | Blocked:
    """The constant as one float per column of the product, built if needed; empty if it has that form."""
    real, sizes = real_constant(bias), shape_of(product.type)
    assert real is not None
    is_row = sizes is not None and real.ndim <= len(sizes) and real.shape[-1:] == sizes[-1:] == (real.size,)
    if not is_row or real.dtype != np.float32:
        return Blocked("bias-shape", "the addend is not one float for each column")
    is_plain = real.ndim == 1 and constant(bias) is not None and quantized_of(bias.type) is None
    return [] if is_plain else [new_constant(real.reshape(-1), bias)]


MAX_ROUNDING_DISTANCE = 0.499
"""Distance from an integer, in steps, within which rounding gives it in spite of float32 rounding errors."""


class ReadRescaled(OnTrait[Affine]):
    """affine(q : S) : T  ->  q read as T     every integer of S becomes the same integer of T"""

    def match(self, op: OnnxOp, promise: Affine, rewriter: Rewriter, /) -> None:
        type, result = None, quantized_of(op.results[0].type)
        map = None if result is None else promise.map(op)
        if isinstance(map, AffineMap):
            type = quantized_of(op.operands[map.place].type)
        if (
            not isinstance(map, AffineMap)
            or type is None
            or result is None
            or not keeps_integers(map, type, result)
        ):
            return
        value = op.operands[map.place]
        if shape_of(value.type) != shape_of(op.results[0].type):
            return
        rewriter.replace(op, read_as(value, op.results[0].type))


def keeps_integers(map: AffineMap, type: UniformType, result: UniformType) -> bool:
    """True if the map takes each integer of `type` to the same integer of `result`, both per tensor."""
    one_scale = type.is_per_tensor and result.is_per_tensor and map.factor.size == map.shift.size == 1
    if not one_scale or type.storage != result.storage or type.storage.width != BYTE_BITS:
        return False
    if not (isinstance(type.expressed, Float32Type) and isinstance(result.expressed, Float32Type)):
        return False
    stored = np.arange(type.storage.low, type.storage.high + 1)
    real = map.factor.reshape(()) * type.dequantize(stored, np.float64) + map.shift.reshape(())
    steps = real / np.float64(result.scale) + float(result.zero_point)
    return bool((np.abs(steps - stored) < MAX_ROUNDING_DISTANCE).all())
