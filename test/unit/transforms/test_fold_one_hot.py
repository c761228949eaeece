"""Rows that are taken are bit for bit those that a product with one-hot vectors makes, beyond the depth too."""

from pathlib import Path
from typing import Any

import numpy as np
import onnx
import pytest
from onnx import TensorProto, helper
from onnx_models import onnx_model

import qdialect
from qdialect.evaluation.session import session

NUMBERS = np.array([[0, 6, -7, 3, -1], [7, 100, -8, 2, 5]])
"""Within the depth of 7, from the end, and beyond on both sides."""


def model(dynamic: bool, dtype: Any) -> onnx.ModelProto:
    rng = np.random.default_rng(4)
    constants: dict[str, Any] = {
        "d": np.array([7], dtype),
        "v": np.array([0, 1], np.float32),
        "to": np.array([-1, 7], np.int64),
        "w": rng.integers(0, 256, (7, 4)).astype(np.uint8)
        if dynamic
        else rng.normal(size=(7, 4)).astype("f4"),
        "z": np.array(117, np.uint8),
        "s": np.array(0.013, np.float32),
    }
    node = helper.make_node
    nodes = [node("OneHot", ["i", "d", "v"], ["o"], "o"), node("Reshape", ["o", "to"], ["r"], "r")]
    if dynamic:
        nodes += [
            node("DynamicQuantizeLinear", ["r"], ["q", "qs", "qz"], "q"),
            node("Mul", ["qs", "s"], ["f"], "f"),
            node("MatMulInteger", ["q", "w", "qz", "z"], ["m"], "m"),
            node("Cast", ["m"], ["c"], "c", to=TensorProto.FLOAT),
            node("Mul", ["c", "f"], ["y"], "y"),
        ]
    else:
        nodes += [node("MatMul", ["r", "w"], ["y"], "y")]
    return onnx_model(
        nodes, {"i": (helper.np_dtype_to_tensor_dtype(np.dtype(dtype)), ["N", 5])}, {"y": ["M", 4]}, constants
    )


@pytest.mark.parametrize("dynamic", [False, True])
@pytest.mark.parametrize("dtype", [np.int32, np.int64])
@pytest.mark.parametrize("rows", [slice(None), slice(1, 2)])
def test_rows_are_the_same(dynamic: bool, dtype: Any, rows: slice, tmp_path: Path):
    original, path = model(dynamic, dtype), tmp_path / "model.onnx"
    onnx.save(original, path)
    module = qdialect.load(path)
    qdialect.compile(module)
    done = qdialect.to_model(module)
    ops = [node.op_type for node in done.graph.node]
    assert "Gather" in ops
    assert not {"OneHot", "MatMul", "MatMulInteger", "DynamicQuantizeLinear"} & set(ops)
    feed = {"i": NUMBERS[rows].astype(dtype)}
    before, after = (
        np.asarray(session(each.SerializeToString()).run(None, feed)[0]) for each in (original, done)
    )
    assert np.unique(before).size > 4
    np.testing.assert_array_equal(after, before)


def test_numbers_beyond_the_depth_alone(tmp_path: Path):
    original, path = model(True, np.int64), tmp_path / "model.onnx"
    onnx.save(original, path)
    module = qdialect.load(path)
    qdialect.compile(module)
    done, feed = qdialect.to_model(module), {"i": np.full((1, 5), 70)}
    before, after = (session(each.SerializeToString()).run(None, feed)[0] for each in (original, done))
    np.testing.assert_array_equal(after, before)
