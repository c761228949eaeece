"""Products of 8-bit activations and weights of 2 or 4 bits, which have no kernels in onnxruntime: i8 holds them."""

from typing import Any

import numpy as np
import pytest
from onnx import ModelProto, TensorProto, helper, numpy_helper

import qdialect
from qdialect.evaluation.session import run

STORAGE = {
    "i4": (TensorProto.INT4, -8, 7),
    "u4": (TensorProto.UINT4, 0, 15),
    "i2": (TensorProto.INT2, -2, 1),
    "u2": (TensorProto.UINT2, 0, 3),
}
PRODUCTS: dict[str, tuple[list[int], list[int], int, dict[str, Any]]] = {
    "Conv": ([1, 3, 8, 8], [6, 3, 3, 3], 0, {}),
    "ConvTranspose": ([1, 3, 5, 5], [3, 6, 3, 3], 1, {}),
    "MatMul": ([4, 16], [16, 6], 1, {}),
    "Gemm": ([4, 16], [6, 16], 0, {"transB": 1}),
}
STEP = 0.1
Names = list[str]


def _held(name: str, value: Any, dtype: Any = np.float32) -> TensorProto:
    return numpy_helper.from_array(np.asarray(value, dtype), name)


def _pair(value: str, name: str) -> list[Any]:
    """value -> name, by way of integers of the scale and zero point of `value`."""
    parameters = [f"{value}_scale", f"{value}_zero_point"]
    return [
        helper.make_node("QuantizeLinear", [value, *parameters], [f"{name}_q"]),
        helper.make_node("DequantizeLinear", [f"{name}_q", *parameters], [name]),
    ]


def _model(
    op: str, bits: str, activation: Any, *, columns: bool, ends: bool, floats: bool = False
) -> ModelProto:
    """
    columns: a scale and a zero point for each channel of the weight; ends: the result is quantized; floats: a product
    of floats has the same weight.
    """
    rng = np.random.default_rng(0)
    x, w, axis, attributes = PRODUCTS[op]
    kind, low, high = STORAGE[bits]
    count = w[axis]
    shape = (count,) if columns else ()
    zeros = rng.integers(low, high + 1, shape) if low == 0 else np.zeros(shape, int)
    middle = 0 if activation == np.int8 else 128
    tensors = [
        helper.make_tensor("w", kind, w, rng.integers(low, high + 1, w).ravel().tolist()),
        helper.make_tensor("w_zero_point", kind, shape, np.ravel(zeros).tolist()),
        _held("w_scale", rng.uniform(0.05, 0.15, shape)),
        _held("x_scale", 0.02),
        _held("x_zero_point", middle + 3, activation),
        _held("c_scale", STEP),
        _held("c_zero_point", middle - 8, activation),
    ]
    nodes = [
        *_pair("x", "a"),
        helper.make_node("DequantizeLinear", ["w", "w_scale", "w_zero_point"], ["d"], axis=axis),
        helper.make_node(op, ["a", "d"], ["c"], **attributes),
        *(_pair("c", "y") if ends else []),
        *([helper.make_node(op, ["f", "d"], ["g"], **attributes)] if floats else []),
    ]
    names = {"x": x, "f": x} if floats else {"x": x}
    inputs = [helper.make_tensor_value_info(name, TensorProto.FLOAT, sizes) for name, sizes in names.items()]
    results = ["y" if ends else "c", *(["g"] if floats else [])]
    outputs = [helper.make_tensor_value_info(name, TensorProto.FLOAT, None) for name in results]
    graph = helper.make_graph(nodes, "g", inputs, outputs, tensors)
    opset, version = (25, 12) if bits in ("i2", "u2") else (21, 10)
    return helper.make_model(graph, opset_imports=[helper.make_opsetid("", opset)], ir_version=version)


def _feeds(model: ModelProto) -> dict[str, np.ndarray]:
    rng = np.random.default_rng(1)
    shapes = {v.name: [d.dim_value for d in v.type.tensor_type.shape.dim] for v in model.graph.input}
    return {name: rng.normal(size=shape).astype(np.float32) for name, shape in shapes.items()}


def _compiled(model: ModelProto, **options: Any) -> ModelProto:
    module = qdialect.load(model.SerializeToString())
    qdialect.compile(module, **options)
    return qdialect.to_model(module)


def _nodes(model: ModelProto) -> Names:
    casts = ("QuantizeLinear", "DequantizeLinear")
    return [node.op_type for node in model.graph.node if node.op_type not in casts]


def _stored(model: ModelProto) -> set[int]:
    """The element types of tensors as large as a weight."""
    return {t.data_type for t in model.graph.initializer if np.prod(t.dims) > 16}


