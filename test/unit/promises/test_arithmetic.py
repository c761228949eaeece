"""`promises.arithmetic`: the last case on one side of each bound, the first on the other."""

from __future__ import annotations

import numpy as np
import pytest
from guard_cases import last_op

from qdialect.promises.arithmetic import Bounds, along, step_of


@pytest.mark.parametrize(
    ("body", "ordered", "expected"),
    [
        ("x: 2xf32\nk = [3.0] : f32\ny = Mul(x, k) : 2xf32", False, (0, [3])),
        ("x: 2xf32\nk = [3.0] : f32\ny = Mul(k, x) : 2xf32", False, (1, [3])),
        ("x: 2xf32\nk = [3.0] : f32\ny = Div(k, x) : 2xf32", True, None),
        ("a = [2.0, 5.0] : 2xf32\nk = [3.0] : 1xf32\ny = Mul(a, k) : 2xf32", False, (0, [3])),
        ("a = [2.0, 5.0] : 2xf32\nk = [3.0] : 1xf32\ny = Mul(k, a) : 2xf32", False, (1, [3])),
        ("a = [2.0, 5.0] : 2xf32\nk = [3.0, 4.0] : 2xf32\ny = Mul(a, k) : 2xf32", False, None),
        ("x: 2xf32\nz: 2xf32\ny = Mul(x, z) : 2xf32", False, None),
    ],
)
def test_the_constant_of_a_step_is_the_smaller(
    body: str, ordered: bool, expected: tuple[int, list[float]] | None
):
    op = last_op(body)
    step = step_of(op, ordered=ordered)
    assert (
        None if step is None else (list(op.operands).index(step.value), step.constant.reshape(-1).tolist())
    ) == expected


@pytest.mark.parametrize(
    ("shape", "rank", "axis", "expected"),
    [
        ((), None, 0, ()),
        ((1, 1), 2, 0, ()),
        ((1, 1), None, 0, ()),
        ((1, 1), 1, 0, None),
        ((3,), None, 0, None),
        ((3,), 2, 1, (3,)),
        ((3,), 2, 0, None),
        ((3, 1), 2, 0, (3,)),
        ((1, 3, 1), 2, 0, None),
        ((1, 3, 1), 3, 1, (3,)),
        ((2, 3), 2, 1, None),
    ],
)
def test_a_constant_along_one_axis(
    shape: tuple[int, ...], rank: int | None, axis: int, expected: tuple[int, ...] | None
):
    entries = along(np.ones(shape, np.float32), rank, axis)
    assert (None if entries is None else entries.shape) == expected


@pytest.mark.parametrize(
    ("call", "constant", "expected"),
    [
        ("Max(x, k)", "[3.0] : f32", (3, np.inf)),
        ("Max(k, x)", "[3.0] : 1xf32", (3, np.inf)),
        ("Min(x, k)", "[3.0] : 1xf32", (-np.inf, 3)),
        ("Min(x, k)", "[3.0] : 1x1xf32", None),
        ("Max(x, k)", "[3.0, 4.0] : 2xf32", None),
        ("Max(x, k, k)", "[3.0] : f32", None),
    ],
)
def test_one_number_is_a_bound(call: str, constant: str, expected: tuple[float, float] | None):
    op = last_op(f"x: 2xf32\nk = {constant}\ny = {call} : *xf32")
    promise = op.get_trait(Bounds)
    assert promise is not None
    step = promise.step(op)
    assert (None if step is None else step[1:]) == expected
    assert step is None or step[0] is op.operands[call.startswith(("Max(k", "Min(k"))]
