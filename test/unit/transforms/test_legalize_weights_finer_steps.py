"""Weights of few bits that get finer steps stay in 8 bits, wherever their zero point is."""

import numpy as np
import pytest
from onnx import ModelProto, TensorProto, helper, numpy_helper

import qdialect
from qdialect.evaluation.session import run
from qdialect.numerics import folding


@pytest.mark.parametrize("signed", [False, True])
@pytest.mark.parametrize("place", [0.0, 0.01, 0.2, 0.5, 0.8, 0.99, 1.0])
@pytest.mark.parametrize("axis", [None, 1])
def test_finer_steps_stay_in_storage(signed: bool, place: float, axis: int | None):
    least, greatest = (-128, 127) if signed else (0, 255)
    rng = np.random.default_rng(int(place * 100))
    middle = round(least + place * (greatest - least))
    channels = () if axis is None else (6,)
    zeros = np.full(channels, middle, np.int32)
    stored = np.clip(middle + rng.integers(-2, 3, (5, 6)), least, greatest)
    scales = np.asarray(rng.uniform(0.01, 1, channels), np.float32)
    finer = folding.finer_weight(stored, scales, zeros, np.ones(channels, np.bool_), axis, signed)
    assert least <= finer.stored.min()
    assert finer.stored.max() <= greatest
    np.testing.assert_array_equal((finer.stored - zeros) * finer.scales, (stored - zeros) * scales)


def _convolution(storage: type[np.generic], zero: int, channels: bool, op: str) -> ModelProto:
    """Weights of four values around a zero point, and a bias behind that their coarse steps cannot hold."""
    rng = np.random.default_rng(zero + 200)
    least, greatest = (0, 255) if storage is np.uint8 else (-128, 127)
    weight = (zero + rng.integers(-2, 2, (6, 5, 3, 3) if op == "Conv" else (5, 6))).clip(least, greatest)
    count = (6,) if channels else ()
    tensors = {
        "xs": np.float32(0.17),
        "xz": np.uint8(238),
        "w": weight.astype(storage),
        "ws": rng.uniform(0.02, 0.07, count).astype(np.float32),
        "wz": np.full(count, zero, storage),
        "b": rng.normal(size=6).astype(np.float32),
        "g": rng.uniform(0.8, 1.2, 6).astype(np.float32),
        "v": np.array([1e-8, 0.8, 1.9, 1.1, 0.9, 1.5], np.float32),
        "m": rng.normal(size=6).astype(np.float32),
        "ys": np.float32(47.1),
        "yz": np.uint8(128),
    }
    inputs = ["x", "wd", "b"] if op == "Conv" else ["x", "wd"]
    product = helper.make_node(op, inputs, ["c"])
    if op == "Conv":
        product.attribute.append(helper.make_attribute("pads", [1, 1, 1, 1]))
    cast = helper.make_node("DequantizeLinear", ["w", "ws", "wz"], ["wd"])
    if channels:
        cast.attribute.append(helper.make_attribute("axis", 0 if op == "Conv" else 1))
    nodes = [
        helper.make_node("DequantizeLinear", ["q", "xs", "xz"], ["x"]),
        cast,
        product,
        helper.make_node("BatchNormalization", ["c", "g", "b", "m", "v"], ["n"]),
        helper.make_node("QuantizeLinear", ["n", "ys", "yz"], ["y"]),
    ]
    shape = [1, 5, 4, 5] if op == "Conv" else [4, 5]
    x = helper.make_tensor_value_info("q", TensorProto.UINT8, shape)
    y = helper.make_tensor_value_info("y", TensorProto.UINT8, None)
    held = [numpy_helper.from_array(np.asarray(value), name) for name, value in tensors.items()]
    graph = helper.make_graph(nodes, "g", [x], [y], held)
    return helper.make_model(graph, opset_imports=[helper.make_opsetid("", 16)], ir_version=8)


@pytest.mark.parametrize("op", ["Conv", "MatMul"])
@pytest.mark.parametrize("channels", [False, True])
@pytest.mark.parametrize(
    ("storage", "zero"),
    [(np.uint8, 0), (np.uint8, 2), (np.uint8, 127), (np.uint8, 253), (np.int8, -126), (np.int8, 126)],
)
def test_few_bits_around_a_zero_point_far_from_the_middle(
    storage: type[np.generic], zero: int, channels: bool, op: str
):
    """Weights 0 to 3 around 2 wrapped at 256 when their steps became finer: -6 dB."""
    model = _convolution(storage, zero, channels, op)
    rng = np.random.default_rng(1)
    shape = [d.dim_value for d in model.graph.input[0].type.tensor_type.shape.dim]
    feeds = {"q": rng.integers(0, 256, shape).astype(np.uint8)}
    before = run(model, feeds)[0].astype(int)
    for target in ("onnxruntime", "generic"):
        module = qdialect.load(model.SerializeToString())
        qdialect.compile(module, target=target)
        result = qdialect.to_model(module)
        for optimize in (False, True):
            after = run(result, feeds, optimize=optimize)[0].astype(int)
            assert np.abs(after - before).max() <= 1, (target, optimize)
