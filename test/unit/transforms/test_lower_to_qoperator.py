"""What is lowered to integer kernels computes what onnxruntime, left as it is, makes of the model that was given."""

from __future__ import annotations

from pathlib import Path
from typing import Any

import numpy as np
import onnx
import onnx.helper as oh
import onnx.numpy_helper as onh
import onnxruntime as ort
import pytest
from graph_builder import Graph, compiled
from guard_cases import Case, last_op, parsed, text
from onnx import TensorProto, helper

import qdialect
from qdialect import numerics
from qdialect.api import compile
from qdialect.dialects.onnx_base import OnnxOp
from qdialect.dialects.onnx_types import uniform_of
from qdialect.ir.values import constant_array
from qdialect.onnx_io.importer import import_model
from qdialect.rewriting.remarks import remarks_of
from qdialect.targets import target
from qdialect.transforms import get_all_passes
from qdialect.transforms.lower_to_qoperator import sum_guard


@pytest.mark.parametrize("zeros", [[-128, -128, -128], [-128, 5, -100]])
def test_scales_of_channels_between_convolutions(zeros: list[int], tmp_path: Path):
    g = Graph()
    x = g.pair("x", 0.02, 120)
    g.add("Conv", "c", x, g.weight("w", (3, 2, 1, 1), 0), g.constant("b", [0.25, -0.5, 0.75]))
    g.add("Relu", "r", "c")
    q = g.pair("r", [0.03, 0.011, 0.02], zeros, np.int8, axis=1)
    g.add("Conv", "d", q, g.weight("v", (3, 1, 3, 3), 0), group=3, pads=[1, 1, 1, 1])
    scale = 0.05
    g.add("Identity", "y", g.pair("d", scale, 131))
    data = g.rng.normal(0, 1.2, (2, 2, 7, 5)).astype(np.float32)
    before, after, ops = compiled(g.model((2, 2, 7, 5), (2, 3, 7, 5)), tmp_path, data)
    assert ops.count("QLinearConv") == 2
    assert "Conv" not in ops
    assert np.unique(before).size > 50
    np.testing.assert_allclose(after, before, rtol=0, atol=scale * 1.001)
    assert (after != before).mean() < 0.01


@pytest.mark.parametrize("dtype", [np.int8, np.uint8])
@pytest.mark.parametrize(("inputs", "block"), [(40, 16), (256, 128), (96, 32)])
def test_weight_only_products_per_column(
    inputs: int, block: int, dtype: Any, tmp_path: Path, monkeypatch: pytest.MonkeyPatch
):
    rows = ["f32 i8 f32", "f32 u8 f32"]  # there is a kernel, though the target does not want it
    monkeypatch.setitem(target("onnxruntime").kernels, "MatMulNBits", rows)
    g = Graph()
    g.add("Gemm", "y", "x", g.weight("w", (7, inputs), 0, dtype), transB=1)
    data = g.rng.normal(0, 1, (3, inputs)).astype(np.float32)
    before, after, ops = compiled(g.model((3, inputs), (3, 7)), tmp_path, data)
    assert ops == ["MatMulNBits"]
    node = onnx.load(tmp_path / "after.onnx").graph.node[0]
    assert {a.name: a.i for a in node.attribute}["block_size"] == block
    np.testing.assert_allclose(after, before, rtol=0, atol=1e-5 * np.abs(before).max())


