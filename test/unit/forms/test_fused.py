"""Nodes that a session of onnxruntime makes of several, as ONNX's own ops: the same numbers, and known to passes."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from pathlib import Path
from typing import Any

import numpy as np
import onnx
import onnx.parser
import onnxruntime as ort
import pytest
from built_ops import names
from guard_cases import last_op
from onnx import TensorProto, helper, numpy_helper
from xdsl.context import Context

import qdialect
from qdialect.dialects.onnx_base import OnnxOp
from qdialect.dialects.snapshot import MICROSOFT
from qdialect.evaluation.session import session
from qdialect.forms.fused import FUSED
from qdialect.ir.interface import main_of
from qdialect.ops.generated import op_named
from qdialect.transforms.infer_shapes import InferShapesPass

DRAW = np.random.default_rng(5)
X = DRAW.normal(size=(2, 4, 6, 8)).astype(np.float32)
FEEDS: dict[str, Any] = {
    "x": X,
    "z": DRAW.normal(size=(2, 4, 6, 8)).astype(np.float32),
    "q": DRAW.integers(0, 256, (3, 8)).astype(np.uint8),
    "qs": np.array(0.02, np.float32),
    "qz": np.array(120, np.uint8),
    "h": DRAW.normal(size=(3, 8)).astype(np.float32),
    "g2": DRAW.normal(size=(3, 8)).astype(np.float32),
}
CONSTANTS: dict[str, Any] = {
    "k": DRAW.normal(size=(4, 4, 3, 3)).astype(np.float32),
    "b": DRAW.normal(size=4).astype(np.float32),
    "m": DRAW.normal(size=(8, 5)).astype(np.float32),
    "n": DRAW.normal(size=(5,)).astype(np.float32),
    "w": DRAW.integers(-128, 128, (8, 5)).astype(np.int8),
    "ws": np.float32(0.01),
    "wss": DRAW.uniform(0.01, 0.02, 5).astype(np.float32),
    "wz": np.int8(3),
    "g": DRAW.normal(size=8).astype(np.float32),
}
PADS = {"pads": [1, 1, 1, 1]}
NODES: list[tuple[str, str, dict[str, Any]]] = [
    ("FusedConv", "x k b", {"activation": "Relu", **PADS}),
    ("FusedConv", "x k b z", {"activation": "Relu", **PADS}),
    ("FusedConv", "x k", {"activation": "LeakyRelu", "activation_params": [0.25], **PADS}),
    ("FusedConv", "x k", {"activation": "Clip", "activation_params": [-0.5, 1.5], "group": 1, **PADS}),
    ("FusedConv", "x k", {"activation": "HardSigmoid", "activation_params": [0.2, 0.4], **PADS}),
    ("FusedConv", "x k", {"activation": "Tanh", **PADS}),
    ("FusedGemm", "g2 m n", {"activation": "Relu", "alpha": 0.5}),
    ("FusedGemm", "g2 m n", {"activation": "LeakyRelu", "activation_alpha": 0.25}),
    ("QuickGelu", "x", {"alpha": 1.0}),
    ("QuickGelu", "x", {}),
    ("FusedMatMul", "x z", {"transB": 1, "alpha": 0.3}),
    ("FusedMatMul", "x z", {"transA": 1}),
    ("FusedMatMul", "x m", {}),
    ("FusedMatMul", "g2 m", {"alpha": 2.0}),
    ("MatMulIntegerToFloat", "q w qs ws qz wz n", {}),
    ("MatMulIntegerToFloat", "q w qs wss qz", {}),
    ("DynamicQuantizeMatMul", "x w ws wz n", {}),
    ("DynamicQuantizeMatMul", "x w wss", {}),
    ("BiasGelu", "x g", {}),
    ("SkipLayerNormalization", "g2 h g g g", {"epsilon": 1e-5}),
    ("SkipLayerNormalization", "g2 h g", {}),
]


def model(op: str, operands: str, attributes: Mapping[str, Any], opset: int = 17) -> onnx.ModelProto:
    node = helper.make_node(op, operands.split(), ["y"], domain="com.microsoft", **attributes)
    inputs = [
        helper.make_tensor_value_info(
            n, helper.np_dtype_to_tensor_dtype(np.asarray(FEEDS[n]).dtype), np.shape(FEEDS[n])
        )
        for n in dict.fromkeys(operands.split())
        if n in FEEDS
    ]
    tensors = [
        numpy_helper.from_array(np.asarray(v), n) for n, v in CONSTANTS.items() if n in operands.split()
    ]
    outputs = [helper.make_tensor_value_info("y", 1, None)]
    graph = helper.make_graph([node], "g", inputs, outputs, tensors)
    domains = [helper.make_opsetid("", opset), helper.make_opsetid("com.microsoft", 1)]
    return helper.make_model(graph, opset_imports=domains, ir_version=9)


def run(proto: onnx.ModelProto) -> np.ndarray[Any, Any]:
    feeds = {one.name: FEEDS[one.name] for one in proto.graph.input}
    [result] = session(proto.SerializeToString()).run(None, feeds)
    return np.asarray(result)


@pytest.mark.parametrize("opset", [12, 17, 20])
@pytest.mark.parametrize(("op", "operands", "attributes"), NODES)
def test_a_target_without_other_domains_reads_the_parts(
    op: str, operands: str, attributes: dict[str, Any], opset: int
):
    original = model(op, operands, attributes, opset)
    report = qdialect.compile(original, target="generic")
    result = qdialect.to_model(report.module)
    own = op == "SkipLayerNormalization" and opset < 17  # which has no LayerNormalization
    assert [n.op_type for n in result.graph.node if n.domain] == ([op] if own else [])
    expected = run(original)
    np.testing.assert_allclose(run(result), expected, rtol=0, atol=2e-6 * np.abs(expected).max())


def test_a_node_has_the_sizes_of_what_it_stands_for():
    """onnx's own inference knows nothing of other domains."""
    proto = model("FusedConv", "x k b", {"activation": "Relu", "strides": [2, 2], "group": 1})
    module = qdialect.load(proto)
    InferShapesPass().apply(Context(), module)
    end = main_of(module).body.block.last_op
    assert end is not None
    value = end.operands[0]
    assert str(value.type) == "tensor<2x4x2x3xf32>"


