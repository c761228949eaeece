"""Sizes and their names behind ops that onnx's inference of a model does not know, and behind a folded If."""

import numpy as np
import onnx
import pytest
from onnx import ModelProto, TensorProto, helper, numpy_helper

import qdialect
from graphs.structure import difference
from qdialect.evaluation.session import session

HEAD = '<ir_version: 8, opset_import: ["": 17, "com.microsoft": 1]>'
PARAMETERS = "float s = {0.02}, uint8 z = {120}, float t = {0.01}, uint8 u = {7}"


def compiled(model: ModelProto, target: str) -> ModelProto:
    report = qdialect.compile(model.SerializeToString(), target=target)
    return qdialect.to_model(report.module)


def stated(model: ModelProto) -> list[list[int | str]]:
    """The sizes of each output, by number or by name."""
    types = [output.type.tensor_type for output in model.graph.output]
    return [[d.dim_param or d.dim_value for d in type.shape.dim] for type in types]


LEARNT = {
    "a pool of another domain": (
        f"g (uint8[N,4,6,5] x) => (uint8[] y) <{PARAMETERS}> "
        "{ y = com.microsoft.QLinearGlobalAveragePool(x, s, z, t, u) }",
        [["N", 4, 1, 1]],
    ),
    "a mean of another domain": (
        f"g (uint8[N,4,M] x) => (uint8[] y) <{PARAMETERS}> "
        "{ y = com.microsoft.QLinearReduceMean<axes = [1], keepdims = 1>(x, s, z, t, u) }",
        [["N", 1, "M"]],
    ),
    "casts of another domain in a branch": (
        "g (float[8,2,3,M] x) => (float[] y) <float[8] s = {1, 2, 3, 4, 5, 6, 7, 8},"
        """ uint8[8] z = {7, 7, 7, 7, 7, 7, 7, 7}, bool c = {1}> {
            q = com.microsoft.QuantizeLinear<axis = -4>(x, s, z)
            y = If (c) <then_branch = a () => (float[] v) { v = com.microsoft.DequantizeLinear<axis = -4>(q, s, z) },
                else_branch = b () => (float[] w) { w = com.microsoft.DequantizeLinear<axis = 0>(q, s, z) }>
        }""",
        [[8, 2, 3, "M"]],
    ),
    "a list from outside of a branch": (
        f"g (uint8[N,4,6,6] x, bool c) => (float[] y) <{PARAMETERS}, int64[2] n = {{-1, 12}}>"
        """ {
            q = com.microsoft.QLinearLeakyRelu<alpha = 0.5>(x, s, z, t, u)
            d = DequantizeLinear(q, t, u)
            y = If (c) <then_branch = a () => (float[] v) { v = Reshape(d, n) },
                else_branch = b () => (float[] w) { r = Relu(d) w = Reshape(r, n) }>
        }""",
        [[0, 12]],
    ),
}


@pytest.mark.parametrize("target", ["onnxruntime", "generic"])
@pytest.mark.parametrize("case", LEARNT)
def test_the_first_compilation_states_what_the_second_would(case: str, target: str):
    text, sizes = LEARNT[case]
    first = compiled(onnx.parser.parse_model(f"{HEAD} {text}"), target)
    assert stated(first) == sizes
    second = compiled(first, target)
    assert stated(second) == sizes
    assert not difference(first, second)


def test_a_range_whose_numbers_are_lists_behind_a_folded_branch():
    """onnxruntime refuses constant lists of one in the place of numbers, which a branch hides."""
    model = onnx.parser.parse_model("""<ir_version: 8, opset_import: ["" : 17]>
        g (float[2,3] x) => (float[] y) <bool c = {1}, int64 o = {0}, int64 i = {1}, int64[1] n = {3}> {
            k = If (c) <then_branch = a () => (int64[] v) { v = Identity(n) },
                else_branch = b () => (int64[] w) { w = Shape(x) }>
            r = Range(o, k, i)
            f = Cast<to = 1>(r)
            y = Mul(x, f)
        }""")
    first = compiled(model, "onnxruntime")
    assert [node.op_type for node in first.graph.node] == ["Mul"]
    assert stated(first) == [[2, 3]]
    feeds = {"x": np.ones((2, 3), np.float32)}
    before, after = (session(one.SerializeToString()).run(None, feeds)[0] for one in (model, first))
    np.testing.assert_array_equal(before, after)


@pytest.mark.parametrize("form", ["attribute", "initializer", "node"])
def test_a_squeeze_with_an_empty_list_of_axes_is_one_without(form: str):
    """onnx's inference removes no axis then; onnxruntime removes all of size 1, whatever it infers."""
    none, inputs = (
        numpy_helper.from_array(np.zeros(0, np.int64), "none"),
        ["d"] if form == "attribute" else ["d", "none"],
    )
    squeeze = helper.make_node("Squeeze", inputs, ["e"])
    if form == "attribute":
        squeeze.attribute.append(helper.make_attribute("axes", [], attr_type=onnx.AttributeProto.INTS))
    nodes = [
        *([helper.make_node("Constant", [], ["none"], value=none)] if form == "node" else []),
        helper.make_node("QuantizeLinear", ["x", "s", "z"], ["q"]),
        helper.make_node("DequantizeLinear", ["q", "s", "z"], ["d"]),
        squeeze,
        helper.make_node("Shape", ["e"], ["n"]),
        helper.make_node("Cast", ["n"], ["y"], to=TensorProto.FLOAT),
        helper.make_node("Relu", ["e"], ["r"]),
    ]
    constants = [
        numpy_helper.from_array(np.array(0.02, np.float32), "s"),
        numpy_helper.from_array(np.array(3, np.uint8), "z"),
    ]
    graph = helper.make_graph(
        nodes,
        "g",
        [helper.make_tensor_value_info("x", TensorProto.FLOAT, [1, 3, 1, 4])],
        [helper.make_tensor_value_info(name, TensorProto.FLOAT, None) for name in ("y", "r")],
        [*constants, *([none] if form == "initializer" else [])],
    )
    opset = helper.make_opsetid("", 12 if form == "attribute" else 17)
    model = helper.make_model(graph, opset_imports=[opset], ir_version=8)
    first = compiled(model, "onnxruntime")
    assert stated(first) == [[2], [3, 4]]
    feeds = {"x": np.random.default_rng(3).normal(size=(1, 3, 1, 4)).astype(np.float32)}
    outputs = [session(one.SerializeToString()).run(None, feeds) for one in (model, first)]
    for before, after in zip(*outputs, strict=True):
        np.testing.assert_array_equal(before, after)
