"""Inference of types: what nodes compute, and what a file states of the others."""

import os
from collections.abc import Sequence
from pathlib import Path
from threading import Thread
from typing import Any

import numpy as np
import onnx
import onnx.parser
import pytest
from onnx import GraphProto, TensorProto, helper, numpy_helper
from onnx_models import onnx_model
from xdsl.context import Context
from xdsl.dialects.builtin import StringAttr
from xdsl.ir import SSAValue

from qdialect.api import compile
from qdialect.dialects.onnx_base import OnnxOp
from qdialect.dialects.onnx_tensor import TensorAttr
from qdialect.evaluation import session as oracle
from qdialect.evaluation.session import session
from qdialect.ir.interface import main_of
from qdialect.onnx_io import messages
from qdialect.onnx_io.exporter import export_model
from qdialect.onnx_io.importer import import_model
from qdialect.transforms.infer_shapes import InferShapesPass


def model() -> onnx.ModelProto:
    shape = numpy_helper.from_array(np.array([0, -1]), "shape")
    nodes = [helper.make_node("Reshape", ["x", "shape"], ["r"]), helper.make_node("Neg", ["r"], ["y"])]
    inputs = [helper.make_tensor_value_info("x", 1, ["batch", 3, 5])]
    graph = helper.make_graph(nodes, "g", inputs, [helper.make_tensor_value_info("y", 1, None)], [shape])
    return helper.make_model(graph, opset_imports=[helper.make_opsetid("", 17)])


def typed(original: onnx.ModelProto) -> dict[str, list[int | str]]:
    """The sizes of all tensors of a model that was read, by name: numbers, names, and 0 for others."""
    module = import_model(original)
    module.attributes["onnx.value_info"] = StringAttr("written")
    graph = export_model(module).graph
    branches = [a.g for n in graph.node for a in n.attribute if a.HasField("g")]
    infos = [i for g in (graph, *branches) for i in (*g.value_info, *g.output)]
    return {i.name: [d.dim_value or d.dim_param for d in i.type.tensor_type.shape.dim] for i in infos}


def test_finds_types_and_names_of_sizes():
    assert typed(model()) == {"r": ["batch", 15], "y": ["batch", 15]}


@pytest.mark.parametrize(
    ("stated", "computed"),
    [([], ["batch", 15]), ([7, 7], ["batch", 15]), (["n", 15], ["n", 15]), ([1, 2, 3], ["batch", 15])],
)
def test_an_output_has_the_sizes_that_its_node_computes(stated: list[int | str], computed: list[int | str]):
    """Sizes that contradict a node are not believed, as no session believes them; others fill in what is open."""
    original = model()
    shape = original.graph.output[0].type.tensor_type.shape
    shape.SetInParent()
    for size in stated:
        shape.dim.add(**{"dim_value" if isinstance(size, int) else "dim_param": size})
    before = original.SerializeToString()
    assert typed(original)["y"] == computed
    assert original.SerializeToString() == before


@pytest.mark.parametrize(
    ("stated", "computed"),
    [
        ({"r": ["n", 7]}, [2, 15]),
        ({"r": [1, 2, 3]}, [2, 15]),
        ({"r": [2, 15]}, [2, 15]),
        ({"t": [1, 7]}, [2, 15]),
    ],
)
def test_an_inner_tensor_has_the_sizes_that_its_node_computes(
    stated: dict[str, list[int | str]], computed: list[int]
):
    """What a graph states of its inner tensors may be of before it was edited; a branch has inner tensors too."""
    original = model()
    original.graph.input[0].type.tensor_type.shape.dim[0].dim_value = 2
    nodes = [helper.make_node("Neg", [a], [b]) for a, b in ("rt", "ts")]
    inner = helper.make_graph(nodes, "b", [], [onnx.ValueInfoProto(name="s")])
    end = helper.make_node("If", ["c"], ["y"], then_branch=inner, else_branch=inner)
    original.graph.node[1].CopyFrom(end)
    original.graph.input.append(helper.make_tensor_value_info("c", TensorProto.BOOL, []))
    branch = original.graph.node[1].attribute[0].g
    for name, sizes in stated.items():
        holder = branch if name == "t" else original.graph
        holder.value_info.append(helper.make_tensor_value_info(name, 1, sizes))
    result = typed(original)
    assert (result["r"], result["y"]) == (computed, computed)