@pytest.mark.parametrize(
    ("op", "kernel"), [("Conv", "QLinearConv"), ("MatMul", "QLinearMatMul"), ("Gemm", "QGemm")]
)
@pytest.mark.parametrize("bits", STORAGE)
@pytest.mark.parametrize("columns", [False, True])
@pytest.mark.parametrize("activation", [np.uint8, np.int8])
def test_kernels_take_weights_of_few_bits(op: str, kernel: str, bits: str, columns: bool, activation: Any):
    """They stayed in float: `onnxruntime has no QLinearConv for u8, i4 -> u8`."""
    model = _model(op, bits, activation, columns=columns, ends=True)
    result = _compiled(model)
    assert _nodes(result) == [kernel]
    feeds = _feeds(model)
    before = run(model, feeds)[0]
    for optimize in (False, True):
        assert np.abs(run(result, feeds, optimize=optimize)[0] - before).max() <= 1.01 * STEP


@pytest.mark.parametrize("op", PRODUCTS)
@pytest.mark.parametrize("bits", ["i4", "u4"])
@pytest.mark.parametrize("columns", [False, True])
@pytest.mark.parametrize("ends", [False, True])
@pytest.mark.parametrize("form", ["exact", "qdq", "integer"])
def test_every_form_has_weights_of_8_bits(op: str, bits: str, columns: bool, ends: bool, form: str):
    """A session makes integer products only of 8-bit weights; i4 stayed in all forms."""
    model = _model(op, bits, np.uint8, columns=columns, ends=ends)
    options = {"exactness": "exact"} if form == "exact" else {"form": form}
    result = _compiled(model, **options)
    assert _stored(result) <= {TensorProto.INT8, TensorProto.UINT8}
    feeds = _feeds(model)
    before = run(model, feeds)[0]
    limit = 1.01 * STEP if ends else 1e-4 * np.abs(before).max()
    for optimize in (False, True):
        after = run(result, feeds, optimize=optimize)[0]
        assert np.abs(after - before).max() <= (0 if form == "exact" and not optimize else limit)


@pytest.mark.parametrize("bits", ["i4", "u4"])
@pytest.mark.parametrize("columns", [False, True])
def test_a_weight_that_floats_read_too(bits: str, columns: bool):
    """The product of integers took no kernel where a product of floats had the same weight, which keeps its 4 bits."""
    model = _model("MatMul", bits, np.uint8, columns=columns, ends=True, floats=True)
    result = _compiled(model)
    assert sorted(_nodes(result)) == ["MatMulNBits", "QLinearMatMul"]
    feeds = _feeds(model)
    for optimize in (False, True):
        pairs = zip(run(result, feeds, optimize=optimize), run(model, feeds), strict=True)
        for (after, before), limit in zip(pairs, (1.01 * STEP, 1e-4 * 10), strict=True):
            assert np.abs(after - before).max() <= limit


@pytest.mark.parametrize("op", ["MatMul", "Gemm", "Conv"])
@pytest.mark.parametrize(
    ("bits", "zero", "few"),
    [("u4", 8, True), ("u4", 3, False), ("i4", 0, True), ("i4", 2, False), ("u2", 2, True), ("i2", 0, True)],
)
def test_tensorrt_reads_weights_of_floats(op: str, bits: str, zero: int, few: bool):
    """TensorRT reads i4 of zero point 0, in matrix products, and i8; u4 of zero point 8 stayed as it was."""
    rng = np.random.default_rng(0)
    x, w, axis, attributes = PRODUCTS[op]
    kind, low, high = STORAGE[bits]
    count = w[axis]
    stored = rng.integers(low, high + 1, w)
    stored.flat[:2] = low, high
    tensors = [
        helper.make_tensor("w", kind, w, stored.ravel().tolist()),
        helper.make_tensor("z", kind, [count], [zero] * count),
        _held("s", rng.uniform(0.05, 0.15, count)),
    ]
    nodes = [
        helper.make_node("DequantizeLinear", ["w", "s", "z"], ["d"], axis=axis),
        helper.make_node(op, ["x", "d"], ["y"], **attributes),
    ]
    inputs = [helper.make_tensor_value_info("x", TensorProto.FLOAT, x)]
    outputs = [helper.make_tensor_value_info("y", TensorProto.FLOAT, None)]
    graph = helper.make_graph(nodes, "g", inputs, outputs, tensors)
    opset, version = (25, 12) if bits in ("i2", "u2") else (21, 10)
    model = helper.make_model(graph, opset_imports=[helper.make_opsetid("", opset)], ir_version=version)
    result = _compiled(model, target="tensorrt")
    assert _stored(result) == {TensorProto.INT4 if few and op != "Conv" else TensorProto.INT8}
    feeds = _feeds(model)
    assert np.array_equal(run(result, feeds)[0], run(model, feeds)[0])
