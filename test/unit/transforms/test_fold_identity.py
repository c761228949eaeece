"""`fold-identity`: what it takes, the last case and the first that it leaves."""

from __future__ import annotations

import onnx.helper as oh
from quantized_models import (
    assert_equal,
    inputs,
    model,
    ops,
    passed,
)


def test_copies_go_and_outputs_keep_their_names():
    nodes = [
        oh.make_node("Identity", ["x"], ["a"]),
        oh.make_node("Identity", ["a"], ["y"]),
        oh.make_node("Neg", ["a"], ["n"]),
        oh.make_node("Identity", ["n"], ["z"]),
        oh.make_node("Identity", ["n"], ["w"]),
    ]
    proto = model(nodes, {}, [(2, 3)], ["y", "z", "n", "w"])
    after = passed(proto, "fold-identity")
    assert [o.name for o in after.graph.output] == ["y", "z", "n", "w"]
    assert ops(after)["Neg"] == 1
    assert_equal(proto, after, inputs((2, 3)))
