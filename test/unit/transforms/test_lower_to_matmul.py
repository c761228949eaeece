"""
Interpolation as products with constant matrices: the integers behind it are those of Resize, to one step; those of
bytes are the same.
"""

from pathlib import Path
from typing import Any

import numpy as np
import pytest
from graph_builder import Graph, compiled
from onnx.parser import parse_model
from xdsl.context import Context

from qdialect.onnx_io.exporter import export_model
from qdialect.onnx_io.importer import import_model
from qdialect.targets import Target
from qdialect.targets.pricing import TERMS
from qdialect.transforms.lower_to_matmul import INTERPOLATION, PRODUCT, LowerToMatmulPass

SHAPES: list[tuple[dict[str, Any], tuple[int, ...], tuple[int, ...]]] = [
    ({"mode": "linear"}, (3, 12, 10), (3, 96, 70)),
    ({"mode": "linear", "coordinate_transformation_mode": "align_corners"}, (16, 9, 24), (16, 63, 12)),
    ({"mode": "linear", "coordinate_transformation_mode": "asymmetric"}, (4, 60), (4, 180)),
    ({"mode": "linear"}, (2, 5, 12, 10), (2, 10, 18, 20)),
    ({"mode": "cubic", "cubic_coeff_a": -0.5}, (3, 14, 9), (3, 28, 27)),
    ({"mode": "cubic", "exclude_outside": 1}, (3, 20, 16), (3, 30, 8)),
]


@pytest.mark.parametrize("batch", [2, "N"])
@pytest.mark.parametrize("sized", [False, True])
@pytest.mark.parametrize(("attributes", "shape", "result"), SHAPES)
def test_same_pixels_of_a_product(
    attributes: dict[str, Any],
    shape: tuple[int, ...],
    result: tuple[int, ...],
    sized: bool,
    batch: Any,
    tmp_path: Path,
):
    g = Graph()
    x = g.pair("x", 0.02, 131, np.uint8)
    if sized:  # as exporters write an open batch
        g.add("Shape", "all", x)
        g.add("Slice", "front", "all", g.constant("from", [0], np.int64), g.constant("to", [2], np.int64))
        g.add("Concat", "sizes", "front", g.constant("rest", result[1:], np.int64), axis=0)
        g.add("Resize", "m", x, "", "", "sizes", **attributes)
    else:
        scales = [1.0, *(new / old for old, new in zip(shape, result, strict=True))]
        g.add("Resize", "m", x, "", g.constant("scales", scales), **attributes)
    g.add("Identity", "y", g.pair("m", 0.02, 120, np.uint8))
    data = g.rng.normal(-1, 0.8, (2, *shape)).astype(np.float32)
    before, after, ops = compiled(g.model((batch, *shape), (batch, *result), 17), tmp_path, data)
    assert ops.count("MatMul") == sum(old != new for old, new in zip(shape, result, strict=True))
    assert "Resize" not in ops
    assert "Shape" not in ops
    assert np.unique(before).size > 100
    differ = np.abs(after - before)
    assert differ.max() <= 0.02 * 1.01
    assert (differ > 0.001).mean() < 2e-2  # halves of a step, which sums of halves and quarters make often


BYTES: list[tuple[tuple[int, ...], tuple[float, ...], str]] = [
    ((3, 20, 21), (1, 4, 2), "half_pixel"),
    ((8, 30, 9), (1, 2, 4), "asymmetric"),
    ((24, 10, 3), (8, 8, 1), "half_pixel"),  # channels last
    ((4, 20, 12), (1, 0.5, 8), "half_pixel"),
    ((9, 60), (1, 4), "half_pixel"),
    ((3, 6, 10, 8), (1, 2, 4, 2), "half_pixel"),
]


@pytest.mark.parametrize("dtype", [np.uint8, np.int8])
@pytest.mark.parametrize(("shape", "scales", "mode"), BYTES)
def test_same_bytes_of_a_product(
    shape: tuple[int, ...], scales: tuple[float, ...], mode: str, dtype: Any, tmp_path: Path
):
    g = Graph()
    q = g.cast("QuantizeLinear", "x", 1.0, 0, dtype)
    g.add(
        "Resize",
        "m",
        q,
        "",
        g.constant("scales", [1, *scales]),
        mode="linear",
        coordinate_transformation_mode=mode,
    )
    g.add("Cast", "y", "m", to=1)
    result = tuple(round(size * scale) for size, scale in zip(shape, scales, strict=True))
    low, high = np.iinfo(dtype).min, np.iinfo(dtype).max + 1
    data = g.rng.integers(low, high, (2, *shape)).astype(np.float32)
    before, after, ops = compiled(g.model((2, *shape), (2, *result), 13), tmp_path, data)
    assert ops.count("MatMul") == sum(scale != 1 for scale in scales)
    assert "Resize" not in ops
    assert np.unique(before).size > 200
    np.testing.assert_array_equal(after, before)


@pytest.mark.parametrize(("batch", "pays"), [("N", False), (2, True)])
def test_an_unknown_size_is_priced_as_1(batch: Any, pays: bool, monkeypatch: pytest.MonkeyPatch):
    """A product takes as long as 1.5 samples of 4 * 180 pixels."""
    free, each = dict.fromkeys(TERMS, 0.0), dict.fromkeys(("linear", "linear_volume", "cubic"), 1.0)
    costs = {
        PRODUCT: {**free, "call": 0.85 * 1.5 * 4 * 180},
        INTERPOLATION: {**each, "matrix": 0.0, "call": 0.0},
    }
    monkeypatch.setattr(Target, "costs", property(lambda _: costs))
    text = f"""<ir_version: 8, opset_import: ["" : 17]> g (float[{batch},4,60] x) => (float[{batch},4,180] y)
        <float[3] s = {{1.0, 1.0, 3.0}}> {{ y = Resize<mode = "linear">(x, , s) }}"""
    module = import_model(parse_model(text))
    LowerToMatmulPass().apply(Context(), module)
    assert ({node.op_type for node in export_model(module).graph.node} == {"MatMul"}) == pays
