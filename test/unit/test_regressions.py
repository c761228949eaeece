"""Models that were once compiled into other numbers, or into files that no session runs."""

from __future__ import annotations

from typing import Any

import numpy as np
import numpy.typing as npt
import onnx
import onnxruntime as ort
import pytest
from onnx import parser

import qdialect
from qdialect.onnx_io.exporter import export_model
from qdialect.onnx_io.importer import import_model
from qdialect.targets import target_names

Feeds = dict[str, npt.NDArray[Any]]
LEVELS: tuple[Any, Any] = (
    ort.GraphOptimizationLevel.ORT_DISABLE_ALL,
    ort.GraphOptimizationLevel.ORT_ENABLE_ALL,
)


def parsed(body: str, opset: int = 17) -> onnx.ModelProto:
    imports = f'["" : {opset}, "com.microsoft" : 1]'
    version = 10 if opset > 20 else 8
    return parser.parse_model(f"<ir_version: {version}, opset_import: {imports}> {body}")


def compiled(model: onnx.ModelProto, **options: Any) -> onnx.ModelProto:
    module = import_model(model)
    qdialect.compile(module, **options)
    return export_model(module)


def run(model: onnx.ModelProto, feeds: Feeds, level: Any = LEVELS[0]) -> list[Any]:
    options = ort.SessionOptions()
    options.log_severity_level, options.graph_optimization_level = 4, level
    session = ort.InferenceSession(model.SerializeToString(), options, providers=["CPUExecutionProvider"])
    return list(session.run(None, feeds))


def ops(model: onnx.ModelProto) -> list[str]:
    return [node.op_type for node in model.graph.node]


PIXELS = np.random.default_rng(0).integers(0, 255, (1, 1, 5, 7)).astype(np.uint8)
POOL = "kernel_shape=[2,2], strides=[2,2], ceil_mode=1, count_include_pad=1"
QDQ_POOL = f"""g (uint8[1,1,5,7] x) => (uint8[1,1,3,4] y) <float s = {{0.02}}, uint8 z = {{37}}> {{
  d = DequantizeLinear(x, s, z)
  e = AveragePool<{POOL}>(d)
  y = QuantizeLinear(e, s, z)
}}"""
QLINEAR_POOL = f"""g (uint8[1,1,5,7] x) => (uint8[1,1,3,4] y) <float s = {{0.02}}, uint8 z = {{37}}> {{
  y = com.microsoft.QLinearAveragePool<{POOL}>(x, s, z, s, z)
}}"""


@pytest.mark.parametrize("body", [QDQ_POOL, QLINEAR_POOL])
@pytest.mark.parametrize("target", target_names())
def test_a_ragged_window_is_counted_as_its_own_node_counts_it(body: str, target: str):
    model = parsed(body)
    was, now = (run(m, {"x": PIXELS})[0].astype(int) for m in (model, compiled(model, target=target)))
    assert np.abs(was - now).max() <= 1


def test_windows_that_fit_are_pooled_in_integers():
    model = parsed(QDQ_POOL.replace("5,7", "6,8"))
    assert ops(compiled(model)) == ["QLinearAveragePool"]


SCALAR_IN_FRONT = """g (float[1,3,4,4] x) => (float[1,1,4,4] y)
<float k = {0.5}, float[1,3,1,1] w = {1, 2, 3}, float[1] b = {0.25}> {
  m = Mul(x, k)
  y = Conv(m, w, b)
}"""


@pytest.mark.parametrize("target", target_names())
def test_the_bias_of_one_channel_stays_a_vector(target: str):
    model = parsed(SCALAR_IN_FRONT)
    x: Feeds = {"x": np.random.default_rng(0).normal(size=(1, 3, 4, 4)).astype(np.float32)}
    result = compiled(model, target=target)
    assert ops(result) == ["Conv"]
    np.testing.assert_allclose(run(result, x)[0], run(model, x)[0], rtol=1e-5)


