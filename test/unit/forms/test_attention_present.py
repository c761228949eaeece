"""Attention of ONNX, whose keys and values of all steps are asked for together, used or not."""

import numpy as np
import pytest
from onnx import ModelProto, TensorProto, helper

import qdialect
from qdialect.evaluation.session import run

HEADS, SIZE, STEPS, PAST = 2, 4, 3, 2


def _model(used: tuple[str, ...], with_past: bool, scores: bool, opset: int) -> ModelProto:
    """used: results of the op that are results of the graph; `scores`: the op has its fourth result too."""
    past = ["", "pk", "pv"] if with_past else []
    results = ["y", "present_key", "present_value", *(["scores"] if scores else [])]
    node = helper.make_node(
        "Attention", ["q", "k", "v", *past], results, q_num_heads=HEADS, kv_num_heads=HEADS
    )
    ends = [helper.make_node("Relu", [name], [f"{name}_end"]) for name in used]
    rows = [1, STEPS, HEADS * SIZE]
    given = [("q", rows), ("k", rows), ("v", rows)]
    given += [(name, [1, HEADS, PAST, SIZE]) for name in past if name]
    inputs = [helper.make_tensor_value_info(name, TensorProto.FLOAT, shape) for name, shape in given]
    outputs = [helper.make_tensor_value_info(f"{name}_end", TensorProto.FLOAT, None) for name in used]
    graph = helper.make_graph([node, *ends], "g", inputs, outputs)
    return helper.make_model(graph, opset_imports=[helper.make_opsetid("", opset)], ir_version=11)


@pytest.mark.parametrize("opset", [23, 25])
@pytest.mark.parametrize("scores", [False, True])
@pytest.mark.parametrize("with_past", [False, True])
@pytest.mark.parametrize(
    "used",
    [
        ("y",),
        ("present_key",),
        ("present_value",),
        ("y", "present_key"),
        ("y", "present_value"),
        ("present_key", "present_value"),
    ],
)
def test_one_of_both_is_used(used: tuple[str, ...], with_past: bool, scores: bool, opset: int):
    """The values of all steps were left out where only the keys are used: no session loaded the result."""
    model = _model(used, with_past, scores, opset)
    rng = np.random.default_rng(4)
    feeds = {
        i.name: rng.normal(size=[d.dim_value for d in i.type.tensor_type.shape.dim]).astype(np.float32)
        for i in model.graph.input
    }
    before = run(model, feeds)
    for exactness in ("exact", "close"):
        module = qdialect.load(model.SerializeToString())
        qdialect.compile(module, exactness=exactness)
        for a, b in zip(before, run(qdialect.to_model(module), feeds), strict=True):
            np.testing.assert_allclose(b, a, rtol=0, atol=0 if exactness == "exact" else 1e-5)
