"""`benchmarks/readers.py` reads files as runtimes do; what they refuse the verdict names."""

import importlib.util

import numpy as np
import onnx
import pytest
from onnx import helper
from onnx_models import onnx_model

import qdialect
import readers
from qdialect.onnx_io.exporter import export_model

PAIR = [
    helper.make_node("QuantizeLinear", ["x", "s", "z"], ["q"]),
    helper.make_node("DequantizeLinear", ["q", "s", "z"], ["d"]),
]
Nodes = list[onnx.NodeProto]


def file(nodes: Nodes, outputs: str = "y", **tensors: object) -> onnx.ModelProto:
    """A model of x (1, 1, 4, 4), of opset 19."""
    arrays = {"s": np.float32(0.1), "z": np.int8(0)} | tensors
    used = {name for node in nodes for name in node.input}
    held = {name: value for name, value in arrays.items() if name in used}
    ends = {name: None for name in outputs.split()}
    return onnx_model(nodes, {"x": [1, 1, 4, 4]}, ends, held, opset=19)


def pool(*outputs: str) -> onnx.NodeProto:
    return helper.make_node("MaxPool", ["d"], [*outputs], kernel_shape=[2, 2])


REFUSED: dict[str, onnx.ModelProto] = {
    "QuantizeLinear of UINT8": file([*PAIR, pool("y")], z=np.uint8(0)),
    "QuantizeLinear with a zero point": file([*PAIR, pool("y")], z=np.int8(3)),
    "QuantizeLinear with a scale that is not positive": file([*PAIR, pool("y")], s=np.float32(np.inf)),
    "MaxPool with more than one output": file([*PAIR, pool("y", "i")], "y i"),
    "operator DynamicQuantizeLinear": file(
        [helper.make_node("DynamicQuantizeLinear", ["x"], ["y", "t", "u"])], "y t u"
    ),
    "operator Det": file([*PAIR, helper.make_node("Det", ["d"], ["y"])]),
    "Cast on UINT16": file(
        [
            *PAIR,
            helper.make_node("Cast", ["d"], ["c"], to=onnx.TensorProto.UINT16),
            helper.make_node("Cast", ["c"], ["y"], to=onnx.TensorProto.FLOAT),
        ]
    ),
}


@pytest.mark.parametrize("what", REFUSED)
def test_a_file_is_refused_as_the_parser_of_tensorrt_does(what: str):
    inferred = onnx.shape_inference.infer_shapes(REFUSED[what])
    assert what in [*readers.tensorrt(inferred)]


@pytest.mark.parametrize("what", [*REFUSED][1:4])
def test_what_a_parser_refuses_of_a_result_the_verdict_names(what: str):
    found = readers.reading(REFUSED[what], "tensorrt")
    assert what in found.refused
    assert found.named


@pytest.mark.parametrize("target", [name for name in readers.READERS if name != "openvino"])
def test_a_file_that_is_read_has_nothing_named(target: str):
    assert readers.reading(file([*PAIR, pool("y")]), target) == ([], [])


@pytest.mark.skipif(importlib.util.find_spec("openvino") is None, reason="openvino is not installed")
def test_openvino_reads_a_file():
    assert readers.reading(file([*PAIR, pool("y")]), "openvino") == ([], [])


def stored(bits: str, product: str, zero: bool) -> onnx.ModelProto:
    """A product with a weight of few bits, in front of nothing."""
    kind = getattr(onnx.TensorProto, bits)
    shape = (3, 1, 1, 1) if product == "Conv" else (4, 3)
    size = int(np.prod(shape))
    held = [
        helper.make_tensor("w", kind, shape, [1, 0] * (size // 2) + [1] * (size % 2)),
        helper.make_tensor("s", onnx.TensorProto.FLOAT, (), [0.1]),
        helper.make_tensor("wz", kind, (), [1]),
    ]
    inputs = ["w", "s", "wz"] if zero else ["w", "s"]
    nodes = [
        helper.make_node("DequantizeLinear", inputs, ["d"]),
        helper.make_node(product, ["x", "d"], ["y"]),
    ]
    model = onnx_model(nodes, {"x": [1, 1, 4, 4]}, {"y": None}, held if zero else held[:2], opset=25)
    model.ir_version = 12
    return model


@pytest.mark.parametrize("zero", [False, True])
@pytest.mark.parametrize("product", ["Conv", "MatMul"])
@pytest.mark.parametrize("bits", ["INT2", "UINT2", "INT4", "UINT4"])
def test_two_bits_that_openvino_does_not_read_are_named(bits: str, product: str, zero: bool):
    """Where the zero point is not taken either, the storage is what the file is refused for."""
    module = qdialect.load(stored(bits, product, zero))
    report = qdialect.compile(module, target="openvino")
    written = {one.data_type for one in export_model(module).graph.initializer}
    two = {onnx.TensorProto.INT2, onnx.TensorProto.UINT2} & written
    assert [one.blocked.id for one in report.unread] == ["storage-type"] * bool(two)


@pytest.mark.parametrize("past", [False, True])
def test_an_attention_without_a_past_is_not_read_by_openvino(past: bool):
    values = ["k", "v"] if past else ["", ""]
    node = helper.make_node(
        "GroupQueryAttention", ["x", "x", "x", *values, "n", "t"], ["y", "pk", "pv"], "node",
        domain="com.microsoft", num_heads=1, kv_num_heads=1,
    )  # fmt: skip
    held = {"n": np.array([[1]], np.int32), "t": np.array(2, np.int32)}
    inputs = {"x": [1, 2, 8]} | ({"k": [1, 1, 0, 8], "v": [1, 1, 0, 8]} if past else {})
    model = onnx_model([node], inputs, {"y": None, "pk": None, "pv": None}, held, opset=21)
    model.opset_import.append(helper.make_opsetid("com.microsoft", 1))
    report = qdialect.compile(qdialect.load(model), target="openvino")
    assert [one.blocked.id for one in report.unread] == ([] if past else ["attribute"])
