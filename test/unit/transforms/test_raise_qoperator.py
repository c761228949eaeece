"""`raise-qoperator` on numbers: each node against the QDQ form that it is read as."""

from __future__ import annotations

from typing import Any

import numpy as np
import onnx
import onnx.helper as oh
import onnx.numpy_helper as onh
import pytest
from xdsl.dialects.builtin import ModuleOp

from qdialect.api import compile
from qdialect.evaluation.session import run
from qdialect.onnx_io.exporter import export_model
from qdialect.onnx_io.importer import import_model
from qdialect.rewriting.manager import run_passes
from qdialect.rewriting.remarks import remarks_of
from qdialect.transforms import get_all_passes

MS = "com.microsoft"
RNG = np.random.default_rng(11)
Values = dict[str, np.ndarray]


def model(
    nodes: list[onnx.NodeProto], feeds: Values, constants: Values, output: int, opset: int = 17
) -> onnx.ModelProto:
    """A graph of `nodes` whose result `y` has element type `output`; its shape is left open."""
    inputs = [
        oh.make_tensor_value_info(k, oh.np_dtype_to_tensor_dtype(v.dtype), v.shape) for k, v in feeds.items()
    ]
    output_info = oh.make_tensor_value_info("y", output, None)
    graph = oh.make_graph(
        nodes, "g", inputs, [output_info], [onh.from_array(v, k) for k, v in constants.items()]
    )
    return oh.make_model(
        graph, opset_imports=[oh.make_opsetid("", opset), oh.make_opsetid(MS, 1)], ir_version=8
    )


def raised(original: onnx.ModelProto) -> ModuleOp:
    """The module after raising, which must have left no node of the QOperator family."""
    module = import_model(original)
    passes = get_all_passes()
    names = ("infer-shapes", "raise-qoperator", "raise-qdq", "sink-dequantize", "fold-casts")
    run_passes(module, [passes[name]()() for name in names])
    module.verify()
    return module


def as_qdq(original: onnx.ModelProto) -> onnx.ModelProto:
    """The model in QDQ form."""
    module = raised(original)
    run_passes(module, [get_all_passes()["lower-to-qdq"]()()])
    return export_model(module)


def operators(m: onnx.ModelProto) -> set[str]:
    """The op types of a graph."""
    return {n.op_type for n in m.graph.node}


def agree(original: onnx.ModelProto, other: onnx.ModelProto, feeds: Values) -> int:
    """Demand class `close`, and return how many results differ at all."""
    a, b = run(original, feeds)[0], run(other, feeds)[0]
    assert a.shape == b.shape
    assert a.dtype == b.dtype
    if a.dtype.kind == "f":
        assert np.abs(a - b).max() <= 1e-4 * np.abs(a).max()
        return 0
    assert len(np.unique(a)) > 3, "the result says nothing"
    assert np.abs(a.astype(int) - b.astype(int)).max() <= 1
    return int((a != b).sum())


def integers(dtype: str, *shape: int) -> np.ndarray:
    info = np.iinfo(dtype)
    return RNG.integers(info.min, info.max + 1, shape).astype(dtype)


def parameters(prefix: str, scale: float, zero_point: int, dtype: str) -> Values:
    return {f"{prefix}s": np.float32(scale), f"{prefix}z": np.array(zero_point, dtype)}  # pyright: ignore


def set_constant(m: onnx.ModelProto, name: str, value: np.ndarray) -> None:
    """Let an initializer hold another value."""
    tensor = next(t for t in m.graph.initializer if t.name == name)
    tensor.CopyFrom(onh.from_array(value, name))


def zero(dtype: str, k: int) -> int:
    """A zero point inside either signedness, never 0."""
    return k if dtype == "uint8" else k - 128


LINEAR_INPUTS = ["x", "xs", "xz", "w", "ws", "wz", "ys", "yz"]


