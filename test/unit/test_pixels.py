"""What is written with channels last moves the same integers, whatever the batch."""

from pathlib import Path
from typing import Any

import numpy as np
import pytest
from test_kernels import Graph, compiled

FORMS: list[tuple[str, dict[str, Any], tuple[int, ...], tuple[int, ...], str]] = [
    ("DepthToSpace", {"blocksize": 2}, (12, 3, 5), (3, 6, 10), "Transpose"),
    ("DepthToSpace", {"blocksize": 2, "mode": "CRD"}, (12, 3, 5), (3, 6, 10), "Gather"),
    ("SpaceToDepth", {"blocksize": 3}, (2, 6, 9), (18, 2, 3), "Transpose"),
    (
        "Resize",
        {"coordinate_transformation_mode": "asymmetric", "nearest_mode": "floor"},
        (3, 2, 4),
        (3, 6, 8),
        "Tile",
    ),
    ("Resize", {"coordinate_transformation_mode": "half_pixel"}, (3, 2, 4), (3, 6, 8), "Tile"),
    ("ReduceMax", {"axes": [2, 3]}, (3, 4, 5), (3, 1, 1), "NhwcMaxPool"),
    ("ReduceMax", {"axes": [2], "keepdims": 0}, (3, 7), (3,), "NhwcMaxPool"),
    ("GlobalMaxPool", {}, (3, 4, 5), (3, 1, 1), "NhwcMaxPool"),
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
    data = g.rng.normal(-1, 0.6, (2, *shape)).astype(np.float32)
    before, after, ops = compiled(g.model((batch, *shape), (batch, *result), 17), tmp_path, data)
    assert written in ops
    assert op not in ops
    assert np.unique(before).size > 5
    np.testing.assert_array_equal(after, before)
