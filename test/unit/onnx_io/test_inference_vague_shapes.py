"""Models whose shapes are stated in one place and unknown in another, and scales in blocks that are one scale."""

import numpy as np
import pytest
from default_session import LEVELS, ONNX_TARGETS, compiled, levels, run
from onnx import ModelProto

import qdialect
from graphs.structure import difference
from qdialect.evaluation.session import Array
from qdialect.onnx_io.exporter import export_model
from qdialect.onnx_io.importer import import_model

CASES: dict[str, tuple[str, dict[str, Array]]] = {
    # The shape is that of an output alone, which is returned twice.
    "returned_twice": (
        """g (uint8[] x) => (float[5] y, float[] z) <float s = {0.014}, uint8 o = {0}> {
          y = DequantizeLinear(x, s, o)
          q = QuantizeLinear(y, s, o)
          z = DequantizeLinear(q, s, o)
        }""",
        {"x": np.arange(5, dtype=np.uint8)},
    ),
    # Two dequantizes of one value, one of them of unknown rank.
    "dequantized_twice": (
        """g (uint8[] x) => (uint8[] p, float[] z, float[2,3] y)
        <float s = {0.044}, uint8 o = {128}, float t = {0.022}, uint8 u = {129}, int64[1] i = {1}, int64[1] n = {9}> {
          y = DequantizeLinear(x, s, o)
          p = QuantizeLinear(y, t, u)
          z = Slice(y, i, n, i)
        }""",
        {"x": np.arange(100, 106, dtype=np.uint8).reshape(2, 3)},
    ),
    # A zero point for each block is no operand of Max.
    "relu_of_blocks": (
        """g (uint8[4,3] x) => (float[4,3] y)
        <float[2,3] s = {0.1, 0.2, 0.3, 0.4, 0.5, 0.6}, uint8[2,3] o = {255, 0, 77, 200, 203, 128}> {
          d = DequantizeLinear<axis = 0, block_size = 2>(x, s, o)
          y = Relu(d)
        }""",
        {"x": np.arange(0, 240, 20, dtype=np.uint8).reshape(4, 3)},
    ),
    # The bias has one scale, the activation one for each block or channel.
    "bias_under_blocks": (
        """g (int8[1,2,4] x) => (float[1,2,4] y)
        <float[1,1,4] s = {0.1, 0.2, 0.3, 0.4}, int8[1,1,4] o = {0, 1, 2, 3}, int8[2,2,1] w = {1, -20, 30, 127},
         float[2] ws = {0.02, 0.03}, int8[2] wz = {0, 0}, int32[2] b = {70, -90}, float[2] bs = {0.01, 0.02}> {
          d = DequantizeLinear<axis = 1, block_size = 2>(x, s, o)
          f = DequantizeLinear<axis = 0>(w, ws, wz)
          c = DequantizeLinear<axis = 0>(b, bs)
          y = Conv(d, f, c)
        }""",
        {"x": np.arange(-8, 8, 2, dtype=np.int8).reshape(1, 2, 4)},
    ),
    # One block is all of the tensor.
    "one_block": (
        """g (float[1,2] x) => (float[1,2] y) <int8[1,2] w = {66, 127}, float[1,1] s = {0.01}, int8[1,1] o = {3}> {
          d = DequantizeLinear<axis = 1, block_size = 2>(w, s, o)
          y = Mul(x, d)
        }""",
        {"x": np.array([[0.3, -2]], np.float32)},
    ),
    # What no iteration yields has the sizes that the body states of it: here alone, and of an argument.
    "no_iteration": (
        """g (int64 n, float[5,3] x) => (float[n,5,3] z, float[n,5,3] a, float[rows,3] w)
        <float s = {0.0625}, float o = {3}, float l = {-128}, float h = {127}> {
          w, z, a = Loop (n, "", x) <body = b (int64 i, bool c, float[rows,3] v)
                                              => (bool k, float[rows,3] u, float[5,3] y, float[5,3] e) {
            k = Identity(c)
            u = Neg(v)
            d = Div(u, s)
            r = Round(d)
            m = Add(r, o)
            t = Clip(m, l, h)
            f = Sub(t, o)
            y = Mul(f, s)
            e = Identity(v)
          }>
        }""",
        {"n": np.array(0), "x": np.linspace(-1, 1, 15, dtype=np.float32).reshape(5, 3)},
    ),
}


@pytest.mark.parametrize("target", ONNX_TARGETS)
@pytest.mark.parametrize("name", CASES)
def test_a_model_of_vague_shapes_stays_valid(name: str, target: str):
    text, feeds = CASES[name]
    model, result = compiled(text, 21, target=target)
    wanted = run(model, feeds, LEVELS[0])
    for level in levels({"target": target}):
        np.testing.assert_allclose(run(result, feeds, level), wanted, atol=1e-5, strict=True)
    module = import_model(ModelProto.FromString(result.SerializeToString()))
    qdialect.compile(module, target=target)
    assert not difference(result, export_model(module))
