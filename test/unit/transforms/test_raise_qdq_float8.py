"""Models in 8-bit floats stay as they are, and the reason is said; what onnxruntime can quantize in advance is."""

from pathlib import Path

import numpy as np
import onnx
import onnx.helper as oh
import onnx.numpy_helper as onh
import pytest
from onnx import TensorProto
from onnx_models import onnx_model

import qdialect
from qdialect.evaluation.session import run

TYPES = ("FLOAT8E4M3FN", "FLOAT8E4M3FNUZ", "FLOAT8E5M2", "FLOAT8E5M2FNUZ")


@pytest.mark.parametrize("name", TYPES)
def test_weights_in_float8(name: str, tmp_path: Path):
    kind, rng = getattr(TensorProto, name), np.random.default_rng(3)
    nodes = [
        oh.make_node("QuantizeLinear", ["x", "s", "z"], ["q"]),
        oh.make_node("DequantizeLinear", ["q", "s", "z"], ["d"]),
        oh.make_node("QuantizeLinear", ["w", "t", "z"], ["p"]),
        oh.make_node("DequantizeLinear", ["p", "t", "z"], ["e"]),
        oh.make_node("MatMul", ["d", "e"], ["y"], "product"),
    ]
    constants = [
        onh.from_array(rng.normal(0, 1, (5, 7)).astype(np.float32), "w"),
        onh.from_array(np.array(0.02, np.float32), "s"),
        onh.from_array(np.array(0.03, np.float32), "t"),
        oh.make_tensor("z", kind, [], [0.0]),
    ]
    ends = [oh.make_tensor_value_info(n, TensorProto.FLOAT, [3, k]) for n, k in (("x", 5), ("y", 7))]
    model = onnx_model(nodes, ends[:1], ends[1:], constants, opset=19)
    module = qdialect.load(model)
    report = qdialect.compile(module)
    qdialect.save(module, tmp_path / "after.onnx")
    after = onnx.load(tmp_path / "after.onnx")
    assert [(one.node, one.blocked.id) for one in report.floats] == [("product", "storage-type")]
    stored = {one.data_type for one in after.graph.initializer if list(one.dims) == [5, 7]}
    assert stored == {
        kind if kind == TensorProto.FLOAT8E4M3FN else TensorProto.FLOAT
    }  # what onnxruntime returns
    feed = {"x": rng.normal(0, 1, (3, 5)).astype(np.float32)}
    want, got = run(model.SerializeToString(), feed)[0], run(after.SerializeToString(), feed)[0]
    np.testing.assert_array_equal(got, want)
