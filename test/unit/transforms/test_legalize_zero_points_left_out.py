"""Zero points of 0 for each column: left out of the nodes that a first compilation writes, as of a second one."""

from __future__ import annotations

from collections import Counter

import numpy as np
import onnx
import pytest
from onnx import parser

import qdialect
from qdialect.evaluation.session import run

X = np.random.default_rng(3).normal(size=(2, 3, 4)).astype(np.float32)


def compiled(model: onnx.ModelProto, form: str) -> onnx.ModelProto:
    module = qdialect.load(model.SerializeToString())
    qdialect.compile(module, form=form)
    return qdialect.to_model(module)


def signature(model: onnx.ModelProto) -> tuple[Counter[str], Counter[int]]:
    nodes = Counter(node.op_type for node in model.graph.node)
    return nodes, Counter(one.data_type for one in model.graph.initializer)


@pytest.mark.parametrize("form", ["qoperator", "qdq", "integer"])
@pytest.mark.parametrize(
    "end",
    ["", "\n a = Add(m, b)", "\n a = Add(b, m)", "\n a = Sub(m, b)", "\n a = Relu(m)", "\n a = Tanh(m)"],
)
def test_zero_points_of_0_are_left_out_at_once(end: str, form: str):
    """A kernel got one for each column, which the second compilation left out."""
    weight = ", ".join(map(str, np.random.default_rng(1).integers(-100, 100, 20)))
    model = parser.parse_model(f"""<ir_version: 8, opset_import: ["": 17]> g (float[2,3,4] x) => (float[2,3,5] y)
    <int8[4,5] w = {{{weight}}}, float[5] t = {{0.01, 0.02, 0.03, 0.04, 0.05}}, int8[5] v = {{0, 0, 0, 0, 0}},
     float s = {{0.02}}, uint8 z = {{120}}, float[5] b = {{1, 2, 3, 4, 5}}> {{
      q = QuantizeLinear(x, s, z)
      d = DequantizeLinear(q, s, z)
      e = DequantizeLinear<axis = 1>(w, t, v)
      m = MatMul(d, e) {end}
      y = Identity({"a" if end else "m"})
    }}""")
    once = compiled(model, form)
    assert signature(compiled(once, form)) == signature(once)
    want = run(model, {"x": X})[0]
    for optimize in (False, True):
        assert np.allclose(run(once, {"x": X}, optimize=optimize)[0], want, rtol=1e-4, atol=1e-4)
