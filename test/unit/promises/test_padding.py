"""`promises.padding`: the last case on one side of each bound, the first on the other."""

from __future__ import annotations

import pytest
from guard_cases import last_op
from promised_types import reason

from qdialect.promises.padding import AddsPadding, ZeroPads
from qdialect.reasons import Blocked, answer


@pytest.mark.parametrize(
    ("attributes", "added", "expected"),
    [
        ("", (1, 1, 0, 2), (1, 1, 0, 2)),
        (", pads = array<i64: 1, 0, 0, 0>", (0, 1, 1, 0), "pad-form"),
        (", pads = array<i64: 1, 0, 0, 0>, count_include_pad = 1 : i64", (1, 1, 0, 2), (2, 1, 0, 2)),
        (", pads = array<i64: 1, 0, 0, 0>, count_include_pad = 1 : i64", (2, 1, 0, 2), "pad-form"),
        ("", (2, 3, 2, 3), (2, 3, 2, 3)),
        ("", (0, 0, 3, 0), "pad-form"),
        ("", (0, 0, 2, 4), "pad-form"),
        (", ceil_mode = 1 : i64", (1, 1, 0, 2), "pad-form"),
        (', auto_pad = "SAME_UPPER"', (1, 1, 0, 2), "unknown-shape"),
        (', auto_pad = "VALID"', (1, 1, 0, 2), (1, 1, 0, 2)),
    ],
)
def test_an_average_over_more_zeros(attributes: str, added: tuple[int, ...], expected: tuple[int, ...] | str):
    """Of windows of 3 by 4."""
    op = last_op(
        f"x: 2x3x7x9xf32\ny = AveragePool(x) {{kernel_shape = array<i64: 3, 4>{attributes}}} : *xf32"
    )
    promise = op.get_trait(ZeroPads)
    assert promise is not None
    found = answer(promise.padded, op, added)
    if isinstance(expected, str):
        assert reason(found) == expected
    else:
        assert not isinstance(found, Blocked)
        assert str(found["pads"]) == f"array<i64: {', '.join(map(str, expected))}>"
        assert str(found["count_include_pad"]) == "1 : i64"


@pytest.mark.parametrize(
    ("shape", "name", "numbers", "expected"),
    [
        ("2x3x4", "Pad", [0, 0, 1, 0, 0, 2], (1, 2)),
        ("2x3x4x5", "Pad", [0, 0, 1, 2, 0, 0, 3, 4], (1, 2, 3, 4)),
        ("2x3x4", "Pad", [0, 1, 1, 0, 0, 2], "pad-form"),
        ("2x3x4", "Pad", [0, 0, 1, 1, 0, 2], "pad-form"),
        ("2x3", "Pad", [0, 0, 0, 0], "pad-form"),
        ("2x3x4", "Pad", [0, 0, -1, 0, 0, 2], "pad-form"),
        ("2x3x4", "Pad", [0, 0, 1, 0, 0, -2], "pad-form"),
        ("2x3x4", "Pad", [0, 0, 1, 0, 0, 2], "pad-form"),
    ],
)
def test_pads_of_spatial_axes(shape: str, name: str, numbers: list[int], expected: tuple[int, ...] | str):
    mode = ' {mode = "reflect"}' if expected == "pad-form" else ""
    op = last_op(f"x: {shape}xf32\np = {numbers} : {len(numbers)}xi64\ny = {name}(x, p){mode} : *xf32")
    promise = op.get_trait(AddsPadding)
    assert promise is not None
    spatial = promise.spatial(op)
    assert (reason(spatial) if isinstance(spatial, Blocked) else spatial) == expected
