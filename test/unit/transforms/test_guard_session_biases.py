"""What a default session of onnxruntime does to the bias of a convolution or product between casts."""

from typing import Any

import numpy as np
import pytest
from default_session import LEVELS, ONNX_TARGETS, compiled, levels, run

COARSE = """g (float[2,3,5] x) => (float[2,3,5] y)
<float s = {340.0}, uint8 z = {128}, float t = {0.03}, uint8 u = {100}, int8[3,1,1] w = {-127, 90, 127},
 float[3] ws = {0.0000000007, 0.0032, 0.02}, int8[3] wz = {0, 0, 0}, float[3] b = {0.66, -0.58, 0.75}> {
  q = QuantizeLinear(x, s, z)
  d = DequantizeLinear(q, s, z)
  f = DequantizeLinear<axis = 0>(w, ws, wz)
  c = Conv<group = 3>(d, f, b)
  p = QuantizeLinear(c, t, u)
  y = DequantizeLinear(p, t, u)
}"""
"""A step of the sums is up to 6.8, one of the result 0.03."""


ONE_SCALE = COARSE.replace("float[3] ws = {0.0000000007, 0.0032, 0.02}", "float ws = {0.02}").replace(
    "int8[3] wz = {0, 0, 0}", "int8 wz = {0}"
)


FINE = """g (float[2,3,5] x) => (float[2,3,5] y)
<float s = {0.000000001}, uint8 z = {128}, float t = {0.03}, uint8 u = {100}, float[3,1,1] f = {-1.5, 0.25, 2.0},
 float[3] b = {0.66, -0.58, 0.75}> {
  q = QuantizeLinear(x, s, z)
  d = DequantizeLinear(q, s, z)
  c = Conv<group = 3>(d, f, b)
  p = QuantizeLinear(c, t, u)
  y = DequantizeLinear(p, t, u)
}"""
"""The weight is float. A session quantizes it, and the bias: int32 holds none in steps of the sums."""


@pytest.mark.parametrize("text", [COARSE, ONE_SCALE, FINE], ids=["channels", "one", "float"])
@pytest.mark.parametrize("options", [*({"target": t} for t in ONNX_TARGETS), {"form": "qdq"}], ids=str)
def test_a_bias_is_not_lost_in_steps_of_the_sums(options: dict[str, Any], text: str):
    model, result = compiled(text, 17, **options)
    x = {"x": np.random.default_rng(3).normal(size=(2, 3, 5)).astype(np.float32)}
    wanted = run(model, x, LEVELS[0])
    assert np.ptp(wanted) > 1
    for level in levels(options):
        np.testing.assert_allclose(run(result, x, level), wanted, atol=0.031)  # a step


@pytest.mark.parametrize("wide", ["uint8 z", "uint8 u"])
@pytest.mark.parametrize("options", [*({"target": t} for t in ONNX_TARGETS), {"form": "qdq"}], ids=str)
def test_nor_between_casts_of_different_types(options: dict[str, Any], wide: str):
    """For which a session has no kernel, yet it quantizes the bias."""
    model, result = compiled(COARSE.replace(wide, wide.replace("8", "16")), 21, **options)
    x = {"x": np.random.default_rng(3).normal(size=(2, 3, 5)).astype(np.float32)}
    wanted = run(model, x, LEVELS[0])
    assert np.ptp(wanted) > 1
    for level in levels(options):
        np.testing.assert_allclose(run(result, x, level), wanted, atol=0.031)  # a step


HALF = """g (float16[2,3,5] x) => (float16[2,3,5] y)
<float16 s = {SCALE}, uint8 z = {128}, float16 t = {TENTH}, uint8 u = {100}, int8[3,1,1] w = {-127, 90, 127},
 float16 ws = {WEIGHT}, int8 wz = {0}, float16[3] b = {15360, 49152, 14336}> {
  q = QuantizeLinear(x, s, z)
  d = DequantizeLinear(q, s, z)
  f = DequantizeLinear(w, ws, wz)
  c = Conv<group = 3>(d, f, b)
  p = QuantizeLinear(c, t, u)
  y = DequantizeLinear(p, t, u)
}"""
"""The parser reads float16 as bits: 1, -2 and 0.5 are the biases."""


@pytest.mark.parametrize("options", [*({"target": t} for t in ONNX_TARGETS), {"form": "qdq"}], ids=str)
def test_nor_in_steps_that_float16_does_not_count(options: dict[str, Any]):
    """A session divides in float16, where 65504 is the largest number."""
    bits = {"SCALE": 0.02, "TENTH": 0.1, "WEIGHT": 0.0004}
    text = HALF
    for name, value in bits.items():
        text = text.replace(name, str(np.float16(value).view(np.uint16)))
    model, result = compiled(text, 21, **options)
    x = {"x": np.random.default_rng(3).normal(size=(2, 3, 5)).astype(np.float16)}
    wanted = run(model, x, LEVELS[0])
    assert np.ptp(wanted) > 1
    for level in levels(options):
        np.testing.assert_allclose(run(result, x, level), wanted, atol=0.11)  # a step


