"""A shape that only a run tells is none that a file states: files state the size of one run, of outputs and inside."""

from __future__ import annotations

from typing import Any

import numpy as np
import onnx
import onnxruntime as ort
import pytest
from onnx import TensorProto, helper, numpy_helper

import qdialect
from qdialect.evaluation.session import run

node, info = helper.make_node, helper.make_tensor_value_info
F, I64, B = TensorProto.FLOAT, TensorProto.INT64, TensorProto.BOOL
X = np.arange(8, dtype=np.float32).reshape(2, 2, 2) - 3
S = "s"
Case = tuple[list[onnx.NodeProto], dict[str, Any], list[int]]
"""Nodes from x to r, the inputs that decide the shape, the shape of another run, which the file states."""


def ints(*values: int) -> Any:
    return np.array(values, np.int64)


CASES: dict[str, Case] = {
    "Reshape": ([node("Reshape", ["x", S], ["r"])], {S: ints(4, 1, 2)}, [2, 2, 2]),
    "Reshape to a known rank": ([node("Reshape", ["x", S], ["r"])], {S: ints(8)}, [8]),
    "Reshape by half a list": (
        [node("Concat", [S, "two"], ["l"], axis=0), node("Reshape", ["x", "l"], ["r"])],
        {S: ints(4)},
        [1, 2],
    ),
    "Unsqueeze": ([node("Unsqueeze", ["x", S], ["r"])], {S: ints(1)}, [1, 2, 2, 2]),
    "Squeeze": (
        [node("Reshape", ["x", "l"], ["u"]), node("Squeeze", ["u", S], ["r"])],
        {"l": ints(1, 8, 1), S: ints(0)},
        [1, 8],
    ),
    "Expand": ([node("Expand", ["x", S], ["r"])], {S: ints(3, 1, 1, 1)}, [1, 2, 2, 2]),
    "Tile": ([node("Tile", ["x", S], ["r"])], {S: ints(1, 3, 1)}, [2, 2, 2]),
    "Slice": ([node("Slice", ["x", "zero", S], ["r"])], {S: ints(1)}, [2, 2, 2]),
    "Slice, all axes": (
        [node("Slice", ["x", "zero3", S, "axes"], ["r"])],
        {S: ints(1, 2, 1)},
        [2, 2, 2],
    ),
    "Range": ([node("Range", ["zero_", S, "one_"], ["g"]), node("Cast", ["g"], ["r"], to=F)], {S: np.array(5)}, [3]),
    "ConstantOfShape": ([node("ConstantOfShape", [S], ["r"])], {S: ints(3, 2)}, [1, 2]),
    "OneHot": ([node("OneHot", ["zero", S, "values"], ["r"])], {S: np.array(4)}, [1, 2]),
    "Resize": (
        [node("Unsqueeze", ["x", "zero"], ["u"]), node("Resize", ["u", "", "", S], ["r"], mode="nearest")],
        {S: ints(1, 2, 4, 6)},
        [1, 2, 2, 2],
    ),
    "Resize by factors": (
        [node("Unsqueeze", ["x", "zero"], ["u"]), node("Resize", ["u", "", S], ["r"], mode="nearest")],
        {S: np.array([1, 1, 2, 3], np.float32)},
        [1, 2, 2, 2],
    ),
    "Pad": ([node("Pad", ["x", S], ["r"])], {S: ints(1, 0, 0, 0, 2, 0)}, [2, 2, 2]),
    "TopK": ([node("TopK", ["x", S], ["r", "places"])], {S: ints(1)}, [2, 2, 2]),
    "NonZero": ([node("NonZero", ["x"], ["z"]), node("Cast", ["z"], ["r"], to=F)], {}, [3, 3]),
    "Compress": ([node("Compress", ["x", S], ["r"])], {S: np.array([True, False, True])}, [2]),
    "Gather": ([node("Gather", ["x", S], ["r"])], {S: ints(0, 1, 1)}, [2, 2, 2]),
    "ReduceSum": ([node("ReduceSum", ["x", S], ["r"], keepdims=0)], {S: ints(1)}, [2, 2]),
    "an Identity between": (
        [node("Identity", [S], ["l"]), node("Reshape", ["x", "l"], ["r"])],
        {S: ints(4, 2)},
        [2, 4],
    ),
    "an Add between": (
        [node("Add", [S, "zero"], ["l"]), node("Reshape", ["x", "l"], ["r"])],
        {S: ints(4, 2)},
        [2, 4],
    ),
}  # fmt: skip
CONSTANTS = {
    "two": ints(2),
    "zero": ints(0),
    "zero3": ints(0, 0, 0),
    "axes": ints(0, 1, 2),
    "zero_": np.array(0),
    "one_": np.array(1),
    "values": np.array([0, 1], np.float32),
}
BEHIND: dict[str, list[onnx.NodeProto]] = {
    "alone": [],
    "Relu": [node("Relu", ["r"], ["y"])],
    "quantized": [
        node("QuantizeLinear", ["r", "qs", "qz"], ["q"]),
        node("DequantizeLinear", ["q", "qs", "qz"], ["y"]),
    ],
    "Reshape to its own shape": [node("Shape", ["r"], ["sh"]), node("Reshape", ["r", "sh"], ["y"])],
}
OPEN = {"Gather", "NonZero", "Compress"}
"""Cases whose inputs state an open size: the deciding tensor's own."""


