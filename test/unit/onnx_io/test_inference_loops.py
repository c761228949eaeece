"""A Loop whose carried value has another shape outside than its body states: its type is known, its shape is not."""

import numpy as np
import pytest
from onnx import ModelProto, TensorProto, helper, numpy_helper

import qdialect
from qdialect.evaluation.session import run


def _model(op: str, outside: list[int | str], inside: list[int | None], stacked: bool) -> ModelProto:
    """Two rounds of `op` on a value that enters with sizes `outside`, where the body states `inside`."""
    f, i, b = TensorProto.FLOAT, TensorProto.INT64, TensorProto.BOOL
    inputs = ["c", "t"] if op == "Max" else ["c"]
    nodes = [helper.make_node(op, inputs, ["r"]), helper.make_node("Identity", ["go"], ["on"])]
    sizes = [f"s{k}" if size is None else size for k, size in enumerate(inside)]
    results = [helper.make_tensor_value_info("on", b, []), helper.make_tensor_value_info("r", f, sizes)]
    if stacked:
        nodes.append(helper.make_node("Identity", ["r"], ["each"]))
        results.append(helper.make_tensor_value_info("each", f, sizes))
    arguments = [("i", i, []), ("go", b, []), ("c", f, sizes)]
    body = helper.make_graph(
        nodes, "body", [helper.make_tensor_value_info(*one) for one in arguments], results
    )
    tensors = {
        "n": np.array(2, np.int64),
        "yes": np.array(True),
        "t": np.float32(0.1),
        "s": np.float32(0.03),
        "z": np.int8(0),
    }
    ends = ["l", *(["stack"] if stacked else [])]
    nodes = [
        helper.make_node("Reshape", ["x", "shape"], ["v"]),
        helper.make_node("Loop", ["n", "yes", "v"], ends, body=body),
        helper.make_node("QuantizeLinear", ["l", "s", "z"], ["q"]),
        helper.make_node("DequantizeLinear", ["q", "s", "z"], ["y"]),
    ]
    given = [
        helper.make_tensor_value_info("x", f, outside),
        helper.make_tensor_value_info("shape", i, [2]),
    ]
    outputs = [helper.make_tensor_value_info(name, f, None) for name in ("y", *ends[1:])]
    held = [numpy_helper.from_array(np.asarray(value), name) for name, value in tensors.items()]
    graph = helper.make_graph(nodes, "g", given, outputs, held)
    return helper.make_model(graph, opset_imports=[helper.make_opsetid("", 17)], ir_version=8)


@pytest.mark.parametrize("op", ["Max", "Relu"])
@pytest.mark.parametrize("stacked", [False, True])
@pytest.mark.parametrize("outside", [[6], ["n"], [2, "m"]])
@pytest.mark.parametrize("inside", [[3, 2], [None, 2]])
def test_the_element_type_is_known(
    op: str, outside: list[int | str], inside: list[int | None], stacked: bool
):
    """The result had no type at all: `--check-numerics` ended with 'Invalid tensor data type 0'."""
    model = _model(op, outside, inside, stacked)
    x = np.random.default_rng(2).normal(size=[6] if len(outside) == 1 else [2, 3]).astype(np.float32)
    feeds = {"x": x, "shape": np.array([3, 2])}
    before = run(model, feeds)
    module = qdialect.load(model.SerializeToString())
    assert "onnx.any" not in str(module)
    qdialect.compile(module, feeds=[feeds])
    for a, b in zip(before, run(qdialect.to_model(module), feeds), strict=True):
        assert np.abs(a - b).max() <= 0.031
