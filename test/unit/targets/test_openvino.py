"""The QDQ form for OpenVINO runs in OpenVINO's CPU plugin: the same numbers, no fewer layers in int8."""

import importlib
import os
from pathlib import Path
from typing import Any

import numpy as np
import onnx
import onnx.helper as oh
import pytest
from onnx_models import onnx_model

import qdialect
from qdialect.evaluation import session as oracle

pytest.importorskip("openvino", reason="OpenVINO is not installed: pip install '.[openvino]'")

ROOT = Path(__file__).parents[3]
EXAMPLE = ROOT / "examples" / "digits_qdq.onnx"


@pytest.fixture(scope="module")
def plugin() -> Any:
    """`benchmarks/openvino_layers.py`."""
    return importlib.import_module("openvino_layers")


def compiled(model: onnx.ModelProto, folder: Path) -> tuple[Path, Path]:
    """The model's file, and that of what `--target openvino` writes."""
    before, after = folder / "before.onnx", folder / "after.onnx"
    onnx.save(model, before)
    module = qdialect.load(before)
    qdialect.compile(module, target="openvino")
    qdialect.save(module, after)
    return before, after


def signed_convolutions() -> onnx.ModelProto:
    """Integers of a zero point come in, are moved, convolved, pooled and convolved again, all as i8."""
    rng = np.random.default_rng(5)
    types = {"x": (np.float32(0.05), np.int8(-128)), "t": (np.float32(0.1), np.int8(5))}
    constants = {f"{k}_s": s for k, (s, _) in types.items()} | {f"{k}_z": z for k, (_, z) in types.items()}
    constants |= {
        name: rng.integers(-127, 128, shape, np.int8)
        for name, shape in (("v", (8, 3, 3, 3)), ("w", (4, 8, 3, 3)))
    }
    constants |= {"w_s": np.float32(0.002), "w_z": np.int8(0)}

    def node(kind: str, x: str, y: str, *others: str, **attributes: Any) -> onnx.NodeProto:
        return oh.make_node(kind, [x, *others], [y], **attributes)

    nodes = [
        node("DequantizeLinear", "x", "x_r", "x_s", "x_z"),
        node("Transpose", "x_r", "x_c", perm=[0, 3, 1, 2]),
        node("DequantizeLinear", "v", "v_r", "w_s", "w_z"),
        node("Conv", "x_c", "a", "v_r", kernel_shape=[3, 3], pads=[1] * 4),
        node("QuantizeLinear", "a", "a_q", "t_s", "t_z"),
        node("DequantizeLinear", "a_q", "a_r", "t_s", "t_z"),
        node("MaxPool", "a_r", "m", kernel_shape=[2, 2], strides=[2, 2]),
        node("QuantizeLinear", "m", "m_q", "t_s", "t_z"),
        node("DequantizeLinear", "m_q", "m_r", "t_s", "t_z"),
        node("DequantizeLinear", "w", "w_r", "w_s", "w_z"),
        node("Conv", "m_r", "y", "w_r", kernel_shape=[3, 3]),
    ]
    return onnx_model(nodes, {"x": (onnx.TensorProto.INT8, [2, 12, 10, 3])}, {"y": [2, 4, 4, 3]}, constants)


def test_convolutions_of_signed_integers_with_a_zero_point(plugin: Any, tmp_path: Path):
    before, after = compiled(signed_convolutions(), tmp_path)
    feeds = {"x": np.random.default_rng(6).integers(-128, 128, (2, 12, 10, 3), np.int8)}
    (expected,) = oracle.run(os.fspath(before), feeds)

    assert plugin.counts(before)[0].floating > 0  # of integers that come in, in float
    assert plugin.counts(after)[0] == (2, 0)
    network = (
        importlib.import_module("openvino").Core().compile_model(os.fspath(after), "CPU")
    )  # in its own precision
    result = network(feeds)[network.outputs[0]]
    assert np.abs(result - expected).max() <= 0.02 * np.abs(expected).max()


def unsigned_weights() -> onnx.ModelProto:
    """Two convolutions with u8 weights, one element of each beyond i8; the second goes into a residual sum."""
    rng = np.random.default_rng(7)
    constants: dict[str, Any] = {
        "s": np.float32(0.05),
        "z": np.uint8(3),
        "w_s": np.float32(0.002),
        "w_z": np.uint8(131),
    }
    for name in ("v", "w"):
        constants[name] = rng.integers(20, 240, (16, 16, 3, 3), np.uint8)
        constants[name][2, 5, 1, 0] = 0
    nodes: list[onnx.NodeProto] = []

    def node(kind: str, y: str, *inputs: str, **attributes: Any) -> str:
        nodes.append(oh.make_node(kind, inputs, [y], **attributes))
        return y

    def paired(x: str) -> str:
        return node("DequantizeLinear", f"{x}_r", node("QuantizeLinear", f"{x}_q", x, "s", "z"), "s", "z")

    window = {"kernel_shape": [3, 3], "pads": [1] * 4}
    x = paired("x")
    v, w = (node("DequantizeLinear", f"{name}_r", name, "w_s", "w_z") for name in ("v", "w"))
    first = paired(node("Conv", "a", x, v, **window))
    second = paired(node("Conv", "b", first, w, **window))
    node("Identity", "y", paired(node("Add", "c", second, x)))
    shape = [1, 16, 9, 7]
    return onnx_model(
        nodes, {"x": (onnx.TensorProto.FLOAT, shape)}, {"y": (onnx.TensorProto.FLOAT, shape)}, constants
    )


def test_weights_beyond_i8(plugin: Any, tmp_path: Path):
    before, after = compiled(unsigned_weights(), tmp_path)
    feeds = {"x": np.random.default_rng(8).standard_normal((1, 16, 9, 7)).astype(np.float32)}
    (expected,) = oracle.run(os.fspath(before), feeds)

    assert plugin.counts(before)[0] == (0, 2)
    assert plugin.counts(after)[0] == (1, 1)  # what goes into the sum would lose its rounding
    network = plugin.network(after)
    result = network(feeds)[network.outputs[0]]
    assert np.abs(result - expected).max() <= 1.01 * 0.05


def test_same_numbers_and_as_many_int8_layers(plugin: Any, tmp_path: Path):
    module = qdialect.load(EXAMPLE)
    qdialect.compile(module, target="openvino")
    written = tmp_path / "openvino.onnx"
    qdialect.save(module, written)
    data = np.load(EXAMPLE.with_name("digits_test.npz"))
    feeds = {name: data[name][:32] for name in data.files}
    (expected,) = oracle.run(os.fspath(EXAMPLE), feeds)

    network = plugin.network(written)
    result = network(feeds)[network.outputs[0]]
    before, after = plugin.counts(EXAMPLE), plugin.counts(written)

    assert after[0].integer >= before[0].integer > 0
    assert after[0].floating <= before[0].floating
    assert after[1].floating <= before[1].floating
    assert np.array_equal(result.argmax(-1), expected.argmax(-1))
    # OpenVINO rounds halves away from zero: single steps of the activations, seen through the last layer.
    assert np.abs(result - expected).max() <= 0.05 * np.abs(expected).max()
