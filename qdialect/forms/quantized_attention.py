"""
QAttention as ONNX's own ops: integer projections to queries, keys and values, and attention in float.

    p = Cast(MatMulInteger(x, W, xz, wz)) * (xs * ws) + b          [batch, length, 3 * width], split into q, k, v
    y = softmax(q k' * scale + mask) v                            by heads
"""

from __future__ import annotations

from collections.abc import Sequence
from math import sqrt

import numpy as np
from xdsl.dialects.builtin import Float32Type, i1, i32
from xdsl.ir import Operation, SSAValue

from qdialect.dialects.onnx_attributes import int_attr
from qdialect.dialects.onnx_base import OnnxOp, onnx_opset
from qdialect.dialects.onnx_types import DYNAMIC, element_of, shape_of, tensor_type
from qdialect.dialects.snapshot import MICROSOFT
from qdialect.forms.builder import AXES_AS_INPUT, Builder
from qdialect.forms.contrib_ops import StandsFor
from qdialect.ir.values import constant_array, static_shape
from qdialect.reasons import UNKNOWN_RANK, Blocked

FLOAT, FLOAT_CODE = Float32Type(), 1
FILTER = -10000.0
"""What is added to a score that does not count, if the node states nothing else."""
MASK = Blocked(
    "attention-form", "the mask is none of 0 and 1 for each position, and no list of lengths of known sizes"
)


def _projected(op: OnnxOp, build: Builder, shape: tuple[int, ...]) -> SSAValue:
    """Queries, keys and values side by side."""
    operands = [op.operands[0], op.operands[1], op.input(6), op.input(7)]
    if operands[2] is None and operands[3] is not None:
        operands[2] = build.constant(np.zeros((), np.uint8))
    sums = build.one("MatMulInteger", operands, shape, element=i32)
    real = build.one("Cast", [sums], element=FLOAT, to=int_attr(FLOAT_CODE))
    scales = [op.operands[4], op.operands[3]]  # of the weight, which may have one for each column, first
    known = [constant_array(value) for value in scales]
    if known[0] is None or known[1] is None:
        scale = build.one("Mul", scales)
    else:
        scale = build.constant(known[0] * known[1])
    return build.one("Add", [build.one("Mul", [real, scale]), op.operands[2]])


def _mask(op: OnnxOp, build: Builder, sizes: tuple[int, int]) -> list[SSAValue] | Blocked:
    """What is added to the scores."""
    amount = np.float32(op.float_attr("mask_filter_value", FILTER))
    masks: list[SSAValue] = []
    if (given := op.input(5)) is not None:
        shape = shape_of(given.type)
        if onnx_opset(op) < AXES_AS_INPUT:
            return Blocked("opset", f"the mask needs opset {AXES_AS_INPUT}", "raise the model's opset")
        if shape is not None and len(shape) == 1 and DYNAMIC not in sizes and shape[0] == sizes[0]:
            places = build.constant(np.arange(sizes[1], dtype=np.int32)[None])
            ends = build.one("Unsqueeze", [given, build.constant(np.array([1]))], (sizes[0], 1))
            given, shape = build.one("Less", [places, ends], sizes, element=i1), sizes
        if shape is None or len(shape) != 2:
            return MASK
        real = build.one("Cast", [given], element=FLOAT, to=int_attr(FLOAT_CODE))
        less = build.one("Sub", [build.constant(np.float32(1)), real], shape)
        added = build.one("Mul", [less, build.constant(amount)])
        masks.append(
            build.one("Unsqueeze", [added, build.constant(np.array([1, 2]))], (shape[0], 1, 1, shape[1]))
        )
    if op.int_attr("unidirectional", 0):
        if DYNAMIC in sizes:
            return Blocked("unknown-shape", "the length of the sequence is not known", "give --sizes")
        future = np.triu(np.full((sizes[1], sizes[1]), amount, np.float32), 1)
        masks.append(build.constant(future))
    return masks


def _parts(op: OnnxOp) -> Sequence[Operation] | Blocked:
    x, weight, heads = (
        shape_of(op.operands[0].type),
        static_shape(op.operands[1]),
        op.int_attr("num_heads", 0),
    )
    if op.input(8) is not None or len(op.results) > 1 or op.int_attr("do_rotary", 0):
        return Blocked("attribute", "the node keeps keys and values of earlier runs, or rotates them")
    if element_of(op.results[0].type) != FLOAT:
        return Blocked("expressed-type", "the result is not known to be f32", "infer-shapes")
    if x is None or len(x) != 3:
        return UNKNOWN_RANK
    if weight is None or len(weight) != 2 or heads < 1 or weight[1] % (3 * heads):
        return Blocked(
            "attention-form", "the weight's columns are not queries, keys and values of equal heads"
        )
    build, (batch, length, _), width = Builder(op), x, weight[1] // 3
    size = width // heads
    masks = _mask(op, build, (batch, length))
    if isinstance(masks, Blocked):
        return masks
    whole = _projected(op, build, (batch, length, 3 * width))
    q, k, v = build.split(whole, 3, 2, ("query", "key", "value"))
    by_head = build.constant(np.array([0, 0, heads, size]))
    split = [build.one("Reshape", [part, by_head], (batch, length, heads, size)) for part in (q, k, v)]
    rows = [build.transpose(part, perm) for part, perm in zip(split, HEADS_FIRST, strict=True)]
    scores = build.one("MatMul", rows[:2], (batch, heads, length, length))
    scale = op.float_attr("scale", 0.0) or 1 / sqrt(size)
    scores = build.one("Mul", [scores, build.constant(np.float32(scale))])
    for mask in masks:
        scores = build.one("Add", [scores, mask])
    weights = build.one("Softmax", [scores], axis=int_attr(3))
    mixed = build.one("MatMul", [weights, rows[2]], (batch, heads, length, size))
    turned = build.transpose(mixed, (0, 2, 1, 3))
    build.add(
        "Reshape",
        [turned, build.constant(np.array([0, 0, width]))],
        tensor_type(FLOAT, (batch, length, width)),
    )
    return build.ops


HEADS_FIRST = (0, 2, 1, 3), (0, 2, 3, 1), (0, 2, 1, 3)
"""Permutations of queries, keys and values, [batch, length, heads, size]: keys are transposed."""

QUANTIZED_ATTENTION = {(MICROSOFT, "QAttention"): StandsFor(_parts, written=False)}
