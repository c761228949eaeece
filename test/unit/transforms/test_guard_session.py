"""A session with all of its optimizations takes what it took before, and gives the numbers that it gave."""

from __future__ import annotations

from pathlib import Path
from typing import Any

import numpy as np
import onnx
import onnxruntime as ort
import pytest
from default_session import LEVELS, ONNX_TARGETS, compiled, levels, run
from onnx import parser

import qdialect
from graphs.structure import difference
from qdialect.compiler.options import FORMS
from qdialect.onnx_io.exporter import export_model
from qdialect.onnx_io.importer import import_model

MODELS: dict[str, str] = {
    # A channel of zeros, whose scale is so small that its bias has more steps than int32.
    "bias_of_a_dead_channel": """g (float[2,2] x) => (uint8[2,3] y)
    <float s = {0.01}, uint8 z = {57}, int8[2,3] w = {11, -71, 0, -5, 50, 0}, float[3] ws = {0.5, 0.02, 1.2e-38},
     int8[3] wz = {0, 0, 0}, float[3] b = {40, 2, 78}, float t = {0.7}, uint8 o = {128}> {
      q = QuantizeLinear(x, s, z)
      d = DequantizeLinear(q, s, z)
      wd = DequantizeLinear(w, ws, wz)
      g = Gemm(d, wd, b)
      y = QuantizeLinear(g, t, o)
    }""",
    # A session moves the Transpose in front of the dequantize, and makes a product that it cannot run.
    "product_with_itself": """g (float[2,3,4] x) => (float[2,3,3] y)
    <float[4] s = {0.01, 0.02, 0.03, 0.04}, uint8[4] z = {128, 120, 128, 77}> {
      q = QuantizeLinear<axis = 2>(x, s, z)
      d = DequantizeLinear<axis = 2>(q, s, z)
      t = Transpose<perm = [0, 2, 1]>(d)
      y = MatMul(d, t)
    }""",
    # A result with a scale for each channel, whose operands only become alike.
    "sum": """g (float[2,3] x) => (int8[2,3] y)
    <float s = {0.03}, uint8 z = {128}, float[3] t = {0.02, 0.03, 0.05}, int8[3] u = {0, -5, 7}> {
      q = QuantizeLinear(x, s, z)
      d = DequantizeLinear(q, s, z)
      a = Add(d, d)
      y = QuantizeLinear<axis = 1>(a, t, u)
    }""",
    "sum_of_signed": """g (float[2,3] x) => (uint8[2,3] y)
    <float s = {0.03}, int8 z = {5}, float[3] t = {0.02, 0.03, 0.05}, uint8[3] u = {128, 13, 7}> {
      q = QuantizeLinear(x, s, z)
      d = DequantizeLinear(q, s, z)
      a = Add(d, d)
      y = QuantizeLinear<axis = 1>(a, t, u)
    }""",
    # Two joins of a value of several scales, whose casts each have pairs of their own on some targets.
    "sums": """g (float[2,3] x) => (float[2,3] y)
    <float[3] s = {0.02, 0.03, 0.05}, int8[3] u = {0, 0, 0}, float t = {0.04}, int8 o = {0}> {
      q = QuantizeLinear<axis = 1>(x, s, u)
      d = DequantizeLinear<axis = 1>(q, s, u)
      a = Add(d, d)
      b = QuantizeLinear(a, t, o)
      c = DequantizeLinear(b, t, o)
      e = Sigmoid(c)
      f = QuantizeLinear(e, t, o)
      h = DequantizeLinear(f, t, o)
      y = Add(c, h)
    }""",
    "conv": """g (float[1,2,4,5] x) => (float[1,1,4,5] y)
    <float s = {0.03}, uint8 z = {128}, int8[1,2,1,1] w = {50, -70}, float ws = {0.01}, int8 wz = {0},
     float[1] b = {0.5}, float[5] t = {0.01, 0.02, 0.03, 0.04, 0.05}, int8[5] u = {0, 0, 0, 0, 0}> {
      q = QuantizeLinear(x, s, z)
      d = DequantizeLinear(q, s, z)
      wd = DequantizeLinear(w, ws, wz)
      c = Conv(d, wd, b)
      p = QuantizeLinear<axis = -1>(c, t, u)
      y = DequantizeLinear<axis = -1>(p, t, u)
    }""",
    "pool": """g (float[1,2,4,5] x) => (float[1,2,1,1] y)
    <float s = {0.03}, int8 z = {-3}, float[2] t = {0.01, 0.02}, int8[2] u = {4, 5}> {
      q = QuantizeLinear(x, s, z)
      d = DequantizeLinear(q, s, z)
      c = GlobalAveragePool(d)
      p = QuantizeLinear<axis = 1>(c, t, u)
      y = DequantizeLinear<axis = 1>(p, t, u)
    }""",
    # A clamp that the range of each channel implies, between two convolutions.
    "clip": """g (float[1,1,4,5] x) => (float[1,2,4,5] y)
    <float s = {0.03}, uint8 z = {128}, int8[2,1,1,1] w = {50, -70}, float[2] ws = {0.01, 0.02}, int8[2] wz = {0, 0},
     float least = {0.0}, float largest = {6.0}, float[2] t = {0.02, 0.005}, uint8[2] u = {0, 0},
     int8[2,1,1,1] v = {40, 90}, float[2] vs = {0.02, 0.03}, int8[2] vz = {0, 0}> {
      q = QuantizeLinear(x, s, z)
      d = DequantizeLinear(q, s, z)
      wd = DequantizeLinear<axis = 0>(w, ws, wz)
      c = Conv(d, wd)
      k = Clip(c, least, largest)
      p = QuantizeLinear<axis = 1>(k, t, u)
      e = DequantizeLinear<axis = 1>(p, t, u)
      vd = DequantizeLinear<axis = 0>(v, vs, vz)
      y = Conv<group = 2>(e, vd)
    }""",
    # A factor behind a normalization, a bias behind a product of three axes.
    "normalization": """g (float[2,3,4] x) => (float[2,3,2] y)
    <float[4] g = {1.5, 0.75, -1.25, 0.5}, float[4] b = {0.25, -0.5, 0.75, 1.0}, float[1,1,4] k = {0.5, 2.0, 1.5, 1.0},
     float s = {0.03}, uint8 z = {117}, int8[4,2] w = {-37, -127, 72, -115, -86, 127, 68, 127},
     float[2] ws = {0.01, 0.02}, int8[2] wz = {0, 0}, float[2] c = {0.5, -1.5}> {
      n = LayerNormalization(x, g, b)
      m = Mul(n, k)
      q = QuantizeLinear(m, s, z)
      d = DequantizeLinear(q, s, z)
      wd = DequantizeLinear(w, ws, wz)
      p = MatMul(d, wd)
      y = Add(c, p)
    }""",
    # A product of integers that stay what they are.
    "rescaled": """g (float[2,3] x) => (float[3,2] y)
    <float s = {0.03}, uint8 z = {117}, float c = {0.25}, uint8 one = {1}, uint8 zero = {0}, float t = {0.0075}> {
      q = QuantizeLinear(x, s, z)
      d = DequantizeLinear(q, s, z)
      k = DequantizeLinear(one, c, zero)
      m = Mul(d, k)
      p = QuantizeLinear(m, t, z)
      e = DequantizeLinear(p, t, z)
      y = Transpose<perm = [1, 0]>(e)
    }""",
    # One slope, between casts and behind a product.
    "prelu": """g (float[2,3] x) => (float[2,2] y)
    <float s = {0.03}, uint8 z = {117}, float[1] c = {0.25}, int8[3,2] w = {-37, -127, 72, -115, -86, 127},
     float ws = {0.01}, int8 wz = {0}, float t = {0.05}, uint8 u = {99}> {
      q = QuantizeLinear(x, s, z)
      d = DequantizeLinear(q, s, z)
      r = PRelu(d, c)
      p = QuantizeLinear(r, s, z)
      e = DequantizeLinear(p, s, z)
      wd = DequantizeLinear(w, ws, wz)
      m = MatMul(e, wd)
      k = PRelu(m, c)
      v = QuantizeLinear(k, t, u)
      y = DequantizeLinear(v, t, u)
    }""",
    # Scales for each row, on the left.
    "rows": """g (float[3,2] x) => (float[4,2] y)
    <float s = {0.03}, uint8 z = {128}, int8[4,3] w = {-37, -127, 72, -115, -86, 127, 68, 127, 44, 45, -77, -127},
     float[4] ws = {0.01, 0.02, 0.03, 0.04}, int8[4] wz = {0, 0, 0, 0}> {
      q = QuantizeLinear(x, s, z)
      d = DequantizeLinear(q, s, z)
      wd = DequantizeLinear<axis = 0>(w, ws, wz)
      y = MatMul(wd, d)
    }""",
    # A vector's product and the sum that a Sub would become.
    "vector": """g (float[3] x) => (float[2] y)
    <float s = {0.03}, int8 z = {12}, int8[3,2] w = {-37, -127, 72, -115, -86, 127}, float[2] ws = {0.01, 0.02},
     int8[2] wz = {0, 0}, float[2] k = {1.5, -0.5}> {
      q = QuantizeLinear(x, s, z)
      d = DequantizeLinear(q, s, z)
      wd = DequantizeLinear(w, ws, wz)
      m = MatMul(d, wd)
      y = Sub(k, m)
    }""",
    # A bias for each element, in steps of its own.
    "matrix_bias": """g (float[3,2] x) => (int8[3,4] y)
    <float s = {0.0227}, int8 z = {0}, int8[4,2] w = {-37, -127, 72, -115, -86, 127, 68, 127},
     float[4] ws = {0.002, 0.003, 0.004, 0.002}, int8[4] wz = {0, 0, 0, 0},
     int32[3,4] b = {-2962, -24613, -190, -7886, 25223, 5248, -4743, 31805, 4680, 10704, -26393, -58536},
     float bs = {0.00003}, int32 bz = {0}, float t = {0.0244}, int8 u = {0}> {
      q = QuantizeLinear(x, s, z)
      d = DequantizeLinear(q, s, z)
      wd = DequantizeLinear<axis = 0>(w, ws, wz)
      bd = DequantizeLinear(b, bs, bz)
      g = Gemm<transB = 1>(d, wd, bd)
      y = QuantizeLinear(g, t, u)
    }""",
}


