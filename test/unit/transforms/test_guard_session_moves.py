"""What a default session of onnxruntime fuses, or returns, behind moves that it brings a quantize in front of."""

from typing import Any

import numpy as np
import pytest
from default_session import LEVELS, ONNX_TARGETS, compiled, levels, run

import qdialect
from graphs.structure import difference
from qdialect.onnx_io.exporter import export_model
from qdialect.onnx_io.importer import import_model

SELECTED = """g (float[2,3,5,4] x) => (float[?,?,?,?] y, float[2,3,5,4] e)
<float[3] s = {0.02, 0.03, 0.05}, uint8[3] z = {100, 120, 90}, float r = {0.03}, uint8 o = {110}, float t = {0.04},
 uint8 u = {121}, float k = {0.1}> {
  q = QuantizeLinear<axis = 1>(x, s, z)
  d = DequantizeLinear<axis = 1>(q, s, z)
  p = QuantizeLinear(x, r, o)
  e = DequantizeLinear(p, r, o)
  c = Less(d, k)
  v = Where(c, d, e)
  m = MaxPool<kernel_shape = [2, 2]>(v)
  n = QuantizeLinear(m, t, u)
  y = DequantizeLinear(n, t, u)
}"""


@pytest.mark.parametrize("options", [*({"target": t} for t in ONNX_TARGETS), {"form": "qdq"}], ids=str)
def test_an_operand_by_channel_is_kept_from_a_kernel_behind_a_move(options: dict[str, Any]):
    model, result = compiled(SELECTED, 13, **options)
    x = {"x": np.random.default_rng(3).normal(size=(2, 3, 5, 4)).astype(np.float32)}
    wanted = run(model, x, LEVELS[0])
    for level in levels(options):
        np.testing.assert_allclose(run(result, x, level), wanted, atol=1e-6)


RETURNED = """g (uint8[1,3,8] x) => (float[1,3,1] y, float[1,1,3] z)
<float[8] s = {0.02, 0.03, 0.05, 0.02, 0.03, 0.05, 0.02, 0.03}, uint8[8] z0 = {100, 120, 90, 0, 7, 200, 128, 128},
 float t = {0.1}, uint8 u = {110}> {
  d = DequantizeLinear<axis = 2>(x, s, z0)
  y = GlobalAveragePool(d)
  r = Relu(y)
  m = Transpose<perm = [0, 2, 1]>(r)
  n = QuantizeLinear(m, t, u)
  z = DequantizeLinear(n, t, u)
}"""
"""The Relu, which parts the output from the move, is what the zero point does once that is 0."""


@pytest.mark.parametrize("zero", ["0", "110"])
@pytest.mark.parametrize("options", [*({"target": t} for t in ONNX_TARGETS), {"form": "qdq"}], ids=str)
def test_an_output_is_not_rounded_by_a_quantize_behind_a_move(options: dict[str, Any], zero: str):
    """Nor is it fused with it into a kernel of one scale."""
    model, result = compiled(RETURNED.replace("{110}", f"{{{zero}}}"), 17, **options)
    x = {"x": np.random.default_rng(3).integers(0, 256, (1, 3, 8)).astype(np.uint8)}
    wanted = run(model, x, LEVELS[0])
    for level in levels(options):
        np.testing.assert_allclose(run(result, x, level), wanted, atol=1e-6)


PARTED = """g (uint8[1,3,4,4] x) => (float[1,3,3,3] y)
<float s = {0.25}, uint8 z = {128}, float t = {0.5}, uint4 u = {8}> {
  d = DequantizeLinear(x, s, z)
  m = MaxPool<kernel_shape = [2, 2]>(d)
  q = QuantizeLinear(m, t, u)
  y = DequantizeLinear(q, t, u)
}"""


