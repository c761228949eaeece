"""
Ops of opsets before 13 as what they are in opset 13: attributes that became operands, and meanings that changed.

Source: the changelog of ONNX's operators, https://github.com/onnx/onnx/blob/main/docs/Changelog.md. An op without a
row here has only come to take more types, or attributes whose default is what it did before.
"""

from __future__ import annotations

from collections.abc import Callable, Sequence
from dataclasses import dataclass
from math import prod

import numpy as np
import numpy.typing as npt
from xdsl.dialects.builtin import StringAttr, i64
from xdsl.ir import Attribute, Operation

from qdialect.dialects.onnx_attributes import int_attr
from qdialect.dialects.onnx_base import ConstantOp, OnnxOp
from qdialect.dialects.onnx_tensor import from_array
from qdialect.dialects.onnx_types import (
    BY_ATTRIBUTE,
    DYNAMIC,
    element_of,
    expressed_of,
    shape_of,
    tensor_type,
)
from qdialect.forms.base import Form
from qdialect.ir.values import constant_array, normal_axis
from qdialect.ops.generated import op_named
from qdialect.reasons import UNKNOWN_RANK, Blocked

OPSET = 13
"""The opset that the forms are of."""


@dataclass(frozen=True)
class Renewed(Form):
    """An op of an older opset in opset 13: new operations, the last with its results; none if it is the same there."""

    parts: Callable[[OnnxOp], Sequence[Operation] | Blocked]


def _value(op: OnnxOp, name: str) -> npt.NDArray[np.generic] | None:
    """An attribute as the array that the operand of that name is; None if it is left out."""
    ints = op.ints_attr(name)
    if ints is not None:
        return np.array(ints, np.int64)
    if name not in op.properties:
        return None
    if name in ("k",):
        return np.array([op.int_attr(name, 0)], np.int64)
    element = BY_ATTRIBUTE.get(expressed_of(op.operands[0].type))  # pyright: ignore[reportArgumentType]
    return np.array(op.float_attr(name, 0.0), np.float32 if element is None else element.dtype)


def _operands(*names: str) -> Callable[[OnnxOp], Sequence[Operation] | Blocked]:
    """Attributes that became operands of these names, in this order, behind operand 0."""

    def parts(op: OnnxOp) -> Sequence[Operation] | Blocked:
        if not any(name in op.properties for name in names):
            return ()
        values = [_value(op, name) for name in names]
        made = [None if v is None else ConstantOp.of(from_array(v)) for v in values]
        inputs = [op.input(0), *(None if c is None else c.results[0] for c in made)]
        while inputs[-1] is None:
            inputs.pop()
        attributes = {k: v for k, v in op.onnx_attributes.items() if k not in names}
        types = [None if v is None else v.type for v in op.outputs]
        return [*(c for c in made if c is not None), op.__class__.build(inputs, types, attributes)]

    return parts


def _dropout(op: OnnxOp) -> Sequence[Operation] | Blocked:
    if any(mask.first_use for mask in op.results[1:]):
        return Blocked(
            "dropout-mask", "the mask of a Dropout that drops nothing was undefined, and is now all true"
        )
    return _operands("ratio")(op)


def _rows(op: OnnxOp) -> Sequence[Operation] | Blocked:
    """Everything from `axis` on was one row; now one axis is."""
    x, shape, axis = op.operands[0], shape_of(op.operands[0].type), op.int_attr("axis", 1)
    if shape is None:
        return UNKNOWN_RANK
    axis, rank, element = normal_axis(axis, len(shape)), len(shape), element_of(x.type)
    behind = [k for k in range(axis, rank) if shape[k] != 1]
    if len(behind) < 2 and axis < rank:
        row = {"axis": int_attr(behind[0] if behind else axis)}
        return [op.__class__.build([x], [op.results[0].type], row)]
    assert element is not None
    sizes = tuple(prod(part) if DYNAMIC not in part else DYNAMIC for part in (shape[:axis], shape[axis:]))
    flat = op_named("", "Flatten").build([x], [tensor_type(element, sizes)], {"axis": int_attr(axis)})
    soft = op.__class__.build([flat.results[0]], [flat.results[0].type], {"axis": int_attr(1)})
    size = op_named("", "Shape").build([x], [tensor_type(i64, (rank,))])
    back = op_named("", "Reshape").build([soft.results[0], size.results[0]], [op.results[0].type])
    return [flat, soft, size, back]


def _resize(op: OnnxOp) -> Sequence[Operation] | Blocked:
    """Opset 10 counted pixels from the corner, and rounded down when enlarging."""
    if op.input(2) is not None or "coordinate_transformation_mode" in op.properties:
        return ()
    scales = constant_array(op.input(1))
    if scales is None or (scales < 1).any():
        return Blocked("old-resize", "opset 10 leaves open which pixel a Resize to less of them takes")
    roi = ConstantOp.of(from_array(np.zeros(0, np.float32)))
    attributes: dict[str, Attribute] = {
        **op.onnx_attributes,
        "coordinate_transformation_mode": StringAttr("asymmetric"),
        "nearest_mode": StringAttr("floor"),
    }
    inputs = [op.input(0), roi.results[0], op.input(1)]
    return [roi, op.__class__.build(inputs, [op.results[0].type], attributes)]


RENEWED: dict[tuple[str, str], Renewed] = {
    ("", "Clip"): Renewed(_operands("min", "max")),
    ("", "Dropout"): Renewed(_dropout),
    ("", "Pad"): Renewed(_operands("pads", "value")),
    ("", "ReduceSum"): Renewed(_operands("axes")),
    ("", "Slice"): Renewed(_operands("starts", "ends", "axes")),
    ("", "Split"): Renewed(_operands("split")),
    ("", "Squeeze"): Renewed(_operands("axes")),
    ("", "Unsqueeze"): Renewed(_operands("axes")),
    ("", "TopK"): Renewed(_operands("k")),
    ("", "Softmax"): Renewed(_rows),
    ("", "LogSoftmax"): Renewed(_rows),
    ("", "Hardmax"): Renewed(_rows),
    ("", "Resize"): Renewed(_resize),
}