@pytest.mark.parametrize("name", MODELS)
@pytest.mark.parametrize(
    "options", [*({"target": t} for t in ONNX_TARGETS), {"form": "qdq"}, {"form": "integer"}], ids=str
)
@pytest.mark.parametrize("exactness", ["exact", "close"])
def test_a_session_takes_what_it_took(name: str, options: dict[str, Any], exactness: str):
    if options.get("target") == "tensorrt" and name == "sum":
        pytest.skip(
            "TensorRT takes no such result; i8 throughout, onnxruntime makes it a kernel and refuses it"
        )
    model, result = compiled(MODELS[name], exactness=exactness, **options)
    shape = [d.dim_value for d in model.graph.input[0].type.tensor_type.shape.dim]
    feeds = {"x": np.random.default_rng(0).normal(size=shape).astype(np.float32)}
    expected = run(model, feeds, LEVELS[0])
    for level in levels(options):
        np.testing.assert_allclose(
            run(result, feeds, level).astype(np.float64),
            expected.astype(np.float64),
            atol=1 if expected.dtype != np.float32 else 0.051,
        )


CAPTURED = """g (bool p, float[3,4] x) => (float[N,M] y) <float s = {0.1}, uint8 z = {3}> {
  q = QuantizeLinear(x, s, z)
  d = DequantizeLinear(q, s, z)
  t = Transpose(d)
  y = If(p) <then_branch = a () => (float[N,M] u) { u = Identity(t) },
             else_branch = b () => (float[N,M] v) {
               r = Exp(t) rq = QuantizeLinear(r, s, z) v = DequantizeLinear(rq, s, z) }>
}"""


