"""`runtimes.onnxruntime.weights`: the last case on one side of each bound, the first on the other."""

from __future__ import annotations

import pytest
from guard_cases import last_op

from qdialect.runtimes.onnxruntime.weights import refused_product
from qdialect.targets import target

REFUSED = """
    x: 2x3xui8
    s = [0.5] : f32
    w = [1, 2, 3, 4, 5, 6] : {0}3x2xi8
    t = [{1}] : {2}xf32
    d = DequantizeLinear(x, s) : 2x3xf32
    v = DequantizeLinear(w, t) {{axis = {3} : i64}} : {0}3x2xf32
    y = MatMul(d, v) : {0}2x2xf32"""


@pytest.mark.parametrize(
    ("batch", "scales", "count", "axis", "expected"),
    [
        ("", "0.5, 0.25", "2", 1, None),
        ("", "0.5, 0.25", "2", -1, None),
        ("", "0.5, 0.25, 2.0", "3", 0, 1),
        ("1x", "0.5, 0.25", "2", 2, 1),
        ("", "0.5", "1", 0, None),
    ],
)
def test_scales_of_columns_alone_have_a_kernel(
    batch: str, scales: str, count: str, axis: int, expected: int | None
):
    product = last_op(REFUSED.format(batch, scales, count, axis))
    assert refused_product(product, target("onnxruntime")) == expected
