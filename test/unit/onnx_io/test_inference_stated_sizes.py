"""Sizes that a model states of one run, and that its nodes do not compute in others."""

import numpy as np
import pytest
from onnx import ModelProto, TensorProto, helper, parser

from qdialect.api import compile
from qdialect.evaluation.session import session
from qdialect.onnx_io.exporter import export_model
from qdialect.onnx_io.importer import import_model

SIZE_OF_WINDOWS = "c = Conv(x, w) s = Shape(c) n = Gather(s, b) l = Concat<axis = 0>(n, m) y = Reshape(c, l)"
CASES: dict[str, tuple[dict[str, list[int]], list[int] | None, str]] = {
    "output": ({}, [1, 40], "s = Shape(x) n = Gather(s, i) l = Concat<axis = 0>(n, m) y = Reshape(x, l)"),
    "output_of_windows": ({}, [1, 6], SIZE_OF_WINDOWS),
    "output_of_another_rank": ({}, [1], SIZE_OF_WINDOWS),
    "inner": ({"t": [1, 40]}, None, "t = Flatten(x) s = Shape(t) y = Expand(m, s)"),
    "windows": ({"c": [1, 2, 2, 3]}, None, "c = Conv(x, w) s = Shape(c) y = Expand(m, s)"),
}  # fmt: skip


def written(inner: dict[str, list[int]], output: list[int] | None, body: str, name: str) -> ModelProto:
    """A model with two open sizes, which have a name or none."""
    model = parser.parse_model(
        f"""<ir_version: 8, opset_import: ["" : 13]> g (float[N,2,M,4] x) => (float[] y)
        <float[2,2,2,2] w = {{1, 2, 3, 4, 5, 6, 7, 8, 8, 7, 6, 5, 4, 3, 2, 1}}, int64[1] m = {{-1}},
        int64[1] i = {{0}}, int64[1] b = {{2}}, int64[2] p = {{2, 3}}> {{ {body} }}"""
    )
    for size in model.graph.input[0].type.tensor_type.shape.dim:
        if size.dim_param and not name:
            size.ClearField("dim_param")
    model.graph.output[0].CopyFrom(helper.make_tensor_value_info("y", TensorProto.FLOAT, output))
    if "Expand" in body:
        model.graph.output[0].type.tensor_type.elem_type = TensorProto.INT64
    model.graph.value_info.extend(
        helper.make_tensor_value_info(tensor, TensorProto.FLOAT, sizes) for tensor, sizes in inner.items()
    )
    return model


@pytest.mark.parametrize("name", ["named", ""])
@pytest.mark.parametrize("case", CASES)
def test_sizes_stated_of_one_run_hold_in_no_other(case: str, name: str):
    """Whoever opens the inputs of a model by hand leaves the sizes of all other tensors as they were."""
    model = written(*CASES[case], name)
    feed = {"x": np.random.default_rng(5).normal(size=(3, 2, 5, 4)).astype(np.float32)}
    expected = session(model).run(None, feed)[0]
    result = session(export_model(compile(import_model(model)).module)).run(None, feed)[0]
    np.testing.assert_array_equal(np.asarray(result), np.asarray(expected))


def test_a_stated_rank_gives_way_to_the_computed_one():
    """onnx's inference stops at other domains, so what is stated of a result behind one is not compared there."""
    model = parser.parse_model(
        """<ir_version: 8, opset_import: ["" : 17, "com.microsoft" : 1]> g (float[N,2,3] x) => (float[y] y)
        <float[3,2] w = {1, 2, 3, 4, 5, 6}> { m = com.microsoft.FusedMatMul(x, w) y = Relu(m) }"""
    )
    model.graph.output[0].CopyFrom(helper.make_tensor_value_info("y", TensorProto.FLOAT, [1, "length"]))
    once = export_model(compile(import_model(model)).module)
    sizes = once.graph.output[0].type.tensor_type.shape.dim
    assert [size.dim_value or size.dim_param for size in sizes] == ["N", 2, 2]
    assert export_model(compile(import_model(once)).module) == once
