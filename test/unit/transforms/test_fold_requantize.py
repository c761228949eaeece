"""Operands of a join that are quantized once, on numbers: one step at most, whatever the types are."""

from __future__ import annotations

from typing import Any

import numpy as np
import onnx
import onnxruntime as ort
import pytest
from guard_cases import Case, ops_of, parsed, text
from onnx import parser

import qdialect
from qdialect.dialects.onnx_base import OnnxOp
from qdialect.ir.names import location, node_name, tensor_names
from qdialect.onnx_io.exporter import export_model
from qdialect.onnx_io.importer import import_model
from qdialect.transforms import get_all_passes

BODY = """<ir_version: 8, opset_import: ["" : 17]> g (float[1,4,96,64] x) => (float[1,5,96,64] y)
<float xs = {0.03}, uint8 xz = {120}, int8[2,4,1,1] w = {50, -70, 20, 110, -90, 33, 64, 5},
 float ws = {0.02}, int8 wz = {0}, float s = {%(s)r}, uint8 sz = {%(sz)d}, float t = {0.045}, uint8 tz = {%(tz)d}> {
  q = QuantizeLinear(x, xs, xz)
  d = DequantizeLinear(q, xs, xz)
  wd = DequantizeLinear(w, ws, wz)
  c = Conv(d, wd)
  p = QuantizeLinear(c, s, sz)
  e = DequantizeLinear(p, s, sz)
  a, b = Split<axis = 1>(d)
  r = Add(a, b)
  f = Relu(r)
  h = QuantizeLinear(f, s, sz)
  i = DequantizeLinear(h, s, sz)
  m = MaxPool<kernel_shape = [1, 1]>(i)
  k = Slice(d, start, stop, axes)
  j = Concat<axis = 1>(e, m, k)
  o = QuantizeLinear(j, t, tz)
  y = DequantizeLinear(o, t, tz)
}"""


def run(model: onnx.ModelProto, x: Any) -> Any:
    options = ort.SessionOptions()
    options.graph_optimization_level = ort.GraphOptimizationLevel.ORT_DISABLE_ALL
    session: Any = ort.InferenceSession(
        model.SerializeToString(), options, providers=["CPUExecutionProvider"]
    )
    return session.run(None, {"x": x})[0]


@pytest.mark.parametrize("scale", [0.045, 0.0449, 0.03, 0.0101])
@pytest.mark.parametrize("zeros", [(0, 0), (13, 128), (255, 77), (128, 255)])
def test_integers_move_by_one_step_at_most(scale: float, zeros: tuple[int, int]):
    model = parser.parse_model(BODY % {"s": scale, "sz": zeros[0], "tz": zeros[1]})
    for name, value in {"start": 3, "stop": 4, "axes": 1}.items():
        model.graph.initializer.append(onnx.numpy_helper.from_array(np.array([value], np.int64), name))
    module = import_model(model)
    qdialect.compile(module)
    result = export_model(module)
    casts = [node.op_type for node in result.graph.node].count("QuantizeLinear")
    assert casts == 1, "one for the input, none between"
    x = np.random.default_rng(3).normal(0, 2.5, (1, 4, 96, 64)).astype(np.float32)
    before, after = (run(m, x) for m in (model, result))
    steps = np.rint((before - after) / np.float32(0.045))
    assert np.abs(steps).max() <= 1


REQUANTIZED = """
    x: 1x1x4x5x!u
    y: 1x1x4x5x!t
    w = [3] : 1x1x1x1xi8 as 1x1x1x1x!t
    c = Conv(x, w) : 1x1x4x5x!made
    d = dcast c : 1x1x4x5xf32
    q = qcast d : 1x1x4x5x!t
    z = Concat(q, y) {axis = 1 : i64} : 1x2x4x5x!t"""
"""A result of 20 elements, whose type is requantized in front of a join."""


@pytest.mark.parametrize(
    ("made", "few", "opset", "expected"),
    [
        ("i8:f32, 0.125", 20, 17, "Conv Clip Concat"),
        ("i8:f32, 0.125", 21, 17, None),
        ("i8:f32, 0.125", 1, 11, "Conv Clip Concat"),
        ("i8:f32, 0.25:1", 1, 17, "Conv Clip Concat"),
        ("i8:f32, 0.25:-3", 1, 17, "Conv Clip Concat"),
        ("i8:f32, 0.2500001", 1, 17, None),
    ],
)
def test_a_second_rounding_is_left_out_unless_it_is_to_finer_steps(
    made: str, few: int, opset: int, expected: str | None, monkeypatch: pytest.MonkeyPatch
):
    monkeypatch.setattr("qdialect.transforms.fold_requantize.MAX_RECAST_ELEMENTS", few)
    source = text(Case("", "", REQUANTIZED, opset=opset))
    context, module = parsed(f"!made = !quant.uniform<{made}>\n{source}")
    conv = next(op for op in module.walk() if isinstance(op, OnnxOp) and op.op_type == "Conv")
    conv.location = location("c", ["made"])
    get_all_passes()["fold-requantize"]()().apply(context, module)
    assert ops_of(module) == (expected or "Conv dcast qcast Concat")
    if expected == "Conv Clip Concat":
        conv, clip = (op for op in module.walk() if isinstance(op, OnnxOp) and op.op_type in ("Conv", "Clip"))
        assert (node_name(clip), tensor_names(clip)) == ("c_range", ["made"])
        assert node_name(conv) == "c"