@pytest.mark.parametrize("target", ["onnxruntime", "generic"])
@pytest.mark.parametrize("name", ["c", "d", "r"])
@pytest.mark.parametrize("mode", ["nearest", "linear", "cubic"])
def test_a_model_with_wrong_sizes_inside_compiles(mode: str, name: str, target: str):
    """Resized pixels are products with matrices of these sizes."""
    text = f"""<ir_version: 9, opset_import: ["" : 17]> g (float[1,3,8,8] x) => (float[1,4,16,16] y)
    <float[1,4,5,8] {name}, float s = {{0.02}}, uint8 z = {{128}}, float[4] f = {{1.0, 1.0, 2.0, 2.0}}>
    {{ a = QuantizeLinear(x, s, z) b = DequantizeLinear(a, s, z) c = Concat<axis = 1>(b, e)
      d = Relu(c) q = QuantizeLinear(d, s, z) u = DequantizeLinear(q, s, z) r = Resize<mode = "{mode}">(u, , f)
      v = QuantizeLinear(r, s, z) y = DequantizeLinear(v, s, z) }}"""
    original = onnx.parser.parse_model(text)
    original.graph.initializer.append(numpy_helper.from_array(np.ones((1, 1, 8, 8), np.float32), "e"))
    feeds = {"x": np.random.default_rng(0).normal(size=(1, 3, 8, 8)).astype(np.float32)}
    compiled = import_model(original)
    compile(compiled, target=target)
    [expected], [result] = (
        session(one.SerializeToString()).run(None, feeds) for one in (original, export_model(compiled))
    )
    np.testing.assert_allclose(result, expected, atol=0.0201)


def test_a_wrong_size_of_an_output_is_no_error():
    shape = numpy_helper.from_array(np.array([0]), "zero")
    nodes = [helper.make_node("Relu", ["x"], ["r"]), helper.make_node("Slice", ["r", "zero", "one"], ["y"])]
    inputs, outputs = (helper.make_tensor_value_info(n, 1, d) for n, d in (("x", [2, 4]), ("y", [])))
    one = numpy_helper.from_array(np.array([1]), "one")
    graph = helper.make_graph(nodes, "g", [inputs], [outputs], [shape, one])
    module = import_model(helper.make_model(graph, opset_imports=[helper.make_opsetid("", 17)]))
    compile(module)
    [output] = export_model(module).graph.output
    assert [d.dim_value for d in output.type.tensor_type.shape.dim] == [1, 4]


@pytest.mark.parametrize("disguise", ["Identity", "Reshape"])
def test_sizes_are_learnt_from_what_is_constant_only_when_folded(disguise: str):
    """A weight whose new shape inference did not see is a constant all the same, with scales along its columns."""
    constants = {
        "s": np.float32(0.02), "z": np.uint8(7), "t": np.array([0.5, 0.25], np.float32),
        "w": np.zeros((3, 2, 1), np.int8), "given": np.array([3, 2]), "two": np.array([2]),
    }  # fmt: skip
    nodes = [
        {
            "Identity": helper.make_node("Identity", ["given"], ["p"]),
            "Reshape": helper.make_node("Reshape", ["given", "two"], ["p"]),
        }[disguise],
        helper.make_node("QuantizeLinear", ["x", "s", "z"], ["q"]),
        helper.make_node("DequantizeLinear", ["q", "s", "z"], ["d"]),
        helper.make_node("DequantizeLinear", ["w", "t"], ["v"], axis=1),
        helper.make_node("Reshape", ["v", "p"], ["r"]),
        helper.make_node("MatMul", ["d", "r"], ["y"]),
    ]
    original = onnx_model(nodes, {"x": [4, 3]}, {"y": [4, 2]}, constants)
    onnx.checker.check_model(original)
    module = import_model(original)
    compile(module, "generic")
    result = export_model(module)
    [product] = [n for n in result.graph.node if n.op_type == "MatMul"]
    [cast] = [n for n in result.graph.node if n.output[0] == product.input[1]]
    assert cast.op_type == "DequantizeLinear"
    assert {t.name: tuple(t.dims) for t in result.graph.initializer}[cast.input[0]] == (3, 2)


