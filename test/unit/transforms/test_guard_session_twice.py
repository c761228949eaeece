"""A guard that a compiled model has already is not added again: `exact` keeps what computes in half precision."""

from __future__ import annotations

from collections import Counter

import numpy as np
import onnx
import pytest
from onnx import parser

import qdialect
from qdialect.evaluation.session import run

X = np.random.default_rng(3).normal(size=(3, 4)).astype(np.float32)

SCALES = ["0", "-0.5", "inf", "-2"]
"""Of float16: zero, negative, and not finite."""
OPS = {
    "Cast": "r = Cast<to = 10>(x)",
    "Neg": "h = Cast<to = 10>(x)\n r = Neg(h)",
    "Tanh": "h = Cast<to = 10>(x)\n r = Tanh(h)",
    "Transpose": "h = Cast<to = 10>(x)\n r = Transpose(h)",
}


def compiled(model: onnx.ModelProto, form: str) -> onnx.ModelProto:
    module = qdialect.load(model.SerializeToString())
    qdialect.compile(module, form=form, exactness="exact")
    return qdialect.to_model(module)


def operators(model: onnx.ModelProto) -> Counter[str]:
    return Counter(node.op_type for node in model.graph.node)


@pytest.mark.parametrize("form", ["qoperator", "qdq", "integer"])
@pytest.mark.parametrize("scale", SCALES)
@pytest.mark.parametrize("body", OPS.values(), ids=OPS)
def test_a_guard_in_half_precision_stands_once(body: str, scale: str, form: str):
    """Each compilation added a Sum in front of the quantize of an odd scale."""
    model = parser.parse_model(f"""<ir_version: 10, opset_import: ["": 21]>
    g (float[3,4] x) => (int8[3,4] y) <int8 z = {{3}}> {{
      {body}
      y = QuantizeLinear(r, s, z)
    }}""")
    if "Transpose" in body:
        model.graph.output[0].type.CopyFrom(onnx.helper.make_tensor_type_proto(onnx.TensorProto.INT8, (4, 3)))
    model.graph.initializer.append(onnx.numpy_helper.from_array(np.array(float(scale), np.float16), "s"))
    once = compiled(model, form)
    assert operators(compiled(once, form)) == operators(once)
    want = run(model, {"x": X})[0]
    assert np.array_equal(run(once, {"x": X})[0], want)
