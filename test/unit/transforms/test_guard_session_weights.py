"""What a default session of onnxruntime does to the weight of a convolution or product between casts."""

from typing import Any

import numpy as np
import pytest
from default_session import LEVELS, ONNX_TARGETS, compiled, levels, run

LINEAR = """g (X x) => (Y y)
<float s = {0.02}, uint8 z = {3}, float t = {0.05}, uint8 u = {117}, WEIGHT> {
  q = QuantizeLinear(x, s, z)
  d = DequantizeLinear(q, s, z)
  w = DequantizeLinearAXIS(wq, ws, wz)
  r = OP
  p = QuantizeLinear(r, t, u)
  y = DequantizeLinear(p, t, u)
}"""

OPS = {
    "Conv": ("Conv(d, w)", (2, 4, 5), (3, 4, 1), (2, 3, 5), 1),
    "MatMul": ("MatMul(d, w)", (5, 3), (3, 4), (5, 4), 0),
    "Gemm": ("Gemm(d, w)", (5, 3), (3, 4), (5, 4), 0),
    "Gemm of rows": ("Gemm<transB = 1>(d, w)", (5, 3), (4, 3), (5, 4), 1),
}
"""The op, the shapes of its activation, of its weight and of its result, and the weight's axis that it sums over."""
INTEGERS = "{-127, 90, 127, 3, -60, 11, 88, -4, 25, -99, 70, 41}"


@pytest.mark.parametrize("options", [*({"target": t} for t in ONNX_TARGETS), {"form": "qdq"}], ids=str)
@pytest.mark.parametrize("kind", ["other axis", "int32"])
@pytest.mark.parametrize("op", OPS)
def test_a_weight_that_no_kernel_takes_is_no_kernel_s(op: str, kind: str, options: dict[str, Any]):
    spelled, of_x, of_w, of_y, axis = OPS[op]
    if kind == "int32":
        weight = f"int32{[*of_w]} wq = {INTEGERS}, float ws = {{0.01}}, int32 wz = {{0}}"
    else:
        scales = ", ".join(str(one) for one in (0.03, 0.002, 0.011, 0.02)[: of_w[axis]])
        zeros = ", ".join(["0"] * of_w[axis])
        count = f"[{of_w[axis]}]"
        weight = (
            f"int8{[*of_w]} wq = {INTEGERS}, float{count} ws = {{{scales}}}, int8{count} wz = {{{zeros}}}"
        )
    text = LINEAR.replace("WEIGHT", weight).replace("AXIS", "" if kind == "int32" else f"<axis = {axis}>")
    text = text.replace("OP", spelled).replace("X x", f"float{[*of_x]} x").replace("Y y", f"float{[*of_y]} y")
    model, result = compiled(text, 17, **options)
    x = {"x": np.random.default_rng(3).normal(size=of_x).astype(np.float32)}
    wanted = run(model, x, LEVELS[0])
    assert np.ptp(wanted) > 1
    for level in levels(options):
        np.testing.assert_allclose(run(result, x, level), wanted, atol=0.051)  # a step
