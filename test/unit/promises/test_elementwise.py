"""`promises.elementwise`: the last case on one side of each bound, the first on the other."""

from __future__ import annotations

import pytest
from guard_cases import last_op

from qdialect.promises.elementwise import Undefined


@pytest.mark.parametrize(
    ("op", "constant", "expected"),
    [
        ("Div", "[2.0, 0.0] : 2xf32", True), ("Div", "[2.0, -3.0] : 2xf32", False), ("Div", "2xf32", True),
        ("Mod", "[2.0, 0.0] : 2xf32", True), ("Pow", "[2.0, -3.0] : 2xf32", False),
        ("Pow", "[2.0, 0.5] : 2xf32", True), ("Pow", "2xf32", True), ("Log", "[2.0] : f32", True),
    ],
)  # fmt: skip
def test_ops_that_are_undefined_somewhere(op: str, constant: str, expected: bool):
    line = f"k = {constant}" if constant.startswith("[") else f"k: {constant}"
    one = last_op(f"x: 2xf32\n{line}\ny = {op}({'x' if op == 'Log' else 'x, k'}) : 2xf32")
    promise = one.get_trait(Undefined)
    assert promise is not None
    assert promise.for_some(one) is expected