SECOND = """g (bool p, float[3,4] x) => (uint8[3,4] y)
<float s = {0.1}, int8 zi = {48}, uint8 z = {176}, float low = {-0.5}, float high = {0.7}> {
  a = QuantizeLinear(x, s, zi)
  b = DequantizeLinear(a, s, zi)
  c = Dropout(b)
  q = QuantizeLinear(c, s, z)
  d = DequantizeLinear(q, s, z)
  r = If(p) <then_branch = a () => (float[N,M] u) { u = Relu(d) },
             else_branch = b () => (float[N,M] v) { v = Clip(d, low, high) }>
  y = QuantizeLinear(r, s, z)
}"""


@pytest.mark.parametrize("options", [{}, {"form": "qdq"}, {"form": "integer"}], ids=str)
@pytest.mark.parametrize(
    ("text", "opset", "behind", "shape"),
    [(CAPTURED, 17, "Transpose", (4, 3)), (SECOND, 13, "QuantizeLinear", (3, 4))],
    ids=["moved-to", "second-quantize"],
)
def test_no_subgraph_captures_what_stands_behind_a_dequantize(
    text: str, opset: int, behind: str, shape: tuple[int, int], options: dict[str, Any]
):
    # A session would abort the process.
    result = compiled(text, opset=opset, **options)[1]
    makers = {name: node for node in result.graph.node for name in node.output}
    moved = [
        node.output[0]
        for node in result.graph.node
        if node.op_type == behind and node.input[0] in makers
        if makers[node.input[0]].op_type == "DequantizeLinear"
    ]
    branches = [
        a.g for node in result.graph.node for a in node.attribute if a.type == onnx.AttributeProto.GRAPH
    ]
    assert not {name for branch in branches for node in branch.node for name in node.input} & set(moved)
    feeds = {"p": np.array(True), "x": np.ones((3, 4), np.float32)}
    assert run(result, feeds, LEVELS[1]).shape == shape


MOVED = """g (float[2,6] x) => (float[4,3] y, float[6,2] z) <float s = {0.1}, int8 zp = {3}, int64[2] k = {3, 4}> {
  q = QuantizeLinear(x, s, zp)
  d = DequantizeLinear(q, s, zp)
  a = Reshape(d, k)
  b = Transpose(a)
  y = Exp(b)
  z = Transpose(d)
}"""


@pytest.mark.parametrize("options", [*({"target": t} for t in ONNX_TARGETS), {"form": "qdq"}], ids=str)
def test_signed_integers_are_moved_between_casts_in_new_opsets(options: dict[str, Any]):
    result = compiled(MOVED, opset=21, **options)[1]
    run(result, {"x": np.ones((2, 6), np.float32)}, levels(options)[-1])
    module = import_model(result)
    qdialect.compile(module, **options)
    assert [n.op_type for n in export_model(module).graph.node] == [n.op_type for n in result.graph.node]


BIASED = """g (float[2,5,4] x) => (float[2,5,3] y, float[3] c)
<float s = {0.1}, int8 zp = {3}, float[4,3] w = {1, 2, 3, 4, 5, 6, 7, 8, 9, 10, 11, 12}, float[3] b = {1, 2, 3}> {
  q = QuantizeLinear(x, s, zp)
  d = DequantizeLinear(q, s, zp)
  m = MatMul(d, w)
  y = Add(b, m)
  c = Identity(b)
}"""


@pytest.mark.parametrize("target", ONNX_TARGETS)
def test_no_reshape_is_made_behind_signed_integers_in_new_opsets(target: str):
    model, result = compiled(BIASED, opset=21, target=target)
    x = {"x": np.random.default_rng(0).normal(size=(2, 5, 4)).astype(np.float32)}
    np.testing.assert_array_equal(run(result, x, LEVELS[0]), run(model, x, LEVELS[0]))
    for level in levels({"target": target}):
        np.testing.assert_allclose(run(result, x, level), run(model, x, LEVELS[0]), atol=1e-4)
    again = import_model(result)
    qdialect.compile(again, target=target)
    assert not difference(result, export_model(again))


SCALES = """g (float[2,3,4] x) => (float[2,3,4] y, float[2,3,4] z)
<float[3] s = {0.02, 0.03, 0.05}, uint8[3] u = {128, 120, 131}, float t = {0.05}, uint8 v = {3},
 uint8[4,4] w = {1, 2, 3, 4, 5, 6, 7, 8, 9, 10, 11, 12, 13, 14, 15, 16}, float ws = {0.1}, uint8 wz = {7}> {
  q = QuantizeLinear<axis = 1>(x, s, u)
  d = DequantizeLinear<axis = 1>(q, s, u)
  a = Add(d, d)
  p = QuantizeLinear(a, t, v)
  e = DequantizeLinear(p, t, v)
  wd = DequantizeLinear(k, ws, wz)
  m = MatMul(e, wd)
  r = QuantizeLinear<axis = 1>(m, s, u)
  y = DequantizeLinear<axis = 1>(r, s, u)
  z = DequantizeLinear(p, t, v)
}""".replace("uint8[4,4] w ", "uint8[4,4] k ")  # `w` is dequantized by column above


