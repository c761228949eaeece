"""Interpolation as products with constant matrices: the integers behind it are those of Resize, to one step."""

from pathlib import Path
from typing import Any

import numpy as np
import pytest
from test_kernels import Graph, compiled

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
def test_same_pixels(
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