def conv(dtype: str, weight: str, per_channel: bool, bias: bool) -> tuple[onnx.ModelProto, Values]:
    feeds = {"x": integers(dtype, 2, 6, 9, 7)}
    ws = RNG.uniform(0.001, 0.01, 4).astype(np.float32)
    constants: Values = {
        **parameters("x", 0.03, zero(dtype, 117), dtype),
        "w": integers(weight, 4, 3, 3, 2),
        "ws": ws if per_channel else ws[:1].reshape(()),
        "wz": (np.zeros(4, weight) if per_channel else np.array(zero(weight, 131), weight)),
        **parameters("y", 0.3, zero(dtype, 99), dtype),
        "b": RNG.integers(-9000, 9000, 4).astype(np.int32),
    }
    if not bias:
        constants.pop("b")
    inputs = [*LINEAR_INPUTS, "b"] if bias else LINEAR_INPUTS
    node = oh.make_node("QLinearConv", inputs, ["y"], pads=[1, 0, 2, 1], strides=[2, 1], group=2)
    return model([node], feeds, constants, oh.np_dtype_to_tensor_dtype(np.dtype(dtype))), feeds


@pytest.mark.parametrize(
    ("dtype", "weight", "per_channel", "bias"),
    [("uint8", "int8", True, True), ("uint8", "uint8", False, True), ("int8", "int8", True, False)],
)
def test_a_qlinear_conv_is_a_conv_between_casts(dtype: str, weight: str, per_channel: bool, bias: bool):
    original, feeds = conv(dtype, weight, per_channel, bias)
    qdq = as_qdq(original)
    assert operators(qdq) == {"QuantizeLinear", "DequantizeLinear", "Conv"}
    agree(original, qdq, feeds)


def matmul(op_type: str, per_column: bool) -> tuple[onnx.ModelProto, Values]:
    feeds = {"x": integers("uint8", 3, 5, 40)}
    ws = RNG.uniform(0.001, 0.01, 7).astype(np.float32)
    constants: Values = {
        **parameters("x", 0.03, 117, "uint8"),
        "w": integers("int8", 40, 7),
        "ws": ws if per_column else ws[0].reshape(()),
        "wz": np.zeros(7, np.int8) if per_column else np.array(-3, np.int8),
        **parameters("y", 0.05, 99, "uint8"),
    }
    if op_type == "QLinearMatMul":
        return model([oh.make_node(op_type, LINEAR_INPUTS, ["y"])], feeds, constants, 2), feeds
    node = oh.make_node(op_type, ["x", "w", "xs", "ws", "xz", "wz"], ["y"], domain=MS)
    return model([node], feeds, {k: v for k, v in constants.items() if k[0] != "y"}, 1), feeds


@pytest.mark.parametrize("op_type", ["QLinearMatMul", "MatMulIntegerToFloat"])
@pytest.mark.parametrize("per_column", [True, False])
def test_a_quantized_matmul_is_a_matmul_between_casts(op_type: str, per_column: bool):
    original, feeds = matmul(op_type, per_column)
    qdq = as_qdq(original)
    assert "MatMul" in operators(qdq)
    assert op_type not in operators(qdq)
    agree(original, qdq, feeds)


def gemm(float_result: bool, alpha: float = 1.0) -> tuple[onnx.ModelProto, Values]:
    feeds = {"x": integers("uint8", 5, 24)}
    constants: Values = {
        **parameters("x", 0.03, 117, "uint8"),
        "w": integers("int8", 7, 24),
        "ws": RNG.uniform(0.001, 0.01, 7).astype(np.float32),
        "wz": np.zeros(7, np.int8),
        "b": RNG.integers(-9000, 9000, 7).astype(np.int32),
        **parameters("y", 0.05, 99, "uint8"),
    }
    inputs = ["x", "xs", "xz", "w", "ws", "wz", "b"]
    if float_result:
        constants = {k: v for k, v in constants.items() if k[0] != "y"}
    else:
        inputs += ["ys", "yz"]
    node = oh.make_node("QGemm", inputs, ["y"], domain=MS, transB=1, alpha=alpha)
    return model([node], feeds, constants, 1 if float_result else 2), feeds


@pytest.mark.parametrize("float_result", [True, False])
def test_a_qgemm_is_a_gemm_between_casts(float_result: bool):
    original, feeds = gemm(float_result)
    qdq = as_qdq(original)
    assert operators(qdq) - {"QuantizeLinear"} == {"DequantizeLinear", "Gemm"}
    agree(original, qdq, feeds)


