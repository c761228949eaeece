"""A model with an open batch: no file is written that is expected to lose at a batch of one, or at one of eight."""

from __future__ import annotations

from collections.abc import Sequence
from typing import Any

import numpy as np
import numpy.typing as npt
import onnx
import pytest
from onnx import helper, numpy_helper

import qdialect
from qdialect.ir.interface import main_of
from qdialect.onnx_io.importer import import_model
from qdialect.quantizer.placement.annotations import annotate
from qdialect.quantizer.placement.placement import Placement, place
from qdialect.quantizer.search.candidates import Candidates, Finished
from qdialect.quantizer.search.trials import MAX_TIME_SHARE, MAX_TIME_SHARE_OF_ONE, Choice
from qdialect.quantizer.statistics.profiling import Profiler
from qdialect.targets import target
from qdialect.transforms.insert_casts import bounds_of, elements_of

Array = npt.NDArray[Any]
SIZES = [
    (96, [96] * 8), (80, [80] * 6), (112, [96] * 5), (64, [128, 64] * 3), (128, [64] * 6), (72, [88, 104] * 4),
    (100, [100] * 10), (96, [96]), (640, [128, 128, 8, 128, 640]), (256, [256] * 3), (32, [32] * 4), (300, [20, 300]),
]  # fmt: skip
"""Features of the input, and of each layer."""


def layers(features: int, widths: Sequence[int], batch: int | str, relu: bool = True) -> onnx.ModelProto:
    rng, tensors, nodes = np.random.default_rng(0), dict[str, Array](), list[onnx.NodeProto]()
    now, size = "x", features
    for k, width in enumerate(widths):
        tensors[f"w{k}"] = rng.normal(0, size**-0.5, (size, width)).astype(np.float32)
        tensors[f"b{k}"] = rng.normal(0, 0.1, width).astype(np.float32)
        nodes.append(helper.make_node("Gemm", [now, f"w{k}", f"b{k}"], [f"g{k}"]))
        now, size = f"g{k}", width
        if relu and k < len(widths) - 1:
            nodes.append(helper.make_node("Relu", [now], [f"r{k}"]))
            now = f"r{k}"
    nodes[-1].output[0] = "y"
    info = [
        helper.make_tensor_value_info(name, onnx.TensorProto.FLOAT, [batch, count])
        for name, count in (("x", features), ("y", size))
    ]
    initializers = [numpy_helper.from_array(array, name) for name, array in tensors.items()]
    graph = helper.make_graph(nodes, "g", info[:1], info[1:], initializers)
    return helper.make_model(graph, opset_imports=[helper.make_opsetid("", 17)], ir_version=8)


def rows(features: int, count: int = 32) -> Array:
    return np.random.default_rng(1).normal(size=(count, features)).astype(np.float32)


def placed(model: onnx.ModelProto, x: Array, **options: Any) -> Placement:
    module = import_model(model)
    profiler = Profiler(module)
    size = model.graph.input[0].type.tensor_type.shape.dim[0].dim_value or len(x)
    profiler.add([{"x": x[k : k + size]} for k in range(0, len(x), size)])
    annotate(module, bounds_of(profiler.profile, "minmax", symmetric=False), elements_of(profiler.profile))
    return place(main_of(module), target("onnxruntime"), kernels=True, **options)


@pytest.mark.parametrize(("features", "widths"), SIZES)
def test_an_open_batch_is_priced_as_one_and_as_eight(features: int, widths: list[int]):
    x = rows(features, 8)
    whole = placed(layers(features, widths, "n"), x)
    one = placed(layers(features, widths, 1), x)
    many = placed(layers(features, widths, 8), x)
    assert whole.one_float_cost == pytest.approx(one.float_cost)
    assert whole.float_cost == pytest.approx(many.float_cost)
    assert whole.cost == pytest.approx(many.cost)
    assert whole.one_cost >= one.cost * (1 - 1e-9)  # which is the least
    for_one = placed(layers(features, widths, "n"), x, batch=1)
    assert for_one.one_cost == pytest.approx(one.cost)
    assert for_one.cost >= whole.cost * (1 - 1e-9)


@pytest.mark.parametrize("batch", [1, 3])
def test_a_stated_batch_has_one_price(batch: int):
    done = placed(layers(96, [96] * 4, batch), rows(96, 6))
    assert done.shares()[0] == done.shares()[1]


@pytest.mark.parametrize("relu", [True, False], ids=["relu", "linear"])
@pytest.mark.parametrize(("features", "widths"), SIZES)
def test_what_is_written_is_not_expected_to_lose_at_a_batch_of_one(
    features: int, widths: list[int], relu: bool, monkeypatch: pytest.MonkeyPatch
):
    finished: list[Finished] = []
    finish = Candidates.finish

    def spied(self: Candidates, choice: Choice, feeds: Any = ()) -> Finished:
        finished.append(finish(self, choice, feeds))
        return finished[-1]

    monkeypatch.setattr(Candidates, "finish", spied)
    result = qdialect.quantize(layers(features, widths, "n", relu), data=[{"x": rows(features)}])
    if result.floating:
        assert not result.integer
        return
    [done] = [one for one in finished if one.report is result.report]
    assert done.share <= MAX_TIME_SHARE
    assert 0 < done.share_of_one <= MAX_TIME_SHARE_OF_ONE


@pytest.mark.parametrize("classes", [5, 10, 12])
def test_layers_that_gain_at_one_are_in_integers_where_the_fastest_plan_loses_there(classes: int):
    """With each layer's Relu apart, all of them would lose at a batch of one; the plan for eight, of three, does."""
    result = qdialect.quantize(layers(64, [256, 256, 256, classes], "n"), data=[{"x": rows(64)}])
    assert not result.floating
    assert result.integer >= 1


def test_the_reason_names_the_batch_and_a_stated_one_is_quantized():
    """At a batch of eight integers take 75 % of the time, at one 107 %."""
    model, data = layers(96, [96] * 8, "n"), [{"x": rows(96)}]
    result = qdialect.quantize(model, data=data)
    assert "a batch of one is expected to take" in result.floating
    assert "--batch N" in result.floating
    assert qdialect.quantize(model, data=data, batch=8).integer == 8
