"""`patterns.qdq_writer`: the last case on one side of each bound, the first on the other."""

from __future__ import annotations

import pytest
from guard_cases import last_op

from qdialect.patterns import cast_normal_form as placement


@pytest.mark.parametrize(("most", "expected"), [(3, True), (2, False)])
def test_so_many_values_are_looked_at_for_one_that_is_no_number(
    most: int, expected: bool, monkeypatch: pytest.MonkeyPatch
):
    monkeypatch.setattr(placement, "MAX_VISITED_VALUES", most)
    op = last_op("x: 2xf32\na = Relu(x) : 2xf32\nb = Tanh(a) : 2xf32\ny = Add(a, b) : 2xf32")
    assert placement.is_number(op.results[0]) is expected
