"""`compose`: what it takes, the last case and the first that it leaves."""

from __future__ import annotations

import numpy as np
import onnx.helper as oh
import pytest
from quantized_models import (
    Y_SCALE,
    Shape,
    assert_close,
    compiled,
    constants,
    inputs,
    model,
    ops,
    pair,
    passed,
    rng,
)


@pytest.mark.parametrize("first", [False, True])
@pytest.mark.parametrize("shape", [(4,), (1, 4)])
def test_a_composed_product_is_close(first: bool, shape: Shape):
    tensors = constants(
        w=rng().integers(-128, 128, (6, 4)).astype(np.int8), b=rng().uniform(-3, 3, shape).astype(np.float32)
    )
    nodes = [
        *pair("x", "r"),
        oh.make_node("DequantizeLinear", ["w", "ws", "wz"], ["v"]),
        oh.make_node("MatMul", ["r", "v"], ["p"]),
        oh.make_node("Add", ["b", "p"] if first else ["p", "b"], ["s"]),
        *pair("s", "y", "y"),
    ]
    proto, feeds = model(nodes, tensors, [(5, 6)], ["y"]), inputs((5, 6))
    after = passed(proto, "compose")
    assert (ops(after)["Gemm"], ops(after)["MatMul"], ops(after)["Add"]) == (1, 0, 0)
    assert_close(proto, after, feeds, Y_SCALE)
    integer = compiled(proto)
    assert ops(integer) == {"QuantizeLinear": 1, "QGemm": 1, "DequantizeLinear": 1}
    assert_close(proto, integer, feeds, Y_SCALE)
