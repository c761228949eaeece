"""Files that are odd, and that a session runs: they are read, compiled, and give the same numbers."""

from __future__ import annotations

from collections.abc import Sequence
from pathlib import Path
from typing import Any

import numpy as np
import onnx
import pytest
from onnx import TensorProto, helper, numpy_helper

import qdialect
from qdialect.evaluation.session import run

F, B = TensorProto.FLOAT, TensorProto.BOOL
node, info = helper.make_node, helper.make_tensor_value_info
RELU = [node("Relu", ["x"], ["y"])]


def constant(name: str, value: float = 8.0, domain: str = "") -> onnx.NodeProto:
    return node(
        "Constant",
        [],
        [name],
        value=numpy_helper.from_array(np.array(value, np.float32), name),
        domain=domain,
    )


def tensor(name: str, value: Any) -> onnx.TensorProto:
    return numpy_helper.from_array(np.asarray(value, np.float32), name)


def missing(name: str) -> onnx.TensorProto:
    one = TensorProto(name=name, data_type=F, dims=[4], data_location=TensorProto.EXTERNAL)
    one.external_data.add(key="location", value="gone.data")
    return one


def sparse(name: str, values: Sequence[float], places: Sequence[int]) -> onnx.SparseTensorProto:
    one = onnx.SparseTensorProto(dims=[2])
    one.values.CopyFrom(tensor(name, values))
    one.indices.CopyFrom(numpy_helper.from_array(np.array(places, np.int64), f"{name}_places"))
    return one


def model(
    nodes: Sequence[onnx.NodeProto],
    tensors: Sequence[onnx.TensorProto] = (),
    *,
    inputs: Sequence[onnx.ValueInfoProto] = (info("x", F, [2]),),
    outputs: Sequence[onnx.ValueInfoProto] = (info("y", F, [2]),),
    stated: Sequence[onnx.ValueInfoProto] = (),
    imports: Sequence[tuple[str, int]] = (("", 17),),
    sparse: Sequence[onnx.SparseTensorProto] = (),
) -> onnx.ModelProto:
    graph = helper.make_graph(
        nodes, "g", inputs, outputs, tensors, value_info=stated, sparse_initializer=sparse
    )
    opsets = [helper.make_opsetid(*one) for one in imports]
    return helper.make_model(graph, opset_imports=opsets, ir_version=8)


def branches(then: onnx.GraphProto, other: onnx.GraphProto) -> onnx.ModelProto:
    inputs = [info("x", F, [2]), info("c", B, [])]
    return model([node("If", ["c"], ["y"], then_branch=then, else_branch=other)], inputs=inputs)


def branch(nodes: Sequence[onnx.NodeProto], tensors: Sequence[onnx.TensorProto] = ()) -> onnx.GraphProto:
    return helper.make_graph(nodes, "b", [], [info(nodes[-1].output[0], F, [2])], tensors)


