"""An op that a session makes a part of the float convolution in front counts for less there."""

import numpy as np
import onnx
import onnx.helper as oh
import onnx.numpy_helper as onh
import pytest

import qdialect


def model(activation: str) -> onnx.ModelProto:
    """Images of bytes, a convolution with a float result, an op, a quantize."""
    weight = np.random.default_rng(7).integers(-127, 128, (16, 3, 3, 3)).astype("i1")
    held = {"s": np.float32(0.02), "z": np.uint8(9), "w": weight, "t": np.full(16, 0.01, "f4")}
    held["u"] = np.zeros(16, "i1")
    nodes = [
        oh.make_node("DequantizeLinear", ["x", "s", "z"], ["real"]),
        oh.make_node("DequantizeLinear", ["w", "t", "u"], ["weight"], axis=0),
        oh.make_node("Conv", ["real", "weight"], ["sum"], strides=[2, 2], pads=[1, 1, 1, 1]),
        oh.make_node(activation, ["sum"], ["active"]),
        oh.make_node("QuantizeLinear", ["active", "s", "z"], ["y"]),
    ]
    graph = oh.make_graph(
        nodes,
        "g",
        [oh.make_tensor_value_info("x", 2, (1, 3, 128, 128))],
        [oh.make_tensor_value_info("y", 2, None)],
        [onh.from_array(np.asarray(array), name) for name, array in held.items()],
    )
    return oh.make_model(graph, opset_imports=[oh.make_opsetid("", 14)], ir_version=8)


@pytest.mark.parametrize(("activation", "kernel"), [("HardSwish", "Conv"), ("Abs", "ConvInteger")])
def test_a_convolution_stays_in_float_if_that_takes_what_is_behind(activation: str, kernel: str):
    module = qdialect.load(model(activation))
    qdialect.compile(module)
    names = {op.name.removeprefix("onnx.") for op in module.walk()}
    assert kernel in names & {"Conv", "ConvInteger"}
    assert len(names & {"Conv", "ConvInteger"}) == 1