def test_types_are_learnt_behind_kernels_branches_and_wide_casts():
    """onnx's own inference stops at the first node of com.microsoft."""
    constants = {
        "s": np.float32(0.02), "z": np.uint8(7), "w": np.int16(-300), "c": np.array(True), "k": np.float32(0.5),
        "p": np.array([2, -1]),
    }  # fmt: skip

    def branch(op: str, *more: str) -> GraphProto:
        output = helper.make_tensor_value_info(op, TensorProto.FLOAT, None)
        return helper.make_graph([helper.make_node(op, ["d", *more], [op])], op, [], [output])

    nodes = [
        helper.make_node("QuantizeLinear", ["x", "s", "z"], ["q"]),
        helper.make_node("QLinearSigmoid", ["q", "s", "z", "s", "z"], ["r"], domain="com.microsoft"),
        helper.make_node("DequantizeLinear", ["r", "s", "z"], ["d"]),
        helper.make_node("If", ["c"], ["i"], then_branch=branch("Relu"), else_branch=branch("Mul", "k")),
        helper.make_node("QuantizeLinear", ["i", "s", "w"], ["e"], domain="com.microsoft"),
        helper.make_node("DequantizeLinear", ["e", "s", "w"], ["f"], domain="com.microsoft"),
        helper.make_node("Transpose", ["f"], ["t"], perm=[1, 0]),
        helper.make_node("Reshape", ["t", "p"], ["u"]),  # of two rows, it was known to be
        helper.make_node("Transpose", ["u"], ["y"], perm=[1, 0]),
    ]
    inputs = [helper.make_tensor_value_info("x", TensorProto.FLOAT, [2, 3])]
    outputs = [helper.make_tensor_value_info("y", TensorProto.FLOAT, None)]
    tensors = [numpy_helper.from_array(np.asarray(v), n) for n, v in constants.items()]
    graph = helper.make_graph(nodes, "g", inputs, outputs, tensors)
    imports = [helper.make_opsetid("", 17), helper.make_opsetid("com.microsoft", 1)]
    module = import_model(helper.make_model(graph, opset_imports=imports, ir_version=8))
    InferShapesPass().apply(Context(), module)
    end = main_of(module).body.block.last_op
    assert end is not None
    assert str(end.operands[0].type) == "tensor<3x2xf32>"


def test_each_list_is_computed_once(monkeypatch: pytest.MonkeyPatch):
    """Layer by layer a list says the size of the next, and all of them hang on one chain of sums."""
    computed: list[int] = []
    evaluate = oracle.evaluate

    def counted(ops: Sequence[OnnxOp], outputs: Sequence[SSAValue]) -> dict[SSAValue, TensorAttr]:
        computed.append(len(ops))
        return evaluate(ops, outputs)

    monkeypatch.setattr(oracle, "evaluate", counted)
    layers = 40
    nodes = [helper.make_node("Add", ["one", "none"], ["l0"])]
    for k in range(layers):
        # onnx's own inference follows sums of lists, but not a remainder
        nodes.append(helper.make_node("Mod", [f"l{k}", "many"], [f"l{k + 1}"]))
        nodes.append(helper.make_node("ConstantOfShape", [f"l{k + 1}"], [f"z{k}"]))
        nodes.append(helper.make_node("Concat", [f"z{k}", f"z{k}"], [f"y{k}"], axis=0))
    constants = {"one": np.array([3]), "none": np.array([0]), "many": np.array([7])}
    outputs = [helper.make_tensor_value_info(f"y{k}", TensorProto.FLOAT, [None]) for k in range(layers)]
    module = import_model(onnx_model(nodes, [], outputs, constants))
    InferShapesPass().apply(Context(), module)
    end = main_of(module).body.block.last_op
    assert end is not None
    assert {str(value.type) for value in end.operands} == {"tensor<6xf32>"}
    assert sum(computed) <= 2 * layers  # a sum and a remainder, then a remainder for each layer


@pytest.mark.skipif(not hasattr(os, "mkfifo"), reason="there are no named pipes")
def test_a_pipe_is_opened_once(tmp_path: Path):
    pipe = tmp_path / "model.onnx"
    os.mkfifo(pipe)
    writer = Thread(target=pipe.write_bytes, args=[model().SerializeToString()])
    writer.start()
    assert messages.read_model(pipe).proto == model()
    writer.join()


