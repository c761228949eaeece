"""Quantization written as arithmetic beside a Cast of half precision: read at once, and the same if compiled again."""

from __future__ import annotations

from collections import Counter

import numpy as np
import onnx
import pytest
from onnx import parser

import qdialect
from qdialect.evaluation.session import run

X = np.random.default_rng(3).normal(size=(3, 4)).astype(np.float32)

READ = "d0 = Cast<to = 1>(q)\n d1 = Sub(d0, z)\n d = Mul(d1, s)"
"""f32, of the stored integers q."""
WRITE = "m = Mul(x, i)\n r = Round(m)\n a = Add(r, z)\n c = Clip(a, lo, hi)\n q = Cast<to = 2>(c)"
"""The stored integers q, of x."""
FAKE = f"{WRITE}\n {READ}"

BEHIND = {
    "Neg": "n = Neg(h)\n y = Cast<to = 1>(n)",
    "Exp": "n = Exp(h)\n y = Cast<to = 1>(n)",
    "Transpose": "n = Transpose(h)\n v = Transpose(n)\n y = Cast<to = 1>(v)",
    "QuantizeLinear": "n = QuantizeLinear(h, t16, u)\n e = DequantizeLinear(n, t16, u)\n y = Cast<to = 1>(e)",
    "Relu, QuantizeLinear": "n = Relu(h)\n j = QuantizeLinear(n, t16, u)\n e = DequantizeLinear(j, t16, u)\n "
    "y = Cast<to = 1>(e)",
    "Add": "n = Add(h, h)\n y = Cast<to = 1>(n)",
    "MatMul": "n = MatMul(h, w16)\n y = Cast<to = 1>(n)",
    "Softmax": "n = Softmax(h)\n y = Cast<to = 1>(n)",
    "Sigmoid, QuantizeLinear": "n = Sigmoid(h)\n j = QuantizeLinear(n, t16, u)\n e = DequantizeLinear(j, t16, u)\n "
    "y = Cast<to = 1>(e)",
    "a second consumer": "n = Neg(h)\n k = Cast<to = 1>(n)\n y = Add(k, d)",
}

HEAD = '<ir_version: 10, opset_import: ["": 21]>'
SCALARS = (
    "float s = {0.03125}, float i = {32}, float z = {120}, float lo = {0}, float hi = {255}, float t = {0.0625}, "
    "uint8 u = {100}, float[4,4] w = {1,2,3,4,5,6,7,8,9,10,11,12,13,14,15,16}"
)


def compiled(model: onnx.ModelProto) -> onnx.ModelProto:
    module = qdialect.load(model.SerializeToString())
    qdialect.compile(module)
    return qdialect.to_model(module)


def operators(model: onnx.ModelProto) -> Counter[str]:
    return Counter(node.op_type for node in model.graph.node)


def check(body: str, output: str = "y") -> onnx.ModelProto:
    """The compiled model, which gives the model's numbers, and is the same when it is compiled again."""
    model = parser.parse_model(
        f"{HEAD} g (float[3,4] x) => (float[3,4] {output}) <{SCALARS}> "
        f"{{ t16 = Cast<to = 10>(t)\n w16 = Cast<to = 10>(w)\n {body} }}"
    )
    want, result = run(model, {"x": X})[0], compiled(model)
    assert operators(compiled(result)) == operators(result)
    tolerance = np.abs(want).max() / 64 if "QuantizeLinear(" in body else np.abs(want).max() / 512
    for optimize in (False, True):
        got = run(result, {"x": X}, optimize=optimize)[0]
        assert np.abs(got.astype(np.float32) - want.astype(np.float32)).max() <= tolerance
    return result


@pytest.mark.parametrize("body", BEHIND.values(), ids=BEHIND)
def test_a_cast_to_half_behind_dequantization_by_arithmetic_is_read_at_once(body: str):
    """Only a second compilation made one dequantize of it."""
    check(f"{FAKE}\n h = Cast<to = 10>(d)\n {body}")


FRONT = {
    "Neg": "n = Neg(h)",
    "Exp": "n = Exp(h)",
    "Relu": "n = Relu(h)",
    "Add": "n = Add(h, h)",
    "Tanh": "n = Tanh(h)",
}


@pytest.mark.parametrize("body", FRONT.values(), ids=FRONT)
def test_a_cast_from_half_in_front_of_quantization_by_arithmetic_is_read_at_once(body: str):
    """Only a second compilation made one quantize of it."""
    arithmetic = FAKE.replace("Mul(x, i)", "Mul(b, i)")
    check(f"h = Cast<to = 10>(x)\n {body}\n b = Cast<to = 1>(n)\n {arithmetic}\n y = Exp(d)")


@pytest.mark.parametrize("axis", ["", "<axis = 0>"])
@pytest.mark.parametrize("opset", [21, 22, 23, 24, 25])
@pytest.mark.parametrize("exactness", ["close", "exact"])
def test_a_constant_of_half_precision_is_quantized_as_its_opset_divides(
    opset: int, exactness: str, axis: str
):
    """From opset 23 on, the quotient is rounded to half precision first; folding gave other integers."""
    rng = np.random.default_rng(opset)
    scales = 8 if axis else 1
    weight = onnx.numpy_helper.from_array(rng.normal(size=(8, 400)).astype(np.float16), "w")
    scale = rng.uniform(0.01, 0.03, scales).astype(np.float16).reshape((8,) if axis else ())
    model = parser.parse_model(f"""<ir_version: 10, opset_import: ["": {opset}]>
    g (float[3,4] x) => (int8[8,400] y, float[3,4] r) {{ y = QuantizeLinear{axis}(w, s, z)\n r = Relu(x) }}""")
    constants = {"s": scale, "z": np.zeros(scale.shape, np.int8)}
    model.graph.initializer.extend(
        [weight, *(onnx.numpy_helper.from_array(one, name) for name, one in constants.items())]
    )
    module = qdialect.load(model.SerializeToString())
    qdialect.compile(module, exactness=exactness, feeds=[{"x": X}])
    want, result = run(model, {"x": X})[0], qdialect.to_model(module)
    assert np.array_equal(run(result, {"x": X})[0], want)