@pytest.mark.parametrize("options", [*({"target": t} for t in ONNX_TARGETS), {"form": "qdq"}], ids=str)
def test_a_move_of_i8_behind_which_a_quantize_is_kept_apart_runs(options: dict[str, Any]):
    """What parts the two is what a session writes casts of the wrong type in front of, from opset 21 on."""
    model, result = compiled(PARTED, 21, **options)
    x = {"x": np.random.default_rng(3).integers(120, 140, (1, 3, 4, 4)).astype(np.uint8)}
    wanted = run(model, x, LEVELS[0])
    for level in levels(options):
        np.testing.assert_allclose(run(result, x, level), wanted, atol=1e-6)


MOVED = """g (int32[2,3] x) => (float[6] y) <float s = {0.1}, int32 z = {0}, int64[1] n = {6}> {
  d = DequantizeLinear(x, s, z)
  t = Transpose<perm = [1, 0]>(d)
  y = Reshape(t, n)
}"""


@pytest.mark.parametrize("options", [*({"target": t} for t in ONNX_TARGETS), {"form": "qdq"}], ids=str)
def test_integers_of_32_bits_are_moved_where_a_session_would_quantize_to_them(options: dict[str, Any]):
    """A session moves the dequantize itself, with a quantize to i32, which no op does."""
    model, result = compiled(MOVED, 17, **options)
    x = {"x": np.arange(-3, 3, dtype=np.int32).reshape(2, 3)}
    wanted = run(model, x, LEVELS[0])
    for level in levels(options):
        np.testing.assert_array_equal(run(result, x, level), wanted)


CAPTURED = """g (float[4,32] x, bool c) => (float[4,8] y)
<int8[32,8] w = {WEIGHT}, float[8] s = {SCALES}> {
  y = If (c) <then_branch = a () => (float[4,8] p) {
    d = DequantizeLinear<axis = 1>(w, s)
    p = MatMul(x, d)
  }, else_branch = b () => (float[4,8] q) {
    e = DequantizeLinear<axis = 1>(w, s)
    m = MatMul(x, e)
    q = Relu(m)
  }>
}"""


@pytest.mark.parametrize("options", [*({"target": t} for t in ONNX_TARGETS), {"exactness": "exact"}], ids=str)
def test_a_captured_weight_alone_that_is_quantized_loads(options: dict[str, Any]):
    """A session would make a MatMulNBits, for which it misses constants of an outer graph."""
    random = np.random.default_rng(3)
    weight = ", ".join(map(str, random.integers(-7, 8, 256)))
    text = CAPTURED.replace("WEIGHT", weight).replace("SCALES", ", ".join(["0.05"] * 8))
    model, result = compiled(text, 21, **options)
    x = {"x": random.normal(size=(4, 32)).astype(np.float32)}
    for branch in (True, False):
        x["c"] = np.array(branch)
        wanted = run(model, x, LEVELS[0])
        for level in levels(options):
            np.testing.assert_allclose(run(result, x, level), wanted, rtol=1e-5, atol=1e-5)


ODD = {
    "merged_with_a_type_behind": """g (float[1,3,4,4] x) => (float[1,3,4,4] y)
    <float s = {-0.02}, uint8 z = {128}, float t = {0.05}, uint8 u = {100}> {
      q = QuantizeLinear(x, s, z)
      d = DequantizeLinear(q, s, z)
      p = QuantizeLinear(d, t, u)
      y = DequantizeLinear(p, t, u)
    }""",
    "merged_with_a_type_in_front": """g (float[1,3,4,4] x) => (float[1,3,4,4] y)
    <float s = {0.02}, uint8 z = {128}, float t = {-0.05}, uint8 u = {100}> {
      q = QuantizeLinear(x, s, z)
      d = DequantizeLinear(q, s, z)
      p = QuantizeLinear(d, t, u)
      y = DequantizeLinear(p, t, u)
    }""",
    "clamped": """g (float[1,3,4,4] x) => (float[1,3,4,4] y)
    <float t = {-0.05}, uint8 u = {0}> {
      r = Relu(x)
      p = QuantizeLinear(r, t, u)
      y = DequantizeLinear(p, t, u)
    }""",
    "averaged": """g (float[1,3,4,4] x) => (float[1,3,1,1] y)
    <float s = {-0.02}, uint8 z = {128}, float t = {0.05}, uint8 u = {100}> {
      q = QuantizeLinear(x, s, z)
      d = DequantizeLinear(q, s, z)
      m = GlobalAveragePool(d)
      p = QuantizeLinear(m, t, u)
      y = DequantizeLinear(p, t, u)
    }""",
    "moved": """g (float[1,3,4,4] x) => (float[4,1,3,4] y)
    <float s = {-0.02}, int8 z = {3}> {
      q = QuantizeLinear(x, s, z)
      d = DequantizeLinear(q, s, z)
      y = Transpose<perm = [3, 0, 1, 2]>(d)
    }""",
    "implied_but_for_a_small_real": """g (float[1,3,4,4] x) => (float[1,3,4,4] y)
    <float t = {5e-10}, uint8 u = {100}, float low = {-1e-9}, float high = {1.5e-9}, float m = {5e-9}> {
      k = Mul(x, m)
      c = Clip(k, low, high)
      p = QuantizeLinear(c, t, u)
      y = DequantizeLinear(p, t, u)
    }""",
}


