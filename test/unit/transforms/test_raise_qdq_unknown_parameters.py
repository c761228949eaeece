"""Scales and zero points that an operator gives which nobody describes, and models of an opset that has no casts."""

from __future__ import annotations

import numpy as np
import onnx
import pytest
from onnx import parser

import qdialect
from qdialect.evaluation.session import run

X = np.random.default_rng(0).normal(size=(2, 6)).astype(np.float32)
FUNCTION = """
<domain: "u", opset_import: ["": {opset}]> F (a) => (r) {{ r = Identity(a) }}"""


def compiled(model: onnx.ModelProto, form: str | None = None) -> tuple[onnx.ModelProto, str]:
    module = qdialect.load(model.SerializeToString())
    report = qdialect.compile(module, form=form)
    return qdialect.to_model(module), str(report)


def runnable(model: onnx.ModelProto, opset: int) -> onnx.ModelProto:
    """The model with what the unknown operator computes."""
    whole = onnx.ModelProto()
    whole.CopyFrom(model)
    used = {node.domain for node in whole.graph.node}
    if "u" in used and not whole.functions:
        text = f'<ir_version: 9, opset_import: ["": {opset}, "u": 1]> g () => () {{ }}'
        whole.functions.extend(parser.parse_model(text + FUNCTION.format(opset=opset)).functions)
        whole.ir_version = max(whole.ir_version, 9)
    return whole


MOVES = {
    "Reshape": ("k = Reshape(d, l)", 23),
    "Transpose": ("k = Transpose(d)", 21),
    "Flatten": ("k = Flatten(d)", 23),
    "Unsqueeze": ("k = Unsqueeze(d, o)", 21),
    "Slice": ("k = Slice(d, o, t)", 23),
    "two moves": ("j = Reshape(d, l)\n k = Transpose(j)", 21),
}
PARAMETERS = {
    "zero point": "float s = {0.1}, int8 w = {3}> { z = u.F(w)",
    "zero point of u8": "float s = {0.1}, uint8 w = {3}> { z = u.F(w)",
    "scale": "float v = {0.1}, int8 z = {3}> { s = u.F(v)",
    "both": "float v = {0.1}, int8 w = {3}> { s = u.F(v)\n z = u.F(w)",
}


@pytest.mark.parametrize("parameters", PARAMETERS.values(), ids=PARAMETERS)
@pytest.mark.parametrize(("move", "opset"), MOVES.values(), ids=MOVES)
def test_a_session_takes_moves_behind_parameters_of_an_unknown_op(move: str, opset: int, parameters: str):
    """It computes the parameters as it loads, moved the casts of i8, and refused them."""
    model = parser.parse_model(f"""<ir_version: 10, opset_import: ["": {opset}, "u": 1]>
    g (float[2,6] x) => (float[N] y) <int64[2] l = {{4, 3}}, int64[1] o = {{1}}, int64[1] t = {{2}}, {parameters}
      q = QuantizeLinear(x, s, z)
      d = DequantizeLinear(q, s, z)
      {move}
      y = Exp(k)
    }}""")
    del model.graph.output[0].type.tensor_type.shape.dim[:]
    model.graph.output[0].type.tensor_type.ClearField("shape")
    want = run(runnable(model, opset), {"x": X})[0]
    result, said = compiled(model)
    assert "stores floats" not in said
    for optimize in (False, True):
        assert np.allclose(run(runnable(result, opset), {"x": X}, optimize=optimize)[0], want, rtol=1e-6)


@pytest.mark.parametrize("form", ["qoperator", "qdq"])
@pytest.mark.parametrize("opset", [7, 8, 9])
def test_casts_in_an_opset_without_any_are_those_of_com_microsoft(opset: int, form: str):
    """A model with functions of its own keeps its opset; casts of ONNX were written, which it does not have."""
    model = parser.parse_model(f"""<ir_version: 6, opset_import: ["": {opset}, "com.microsoft": 1, "u": 1]>
    g (float[2,6] x) => (float[2,6] y) <float s = {{0.1}}, int8 z = {{3}}, float t = {{0.01}}, uint8 w = {{7}}> {{
      q = com.microsoft.QuantizeLinear(x, s, z)
      d = com.microsoft.DequantizeLinear(q, s, z)
      e = Tanh(d)
      r = com.microsoft.QuantizeLinear(e, t, w)
      f = com.microsoft.DequantizeLinear(r, t, w)
      i = u.F(f)
      y = u.F(i)
    }}{FUNCTION.format(opset=opset)}""")
    module = qdialect.load(model.SerializeToString())
    qdialect.compile(module, form=form)
    module.verify()
    result = qdialect.to_model(module)
    assert any(node.domain == "com.microsoft" for node in result.graph.node)