@pytest.mark.parametrize("signed", [True, False])
@pytest.mark.parametrize(
    ("form", "outputs"), [("MatMul", 5), ("MatMul", 341), ("MatMul", 342), ("Gemm", 5), ("Gemm", 1400)]
)
def test_weight_only_products_in_blocks_of_four_bits(signed: bool, form: str, outputs: int, tmp_path: Path):
    g = Graph()
    stored = g.rng.integers(0, 16, (outputs, 48)) - 8 * signed
    scales = g.rng.uniform(0.01, 0.1, (outputs, 3))  # 1400 * 3 are more than a type carries
    zeros = g.rng.integers(0, 16, (outputs, 3)) - 8 * signed
    kind, transposed = TensorProto.INT4 if signed else TensorProto.UINT4, form == "Gemm"
    parameters = [a if transposed else a.T for a in (stored, scales, zeros)]
    g.constant("s", parameters[1])
    g.add("DequantizeLinear", "r", "w", "s", "z", axis=int(transposed), block_size=16)
    if transposed:
        g.add("Gemm", "y", "x", "r", g.constant("b", g.rng.normal(0, 1, outputs)), transB=1)
    else:
        g.add("MatMul", "p", "x", "r")
        g.add("Add", "y", g.constant("b", g.rng.normal(0, 1, (1, outputs))), "p")  # the kernel adds it too
    data = g.rng.normal(0, 1, (3, 48)).astype(np.float32)
    model = g.model((3, 48), (3, outputs), opset=21)
    for name, a in (("w", parameters[0]), ("z", parameters[2])):
        model.graph.initializer.append(helper.make_tensor(name, kind, a.shape, a.flatten().tolist()))
    before, after, ops = compiled(model, tmp_path, data)
    # Of more than 16384 weights in this layout a session makes MatMulNBits itself, a faster one.
    left = (form, outputs) == ("MatMul", 342)
    assert ops == (["DequantizeLinear", "MatMul", "Add"] if left else ["MatMulNBits"])
    module = qdialect.load(tmp_path / "before.onnx")
    assert any(r.blocked.id == "made-by-session" for r in qdialect.compile(module).remarks) == left
    np.testing.assert_allclose(after, before, rtol=0, atol=1e-5 * np.abs(before).max())


@pytest.mark.parametrize(
    ("kernel", "shape", "outputs"),
    [
        ("Conv", (2, 1, 7, 5), 2),
        ("ConvInteger", (1, 8, 60, 50), 1),
        ("MatMulIntegerToFloat", (2, 32, 9, 8), 33),
    ],
)
@pytest.mark.parametrize("dtype", [np.int8, np.uint8])
def test_convolutions_with_a_float_result(
    kernel: str, shape: tuple[int, ...], outputs: int, dtype: Any, tmp_path: Path
):
    g = Graph()
    size = 3 if kernel == "Conv" else 1
    w = g.weight("w", (outputs, shape[1], size, size), 0, dtype)
    g.add("Conv", "c", g.pair("x", 0.02, 120), w, g.constant("b", g.rng.normal(0, 1, outputs)))
    g.add("Tanh", "t", "c")
    g.add("Neg", "y", "t")
    data = g.rng.normal(0, 1.2, shape).astype(np.float32)
    smaller = (shape[0], outputs, *(n - size + 1 for n in shape[2:]))
    before, after, ops = compiled(g.model(shape, smaller), tmp_path, data)
    assert kernel in ops
    assert {"Conv", "ConvInteger", "MatMulIntegerToFloat"} & set(ops) == {kernel}
    np.testing.assert_allclose(after, before, rtol=0, atol=1e-5)


@pytest.mark.parametrize("dtype", [np.int8, np.uint8])
def test_max_pool_of_images_with_borders_and_a_ragged_end(dtype: Any, tmp_path: Path):
    g = Graph()
    zero = 3 if dtype is np.int8 else 131
    attributes: dict[str, Any] = {
        "kernel_shape": [3, 2],
        "pads": [1, 0, 1, 1],
        "strides": [2, 2],
        "ceil_mode": 1,
    }
    g.add("MaxPool", "m", g.pair("x", 0.02, zero, dtype), **attributes, dilations=[1, 2])
    g.add("Identity", "y", g.pair("m", 0.02, zero, dtype))
    data = g.rng.normal(-2, 0.4, (2, 3, 8, 6)).astype(np.float32)  # below zero: a border of zeros would show
    before, after, ops = compiled(g.model((2, 3, 8, 6), (2, 3, 5, 3)), tmp_path, data)
    assert "NhwcMaxPool" in ops
    np.testing.assert_array_equal(after, before)


@pytest.mark.parametrize("op", ["Add", "Mul"])
@pytest.mark.parametrize(
    ("shape", "row", "repeated"),
    [
        ((3, 8, 32), (32,), [3, 8, 32]),
        ((90, 40, 7), (1, 1, 7), [40, 7]),
        ((3, 9, 500), (1, 500), [1, 500]),
    ],
)
def test_a_repeated_row_gives_the_same_integers(
    op: str,
    shape: tuple[int, ...],
    row: tuple[int, ...],
    repeated: list[int],
    tmp_path: Path,
    monkeypatch: pytest.MonkeyPatch,
):
    """With all 256 values of the other operand."""
    g = Graph()
    g.constant("r", g.rng.integers(0, 256, row), np.uint8)
    r = g.add("DequantizeLinear", "s", "r", g.constant("rs", 0.013), g.constant("rz", 77, np.uint8))
    g.add(op, "t", r, g.pair("x", 0.02, 120))
    g.add("Identity", "y", g.pair("t", 0.03, 131))
    data = (np.resize(np.arange(256), shape).astype(np.float32) - 120) * np.float32(0.02)
    before, after, ops = compiled(g.model(shape, shape), tmp_path, data)
    assert f"QLinear{op}" in ops
    assert np.abs(after - before).max() <= 0.03 * 1.001
    given = onnx.load(tmp_path / "after.onnx").graph.initializer
    assert repeated in [list(t.dims) for t in given if t.data_type == TensorProto.UINT8]
    monkeypatch.setattr("qdialect.patterns.concat_scales.MAX_REPEATED_ELEMENTS", 0)
    np.testing.assert_array_equal(compiled(g.model(shape, shape), tmp_path, data)[1], after)


