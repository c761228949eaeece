"""A float weight between casts, which a default session of onnxruntime quantizes by one scale for all channels."""

from typing import Any

import numpy as np
import onnx
import pytest
from default_session import LEVELS, run
from onnx import helper, numpy_helper, parser

import qdialect
from qdialect.onnx_io.exporter import export_model
from qdialect.onnx_io.importer import import_model

FORMS = [{"form": "qoperator"}, {"form": "qdq"}, {"form": "integer"}]


def check(model: onnx.ModelProto, options: dict[str, Any], step: float) -> None:
    """In a default session, no more elements differ, by no more than a step, than the compiled model has itself."""
    shape = [d.dim_value for d in model.graph.input[0].type.tensor_type.shape.dim]
    feeds = {"x": np.random.default_rng(3).normal(0, 1.5, shape).astype(np.float32)}
    wanted = run(model, feeds, LEVELS[0])
    module = import_model(onnx.ModelProto.FromString(model.SerializeToString()))
    qdialect.compile(module, **options)
    result = export_model(module)
    alone, now = (run(result, feeds, level) for level in LEVELS)
    np.testing.assert_allclose(now, wanted, atol=step)
    assert np.mean(now != wanted) <= np.mean(alone != wanted) + 0.01


WEIGHT = "{0.37, -0.0127, 0.72, -0.0115, -0.86, 0.0127, 0.068, 1.27, 0.0044, 0.45, -0.077, -0.0128}"
FLOAT = """g (float[X] x) => (float[N] y)
<float s = {0.02}, KIND z = {3}, float[SIZES] w = WEIGHT, float t = {0.004}, KIND u = {RESULT},
 float[4] b = {0.5, -0.25, 1, 0.75}, int64[2] n = {2, -1}> {
  q = QuantizeLinear(x, s, z)
  d = DequantizeLinear(q, s, z)
  CALL
  p = QuantizeLinear(c, t, u)
  y = DequantizeLinear(p, t, u)
}""".replace("WEIGHT", WEIGHT)
ROWS, IMAGE, ROWS_OF, FILTER, SPREAD = "5,3", "2,3,5", "3,4", "4,3,1", "3,4,1"
CALLS = {
    "Gemm": ("c = Gemm(d, w)", ROWS, ROWS_OF),
    "Gemm with a bias": ("c = Gemm(d, w, b)", ROWS, ROWS_OF),
    "Gemm of rows": ("c = Gemm<transB = 1>(d, w)", ROWS, "4,3"),
    "Conv": ("c = Conv(d, w)", IMAGE, FILTER),
    "Conv with a bias": ("c = Conv(d, w, b)", IMAGE, FILTER),
    "ConvTranspose": ("c = ConvTranspose(d, w)", IMAGE, SPREAD),
    "MatMul and Add": ("m = MatMul(d, w)\n c = Add(m, b)", ROWS, ROWS_OF),
    "MatMul": ("c = MatMul(d, w)", ROWS, ROWS_OF),
    "Conv and Relu": ("m = Conv(d, w)\n c = Relu(m)", IMAGE, FILTER),
    "Conv and Transpose": ("m = Conv(d, w)\n c = Transpose<perm = [0, 2, 1]>(m)", IMAGE, FILTER),
    "Conv and Flatten": ("m = Conv(d, w)\n c = Flatten(m)", IMAGE, FILTER),
    "Conv and Reshape": ("m = Conv(d, w)\n c = Reshape(m, n)", IMAGE, FILTER),
    "Conv and MaxPool": ("m = Conv(d, w)\n c = MaxPool<kernel_shape = [2]>(m)", IMAGE, FILTER),
    "moved and Conv": ("m = Transpose<perm = [0, 1, 2]>(d)\n c = Conv(m, w)", IMAGE, FILTER),
}