def test_a_weight_of_unknown_rank_is_left():
    proto = model("QLinearConv", "q qs qz w ws wz qs qz", {"channels_last": 1})
    inputs = [helper.make_tensor_value_info(name, TensorProto.INT8, None) for name in "w"]
    proto.graph.input.extend(inputs)
    kept = [one for one in proto.graph.initializer if one.name != "w"]
    del proto.graph.initializer[:]
    proto.graph.initializer.extend(kept)
    proto.graph.output[0].type.tensor_type.elem_type = TensorProto.UINT8
    report = qdialect.compile(proto)
    assert "unknown-shape" in {remark.blocked.id for remark in report.remarks}


@pytest.mark.parametrize("target", ["onnxruntime", "generic", "tensorrt"])
@pytest.mark.parametrize("rank", [3, 4, 5])
def test_a_quantized_session_that_was_saved_is_compiled_like_its_model(
    tmp_path: Path, target: str, rank: int
):
    """Its convolutions have their channels last, and are of com.microsoft."""
    size = ",".join("8" * (rank - 2))
    text = f"""<ir_version: 9, opset_import: ["" : 17]> g (float[1,4,{size}] x) => (float[1,8,{size}] y)
    <float s = {{0.03}}, uint8 z = {{128}}, float ws = {{0.01}}, int8 wz = {{0}}>
    {{ a = QuantizeLinear(x, s, z) b = QLinearConv(a, s, z, u, ws, wz, s, z)
      c = QLinearConv(b, s, z, v, ws, wz, s, z) y = DequantizeLinear(c, s, z) }}"""
    proto = onnx.parser.parse_model(text)
    for name, inputs in (("u", 4), ("v", 8)):
        weight = DRAW.integers(-50, 50, (8, inputs, *[1] * (rank - 2))).astype(np.int8)
        proto.graph.initializer.append(numpy_helper.from_array(weight, name))
    options = ort.SessionOptions()
    options.optimized_model_filepath = str(tmp_path / "fused.onnx")
    ort.InferenceSession(proto.SerializeToString(), options, providers=["CPUExecutionProvider"])
    fused = onnx.load(tmp_path / "fused.onnx")
    feeds = {"x": DRAW.normal(size=(1, 4, *[8] * (rank - 2))).astype(np.float32)}
    expected = session(proto.SerializeToString()).run(None, feeds)[0]
    report = qdialect.compile(fused, target=target)
    result = qdialect.to_model(report.module)
    assert sum("Conv" in node.op_type for node in result.graph.node) == 2
    assert not [node for node in result.graph.node if node.domain and "Conv" in node.op_type]
    assert report.totals.integer == report.totals.macs > 0
    np.testing.assert_allclose(session(result.SerializeToString()).run(None, feeds)[0], expected, atol=0.031)


