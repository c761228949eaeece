"""What the forms of a convolution share: which are measured, what a form must save, and its shapes."""

from __future__ import annotations

from typing import Any

import numpy as np
import numpy.typing as npt
from xdsl.dialects.builtin import Float32Type
from xdsl.ir import Attribute, SSAValue

from qdialect.dialects.onnx_base import ConstantOp, OnnxOp
from qdialect.dialects.onnx_tensor import from_array
from qdialect.dialects.onnx_types import DYNAMIC, element_of, quantized_of, shape_of, tensor_type
from qdialect.ir.names import location
from qdialect.patterns.im2col import is_regular, shape_of_conv
from qdialect.targets import Target
from qdialect.targets.pricing import (
    Convolution,
)

WORTH = 0.85
"""A folded convolution takes at most this part of the time: below that, the measured costs are not so exact."""


MOVES = 1500
"""Nanoseconds that Transposes and Reshapes in front of it may take, and as many behind it; a fold must save more."""


def tiled(
    value: SSAValue, array: npt.NDArray[Any], times: int, name: str, axis: int | None = None
) -> ConstantOp:
    """
    `array` as a constant of the type of `value`, its scales and zero points `times` as often, along `axis` if not where
    they were.
    """
    type = quantized_of(value.type)
    if type is None:
        made = ConstantOp.of(from_array(array))
    else:
        element: Attribute = type
        if type.axis is not None:
            scales, zeros = np.tile(type.scales, times), np.tile(type.zero_points, times)
            along = type.axis if axis is None else axis
            element = type.replace(scales=scales, zero_points=zeros, axis=along)
        made = ConstantOp.of(from_array(array), tensor_type(element, array.shape))
    made.location = location("", [name])
    return made


def is_measured(op: OnnxOp, target: Target, kernel: str) -> bool:
    """Whether the operands' types, and the result's, are those that the costs of `kernel` were measured for."""
    x, w, y = (quantized_of(v.type) for v in (*op.operands[:2], op.results[0]))
    if x is None or w is None or not x.is_per_tensor or not is_regular(op):
        return False
    if [x.storage.name, w.storage.name] != ["u8", "i8"] or kernel not in target.costs:
        return False
    if y is None:
        return element_of(op.results[0].type) == Float32Type()
    return y.is_per_tensor and target.has_kernel("QLinearConv", ["u8", "i8"], y.storage.name)


def shape_of_fold(op: OnnxOp, weight: tuple[int, ...], *, symmetric: bool) -> Convolution:
    """What decides on the cost of a convolution that may be folded: for one image if their number is not known."""
    shape = shape_of_conv(op, weight, symmetric=symmetric)
    unknown = (shape_of(op.results[0].type) or (DYNAMIC,))[0] == DYNAMIC
    return shape._replace(images=1) if unknown else shape  # a fold must pay for one alone
