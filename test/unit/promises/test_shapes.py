"""`promises.shapes`: the last case on one side of each bound, the first on the other."""

from __future__ import annotations

import pytest
from guard_cases import last_op

from qdialect.dialects.onnx_types import DYNAMIC
from qdialect.promises.shapes import UNINFERRED, HiddenStates


@pytest.mark.parametrize(
    ("x", "weight", "expected"),
    [
        ("7x3x5xf32", "2x6x24xi8", [(7, 2, 3, 6), (2, 3, 6), (2, 3, 6)]),
        ("?x?x5xf32", "2x6x24xi8", [(DYNAMIC, 2, DYNAMIC, 6), (2, DYNAMIC, 6), (2, DYNAMIC, 6)]),
        ("7x3x5xf32", "2x6x?xi8", None),
        ("7x3xf32", "2x6x24xi8", None),
        ("7x3x5xf32", "6x24xi8", None),
        ("*xf32", "2x6x24xi8", None),
        ("7x3x5xf32", "*xi8", None),
    ],
)
def test_shapes_of_hidden_states(x: str, weight: str, expected: list[tuple[int, ...]] | None):
    op = last_op(f"x: {x}\nw: 2x5x24xi8\nr: {weight}\ny = Sum(x, w, r) : *xf32")
    (states,) = (promise for promise in UNINFERRED.values() if isinstance(promise, HiddenStates))
    assert states.shapes(op) == expected
