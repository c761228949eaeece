"""
Opset upgrades: ops of older opsets as newer ones write them, attributes as operands, removed ops as other ops.

Only ops whose form changed are listed. Others are identical in newer opsets, or merely take more types there.
"""

from __future__ import annotations

from collections.abc import Callable, Mapping, Sequence
from dataclasses import dataclass
from functools import partial
from math import prod

import numpy as np
import numpy.typing as npt
from xdsl.dialects.builtin import DenseArrayBase, FloatAttr, IntegerAttr, StringAttr, i64
from xdsl.ir import Attribute, Operation, SSAValue

from qdialect.dialects.onnx_attributes import int_attr, numbers
from qdialect.dialects.onnx_base import OnnxOp
from qdialect.dialects.onnx_types import (
    BY_ATTRIBUTE,
    DYNAMIC,
    element_of,
    onnx_element,
    shape_of,
    tensor_type,
)
from qdialect.forms.base import Form
from qdialect.forms.nodes import Nodes
from qdialect.ir.values import constant_array, normal_axis, rank_of, static_shape
from qdialect.ops.generated import op_named
from qdialect.reasons import Blocked, unblocked

Parts = Sequence[Operation]
UNKNOWN_TYPE = Blocked(
    "unknown-shape", "the type of the operand is not known", "run ONNX shape inference on the model"
)
TO_THE_END = np.iinfo(np.int64).max


@dataclass(frozen=True)
class NewerForm(Form):
    """The op as opset `since` and later ones write it; the last part defines its results."""

    since: int
    parts: Callable[[OnnxOp], Parts | Blocked]
    least: Callable[[OnnxOp], int] = lambda op: 0
    """The first opset that has all attributes of the parts, if later than `since`."""


def _built(
    op: OnnxOp, name: str, inputs: Sequence[SSAValue | None], attributes: Mapping[str, Attribute]
) -> OnnxOp:
    """A new op `name` with the results of `op`."""
    types = [None if value is None else value.type for value in op.outputs]
    return op_named("", name).build(inputs, types, attributes)


def _operand(op: OnnxOp, value: Attribute) -> npt.NDArray[np.generic] | Blocked:
    """An attribute as an array: integers as i64, a float as an element of the op's first operand."""
    if isinstance(value, DenseArrayBase):
        return np.asarray(numbers(value), np.int64)
    if isinstance(value, IntegerAttr):
        return np.array([value.value.data])
    element = onnx_element(op.operands[0].type)
    if element is None or not isinstance(value, FloatAttr):
        return UNKNOWN_TYPE
    return np.array(value.value.data, element.dtype)


def _attributes_as_inputs(places: Mapping[str, int], op: OnnxOp) -> Parts | Blocked:
    """Attributes become operands. places: operand index by attribute name."""
    kept = dict(op.onnx_attributes)
    inputs, nodes = list(op.inputs), Nodes()
    for name, place in places.items():
        if (value := kept.pop(name, None)) is None:
            continue
        array = unblocked(_operand(op, value))
        inputs += [None] * (place + 1 - len(inputs))
        inputs[place] = nodes.constant(array)
    return [*nodes.ops, _built(op, op.op_type, inputs, kept)]


def _without(names: Sequence[str], op: OnnxOp) -> Parts | Blocked:
    """The op without attributes that have no effect at inference."""
    kept = {k: v for k, v in op.onnx_attributes.items() if k not in names}
    return [_built(op, op.op_type, op.inputs, kept)]


def _dropout(op: OnnxOp) -> Parts | Blocked:
    """Dropout, which at inference is a copy: ratio and seed are dropped."""
    if any(mask.first_use for mask in op.results[1:]):
        return Blocked(
            "training-mode",
            "the mask of Dropout in inference is undefined in this opset, and all true in newer ones",
        )
    return _without(["ratio", "seed"], op)


def _normalization(op: OnnxOp) -> Parts | Blocked:
    if not op.int_attr("spatial", 1):
        return Blocked(
            "opset", "BatchNormalization has parameters for each pixel, which newer opsets do not have"
        )
    if sum(value is not None for value in op.outputs) > 1:
        return Blocked(
            "training-mode", "BatchNormalization computes its own statistics", "export for inference"
        )
    return _without(["spatial"], op)


