"""`runtimes.onnxruntime.biases`: the last case on one side of each bound, the first on the other."""

from __future__ import annotations

import pytest
from guard_cases import last_op

from qdialect.dialects.onnx_base import OnnxOp
from qdialect.runtimes.onnxruntime.biases import has_other_steps, loses_bias

BIASED = """
    x: 2x1xui8
    s = [1.0] : f32
    w = [100, -100] : 1x2xi8
    b = [2.25, -3.0] : 2xf32
    t = [{0}] : f32
    z = [0] : ui8
    d = DequantizeLinear(x, s) : 2x1xf32
    v = DequantizeLinear(w, s) : 1x2xf32
    {1}
    y = QuantizeLinear(g, t, z) : 2x2xui8"""


IN_GEMM = "g = Gemm(d, v, b) : 2x2xf32"


ADDED = "m = MatMul(d, v) : 2x2xf32\n    g = Add({}) : 2x2xf32"


@pytest.mark.parametrize("nodes", [IN_GEMM, ADDED.format("m, b"), ADDED.format("b, m")])
@pytest.mark.parametrize(("scale", "loses"), [(0.25, False), (0.249, True), (1.0, False)])
def test_a_bias_may_move_by_a_step_of_the_result(scale: float, loses: bool, nodes: str):
    quantize = last_op(BIASED.format(scale, nodes))
    op = quantize.operands[0].owner
    assert isinstance(op, OnnxOp)
    assert loses_bias(op, quantize) is loses


OTHERS = {
    "used twice": ("g = Add(m, b) : 2x2xf32", "g = Add(m, b) : 2x2xf32\n    h = Relu(m) : 2x2xf32"),
    "computed": ("g = Add(m, b) : 2x2xf32", "c = Relu(b) : 2xf32\n    g = Add(m, c) : 2x2xf32"),
    "no sum": ("g = Add(m, b)", "g = Mul(m, b)"),
}


@pytest.mark.parametrize("case", OTHERS)
def test_a_session_makes_no_bias_of_what_is(case: str):
    text = BIASED.format(0.1, ADDED.format("m, b")).replace(*OTHERS[case])
    quantize = last_op(text)
    op = quantize.operands[0].owner
    assert isinstance(op, OnnxOp)
    assert not loses_bias(op, quantize)


PRODUCT = """
    x: 2x3xui8
    s = [0.5] : f32
    w = [1, 2, 3, 4, 5, 6] : 3x2xi8
    t = [0.25] : f32
    b: 2xi32
    u = [0.125] : f32
    d = DequantizeLinear(x, s) : 2x3xf32
    v = DequantizeLinear(w, t) : 3x2xf32
    p = MatMul(d, v) : 2x2xf32
    c = DequantizeLinear(b, u) : 2xf32
    y = Add(p, c) : 2x2xf32"""


@pytest.mark.parametrize(
    ("old", "new", "expected"),
    [
        ("", "", False),
        ("u = [0.125]", "u = [0.25]", True),
        ("t = [0.25]", "t = [0.5]", True),
        ("s = [0.5] : f32", "s: f32", True),
        ("t = [0.25] : f32", "t: f32", True),
        ("u = [0.125] : f32", "u: f32", True),
        ("d = DequantizeLinear(x, s)", "d = Cast(x) {to = 1 : i64}", False),
        ("v = DequantizeLinear(w, t)", "v = Cast(w) {to = 1 : i64}", False),
    ],
)
def test_steps_of_a_bias_are_those_of_its_product(old: str, new: str, expected: bool):
    add = last_op(PRODUCT.replace(old, new) if old else PRODUCT)
    product, bias = (value.owner for value in add.operands)
    assert isinstance(product, OnnxOp)
    assert isinstance(bias, OnnxOp)
    assert has_other_steps(bias, product) is expected
