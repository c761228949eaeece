"""Elements selected from quantized constants: how many there are, only the computation says."""

from __future__ import annotations

import numpy as np
import pytest
from onnx import parser

import qdialect
from qdialect.evaluation.session import run

X = np.random.default_rng(0).normal(size=(5, 5)).astype(np.float32)
W = "{" + ", ".join(map(str, np.random.default_rng(1).integers(0, 127, 15))) + "}"

TABLES = {
    "u8": ("uint8[3,5]", "float s = {0.02}, uint8 z = {20}", ""),
    "i8": ("int8[3,5]", "float s = {0.02}, int8 z = {-20}", ""),
    "i8 by columns": (
        "int8[3,5]",
        "float[5] s = {0.02, 0.03, 0.04, 0.05, 0.06}, int8[5] z = {0, 0, 0, 0, 0}",
        "",
    ),
    "u8 by rows": ("uint8[3,5]", "float[3] s = {0.02, 0.03, 0.04}, uint8[3] z = {128, 3, 0}", "<axis = 0>"),
}
SELECTED = {
    "rows": "c = Compress<axis = 0>(d, m)",
    "columns": "c = Compress<axis = 1>(d, m)",
    "all": "e = Compress(d, m)\n c = Unsqueeze(e, o)",
    "of moved ones": "e = Transpose(d)\n c = Compress<axis = 0>(e, m)",
    "quantized": "e = Compress<axis = 0>(d, m)\n q = QuantizeLinear(e, p, u)\n c = DequantizeLinear(q, p, u)",
}


@pytest.mark.parametrize("exactness", ["close", "exact"])
@pytest.mark.parametrize("body", SELECTED.values(), ids=SELECTED)
@pytest.mark.parametrize("table", TABLES.values(), ids=TABLES)
def test_elements_selected_from_a_quantized_constant_keep_their_type(
    table: tuple[str, str, str], body: str, exactness: str
):
    """The computed constant was one of plain integers, which the casts behind it do not take."""
    type, parameters, axis = table
    model = parser.parse_model(f"""<ir_version: 8, opset_import: ["": 17]>
    g (float[5,5] x) => (float[N,M] y, float[5,5] r)
    <{type} w = {W}, {parameters}, float p = {{0.05}}, uint8 u = {{9}}, bool[3] m = {{1, 0, 1}}, int64[1] o = {{0}}> {{
      d = DequantizeLinear{axis}(w, s, z)
      {body}
      y = Concat<axis = 0>(c, c)
      r = Relu(x)
    }}""")
    want = run(model, {"x": X})
    module = qdialect.load(model.SerializeToString())
    qdialect.compile(module, exactness=exactness, feeds=[{"x": X}])
    result = qdialect.to_model(module)
    for optimize in (False, True):
        for a, b in zip(run(result, {"x": X}, optimize=optimize), want, strict=True):
            assert a.shape == b.shape
            assert np.allclose(a, b, rtol=1e-6)
