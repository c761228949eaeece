"""Models as they come: odd names, domains, types and structures, through memory and through text without loss."""

from collections.abc import Callable, Sequence
from pathlib import Path
from typing import Any

import numpy as np
import onnx
import onnxruntime as ort
import pytest
from onnx import TensorProto, helper, numpy_helper

import qdialect
from qdialect.cli.opt import main

Model = onnx.ModelProto
node = helper.make_node
X = np.arange(6, dtype=np.float32).reshape(2, 3) - 2.5

NAMES = [
    'quo"te',
    "back\\slash",
    "\\22",
    "new\nline",
    "t\tab",
    "unié→🙂",
    "a b",
    "%0",
    "a/b:0",
    "_",
    "{}",
    " ",
]


def info(name: str, shape: Sequence[int | str] | None, kind: int = 1) -> onnx.ValueInfoProto:
    return helper.make_tensor_value_info(name, kind, shape)


def constant(name: str, value: Any) -> onnx.TensorProto:
    return numpy_helper.from_array(np.asarray(value), name)


def model(nodes: Sequence[onnx.NodeProto], outputs: Sequence[onnx.ValueInfoProto], **parts: Any) -> Model:
    functions, domains = parts.pop("functions", []), parts.pop("domains", {})
    inputs = parts.pop("inputs", [info("x", [2, 3])])
    graph = helper.make_graph(list(nodes), parts.pop("name", "g"), inputs, list(outputs), **parts)
    imports = [helper.make_opsetid(d, v) for d, v in {"": 17, **domains}.items()]
    return helper.make_model(graph, opset_imports=imports, ir_version=10, functions=functions)


def odd_names() -> Model:
    nodes = [node("Relu", [a], [b], name=f"n {b}") for a, b in zip(["x", *NAMES], [*NAMES, "y"], strict=True)]
    proto = model(nodes, [info("y", None)], name='graph "\\')
    proto.producer_name = 'p"\\\n'
    proto.metadata_props.add(key='k "\\ é', value='v "\\\n')
    proto.metadata_props.add(key="", value="")
    nodes[3].doc_string = 'two\nlines "quoted"'
    return proto


def odd_inputs() -> Model:
    inputs = [info(name, [2, 3]) for name in NAMES]
    return model([node("Sum", NAMES, ["y"])], [info("y", None)], inputs=inputs)


def odd_function() -> Model:
    """Attribute names that are no identifiers, a domain that is none, two functions told apart by their overload."""
    imports = [helper.make_opsetid("", 17)]
    functions: list[onnx.FunctionProto] = []
    for overload, op in (("", "Neg"), ("other one", "Abs")):
        leaky = node("LeakyRelu", ["p"], ["q"])
        leaky.attribute.add(name="alpha", ref_attr_name="my-alpha 1", type=1)
        function = helper.make_function(
            "my domain/é", "f g", ["p"], ["r"], [leaky, node(op, ["q"], ["r"])], imports, ["my-alpha 1"]
        )
        function.overload = overload
        functions.append(function)
    calls = [node("f g", ["x"], ["a"], domain="my domain/é"), node("f g", ["a"], ["y"], domain="my domain/é")]
    for call, overload, alpha in zip(calls, ("", "other one"), (0.25, 3.0), strict=True):
        call.overload = overload
        call.attribute.add(name="my-alpha 1", f=alpha, type=1)
    return model(calls, [info("y", None)], functions=functions, domains={"my domain/é": 1})


def captures() -> Model:
    """An inner graph takes a value from two graphs further out, and gives names that mean something else outside."""
    then = helper.make_graph([node("Mul", ["x", "k"], ["y"])], "t", [], [info("y", None)])
    other = helper.make_graph([node("Sub", ["v", "k"], ["k2"])], "e", [], [info("k2", None)])
    body = helper.make_graph(
        [node("If", ["go"], ["v2"], then_branch=then, else_branch=other), node("Not", ["go"], ["on"])],
        "b",
        [info("i", [], 7), info("go", [], 9), info("v", None)],
        [info("on", [], 9), info("v2", None)],
        [constant("k", np.float32(3))],
    )
    nodes = [node("Loop", ["n", "c", "x"], ["l"], body=body), node("Add", ["l", "k"], ["y"])]
    tensors = [constant("n", np.int64(3)), constant("c", np.bool_(False)), constant("k", np.float32(0.5))]
    return model(nodes, [info("y", None)], initializer=tensors)


