"""`fold-pad`: what it takes, the last case and the first that it leaves."""

from __future__ import annotations

from typing import Any

import numpy as np
import onnx
import onnx.helper as oh
import pytest
from quantized_models import (
    Y_SCALE,
    Array,
    assert_close,
    assert_equal,
    compiled,
    constants,
    inputs,
    model,
    ops,
    pair,
    passed,
    rng,
)


def padded(window: onnx.NodeProto, pads: list[int], **others: Any) -> tuple[onnx.ModelProto, list[Array]]:
    """x -> pair -> Pad -> window -> pair, with u8 whose zero is not 0."""
    draw = rng()
    tensors = constants(p=np.array(pads), w=draw.integers(-128, 128, (4, 3, 4, 3)).astype(np.int8), **others)
    nodes = [
        *pair("x", "r"),
        oh.make_node("Pad", ["r", "p"], ["a"]),
        oh.make_node("DequantizeLinear", ["w", "ws", "wz"], ["v"]),
        window,
        *pair("t", "y", "y"),
    ]
    nodes = nodes if window.op_type == "Conv" else [n for n in nodes if n.output[0] != "v"]
    return model(nodes, tensors, [(2, 3, 6, 5)], ["y"]), inputs((2, 3, 6, 5))


WINDOWS: list[tuple[str, dict[str, Any], list[int], str]] = [
    ("Conv", {}, [1, 2, 3, 4], "QLinearConv"),
    ("Conv", {"pads": [3, 0, 1, 5], "strides": [2, 3]}, [1, 2, 3, 4], "QLinearConv"),
    ("Conv", {"auto_pad": "VALID", "dilations": [1, 2]}, [0, 4, 1, 2], "QLinearConv"),
    ("AveragePool", {"kernel_shape": [4, 3]}, [1, 2, 3, 0], "AveragePool"),
    (
        "AveragePool",
        {"kernel_shape": [4, 3], "pads": [0, 1, 2, 0], "count_include_pad": 1},
        [1, 1, 1, 2],
        "AveragePool",
    ),
    (
        "AveragePool",
        {"kernel_shape": [4, 3], "count_include_pad": 1, "strides": [3, 2]},
        [3, 2, 0, 1],
        "QLinearAveragePool",
    ),
]
"""A window, the Pad before it, and the kernel it runs in: more means than pixels are cheaper in float."""


@pytest.mark.parametrize(("kind", "attributes", "pads", "kernel"), WINDOWS)
def test_a_window_that_pads_itself_is_the_same(
    kind: str, attributes: dict[str, Any], pads: list[int], kernel: str
):
    operands = ["a", "v"] if kind == "Conv" else ["a"]
    proto, feeds = padded(
        oh.make_node(kind, operands, ["t"], **attributes), [0, 0, *pads[:2], 0, 0, *pads[2:]]
    )
    after = passed(proto, "fold-pad")
    assert "Pad" not in ops(after)
    assert_equal(proto, after, feeds)
    integer = compiled(proto)
    assert "Pad" not in ops(integer)
    assert ops(integer)[kernel] == 1
    assert_close(proto, integer, feeds, Y_SCALE)


@pytest.mark.parametrize(
    ("kind", "attributes", "pads"),
    [
        ("AveragePool", {"kernel_shape": [4, 3], "pads": [0, 1, 2, 0]}, [1, 0, 1, 1]),
        ("AveragePool", {"kernel_shape": [2, 3]}, [2, 0, 0, 0]),
        ("AveragePool", {"kernel_shape": [4, 3], "strides": [3, 2], "ceil_mode": 1}, [1, 0, 1, 2]),
        ("AveragePool", {"kernel_shape": [4, 3], "auto_pad": "SAME_LOWER"}, [1, 0, 1, 1]),
    ],
)
def test_a_pad_that_no_window_can_make_stays(kind: str, attributes: dict[str, Any], pads: list[int]):
    proto, feeds = padded(oh.make_node(kind, ["a"], ["t"], **attributes), [0, 0, *pads[:2], 0, 0, *pads[2:]])
    after = passed(proto, "fold-pad")
    assert ops(after)["Pad"] == 1
    assert_equal(proto, after, feeds)
    assert_close(proto, compiled(proto), feeds, Y_SCALE)