@pytest.mark.parametrize("options", [*({"target": t} for t in ONNX_TARGETS), {"form": "qdq"}], ids=str)
def test_several_scales_before_or_behind_an_op_are_no_kernel(options: dict[str, Any]):
    model, result = compiled(SCALES, **options)
    x = {"x": np.random.default_rng(0).normal(size=(2, 3, 4)).astype(np.float32)}
    for level in levels(options):
        np.testing.assert_allclose(run(result, x, level), run(model, x, LEVELS[0]), atol=0.0501)
    again = import_model(result)
    qdialect.compile(again, **options)
    assert not difference(result, export_model(again))


# A session drops the clamp in front of a quantize that clamps as well, and makes signed bytes unsigned.
BEHIND_A_CLAMP: dict[str, str] = {
    "scales": """g (float[2,3,4] x) => (float[2,3,4] y)
    <float[3] s = {0.02, 0.03, 0.05}, uint8[3] z = {128, 120, 131}, float low = {0}, float high = {6},
     float t = {0.0235}, int8 u = {-128}> {
      q = QuantizeLinear<axis = 1>(x, s, z)
      d = DequantizeLinear<axis = 1>(q, s, z)
      a = Add(d, d)
      c = Clip(a, low, high)
      p = QuantizeLinear(c, t, u)
      y = DequantizeLinear(p, t, u)
    }""",
    "softmax": """g (float[4,2] x) => (float[4,2] y)
    <float s = {0.02}, uint8 z = {128}, float high = {0.9}, float t = {0.0024}, uint8 u = {0}> {
      q = QuantizeLinear(x, s, z)
      d = DequantizeLinear(q, s, z)
      m = Softmax<axis = 1>(d)
      c = Clip(m, , high)
      p = QuantizeLinear(c, t, u)
      y = DequantizeLinear(p, t, u)
    }""",
    # Two quantizes behind each other are one to a session, at the scale of the range that both express.
    "softmax_twice": """g (float[4,4] x) => (float[4,4] y)
    <float s = {0.02}, uint8 z = {128}, float r = {0.0022}, uint8 v = {128}, float high = {0.7}, float t = {0.0011},
     uint8 u = {0}> {
      q = QuantizeLinear(x, s, z)
      d = DequantizeLinear(q, s, z)
      m = Softmax<axis = 1>(d)
      n = QuantizeLinear(m, r, v)
      o = DequantizeLinear(n, r, v)
      c = Clip(o, , high)
      p = QuantizeLinear(c, t, u)
      y = DequantizeLinear(p, t, u)
    }""",
    # A window that ends beyond the padding: the kernel counts that part, the op does not.
    "pool": """g (float[1,2,4,6] x) => (float[1,2,4,4] y)
    <float s = {0.02}, uint8 z = {128}, float t = {0.0235}, int8 u = {-128}> {
      q = QuantizeLinear(x, s, z)
      d = DequantizeLinear(q, s, z)
      m = AveragePool<kernel_shape = [2, 3], strides = [1, 2], pads = [1, 1, 0, 1], ceil_mode = 1,
                      count_include_pad = 1>(d)
      c = Relu(m)
      p = QuantizeLinear(c, t, u)
      y = DequantizeLinear(p, t, u)
    }""",
}


@pytest.mark.parametrize("name", BEHIND_A_CLAMP)
@pytest.mark.parametrize("options", [*({"target": t} for t in ONNX_TARGETS), {"form": "qdq"}], ids=str)
def test_a_clamp_parts_no_op_from_its_quantize(name: str, options: dict[str, Any]):
    model, result = compiled(BEHIND_A_CLAMP[name], **options)
    shape = [d.dim_value for d in model.graph.input[0].type.tensor_type.shape.dim]
    x = {"x": np.random.default_rng(0).normal(size=shape).astype(np.float32)}
    for level in levels(options):
        np.testing.assert_allclose(run(result, x, level), run(model, x, LEVELS[0]), atol=0.0236)


PAIRS: dict[str, str] = {
    "behind_a_coarse_one": """s = {4}, uint8 z = {3}, float high = {0.7}, float t = {0.11}, uint8 u = {128}> {
      e = Exp(x)
      q = QuantizeLinear(e, s, z)
      d = DequantizeLinear(q, s, z)
      c = Clip(d, , high)
      p = QuantizeLinear(c, t, u)
      r = DequantizeLinear(p, t, u)
      y = Exp(r)
    }""",
    # What is between moves below both.
    "behind_a_finer_one": """s = {0.01}, uint8 z = {128}, int64[1] n = {12}, float t = {0.4}, uint8 u = {3}> {
      e = Sin(x)
      q = QuantizeLinear(e, s, z)
      d = DequantizeLinear(q, s, z)
      k = Reshape(d, n)
      p = QuantizeLinear(k, t, u)
      r = DequantizeLinear(p, t, u)
      y = Exp(r)
    }""",
    # A kernel looks each element up in a table, which has one scale, behind casts that a session moves.
    "of_channels_behind_a_move": """s = {0.02}, uint8 z = {128}, bool[2,6] b = {1, 0, 1, 1, 0, 0, 1, 0, 1, 1, 0, 0},
     int64[2] n = {2, 6}, float[2] t = {0.02, 0.04}, uint8[2] u = {61, 56}> {
      q = QuantizeLinear(x, s, z)
      d = DequantizeLinear(q, s, z)
      k = Reshape(d, n)
      w = Where(b, k, k)
      p = QuantizeLinear<axis = 0>(w, t, u)
      y = DequantizeLinear<axis = 0>(p, t, u)
    }""",
    # Likewise where the session moves what is between down, behind the quantize.
    "of_channels_in_front_of_a_move": """s = {0.02}, uint8 z = {128}, float[3] t = {0.02, 0.04, 0.03},
     uint8[3] u = {61, 56, 128}> {
      q = QuantizeLinear(x, s, z)
      d = DequantizeLinear(q, s, z)
      k = LeakyRelu<alpha = 0.2>(d)
      w = Transpose<perm = [1, 0]>(k)
      p = QuantizeLinear<axis = 1>(w, t, u)
      y = DequantizeLinear<axis = 1>(p, t, u)
    }""",
}