def test_a_session_that_was_saved_is_quantized_like_its_model(tmp_path: Path):
    text = """<ir_version: 9, opset_import: ["" : 17]> g (float[1,3,32,32] x) => (float[1,32,8,8] y)
    { a = Conv<pads = [1, 1, 1, 1], strides = [2, 2]>(x, u) b = Relu(a)
      c = Conv<pads = [1, 1, 1, 1], strides = [2, 2]>(b, v) y = Relu(c) }"""
    proto = onnx.parser.parse_model(text)
    for name, shape in (("u", (32, 3, 3, 3)), ("v", (32, 32, 3, 3))):
        weight = DRAW.normal(size=shape).astype(np.float32) / 8
        proto.graph.initializer.append(numpy_helper.from_array(weight, name))
    options = ort.SessionOptions()
    options.graph_optimization_level = ort.GraphOptimizationLevel.ORT_ENABLE_EXTENDED
    options.optimized_model_filepath = str(tmp_path / "fused.onnx")
    ort.InferenceSession(proto.SerializeToString(), options, providers=["CPUExecutionProvider"])
    fused = onnx.load(tmp_path / "fused.onnx")
    assert {node.op_type for node in fused.graph.node} == {"FusedConv"}
    data = [{"x": DRAW.normal(size=(1, 3, 32, 32)).astype(np.float32)} for _ in range(8)]
    one, other = (qdialect.quantize(each, data, form="qdq") for each in (proto, fused))
    assert (one.layers, one.integer) == (other.layers, other.integer) == (2, 2)
    assert other.ratio == pytest.approx(one.ratio, abs=0.5)


POOLS = """g (uint8[2,6,8,5] x) => (uint8[?,?,?,?] y, uint8[?,?,?,?] m)
<float s = {0.02}, uint8 z = {120}, float t = {0.01}, uint8 u = {7}> {
  m = com.microsoft.QLinearAveragePool<channels_last = 1, kernel_shape = [2, 2], strides = [2, 2]>(x, s, z, t, u)
  y = com.microsoft.QLinearGlobalAveragePool<channels_last = 1>(x, s, z, t, u)
}"""


@pytest.mark.parametrize("target", ["onnxruntime", "generic", "tensorrt"])
def test_pools_whose_channels_are_last(target: str):
    proto = onnx.parser.parse_model(f'<ir_version: 8, opset_import: ["": 17, "com.microsoft": 1]> {POOLS}')
    report = qdialect.compile(proto, target=target)
    written = qdialect.to_model(report.module)
    domains = {node.domain for node in written.graph.node}
    assert domains == ({"com.microsoft"} if target == "onnxruntime" else {""})
    sizes = [[d.dim_value for d in o.type.tensor_type.shape.dim] for o in written.graph.output]
    assert sizes == [[2, 1, 1, 5], [2, 3, 4, 5]]
    x = np.random.default_rng(4).integers(0, 256, (2, 6, 8, 5)).astype(np.uint8)
    before, after = (session(one.SerializeToString()).run(None, {"x": x}) for one in (proto, written))
    for old, new in zip(before, after, strict=True):
        # One step: the kernel sums integers.
        np.testing.assert_allclose(old.astype(np.int32), new.astype(np.int32), atol=1)


