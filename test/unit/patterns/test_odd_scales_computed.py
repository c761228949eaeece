"""Scales of zero and below on computed tensors: what a check of each pass says, and what a second compilation finds."""

from __future__ import annotations

from collections import Counter

import numpy as np
import onnx
import pytest
from onnx import parser

import qdialect
from qdialect.evaluation.session import run

HEAD = '<ir_version: 8, opset_import: ["": 17]>'
X = np.linspace(-9, 9, 12, dtype=np.float32).reshape(3, 4)


def compiled(
    model: onnx.ModelProto, target: str = "onnxruntime", *, checked: bool = False
) -> onnx.ModelProto:
    module = qdialect.load(model.SerializeToString())
    qdialect.compile(module, target=target, feeds=[{"x": X}] if checked else [])
    return qdialect.to_model(module)


def operators(model: onnx.ModelProto) -> Counter[str]:
    return Counter(node.op_type for node in model.graph.node)


TURNED = {
    "i8": ("float s = {-0.05}, int8 z = {7}", ""),
    "u8": ("float s = {-0.05}, uint8 z = {200}", ""),
    "i8, coarse": ("float s = {-3}, int8 z = {-128}", ""),
    "u8, fine": ("float s = {-0.0001}, uint8 z = {0}", ""),
    "i16": ("float s = {-0.0005}, int16 z = {7}", ""),
    "u16": ("float s = {-0.0005}, uint16 z = {7}", ""),
    "channels": ("float[4] s = {-0.05, 0.05, -0.1, 0.2}, int8[4] z = {7, 7, -7, 0}", "<axis = 1>"),
    "rows": ("float[3] s = {-0.05, -0.05, 0.1}, uint8[3] z = {7, 128, 255}", "<axis = 0>"),
    "one in a vector": ("float[1] s = {-0.05}, int8[1] z = {7}", ""),
    "a scale of the opposite range": ("float s = {-0.07}, int8 z = {127}", ""),
}


@pytest.mark.parametrize(("constants", "axis"), TURNED.values(), ids=TURNED)
def test_a_pair_under_a_negative_scale_is_no_breach_of_a_pass(constants: str, axis: str):
    """The integers of the pair change, their real numbers do not; the check took them for the model's integers."""
    opset = 21 if "16" in constants else 17
    model = parser.parse_model(f"""{HEAD.replace("17", str(opset))} g (float[3,4] x) => (float[3,4] y) <{constants}> {{
      q = QuantizeLinear{axis}(x, s, z)
      d = DequantizeLinear{axis}(q, s, z)
      y = Exp(d)
    }}""")
    want = run(model, {"x": X})
    result = compiled(model, checked=True)
    assert np.array_equal(run(result, {"x": X})[0], want[0])
    assert np.allclose(run(result, {"x": X}, optimize=True)[0], want[0], rtol=1e-5)


BEHIND = {
    "Sigmoid": "f = Sigmoid(d)",
    "Relu": "f = Relu(d)",
    "Exp": "f = Exp(d)",
    "Softmax": "f = Softmax(d)",
    "moves": "t = Transpose(d)\n f = Transpose(t)",
    "Concat": "c = Concat<axis = 1>(d, d)\n f = Slice(c, k0, k4, k1)",
    "MatMul": "f = MatMul(d, w)",
    "Add": "a = Add(d, w0)\n f = Tanh(a)",
    "Neg and Max": "n = Neg(d)\n f = Max(n, d)",
    "Reshape": "r = Reshape(d, k62)\n f = Reshape(r, k34)",
}
CONSTANTS = (
    "float s = {0}, int8 z = {7}, float p = {0.05}, uint8 u = {3}, float[4,4] w = "
    "{1,2,3,4,5,6,7,8,9,10,11,12,13,14,15,16}, float[4] w0 = {1,2,3,4}, int64[1] k0 = {0}, int64[1] k4 = {4}, "
    "int64[1] k1 = {1}, int64[2] k62 = {6, 2}, int64[2] k34 = {3, 4}"
)


@pytest.mark.parametrize("target", ["onnxruntime", "generic"])
@pytest.mark.parametrize("body", BEHIND.values(), ids=BEHIND)
def test_zeros_of_a_scale_of_zero_are_computed_in_the_first_compilation(body: str, target: str):
    """They became an Expand of the operand's Shape behind the folds, which only a second compilation computed."""
    model = parser.parse_model(f"""{HEAD} g (float[3,4] x) => (float[3,4] y, float[3,4] e) <{CONSTANTS}> {{
      i = Identity(s)
      q = QuantizeLinear(x, i, z)
      d = DequantizeLinear(q, i, z)
      {body}
      j = QuantizeLinear(f, p, u)
      y = DequantizeLinear(j, p, u)
      e = Exp(x)
    }}""")
    result = compiled(model, target)
    assert not {"Shape", "Expand"} & {*operators(result)}
    assert operators(result) == operators(compiled(result, target))
    for optimize in (False, True):
        assert np.allclose(run(result, {"x": X}, optimize=optimize)[0], run(model, {"x": X})[0])


NARROW = {
    "i4": "float s = {-0.5}, int4 z = {3}",
    "u4": "float s = {-0.5}, uint4 z = {3}",
    "i4, symmetric": "float s = {-2}, int4 z = {0}",
    "u4, zero point at an end": "float s = {-0.5}, uint4 z = {15}",
}


@pytest.mark.parametrize("constants", NARROW.values(), ids=NARROW)
def test_a_pair_of_4_bits_under_a_negative_scale_keeps_its_type(constants: str):
    """The zero point of the turned pair was one of 8 bits, and no node verified."""
    model = parser.parse_model(f"""{HEAD.replace("17", "21").replace("8,", "10,")} g (float[3,4] x) => (float[3,4] y)
    <{constants}> {{
      q = QuantizeLinear(x, s, z)
      d = DequantizeLinear(q, s, z)
      y = Exp(d)
    }}""")
    want, result = run(model, {"x": X}), compiled(model, checked=True)
    for optimize in (False, True):
        assert np.allclose(run(result, {"x": X}, optimize=optimize)[0], want[0], rtol=1e-5)
