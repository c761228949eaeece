"""What the target cannot read is named first, counts as float, and is refused with `--strict`."""

import json
from pathlib import Path
from typing import Any

import numpy as np
import numpy.typing as npt
import onnx
import onnx.helper as oh
import pytest
from onnx import TensorProto
from onnx.numpy_helper import from_array

import qdialect
from qdialect.cli import main
from qdialect.report.report import Report

RANDOM = np.random.default_rng(3)
FLOAT = TensorProto.FLOAT
MICROSOFT = "com.microsoft"
Tensors = dict[str, Any]


def model(
    nodes: list[onnx.NodeProto],
    tensors: Tensors,
    shape: tuple[int | str, ...],
    *,
    opset: int = 21,
    element: int = FLOAT,
    result: int = FLOAT,
) -> onnx.ModelProto:
    """A model of x -> y; a tensor is an array or a message."""
    held = [t if isinstance(t, TensorProto) else from_array(t, name) for name, t in tensors.items()]
    graph = oh.make_graph(
        nodes,
        "g",
        [oh.make_tensor_value_info("x", element, shape)],
        [oh.make_tensor_value_info("y", result, None)],
        held,
    )
    imports = [oh.make_opsetid("", opset), oh.make_opsetid(MICROSOFT, 1)]
    return oh.make_model(graph, opset_imports=imports, ir_version=10)


def compiled(proto: onnx.ModelProto, target: str, **options: Any) -> tuple[Report, onnx.ModelProto]:
    module = qdialect.load(proto.SerializeToString())
    report = qdialect.compile(module, target=target, **options)
    from qdialect.onnx_io.exporter import export_model

    return report, export_model(module)


def explained(proto: onnx.ModelProto, target: str, path: Path, capsys: Any) -> list[str]:
    onnx.save(proto, path / "in.onnx")
    assert main(["explain", str(path / "in.onnx"), "--target", target, "--all"]) == 0
    return capsys.readouterr().out.splitlines()


def f32(*values: float) -> npt.NDArray[np.float32]:
    return np.array(values if len(values) > 1 else sum(values), np.float32)


def weights(*shape: int) -> npt.NDArray[np.int8]:
    return RANDOM.integers(-100, 100, shape).astype(np.int8)


PRODUCTS: dict[str, tuple[list[onnx.NodeProto], Tensors, tuple[int, ...]]] = {
    "Conv": (
        [oh.make_node("DequantizeLinear", ["w", "ws"], ["wd"]), oh.make_node("Conv", ["d", "wd"], ["y"])],
        {"w": weights(5, 4, 3, 3), "ws": f32(0.01)},
        (1, 4, 6, 6),
    ),
    "MatMul": (
        [oh.make_node("DequantizeLinear", ["w", "ws"], ["wd"]), oh.make_node("MatMul", ["d", "wd"], ["y"])],
        {"w": weights(4, 5), "ws": f32(0.01)},
        (3, 4),
    ),
}


def quantized(product: str, scale: Any, zero: Any, axis: int = 1) -> onnx.ModelProto:
    """A product between casts, its activation of this scale and zero point."""
    nodes, tensors, shape = PRODUCTS[product]
    casts = [
        oh.make_node("QuantizeLinear", ["x", "s", "z"], ["q"], axis=axis),
        oh.make_node("DequantizeLinear", ["q", "s", "z"], ["d"], axis=axis),
    ]
    return model([*casts, *nodes], {"s": scale, "z": zero, **tensors}, shape)


I8 = np.int8(0)
ODD: dict[str, tuple[Any, Any, str]] = {
    "negative": (f32(-0.05), I8, "zero-point"),  # written as the positive scale of the mirrored integers
    "infinite": (f32(np.inf), I8, "scale-value"),
    "not a number": (f32(np.nan), I8, "scale-value"),
    "zero point": (f32(0.05), np.int8(3), "zero-point"),
    "zero point of u8": (f32(0.05), np.uint8(3), "zero-point"),
    "16 bits": (f32(5e-4), np.int16(0), "storage-type"),
    "16 bits, unsigned": (f32(5e-4), np.uint16(40000), "zero-point"),
    "channels": (f32(0.01, 0.02, 0.03, 0.04), np.zeros(4, np.int8), "activation-per-axis"),
    "channels, one negative": (f32(0.01, -0.02, 0.03, 0.04), np.zeros(4, np.int8), "zero-point"),
    "channels, one zero": (f32(0.01, 0, 0.03, 0.04), np.zeros(4, np.int8), "scale-value"),
}