def test_gemm_that_scales_its_bias_stays():
    original, _ = gemm(False, alpha=0.5)
    module = raised(original)
    assert [r.blocked.id for r in remarks_of(module)] == ["product-form"]


UNARY = {
    "QLinearSigmoid": {},
    "QLinearLeakyRelu": {"alpha": 0.2},
    "QLinearSoftmax": {"axis": 1, "opset": 17},
    "QLinearAveragePool": {
        "kernel_shape": [3, 2],
        "pads": [1, 0, 1, 1],
        "strides": [2, 1],
        "count_include_pad": 1,
    },
    "QLinearGlobalAveragePool": {"channels_last": 0},
}


def unary(op_type: str, attributes: dict[str, Any], dtype: str = "uint8") -> tuple[onnx.ModelProto, Values]:
    feeds = {"x": integers(dtype, 2, 5, 8, 6)}
    out = 1 / 256 if op_type in ("QLinearSigmoid", "QLinearSoftmax") else 0.02
    z = zero(dtype, 0) if out < 0.01 else zero(dtype, 140)
    constants = {**parameters("x", 0.03, zero(dtype, 117), dtype), **parameters("y", out, z, dtype)}
    node = oh.make_node(op_type, ["x", "xs", "xz", "ys", "yz"], ["y"], domain=MS, **attributes)
    return model([node], feeds, constants, oh.np_dtype_to_tensor_dtype(np.dtype(dtype))), feeds


@pytest.mark.parametrize("op_type", UNARY)
@pytest.mark.parametrize("dtype", ["uint8", "int8"])
def test_a_unary_qlinear_op_is_the_op_between_casts(op_type: str, dtype: str):
    original, feeds = unary(op_type, UNARY[op_type], dtype)
    qdq = as_qdq(original)
    assert operators(qdq) == {"QuantizeLinear", "DequantizeLinear", op_type.removeprefix("QLinear")}
    agree(original, qdq, feeds)


def test_zero_points_left_out_are_zero():
    # onnxruntime aborts on the node without zero points, so the reference spells them.
    spelled, feeds = unary("QLinearLeakyRelu", {"alpha": 0.2})
    for name in ("xz", "yz"):
        set_constant(spelled, name, np.array(0, np.uint8))
    omitted = onnx.ModelProto.FromString(spelled.SerializeToString())
    omitted.graph.node[0].ClearField("input")
    omitted.graph.node[0].input.extend(["x", "xs", "", "ys"])
    agree(spelled, as_qdq(omitted), feeds)


def test_node_that_means_something_else_stays():
    original, _ = unary("QLinearSoftmax", {"axis": 1, "opset": 11})
    module = raised(original)
    assert [r.blocked.id for r in remarks_of(module)] == ["opset"]


@pytest.mark.parametrize("op_type", ["QLinearAdd", "QLinearMul"])
def test_a_binary_qlinear_op_broadcasts_between_casts(op_type: str):
    feeds = {"a": integers("uint8", 2, 5, 3), "b": integers("uint8", 5, 1)}
    constants = {
        **parameters("a", 0.03, 117, "uint8"),
        **parameters("b", 0.05, 90, "uint8"),
        **parameters("y", 0.06, 130, "uint8"),
    }
    node = oh.make_node(op_type, ["a", "as", "az", "b", "bs", "bz", "ys", "yz"], ["y"], domain=MS)
    original = model([node], feeds, constants, 2)
    agree(original, as_qdq(original), feeds)


def test_concat_and_where():
    feeds = {
        "a": integers("uint8", 2, 5),
        "b": integers("uint8", 2, 3),
        "c": RNG.integers(0, 2, (2, 8)).astype(bool),
    }
    constants = {
        **parameters("a", 0.03, 117, "uint8"),
        **parameters("b", 0.05, 90, "uint8"),
        **parameters("t", 0.06, 130, "uint8"),
        **parameters("y", 0.07, 125, "uint8"),
        "k": integers("uint8", 1, 8),
    }
    nodes = [
        oh.make_node(
            "QLinearConcat", ["ts", "tz", "a", "as", "az", "b", "bs", "bz"], ["t"], domain=MS, axis=1
        ),
        oh.make_node("QLinearWhere", ["c", "t", "ts", "tz", "k", "bs", "bz", "ys", "yz"], ["y"], domain=MS),
    ]
    original = model(nodes, feeds, constants, 2)
    qdq = as_qdq(original)
    assert operators(qdq) == {"QuantizeLinear", "DequantizeLinear", "Concat", "Where"}
    agree(original, qdq, feeds)


