"""`fold-scales`: what it takes, the last case and the first that it leaves."""

from __future__ import annotations

from types import SimpleNamespace
from typing import cast

import numpy as np
import pytest
from guard_cases import Case, parsed, text

from qdialect.dialects.quant import QuantizeOp
from qdialect.transforms.fold_scales import Above, ceiling_of


@pytest.mark.parametrize(
    ("shape", "largest", "expected"),
    [("1x2x5", 10, (1, 2, 5)), ("1x2x5", 9, (1, 2, 1)), ("1x2", 10, (1, 2)), ("1x2x4x5", 10, (1, 2, 1, 5)),
     ("1x2x?", 10, (1, 2, 1))],
)  # fmt: skip
def test_a_bound_for_each_channel_is_repeated_along_a_row(
    shape: str, largest: int, expected: tuple[int, ...], monkeypatch: pytest.MonkeyPatch
):
    monkeypatch.setattr("qdialect.transforms.fold_scales.MAX_BOUND_BYTES", largest)
    _, module = parsed(
        text(Case("", "", f"x: {shape}xf32\nr = Relu(x) : {shape}xf32\ny = qcast r : {shape}x!apart"))
    )
    (quantize,) = (op for op in module.walk() if isinstance(op, QuantizeOp))
    above = cast(Above, SimpleNamespace(between=[quantize.operands[0].owner]))
    bound = ceiling_of(quantize, quantize.element_type, above)
    assert isinstance(bound, np.ndarray)
    assert bound.shape == expected
    assert np.array_equal(
        bound, np.broadcast_to(np.reshape([255, 122], (1, 2, *[1] * (len(expected) - 2))), expected)
    )
