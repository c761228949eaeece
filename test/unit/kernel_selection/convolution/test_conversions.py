"""`kernel_selection.convolution.conversions`: the last case on one side of each bound, the first on the other."""

from __future__ import annotations

from typing import Any

import pytest
from geometries import FREE, runtime
from guard_cases import last_op

from qdialect.kernel_selection.convolution.conversions import WriteAsConvolution
from qdialect.targets.pricing import (
    ALIGNED,
    DEPTHWISE,
)

AVERAGE = "x: 2x3x6x8x!u\ny = AveragePool(x) {{kernel_shape = array<i64: 2, 2>, strides = array<i64: 2, 2>}} : {0}x!u"


POOL = "QLinearAveragePool"


@pytest.mark.parametrize(
    ("result", "now"),
    [
        # each element under a window 1, each element of the operand 10, each window 100
        ("2x3x3x4", 72 * 4 + 288 * 10 + 72 * 100),
        ("2x3x3x?", 252 * 4 + 288 * 10 + 252 * 100),
        ("?x3x3x4", 144 * 4 + 576 * 10 + 144 * 100),
        ("*", 2352 * 4 + 576 * 10 + 2352 * 100),
    ],
)
def test_a_pool_is_a_convolution_if_that_is_faster(result: str, now: float):
    op = last_op(AVERAGE.format(result))
    own = {POOL: {"element": 1.0, "read": 10.0, "row": 100.0, "call": 0.0}}
    shape: dict[str, Any] = {ALIGNED: {}, "QLinearConvDepthwiseAligned": {"outputs_multiple": 16.0}}
    for price, pays in ((0.85 * now, False), (0.85 * now - 1, True)):
        depthwise = {DEPTHWISE: FREE | {"call": price, "rest": 0.0}}
        assert WriteAsConvolution(runtime(own | depthwise | shape)).pays(op, 3, (2, 2)) is pays
    assert not WriteAsConvolution(runtime(own | shape)).pays(op, 3, (2, 2))
    assert not WriteAsConvolution(runtime({DEPTHWISE: FREE | {"rest": 0.0}} | shape)).pays(op, 3, (2, 2))
