"""`fold-shapes`: what it takes, the last case and the first that it leaves."""

from __future__ import annotations

import pytest
from guard_cases import Case, parsed, text

from qdialect.transforms import get_all_passes

UNRANKED = [
    "i: 2xi64\ng = Gather(x, i) : *xf32",
    "i = [0] : 1xi64\ng = Unsqueeze(x, i) : *xf32",
    "i: ?xi64\ng = Unsqueeze(x, i) : *xf32",
    "i = [0] : 1xi64\ng = Squeeze(x, i) : *xf32",
    "g = Squeeze(x) : *xf32",
    "g = Transpose(x) {perm = array<i64: 1, 0>} : *xf32",
    "g = Transpose(x) : *xf32",
    "g = Concat(x, x) {axis = 0 : i64} : *xf32",
    "i: 2xi64\ng = Expand(x, i) : *xf32",
    "i: ?xi64\ng = Reshape(x, i) : *xf32",
    "g = Flatten(x) : *xf32",
    "i = [0] : 1xi64\nj = [1] : 1xi64\ng = Slice(x, i, j) : *xf32",
    "g = Mul(x, x) : *xf32",
    "g = MatMul(x, x) : *xf32",
    "g = ReduceMax(x) {axes = array<i64: 0>} : *xf32",
]


@pytest.mark.parametrize(
    "body", [*(f"x: *xf32\n{body}" for body in UNRANKED), "x: 2x3xf32\ni: *xi64\ng = Gather(x, i) : *xf32"]
)
def test_sizes_that_nothing_tells_are_left(body: str):
    context, module = parsed(text(Case("", "", f"{body}\ny = Shape(g) : ?xi64")))
    before = str(module)
    get_all_passes()["fold-shapes"]()().apply(context, module)
    assert str(module) == before
