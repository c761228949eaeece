"""`promises.affine`: the last case on one side of each bound, the first on the other."""

from __future__ import annotations

import pytest
from guard_cases import last_op

from qdialect.promises.affine import AFFINE
from qdialect.reasons import UNKNOWN_RANK, Blocked


@pytest.mark.parametrize(
    ("constant", "axis", "factor"),
    [("[3.0] : f32", None, 3.0), ("[3.0] : 1xf32", "rank", None), ("[3.0, 5.0] : 2xf32", "rank", None)],
)
def test_a_scalar_scales_a_tensor_of_any_rank(constant: str, axis: str | None, factor: float | None):
    op = last_op(f"x: *xf32\nk = {constant}\ny = Mul(x, k) : *xf32")
    map = AFFINE["", "Mul"].map(op)
    if axis is not None:
        assert map == UNKNOWN_RANK
    else:
        assert map is not None
        assert not isinstance(map, Blocked)
        assert (map.place, map.axis, float(map.factor), float(map.shift)) == (0, None, factor, 0)
