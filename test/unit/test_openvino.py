"""The QDQ form for OpenVINO runs in OpenVINO's CPU plugin: the same numbers, no fewer layers in int8."""

import os
from pathlib import Path
from typing import Any

import numpy as np
import pytest

import qdialect
from qdialect import oracle

openvino: Any = pytest.importorskip("openvino", reason="OpenVINO is not installed: pip install '.[openvino]'")

EXAMPLE = Path(__file__).parents[2] / "examples" / "digits_qdq.onnx"
HEAVY = ("Convolution", "FullyConnected", "MatMul")


def compiled(path: Path) -> Any:
    """A network for the CPU that computes floats as floats: OpenVINO would take bf16 where the CPU has it."""
    core = openvino.Core()
    return core.compile_model(core.read_model(os.fspath(path)), "CPU", {"INFERENCE_PRECISION_HINT": "f32"})


def heavy_int8(network: Any) -> int:
    """How many convolutions and products run on 8-bit integers."""
    infos = [op.get_rt_info() for op in network.get_runtime_model().get_ops()]
    return sum(
        info["layerType"].value in HEAVY and info["runtimePrecision"].value.lower() in ("i8", "u8")
        for info in infos
    )


def test_same_numbers_and_as_many_int8_layers(tmp_path: Path):
    module = qdialect.load(EXAMPLE)
    qdialect.compile(module, target="openvino")
    written = tmp_path / "openvino.onnx"
    qdialect.save(module, written)
    data = np.load(EXAMPLE.with_name("digits_test.npz"))
    feeds = {name: data[name][:32] for name in data.files}
    (expected,) = oracle.run(os.fspath(EXAMPLE), feeds)

    before, after = compiled(EXAMPLE), compiled(written)
    result = after(feeds)[after.outputs[0]]

    assert heavy_int8(after) >= heavy_int8(before) > 0
    assert np.array_equal(result.argmax(-1), expected.argmax(-1))
    # OpenVINO rounds halves away from zero: single steps of the activations, seen through the last layer.
    assert np.abs(result - expected).max() <= 0.05 * np.abs(expected).max()
