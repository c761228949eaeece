"""What is looked up in a quantized table keeps a pair of casts in front of an integer product, or gets one."""

from __future__ import annotations

from typing import Any

import numpy as np
import onnx
import pytest
from default_session import LEVELS, run
from onnx import helper, numpy_helper

import qdialect
from qdialect.onnx_io.exporter import export_model
from qdialect.onnx_io.importer import import_model

Q, DQ = "QuantizeLinear", "DequantizeLinear"
DEQUANTIZE = [DQ, ["table", "s", "z"], "e"]
LOOKED_UP: dict[str, list[list[Any]]] = {
    "Gather": [DEQUANTIZE, ["Gather", ["e", "i"], "g"]],
    "Gather of int8": [["Gather", ["table", "i"], "k"], [DQ, ["k", "s", "z"], "g"]],
    "Gather and Reshape": [DEQUANTIZE, ["Gather", ["e", "i"], "k"], ["Reshape", ["k", "shape"], "g"]],
    "Gather of int8 and Reshape": [
        ["Gather", ["table", "i"], "k"], ["Reshape", ["k", "shape"], "m"], [DQ, ["m", "s", "z"], "g"],
    ],
    "Concat of two tables": [
        DEQUANTIZE, [DQ, ["table2", "s", "z"], "e2"], ["Gather", ["e", "i"], "k"], ["Gather", ["e2", "i"], "m"],
        ["Concat", ["k", "m"], "g"],
    ],
    "Slice and Gather": [DEQUANTIZE, ["Slice", ["e", "from", "to"], "k"], ["Gather", ["k", "i"], "g"]],
    "Gather and Transpose twice": [
        DEQUANTIZE, ["Gather", ["e", "i"], "k"], ["Transpose", ["k"], "m"], ["Reshape", ["m", "shape"], "g"],
    ],
    "GatherND": [DEQUANTIZE, ["GatherND", ["e", "rows"], "g"]],
    "Expand": [DEQUANTIZE, ["Gather", ["e", "i"], "k"], ["Expand", ["k", "shape"], "g"]],
}  # fmt: skip


def built(name: str, product: str, pair: bool, stored: str = "int8", zero: int = 0) -> onnx.ModelProto:
    rng = np.random.default_rng(0)
    low, high = (-100, 100) if stored == "int8" else (0, 200)
    arrays: dict[str, Any] = {
        "table": rng.integers(low, high, (50, 64)).astype(stored),
        "table2": rng.integers(low, high, (50, 64)).astype(stored),
        "s": np.float32(0.02), "z": np.array(zero, stored), "shape": np.array([3, 64]),
        "from": np.array([0, 0]), "to": np.array([40, 64]), "rows": np.array([[1], [4], [7]]),
        "w": rng.integers(-100, 100, (64, 32)).astype(np.int8), "wz": np.zeros(32, np.int8),
        "ws": rng.uniform(0.005, 0.02, 32).astype(np.float32), "b": rng.normal(size=32).astype(np.float32),
    }  # fmt: skip
    joined: dict[str, Any] = {"axis": 0}
    nodes = [
        helper.make_node(op, inputs, [output], **(joined if op == "Concat" else {}))
        for op, inputs, output in LOOKED_UP[name]
    ]
    if pair:
        nodes += [helper.make_node(Q, ["g", "s", "z"], ["p"]), helper.make_node(DQ, ["p", "s", "z"], ["d"])]
    nodes.append(helper.make_node(DQ, ["w", "ws", "wz"], ["wd"], axis=1))
    operands = ["d" if pair else "g", "wd", *(["b"] if product == "Gemm" else [])]
    nodes.append(helper.make_node(product, operands, ["y"]))
    used = {value for node in nodes for value in node.input}
    graph = helper.make_graph(
        nodes,
        "g",
        [helper.make_tensor_value_info("i", onnx.TensorProto.INT64, [3])] if "i" in used else [],
        [helper.make_tensor_value_info("y", onnx.TensorProto.FLOAT, [None, 32])],
        [numpy_helper.from_array(array, key) for key, array in arrays.items() if key in used],
    )
    return helper.make_model(graph, opset_imports=[helper.make_opsetid("", 17)], ir_version=8)


def above(model: onnx.ModelProto, product: str) -> list[str]:
    """The operators in front of the product's activation, the nearest last."""
    makers = {output: node for node in model.graph.node for output in node.output}
    value = next(node for node in model.graph.node if node.op_type == product).input[0]
    chain: list[str] = []
    while value in makers:
        chain.insert(0, makers[value].op_type)
        value = makers[value].input[0]
    return chain


def checked(name: str, product: str, pair: bool, options: dict[str, Any], zero: int = 0) -> list[str]:
    model = built(name, product, pair, "int8" if zero == 0 else "uint8", zero)
    module = import_model(onnx.ModelProto.FromString(model.SerializeToString()))
    qdialect.compile(module, **options)
    result = export_model(module)
    feeds = {value.name: np.array([3, 17, 39]) for value in model.graph.input}
    np.testing.assert_array_equal(run(result, feeds, LEVELS[0]), run(model, feeds, LEVELS[0]))
    again = import_model(onnx.ModelProto.FromString(result.SerializeToString()))
    qdialect.compile(again, **options)
    assert [n.op_type for n in export_model(again).graph.node] == [n.op_type for n in result.graph.node]
    return above(result, product)


@pytest.mark.parametrize("pair", [True, False], ids=["pair", "none"])
@pytest.mark.parametrize("product", ["MatMul", "Gemm"])
@pytest.mark.parametrize("name", [name for name in LOOKED_UP if name != "GatherND"])
@pytest.mark.parametrize("target", ["openvino", "tensorrt", "generic"])
def test_a_pair_stands_between_a_table_and_a_product(target: str, name: str, product: str, pair: bool):
    assert checked(name, product, pair, {"target": target})[-2:] == [Q, DQ]


@pytest.mark.parametrize("name", ["Gather", "Concat of two tables"])
@pytest.mark.parametrize("target", ["openvino", "generic"])
def test_a_pair_stays_bit_for_bit_and_with_a_zero_point(target: str, name: str):
    assert checked(name, "MatMul", True, {"target": target, "exactness": "exact"}, zero=117)[-2:] == [Q, DQ]


def test_constant_rows_are_a_constant():
    """Nothing is looked up by a run."""
    assert checked("GatherND", "MatMul", False, {"target": "openvino"})[-2:] != [Q, DQ]


@pytest.mark.parametrize("form", ["qdq", "qoperator"])
def test_onnxruntime_gathers_integers(form: str):
    """Its sessions move casts, and its kernels take what a Gather of integers gives: no pair is needed."""
    model = built("Gather", "MatMul", True)
    module = import_model(onnx.ModelProto.FromString(model.SerializeToString()))
    qdialect.compile(module, form=form)
    assert Q not in {node.op_type for node in export_model(module).graph.node}