def left_out() -> Model:
    """Inputs and outputs left out, at the end and before others."""
    nodes = [
        node("Reshape", ["c", "shape"], ["sequence"], name="out of order"),
        node("Clip", ["x", "", "hi"], ["c"]),
        node("LSTM", ["sequence", "w", "r", "", "", "", "c0"], ["", "h", ""], hidden_size=1),
    ]
    tensors = [
        constant("hi", np.float32(1)),
        constant("shape", np.array([2, 1, 3])),
        constant("w", np.linspace(-1, 1, 12, dtype=np.float32).reshape(1, 4, 3)),
        constant("r", np.linspace(1, 2, 4, dtype=np.float32).reshape(1, 4, 1)),
        constant("c0", np.full((1, 1, 1), 0.7, np.float32)),
    ]
    return model(nodes, [info("h", None)], initializer=tensors)


def kinds() -> Model:
    """Sequences, optionals, strings that are no text, sparse and narrow tensors, a default of an input."""
    sparse = onnx.SparseTensorProto(dims=[2, 3])
    sparse.values.CopyFrom(constant("sp", np.array([5, 7], np.float32)))
    sparse.indices.CopyFrom(constant("", np.array([1, 5], np.int64)))
    words = TensorProto(name="words", data_type=8, dims=[3], string_data=[b"", b'a"\\', "é".encode()])
    nodes = [
        node("SequenceConstruct", ["x", "d"], ["s"]),
        node("ConcatFromSequence", ["s"], ["y"], axis=1),
        node("Identity", ["words"], ["w"]),
        node("Add", ["x", "sp"], ["z"]),
        node("Constant", [], ["c"], value_ints=[3, -1]),
        node("Constant", [], ["e"], value_strings=[b'q"', b""]),
        node("DequantizeLinear", ["four", "scale"], ["f"]),
    ]
    four = helper.make_tensor("four", TensorProto.INT4, [3], [-8, 7, 1])
    proto = model(
        nodes,
        [info("y", None), info("w", None, 8), info("z", None), info("c", None, 7), info("e", None, 8), info("f", None)],
        inputs=[info("x", [2, 3]), info("d", [2, 3])],
        initializer=[words, constant("d", X * 3), four, constant("scale", np.float32(0.5))],
        sparse_initializer=[sparse],
    )  # fmt: skip
    proto.opset_import[0].version = 21
    return proto


CASES = [odd_names, odd_inputs, odd_function, captures, left_out, kinds]


def run(path: Path) -> list[Any]:
    options = ort.SessionOptions()
    options.log_severity_level = 4
    options.graph_optimization_level = ort.GraphOptimizationLevel.ORT_DISABLE_ALL
    session = ort.InferenceSession(str(path), options, providers=["CPUExecutionProvider"])
    names = [i.name for i in session.get_inputs()]
    return list(session.run(None, {name: X + k for k, name in enumerate(names)}))


@pytest.mark.parametrize("make", CASES)
def test_nothing_is_lost(make: Callable[[], Model], tmp_path: Path):
    source = tmp_path / "m.onnx"
    proto = make()
    source.write_bytes(proto.SerializeToString())
    qdialect.save(qdialect.load(source), tmp_path / "memory.onnx")
    assert main([str(source), "-o", str(tmp_path / "m.mlir")]) == 0
    expected = run(source)
    source.unlink()
    assert main([str(tmp_path / "m.mlir"), "-o", str(tmp_path / "text.onnx")]) == 0
    memory = (tmp_path / "memory.onnx").read_bytes()
    assert memory == (tmp_path / "text.onnx").read_bytes()
    for a, b in zip(expected, run(tmp_path / "text.onnx"), strict=True):
        assert a.dtype == b.dtype
        np.testing.assert_array_equal(a, b)
    back = Model.FromString(memory)
    assert [i.name for i in back.graph.input] == [i.name for i in proto.graph.input]
    assert [o.name for o in back.graph.output] == [o.name for o in proto.graph.output]
    assert [n.name for n in back.graph.node] == [
        n.name for n in proto.graph.node if n.op_type != "Constant"
    ] or (
        make in (left_out, kinds, captures)  # reordered, or a constant that is an output
    )
    assert {(p.key, p.value) for p in back.metadata_props} == {(p.key, p.value) for p in proto.metadata_props}
    assert (back.producer_name, back.graph.name) == (proto.producer_name, proto.graph.name)
    assert [f.overload for f in back.functions] == [f.overload for f in proto.functions]


def test_tensors_keep_odd_names(tmp_path: Path):
    (tmp_path / "m.onnx").write_bytes(odd_names().SerializeToString())
    assert main([str(tmp_path / "m.onnx"), "-o", str(tmp_path / "m.mlir")]) == 0
    assert main([str(tmp_path / "m.mlir"), "-o", str(tmp_path / "back.onnx")]) == 0
    back = onnx.load(str(tmp_path / "back.onnx"))
    assert [list(n.output) for n in back.graph.node] == [[name] for name in [*NAMES, "y"]]
