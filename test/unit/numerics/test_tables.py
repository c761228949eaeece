"""`numerics.tables`: the last case on one side of each bound, the first on the other."""

from __future__ import annotations

import pytest
from guard_cases import Case, parsed, text

from qdialect.numerics.tables import reciprocals
from qdialect.transforms.lower_to_tosa import LowerToTosaPass


@pytest.mark.parametrize("length", [2, 5, 40, 300, 340, 2000])
def test_each_correction_of_a_reciprocal_squares_its_error(length: int):
    """Of the sum of a row, which a Softmax divides by."""
    scale = "!quant.uniform<i8:f32, 0.00390625:-128>"
    case = Case("", "", f"x: 3x{length}x!t\ny = Softmax(x) : 3x{length}x!mine")
    context, module = parsed(f"!mine = {scale}\n{text(case)}")
    LowerToTosaPass().apply(context, module)
    error, count = reciprocals(length)[1], 0
    while error > 2.0**-16:
        error, count = error * error, count + 1
    assert count >= 1
    # one difference for the greatest of a row, and one for each correction
    assert sum(op.name == "tosa.sub" for op in module.walk()) == 1 + count
