"""Sums that are quantized at run time, for targets that have no such ops: products of floats with integer weights."""

from typing import Any

import numpy as np
import numpy.typing as npt
import onnx
import onnx.helper as oh
import pytest
from onnx import TensorProto
from onnx.numpy_helper import from_array

import qdialect
from qdialect.evaluation.session import run
from qdialect.onnx_io.exporter import export_model
from qdialect.report.report import Report

RANDOM = np.random.default_rng(9)
FLOAT = TensorProto.FLOAT
GONE = {"DynamicQuantizeLinear", "MatMulInteger", "ConvInteger", "MatMulIntegerToFloat"}
DYNAMIC = oh.make_node("DynamicQuantizeLinear", ["x"], ["q", "s", "z"])


def rescaled(sums: onnx.NodeProto) -> list[onnx.NodeProto]:
    return [
        DYNAMIC,
        sums,
        oh.make_node("Cast", ["i"], ["f"], to=FLOAT),
        oh.make_node("Mul", ["s", "ws"], ["t"]),
        oh.make_node("Mul", ["f", "t"], ["y"]),
    ]


def matmul(zero: bool) -> onnx.NodeProto:
    return oh.make_node("MatMulInteger", ["q", "w", "z", *(["wz"] if zero else [])], ["i"])


def convolution(zero: bool, **attributes: Any) -> onnx.NodeProto:
    return oh.make_node("ConvInteger", ["q", "w", "z", *(["wz"] if zero else [])], ["i"], **attributes)


def to_float(*inputs: str) -> list[onnx.NodeProto]:
    names = ["q", "w", "s", "ws", "z", *inputs]
    return [DYNAMIC, oh.make_node("MatMulIntegerToFloat", names, ["y"], domain="com.microsoft")]


I8, U8 = np.int8, np.uint8
Case = tuple[list[onnx.NodeProto], tuple[int, ...], tuple[int, ...], Any, Any]
CASES: dict[str, Case] = {
    "matrix": (rescaled(matmul(False)), (2, 32), (32, 8), I8, None),
    "zero point of 0": (rescaled(matmul(True)), (2, 32), (32, 8), I8, I8(0)),
    "zero point": (rescaled(matmul(True)), (2, 32), (32, 8), I8, I8(3)),
    "unsigned": (rescaled(matmul(True)), (2, 32), (32, 8), U8, U8(128)),
    "unsigned, beyond i8": (rescaled(matmul(True)), (2, 32), (32, 8), U8, U8(9)),
    "channels": (rescaled(matmul(True)), (2, 32), (32, 8), I8, np.arange(8, dtype=I8)),
    "batches": (rescaled(matmul(False)), (3, 2, 16), (3, 16, 4), I8, None),
    "batches, zero points": (rescaled(matmul(True)), (3, 2, 16), (3, 16, 4), I8, np.zeros((3, 1, 4), I8)),
    "rows of a stack": (rescaled(matmul(False)), (2, 3, 32), (32, 8), I8, None),
    "large": (rescaled(matmul(False)), (2, 1200), (1200, 1000), I8, None),
    "convolution": (rescaled(convolution(False)), (1, 4, 6, 6), (5, 4, 3, 3), I8, None),
    "padded": (rescaled(convolution(False, pads=[1, 1, 1, 1])), (1, 4, 6, 6), (5, 4, 3, 3), I8, None),
    "groups": (rescaled(convolution(False, group=2)), (1, 4, 6, 6), (6, 2, 3, 3), I8, None),
    "unsigned convolution": (rescaled(convolution(True)), (1, 4, 6, 6), (5, 4, 3, 3), U8, U8(128)),
    "rescaled by the kernel": (to_float(), (2, 32), (32, 8), I8, None),
    "rescaled by the kernel, zero point": (to_float("wz"), (2, 32), (32, 8), U8, U8(128)),
}


def model(case: Case) -> onnx.ModelProto:
    nodes, shape, weight, dtype, zero = case
    low, high = (-100, 100) if dtype is np.int8 else (28, 228)
    tensors: dict[str, npt.NDArray[Any]] = {
        "w": RANDOM.integers(low, high, weight).astype(dtype),
        "ws": np.array(0.01, np.float32),
    }
    if zero is not None:
        tensors["wz"] = np.asarray(zero)
    held = [from_array(tensor, name) for name, tensor in tensors.items()]
    x = oh.make_tensor_value_info("x", FLOAT, shape)
    graph = oh.make_graph(nodes, "g", [x], [oh.make_tensor_value_info("y", FLOAT, None)], held)
    imports = [oh.make_opsetid("", 17), oh.make_opsetid("com.microsoft", 1)]
    return oh.make_model(graph, opset_imports=imports, ir_version=9)


