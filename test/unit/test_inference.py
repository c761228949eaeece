"""Shape inference, which runs in a process of its own."""

import faulthandler
import os
from collections.abc import Callable

import numpy as np
import onnx
import pytest
from onnx import helper, numpy_helper

from qdialect import messages


def model() -> onnx.ModelProto:
    shape = numpy_helper.from_array(np.array([0, -1]), "shape")
    nodes = [helper.make_node("Reshape", ["x", "shape"], ["r"]), helper.make_node("Neg", ["r"], ["y"])]
    inputs = [helper.make_tensor_value_info("x", 1, ["batch", 3, 5])]
    graph = helper.make_graph(nodes, "g", inputs, [helper.make_tensor_value_info("y", 1, None)], [shape])
    return helper.make_model(graph, opset_imports=[helper.make_opsetid("", 17)])


def test_finds_types_and_names_of_sizes():
    found = messages.inferred(model())
    [info] = found.graph.value_info
    dims = info.type.tensor_type.shape.dim
    assert (info.name, dims[0].dim_param, dims[1].dim_value) == ("r", "batch", 15)


@pytest.mark.parametrize("end", [lambda: os.abort(), lambda: [1] * (1 << 40), lambda: 1 / 0])
def test_what_goes_wrong_apart_leaves_the_model_as_it_is(
    end: Callable[[], object], monkeypatch: pytest.MonkeyPatch
):

    def ends(*_: object, **__: object) -> object:
        faulthandler.disable()  # its report would go to this process's stderr
        return end()

    monkeypatch.setattr("onnx.onnx_cpp2py_export.shape_inference.infer_shapes", ends)
    given = model()
    assert messages.inferred(given) is given
