"""`forms.arithmetic`: the last case on one side of each bound, the first on the other."""

from __future__ import annotations

import pytest
from guard_cases import last_op

from qdialect.forms.arithmetic import squared, vector_along


@pytest.mark.parametrize(
    ("values", "sizes", "axis", "expected"),
    [
        ("[1.0, 2.0, 3.0] : 3xf32", (2, 4, 3), 2, [1, 2, 3]),
        ("[1.0, 2.0, 3.0] : 1x3x1xf32", (2, 3, 4), 1, [1, 2, 3]),
        ("[1.0, 2.0, 3.0] : 3x1xf32", (2, 3, 4), 1, [1, 2, 3]),
        ("[7.0] : 1x1x1xf32", (2, 3, 4), 1, [7, 7, 7]),
        ("[1.0, 2.0, 3.0] : 1x1x3x1xf32", (2, 3, 4), 1, None),
        ("[1.0, 2.0, 3.0] : 3xf32", (3, 4, 3), 0, None),
        ("[1.0, 2.0] : 2x1xf32", (2, 3, 4), 1, None),
        ("[1.0, 2.0, 3.0] : 3x1xf16", (2, 3, 4), 1, None),
    ],
)
def test_a_constant_along_one_axis_is_a_vector(
    values: str, sizes: tuple[int, ...], axis: int, expected: list[float] | None
):
    vector = vector_along(last_op(f"k = {values}\ny = Neg(k) : 1xf32").operands[0], sizes, axis)
    assert (None if vector is None else vector.tolist()) == expected


@pytest.mark.parametrize(
    ("call", "squares"),
    [
        ("Mul(a, a)", True),
        ("Mul(a, b)", False),
        ("Mul(b, a)", False),
        ("Pow(a, two)", True),
        ("Pow(a, three)", False),
    ],
)
def test_a_square_is_a_value_times_itself(call: str, squares: bool):
    op = last_op(f"""
        a: 2x3xf32
        b: 2x3xf32
        two = [2.0] : f32
        three = [3.0] : f32
        s = {call} : 2x3xf32
        y = Neg(s) : 2x3xf32""")
    square = squared(op.operands[0])
    assert (square is not None) is squares
    if square is not None:
        assert square == (op.operands[0].owner, square[0].operands[0])
