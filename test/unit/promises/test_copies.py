"""`promises.copies`: the last case on one side of each bound, the first on the other."""

from __future__ import annotations

import pytest
from guard_cases import last_op

from qdialect.promises.copies import Copies


@pytest.mark.parametrize(
    ("call", "constant", "place"),
    [
        ("Add(x, k)", "[0.0] : f32", 0), ("Add(k, x)", "[0.0] : f32", 1), ("Add(x, k)", "[1.0] : f32", None),
        ("Sub(x, k)", "[0.0] : f32", 0), ("Sub(k, x)", "[0.0] : f32", None), ("Mul(x, k)", "[1.0] : f32", 0),
        ("Mul(k, x)", "[1.0] : f32", 1), ("Mul(k, x)", "[0.0] : f32", None), ("Div(x, k)", "[1.0] : f32", 0),
        ("Div(k, x)", "[1.0] : f32", None), ("Add(x, k)", "[0.0, 1.0] : 2xf32", None),
    ],
)  # fmt: skip
def test_neutral_constants(call: str, constant: str, place: int | None):
    op = last_op(f"x: 2xf32\nk = {constant}\ny = {call} : *xf32")
    promise = op.get_trait(Copies)
    assert promise is not None
    assert promise.place(op) == place


@pytest.mark.parametrize(
    ("sizes", "diagonal", "upper", "place"),
    [
        ("5x3x4", "[-2] : i64", 1, 0), ("5x3x4", "[-1] : i64", 1, None), ("5x3x4", "[-2] : 1xi64", 1, 0),
        ("5x3x4", "[3] : i64", 0, 0), ("5x3x4", "[2] : i64", 0, None), ("5x3x4", "[-2] : i64", 0, None),
        ("?x1x4", "[0] : i64", 1, 0), ("?x1x4", "[1] : i64", 1, None), ("4x?", "[9] : i64", 0, None),
        ("*", "[0] : i64", 1, None), ("1x4", "i64", 1, None),
    ],
)  # fmt: skip
def test_triangles_that_keep_all(sizes: str, diagonal: str, upper: int, place: int | None):
    operand = f"k = {diagonal}" if "[" in diagonal else f"k: {diagonal}"
    op = last_op(f"x: {sizes}xf32\n{operand}\ny = Trilu(x, k) {{upper = {upper} : i64}} : {sizes}xf32")
    promise = op.get_trait(Copies)
    assert promise is not None
    assert promise.place(op) == place


def test_a_triangle_of_one_row_is_whole():
    op = last_op("x: 1x4xf32\ny = Trilu(x) : 1x4xf32")
    promise = op.get_trait(Copies)
    assert promise is not None
    assert promise.place(op) == 0


@pytest.mark.parametrize(
    ("own", "other", "place"), [("2x3", "3", 1), ("2x3", "1x2x3", None), ("*", "3", None), ("2x3", "*", None)]
)
def test_what_a_condition_of_one_value_selects_has_the_shape_of_the_result(
    own: str, other: str, place: int | None
):
    op = last_op(f"x: {own}xf32\nz: {other}xf32\nk = [1] : i1\ny = Where(k, x, z) : *xf32")
    promise = op.get_trait(Copies)
    assert promise is not None
    assert promise.place(op) == place


@pytest.mark.parametrize(
    ("start", "end", "step", "shapes", "place"),
    [
        (0, (1 << 31) - 1, 1, ("?x4", "?x4"), 0),
        (0, (1 << 31) - 2, 1, ("?x4", "?x4"), None),
        (0, (1 << 63) - 1, 1, ("?x4", "?x4"), 0),
        (1, (1 << 31) - 1, 1, ("?x4", "?x4"), None),
        (0, (1 << 31) - 1, 2, ("?x4", "?x4"), None),
        (0, 3, 1, ("3x4", "3x4"), 0),
        (-3, 5, 1, ("3x4", "3x4"), 0),
        (0, 2, 1, ("3x4", "2x4"), None),
        (2, -4, -1, ("3x4", "3x4"), None),
    ],
)
def test_slices_that_take_all(start: int, end: int, step: int, shapes: tuple[str, str], place: int | None):
    op = last_op(
        f"x: {shapes[0]}xf32\ns = [{start}] : 1xi64\ne = [{end}] : 1xi64\na = [0] : 1xi64\nt = [{step}] : 1xi64\n"
        f"y = Slice(x, s, e, a, t) : {shapes[1]}xf32"
    )
    promise = op.get_trait(Copies)
    assert promise is not None
    assert promise.place(op) == place