@pytest.mark.parametrize("group", [1, 4])
def test_weights_of_unsigned_bytes(group: int, tmp_path: Path):
    g = Graph()
    w = g.weight("w", (4, 4 // group, 3, 3), 0, np.uint8)
    g.add("Conv", "c", g.pair("x", 0.02, 120), w, group=group)
    scale = 0.4
    g.add("Identity", "y", g.pair("c", scale, 131))
    data = g.rng.normal(0, 1.2, (2, 4, 7, 5)).astype(np.float32)
    before, after, ops = compiled(g.model((2, 4, 7, 5), (2, 4, 5, 3)), tmp_path, data)
    assert "QLinearConv" in ops
    stored = {t.data_type for t in onnx.load(tmp_path / "after.onnx").graph.initializer if len(t.dims) == 4}
    assert stored == {TensorProto.UINT8 if group == 4 else TensorProto.INT8}
    assert np.unique(before).size > 20
    np.testing.assert_allclose(after, before, rtol=0, atol=scale * 1.001)
    assert (after != before).mean() < 0.01


@pytest.mark.parametrize(("size", "kernel"), [((8, 6), "ReduceMax"), ((48, 36), "NhwcMaxPool")])
@pytest.mark.parametrize("opset", [17, 18])
@pytest.mark.parametrize("dtype", [np.int8, np.uint8])
def test_the_greatest_of_all_pixels_in_integers(
    dtype: Any, opset: int, size: tuple[int, int], kernel: str, tmp_path: Path
):
    g = Graph()
    zero = 3 if dtype is np.int8 else 131
    g.add("GlobalMaxPool", "m", g.pair("x", 0.02, zero, dtype))
    g.add("Identity", "y", g.pair("m", 0.02, zero, dtype))
    data = g.rng.normal(-2, 0.4, (2, 3, *size)).astype(np.float32)  # below zero: a maximum with 0 would show
    before, after, ops = compiled(g.model((2, 3, *size), (2, 3, 1, 1), opset), tmp_path, data)
    assert kernel in ops
    assert "GlobalMaxPool" not in ops
    np.testing.assert_array_equal(after, before)


@pytest.mark.parametrize("dtype", [np.uint8, np.int8])
@pytest.mark.parametrize("quantized", [False, True])
def test_a_product_of_an_activation_of_several_scales_runs(tmp_path: Path, dtype: Any, quantized: bool):
    """A session with optimization makes an integer product of two dequantizes, and that refuses to run."""
    g = Graph()
    scales, zeros = g.rng.uniform(0.01, 0.03, 6), np.full(6, 130 if dtype == np.uint8 else 2)
    x = g.pair("x", scales, zeros, dtype, axis=2)
    y = g.add("MatMul", "p", x, g.weight("w", (6, 4), 1))
    y = g.pair(y, 0.07, 119) if quantized else y
    g.add("Identity", "y", y)
    model = g.model((2, 5, 6), (2, 5, 4), 17)
    feed = g.rng.normal(size=(2, 5, 6)).astype(np.float32)
    before, after, _ = compiled(model, tmp_path, feed)
    session = ort.InferenceSession(tmp_path / "after.onnx", providers=["CPUExecutionProvider"])
    np.testing.assert_array_equal(after, before)
    # The session's float product sums in another order, a step of 0.07 where that is quantized.
    got = np.asarray(session.run(None, {"x": feed})[0])
    np.testing.assert_allclose(got, before, atol=0.071 if quantized else 1e-4)


@pytest.mark.parametrize("quantized", [True, False])
def test_computed_operands_of_products_are_signed(quantized: bool, tmp_path: Path):
    g = Graph()
    a = g.pair("x", 0.02, 120)
    k = g.pair(g.add("Add", "k", a, g.constant("b", g.rng.normal(size=32))), 0.03, 131)
    t = g.add("Transpose", "t", k, perm=[0, 1, 3, 2])
    g.add("MatMul", "s", a, t)
    g.add("Identity", "y", g.pair("s", 0.2, 100) if quantized else "s")
    data = g.rng.normal(0, 1.2, (2, 3, 48, 32)).astype(np.float32)
    before, after, ops = compiled(g.model((2, 3, 48, 32), (2, 3, 48, 48)), tmp_path, data)
    assert {"QLinearMatMul", "MatMulIntegerToFloat"} & set(ops)
    nodes = onnx.load(tmp_path / "after.onnx").graph
    signed = {t.name for t in nodes.initializer if t.data_type == TensorProto.INT8}
    assert any(n.op_type == "QuantizeLinear" and n.input[2] in signed for n in nodes.node)
    np.testing.assert_allclose(
        after, before, rtol=0, atol=0.2 * 1.001 if quantized else 1e-4 * np.abs(before).max()
    )


@pytest.mark.parametrize(("most", "blocked"), [(726, False), (725, True)])
def test_a_product_sums_up_to_the_greatest_integer(most: int, blocked: bool, monkeypatch: pytest.MonkeyPatch):
    """3 times 242 steps above the zero point."""
    op = last_op("x: 2x1x!u\nw = [3] : 1x1xi8 as 1x1x!t\ny = MatMul(x, w) : 2x1xf32")
    types = [uniform_of(value.type) for value in op.operands]
    monkeypatch.setattr(numerics, "INT32_MAX", most)
    reason = sum_guard(op, types)
    assert (reason is not None) is blocked
    if reason is not None:
        assert "726" in reason.message


def test_a_dequantized_bias_is_added_as_a_constant():
    """Behind a kernel with a float result; each run would dequantize it again."""
    context, module = parsed(text(Case("", "", """
        x: 2x3x!u
        w = [1, 2, 3, 4, 5, 6] : 3x2xi8 as 3x2x!t
        b = [4, -8] : 2xi8 as 2x!t
        d = dcast b : 2xf32
        y = Gemm(x, w, d) : 2x2xf32""")))  # fmt: skip
    get_all_passes()["lower-to-qoperator"]()().apply(context, module)
    add = [op for op in module.walk() if isinstance(op, OnnxOp)][-1]
    assert add.op_type == "Add"
    assert isinstance(add.operands[0].owner, OnnxOp)
    assert add.operands[0].owner.op_type == "QGemm"
    assert np.asarray(constant_array(add.operands[1])).tolist() == [1.0, -2.0]


@pytest.mark.parametrize(("inputs", "is_blocked"), [(65_000, False), (70_000, True)])
def test_sums_beyond_int32_stay_in_float(inputs: int, is_blocked: bool):
    """255 * 127 * 66,312 is the first product beyond; no bias is there for rescale-bias to look at."""
    constants = {
        "s": np.float32(0.02), "z": np.uint8(0), "t": np.float32(0.03),
        "w": np.full((inputs, 1), 127, np.int8), "u": np.float32(900), "v": np.uint8(7),
    }  # fmt: skip
    nodes = [
        oh.make_node("QuantizeLinear", ["x", "s", "z"], ["xq"]),
        oh.make_node("DequantizeLinear", ["xq", "s", "z"], ["xd"]),
        oh.make_node("DequantizeLinear", ["w", "t"], ["wd"]),
        oh.make_node("MatMul", ["xd", "wd"], ["m"], "product"),
        oh.make_node("QuantizeLinear", ["m", "u", "v"], ["y"]),
    ]
    tensors = [onh.from_array(np.asarray(v), k) for k, v in constants.items()]
    x = oh.make_tensor_value_info("x", onnx.TensorProto.FLOAT, [2, inputs])
    y = oh.make_tensor_value_info("y", onnx.TensorProto.UINT8, [2, 1])
    model = oh.make_model(oh.make_graph(nodes, "g", [x], [y], tensors), ir_version=8)
    model.opset_import[0].version = 17
    module = import_model(model)
    compile(module)
    kernels = [op.name for op in module.walk() if op.name == "onnx.QLinearMatMul"]
    ids = {remark.blocked.id for remark in remarks_of(module)}
    assert (not kernels, "accumulator-overflow" in ids) == (is_blocked, is_blocked)
