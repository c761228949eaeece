"""`quantize-branches`: what it takes, the last case and the first that it leaves."""

from __future__ import annotations

from typing import Any

import numpy as np
import onnx.helper as oh
import pytest
from quantized_models import (
    X_ZERO,
    Y_SCALE,
    assert_equal,
    constants,
    inputs,
    model,
    ops,
    pair,
    passed,
    results,
)

from qdialect.dialects.quant import Storage, UniformType
from qdialect.transforms.quantize_branches import is_one_sided


@pytest.mark.parametrize(("kind", "low", "high"), [("Sigmoid", 0, 1), ("Tanh", -1, 1), ("HardSigmoid", 0, 1)])
@pytest.mark.parametrize("zero", [np.uint8(X_ZERO), np.int8(-11)])
def test_a_branch_of_known_range_is_quantized_over_it(kind: str, low: int, high: int, zero: Any):
    """The branch moves by half a step at most, where it saturates by one."""
    nodes = [
        *pair("x", "r"),
        oh.make_node(kind, ["x1"], ["f"]),
        oh.make_node("Mul", ["f", "r"], ["y"]),
    ]
    proto = model(nodes, constants(xz=zero), [(4, 30), (4, 30)], ["y"])
    after = passed(proto, "quantize-branches", target="tensorrt")
    assert (ops(after)["QuantizeLinear"], ops(after)["DequantizeLinear"]) == (2, 2)
    x, x1 = inputs((4, 30), (4, 30))
    feeds = [x, x1 * 4]
    before, now = results(proto, feeds)[0], results(after, feeds)[0]
    step = max(-low, high) / 127 if zero.dtype == np.int8 else (high - low) / 255
    largest = np.abs(results(model(pair("x", "y"), constants(xz=zero), [(4, 30)], ["y"]), [x])[0]).max()
    assert 0 < np.abs(now - before).max() <= 0.51 * step * largest
    same = passed(proto, "quantize-branches", target="onnxruntime")
    assert_equal(proto, same, feeds)


def test_a_shortcut_is_quantized_as_it_is_elsewhere():
    nodes = [
        oh.make_node("Neg", ["x"], ["n"]),
        *pair("n", "y"),
        *pair("x1", "r", "y"),
        oh.make_node("Add", ["r", "n"], ["z"]),
    ]
    proto, feeds = model(nodes, constants(), [(2, 3), (2, 3)], ["y", "z"]), inputs((2, 3), (2, 3))
    after = passed(proto, "quantize-branches", target="tensorrt")
    (y, z), (old_y, _) = results(after, feeds), results(proto, feeds)
    np.testing.assert_array_equal(y, old_y)
    shortcut = np.rint(feeds[1] / np.float32(Y_SCALE)) * np.float32(Y_SCALE)
    np.testing.assert_allclose(z, shortcut + old_y, rtol=0, atol=1e-5)


@pytest.mark.parametrize(
    ("zeros", "expected"),
    [([0], True), ([255], True), ([1], False), ([254], False), ([7, 255], True), ([0, 7], True)],
)
def test_one_side_of_zero(zeros: list[int], expected: bool):
    scales = np.full(len(zeros), 0.5, np.float32)
    type = UniformType.per_axis(Storage.of("u8"), 0, scales, np.array(zeros))
    assert is_one_sided(type) is expected