ALLOWZERO_OPSET = 14
"""The first opset in whose Reshape a size of 0 need not copy one."""


def _is_last(op: OnnxOp) -> bool:
    """True if a Softmax before opset 13 is over the last axis alone."""
    rank, axis = rank_of(op.operands[0]), op.int_attr("axis", 1)
    return axis == -1 or (rank is not None and normal_axis(axis, rank) == rank - 1)


def _with_zeros(op: OnnxOp) -> int:
    """Softmax: `ALLOWZERO_OPSET` if a size may be 0 that is no size of the flattened tensor at its place."""
    shape = shape_of(op.operands[0].type)
    axis = normal_axis(op.int_attr("axis", 1), len(shape or ()))
    is_open = shape is None or DYNAMIC in shape[min(axis, 1) :]
    return ALLOWZERO_OPSET if is_open and not _is_last(op) else 0


def _softmax(op: OnnxOp) -> Parts | Blocked:
    """Softmax before opset 13, over all axes from `axis` on together, by default the second."""
    rank, axis = rank_of(op.operands[0]), op.int_attr("axis", 1)
    shape = static_shape(op.operands[0])
    is_empty = shape is not None and 0 in shape  # a Reshape to a size of 0 copies one
    if is_empty or _is_last(op):
        return [_built(op, op.op_type, op.inputs, {"axis": int_attr(-1)})]
    element = element_of(op.operands[0].type)
    if element not in BY_ATTRIBUTE:
        return UNKNOWN_TYPE
    pixels = (DYNAMIC, DYNAMIC) if shape is None else (prod(shape[:axis]), prod(shape[axis:]))
    flat, nodes = tensor_type(element, pixels), Nodes()
    whole = nodes.add(
        op.op_type, [nodes.add("Flatten", [op.operands[0]], flat, {"axis": axis})], flat, {"axis": 1}
    )
    if shape is None:
        sizes = nodes.add("Shape", [op.operands[0]], tensor_type(i64, (DYNAMIC if rank is None else rank,)))
    else:
        sizes = nodes.constant(shape, np.int64)
    attributes = {"allowzero": int_attr(1)} if _with_zeros(op) else {}
    return [*nodes.ops, _built(op, "Reshape", [whole, sizes], attributes)]


def _resize(op: OnnxOp) -> Parts | Blocked:
    """Upsample, and Resize of opset 10, as Resize: asymmetric coordinates, nearest pixel rounded down."""
    nodes, scales = Nodes(), op.input(1)
    if isinstance(old_scales := op.properties.get("scales"), DenseArrayBase):
        scales = nodes.constant(numbers(old_scales), np.float32)
    if scales is None:
        return Blocked(
            "opset",
            f"{op.op_type} has its scales in attributes for height and width",
            "export the model with a newer opset",
        )
    factors = constant_array(scales)
    if factors is None or (factors < 1).any():
        return Blocked("opset", f"{op.op_type} downsamples, which newer opsets round differently")
    region = nodes.constant([], np.float32)
    kept: dict[str, Attribute] = {"mode": op.properties.get("mode", StringAttr("nearest"))}
    kept |= {"coordinate_transformation_mode": StringAttr("asymmetric"), "nearest_mode": StringAttr("floor")}
    return [*nodes.ops, _built(op, "Resize", [op.operands[0], region, scales], kept)]


def _split_in(op: OnnxOp) -> Parts | Blocked:
    """Split without sizes: equal parts, as many as results."""
    kept = dict(op.onnx_attributes)
    if op.input(1) is None:
        kept["num_outputs"] = int_attr(len(op.outputs))
    return [_built(op, "Split", op.inputs, kept)]


def _renamed(name: str, op: OnnxOp) -> Parts | Blocked:
    return [_built(op, name, op.inputs, op.onnx_attributes)]


def _refused(why: str, op: OnnxOp) -> Parts | Blocked:
    return Blocked("opset", why, "export the model with a newer opset")


