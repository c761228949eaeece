"""Integer products of a batch of weights, [D, K, N], with zero points of [D, 1, N], as onnxruntime's takes them."""

import numpy as np
import pytest
from onnx import ModelProto, TensorProto, helper, numpy_helper

import qdialect
from qdialect.evaluation.session import run

D, K, N = 3, 4, 5


def _model(zeros: np.ndarray, scales: np.ndarray, ends: tuple[str, ...], signed: bool) -> ModelProto:
    """MatMulInteger, Cast, Mul by x_scale * w_scale; `ends`: what follows."""
    rng = np.random.default_rng(3)
    storage = np.int8 if signed else np.uint8
    tensors = {
        "w": rng.integers(0, 100, (D, K, N)).astype(storage),
        "wz": zeros.astype(storage),
        "xs": np.float32(0.03),
        "xz": np.uint8(117),
        "f": (np.float32(0.03) * scales).astype(np.float32),
        "b": rng.normal(size=N).astype(np.float32),
        "ys": np.float32(0.2),
        "yz": np.uint8(120),
    }
    nodes = [
        helper.make_node("QuantizeLinear", ["x", "xs", "xz"], ["q"]),
        helper.make_node("MatMulInteger", ["q", "w", "xz", "wz"], ["i"]),
        helper.make_node("Cast", ["i"], ["c"], to=TensorProto.FLOAT),
        helper.make_node("Mul", ["c", "f"], ["m"]),
    ]
    at = "m"
    for end in ends:
        inputs = [at, "b"] if end == "Add" else [at, "ys", "yz"]
        nodes.append(helper.make_node(end, inputs, [f"after_{end}"]))
        at = f"after_{end}"
    x = helper.make_tensor_value_info("x", TensorProto.FLOAT, [D, 2, K])
    kind = TensorProto.UINT8 if "QuantizeLinear" in ends else TensorProto.FLOAT
    y = helper.make_tensor_value_info(at, kind, None)
    held = [numpy_helper.from_array(np.asarray(value), name) for name, value in tensors.items()]
    graph = helper.make_graph(nodes, "g", [x], [y], held)
    return helper.make_model(graph, opset_imports=[helper.make_opsetid("", 17)], ir_version=8)


ZEROS = {
    "none": np.zeros((D, 1, N)),
    "one": np.full((D, 1, N), 7),
    "columns": np.broadcast_to([1, 28, 31, 0, 5], (D, 1, N)),
    "matrices": np.broadcast_to(np.array([1, 20, 3]).reshape(D, 1, 1), (D, 1, N)),
    "both": np.arange(D * N).reshape(D, 1, N),
}


@pytest.mark.parametrize("zeros", ZEROS)
@pytest.mark.parametrize(
    "scales", [np.float32(0.006), np.linspace(0.002, 0.01, N, dtype=np.float32)], ids=["one", "columns"]
)
@pytest.mark.parametrize("ends", [(), ("Add",), ("QuantizeLinear",), ("Add", "QuantizeLinear")])
@pytest.mark.parametrize("signed", [False, True])
def test_zero_points_of_each_matrix(zeros: str, scales: np.ndarray, ends: tuple[str, ...], signed: bool):
    """They were read as those of 15 columns: a ValueError, of every target."""
    model = _model(ZEROS[zeros], scales, ends, signed)
    feeds = {"x": np.random.default_rng(1).normal(size=(D, 2, K)).astype(np.float32)}
    before = run(model, feeds)[0].astype(float)
    for target in ("onnxruntime", "openvino"):
        module = qdialect.load(model.SerializeToString())
        qdialect.compile(module, target=target)
        result = qdialect.to_model(module)
        for optimize in (False, True) if target == "onnxruntime" else (False,):
            after = run(result, feeds, optimize=optimize)[0].astype(float)
            allowed = 1 if "QuantizeLinear" in ends else 1e-4 * np.abs(before).max()
            assert np.abs(after - before).max() <= allowed, (target, optimize)
