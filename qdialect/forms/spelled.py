"""Bit-identical rewrites of ops for targets on which they are slow, and their inverses: PRelu as Max or Min and Mul."""

from __future__ import annotations

from collections.abc import Callable, Sequence
from dataclasses import dataclass

import numpy as np
from xdsl.dialects.builtin import Float32Type
from xdsl.ir import Operation, OpResult, SSAValue

from qdialect.dialects.onnx_base import OnnxOp, onnx_opset
from qdialect.dialects.onnx_types import DYNAMIC, element_of, shape_of
from qdialect.forms.base import Form
from qdialect.forms.nodes import Nodes
from qdialect.ir.values import constant_array
from qdialect.numerics import Array
from qdialect.ops.generated import op_named

BROADCASTS = 8
"""The first opset whose Max and Min broadcast."""


@dataclass(frozen=True)
class Spelled(Form):
    """The op can be written as other ops with bit-identical results."""

    parts: Callable[[OnnxOp], Sequence[Operation] | None]
    """The other ops, the last of which defines the op's result; None if the results would differ."""


def _slopes(x: SSAValue, slope: SSAValue | None, result: SSAValue) -> Array | None:
    """
    Several constant slopes of `x`, float32, that broadcast to its shape; None otherwise, and if a sloped axis has an
    unknown size: the product's type would then state it, and reading the result back would differ.
    """
    array, shape = constant_array(slope), shape_of(x.type)
    if array is None or array.size == 1 or shape is None or shape != shape_of(result.type):
        return None
    along = zip(reversed(array.shape), reversed(shape), strict=False)
    fits = array.ndim <= len(shape) and not any(a != 1 and size == DYNAMIC for a, size in along)
    return array if fits and element_of(x.type) == Float32Type() else None


def _chooser(slopes: Array) -> str | None:
    """
    The op, Max or Min, of x and x * slope that equals PRelu: if no slope is above 1, the product is not above x if
    x is positive and not below it if x is negative, also as rounded; likewise the other way round.
    """
    if not np.isfinite(slopes).all() or not slopes.all():
        return None  # 0 times infinity is NaN
    return "Max" if (slopes <= 1).all() else "Min" if (slopes >= 1).all() else None


def _prelu(op: OnnxOp) -> Sequence[Operation] | None:
    x, slope = op.operands[:2]
    slopes = _slopes(x, slope, op.results[0])
    name = None if slopes is None else _chooser(slopes)
    if name is None or onnx_opset(op) < BROADCASTS:
        return None
    nodes = Nodes(op)
    product = nodes.add("Mul", [x, slope], op.results[0].type)
    nodes.add(name, [x, product], op.results[0].type)
    return nodes.ops


def read_prelu(op: OnnxOp) -> Sequence[Operation] | None:
    """The PRelu that equals a Max or Min of a value and its product with constants; None if none does."""
    if len(op.operands) != 2:
        return None
    for x, product in (op.operands, reversed(op.operands)):
        above = product.op if isinstance(product, OpResult) and product.has_one_use() else None
        if not isinstance(above, op_named("", "Mul")) or x not in above.operands:
            continue
        slope = above.operands[1] if above.operands[0] is x else above.operands[0]
        slopes = _slopes(x, slope, op.results[0])
        if slopes is not None and _chooser(slopes) == op.op_type:
            nodes = Nodes()
            nodes.add("PRelu", [x, slope], op.results[0].type)
            return nodes.ops
    return None


SPELLED: dict[tuple[str, str], Spelled] = {("", "PRelu"): Spelled(_prelu)}