@pytest.mark.parametrize("opset", [13, 22])
@pytest.mark.parametrize("nested", [False, True])
@pytest.mark.parametrize("kind", ["MaxPool", "AveragePool"])
def test_a_window_that_starts_behind_the_operand_is_left_out(kind: str, nested: bool, opset: int):
    """onnx's inference counts it before opset 22 (onnx#4958, pytorch#71549); here stated so by the exporter too."""
    pool = helper.make_node(
        kind, ["x"], ["p"], kernel_shape=[3, 3], strides=[3, 3], pads=[1] * 4, ceil_mode=1
    )
    stated = helper.make_tensor_value_info("p", 1, [1, 4, 2, 3])
    nodes = [pool, helper.make_node("Shape", ["p"], ["s"]), helper.make_node("Expand", ["p", "s"], ["y"])]
    inputs = [helper.make_tensor_value_info("x", 1, [1, 4, 2, 6])]
    outputs = [helper.make_tensor_value_info("y", 1, None)]
    if nested:
        inputs.append(helper.make_tensor_value_info("c", 9, []))
        inner = helper.make_graph(nodes, "b", [], outputs, value_info=[stated])
        nodes = [helper.make_node("If", ["c"], ["y"], then_branch=inner, else_branch=inner)]
    graph = helper.make_graph(nodes, "g", inputs, outputs, value_info=[] if nested else [stated])
    original = helper.make_model(graph, opset_imports=[helper.make_opsetid("", opset)], ir_version=8)
    before = original.SerializeToString()
    read = export_model(import_model(original))
    onnx.checker.check_model(read)
    assert original.SerializeToString() == before
    assert not read.functions
    assert [i.version for i in read.opset_import] == [opset]
    dims = read.graph.output[0].type.tensor_type.shape.dim
    assert [d.dim_value for d in dims] == [1, 4, 1, 3]
    if nested:  # onnxruntime allocates what it infers there, and does not run the original
        return
    module = import_model(original)
    compile(module, target="onnxruntime")
    for one in (original, export_model(module)):
        [result] = session(one).run(None, {"x": np.ones((1, 4, 2, 6), np.float32)})
        assert np.shape(result) == (1, 4, 1, 3)


@pytest.mark.parametrize("kind", ["GreaterOrEqual", "LessOrEqual"])
def test_a_function_that_says_its_shape_by_its_body_is_computed(kind: str):
    """As masks of exported transformers: the operand's size is known only when a Range has been computed."""
    text = f"""<ir_version: 7, opset_import: ["" : 14]> agraph (float[2, 5] x) => (bool[n] z)
        <int64 first = {{0}}, int64 one = {{1}}, int64 k = {{1}}, int64 least = {{3}}> {{
        s = Shape(x)
        n = Gather(s, k)
        r = Range(first, n, one)
        z = {kind}(r, least)
    }}"""
    module = import_model(onnx.parser.parse_model(text))
    compile(module)
    [] = [n.op_type for n in export_model(module).graph.node if n.op_type != "Constant"]


@pytest.mark.parametrize("opset", [7, 10])
@pytest.mark.parametrize(
    ("kind", "axis", "sizes"),
    [
        ("Squeeze", {"axes": [-1]}, [2, 3]),
        ("Unsqueeze", {"axes": [-1]}, [2, 3, 1, 1]),
        ("Concat", {"axis": -1}, [2, 3, 1]),
        ("ReduceMax", {"axes": [-2], "keepdims": 0}, [2, 1]),
    ],
)
def test_negative_axes_count_from_the_last_in_old_opsets(
    kind: str, axis: dict[str, Any], sizes: list[int], opset: int
):
    """onnx's inference ignores those of Squeeze and Unsqueeze, and stops at Concat; onnxruntime takes them."""
    nodes = [helper.make_node(kind, ["x"], ["y"], **axis), helper.make_node("Shape", ["y"], ["s"])]
    inputs = [helper.make_tensor_value_info("x", 1, [2, 3, 1])]
    outputs = [helper.make_tensor_value_info("y", 1, None), helper.make_tensor_value_info("s", 7, None)]
    graph = helper.make_graph(nodes, "g", inputs, outputs)
    original = helper.make_model(graph, opset_imports=[helper.make_opsetid("", opset)], ir_version=4)
    read = export_model(import_model(original))
    assert [n.op_type for n in read.graph.node] == [kind, "Shape"]
    assert [d.dim_value for d in read.graph.output[0].type.tensor_type.shape.dim] == sizes
    module = import_model(original)
    compile(module)
    feed = {"x": np.ones((2, 3, 1), np.float32)}
    for model in (original, export_model(module)):
        y, s = session(model.SerializeToString()).run(None, feed)
        assert list(y.shape) == list(s) == sizes


def test_an_old_form_with_negative_axes_is_left_to_its_own_opset():
    """TopK has its count in an attribute before opset 10: it is no node of opset 11."""
    nodes = [helper.make_node("TopK", ["x"], ["y", "i"], axis=-1, k=2)]
    inputs = [helper.make_tensor_value_info("x", 1, [2, 3])]
    outputs = [helper.make_tensor_value_info("y", 1, None), helper.make_tensor_value_info("i", 7, None)]
    original = helper.make_model(
        helper.make_graph(nodes, "g", inputs, outputs),
        opset_imports=[helper.make_opsetid("", 9)],
        ir_version=4,
    )
    module = import_model(original)
    compile(module)
    [y, _] = session(export_model(module).SerializeToString()).run(
        None, {"x": np.eye(2, 3, dtype=np.float32)}
    )
    assert y.tolist() == [[1, 0], [1, 0]]
