"""`patterns.sums`: the last case on one side of each bound, the first on the other."""

from __future__ import annotations

from types import SimpleNamespace
from typing import Any

import pytest
from geometries import costs, runtime
from guard_cases import last_op

from qdialect.patterns.sums import slower_remark
from qdialect.targets.pricing import ALIGNED, POINTWISE, QUANTIZE, QUANTIZED, SIGNED, SUM


@pytest.mark.parametrize(
    ("images", "behind", "price", "said"),
    [
        (1, 0.0, 85.0, True),
        (1, 0.0, 85.5, False),
        (1, 0.0, 80.0, True),
        (1, 0.1, 90.0, True),
        (1, 0.1, 90.2, False),
        (3, 0.1, 100.2, True),
        (3, 0.1, 100.4, False),
    ],
)
def test_a_sum_is_said_to_be_slower_from_a_share_on(images: int, behind: float, price: float, said: bool):
    """behind: what a quantize takes for each element of the result, of which an image has 60."""
    op = last_op(f"x: {images}x2x5x3x!u\nw: 4x2x1x1x!t\ny = Conv(x, w) : {images}x4x5x3x!u")
    prices: dict[str, Any] = costs(**{SUM: 100.0, SIGNED: 200.0})
    prices |= costs(**dict.fromkeys((QUANTIZED, POINTWISE, ALIGNED), price))
    prices[ALIGNED] |= {"least_outputs": 1000.0, "inputs_multiple": 4.0, "outputs_multiple": 16.0}
    prices |= {QUANTIZE: {"read": behind}, "Elementwise": {"Mul": 0.0}}
    blocked = slower_remark(op, SimpleNamespace(op_type="ConvInteger"), runtime(prices).costs)  # pyright: ignore
    assert (blocked is not None) is said