TWICE = [node("Div", ["x", "k"], ["a"]), node("Div", ["a", "k"], ["y"])]
FILES: dict[str, onnx.ModelProto] = {
    "two equal Constants of one name": model([constant("k"), TWICE[0], constant("k"), TWICE[1]]),
    "two Constants of one name": model([constant("k"), TWICE[0], constant("k", 3), TWICE[1]]),
    "three Constants of one name": model([constant("k"), TWICE[0], constant("k", 3), TWICE[1], constant("k", 2)]),
    "two Constants, the other domain": model([constant("k"), TWICE[0], constant("k", 3, "ai.onnx"), TWICE[1]]),
    "a Constant and an initializer": model([constant("k"), *TWICE], [tensor("k", 8)]),
    "a Constant and another initializer": model([constant("k"), *TWICE], [tensor("k", 4)]),
    "equal Constants in both branches": branches(
        branch([constant("k"), node("Mul", ["x", "k"], ["t"])]), branch([constant("k"), node("Div", ["x", "k"], ["e"])])
    ),
    "unused data that are missing": model(RELU, [missing("w")]),
    "unused data that are missing, beside used ones": model(
        [node("Mul", ["x", "k"], ["y"])], [missing("w"), tensor("k", 3)]
    ),
    "an unused tensor without data": model(RELU, [TensorProto(name="w", data_type=F, dims=[3])]),
    "an empty tensor without data": model(
        [node("Concat", ["x", "w"], ["y"], axis=0)], [TensorProto(name="w", data_type=F, dims=[0])]
    ),
    "a sparse initializer": model([node("Mul", ["x", "w"], ["y"])], sparse=[sparse("w", [3.0], [1])]),
    "an empty sparse initializer": model([node("Mul", ["x", "w"], ["y"])], sparse=[sparse("w", [], [])]),
    "an unused sparse initializer": model(RELU, sparse=[sparse("w", [3.0], [1])]),
    "nodes out of order": model([node("Relu", ["a"], ["y"]), node("Neg", ["x"], ["a"])]),
    "a Constant behind its reader": model([node("Mul", ["x", "k"], ["y"]), constant("k")]),
    "types stated twice": model(
        [node("Relu", ["x"], ["a"]), node("Neg", ["a"], ["y"])], stated=[info("a", F, [2]), info("a", F, None)]
    ),
    "a type of nothing": model(RELU, stated=[info("gone", F, [2])]),
    "imports out of order": model(RELU, imports=[("com.microsoft", 1), ("", 17)]),
    "an import twice": model(RELU, imports=[("", 17), ("", 17)]),
    "both names of the domain": model(RELU, imports=[("", 17), ("ai.onnx", 17)]),
    "the long name of the domain": model(
        [node("Relu", ["x"], ["y"], domain="ai.onnx")], imports=[("ai.onnx", 17)]
    ),
    "outputs left out": model([node("Dropout", ["x"], ["y", ""])]),
    "inputs left out": model([node("Clip", ["x", "", ""], ["y"])]),
    "an output without a type": model(RELU, outputs=[onnx.ValueInfoProto(name="y")]),
    "an output twice": model(RELU, outputs=[info("y", F, [2]), info("y", F, [2])]),
    "an input without a shape": model(RELU, inputs=[info("x", F, None)]),
}  # fmt: skip


@pytest.mark.parametrize("target", ["onnxruntime", "tensorrt"])
@pytest.mark.parametrize("name", FILES)
def test_what_a_session_runs_is_compiled(name: str, target: str, tmp_path: Path):
    path, result = tmp_path / "in.onnx", tmp_path / "out.onnx"
    path.write_bytes(FILES[name].SerializeToString())
    feeds = {"x": np.array([3, -2], np.float32), "c": np.array(True)}
    feeds = {i.name: feeds[i.name] for i in FILES[name].graph.input}
    module = qdialect.load(path)
    qdialect.save(module, tmp_path / "read.onnx")
    qdialect.compile(module, target=target)
    qdialect.save(module, result)
    expected = run(str(path), feeds)
    for written in (tmp_path / "read.onnx", result):
        for one, other in zip(expected, run(str(written), feeds), strict=True):
            assert one.tobytes() == other.tobytes()


@pytest.mark.parametrize("broken", [missing("w"), TensorProto(name="w", data_type=F, dims=[3])])
@pytest.mark.parametrize(
    "read",
    [
        model([node("Mul", ["x", "w"], ["y"])]),
        model(RELU, outputs=[info("y", F, [2]), info("w", F, [3])]),
        branches(branch([node("Mul", ["x", "w"], ["t"])]), branch([node("Neg", ["x"], ["e"])])),
    ],
)
def test_data_that_are_read_must_be_there(read: onnx.ModelProto, broken: onnx.TensorProto, tmp_path: Path):
    whole = onnx.ModelProto.FromString(read.SerializeToString())
    whole.graph.initializer.append(broken)
    (tmp_path / "in.onnx").write_bytes(whole.SerializeToString())
    with pytest.raises(qdialect.UserError, match=r"gone\.data|0 bytes"):
        qdialect.load(tmp_path / "in.onnx")


@pytest.mark.parametrize("nodes", [[constant("k"), node("Neg", ["x"], ["k"])], [*RELU, *RELU]])
def test_two_nodes_of_one_output_are_refused(nodes: list[onnx.NodeProto]):
    with pytest.raises(qdialect.UserError, match="output of two nodes"):
        qdialect.load(model([*nodes, node("Abs", [nodes[-1].output[0]], ["z"])]))


@pytest.mark.parametrize(("kind", "what"), [(F, "shape"), (0, "type")])
def test_an_input_says_what_it_lacks(kind: int, what: str):
    inputs = [onnx.ValueInfoProto(name="x") if kind == 0 else info("x", kind, None)]
    module = qdialect.load(
        model([node("MatMul", ["x", "w"], ["y"])], [tensor("w", np.eye(2))], inputs=inputs)
    )
    with pytest.raises(qdialect.UserError, match=f"the {what} of input 'x' is not stated"):
        qdialect.quantize(module, [{"x": np.ones((2, 2), np.float32)}])