@pytest.mark.parametrize("product", PRODUCTS)
@pytest.mark.parametrize("name", ODD)
def test_what_tensorrt_refuses_counts_as_float(name: str, product: str, tmp_path: Path, capsys: Any):
    """Before: 100 % in integers, in pairs."""
    scale, zero, rule = ODD[name]
    report, _ = compiled(quantized(product, scale, zero), "tensorrt")
    lines = str(report).splitlines()
    assert lines[0].startswith("not read by tensorrt: 1 QuantizeLinear: ")
    assert f"[{rule}]" in lines[0]
    assert report.totals.integer == 0
    assert not any(line.startswith("in pairs") for line in lines)
    assert report.layers[-1].reasons[0].blocked.id in (rule, "scale-value")
    said = explained(quantized(product, scale, zero), "tensorrt", tmp_path, capsys)
    assert said[0] == lines[0]
    assert not any(line.startswith("every node") for line in said)


@pytest.mark.parametrize("product", PRODUCTS)
@pytest.mark.parametrize("zero", [np.int8(0), np.uint8(128)])
def test_what_tensorrt_reads_is_in_pairs(zero: Any, product: str):
    report, _ = compiled(quantized(product, f32(0.05), zero), "tensorrt")
    assert not report.unread
    assert f"in pairs: 1 {product}" in str(report)


@pytest.mark.parametrize("product", PRODUCTS)
@pytest.mark.parametrize("target", ["tensorrt", "openvino", "generic"])
def test_an_activation_of_scale_0_is_constant_and_read(target: str, product: str):
    report, written = compiled(quantized(product, f32(0), I8), target)
    assert not report.unread
    assert "QuantizeLinear" not in {node.op_type for node in written.graph.node}


@pytest.mark.parametrize("name", ["infinite", "not a number"])
@pytest.mark.parametrize("target", ["onnxruntime", "openvino", "tensorrt", "generic"])
@pytest.mark.parametrize(
    "node",
    [
        oh.make_node("MaxPool", ["d"], ["y"], kernel_shape=[2, 2]),
        oh.make_node("Transpose", ["d"], ["y"]),
        oh.make_node("Flatten", ["d"], ["y"]),
        oh.make_node("DepthToSpace", ["d"], ["y"], blocksize=2),
    ],
    ids=lambda node: node.op_type,
)
def test_a_move_behind_an_odd_scale_has_a_reason(
    node: onnx.NodeProto, target: str, name: str, tmp_path: Path, capsys: Any
):
    """Before: every node that has an integer form takes it."""
    casts = [
        oh.make_node("QuantizeLinear", ["x", "s", "z"], ["q"]),
        oh.make_node("DequantizeLinear", ["q", "s", "z"], ["d"]),
    ]
    proto = model([*casts, node], {"s": ODD[name][0], "z": I8}, (1, 4, 6, 6))
    said = explained(proto, target, tmp_path, capsys)
    assert [line for line in said if line.startswith(f"1 {node.op_type}: a scale is zero, negative")], said
    assert not any(line.startswith("every node") for line in said)


def four_bits(op: str, *shape: int) -> onnx.ModelProto:
    weight = oh.make_tensor("w", TensorProto.INT4, shape, RANDOM.integers(-7, 8, int(np.prod(shape))))
    nodes = [oh.make_node("DequantizeLinear", ["w", "ws"], ["wd"]), oh.make_node(op, ["x", "wd"], ["y"])]
    sizes = (1, shape[1], 6, 6) if len(shape) == 4 else (3, shape[0])
    return model(nodes, {"w": weight, "ws": f32(0.01)}, sizes)


