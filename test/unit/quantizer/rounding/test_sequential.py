"""Sequential bias correction: every layer's mean is the float model's again, in spite of what comes before it."""

from __future__ import annotations

from typing import Any

import numpy as np
import onnx
from onnx import helper
from onnx_models import onnx_model
from xdsl.context import Context
from xdsl.dialects.builtin import ModuleOp

from qdialect.onnx_io.importer import import_model
from qdialect.quantizer.placement.annotations import annotate
from qdialect.quantizer.rounding.rounding import number_layers, shift_biases
from qdialect.quantizer.rounding.sequential import mean_results, products, sequential_shifts
from qdialect.quantizer.search.noise_ablation import OutputRunner
from qdialect.quantizer.statistics.observer import Observer, value_names
from qdialect.transforms.insert_casts import InsertCastsPass

LAYERS = 5
ROWS = [
    {"x": np.random.default_rng(k).normal(0.5, 1.0, size=(1, 6, 8, 9)).astype(np.float32)} for k in range(16)
]


def model() -> ModuleOp:
    """Convolutions behind each other, some without a bias, and a product with an addition."""
    draw = np.random.default_rng(7)
    nodes: list[onnx.NodeProto] = []
    arrays: dict[str, Any] = {"m": draw.normal(size=(6, 4)).astype(np.float32), "a": np.zeros(4, np.float32)}
    value = "x"
    for k in range(LAYERS - 1):
        arrays[f"w{k}"] = draw.normal(0.02, 0.15, size=(6, 6, 3, 3)).astype(np.float32)
        arrays[f"b{k}"] = draw.normal(size=6).astype(np.float32)
        inputs = [value, f"w{k}"] + ([f"b{k}"] if k % 2 else [])
        nodes.append(helper.make_node("Conv", inputs, [f"c{k}"], f"conv{k}", pads=[1, 1, 1, 1]))
        nodes.append(helper.make_node("Relu", [f"c{k}"], [f"r{k}"], f"relu{k}"))
        value = f"r{k}"
    nodes += [
        helper.make_node("GlobalAveragePool", [value], ["p"]),
        helper.make_node("Flatten", ["p"], ["f"]),
        helper.make_node("MatMul", ["f", "m"], ["mm"], "product"),
        helper.make_node("Add", ["mm", "a"], ["y"], "addition"),
    ]
    proto = onnx_model(nodes, {"x": [1, 6, 8, 9]}, {"y": None}, arrays)
    return import_model(onnx.shape_inference.infer_shapes(proto))


def quantized(module: ModuleOp) -> ModuleOp:
    """Weights of few levels, so that errors are large."""
    observer, names = Observer(module), value_names(module)
    ranges: dict[str, tuple[float, float]] = {}
    for value in [v for v in names if observer.is_visible(v)]:
        seen = np.concatenate([observer.run([value], feeds)[0].reshape(-1) for feeds in ROWS])
        ranges[names[value]] = (min(float(seen.min()), 0.0), max(float(seen.max()), 0.0))
    result = module.clone()
    annotate(result, ranges, dict.fromkeys(ranges, 100))
    InsertCastsPass(target="generic", levels=7).apply(Context(), result)
    return result


def distance(module: ModuleOp, other: ModuleOp) -> float:
    first, second = OutputRunner(module), OutputRunner(other)
    return sum(float(np.square(first.run(feeds) - second.run(feeds)).sum()) for feeds in ROWS)


def test_means_are_those_of_the_float_model() -> None:
    module = model()
    layers = number_layers(module)
    assert len(layers) == LAYERS
    casts = quantized(module)
    before = distance(module, casts)
    shifts = sequential_shifts(module, casts, ROWS)
    assert sorted(shifts) == list(layers)[:-1]  # casts stand between the product and its addition
    wanted = mean_results(module, list(layers), ROWS)
    means = mean_results(casts, list(shifts), ROWS)
    for number, mean in means.items():
        np.testing.assert_allclose(mean, wanted[number], atol=1e-4 * np.abs(wanted[number]).max())
    assert distance(module, casts) < 0.9 * before
    assert shift_biases(module, shifts) == LAYERS - 1


def test_products_are_counted_by_rows_and_weights() -> None:
    module = model()
    number_layers(module)
    assert products(module, {0: 10, 4: 3}) == 10 * 54 + 3 * 6