def nodes_of(graph: onnx.GraphProto) -> list[onnx.NodeProto]:
    found: list[onnx.NodeProto] = []
    for node in graph.node:
        found += [node, *(n for a in node.attribute if a.HasField("g") for n in nodes_of(a.g))]
    return found


def written(proto: onnx.ModelProto, target: str = "tensorrt") -> tuple[Report, onnx.ModelProto]:
    module = qdialect.load(proto.SerializeToString())
    report = qdialect.compile(module, target=target)
    return report, export_model(module)


@pytest.mark.parametrize("name", CASES)
def test_sums_become_products_of_floats(name: str):
    """Before: they stayed, and counted as 100 % in integers, in pairs."""
    proto = model(CASES[name])
    report, result = written(proto)
    assert not GONE & {node.op_type for node in result.graph.node}
    assert [one.domain for one in result.opset_import] == [""]
    assert not report.unread
    assert report.totals.integer == 0
    layer = next(one for one in report.layers if one.macs)
    assert layer.reasons[0].blocked.id == "run-time-scale"
    assert "--data" in layer.reasons[0].blocked.fix
    dequantized = [node for node in result.graph.node if node.op_type == "DequantizeLinear"]
    assert bool(dequantized) == (name != "unsigned, beyond i8")
    shape = tuple(CASES[name][1])
    feeds = {"x": RANDOM.normal(size=shape).astype(np.float32)}
    (ours,), (right,) = run(result, feeds), run(proto, feeds)
    np.testing.assert_allclose(ours, right, rtol=0, atol=1e-5 * float(np.abs(right).max()))


@pytest.mark.parametrize("inside", ["sum", "all"])
@pytest.mark.parametrize("kind", ["If", "Loop"])
def test_sums_in_subgraphs_too(kind: str, inside: str):
    nodes, shape, _, _, _ = case = CASES["matrix"]
    outer, inner = (nodes[:1], nodes[1:]) if inside == "sum" else ([], nodes)
    inner = [onnx.NodeProto.FromString(node.SerializeToString()) for node in inner]
    inner[-1].output[0] = "r"
    result = oh.make_tensor_value_info("r", FLOAT, [2, 8])
    if kind == "If":
        other = [oh.make_node("Relu", ["zeros"], ["r"])]
        branches = oh.make_graph(inner, "then", [], [result]), oh.make_graph(other, "else", [], [result])
        whole = oh.make_node("If", ["flag"], ["y"], then_branch=branches[0], else_branch=branches[1])
        more = {"flag": np.array(True), "zeros": np.zeros((2, 8), np.float32)}
        x = [oh.make_tensor_value_info("flag", TensorProto.BOOL, [])]
    else:
        ends = [oh.make_tensor_value_info("go", TensorProto.BOOL, []), result]
        inner.append(oh.make_node("Identity", ["before"], ["go"]))
        starts = [
            oh.make_tensor_value_info("step", TensorProto.INT64, []),
            oh.make_tensor_value_info("before", TensorProto.BOOL, []),
        ]
        body = oh.make_graph(inner, "body", starts, ends)
        whole = oh.make_node("Loop", ["steps", "on"], ["y"], body=body)
        more, x = {"steps": np.array(2), "on": np.array(True)}, []
    proto = model(case)
    del proto.graph.node[:]
    proto.graph.node.extend([*outer, whole])
    if kind == "If":
        proto.graph.input.extend(x)
        del more["flag"]
    proto.graph.initializer.extend(from_array(np.asarray(value), name) for name, value in more.items())
    report, result_model = written(proto)
    assert not GONE & {node.op_type for node in nodes_of(result_model.graph)}
    assert report.totals.integer == 0
    assert not report.unread
    feeds: dict[str, npt.NDArray[Any]] = {"x": RANDOM.normal(size=shape).astype(np.float32)}
    if kind == "If":
        feeds["flag"] = np.array(True)
    (ours,), (right,) = run(result_model, feeds), run(proto, feeds)
    np.testing.assert_allclose(ours, right, rtol=0, atol=1e-5 * float(np.abs(right).max()))


def test_integers_with_other_readers_are_named():
    nodes = [*CASES["matrix"][0], oh.make_node("Cast", ["q"], ["also"], to=FLOAT)]
    case = (nodes, *CASES["matrix"][1:])
    proto = model(case)
    proto.graph.output.append(oh.make_tensor_value_info("also", FLOAT, None))
    report, _ = written(proto)
    (line, *_) = str(report).splitlines()
    assert line.startswith("not read by tensorrt: 1 DynamicQuantizeLinear")
    assert report.totals.integer == 0