@pytest.mark.parametrize("name", PAIRS)
@pytest.mark.parametrize(
    "options", [*({"target": t} for t in ONNX_TARGETS), *({"form": f} for f in FORMS)], ids=str
)
def test_pairs_of_other_steps_stay_two(name: str, options: dict[str, Any]):
    """A session makes one of them, in steps of the range that both express."""
    shapes = {
        "behind_a_finer_one": "12",
        "of_channels_behind_a_move": "2,6",
        "of_channels_in_front_of_a_move": "4,3",
    }
    shape = shapes.get(name, "3,4")
    model, result = compiled(f"g (float[3,4] x) => (float[{shape}] y) <float {PAIRS[name]}", **options)
    x = {"x": np.random.default_rng(3).normal(size=(3, 4)).astype(np.float32)}
    for level in levels(options):
        np.testing.assert_allclose(run(result, x, level), run(model, x, LEVELS[0]), atol=1e-6)


@pytest.mark.parametrize("options", [*({"target": t} for t in ONNX_TARGETS), {"form": "qdq"}], ids=str)
def test_a_mean_of_no_pixels_is_no_kernel(options: dict[str, Any]):
    """The kernel divides by their number, and refuses what comes of it even where there are no means."""
    text = """g (float[0,3,6,0] x) => (float[0,3,1,1] y) <float s = {0.02}, uint8 z = {128}> {
      q = QuantizeLinear(x, s, z)
      d = DequantizeLinear(q, s, z)
      m = GlobalAveragePool(d)
      p = QuantizeLinear(m, s, z)
      y = DequantizeLinear(p, s, z)
    }"""
    model, result = compiled(text, **options)
    x = {"x": np.zeros((0, 3, 6, 0), np.float32)}
    expected = run(model, x, LEVELS[0])
    np.testing.assert_array_equal(run(result, x, LEVELS[0]), expected)
    np.testing.assert_array_equal(run(result, x, levels(options)[-1]), expected)


PRODUCTS = {
    "MatMul": "y = MatMul(d, v)",
    "Gemm": "y = Gemm(d, v, b)",
    "moved": """k = Flatten(d)
      y = MatMul(k, v)""",
}
BESIDE = """g (float[3,2] x) => (float[?,3] y)
<float s = {0.01}, uint8 z = {128}, int8[4,3] w = {0, 3, 127, -128, 60, 0, 8, 9, -7, 55, 4, 1},
 float[3] ws = {10000, 0.01, 3}, int8[3] wz = {0, 0, 0}, float[3] b = {0.1, 0.2, -7}> {
  e = Sigmoid(x)
  c = Concat<axis = 1>(x, e)
  q = QuantizeLinear(c, s, z)
  d = DequantizeLinear(q, s, z)
  v = DequantizeLinear<axis = 1>(w, ws, wz)
  PRODUCT
}"""


@pytest.mark.parametrize("product", PRODUCTS)
@pytest.mark.parametrize("options", [{"target": t} for t in ONNX_TARGETS], ids=str)
def test_a_session_rounds_no_activation_again(options: dict[str, Any], product: str):
    """From 1.32 on it makes MatMulNBits of a product of bytes that has no casts directly in front of it."""
    model, result = compiled(BESIDE.replace("PRODUCT", PRODUCTS[product]), **options)
    x = {"x": np.random.default_rng(5).normal(size=(3, 2)).astype(np.float32)}
    expected = run(model, x, LEVELS[0])
    for level in levels(options):
        np.testing.assert_allclose(run(result, x, level), expected, rtol=1e-4, atol=1e-5)


def test_a_weight_alone_is_left_to_the_session():
    """The activation is float in the model, where the session makes MatMulNBits too."""
    _, result = compiled(
        BESIDE.replace("d = DequantizeLinear(q, s, z)", "d = Concat<axis = 1>(x, x)").replace(
            "PRODUCT", PRODUCTS["MatMul"]
        ),
        target="openvino",
    )
    assert [n.op_type for n in result.graph.node].count("Sum") == 0


FAR = """g (float[1,2,3,4] x) => (uint8[?,?,?,?] y)
<float s = {70000000}, uint8 z = {128}, float t = {0.004}, uint8 u = {100}, float a = {0.7}, int64[2] axes = {2, 3}> {
  q = QuantizeLinear(x, s, z)
  d = DequantizeLinear(q, s, z)
  r = RESULT
  y = QuantizeLinear(r, t, u)
}"""


@pytest.mark.parametrize(
    "result",
    [
        "Add(d, d)",
        "Sub(d, a)",
        "Mul(d, d)",
        "HardSigmoid(d)",
        "AveragePool<kernel_shape = [1, 1]>(d)",
        "GlobalAveragePool(d)",
        "ReduceMean(d, axes)",
    ],
)
@pytest.mark.parametrize("options", [*({"target": t} for t in ONNX_TARGETS), {"form": "qdq"}], ids=str)
def test_no_kernel_counts_more_steps_than_int32_holds(options: dict[str, Any], result: str):
    """A great number of such steps came to the least integer."""
    model, after = compiled(FAR.replace("RESULT", result), 18, **options)
    x = {"x": np.random.default_rng(4).normal(scale=3e9, size=(1, 2, 3, 4)).astype(np.float32)}
    expected = run(model, x, LEVELS[0])
    assert set(np.unique(expected)) & {0, 255}
    for level in levels(options):
        np.testing.assert_array_equal(run(after, x, level), expected)


