"""`Layer` descriptions of linear ops, from their promises, attributes and weight shapes."""

from __future__ import annotations

from qdialect.calibration.layers import Layer
from qdialect.dialects.onnx_base import OnnxOp
from qdialect.ir.values import static_shape
from qdialect.promises.linear import Linear
from qdialect.promises.window import Window


def known_layer(op: OnnxOp) -> Layer:
    """`layer_of` a linear op. ValueError if it is None."""
    if (layer := layer_of(op)) is None:
        raise ValueError(f"{op.op_type} is no product of matrices")
    return layer


def layer_of(op: OnnxOp) -> Layer | None:
    """A linear op as a matrix product; None for other ops, and for unknown or irregular weight shapes."""
    linear, shape = op.get_trait(Linear), static_shape(op.operands[1]) if len(op.operands) > 1 else None
    if linear is None or shape is None or not shape or 0 in shape:
        return None
    axis = linear.weight_axis(op)
    if linear.result_axis == 1 and len(shape) > 2:  # the axes after the channels are spatial
        return _convolution(op, shape, axis)
    factor, bias_factor = op.float_attr("alpha", 1.0), op.float_attr("beta", 1.0)
    if bias_factor == 0.0:
        bias_factor = 1.0
    transposed_input = bool(op.int_attr("transA", 0))
    return Layer(
        shape, axis, transposed_input=transposed_input, weight_factor=factor, bias_factor=bias_factor
    )


def _convolution(op: OnnxOp, shape: tuple[int, ...], axis: int | None) -> Layer | None:
    window = op.get_trait(Window)
    if window is None or not window.is_regular(op):
        return None
    return Layer(shape, axis, window.groups(op), window.attributes(op), transposed=not window.gathers)