@pytest.mark.parametrize(
    ("op", "shape", "stored"),
    [
        ("Conv", (6, 4, 3, 3), TensorProto.INT8),
        ("MatMul", (4, 6), TensorProto.INT4),
        ("Gemm", (4, 6), TensorProto.INT4),
    ],
)
def test_tensorrt_takes_weights_of_4_bits_in_products_of_matrices(
    op: str, shape: tuple[int, ...], stored: int
):
    """Elsewhere the same integers in i8."""
    report, proto = compiled(four_bits(op, *shape), "tensorrt")
    assert not report.unread
    assert stored in {
        tensor.data_type for tensor in proto.graph.initializer if list(tensor.dims) == list(shape)
    }


@pytest.mark.parametrize("name", ["Conv", "MatMul"])
def test_an_integer_product_for_tensorrt_has_weights_of_8_bits(name: str):
    """The same integers in i8."""
    nodes, tensors, shape = PRODUCTS[name]
    sizes = tensors["w"].shape
    few = oh.make_tensor("w", TensorProto.INT4, sizes, RANDOM.integers(-7, 8, int(np.prod(sizes))))
    casts = [
        oh.make_node("QuantizeLinear", ["x", "s", "z"], ["q"]),
        oh.make_node("DequantizeLinear", ["q", "s", "z"], ["d"]),
    ]
    proto = model([*casts, *nodes], {**tensors, "w": few, "s": f32(0.05), "z": I8}, shape)
    report, written = compiled(proto, "tensorrt")
    assert not report.unread
    assert report.totals.share == 1
    assert TensorProto.INT4 not in {one.data_type for one in written.graph.initializer}


UNREAD: dict[str, tuple[onnx.NodeProto, tuple[int, ...], str, str]] = {
    "operator": (oh.make_node("Det", ["x"], ["y"]), (3, 3), "tensorrt", "operator"),
    "operator, openvino": (oh.make_node("Det", ["x"], ["y"]), (3, 3), "openvino", "operator"),
    "domain": (
        oh.make_node("Inverse", ["x"], ["y"], domain=MICROSOFT), (3, 3), "tensorrt", "operator"
    ),
    "operator of the runtime's": (
        oh.make_node("Inverse", ["x"], ["y"], domain=MICROSOFT), (3, 3), "openvino", "operator"
    ),
    "indices": (
        oh.make_node("MaxPool", ["x"], ["y", "places"], kernel_shape=[2, 2]), (1, 1, 4, 4), "tensorrt", "attribute"
    ),
    "dilations": (
        oh.make_node("MaxPool", ["x"], ["y"], kernel_shape=[2, 2], dilations=[2, 2]), (1, 1, 6, 6), "tensorrt",
        "attribute",
    ),
    "rank": (
        oh.make_node("MaxPool", ["x"], ["y"], kernel_shape=[2, 2, 2, 2]), (1, 1, 4, 4, 4, 4), "tensorrt", "attribute"
    ),
    "mode": (
        oh.make_node("Resize", ["x", "", "k"], ["y"], mode="cubic"), (1, 1, 4, 4), "tensorrt", "attribute"
    ),
    "mode, openvino": (
        oh.make_node("Pad", ["x", "p"], ["y"], mode="wrap"), (4, 4), "openvino", "attribute"
    ),
    "type": (oh.make_node("Cast", ["x"], ["u"], to=TensorProto.UINT16), (3,), "tensorrt", "expressed-type"),
}  # fmt: skip


@pytest.mark.parametrize("name", UNREAD)
def test_a_node_that_is_not_read_is_named(name: str):
    node, shape, target, rule = UNREAD[name]
    nodes = [node]
    if name == "type":
        nodes.append(oh.make_node("Cast", ["u"], ["y"], to=FLOAT))
    if name == "indices":  # used, so that no pass drops them
        nodes = [oh.make_node("MaxPool", ["x"], ["m", "places"], kernel_shape=[2, 2])]
        nodes += [oh.make_node("Cast", ["places"], ["c"], to=FLOAT), oh.make_node("Add", ["m", "c"], ["y"])]
    tensors = {"k": f32(1, 1, 2, 2), "p": np.array([1, 1, 1, 1], np.int64)}
    report, _ = compiled(model(nodes, tensors, shape), target)
    assert [one.blocked.id for one in report.unread][:1] == [rule]
    assert str(report).startswith(f"not read by {target}: {2 if name == 'type' else 1} {node.op_type}: ")
    generic, _ = compiled(model(nodes, tensors, shape), "onnxruntime")
    assert not generic.unread


