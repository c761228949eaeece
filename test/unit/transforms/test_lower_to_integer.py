"""`lower-to-integer`: what it takes, the last case and the first that it leaves."""

from __future__ import annotations

import numpy as np
import onnx.helper as oh
import pytest
from quantized_models import (
    X_SCALE,
    Y_SCALE,
    Shape,
    assert_close,
    compiled,
    constants,
    inputs,
    model,
    ops,
    pair,
    rng,
)


@pytest.mark.parametrize("bias", [None, "float", "steps"])
@pytest.mark.parametrize("quantized", [False, True])
@pytest.mark.parametrize("per_channel", [False, True])
def test_a_convolution_in_integers_is_close(bias: str | None, quantized: bool, per_channel: bool):
    """Pads around a zero point of 117, a weight whose zero point is -3."""
    draw = rng()
    scales = draw.uniform(0.002, 0.02, 4 if per_channel else ()).astype(np.float32)
    bias_scales = np.broadcast_to(np.float32(X_SCALE) * scales, (4,) if per_channel else ()).copy()
    tensors = constants(
        w=draw.integers(-128, 128, (4, 3, 3, 2)).astype(np.int8),
        ws=scales, wz=np.full(scales.shape, -3, np.int8), b=draw.uniform(-3, 3, 4).astype(np.float32),
        bq=draw.integers(-9000, 9000, 4).astype(np.int32), bs=bias_scales,
        bz=np.zeros(bias_scales.shape, np.int32),
    )  # fmt: skip
    nodes = [*pair("x", "r"), oh.make_node("DequantizeLinear", ["w", "ws", "wz"], ["v"], axis=0)]
    if bias == "steps":
        nodes.append(oh.make_node("DequantizeLinear", ["bq", "bs", "bz"], ["b"], axis=0))
        del tensors["b"]
    operands = ["r", "v", "b"] if bias else ["r", "v"]
    result = "t" if quantized else "y"
    nodes.append(oh.make_node("Conv", operands, [result], pads=[1, 0, 2, 1], strides=[2, 1]))
    if quantized:
        nodes += pair("t", "y", "y")
    proto, feeds = model(nodes, tensors, [(2, 3, 6, 5)], ["y"]), inputs((2, 3, 6, 5))
    after = compiled(proto, form="integer")
    assert (ops(after)["ConvInteger"], ops(after)["Conv"]) == (1, 0)
    assert_close(proto, after, feeds, Y_SCALE if quantized else None)


@pytest.mark.parametrize("shape", [(5, 6), (2, 5, 6)])
def test_a_product_in_integers_is_close(shape: Shape):
    """A scale and a zero point for each column."""
    draw = rng()
    tensors = constants(
        w=draw.integers(-128, 128, (6, 4)).astype(np.int8),
        ws=draw.uniform(0.002, 0.02, 4).astype(np.float32),
        wz=np.array([3, -7, 0, 100], np.int8),
    )
    nodes = [
        *pair("x", "r"),
        oh.make_node("DequantizeLinear", ["w", "ws", "wz"], ["v"], axis=1),
        oh.make_node("MatMul", ["r", "v"], ["y"]),
    ]
    proto, feeds = model(nodes, tensors, [shape], ["y"]), inputs(shape)
    after = compiled(proto, form="integer")
    assert (ops(after)["MatMulInteger"], ops(after)["MatMul"]) == (1, 0)
    assert_close(proto, after, feeds)
