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
from xdsl.dialects.builtin import DenseArrayBase, FloatAttr, StringAttr, i64
from xdsl.ir import Attribute, Operation, SSAValue

from qdialect.dialects.onnx_attributes import int_attr, numbers
from qdialect.dialects.onnx_base import ConstantOp, OnnxOp
from qdialect.dialects.onnx_tensor import from_array
from qdialect.dialects.onnx_types import (
    BY_ATTRIBUTE,
    DYNAMIC,
    element_of,
    expressed_of,
    known_element,
    shape_of,
    tensor_type,
)
from qdialect.forms.base import Form
from qdialect.ir.values import constant_array, normal_axis
from qdialect.ops.generated import op_named
from qdialect.reasons import UNKNOWN_RANK, Blocked

TO_THE_END = np.iinfo(np.int64).max
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
    axis, rank, element = normal_axis(axis, len(shape)), len(shape), known_element(x.type)
    behind = [k for k in range(axis, rank) if shape[k] != 1]
    if len(behind) < 2 and axis < rank:
        row = {"axis": int_attr(behind[0] if behind else axis)}
        return [op.__class__.build([x], [op.results[0].type], row)]
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
    return _enlarged(op, op.input(1), [])


def _upsample(op: OnnxOp) -> Sequence[Operation] | Blocked:
    """Resize as opset 10 had it; opset 7 had the factors as an attribute."""
    given = op.properties.get("scales")
    if not isinstance(given, DenseArrayBase):
        return _enlarged(op, op.input(1), [])
    factors = ConstantOp.of(from_array(np.array(numbers(given), np.float32)))
    return _enlarged(op, factors.results[0], [factors])


def _enlarged(op: OnnxOp, factors: SSAValue | None, made: list[Operation]) -> Sequence[Operation] | Blocked:
    scales = constant_array(factors)
    if scales is None or (scales < 1).any():
        return Blocked("old-resize", "opset 10 leaves open which pixel a Resize to less of them takes")
    roi = ConstantOp.of(from_array(np.zeros(0, np.float32)))
    attributes: dict[str, Attribute] = {
        **{k: v for k, v in op.onnx_attributes.items() if k != "scales"},
        "coordinate_transformation_mode": StringAttr("asymmetric"),
        "nearest_mode": StringAttr("floor"),
    }
    resize = op_named("", "Resize").build(
        [op.input(0), roi.results[0], factors], [op.results[0].type], attributes
    )
    return [*made, roi, resize]


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
    ("", "Upsample"): Renewed(_upsample),
}


def _numbers(op: OnnxOp, name: str) -> tuple[float, ...]:
    value = op.onnx_attributes.get(name)
    return numbers(value) if isinstance(value, DenseArrayBase) else ()


def _number(op: OnnxOp, name: str, default: float) -> float:
    value = op.onnx_attributes.get(name)
    return value.value.data if isinstance(value, FloatAttr) else default


def _crop(op: OnnxOp) -> Sequence[Operation] | Blocked:
    """Crop of images: `border` pixels go at the left, the top, the right and the bottom; `scale` is what is left."""
    border, scale = [int(v) for v in _numbers(op, "border")], [int(v) for v in _numbers(op, "scale")]
    shape, element = shape_of(op.operands[0].type), element_of(op.operands[0].type)
    if len(border) != 4 or len(scale) not in (0, 2):
        return Blocked("other-opset", "Crop does not say what it cuts off", "check the model")
    left, top, right, bottom = border
    ends = [-bottom or TO_THE_END, -right or TO_THE_END]
    if scale:
        ends = [top + scale[0], left + scale[1]]
    operands = [ConstantOp.of(from_array(np.array(v, np.int64))) for v in ([top, left], ends, [2, 3])]
    type = op.results[0].type
    if shape is not None and len(shape) == 4 and element in BY_ATTRIBUTE:
        pixels = zip(shape[2:], (top, left), ends, strict=True)
        cut = (DYNAMIC if n == DYNAMIC else len(range(n)[first:end]) for n, first, end in pixels)
        type = tensor_type(element, (*shape[:2], *cut))
    inputs = [op.operands[0], *(o.results[0] for o in operands)]
    return [*operands, op_named("", "Slice").build(inputs, [type])]


def _scaled(factor: float, shift: npt.NDArray[np.float32], op: OnnxOp) -> Sequence[Operation]:
    known = element_of(op.results[0].type) in BY_ATTRIBUTE
    type = op.results[0].type if known else op.operands[0].type
    constants = [ConstantOp.of(from_array(a)) for a in (np.array(factor, np.float32), shift)]
    product = op_named("", "Mul").build([op.operands[0], constants[0].results[0]], [type])
    total = op_named("", "Add").build([product.results[0], constants[1].results[0]], [type])
    return [*constants, product, total]


def _image_scaler(op: OnnxOp) -> Sequence[Operation] | Blocked:
    """ImageScaler: x * scale + bias of each channel."""
    shift = np.array(_numbers(op, "bias"), np.float32).reshape(-1, 1, 1)
    return _scaled(_number(op, "scale", 1.0), shift, op)


def _affine(op: OnnxOp) -> Sequence[Operation] | Blocked:
    """Affine: alpha * x + beta."""
    return _scaled(_number(op, "alpha", 1.0), np.array(_number(op, "beta", 0.0), np.float32), op)


REMOVED: dict[str, Callable[[OnnxOp], Sequence[Operation] | Blocked]] = {
    "Crop": _crop,
    "ImageScaler": _image_scaler,
    "Affine": _affine,
}
"""Ops of the first opsets that ONNX has no more and runtimes still run, under opset 9 at most."""
