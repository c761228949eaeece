"""`upstream.tosa.elementwise`: the last case on one side of each bound, the first on the other."""

from __future__ import annotations

import numpy as np
import pytest
from guard_cases import last_op

from qdialect.dialects.quant import Storage, UniformType
from qdialect.reasons import Blocked
from qdialect.upstream.tosa.elementwise import COARSE, terms_of_sum


@pytest.mark.parametrize(
    ("exponent", "count", "bits"),
    [(-3, 2, 20), (-1, 2, 20), (0, 2, 19), (5, 2, 14), (18, 2, 1), (19, 2, None), (0, 3, 19), (0, 5, 18), (0, 9, 17),
     (17, 5, 1), (18, 5, None)],
)  # fmt: skip
def test_terms_have_as_many_fraction_bits_as_32_bits_allow(exponent: int, count: int, bits: int | None):
    """One less for each doubling of the largest ratio from 1 on, and of the number of terms from 4 on."""
    scale = f"!quant.uniform<i8:f32, {float(2.0**exponent)!r}>"
    op = last_op(f"x: 2x3x!mine\ny = Sum({', '.join(['x'] * count)}) : 2x3x!t", mine=scale)
    result = terms_of_sum(op.operands, UniformType.per_tensor(Storage.of("i8"), np.float32(1.0)))
    if bits is None:
        assert result is COARSE
    else:
        assert not isinstance(result, Blocked)
        assert result[1] == bits
