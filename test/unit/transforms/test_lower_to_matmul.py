"""
Interpolation as products with constant matrices: the integers behind it are those of Resize, to one step; those of
bytes are the same.
"""

from __future__ import annotations

from pathlib import Path
from typing import Any

import numpy as np
import numpy.typing as npt
import pytest
from geometries import runtime
from graph_builder import Graph, compiled
from guard_cases import Case, last_op, ops_of, parsed, text
from onnx.parser import parse_model
from xdsl.context import Context

from qdialect.onnx_io.exporter import export_model
from qdialect.onnx_io.importer import import_model
from qdialect.rewriting.driver import apply_patterns
from qdialect.targets import Target
from qdialect.targets.pricing import (
    TERMS,
)
from qdialect.transforms.lower_to_matmul import (
    INTERPOLATION,
    PRODUCT,
    AxisMatrix,
    LowerToMatMul,
    LowerToMatmulPass,
    are_exact,
)

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


RESIZE = 'x: {0}xf32\nn = [{1}] : {2}xi64\ny = Resize(x, _, _, n) {{mode = "linear"}} : {3}xf32'


@pytest.mark.parametrize(("price", "pays"), [(100.0, False), (100.5, True)])
def test_products_for_an_interpolation_take_less_time(price: float, pays: bool):
    """Rows of 2 and 3 pixels to 4 and 6: 85 for the products, and a share of 85 percent of the kernel's price."""
    op = last_op("x: 1x1x2x3xf32\nn = [1, 1, 4, 6] : 4xi64\ny = Resize(x, _, _, n) : 1x1x4x6xf32")
    steps = [AxisMatrix(3, np.zeros((6, 3), np.float32)), AxisMatrix(2, np.zeros((4, 2), np.float32))]
    # 36 + 48 products, 12 + 24 elements, two calls, one matrix in front of the last axis
    product = {"product": 0.5, "written": 0.25, "call": 16.5}
    kernel = {"linear": 2.0, "call": price - 48, "matrix": 1.0}
    target = runtime({"Interpolation": kernel, "Gemm": product})
    assert LowerToMatMul(target).pays(op, 2, (1, 1, 2, 3), steps) is pays


@pytest.mark.parametrize(
    ("shape", "result", "ops"),
    [("3", "6", "Resize"), ("2x3", "4x6", "MatMul MatMul"), ("1x2x3", "1x4x6", "MatMul MatMul")],
)
def test_interpolations_of_two_axes_or_more_are_products(shape: str, result: str, ops: str):
    sizes = result.split("x")
    _, module = parsed(text(Case("", "", RESIZE.format(shape, ", ".join(sizes), len(sizes), result))))
    apply_patterns(module, "lower-to-matmul", [LowerToMatMul(runtime({}))])
    assert ops_of(module) == ops


def array(dtype: npt.DTypeLike, values: Any) -> npt.NDArray[Any]:
    return np.array(values, dtype)


@pytest.mark.parametrize(
    ("fractions", "exact"),
    [
        ([2.0**-8, 2.0**-8], True),
        ([2.0**-8, 2.0**-9], False),
        ([2.0**-16], True),
        ([2.0**-17], False),
        ([1.0, 1.0], True),
        ([1 / 3], False),
        ([0.5, 1 / 3], False),
    ],
)
def test_sums_of_bytes_that_float32_holds(fractions: list[float], exact: bool):
    steps = [AxisMatrix(k, array(np.float32, [[f, 1 - f]])) for k, f in enumerate(fractions)]
    assert are_exact(steps) is exact
