"""Models that were once compiled into other numbers, or into files that no session runs."""

from __future__ import annotations

from typing import Any

import numpy as np
import numpy.typing as npt
import onnx
import onnxruntime as ort
import pytest
from onnx import parser
from xdsl.dialects.builtin import ModuleOp, f32
from xdsl.dialects.func import FuncOp, ReturnOp
from xdsl.ir import Block, Region

import qdialect
from qdialect.compiler.options import FORMS
from qdialect.dialects.onnx_types import tensor_type
from qdialect.onnx_io.exporter import export_model
from qdialect.onnx_io.importer import import_model
from qdialect.ops.generated import op_named
from qdialect.targets import target as target_called
from qdialect.targets import target_names

Feeds = dict[str, npt.NDArray[Any]]
LEVELS: tuple[Any, Any] = (
    ort.GraphOptimizationLevel.ORT_DISABLE_ALL,
    ort.GraphOptimizationLevel.ORT_ENABLE_ALL,
)

ONNX_TARGETS = [name for name in target_names() if target_called(name).form in FORMS]
"""The targets that take ONNX."""


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
@pytest.mark.parametrize("target", ONNX_TARGETS)
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


@pytest.mark.parametrize("target", ONNX_TARGETS)
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
 float[2] ws = {0.1, 0.2}, int8[2] wz = {0, 0}> {
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


UNKNOWN_SHAPE = """g (uint8[1,4] x) => (int8[1,4] y, int8[N,4] w) <float s = {0.02}, uint8 z = {128}, int8 zi = {0}> {
  a = com.microsoft.QLinearAdd(x, s, z, x, s, z, s, z)
  d = DequantizeLinear(a, s, z)
  y = QuantizeLinear(d, s, zi)
  b = com.microsoft.QLinearMul(x, s, z, x, s, z, s, z)
  e = DequantizeLinear(b, s, z)
  w = QuantizeLinear(e, s, zi)
}"""


@pytest.mark.parametrize("exactness", ["exact", "close"])
@pytest.mark.parametrize("target", ONNX_TARGETS)
def test_outputs_keep_their_declared_shapes(target: str, exactness: str):
    model = parsed(UNKNOWN_SHAPE)
    result = compiled(model, target=target, exactness=exactness)
    onnx.checker.check_model(result)
    sizes = [[d.dim_param or d.dim_value for d in o.type.tensor_type.shape.dim] for o in result.graph.output]
    assert sizes[0] == [1, 4]
    assert sizes[1] in ([1, 4], ["N", 4])


EMPTY = {
    "axis": """g (float[2,0] x) => (float[2,0] y) <float[0] s = {}, int8[0] z = {}, int8[2,0] w = {}> {
      d = DequantizeLinear<axis = 1>(w, s, z)
      y = Add(x, d)
    }""",
    "quantizer": """g (float[2,0] x) => (float[2,0] y) <float[0] s = {}, uint8[0] z = {}> {
      q = QuantizeLinear<axis = 1>(x, s, z)
      y = DequantizeLinear<axis = 1>(q, s, z)
    }""",
    "rows": """g (float[0,3,4,4] x) => (float[0,3,4,4] y) <float s = {0.1}, uint8 z = {3}, float[3,1,1] k = {1, 2, 3}> {
      q = QuantizeLinear(x, s, z)
      d = DequantizeLinear(q, s, z)
      u = Sub(d, k)
      p = QuantizeLinear(u, s, z)
      y = DequantizeLinear(p, s, z)
    }""",
    "arithmetic": """g (float[2,0] x) => (float[2,0] y) <float[0] s = {}, float lo = {-128}, float hi = {127}> {
      a = Div(x, s)
      b = Round(a)
      c = Clip(b, lo, hi)
      y = Mul(c, s)
    }""",
    "channels": """g (float[2,3] x) => (float[2,0] y)
    <float s = {0.1}, uint8 z = {3}, int8[3,0] w = {}, float[0] ws = {}, int8[0] wz = {}, float[0] b = {}> {
      q = QuantizeLinear(x, s, z)
      d = DequantizeLinear(q, s, z)
      wd = DequantizeLinear<axis = 1>(w, ws, wz)
      u = Gemm(d, wd, b)
      p = QuantizeLinear(u, s, z)
      y = DequantizeLinear(p, s, z)
    }""",
    "sums": """g (float[2,0] x) => (float[2,3] y)
    <float s = {0.1}, uint8 z = {3}, int8[0,3] w = {}, float[3] ws = {1, 2, 3}, int8[3] wz = {0, 0, 0}, float[3] b = {4, 5, 6}> {
      q = QuantizeLinear(x, s, z)
      d = DequantizeLinear(q, s, z)
      wd = DequantizeLinear<axis = 1>(w, ws, wz)
      u = Gemm(d, wd, b)
      p = QuantizeLinear(u, s, z)
      y = DequantizeLinear(p, s, z)
    }""",  # noqa: E501
}


@pytest.mark.parametrize("name", EMPTY)
@pytest.mark.parametrize("target", ONNX_TARGETS)
def test_tensors_without_elements_run_as_before(name: str, target: str):
    model = parsed(EMPTY[name])
    shape = [d.dim_value for d in model.graph.input[0].type.tensor_type.shape.dim]
    x: Feeds = {"x": np.zeros(shape, np.float32)}
    result = compiled(model, target=target)
    np.testing.assert_allclose(run(result, x)[0], run(model, x)[0], atol=0.11)


@pytest.mark.parametrize("target", ONNX_TARGETS)
def test_what_is_no_permutation_is_one_clear_error(target: str):
    model = parsed("""g (float[4,5] x) => (float[N,M] y) <float[5] s = {1, 2, 3, 4, 5}, uint8[5] z = {1, 2, 3, 4, 5}> {
      q = QuantizeLinear<axis = 1>(x, s, z)
      d = DequantizeLinear<axis = 1>(q, s, z)
      y = Transpose<perm = [0, 0]>(d)
    }""")
    with pytest.raises(qdialect.UserError, match=r"perm \[0, 0\] is no permutation"):
        compiled(model, target=target)


def test_a_size_beyond_64_bits_is_refused():
    type = tensor_type(f32, (2**70,))
    block = Block(arg_types=[type])
    block.add_op(ReturnOp(block.args[0]))
    with pytest.raises(qdialect.UserError, match="does not fit into 64 bits"):
        export_model(ModuleOp([FuncOp("main", ([type], [type]), Region(block))]))


def test_what_takes_its_own_result_is_not_written():
    block = Block(arg_types=[tensor_type(f32, (4,))])
    relu = op_named("", "Relu").build([block.args[0]], [block.args[0].type])
    relu.operands[0] = relu.results[0]
    block.add_ops([relu, ReturnOp(relu.results[0])])
    types = [block.args[0].type], [relu.results[0].type]
    with pytest.raises(qdialect.UserError, match="not there yet"):
        export_model(ModuleOp([FuncOp("main", types, Region(block))]))


TINY = """g (float[1,1,4,4] x) => (float[1,2,{size},{size}] y)
<float xs = {{0.02}}, uint8 xz = {{128}}, int8[{shape},1,1] w = {{50, -70}}, float ws = {{0.01}}, int8 wz = {{0}},
 float[2] ga = {{1, 0.00000005}}, float[2] be = {{0.1, 0.5}}, float[2] mu = {{0.1, 0.1}}, float[2] va = {{1, 2}},
 float ys = {{0.02}}, uint8 yz = {{128}}> {{
  q = QuantizeLinear(x, xs, xz)
  d = DequantizeLinear(q, xs, xz)
  wd = DequantizeLinear(w, ws, wz)
  c = {op}(d, wd)
  e = BatchNormalization(c, ga, be, mu, va)
  p = QuantizeLinear(e, ys, yz)
  y = DequantizeLinear(p, ys, yz)
}}"""


@pytest.mark.parametrize(("op", "shape"), [("Conv", "2,1"), ("ConvTranspose", "1,2")])
@pytest.mark.parametrize("form", ["qdq", "qoperator", "integer"])
def test_a_bias_that_a_session_quantizes_fits_the_scale_of_a_pruned_channel(op: str, shape: str, form: str):
    model = parsed(TINY.format(op=op, shape=shape, size=4))
    x: Feeds = {"x": np.zeros((1, 1, 4, 4), np.float32)}
    result = compiled(model, form=form)
    assert "BatchNormalization" not in ops(result)
    for level in LEVELS:
        np.testing.assert_allclose(run(result, x, level)[0], run(model, x)[0], atol=0.0201)


ADDED = """g (float[2,3,2] x) => (float[2,3,2] y)
<float xs = {0.01}, uint8 xz = {80}, int8[2,2] w = {56, -32, -24, 100}, float ws = {2e-10}, int8 wz = {0},
 float[2] b = {-0.36, 0.5}, float ys = {0.002}, uint8 yz = {200}> {
  q = QuantizeLinear(x, xs, xz)
  d = DequantizeLinear(q, xs, xz)
  v = DequantizeLinear(w, ws, wz)
  m = MatMul(d, v)
  a = Add(m, b)
  p = QuantizeLinear(a, ys, yz)
  y = DequantizeLinear(p, ys, yz)
}"""


@pytest.mark.parametrize("form", ["qdq", "qoperator", "integer"])
def test_a_bias_that_a_session_makes_of_an_addend_is_kept(form: str):
    model, x = parsed(ADDED), {"x": np.linspace(-1, 1, 12, dtype=np.float32).reshape(2, 3, 2)}
    result = compiled(model, form=form)
    for level in LEVELS:
        np.testing.assert_allclose(run(result, x, level)[0], run(model, x)[0], atol=0.00201)  # a step


REFUSED = """g (uint8[1,4] x) => (uint8[1,4] y)
<float s = {0.02}, uint8 z = {128}, int32[4] b = {33, -14, -43, 98}, float bs = {0.001}, int32 bz = {0}> {
  y = com.microsoft.QLinearAdd(x, s, z, b, bs, bz, s, z)
}"""


@pytest.mark.parametrize("target", ONNX_TARGETS)
def test_operands_that_no_kernel_takes_are_read_by_definition(target: str):
    model, x = parsed(REFUSED), np.array([[0, 100, 128, 255]], np.uint8)
    real = (x.astype(np.int32) - 128) * np.float32(0.02) + np.array([33, -14, -43, 98]) * np.float32(0.001)
    expected = np.clip(np.rint(real / np.float32(0.02)) + 128, 0, 255)
    for level in LEVELS:
        np.testing.assert_allclose(run(compiled(model, target=target), {"x": x}, level)[0], expected, atol=1)


def test_a_bias_of_unknown_steps_is_one_clear_error():
    model = parsed("""g (uint8[2,2] x) => (uint8[2,3] y)
    <float s = {0.3}, uint8 z = {128}, int8[2,3] w = {93, -103, -99, -128, 75, -109}, float ws = {0.01}, int8 wz = {0},
     uint8[3] b = {1, 2, 3}> {
      y = com.microsoft.QGemm(x, s, z, w, ws, wz, b, s, z)
    }""")
    with pytest.raises(qdialect.UserError, match=r"QGemm .y. does not load.*the bias is not int32"):
        compiled(model)


@pytest.mark.parametrize("target", ONNX_TARGETS)
def test_a_float_in_a_kernel_of_integers_is_one_clear_error(target: str):
    model = parsed("""g (float[1,2,4,4] x) => (uint8[1,2,4,4] y)
    <float s = {0.3}, uint8 z = {128}, int8[2,2,1,1] w = {93, -103, -99, -128}, float ws = {0.01}, int8 wz = {0}> {
      y = QLinearConv(x, s, z, w, ws, wz, s, z)
    }""")
    said = r"QLinearConv .y. does not load: input 'x' cannot be tensor\(float\), and the operand is not the result of"
    with pytest.raises(qdialect.UserError, match=said):
        compiled(model, target=target)


@pytest.mark.parametrize("target", ONNX_TARGETS)
def test_a_zero_point_for_each_channel_of_a_dynamic_convolution_runs(target: str):
    """As onnxruntime's own dynamic quantization per channel writes it, and its kernel refuses it."""
    rng = np.random.default_rng(4)
    w, zeros = rng.integers(8, 248, (3, 2, 2, 2)).astype(np.uint8), np.array([120, 128, 125], np.uint8)
    x = rng.normal(0, 1, (1, 2, 5, 5)).astype(np.float32)
    start = "g (float[1,2,5,5] x) => (float[1,3,4,4] y) {q, s, z = DynamicQuantizeLinear(x)"
    end = "f = Cast<to = 1>(c) k = Constant<value_float = 0.01>() t = Mul(s, k) y = Mul(f, t)}"
    model = parsed(f"{start} c = ConvInteger(q, w, z, wz) {end}")
    model.graph.initializer.extend(
        [onnx.numpy_helper.from_array(w, "w"), onnx.numpy_helper.from_array(zeros, "wz")]
    )
    real = parsed(f"{start} a = Cast<to = 1>(q) b = Cast<to = 1>(z) d = Sub(a, b) c = Conv(d, w) {end}")
    differences = w.astype(np.float32) - zeros.reshape(3, 1, 1, 1)
    real.graph.initializer.append(onnx.numpy_helper.from_array(differences, "w"))
    [expected] = run(real, {"x": x}, LEVELS[0])
    for level in LEVELS:
        [got] = run(compiled(model, target=target), {"x": x}, level)
        np.testing.assert_allclose(got, expected, rtol=1e-5)


EXACT = {
    "gemm": """g (float[1,64] x) => (float[1,2] y)
    <float s = {0.02}, uint8 z = {128}, float[2] ws = {0.002, 0.003}, int8[2] wz = {0, 0}> {
      q = QuantizeLinear(x, s, z)
      d = DequantizeLinear(q, s, z)
      w = Cast<to = 3>(r)
      wd = DequantizeLinear<axis = 0>(w, ws, wz)
      y = Gemm<transB = 1>(d, wd)
    }""",
    "relu": """g (float[1,64] x) => (float[1,64] y) <float s = {0.02}, int8 z = {0}> {
      r = Sqrt(x)
      q = QuantizeLinear(r, s, z)
      d = DequantizeLinear(q, s, z)
      y = Relu(d)
    }""",
    "clamp_in_front": """g (float[1,64] x) => (int8[1,64] y) <float s = {0.02}, int8 z = {-7}> {
      r = Sqrt(x)
      c = Relu(r)
      y = QuantizeLinear(c, s, z)
    }""",
    "half": """g (float[1,64] x) => (float[8,2,2] y)
    <float16 s = {9503}, uint8 z = {128}, int64[4] k = {1, 4, 4, 4}, int64[3] n = {8, 2, 2}> {
      h = Cast<to = 10>(x)
      q = QuantizeLinear(h, s, z)
      d = DequantizeLinear(q, s, z)
      f = Reshape(d, k)
      t = Transpose<perm = [0, 3, 1, 2]>(f)
      a = AveragePool<kernel_shape = [2, 2], strides = [2, 2]>(t)
      b = Concat<axis = 1>(a, a)
      e = Reshape(b, n)
      y = Cast<to = 1>(e)
    }""",
}


@pytest.mark.parametrize("name", EXACT)
@pytest.mark.parametrize("options", [*({"target": t} for t in ONNX_TARGETS), {"form": "integer"}], ids=str)
def test_exact_is_bit_for_bit(name: str, options: dict[str, str]):
    model = parsed(EXACT[name], 19)
    draw = np.random.default_rng(5)
    if name == "gemm":
        weight = draw.integers(-127, 128, (2, 64)).astype(np.int8)
        model.graph.node[2].CopyFrom(onnx.helper.make_node("Identity", ["weight"], ["w"]))
        model.graph.initializer.append(onnx.numpy_helper.from_array(weight, "weight"))
    x: Feeds = {"x": draw.normal(size=(1, 64)).astype(np.float32)}  # of which half have no root
    result = compiled(model, exactness="exact", **options)
    np.testing.assert_array_equal(run(result, x)[0], run(model, x)[0])
