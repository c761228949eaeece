"""`upstream.tosa.images`: the last case on one side of each bound, the first on the other."""

from __future__ import annotations

import numpy as np
import pytest
from guard_cases import Case, ops_of, parsed, text

from qdialect.numerics.pixels import coordinates
from qdialect.transforms import get_all_passes
from qdialect.transforms.lower_to_tosa import LowerToTosaPass
from qdialect.upstream.tosa.images import Line, line_of, line_through


@pytest.mark.parametrize(("height", "width", "resized"), [(4, 8, True), (4, 2, False), (2, 4, True)])
def test_pixels_are_resized_if_there_is_a_line_for_both_axes(height: int, width: int, resized: bool):
    """Of 40 columns, 2 are too few for one: rows and columns are picked one by one."""
    case = Case("", "", f"""
        x: 1x1x6x40x!s
        n = [1, 1, {height}, {width}] : 4xi64
        y = Resize(x, _, _, n) {{mode = "nearest"}} : 1x1x{height}x{width}x!s""")  # fmt: skip
    context, module = parsed(text(case))
    get_all_passes()["lower-to-tosa"]()().apply(context, module)
    assert ops_of(module) == ""
    assert ("tosa.resize" in str(module)) is resized


LEGAL = [
    # numerator, denominator, offset, sizes
    (1, 1, 0, 5, 5, True),
    (2048, 1, 0, 2, 2, True),
    (2049, 1, 0, 2, 2, False),
    (0, 1, 0, 1, 1, False),
    (1, 15, 0, 16, 2, True),
    (1, 16, 0, 17, 2, False),
    (2, 31, 0, 17, 2, True),
    (2, 32, 0, 17, 2, False),
    (2, 1, -2, 4, 4, True),
    (2, 1, -3, 4, 4, False),
    (2, 1, 31, 20, 8, True),
    (2, 1, 32, 20, 8, False),
    (1, 1, 0, 17, 1, True),  # the last pixel lies 16 in front of the border
    (1, 1, 0, 18, 1, False),
    (2, 1, 0, 17, 2, True),  # 31 halves in front of it, then 32 and 33
    (2, 1, 0, 17, 1, True),
    (2, 1, -1, 17, 1, False),
    (2, 1, 0, 3, 6, True),  # half a pixel behind it, then a whole one
    (2, 1, 0, 3, 7, False),
    (2, 1, 0, 3, 5, True),
    (2, 1, 1, 3, 5, True),
    (2, 1, 2, 3, 5, False),
]


@pytest.mark.parametrize(("n", "d", "offset", "old", "new", "legal"), LEGAL)
def test_which_scales_offsets_and_borders_tosa_allows(
    n: int, d: int, offset: int, old: int, new: int, legal: bool
):
    border = (new - 1) * d - (old - 1) * n + offset
    line = Line(n, d, offset)
    assert line.border(old, new) == border
    expected = 0 < n <= 2048 and d < 16 * n and -n <= offset < 16 * n and -16 * n <= border < n
    assert line.is_legal(old, new) is expected is legal


@pytest.mark.parametrize("mode", ["align_corners", "asymmetric", "half_pixel", "pytorch_half_pixel"])
@pytest.mark.parametrize(("old", "new"), [(4, 8), (6, 4), (5, 3), (3, 1), (1, 4), (1, 1), (5, 9)])
def test_lines_have_the_coordinates_of_pixels(mode: str, old: int, new: int):
    line = line_of(old, new, mode)
    if mode == "pytorch_half_pixel" and new == 1:
        assert line is None
        return
    assert line is not None
    at = (np.arange(new) * line.d + line.offset) / line.n
    if old > 1 or mode != "align_corners":
        assert np.allclose(at, coordinates(old, new, new / old, mode), atol=1e-5)
    else:
        assert ((0 <= at) & (at <= new)).all()
    assert np.gcd(np.gcd(line.n, line.d), line.offset or line.n) <= 2  # in lowest terms, but for halves


@pytest.mark.parametrize(
    ("old", "new", "rows"),
    [
        (4, 8, [0, 0, 1, 1, 2, 2, 3, 3]),
        (4, 8, [0, 1, 1, 2, 2, 3, 3, 3]),
        (6, 4, [0, 2, 3, 5]),
        (6, 4, [0, 1, 3, 4]),
        (6, 3, [0, 2, 4]),
        (6, 3, [1, 3, 5]),
        (6, 2, [1, 4]),
        (5, 3, [0, 2, 4]),
        (4, 6, [0, 0, 1, 2, 2, 3]),
        (4, 5, [0, 1, 1, 2, 3]),
        (2, 1, [1]),
        (4, 1, [1]),
        (3, 4, [0, 0, 1, 2]),
        (4, 7, [0, 0, 1, 1, 2, 3, 3]),
        (4, 6, [0, 1, 2, 2, 3, 3]),
        (3, 3, None),
    ],
)
def test_a_line_picks_the_rows_that_it_was_asked_for(old: int, new: int, rows: list[int] | None):
    line = line_through(None if rows is None else np.array(rows), old, new)
    assert line is not None
    assert line.is_legal(old, new)
    assert line.nearest(old, new).tolist() == (list(range(old)) if rows is None else rows)


def test_no_line_picks_rows_out_of_order():
    assert line_through(np.array([0, 2, 1, 3]), 4, 4) is None


@pytest.mark.parametrize(
    ("sizes", "legal"), [((7, 73), True), ((27, 19), False), ((8, 64), False), ((8, 60), True)]
)
def test_sums_of_four_pixels_fit_where_their_multiplier_says(sizes: tuple[int, int], legal: bool):
    """A shift of 18 takes 17 bits: 256 times 511 pixels of weight, not 512."""
    height, width = sizes
    parts = height * width
    coarse = f"!mine = !quant.uniform<i8:f32, {float(np.float32(parts * 5000.0))!r}>\n"
    attributes = '{mode = "linear", coordinate_transformation_mode = "asymmetric"}'
    case = Case("", "", f"""
        x: 1x1x1x1x!mine
        n = [1, 1, {height}, {width}] : 4xi64
        y = Resize(x, _, _, n) {attributes} : 1x1x{height}x{width}x!plain""")  # fmt: skip
    context, module = parsed(f"!plain = !quant.uniform<i8:f32, 1.0>\n{coarse}{text(case)}")
    LowerToTosaPass().apply(context, module)
    assert ("tosa.resize" in str(module)) is legal
