"""`patterns.concat_scales`: the last case on one side of each bound, the first on the other."""

from __future__ import annotations

import numpy as np
import pytest
from guard_cases import last_op

from qdialect.patterns.concat_scales import MAX_REPEATED_ELEMENTS, repeated_rows


@pytest.mark.parametrize(
    ("shape", "row", "expected"),
    [
        ("2x3x4", "4", (2, 3, 4)),
        ("2x3x4", "1x4", (2, 3, 4)),
        ("?x3x4", "4", (3, 4)),
        ("2x?x4", "4", None),
        ("4", "4", None),
        ("1x4", "4", None),
        (f"3x{MAX_REPEATED_ELEMENTS // 4}x4", "4", (MAX_REPEATED_ELEMENTS // 4, 4)),
        (f"3x{MAX_REPEATED_ELEMENTS // 4 + 1}x4", "4", None),
    ],
)
def test_rows_are_repeated_as_far_as_sizes_are_known_and_small(
    shape: str, row: str, expected: tuple[int, ...] | None
):
    op = last_op(f"x: {shape}xf32\nk = [1.0, 2.0, 3.0, 4.0] : {row}xf32\ny = Mul(x, k) : {shape}xf32")
    rows = repeated_rows(op, 1)
    if expected is None:
        assert rows is None
    else:
        assert rows is not None
        assert np.array_equal(rows, np.broadcast_to(np.array([1, 2, 3, 4], np.float32), expected))
        assert rows.shape == expected


@pytest.mark.parametrize(
    "body",
    [
        "x: 2x1xf32\nk = [1.0, 2.0, 3.0, 4.0] : 4xf32\ny = Mul(x, k) : 2x4xf32",
        "x: 2x4xf32\nk = [1.0, 2.0, 3.0, 4.0] : 4x1xf32\ny = Mul(x, k) : 4x4xf32",
        "x: 2x4xf32\nk = [1.0] : 1xf32\ny = Mul(x, k) : 2x4xf32",
        "x: *xf32\nk = [1.0, 2.0] : 2xf32\ny = Mul(x, k) : *xf32",
        "x: 2x4xf32\nk: 4xf32\ny = Mul(x, k) : 2x4xf32",
    ],
)
def test_what_is_no_row_is_not_repeated(body: str):
    assert repeated_rows(last_op(body), 1) is None
