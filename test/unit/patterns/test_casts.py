"""Which casts are read through: those that leave the real numbers as they are."""

import numpy as np
import pytest
from xdsl.dialects.builtin import Float16Type

from qdialect.dialects.quant import Storage, UniformType
from qdialect.patterns.casts import settles


@pytest.mark.parametrize(
    ("scale", "same"), [(6.25e-05, True), (1e-3, True), (0.0123, True), (3.099609375, False)]
)
@pytest.mark.parametrize("zero_point", [0, 7, 40000])
def test_half_precision_is_read_through(scale: float, zero_point: int, same: bool):
    """At 3.1 the integers around 4096 are further apart than the numbers below, and nearer than those above."""
    type = UniformType.per_tensor(Storage.make(16, False), scale, zero_point, Float16Type())
    assert not type.round_trips
    assert settles(type) == same
    stored = np.arange(2**16).astype(np.uint16)
    with np.errstate(over="ignore"):
        first = type.dequantize(stored, np.float16)
        second = type.dequantize(type.quantize(first), np.float16)
    assert np.array_equal(first, second) == same
