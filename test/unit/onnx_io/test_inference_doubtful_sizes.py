"""Sizes that onnx's inference counts otherwise than a session: what a file states of them stays."""

from __future__ import annotations

from typing import Any

import numpy as np
import onnx
import pytest
from onnx import helper, numpy_helper
from onnx_models import onnx_model

import qdialect
from qdialect.evaluation.session import run

Case = tuple[str, dict[str, Any], list[int], Any, int]
"""Op, attributes, sizes of the image, weight or factors, opset."""


def weight(*shape: int) -> Any:
    return np.random.default_rng(0).normal(size=shape).astype(np.float32)


def factors(*values: float) -> Any:
    return np.array([1, 1, *values], np.float32)


SAME = {"auto_pad": "SAME_UPPER"}
LOWER = {"auto_pad": "SAME_LOWER"}
CASES: list[Case] = [
    ("ConvTranspose", {**SAME, "strides": [2, 2], "output_padding": [1, 0]}, [14, 8], weight(2, 3, 3, 3), 18),
    ("ConvTranspose", {**SAME, "strides": [2, 3], "output_padding": [1, 2]}, [5, 4], weight(2, 3, 3, 3), 13),
    ("ConvTranspose", {**LOWER, "strides": [3, 2], "output_padding": [0, 1]}, [5, 4], weight(2, 3, 2, 2), 11),
    ("ConvTranspose", {**LOWER, "strides": [2, 2], "output_padding": [1, 1]}, [6, 6], weight(2, 3, 4, 4), 22),
    ("MaxPool", {**SAME, "kernel_shape": [3, 3], "dilations": [1, 2]}, [9, 9], None, 13),
    ("MaxPool", {**LOWER, "kernel_shape": [2, 4], "dilations": [2, 2], "strides": [2, 1]}, [12, 9], None, 17),
    ("MaxPool", {**SAME, "kernel_shape": [3, 3], "dilations": [2, 2], "ceil_mode": 1}, [9, 9], None, 22),
    ("AveragePool", {**SAME, "kernel_shape": [3, 3], "dilations": [2, 2]}, [14, 9], None, 19),
    ("AveragePool", {**LOWER, "kernel_shape": [1, 4], "dilations": [1, 2]}, [10, 9], None, 21),
    ("LpPool", {**LOWER, "kernel_shape": [3, 3], "dilations": [2, 2]}, [14, 9], None, 18),
    ("LpPool", {**SAME, "kernel_shape": [2, 3], "dilations": [1, 2]}, [14, 6], None, 22),
    ("Resize", {"mode": "nearest"}, [10, 9], factors(1.3, 2), 13),
    ("Resize", {"mode": "linear"}, [13, 10], factors(0.6, 0.7), 17),
    ("Resize", {"mode": "nearest"}, [5, 10], factors(2.6, 2), 19),
    ("Resize", {"mode": "nearest"}, [11, 10], factors(1.1, 1.3), 10),
    ("Upsample", {"mode": "nearest"}, [10, 4], factors(1.3, 2), 9),
]


def model_of(case: Case) -> tuple[onnx.ModelProto, dict[str, Any], tuple[int, ...]]:
    op, attributes, sizes, other, opset = case
    inputs = ["x", "w"] if other is not None else ["x"]
    if op == "Resize" and opset > 10:
        inputs = ["x", "", "w"]
    node = helper.make_node(op, inputs, ["y"], **attributes)
    held = [] if other is None else [numpy_helper.from_array(other, "w")]
    ends = {"x": [1, 2, *sizes]}, [onnx.ValueInfoProto(name="y")]
    model = onnx_model([node], *ends, held, opset=opset, ir_version=8)
    feeds = {"x": np.random.default_rng(1).normal(size=(1, 2, *sizes)).astype(np.float32)}
    return model, feeds, run(model, feeds)[0].shape


@pytest.mark.parametrize("target", ["onnxruntime", "openvino"])
@pytest.mark.parametrize("case", CASES)
def test_a_stated_size_that_a_session_computes_stays(case: Case, target: str):
    model, feeds, shape = model_of(case)
    model.graph.output[0].CopyFrom(helper.make_tensor_value_info("y", 1, shape))
    module = qdialect.load(model)
    qdialect.compile(module, target=target)
    result = qdialect.to_model(module)
    assert tuple(d.dim_value for d in result.graph.output[0].type.tensor_type.shape.dim) == shape
    np.testing.assert_allclose(run(result, feeds)[0], run(model, feeds)[0], atol=1e-5)


@pytest.mark.parametrize("case", CASES)
def test_no_other_size_is_stated(case: Case):
    """A Shape behind the op is that of the tensor which a session computes."""
    model, feeds, shape = model_of(case)
    model.graph.node.append(helper.make_node("Shape", ["y"], ["s"]))
    model.graph.output[0].CopyFrom(onnx.ValueInfoProto(name="s"))
    module = qdialect.load(model)
    qdialect.compile(module, exactness="exact")
    assert run(qdialect.to_model(module), feeds)[0].tolist() == list(shape)