NARROW = """g (float[3,4] x) => (float[12] y)
<float s = {0.02}, uint8 z = {128}, float t = {0.25}, KIND u = {ZERO}, int64[1] n = {12}, float low = {-0.4},
 float high = {0.5}> {
  q = QuantizeLinear(x, s, z)
  d = DequantizeLinear(q, s, z)
  a = CLAMP
  p = QuantizeLinear(a, t, u)
  b = DequantizeLinear(p, t, u)
  g = Reshape(b, n)
  e = QuantizeLinear(x, t, u)
  f = DequantizeLinear(e, t, u)
  c = CLAMP
  h = Reshape(c, n)
  y = Sub(g, h)
}"""


@pytest.mark.parametrize("clamp", ["Relu(d)", "Clip(d, low, high)"])
@pytest.mark.parametrize("kind", ["int4", "uint4"])
@pytest.mark.parametrize("options", [*({"target": t} for t in ONNX_TARGETS), {"form": "qdq"}], ids=str)
def test_clamps_of_four_bits_stay(options: dict[str, Any], kind: str, clamp: str):
    """A session drops a Relu in front of a quantize to 4 bits, whatever its zero point, and refuses a Clip."""
    first, second = clamp, clamp.replace("d", "f", 1)
    body = NARROW.replace("CLAMP", first, 1).replace("CLAMP", second)
    body = body.replace("KIND", kind).replace("ZERO", "0" if kind == "int4" else "7")
    model, result = compiled(body, 21, **options)
    x = {"x": np.random.default_rng(4).normal(size=(3, 4)).astype(np.float32)}
    for level in levels(options):
        np.testing.assert_allclose(run(result, x, level), run(model, x, LEVELS[0]), atol=1e-6)


@pytest.mark.parametrize("options", [*({"target": t} for t in ONNX_TARGETS), {"form": "qdq"}], ids=str)
def test_a_clamp_of_four_bits_stays_in_front_of_a_move(options: dict[str, Any]):
    """A session brings a quantize in front of the move, and drops the Relu then."""
    text = """g (float[3,4] x) => (float[12] y)
    <float s = {0.25}, int4 z = {1}, float t = {0.02}, uint8 u = {0}, int64[1] n = {12}> {
      q = QuantizeLinear(x, s, z)
      d = DequantizeLinear(q, s, z)
      r = Relu(d)
      m = Reshape(r, n)
      e = Exp(m)
      p = QuantizeLinear(e, t, u)
      y = DequantizeLinear(p, t, u)
    }"""
    model, result = compiled(text, 21, **options)
    x = {"x": np.random.default_rng(4).normal(size=(3, 4)).astype(np.float32)}
    for level in levels(options):
        np.testing.assert_allclose(run(result, x, level), run(model, x, LEVELS[0]), atol=1e-6)


@pytest.mark.parametrize("kind", ["int4", "uint4"])
@pytest.mark.parametrize(
    "op",
    ["MaxPool<kernel_shape = [2, 2]>(d)", "ReduceMax(d, n)", "ReduceMin(d, n)"],
)
@pytest.mark.parametrize("options", [*({"target": t} for t in ONNX_TARGETS), {"form": "qdq"}], ids=str)
def test_what_selects_among_four_bits_stays(options: dict[str, Any], op: str, kind: str):
    """A session drops the casts around it, and has no kernel for the integers; here they are not in the model."""
    text = f"""g (float[1,2,4,6] x) => (float[?,?,?,?] y)
    <float s = {{0.25}}, {kind} z = {{3}}, int64[1] n = {{2}}, float[4] f = {{1, 1, 2, 1}}> {{
      q = QuantizeLinear(x, s, z)
      d = DequantizeLinear(q, s, z)
      m = {op}
      y = Resize<mode = "nearest">(m, , f)
    }}"""
    model, result = compiled(text, 21, **options)
    x = {"x": np.random.default_rng(4).normal(size=(1, 2, 4, 6)).astype(np.float32)}
    for level in levels(options):
        np.testing.assert_allclose(run(result, x, level), run(model, x, LEVELS[0]), atol=1e-6)


BLOCKS = """g (float[SIZES] x) => (float[5,3] y, float[5,3] r, float[?,?] d)
<float s = {0.02}, TYPE z = {3}, float t = {0.5}, TYPE u = {5}> {
  q = QuantizeLinear(x, s, z)
  b = DequantizeLinear(q, s, z)
  d = MOVE(b)
  wd = DequantizeLinear<axis = 0, block_size = 4>(k, ks, kz)
  y = MatMul(d, wd)
  e = Neg(d)
  p = QuantizeLinear(e, s, z)
  f = DequantizeLinear(p, s, z)
  m = MatMul(f, wd)
  n = QuantizeLinear(m, t, u)
  r = DequantizeLinear(n, t, u)
}"""