def model_of(case: Case, behind: str, stated: str) -> tuple[onnx.ModelProto, dict[str, Any]]:
    """stated: where the file states the shape of another run, of the output or of the tensor inside."""
    nodes, given, shape = case
    nodes = [*nodes, *BEHIND[behind]]
    end = nodes[-1].output[0]
    values = {**CONSTANTS, "qs": np.float32(0.25), "qz": np.uint8(9)}
    used = {name for n in nodes for name in n.input}
    tensors = [numpy_helper.from_array(np.asarray(v), k) for k, v in values.items() if k in used]
    kinds = {np.dtype(np.int64): I64, np.dtype(bool): B, np.dtype(np.float32): F}
    inputs = [info("x", F, list(X.shape))]
    for name, value in given.items():
        is_open = any(n.op_type in OPEN for n in nodes)
        inputs.append(info(name, kinds[value.dtype], ["n"] if is_open else list(value.shape)))
    output = info(end, F, shape if stated == "output" else None)
    inside = [info("r", F, shape)] if end != "r" else []
    graph = helper.make_graph(
        nodes, "g", inputs, [output], tensors, value_info=inside if stated == "inside" else []
    )
    model = helper.make_model(graph, opset_imports=[helper.make_opsetid("", 17)], ir_version=8)
    return model, {"x": X, **given}


@pytest.mark.parametrize("target", ["onnxruntime", "tensorrt"])
@pytest.mark.parametrize("stated", ["output", "inside"])
@pytest.mark.parametrize("behind", BEHIND)
@pytest.mark.parametrize("name", CASES)
def test_what_a_run_decides_wins(name: str, behind: str, stated: str, target: str):
    model, feeds = model_of(CASES[name], behind, stated)
    module = qdialect.load(model)
    qdialect.compile(module, target=target, exactness="exact")
    result = qdialect.to_model(module)
    options = ort.SessionOptions()
    options.log_severity_level = 4
    [expected], [here] = run(model, feeds), run(result, feeds)
    assert (here.shape, here.tobytes()) == (expected.shape, expected.tobytes())
    [default] = map(np.asarray, ort.InferenceSession(result.SerializeToString(), options).run(None, feeds))
    assert default.tobytes() == expected.tobytes()
    if name != "Squeeze":  # by a run-time axis: a default session believes what a file states of it
        assert default.shape == expected.shape


@pytest.mark.parametrize("name", CASES)
def test_an_output_states_what_its_file_stated(name: str):
    model, _ = model_of(CASES[name], "alone", "output")
    if name in OPEN or name == "Reshape by half a list":  # the nodes tell other sizes
        return
    module = qdialect.load(model)
    qdialect.compile(module)
    [output] = qdialect.to_model(module).graph.output
    assert [d.dim_value for d in output.type.tensor_type.shape.dim] == CASES[name][2]


def test_the_shape_of_a_stack_is_one_of_a_run():
    """An iteration reshapes by an input; the file states the shape of another run."""
    inner = [node("Identity", ["go"], ["on"]), node("Reshape", ["x", S], ["b"])]
    ends = [info("k", I64, []), info("go", B, [])]
    body = helper.make_graph(inner, "t", ends, [info("on", B, []), info("b", F, None)])
    inputs = [info("x", F, [2, 2, 2]), info(S, I64, [2]), info("c", B, []), info("n", I64, [])]
    nodes = [node("Loop", ["n", "c"], ["y"], body=body)]
    graph = helper.make_graph(nodes, "g", inputs, [info("y", F, [1, 2, 4])])
    model = helper.make_model(graph, opset_imports=[helper.make_opsetid("", 17)], ir_version=8)
    module = qdialect.load(model)
    qdialect.compile(module, exactness="exact")
    feeds = {"x": X, S: ints(4, 2), "c": np.array(True), "n": np.array(1)}
    assert run(qdialect.to_model(module), feeds)[0].shape == run(model, feeds)[0].shape == (1, 4, 2)
