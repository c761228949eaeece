"""`raise-arithmetic`: what it takes, the last case and the first that it leaves."""

from __future__ import annotations

import pytest
from guard_cases import last_op

from qdialect.patterns.arithmetic_operands import Constants
from qdialect.transforms.raise_arithmetic import quantizes


@pytest.mark.parametrize(
    ("body", "expected"),
    [
        ("d = Div(x, s) : 2xf32\ny = Round(d) : 2xf32", True),
        ("d = Div(k, s) : 2xf32\ny = Round(d) : 2xf32", False),
        ("y = Round(k) : 2xf32", False),
        ("d = Div(k, s) : 2xf32\ny = QuantizeLinear(d, s) : 2xui8", False),
        ("y = QuantizeLinear(k, s) : 2xui8", False),
        ("y = QuantizeLinear(x, s) : 2xui8", True),
        ("y = Relu(x) : 2xf32", False),
    ],
)
def test_what_quantizes_at_run_time(body: str, expected: bool):
    op = last_op(f"x: 2xf32\nk = [1.0, 2.0] : 2xf32\ns = [0.5] : f32\n{body}")
    assert quantizes(op, Constants()) is expected