ADDED = """g (float[2,3,4] x) => (float[2,3,5] y)
<float s = {0.02}, int8 z = {3}, float t = {0.05}, int8 u = {-7}, float v = {0.01}, int8 zero = {0}, WEIGHTS> {
  q = QuantizeLinear(x, s, z)
  d = DequantizeLinear(q, s, z)
  wd = DequantizeLinear(w, v, zero)
  m = MatMul(d, wd)
  bd = DequantizeLinear(b, v, zero)
  a = ORDER
  p = QuantizeLinear(a, t, u)
  y = DequantizeLinear(p, t, u)
}"""

WEIGHTS = """int8[4,5] w = {3, -9, 20, 50, -60, 7, 8, 1, -2, 90, 11, 12, -13, 5, 6, 80, -70, 4, 2, 1},
 int8[5] b = {75, 26, -127, 4, 9}"""


@pytest.mark.parametrize("order", ["Add(m, bd)", "Add(bd, m)"])
@pytest.mark.parametrize("options", [*({"target": t} for t in ONNX_TARGETS), {"form": "qdq"}], ids=str)
def test_a_dequantized_vector_added_to_an_i8_product_runs(options: dict[str, Any], order: str):
    """From opset 21 on a session makes Gemm of both, and casts of the wrong type around a Reshape."""
    text = ADDED.replace("ORDER", order).replace("WEIGHTS", WEIGHTS)
    model, result = compiled(text, 21, **options)
    x = {"x": np.random.default_rng(3).normal(size=(2, 3, 4)).astype(np.float32)}
    wanted = run(model, x, LEVELS[0])
    assert np.ptp(wanted) > 1
    for level in levels(options):
        np.testing.assert_allclose(run(result, x, level), wanted, atol=0.051)  # a step


STEPS = """g (float[3,4] x) => (float[3,5] y)
<float s = {0.02}, uint8 z = {128}, float v = {0.01}, int8 zero = {0}, float bs = {0.01}, int64[2] n = {1, 5},
 int8[4,5] k = {3, -9, 20, 50, -60, 7, 8, 1, -2, 90, 11, 12, -13, 5, 6, 80, -70, 4, 2, 1},
 int32[5] b = {75, 26, -127, 4, 90}> {
  q = QuantizeLinear(x, s, z)
  d = DequantizeLinear(q, s, z)
  wd = DequantizeLinear(k, v, zero)
  m = MatMul(d, wd)
  c = DequantizeLinear(b, bs)
  e = Reshape(c, n)
  y = ORDER
}"""
"""One step of the sums is 0.0002, one of what is added 0.01."""


@pytest.mark.parametrize("order", ["Add(m, e)", "Add(e, m)"])
@pytest.mark.parametrize("options", [*({"target": t} for t in ONNX_TARGETS), {"form": "qdq"}], ids=str)
def test_integers_of_other_steps_are_no_bias(options: dict[str, Any], order: str):
    """A session makes Gemm of a product and what is added to it, and takes its int32 for steps of the sums."""
    model, result = compiled(STEPS.replace("ORDER", order), 17, **options)
    x = {"x": np.random.default_rng(3).normal(size=(3, 4)).astype(np.float32)}
    wanted = run(model, x, LEVELS[0])
    for level in levels(options):
        np.testing.assert_allclose(run(result, x, level), wanted, atol=1e-4)


VECTOR = """g (float[4] x) => (float[5] y)
<float s = {0.02}, int8 z = {3}, float[4,5] w = {WEIGHT}, float[5] b = {0.5, -0.25, 1, 2, 3}> {
  q = QuantizeLinear(x, s, z)
  d = DequantizeLinear(q, s, z)
  m = MatMul(d, w)
  y = Add(b, m)
}"""


@pytest.mark.parametrize("options", [*({"target": t} for t in ONNX_TARGETS), {"form": "qdq"}], ids=str)
def test_a_bias_of_a_product_of_one_i8_vector_runs(options: dict[str, Any]):
    """A session reshapes the vector to a matrix, and writes casts of the wrong type around that."""
    weight = ", ".join(str(k / 8 - 1) for k in range(20))
    model, result = compiled(VECTOR.replace("WEIGHT", weight), 21, **options)
    x = {"x": np.random.default_rng(3).normal(size=4).astype(np.float32)}
    wanted = run(model, x, LEVELS[0])
    for level in levels(options):
        np.testing.assert_allclose(run(result, x, level), wanted, atol=1e-5)


