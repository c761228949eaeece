"""`runtimes.onnxruntime.cast_motion`: the last case on one side of each bound, the first on the other."""

from __future__ import annotations

from typing import Any

import pytest
from guard_cases import last_op

from qdialect.runtimes.onnxruntime.cast_motion import first_moved
from qdialect.targets import target

SESSION = target("onnxruntime")


QUANTIZED_AGAIN = """
    q: 2x3xi8
    s = [0.5{0}] : {2}f32
    z = [3{1}] : {2}i8
    t = [0.5{0}] : {2}f32
    v = [{3}{1}] : {2}i8
    d = DequantizeLinear(q, s, z) {{axis = 1 : i64}} : 2x3xf32
    y = QuantizeLinear(d, t, v) {{axis = 1 : i64}} : 2x3xi8"""


@pytest.mark.parametrize(
    ("parts", "expected"),
    [
        (("", "", "", 3), True),
        (("", "", "", 4), False),
        ((", 0.25, 2.0", ", 4, 5", "3x", 3), False),
    ],
)
def test_a_second_quantize_is_of_one_scale_for_all(parts: tuple[Any, ...], expected: bool):
    op = last_op(QUANTIZED_AGAIN.format(*parts))
    assert first_moved(op, SESSION) is (op if expected else None)


@pytest.mark.parametrize("computed", ["s", "t"])
def test_a_second_quantize_has_known_scales(computed: str):
    body = QUANTIZED_AGAIN.format("", "", "", 3).replace(f"{computed} = [0.5] : f32", f"{computed}: f32")
    assert first_moved(last_op(body), SESSION) is None


@pytest.mark.parametrize(
    ("between", "expected"),
    [
        ("m = Transpose(d) : 3x3xf32", "Transpose"),
        ("k = Unsqueeze(d) {axes = [0]} : 1x3x3xf32\n    m = Squeeze(k) {axes = [0]} : 3x3xf32", "Unsqueeze"),
        ("m = Relu(d) : 3x3xf32", None),
    ],
)
def test_a_session_brings_the_casts_of_a_second_quantize_together(between: str, expected: str | None):
    body = QUANTIZED_AGAIN.format("", "", "", 3).replace("2x3", "3x3").replace("axis = 1", "axis = 0")
    body = body.replace("y = QuantizeLinear(d", f"{between}\n    y = QuantizeLinear(m")
    first = first_moved(last_op(body), SESSION)
    assert (None if first is None else first.op_type) == expected