@pytest.mark.parametrize("options", FORMS, ids=str)
@pytest.mark.parametrize(("kind", "result"), [("uint8", 128), ("int8", 3), ("int16", 3)])
@pytest.mark.parametrize("call", CALLS)
def test_a_float_weight_stays_float(call: str, kind: str, result: int, options: dict[str, Any]):
    body, of_x, of_w = CALLS[call]
    text = FLOAT.replace("CALL", body).replace("X]", f"{of_x}]").replace("SIZES", of_w)
    text = text.replace("KIND", kind).replace("RESULT", str(result))
    model = parser.parse_model(f'<ir_version: 10, opset_import: ["" : 21]> {text}')
    model.graph.output[0].type.tensor_type.ClearField("shape")
    check(model, options, 1e-6)


SHAPES = {
    "Conv": ([6, 4, 3, 3], [1, 4, 8, 8], 1),
    "Conv in groups": ([6, 2, 3, 3], [1, 4, 8, 8], 2),
    "ConvTranspose": ([3, 2, 4, 4, 2], [1, 3, 8, 8, 5], 3),
    "Conv of volumes": ([6, 2, 3, 3, 2], [1, 6, 5, 6, 4], 3),
    "Conv of sequences": ([6, 4, 3], [1, 4, 16], 1),
}
"""Shapes of the weight and the activation, and groups."""


@pytest.mark.parametrize("options", FORMS, ids=str)
@pytest.mark.parametrize("normalized", [True, False], ids=["BatchNormalization", "plain"])
@pytest.mark.parametrize("several", [True, False], ids=["scales along the window", "one scale"])
@pytest.mark.parametrize("name", SHAPES)
def test_a_weight_that_becomes_float_stays_float(
    name: str, several: bool, normalized: bool, options: dict[str, Any]
):
    """A session leaves the model's own weight alone, as it has no kernel for its scales, or does not see the casts."""
    shape, of_x, groups = SHAPES[name]
    rng = np.random.default_rng(0)
    scales = rng.uniform(0.002, 0.02, shape[2]).astype(np.float32) if several else np.float32(0.004)
    arrays = {
        "xs": np.float32(0.03), "xz": np.int8(17), "w": rng.integers(-127, 128, shape).astype(np.int8),
        "ws": scales, "wz": np.zeros(np.shape(scales), np.int8), "ys": np.float32(2.3), "yz": np.int8(0),
        "g": rng.uniform(0.7, 1.3, 6).astype(np.float32), "b": rng.normal(0, 0.5, 6).astype(np.float32),
        "mu": rng.normal(0, 0.7, 6).astype(np.float32), "v": np.array([1e-8, 0.9, 0.5, 0.4, 0.7, 0.6], np.float32),
    }  # fmt: skip
    attributes: dict[str, Any] = {"auto_pad": "SAME_UPPER", "kernel_shape": shape[2:], "group": groups}
    nodes = [
        helper.make_node("QuantizeLinear", ["x", "xs", "xz"], ["q"]),
        helper.make_node("DequantizeLinear", ["q", "xs", "xz"], ["d"]),
        helper.make_node("DequantizeLinear", ["w", "ws", "wz"], ["wf"], axis=2),
        helper.make_node(name.split()[0], ["d", "wf"], ["c"], **attributes),
        helper.make_node("BatchNormalization", ["c", "g", "b", "mu", "v"], ["n"]),
        helper.make_node("QuantizeLinear", ["n" if normalized else "c", "ys", "yz"], ["p"]),
        helper.make_node("DequantizeLinear", ["p", "ys", "yz"], ["y"]),
    ]
    nodes = nodes if normalized else [node for node in nodes if node.op_type != "BatchNormalization"]
    used = {value for node in nodes for value in node.input}
    graph = helper.make_graph(
        nodes,
        "g",
        [helper.make_tensor_value_info("x", onnx.TensorProto.FLOAT, of_x)],
        [helper.make_tensor_value_info("y", onnx.TensorProto.FLOAT, None)],
        [numpy_helper.from_array(np.asarray(array), key) for key, array in arrays.items() if key in used],
    )
    model = helper.make_model(graph, opset_imports=[helper.make_opsetid("", 18)], ir_version=8)
    check(model, options, 2.31)
