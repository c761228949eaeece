"""The second compilation writes the bytes of the first: names, order and types, not the structure alone."""

import numpy as np
import pytest
from onnx import ModelProto, TensorProto, helper, numpy_helper
from onnx.parser import parse_model

from graphs.quantized import random_case
from qdialect.compiler.compilation import compile
from qdialect.ir.names import UniqueNames
from qdialect.onnx_io.exporter import export_model
from qdialect.onnx_io.importer import import_model

FORMS = [
    ("onnxruntime", "qoperator"),
    ("onnxruntime", "qdq"),
    ("generic", None),
    ("tensorrt", None),
    ("openvino", None),
]
SEEDS = (*range(17), 19, *range(20, 26), 32, 41, 50, 57, 84, 101, 104, 105, 107, 109, 117, 157)
"""Graphs, some of which were named or ordered otherwise the second time, each for another reason."""
SUMS = (121, 124, 130, 131, 143, 149)
"""Likewise in the form of integer sums, which are read as ops with names of their own."""


def compiled(model: ModelProto, target: str = "onnxruntime", form: str | None = None) -> ModelProto:
    source = ModelProto()
    source.CopyFrom(model)  # importing takes large tensors out of the message
    module = import_model(source)
    compile(module, target, form)
    return export_model(module)


def assert_stays(model: ModelProto, target: str = "onnxruntime", form: str | None = None) -> ModelProto:
    first = compiled(model, target, form)
    second = compiled(first, target, form)
    assert str(first) == str(second)
    assert first.SerializeToString(deterministic=True) == second.SerializeToString(deterministic=True)
    return first


@pytest.mark.parametrize(("target", "form"), FORMS)
@pytest.mark.parametrize("seed", SEEDS)
def test_random_graphs(seed: int, target: str, form: str | None):
    assert_stays(random_case(seed, True).model, target, form)


@pytest.mark.parametrize("seed", SUMS)
def test_integer_sums(seed: int):
    assert_stays(random_case(seed, True).model, "onnxruntime", "integer")


def test_an_op_with_indices_runs_once():
    model = parse_model("""<ir_version: 7, opset_import: ["" : 12]>
        g (uint8[1,1,4,5] x) => (float[1,1,3,4] y, int64[1,1,3,4] i)
        <float xs = {0.02}, uint8 xz = {128}, float ys = {0.03}> {
            d = DequantizeLinear(x, xs, xz)
            m, i = MaxPool<kernel_shape = [2, 2]>(d)
            p = QuantizeLinear(m, ys, xz)
            y = DequantizeLinear(p, ys, xz)
        }""")
    nodes = assert_stays(model).graph.node
    assert [node.op_type for node in nodes].count("MaxPool") == 1


def test_an_op_with_a_mask_runs_once():
    model = parse_model("""<ir_version: 8, opset_import: ["" : 17]>
        g (float[2,3] x) => (bool[2,3] k, float[2,3] y) <float s = {0.01}, uint8 z = {128}> {
            t, k = Dropout(x)
            q = QuantizeLinear(t, s, z)
            y = DequantizeLinear(q, s, z)
        }""")
    nodes = assert_stays(model).graph.node
    assert [node.op_type for node in nodes].count("Dropout") == 1


def test_a_result_that_nobody_reads():
    """Its type was unknown when read again, so that the quantize of the other stayed below the Split."""
    nodes = [
        helper.make_node("Relu", ["x"], ["r"]),
        helper.make_node("Split", ["r", "n"], ["a", "b"], axis=1),
        helper.make_node("QuantizeLinear", ["b", "s", "z"], ["q"]),
        helper.make_node("DequantizeLinear", ["q", "s", "z"], ["y"]),
    ]
    constants = [
        numpy_helper.from_array(np.array([1, 2], np.int64), "n"),
        numpy_helper.from_array(np.array(0.5, np.float32), "s"),
        numpy_helper.from_array(np.array(7, np.uint8), "z"),
    ]
    inputs = [helper.make_tensor_value_info("x", TensorProto.FLOAT, [2, 3])]
    outputs = [helper.make_tensor_value_info("y", TensorProto.FLOAT, [2, 2])]
    graph = helper.make_graph(nodes, "g", inputs, outputs, constants)
    model = helper.make_model(graph, opset_imports=[helper.make_opsetid("", 17)], ir_version=8)
    assert_stays(model, "generic")


def test_several_scales_that_are_moved():
    """What joins tensors of several scales had a type of its own, for fear of a session; casts stood around it once."""
    model = parse_model("""<ir_version: 8, opset_import: ["" : 17]>
        g (float[2,3,4] x) => (float[4,3,4] y)
        <float[3] s = {0.02, 0.03, 0.05}, int8[3] z = {3, -7, 0}, float t = {0.04}, uint8 u = {128}> {
            q = QuantizeLinear<axis = 1>(x, s, z)
            d = DequantizeLinear<axis = 1>(q, s, z)
            c = Concat<axis = 0>(d, d)
            p = QuantizeLinear(c, t, u)
            y = DequantizeLinear(p, t, u)
        }""")
    assert_stays(model)


class _Counting(set[str]):
    """A set that counts how often it is asked."""

    asked = 0

    def __contains__(self, name: object) -> bool:
        _Counting.asked += 1
        return super().__contains__(name)


def test_a_fresh_name_takes_constant_time():
    names = UniqueNames()
    names._taken = _Counting()  # pyright: ignore[reportPrivateUsage]
    assert [names.fresh("t") for _ in range(3)] == ["t", "t_1", "t_2"]
    for _ in range(1000):
        names.fresh("t")
    assert _Counting.asked < 3000