@pytest.mark.parametrize("element", ["uint8", "int8"])
@pytest.mark.parametrize(("move", "sizes"), [("Identity", (5, 12)), ("Transpose<perm = [1, 0]>", (12, 5))])
@pytest.mark.parametrize("options", [*({"target": t} for t in ONNX_TARGETS), {"form": "qdq"}], ids=str)
def test_a_product_with_a_weight_in_blocks_is_no_kernel(
    options: dict[str, Any], move: str, sizes: tuple[int, int], element: str
):
    rng = np.random.default_rng(0)
    text = BLOCKS.replace("TYPE", element).replace("MOVE", move).replace("SIZES", f"{sizes[0]},{sizes[1]}")
    model = parser.parse_model(f'<ir_version: 10, opset_import: ["" : 21]> {text}')
    for name, values in {
        "k": rng.integers(-90, 90, (12, 3)).astype(np.int8),
        "ks": rng.uniform(0.01, 0.03, (3, 3)).astype(np.float32),
        "kz": rng.integers(-9, 9, (3, 3)).astype(np.int8),
    }.items():
        model.graph.initializer.append(onnx.numpy_helper.from_array(values, name))
    module = import_model(onnx.ModelProto.FromString(model.SerializeToString()))
    qdialect.compile(module, **options)
    result = export_model(module)
    x = {"x": rng.normal(size=sizes).astype(np.float32)}
    for level in levels(options):
        np.testing.assert_allclose(run(result, x, level), run(model, x, LEVELS[0]), atol=1e-4)


PRODUCT = """g (float[3,4] x, float[WEIGHT] w) => (float[N] y, float[N] r)
<float s = {0.03}, uint8 z = {120}, float[2] s2 = {0.02, 0.03}, TYPE[2] z2 = {3, 5}, float[3] s3 = {0.02, 0.03, 0.05},
 TYPE[3] z3 = {3, 5, 7}, float[4] s4 = {0.02, 0.03, 0.05, 0.04}, TYPE[4] z4 = {3, 5, 7, 2}, float[5] s5 =
 {0.02, 0.03, 0.05, 0.04, 0.06}, TYPE[5] z5 = {3, 5, 7, 2, 9}, float t = {0.05}, uint8 u = {120}> {
  q = QuantizeLinear<axis = LEFT>(x, sA, zA)
  d = DequantizeLinear<axis = LEFT>(q, sA, zA)
  k = QuantizeLinear<axis = RIGHT>(w, sB, zB)
  wd = DequantizeLinear<axis = RIGHT>(k, sB, zB)
  y = MatMul(d, wd)
  e = Neg(d)
  p = QuantizeLinear<axis = LEFT>(e, sA, zA)
  f = DequantizeLinear<axis = LEFT>(p, sA, zA)
  m = MatMul(f, wd)
  n = QuantizeLinear(m, t, u)
  r = DequantizeLinear(n, t, u)
}"""
"""Of operands with scales along an axis each, or with one scale."""


@pytest.mark.parametrize("element", ["uint8", "int8"])
@pytest.mark.parametrize(
    ("left", "right", "weight"),
    [
        (0, None, "4,5"),
        (1, None, "4,5"),
        (None, 0, "4,5"),
        (0, 1, "4,5"),
        (None, 0, "2,4,5"),
        (None, 2, "2,4,5"),
    ],
)
@pytest.mark.parametrize("options", [*({"target": t} for t in ONNX_TARGETS), {"form": "qdq"}], ids=str)
def test_a_product_with_several_scales_is_no_kernel(
    options: dict[str, Any], left: int | None, right: int | None, weight: str, element: str
):
    shapes = ([3, 4], [int(size) for size in weight.split(",")])
    body = PRODUCT.replace("WEIGHT", weight).replace("N]", f"{weight[:-3]}3,5]").replace("TYPE", element)
    for place, axis, shape in zip("AB", (left, right), shapes, strict=True):
        of = "" if axis is None else str(shape[axis])
        body = body.replace(f"s{place}", f"s{of}").replace(f"z{place}", f"z{of}")
    body = body.replace("LEFT", str(left or 0)).replace("RIGHT", str(right or 0))
    model, result = compiled(body, **options)
    rng = np.random.default_rng(0)
    feeds = {
        name: rng.normal(size=shape).astype(np.float32) for name, shape in zip("xw", shapes, strict=True)
    }
    for level in levels(options):
        np.testing.assert_allclose(run(result, feeds, level), run(model, feeds, LEVELS[0]), atol=1e-4)
    again = import_model(result)
    qdialect.compile(again, **options)
    assert not difference(result, export_model(again))


SOFTMAX = """g (float[4,2] x) => (float[4,2] y)
<float s = {0.02}, uint8 z = {128}, float t = {0.0024}, uint8 u = {0}> {
  q = QuantizeLinear(x, s, z)
  d = DequantizeLinear(q, s, z)
  m = Softmax<axis = 1>(d)
  p = QuantizeLinear(m, t, u)
  y = DequantizeLinear(p, t, u)
}"""


@pytest.mark.parametrize("options", [*({"target": t} for t in ONNX_TARGETS), {"form": "qdq"}], ids=str)
def test_a_kernel_that_overflows_is_not_made(options: dict[str, Any]):
    """At this scale a row of two elements comes to 0 in onnxruntime's own kernel, 255 steps away."""
    model, result = compiled(SOFTMAX, **options)
    x = {"x": np.random.default_rng(0).normal(size=(4, 2)).astype(np.float32)}
    for level in levels(options):
        np.testing.assert_allclose(run(result, x, level), run(model, x, LEVELS[0]), atol=0.0025)


MATRICES = """g (float[2,3] x) => (float[2,2,2] y)
<float s = {0.02}, uint8 z = {128}, int8[2,3,2] w = {1, 2, 3, 4, 5, 6, -7, -8, 9, 10, 11, -12},
 float[2] ws = {0.1, 0.2}, int8[2] wz = {0, 0}, float t = {0.05}, int8 u = {3}> {
  q = QuantizeLinear(x, s, z)
  d = DequantizeLinear(q, s, z)
  wd = DequantizeLinear<axis = 2>(w, ws, wz)
  m = MatMul(d, wd)
  p = QuantizeLinear(m, t, u)
  y = DequantizeLinear(p, t, u)
}"""


