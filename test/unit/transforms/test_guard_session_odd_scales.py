"""Scales that are zero or negative in a default session of onnxruntime, which takes each for a positive one."""

from typing import Any

import numpy as np
import pytest
from default_session import LEVELS, run
from onnx import parser

import qdialect
from qdialect.onnx_io.exporter import export_model
from qdialect.onnx_io.importer import import_model

FORMS = [{"form": "qoperator"}, {"form": "qdq"}, {"form": "qdq", "exactness": "exact"}]


def check(text: str, opset: int, options: dict[str, Any], atol: float = 0.0) -> Any:
    """Compile for onnxruntime: both levels give what the model gives without optimizations. Returns that."""
    model = parser.parse_model(f'<ir_version: 10, opset_import: ["" : {opset}]> {text}')
    shape = [d.dim_value for d in model.graph.input[0].type.tensor_type.shape.dim]
    feeds = {"x": np.random.default_rng(3).normal(size=shape).astype(np.float32)}
    wanted = run(model, feeds, LEVELS[0])
    module = import_model(model)
    qdialect.compile(module, **options)
    result = export_model(module)
    for level in LEVELS:
        np.testing.assert_allclose(run(result, feeds, level), wanted, atol=atol)
    return wanted


SELECTED = """g (float[1,3,4,6] x) => (KIND[?,?,?,?] y)
<float s = {SCALE}, TYPE z = {ZERO}, int64[1] axes = {1}, int64[1] k = {2}, int64[4] to = {1, 3, 3, 5},
 int64[4] from = {0, 0, 1, 0}, int64[2] flat = {3, 24}, float[1,3,4,6] other = OTHER> {
  q = QuantizeLinear(x, s, z)
  d = DequantizeLinear(q, s, z)
  CALL
}"""
CALLS = {
    "ArgMax": "y = ArgMax<axis = 1>(d)",
    "ArgMax of the last": "y = ArgMax<axis = 3, select_last_index = 1>(d)",
    "ArgMax without its axis": "y = ArgMax<axis = 2, keepdims = 0>(d)",
    "ArgMin": "y = ArgMin<axis = 1>(d)",
    "ArgMax of moved": "t = Transpose<perm = [0, 2, 3, 1]>(d)\n y = ArgMax<axis = 3>(t)",
    "ArgMax of reshaped": "t = Reshape(d, flat)\n y = ArgMax<axis = 1>(t)",
    "ArgMax of a slice": "t = Slice(d, from, to)\n y = ArgMax<axis = 1>(t)",
    "MaxPool": "y = MaxPool<kernel_shape = [2, 2]>(d)",
    "MaxPool of moved": "t = Transpose<perm = [0, 2, 3, 1]>(d)\n y = MaxPool<kernel_shape = [2, 2]>(t)",
    "ReduceMax": "y = ReduceMax(d, axes)",
    "ReduceMin": "y = ReduceMin(d, axes)",
    "TopK": "y, i = TopK<axis = 3>(d, k)",
    "Relu": "y = Relu(d)",
    "Max": "y = Max(d, other)",
    "Less": "y = Less(d, other)",
}


@pytest.mark.parametrize("options", FORMS, ids=str)
@pytest.mark.parametrize(("kind", "zero"), [("int8", 3), ("uint8", 120)])
@pytest.mark.parametrize("scale", ["-0.05", "0.0"])
@pytest.mark.parametrize("call", CALLS)
def test_what_is_selected_at_an_odd_scale(
    call: str, scale: str, kind: str, zero: int, options: dict[str, Any]
):
    """The order of the integers is the other way round, or there is none."""
    of_y = "int64" if "Arg" in call else "bool" if call == "Less" else "float"
    other = "{" + ", ".join(str(round(v, 2)) for v in np.linspace(-1, 1, 72)) + "}"
    text = SELECTED.replace("CALL", CALLS[call]).replace("SCALE", scale).replace("TYPE", kind)
    text = text.replace("ZERO", str(zero)).replace("KIND", of_y).replace("OTHER", other)
    for name in (
        "axes",
        "k",
        "to",
        "from",
        "flat",
        "other",
    ):  # a session says of constants that nothing reads them
        assert name in text
    check(text, 18, options)


