"""What is written with channels last moves the same integers, whatever the batch."""

from pathlib import Path
from typing import Any

import numpy as np
import pytest
from graph_builder import Graph, compiled

FORMS: list[tuple[str, dict[str, Any], tuple[int, ...], tuple[int, ...], str]] = [
    ("DepthToSpace", {"blocksize": 2}, (12, 16, 24), (3, 32, 48), "Transpose"),
    ("DepthToSpace", {"blocksize": 2, "mode": "CRD"}, (12, 16, 24), (3, 32, 48), "DepthToSpace"),
    ("SpaceToDepth", {"blocksize": 3}, (2, 48, 45), (18, 16, 15), "Transpose"),
    (
        "Resize",
        {"coordinate_transformation_mode": "asymmetric", "nearest_mode": "floor"},
        (3, 16, 20),
        (3, 48, 40),
        "Tile",
    ),
    ("Resize", {"coordinate_transformation_mode": "half_pixel"}, (3, 16, 20), (3, 48, 40), "Tile"),
    ("ReduceMax", {"axes": [2, 3]}, (3, 40, 50), (3, 1, 1), "NhwcMaxPool"),
    ("ReduceMax", {"axes": [2], "keepdims": 0}, (3, 1400), (3,), "NhwcMaxPool"),
    ("ReduceMax", {"axes": [2]}, (3, 1400), (3, 1), "NhwcMaxPool"),
    ("GlobalMaxPool", {}, (3, 40, 50), (3, 1, 1), "NhwcMaxPool"),
    ("MaxPool", {"kernel_shape": [3], "strides": [2], "pads": [1, 1]}, (3, 90), (3, 45), "NhwcMaxPool"),
    ("MaxPool", {"kernel_shape": [2, 3, 1]}, (3, 5, 8, 6), (3, 4, 6, 6), "NhwcMaxPool"),
    (
        "MaxPool",
        {"kernel_shape": [4], "strides": [3], "dilations": [2], "ceil_mode": 1},
        (3, 90),
        (3, 29),
        "NhwcMaxPool",
    ),
]


@pytest.mark.parametrize("dtype", [np.uint8, np.int8])
@pytest.mark.parametrize("batch", [2, "N"])
@pytest.mark.parametrize(("op", "attributes", "shape", "result", "written"), FORMS)
def test_channels_last(
    op: str,
    attributes: dict[str, Any],
    shape: tuple[int, ...],
    result: tuple[int, ...],
    written: str,
    batch: Any,
    dtype: Any,
    tmp_path: Path,
):
    g = Graph()
    zero = 131 if dtype is np.uint8 else 3
    inputs = [g.pair("x", 0.02, zero, dtype)]
    if op == "Resize":
        inputs += ["", g.constant("scales", [1, 1, 3, 2])]
    g.add(op, "m", *inputs, **attributes)
    g.add("Identity", "y", g.pair("m", 0.02, zero, dtype))
    data = g.rng.normal(-1, 0.3, (2, *shape)).astype(np.float32)
    before, after, ops = compiled(g.model((batch, *shape), (batch, *result), 17), tmp_path, data)
    assert written in ops
    assert op == written or op not in ops
    assert np.unique(before).size > 2
    np.testing.assert_array_equal(after, before)


@pytest.mark.parametrize(
    ("attributes", "result", "written"),
    [
        ({"pads": [1, 1, 1, 1], "count_include_pad": 1}, (24, 12, 10), "QLinearConv"),
        ({"strides": [3, 2]}, (24, 4, 4), "QLinearConv"),
        ({"dilations": [2, 1]}, (24, 8, 8), "QLinearConv"),
        ({"pads": [1, 1, 1, 1]}, (24, 12, 10), "AveragePool"),
    ],
)
def test_means_under_windows(
    attributes: dict[str, Any], result: tuple[int, ...], written: str, tmp_path: Path
):
    g = Graph()
    g.add("AveragePool", "m", g.pair("x", 0.02, 120), kernel_shape=[3, 3], **attributes)
    step = 0.013
    g.add("Identity", "y", g.pair("m", step, 133))
    data = g.rng.normal(0.1, 0.9, (2, 24, 12, 10)).astype(np.float32)
    opset = 19 if "dilations" in attributes else 17
    before, after, ops = compiled(g.model((2, 24, 12, 10), (2, *result), opset), tmp_path, data)
    assert written in ops
    assert "QLinearAveragePool" not in ops
    assert np.unique(before).size > 50
    np.testing.assert_allclose(after, before, rtol=0, atol=step * 1.001)
    assert (after != before).mean() < 0.01