def _crop(op: OnnxOp) -> Parts | Blocked:
    """Crop of images: removes `border` pixels, (left, top, right, bottom), or keeps `scale`, (height, width)."""
    border, scale = op.ints_attr("border") or (), op.ints_attr("scale")
    shape, element = shape_of(op.operands[0].type), element_of(op.operands[0].type)
    if len(border) != 4 or len(scale or (0, 0)) != 2:
        return Blocked("opset", "Crop does not state its border", "check the model")
    left, top, right, bottom = border
    if scale:
        ends = [top + scale[0], left + scale[1]]
    else:
        ends = [-bottom or TO_THE_END, -right or TO_THE_END]
    nodes, type = Nodes(), op.results[0].type
    if shape is not None and len(shape) == 4 and element in BY_ATTRIBUTE:
        pixels = zip(shape[2:], (top, left), ends, strict=True)
        cut = (DYNAMIC if n == DYNAMIC else len(range(n)[first:end]) for n, first, end in pixels)
        type = tensor_type(element, (*shape[:2], *cut))
    lists = [nodes.constant(values, np.int64) for values in ([top, left], ends, [2, 3])]
    nodes.add("Slice", [op.operands[0], *lists], type)
    return nodes.ops


def _scaled(factor: float, shift: npt.NDArray[np.float32], op: OnnxOp) -> Parts:
    """x * factor + shift, of the operand's type if the result's is unknown."""
    known = element_of(op.results[0].type) in BY_ATTRIBUTE
    nodes, type = Nodes(), op.results[0].type if known else op.operands[0].type
    scale, added = nodes.constant(factor, np.float32), nodes.constant(shift)
    nodes.add("Add", [nodes.add("Mul", [op.operands[0], scale], type), added], type)
    return nodes.ops


def _image_scaler(op: OnnxOp) -> Parts | Blocked:
    """ImageScaler: x * scale + bias, one bias per channel."""
    bias = op.attribute("bias")
    shift = np.array(numbers(bias) if isinstance(bias, DenseArrayBase) else (), np.float32)
    return _scaled(op.float_attr("scale", 1.0), shift.reshape(-1, 1, 1), op)


def _affine(op: OnnxOp) -> Parts | Blocked:
    """Affine: alpha * x + beta."""
    shift = np.array(op.float_attr("beta", 0.0), np.float32)
    return _scaled(op.float_attr("alpha", 1.0), shift, op)


def _to_inputs(since: int, **places: int) -> NewerForm:
    return NewerForm(since, partial(_attributes_as_inputs, places))


def _no_longer(since: int, why: str) -> NewerForm:
    return NewerForm(since, partial(_refused, why))


NEWER: dict[tuple[str, str], tuple[NewerForm, ...]] = {
    ("", "BatchNormalization"): (NewerForm(9, _normalization),),
    ("", "Scan"): (_no_longer(9, "Scan has batches of its own"),),
    ("", "Slice"): (_to_inputs(10, starts=1, ends=2, axes=3),),
    ("", "TopK"): (_to_inputs(10, k=1),),
    ("", "Upsample"): (NewerForm(10, _resize),),
    ("", "Crop"): (NewerForm(10, _crop),),
    ("", "ImageScaler"): (NewerForm(10, _image_scaler),),
    ("", "Affine"): (NewerForm(10, _affine),),
    ("", "Clip"): (_to_inputs(11, min=1, max=2),),
    ("", "Pad"): (_to_inputs(11, pads=1, value=2),),
    ("", "Resize"): (NewerForm(11, _resize),),
    ("", "Scatter"): (NewerForm(11, partial(_renamed, "ScatterElements")),),
    ("", "Dropout"): (NewerForm(12, _dropout),),
    **{("", name): (NewerForm(13, _softmax, _with_zeros),) for name in ("Softmax", "LogSoftmax", "Hardmax")},
    **{("", name): (_to_inputs(13, axes=1),) for name in ("Squeeze", "Unsqueeze", "ReduceSum")},
    ("", "Split"): (_to_inputs(13, split=1), NewerForm(18, _split_in)),
    **{
        ("", f"Reduce{name}"): (_to_inputs(18, axes=1),)
        for name in ("Mean", "Max", "Min", "Prod", "L1", "L2", "LogSum", "LogSumExp", "SumSquare")
    },
    ("", "GridSample"): (_no_longer(20, "GridSample has other modes since"),),
    ("", "GroupNormalization"): (_no_longer(21, "GroupNormalization has other scales since"),),
}
"""The forms of each op, oldest first."""