CLAMPS = {
    "Max": (["q", "relu"], {"relu": np.array(117, np.uint8)}, "Relu"),
    "Min": (["q", "k"], {"k": np.array(200, np.uint8)}, "Clip"),
    "Clip": (["q", "lo", "hi"], {"lo": np.array(117, np.uint8), "hi": np.array(201, np.uint8)}, "Clip"),
    "Pad": (
        ["q", "pads", "v"],
        {"pads": np.array([0, 0, 1, 2, 0, 0, 0, 1]), "v": np.array(119, np.uint8)},
        "Pad",
    ),
}


@pytest.mark.parametrize("op_type", CLAMPS)
def test_integers_between_nodes_are_read_as_numbers(op_type: str):
    inputs, extra, name = CLAMPS[op_type]
    original, feeds = unary("QLinearLeakyRelu", {"alpha": 0.2})
    graph = original.graph
    first, last = (
        graph.node[0],
        oh.make_node("QLinearLeakyRelu", ["p", "ys", "yz", "ys", "yz"], ["y"], domain=MS),
    )
    first.output[0] = "q"
    graph.node.append(oh.make_node(op_type, inputs, ["c"]))
    graph.node.append(oh.make_node("MaxPool", ["c"], ["p"], kernel_shape=[2, 1]))
    graph.node.append(last)
    graph.initializer.extend(onh.from_array(v, k) for k, v in extra.items())
    set_constant(original, "yz", np.array(117, np.uint8))
    qdq = as_qdq(original)
    assert operators(qdq) == {"QuantizeLinear", "DequantizeLinear", "LeakyRelu", "MaxPool", name}
    agree(original, qdq, feeds)


def text(m: onnx.ModelProto) -> list[tuple[Any, ...]]:
    """What a graph computes, without its names: nodes by their sources, constants by their bytes."""
    known: dict[str, Any] = {i.name: i.name for i in m.graph.input}
    known |= {t.name: (t.data_type, tuple(t.dims), onh.to_array(t).tobytes()) for t in m.graph.initializer}
    structure: list[tuple[Any, ...]] = []
    for k, node in enumerate(m.graph.node):
        attributes = sorted((a.name, str(oh.get_attribute_value(a))) for a in node.attribute)
        structure.append(
            (node.domain, node.op_type, tuple(known.get(i, i) for i in node.input), tuple(attributes))
        )
        known |= {o: (k, j) for j, o in enumerate(node.output)}
    return structure


MODELS = {
    "conv": lambda: conv("uint8", "int8", True, True)[0],
    "conv-signed": lambda: conv("int8", "int8", True, True)[0],
    "matmul": lambda: matmul("QLinearMatMul", False)[0],
    "matmul-float": lambda: matmul("MatMulIntegerToFloat", False)[0],
    "gemm": lambda: gemm(False)[0],
    "gemm-float": lambda: gemm(True)[0],
    **{name: lambda name=name: unary(name, UNARY[name])[0] for name in UNARY},
}


@pytest.mark.parametrize("name", MODELS)
@pytest.mark.parametrize(("target", "form"), [("onnxruntime", "qoperator"), ("generic", "qdq")])
def test_compiling_what_is_compiled_changes_nothing(name: str, target: str, form: str):
    once = import_model(MODELS[name]())
    compile(once, target, form)
    first = export_model(once)
    twice = import_model(first)
    compile(twice, target, form)
    assert text(export_model(twice)) == text(first)


def test_signed_activations_become_unsigned():
    original, feeds = conv("int8", "int8", True, True)
    module = import_model(original)
    compile(module, "onnxruntime")
    lowered = export_model(module)
    node = next(n for n in lowered.graph.node if n.op_type == "QLinearConv")
    zero_point = next(t for t in lowered.graph.initializer if t.name == node.input[2])
    assert onh.to_array(zero_point) == 117
    assert zero_point.data_type == onnx.TensorProto.UINT8
    agree(original, lowered, feeds)