@pytest.mark.parametrize("target", ["tensorrt", "openvino", "generic"])
def test_an_unknown_domain_is_not_read(target: str):
    proto = model([oh.make_node("Quant", ["x"], ["y"], domain="own")], {}, (3,))
    proto.opset_import.append(oh.make_opsetid("own", 1))
    report, _ = compiled(proto, target)
    (line,) = [line for line in str(report).splitlines() if "Quant" in line]
    assert line.startswith(f"not read by {target}: 1 Quant: {target} reads no operators of own")


@pytest.mark.parametrize("command", ["compile", "quantize"])
def test_strict_writes_nothing(command: str, tmp_path: Path, capsys: Any):
    source, target = tmp_path / "in.onnx", tmp_path / "out.onnx"
    proto = quantized("Conv", f32(np.inf), I8)
    if command == "quantize":
        proto = model([oh.make_node("Det", ["x"], ["d"]), oh.make_node("Relu", ["d"], ["y"])], {}, (3, 3))
    onnx.save(proto, source)
    data = ["--random"] if command == "quantize" else []
    arguments = [command, str(source), "-o", str(target), "--target", "tensorrt", *data]
    assert main([*arguments, "--strict", "--report", str(tmp_path / "r.json")]) == 1
    said = capsys.readouterr().err.strip().splitlines()
    assert len(said) == 1
    assert "cannot be read" in said[0]
    assert not target.exists()
    assert not (tmp_path / "r.json").exists()
    assert main(arguments) == 0
    assert target.exists()


def test_strict_writes_what_is_read(tmp_path: Path):
    source, target = tmp_path / "in.onnx", tmp_path / "out.onnx"
    onnx.save(quantized("Conv", f32(0.05), I8), source)
    assert main(["compile", str(source), "-o", str(target), "--target", "tensorrt", "--strict"]) == 0
    assert target.exists()


def test_the_report_marks_what_is_not_read(tmp_path: Path):
    source, target, report = tmp_path / "in.onnx", tmp_path / "out.onnx", tmp_path / "r.json"
    onnx.save(quantized("Conv", f32(np.inf), I8), source)
    main(
        [
            "compile",
            str(source),
            "-o",
            str(target),
            "--target",
            "tensorrt",
            "--report",
            str(report),
            "--quiet",
        ]
    )
    rows = json.loads(report.read_text())["breaches"]
    assert [(row["op"], row["id"], row["read"]) for row in rows] == [("QuantizeLinear", "scale-value", False)]


@pytest.mark.parametrize("target", ["onnxruntime", "tensorrt", "openvino", "generic"])
def test_no_domain_is_imported_that_is_not_used(target: str):
    _, written = compiled(quantized("Conv", f32(0.05), I8), target)
    used = {node.domain for node in written.graph.node}
    assert {one.domain for one in written.opset_import} == {"", *used}


def test_layers_of_the_result_are_counted():
    """Before: in pairs: 1 QLinearConv, of a file with a Conv."""
    nodes = [
        oh.make_node("QuantizeLinear", ["x", "s", "z"], ["q"]),
        oh.make_node("QLinearConv", ["q", "s", "z", "w", "s", "z", "s", "z"], ["p"]),
        oh.make_node("DequantizeLinear", ["p", "s", "z"], ["y"]),
    ]
    proto = model(nodes, {"s": f32(0.05), "z": I8, "w": weights(5, 4, 3, 3)}, (1, 4, 6, 6))
    report, _ = compiled(proto, "tensorrt")
    assert "in pairs: 1 Conv" in str(report).splitlines()