PRODUCT = """g (float[3,8] x, float[5,8] w) => (float[3,5] y)
<float s = {0.02}, uint8 z = {120}, float t = {0.05}> {
  xq = QuantizeLinear(x, s, z)
  xr = DequantizeLinear(xq, s, z)
  wq = QuantizeLinear(w, s, z)
  wr = DequantizeLinear(wq, s, z)
  p = com.microsoft.FusedMatMul<transB = 1>(xr, wr)
  q = QuantizeLinear(p, t, z)
  y = DequantizeLinear(q, t, z)
}"""


def test_a_fused_product_of_dequantized_operands_is_in_integers():
    proto = onnx.parser.parse_model(f'<ir_version: 8, opset_import: ["": 17, "com.microsoft": 1]> {PRODUCT}')
    report = qdialect.compile(proto)
    written = qdialect.to_model(report.module)
    assert "QLinearMatMul" in {node.op_type for node in written.graph.node}
    draw = np.random.default_rng(4)
    feeds = {
        "x": draw.normal(size=(3, 8)).astype(np.float32),
        "w": draw.normal(size=(5, 8)).astype(np.float32),
    }
    before, after = (session(one.SerializeToString()).run(None, feeds)[0] for one in (proto, written))
    np.testing.assert_allclose(before, after, atol=0.05 + 1e-6)  # one step of the result


@pytest.mark.parametrize(
    ("body", "perms"),
    [
        ("a: 5xf32\nb: 5x3xf32\ny = FusedMatMul(a, b) {transA = 1 : i64} : 3xf32", []),
        ("a: 5x2xf32\nb: 5x3xf32\ny = FusedMatMul(a, b) {transA = 1 : i64} : 2x3xf32", [(1, 0)]),
        ("a: 4x2x5xf32\nb: 4x3x5xf32\ny = FusedMatMul(a, b) {transB = 1 : i64} : 4x2x3xf32", [(0, 2, 1)]),
    ],
)
def test_a_vector_is_not_transposed(body: str, perms: list[tuple[int, ...]]):
    ops = FUSED[MICROSOFT, "FusedMatMul"].parts(last_op(body))
    assert names(ops) == ["Transpose"] * len(perms) + ["MatMul"]
    assert isinstance(ops, Sequence)
    assert [op.ints_attr("perm") for op in ops if isinstance(op, OnnxOp)][:-1] == perms


def test_a_convolution_of_integers_with_channels_first_is_onnxs_own():
    op = last_op("""
        x: 1x2x5x4xui8
        w: 3x2x1x1xui8
        s = [0.5] : f32
        z = [3] : ui8
        y = QLinearConv(x, s, z, w, s, z, s, z) {strides = array<i64: 1, 2>} : 1x3x5x2xui8""")
    own = op_named(MICROSOFT, "QLinearConv").build(op.inputs, op.result_types, op.onnx_attributes)
    parts = FUSED[MICROSOFT, "QLinearConv"].parts(own)
    assert names(parts) == ["QLinearConv"]
    assert isinstance(parts, Sequence)
    assert parts[-1].results[0].type == op.results[0].type
    assert list(parts[-1].operands) == list(op.operands)
    assert isinstance(parts[-1], OnnxOp)
    assert parts[-1].ints_attr("strides") == (1, 2)


@pytest.mark.parametrize(
    ("opset", "expected"), [(19, ["Add", "Div", "Erf", "Add", "Mul", "Mul"]), (20, ["Add", "Gelu"])]
)
def test_a_gelu_is_one_op_from_opset_20_on(opset: int, expected: list[str]):
    op = last_op("x: 2x3xf32\nb: 3xf32\ny = Add(x, b) : 2x3xf32", opset)
    fused = op_named(MICROSOFT, "BiasGelu").build(op.inputs, op.result_types)
    body = op.parent
    assert body is not None
    body.insert_op_after(fused, op)
    assert names(FUSED[MICROSOFT, "BiasGelu"].parts(fused)) == expected