@pytest.mark.parametrize("name", ODD)
@pytest.mark.parametrize("options", [*({"target": t} for t in ONNX_TARGETS), {"form": "qdq"}], ids=str)
def test_a_session_fuses_nothing_at_scales_that_it_misreads(options: dict[str, Any], name: str):
    """It takes each for positive, and 1e-7 for the least difference."""
    model, result = compiled(ODD[name], 21, **options)
    x = {"x": np.random.default_rng(3).normal(size=(1, 3, 4, 4)).astype(np.float32)}
    wanted = run(model, x, LEVELS[0])
    for level in levels(options):
        np.testing.assert_allclose(run(result, x, level), wanted, rtol=1e-6, atol=1e-12)


OPEN = """g (float[N,2,H,W] x, LISTED k) => (float[?,2,?,?] y)
<float s = {0.05}, uint8 z = {128}, int8[2,2,1,1] w = {50, -20, 30, 60}, float v = {0.02}, int8 o = {0},
 int64[1] a = {2}, int64[1] seven = {7}> {
  q = QuantizeLinear(x, s, z)
  d = DequantizeLinear(q, s, z)
  e = DequantizeLinear(w, v, o)
  c = Conv(d, e)
  p = QuantizeLinear(c, s, z)
  t = DequantizeLinear(p, s, z)
  m = CALL
  u = QuantizeLinear(m, s, z)
  f = DequantizeLinear(u, s, z)
  n = MaxPool<kernel_shape = [2, 2]>(f)
  r = QuantizeLinear(n, s, z)
  y = DequantizeLinear(r, s, z)
}"""
"""A session runs both kernels channels last, and moves a Transpose past what stands between."""


@pytest.mark.parametrize(
    ("call", "listed"),
    [
        ("CenterCropPad<axes = [-2]>(t, seven)", np.array([7])),
        ("CenterCropPad<axes = [2]>(t, k)", np.array([3])),
        ("Pad(t, k, , a)", np.array([1, 2])),
        ('Resize<mode = "nearest", axes = [2]>(t, , k)', np.array([2], np.float32)),
        ('Resize<mode = "nearest", axes = [2]>(t, , , k)', np.array([7])),
    ],
)
def test_an_op_on_an_axis_whose_size_the_run_gives_is_moved_past(call: str, listed: Any):
    """Sizes that onnx's inference loses are stated, so that the second compilation knows them too."""
    kind = f"{'float' if listed.dtype == np.float32 else 'int64'}[{len(listed)}]"
    model, result = compiled(OPEN.replace("CALL", call).replace("LISTED", kind), 21)
    assert "NhwcMaxPool" in {node.op_type for node in result.graph.node} or "seven" not in call
    feeds = {"x": np.random.default_rng(3).normal(size=(2, 2, 5, 4)).astype(np.float32), "k": listed}
    wanted = run(model, feeds, LEVELS[0])
    for level in LEVELS:
        np.testing.assert_array_equal(run(result, feeds, level), wanted)
    again = import_model(result)
    qdialect.compile(again)
    assert not difference(result, export_model(again))
