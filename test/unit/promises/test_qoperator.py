"""`promises.qoperator`: the last case on one side of each bound, the first on the other."""

from __future__ import annotations

import pytest
from guard_cases import last_op

from qdialect.promises.qoperator import reading, result_element
from qdialect.reasons import Blocked


@pytest.mark.parametrize(
    ("call", "expected"),
    [
        ("QLinearAdd(a, s, _, b, s, _, s, _)", "i8"),
        ("QLinearAdd(b, s, _, a, s, _, s, _)", "ui8"),
        ("QLinearAdd(b, s, _, b, s, _, s, z)", "i8"),
        ("QLinearWhere(c, a, s, z, a, s, z, s, _)", "ui8"),
    ],
)
def test_a_result_without_a_zero_point_is_stored_as_its_operand(call: str, expected: str):
    """The op's own type counts where the first operand is not scaled."""
    op = last_op(f"a: 2xi8\nb: 2xui8\nc: 2xi1\ns = [0.5] : f32\nz = [3] : i8\ny = {call} : 2xui8")
    found = reading(op)
    assert not isinstance(found, Blocked)
    assert str(result_element(op, found)) == expected
