"""The QDQ form for OpenVINO runs in OpenVINO's CPU plugin: the same numbers, no fewer layers in int8."""

import importlib
import os
from pathlib import Path
from typing import Any

import numpy as np
import pytest

import qdialect
from qdialect.oracle import session as oracle

pytest.importorskip("openvino", reason="OpenVINO is not installed: pip install '.[openvino]'")

ROOT = Path(__file__).parents[2]
EXAMPLE = ROOT / "examples" / "digits_qdq.onnx"


@pytest.fixture(scope="module")
def plugin() -> Any:
    """`benchmarks/openvino_layers.py`."""
    return importlib.import_module("openvino_layers")


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
