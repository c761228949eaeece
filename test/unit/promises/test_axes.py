"""`promises.axes`: the last case on one side of each bound, the first on the other."""

from __future__ import annotations

import pytest
from promised_types import after, rows

from qdialect.promises.axes import ALONG_AXIS


@pytest.mark.parametrize(
    ("axis", "forward", "backward"), [(0, None, 1), (1, 0, 3), (2, None, 4), (3, 1, None), (4, 2, None)]
)
def test_scales_beside_reduced_axes(axis: int, forward: int | None, backward: int | None):
    body = "x: 3x3x3x3x3xf32\na = [2, 0] : 2xi64\ny = ReduceMax(x, a) {keepdims = 0 : i64} : 3x3x3xf32"
    moved = after(body, rows(0.5, 0.25, 2.0, axis=axis))
    assert moved == (ALONG_AXIS if forward is None else rows(0.5, 0.25, 2.0, axis=forward))
    if backward is not None:
        assert after(body, rows(0.5, 0.25, 2.0, axis=axis), hoists=True) == rows(
            0.5, 0.25, 2.0, axis=backward
        )