def test_several_matrices_with_a_scale_for_each_column_are_no_kernel():
    model, result = compiled(MATRICES)
    x = {"x": np.random.default_rng(0).normal(size=(2, 3)).astype(np.float32)}
    for level in LEVELS:
        np.testing.assert_allclose(run(result, x, level), run(model, x, LEVELS[0]), atol=0.0501)


SLOWER: dict[str, str] = {
    "SkipLayerNormalization": """g (float[2,16,48] x, float[2,16,48] r) => (float[2,16,48] y)
    <float[48] g = {1.5, 0.75, 1.25, 0.5, 1.5, 0.75, 1.25, 0.5, 1.5, 0.75, 1.25, 0.5, 1.5, 0.75, 1.25, 0.5,
     1.5, 0.75, 1.25, 0.5, 1.5, 0.75, 1.25, 0.5, 1.5, 0.75, 1.25, 0.5, 1.5, 0.75, 1.25, 0.5,
     1.5, 0.75, 1.25, 0.5, 1.5, 0.75, 1.25, 0.5, 1.5, 0.75, 1.25, 0.5, 1.5, 0.75, 1.25, 0.5}> {
      a = Relu(x)
      b = Relu(r)
      s = Add(a, b)
      y = LayerNormalization(s, g)
    }""",
    "QLinearSoftmax": """g (float[64,48] x) => (float[64,48] y)
    <float s = {0.03}, uint8 z = {117}, float t = {0.004}, uint8 u = {3}> {
      q = QuantizeLinear(x, s, z)
      d = DequantizeLinear(q, s, z)
      m = Softmax<axis = -1>(d)
      p = QuantizeLinear(m, t, u)
      y = DequantizeLinear(p, t, u)
    }""",
}
"""What a session makes of the model as it is."""


SLOPES = """g (float[4,N,5] x) => (float[4,N,5] y) <float[N,1] c = {SLOPES}> { y = PRelu(x, c) }"""


@pytest.mark.parametrize(
    "slopes", ["0.25, -3.5", "0.25, -3.5, 1.0", "1.0, 1.0000001, 300.0", "1e-38, 0.1, -2.0"]
)
def test_slopes_are_a_product_and_a_choice_bit_for_bit(slopes: str):
    count = len(slopes.split())
    before, after = compiled(SLOPES.replace("N", str(count)).replace("SLOPES", slopes))
    assert "PRelu" not in {node.op_type for node in after.graph.node}
    values = np.random.default_rng(11).normal(0, 3, (4, count, 5)).astype(np.float32)
    values[0, :, :] = [np.inf, -np.inf, 1e-45, -1e-45, 3e38]
    values[1, :, :2] = [np.nan, -3e38]
    for level in LEVELS:
        expected, actual = run(before, {"x": values}, LEVELS[0]), run(after, {"x": values}, level)
        assert np.array_equal(expected, actual, equal_nan=True)


WIDE = """g (float[2,3] x) => (float[2,2] y)
<float s = {0.0003}, int16 z = {130}, int8[3,2] w = {-37, -127, 72, -115, -86, 127}, float ws = {0.01}, int8 wz = {0},
 float t = {0.0005}, int16 u = {7}> {
  q = QuantizeLinear(x, s, z)
  d = DequantizeLinear(q, s, z)
  wd = DequantizeLinear(w, ws, wz)
  m = MatMul(d, wd)
  p = QuantizeLinear(m, t, u)
  y = DequantizeLinear(p, t, u)
}"""


WIDE_BIASED = (
    WIDE.replace("[2,3] x", "[1,2,3] x")
    .replace("[2,2] y", "[1,2,2] y")
    .replace("wz = {0}", "wz = {0}, float[2] b = {0.013, -0.007}")
    .replace("p = QuantizeLinear(m", "a = Add(m, b)\n  p = QuantizeLinear(a")
)
"""A session makes a Gemm of the product of a batch and the Add, between which nothing stands then."""


@pytest.mark.parametrize("model", [WIDE, WIDE_BIASED], ids=["plain", "biased"])
def test_a_session_quantizes_no_weight_again(model: str, tmp_path: Path):
    before, after = compiled(model, opset=21)
    assert {i.data_type for i in after.graph.initializer} & {onnx.TensorProto.INT8} == set()
    made_by_session(after, tmp_path / "after.onnx")
    constants = onnx.load(tmp_path / "after.onnx").graph.initializer
    assert not any(c.data_type in (onnx.TensorProto.INT8, onnx.TensorProto.UINT8) for c in constants)
    shape = [size.dim_value for size in before.graph.input[0].type.tensor_type.shape.dim]
    feeds = {"x": np.random.default_rng(5).normal(0, 2, shape).astype(np.float32)}
    np.testing.assert_allclose(run(before, feeds, LEVELS[0]), run(after, feeds, LEVELS[1]), atol=0.00051)


def made_by_session(model: onnx.ModelProto, path: Path) -> set[str]:
    """The operators of the graph that a session runs."""
    options = ort.SessionOptions()
    options.log_severity_level, options.optimized_model_filepath = 4, str(path)
    ort.InferenceSession(model.SerializeToString(), options, providers=["CPUExecutionProvider"])
    return {node.op_type for node in onnx.load(path).graph.node}


@pytest.mark.parametrize("kernel", SLOWER)
def test_a_session_makes_no_slower_kernel(kernel: str, tmp_path: Path):
    before, after = compiled(SLOWER[kernel])
    assert kernel in made_by_session(before, tmp_path / "before.onnx")
    assert kernel not in made_by_session(after, tmp_path / "after.onnx")
    rng = np.random.default_rng(7)
    feeds = {
        i.name: rng.normal(0, 2, [d.dim_value for d in i.type.tensor_type.shape.dim]).astype(np.float32)
        for i in before.graph.input
    }
    assert np.array_equal(run(before, feeds, LEVELS[0]), run(after, feeds, LEVELS[1]))