LINEAR = """g (X x) => (float[?,?] y)
<float s = {XS}, int8 z = {0}, W w = {50, 0, -20, 7, 90, 0}, WS, int8[2] wz = {0, 0}, int8 one = {0},
 float[2] b = {0.5, -0.7}, int32[2] bq = {2500, -3500}, float bs = {BS}, float t = {0.01}, int64[2] n = {3, 2}> {
  q = QuantizeLinear(x, s, z)
  d = DequantizeLinear(q, s, z)
  CALL
  p = QuantizeLinear(c, t, z)
  y = DequantizeLinear(p, t, z)
}"""
ONE = "wd = DequantizeLinear(w, ws, one)\n"
EACH = "wd = DequantizeLinear<axis = 1>(w, ws, wz)\n"
PRODUCTS = {
    "MatMul and Add": (ONE + "m = MatMul(d, wd)\n c = Add(m, b)", "int8[3,2]"),
    "Add and MatMul": (ONE + "m = MatMul(d, wd)\n c = Add(b, m)", "int8[3,2]"),
    "MatMul": (ONE + "c = MatMul(d, wd)", "int8[3,2]"),
    "Gemm": (ONE + "c = Gemm(d, wd, b)", "int8[3,2]"),
    "Gemm and Relu": (ONE + "m = Gemm(d, wd, b)\n c = Relu(m)", "int8[3,2]"),
    "Gemm of rows": (ONE + "c = Gemm<transB = 1>(d, wd, b)", "int8[2,3]"),
    "Gemm of an int32 bias": (ONE + "bd = DequantizeLinear(bq, bs)\n c = Gemm(d, wd, bd)", "int8[3,2]"),
    "weight behind Transpose": (ONE + "wt = Transpose(wd)\n m = MatMul(d, wt)\n c = Add(m, b)", "int8[2,3]"),
    "weight behind Reshape": (ONE + "wt = Reshape(wd, n)\n m = MatMul(d, wt)\n c = Add(m, b)", "int8[2,3]"),
    "Gemm, weight behind Reshape": (ONE + "wt = Reshape(wd, n)\n c = Gemm(d, wt, b)", "int8[6]"),
    "channels, MatMul and Add": (EACH + "m = MatMul(d, wd)\n c = Add(m, b)", "int8[3,2]"),
    "channels, Gemm": (EACH + "c = Gemm(d, wd, b)", "int8[3,2]"),
}


@pytest.mark.parametrize("options", FORMS, ids=str)
@pytest.mark.parametrize(
    ("x", "w", "b"),
    [
        ("0.0", "0.01", "0.0002"),
        ("-0.02", "0.01", "0.0002"),
        ("0.02", "0.0", "0.0002"),
        ("0.02", "-0.01", "0.0002"),
        ("0.02", "0.01", "0.0"),
        ("0.02", "0.01", "-0.0002"),
    ],
)
@pytest.mark.parametrize("product", PRODUCTS)
def test_a_product_at_an_odd_scale_keeps_its_bias(
    product: str, x: str, w: str, b: str, options: dict[str, Any]
):
    """A session counts the bias in steps of the product of the scales."""
    call, of_w = PRODUCTS[product]
    scales = f"float[2] ws = {{0.01, {w}}}" if "channels" in product else f"float ws = {{{w}}}"
    text = LINEAR.replace("CALL", call).replace("XS", x).replace("BS", b).replace("W w", f"{of_w} w")
    wanted = check(text.replace("WS", scales).replace("X x", "float[2,3] x"), 17, options, atol=0.0101)
    assert wanted.shape == (2, 2)


IMAGE = """g (float[1,3,4,4] x) => (float[?,?,?,?] y)
<float s = {XS}, uint8 z = {120}, int8[2,3,1,1] w = {50, 0, -20, 7, 90, 0}, float[2] ws = {0.01, WS},
 int8[2] wz = {0, 0}, float[2] b = {0.5, -0.7}, float t = {0.01}, uint8 u = {120}> {
  q = QuantizeLinear(x, s, z)
  d = DequantizeLinear(q, s, z)
  wd = DequantizeLinear<axis = 0>(w, ws, wz)
  c = Conv(d, wdBIAS)
  p = QuantizeLinear(c, t, u)
  y = DequantizeLinear(p, t, u)
}"""


@pytest.mark.parametrize("options", FORMS, ids=str)
@pytest.mark.parametrize("bias", [", b", ""])
@pytest.mark.parametrize(("x", "w"), [("0.0", "0.01"), ("-0.02", "0.01"), ("0.02", "0.0"), ("0.02", "-0.01")])
def test_a_convolution_at_an_odd_scale(x: str, w: str, bias: str, options: dict[str, Any]):
    check(IMAGE.replace("XS", x).replace("WS", w).replace("BIAS", bias), 17, options, atol=0.0101)