DEAD = """g (float[1,1,3,3] x) => (float[1,3,3,3] y)
<float xs = {0.02}, uint8 xz = {128}, int8[3,1,1,1] w = {50, 0, -3}, float[3] ws = {0.01, 1.0, 0.02},
 int8[3] wz = {0, 0, -3}, float[3] b = {0.1, 0.0099, -0.0161}, float ys = {0.001}, uint8 yz = {128}> {
  q = QuantizeLinear(x, xs, xz)
  d = DequantizeLinear(q, xs, xz)
  wd = DequantizeLinear<axis = 0>(w, ws, wz)
  c = Conv(d, wd, b)
  p = QuantizeLinear(c, ys, yz)
  y = DequantizeLinear(p, ys, yz)
}"""


def test_a_channel_without_weights_keeps_its_bias():
    model = parsed(DEAD)
    x: Feeds = {"x": np.linspace(-0.2, 0.2, 9, dtype=np.float32).reshape(1, 1, 3, 3)}
    result = compiled(model)
    assert "QLinearConv" in ops(result)
    for level in LEVELS:
        np.testing.assert_allclose(run(result, x, level)[0], run(model, x)[0], atol=0.00101)


def test_a_bias_that_accumulator_steps_would_move_stays_float():
    model = parsed(DEAD.replace("50, 0, -3", "50, 1, -3"))
    x: Feeds = {"x": np.linspace(-0.2, 0.2, 9, dtype=np.float32).reshape(1, 1, 3, 3)}
    np.testing.assert_allclose(run(compiled(model), x)[0], run(model, x)[0], atol=0.00101)


ARITHMETIC = """g (float[1,2,4,4] x) => (float[1,2,4,4] y) <float[{shape}] s = {{{scales}}}, float lo = {{{low}}}, float hi = {{{high}}}> {{
  a = Div(x, s)
  b = Round(a)
  c = Clip(b, lo, hi)
  y = Mul(c, s)
}}"""  # noqa: E501


@pytest.mark.parametrize("opset", [12, 17, 21])
@pytest.mark.parametrize(("shape", "scales"), [("2,1,1", "0.01, 0.02"), ("1", "0.01")])
@pytest.mark.parametrize(("low", "high"), [(-512, 511), (-130, 124), (-100, 100), (0, 1000)])
@pytest.mark.parametrize("target", ["generic", "onnxruntime"])
def test_arithmetic_quantizers_of_every_range_run(
    opset: int, shape: str, scales: str, low: int, high: int, target: str
):
    model = parsed(ARITHMETIC.format(shape=shape, scales=scales, low=low, high=high), opset)
    x: Feeds = {"x": np.random.default_rng(0).normal(scale=8, size=(1, 2, 4, 4)).astype(np.float32)}
    result = compiled(model, target=target)
    assert "Round" not in ops(result)
    for level in LEVELS:
        np.testing.assert_allclose(run(result, x, level)[0], run(model, x)[0], rtol=1e-6)


BATCH = """g (float[2,3] x) => (float[2,2,2] y)
<float xs = {0.02}, uint8 xz = {128}, int8[2,3,2] w = {1, 2, 3, 4, 5, 6, -7, -8, 9, 10, 11, -12},
 float[2] ws = {0.1, 0.2},
 int8[2] wz = {0, 0}> {
  q = QuantizeLinear(x, xs, xz)
  d = DequantizeLinear(q, xs, xz)
  wd = DequantizeLinear<axis = 2>(w, ws, wz)
  y = MatMul(d, wd)
}"""


@pytest.mark.parametrize("zeros", ["0, 0", "3, 3", "-1, 5"])
@pytest.mark.parametrize("form", ["integer", "qoperator", "qdq"])
def test_several_matrices_with_a_scale_for_each_column_run(form: str, zeros: str):
    model = parsed(BATCH.replace("{0, 0}", f"{{{zeros}}}"))
    x: Feeds = {"x": np.random.default_rng(0).normal(size=(2, 3)).astype(np.float32)}
    result = compiled(model, form=form)
    assert ("MatMulInteger" in ops(result)) == (form == "integer" and zeros != "-1, 5")
    np.testing.assert_allclose(run(result, x)[0], run(model, x)[0], rtol=1e-5)