BESIDE = """g (float[2,3,4] x) => (float[2,3,5] y, float[2,3,5] o)
<float s = {0.02}, int8 z = {3}, float v = {0.01}, int8 zero = {0}, float[5] b = {0.75, 0.26, -1.27, 0.04, 0.09},
 int8[4,5] w = {3, -9, 20, 50, -60, 7, 8, 1, -2, 90, 11, 12, -13, 5, 6, 80, -70, 4, 2, 1}> {
  q = QuantizeLinear(x, s, z)
  d = DequantizeLinear(q, s, z)
  wd = DequantizeLinear(w, v, zero)
  m = MatMul(d, wd)
  y = Add(m, b)
  e = Tanh(m)
  o = Mul(e, b)
}"""


@pytest.mark.parametrize("target", ONNX_TARGETS)
def test_a_bias_that_another_op_reads_stays_for_it(target: str):
    """The sum gets a bias of the product's rank, where a session would take the vector for that of a Gemm."""
    model, result = compiled(BESIDE, 21, target=target)
    x = {"x": np.random.default_rng(3).normal(size=(2, 3, 4)).astype(np.float32)}
    wanted = run(model, x, LEVELS[0])
    for level in levels({"target": target}):
        np.testing.assert_allclose(run(result, x, level), wanted, atol=1e-5)  # reals about 1: last bits


def test_scales_along_an_axis_came_with_opset_13():
    """ONNX's own casts have them from there on."""
    text = """g (float[2,4] x) => (float[2,5] y)
    <float[5] v = {0.01, 0.02, 0.03, 0.04, 0.05}, int8[5] zero = {0, 0, 0, 0, 0},
     int8[4,5] w = {3, -9, 20, 50, -60, 7, 8, 1, -2, 90, 11, 12, -13, 5, 6, 80, -70, 4, 2, 1}> {
      wd = DequantizeLinear<axis = 1>(w, v, zero)
      y = MatMul(x, wd)
    }"""
    _, result = compiled(text, 13, target="generic")
    assert [(node.domain, node.op_type) for node in result.graph.node] == [
        ("", "DequantizeLinear"),
        ("", "MatMul"),
    ]


WIDER = """g (float[{rows}3] x) => (float[{wide}] y)
<int8[{stack}3,4] w = {{-37, -127, 72, -115, -86, 127, 68, 127, 44, 45, -77, -128}}, float[{scales}] ws = {{{values}}},
 float[{bias}4] b = {{1, -2, 3, -4}}, float[4] one = {{1, 1, 1, 1}}> {{
  q, s, z = DynamicQuantizeLinear(x)
  i = MatMulInteger(q, w, z)
  f = Cast<to = 1>(i)
  p = Mul(s, ws)
  m = Mul({product})
  a = Add({added})
  y = {reader}
}}"""
"""A session makes a bias of `b`, and of its axes none."""


@pytest.mark.parametrize("scales", ["", "4"], ids=["tensor", "columns"])
@pytest.mark.parametrize("turned", [False, True], ids=["", "turned"])
@pytest.mark.parametrize(
    ("rows", "stack", "bias", "reader"),
    [
        ("", "", "1,", "Transpose<perm = [1, 0]>(a)"),
        ("", "", "1,", "Softmax<axis = 1>(a)"),
        ("", "", "1,1,", "Relu(a)"),
        ("5,", "", "1,1,", "Transpose<perm = [2, 0, 1]>(a)"),
        ("5,", "", "1,1,1,", "LayerNormalization<axis = 3>(a, one)"),
        ("1,", "", "1,1,", "Add(a, a)"),
        ("2,5,", "", "1,1,1,", "ReduceMax<axes = [2], keepdims = 0>(a)"),
        ("2,5,", "1,", "1,1,1,", "Neg(a)"),
        ("5,", "", "1,", "Transpose<perm = [1, 0]>(a)"),
        ("2,5,", "", "1,1,", "Transpose<perm = [2, 0, 1]>(a)"),
        ("2,5,", "", "1,", "Neg(a)"),
    ],
)
def test_a_result_keeps_the_axes_of_a_bias_that_has_more(
    rows: str, stack: str, bias: str, reader: str, turned: bool, scales: str
):
    count = max(rows.count(","), bias.count(",")) + 1 - reader.startswith("Reduce")
    text = WIDER.format(
        rows=rows, stack=stack, bias=bias, reader=reader, scales=scales,
        wide=",".join("abcd"[:count]), values="0.01, 0.02, 0.015, 0.03" if scales else "0.01",
        product="p, f" if turned else "f, p", added="b, m" if turned else "m, b",
    )  # fmt: skip
    model, result = compiled(text.replace("float[] ws", "float ws"), 17, target="onnxruntime")
    shape = [int(size) for size in rows.split(",") if size] + [3]
    x = {"x": np.random.default_rng(3).normal(size=shape).astype(np.float32)}
    wanted = run(model, x, LEVELS[0])
    for level in LEVELS:
        got = run(result, x, level)
        assert got.shape == wanted.shape
        np.testing.assert_allclose(got, wanted, rtol=1e-4, atol=1e-4)
