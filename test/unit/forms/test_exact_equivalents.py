"""Where a form changes its mind, or a number that it computes: the last case on one side, the first on the other."""

from __future__ import annotations

import numpy as np
import pytest
from built_ops import names
from guard_cases import last_op

from qdialect.forms.exact_equivalents import SPELLED, chooser, slopes_of


@pytest.mark.parametrize(
    ("x", "slope", "result", "fits"),
    [
        ("2x3xf32", "[0.5, 0.25, 2.0] : 3xf32", "2x3xf32", True),
        ("2x3xf32", "[0.5, 0.25] : 2x1xf32", "2x3xf32", True),
        ("?x3xf32", "[0.5, 0.25, 2.0] : 3xf32", "?x3xf32", True),
        ("?x3xf32", "[0.5, 0.25, 2.0] : 1x3xf32", "?x3xf32", True),
        ("2x?xf32", "[0.5, 0.25, 2.0] : 3xf32", "2x?xf32", False),
        ("2x3xf32", "[0.5] : 1xf32", "2x3xf32", False),
        ("3xf32", "[0.5, 0.25, 2.0] : 1x3xf32", "3xf32", False),
        ("2x1xf32", "[0.5, 0.25, 2.0] : 3xf32", "2x3xf32", False),
        ("*xf32", "[0.5, 0.25, 2.0] : 3xf32", "*xf32", False),
        ("2x3xf16", "[0.5, 0.25, 2.0] : 3xf16", "2x3xf16", False),
        ("2x3xf32", "", "2x3xf32", False),
    ],
)
def test_slopes_are_several_constants_that_broadcast(x: str, slope: str, result: str, fits: bool):
    stated = f"k = {slope}" if slope else "k: 3xf32"
    op = last_op(f"x: {x}\n{stated}\ny = PRelu(x, k) : {result}")
    slopes = slopes_of(op.operands[0], op.operands[1], op.results[0])
    assert (slopes is not None) is fits


@pytest.mark.parametrize(
    ("slopes", "name"),
    [
        ([0.5, -2.0], "Max"),
        ([0.5, 1.0], "Max"),
        ([1.0, 1.0], "Max"),
        ([1.0, 1.5], "Min"),
        ([0.5, 1.5], None),
        ([0.5, 0.0], None),
        ([0.5, -np.inf], None),
        ([np.nan, 0.5], None),
    ],
)
def test_a_slope_above_1_takes_the_lesser(slopes: list[float], name: str | None):
    assert chooser(np.array(slopes, np.float32)) == name


def test_a_slope_as_max_needs_the_opset_whose_max_broadcasts():
    body = "x: 2x3xf32\ns = [0.5, 0.25, 0.125] : 3xf32\ny = PRelu(x, s) : 2x3xf32"
    assert names(SPELLED["", "PRelu"].parts(last_op(body, 7))) == []
    assert names(SPELLED["", "PRelu"].parts(last_op(body, 8))) == ["Mul", "Max"]
