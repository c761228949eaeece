"""`promises.layout`: the last case on one side of each bound, the first on the other."""

from __future__ import annotations

import numpy as np
import pytest
from promised_types import I8, after, flat, reason, rows

from qdialect.dialects.quant import Storage, UniformType
from qdialect.reasons import Blocked


@pytest.mark.parametrize(
    ("indices", "expected"),
    [([2, 0, -3, -1], [2, 0, 0, 2]), ([-4], None), ([3], None), ([1, 3, 0], None)],
)
def test_a_gather_counts_from_both_ends(indices: list[int], expected: list[int] | None):
    body = f"x: 3x4xf32\ni = {indices} : {len(indices)}xi64\ny = Gather(x, i) : ?x4xf32"
    type = rows(0.5, 0.25, 0.125)
    moved = after(body, type)
    if expected is None:
        assert reason(moved) == "invalid-op"
    else:
        assert moved == rows(*type.scales[expected], zeros=tuple(type.zero_points[expected]))


@pytest.mark.parametrize(
    ("axis", "forward", "backward"), [(0, 0, 0), (1, None, None), (2, 3, None), (3, 4, 2)]
)
def test_scales_beside_a_gathered_axis(axis: int, forward: int | None, backward: int | None):
    """Two axes of indices stand in the place of one: axes 1 and 2 of the result."""
    body = "x: ?x?x?x?xf32\ni: ?x?xi64\ny = Gather(x, i) {axis = 1 : i64} : ?x?x?x?x?xf32"
    for hoists, expected in ((False, forward), (True, backward)):
        moved = after(body, rows(0.5, 0.25, axis=axis), hoists=hoists)
        if expected is None:
            assert isinstance(moved, Blocked)
        else:
            assert moved == rows(0.5, 0.25, axis=expected)


@pytest.mark.parametrize(("axis", "forward"), [(0, None), (1, 0), (2, None), (3, 1)])
def test_scales_beside_removed_axes(axis: int, forward: int | None):
    """Along an axis that goes there is one scale."""
    body = "x: 1x3x1x3xf32\na = [2, 0] : 2xi64\ny = Squeeze(x, a) : 3x3xf32"
    if forward is None:
        one = UniformType.per_axis(I8, axis, np.array([0.5], np.float32), np.array([7]))
        assert after(body, one) == flat(0.5, zero=7)
    else:
        assert after(body, rows(0.5, 0.25, 2.0, axis=axis)) == rows(0.5, 0.25, 2.0, axis=forward)


@pytest.mark.parametrize(
    ("axis", "forward", "backward"),
    [(0, (1, [0, 1]), None), (1, (2, [0] * 4), 0), (2, (3, [0, 1]), None), (3, None, 2)],
)
def test_scales_of_repeated_elements(axis: int, forward: tuple[int, list[int]] | None, backward: int | None):
    body = "x: 2x1x2xf32\ns = [3, 2, 4, 2] : 4xi64\ny = Expand(x, s) : 3x2x4x2xf32"
    if forward is not None:
        size = (2, 1, 2)[axis]
        type = UniformType.per_axis(
            Storage.of("i8"), axis, np.array([0.5, 0.25][:size], np.float32), np.array([1, 2][:size])
        )
        picked = [0, 0, 0, 0] if size == 1 else forward[1]
        expected = rows(*type.scales[picked], axis=forward[0], zeros=tuple(type.zero_points[picked]))
        assert after(body, type) == expected
    size = (3, 2, 4, 2)[axis]
    type = rows(*[0.5, 0.25, 2.0, 4.0][:size], axis=axis)
    moved = after(body, type, hoists=True)
    kept = {1: 0, 3: 2}.get(axis)
    assert (reason(moved) == "scales-along-axis") if kept is None else moved == type.replace(axis=kept)


@pytest.mark.parametrize(
    ("attributes", "constant", "axis", "expected"),
    [
        (" {axis = 0 : i64}", "[1, 0, 1] : 3xi1", 0, (0, [0, 2])),
        (" {axis = 0 : i64}", "[0, 1] : 2xi1", 0, "scales"),
        (" {axis = 0 : i64}", "[1, 1, 0, 1] : 4xi1", 0, "scales-along-axis"),
        (" {axis = 0 : i64}", "[0, 0, 0] : 3xi1", 0, "scales-along-axis"),
        (" {axis = 0 : i64}", "3xi1", 0, "scales-along-axis"),
        (" {axis = 1 : i64}", "[1, 0, 1] : 3xi1", 0, (0, [0, 1, 2])),
        ("", "[1, 0, 1] : 3xi1", 0, "scales-along-axis"),
    ],
)
def test_scales_of_a_selection(
    attributes: str, constant: str, axis: int, expected: tuple[int, list[int]] | str
):
    line = f"c = {constant}" if constant.startswith("[") else f"c: {constant}"
    type = rows(0.5, 0.25, 2.0)
    moved = after(f"x: 3x4xf32\n{line}\ny = Compress(x, c){attributes} : *xf32", type)
    if expected == "scales":
        assert moved == flat(0.25, zero=2)
    elif isinstance(expected, str):
        assert reason(moved) == expected
    else:
        assert moved == rows(*type.scales[expected[1]], zeros=tuple(type.zero_points[expected[1]]))
