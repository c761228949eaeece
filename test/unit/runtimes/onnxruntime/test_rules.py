"""
Each rule of `qdialect/runtimes/onnxruntime/rules.py` is still needed: with it, a session of the installed onnxruntime
gives what the model gives without optimizations; with the rule left out, it refuses the model, ends the process, gives
other numbers, or makes the slower kernel. Where that is not so any more, the rule can go.
"""

from __future__ import annotations

import subprocess
import sys
from dataclasses import dataclass
from pathlib import Path
from typing import Any

import numpy as np
import onnx
import pytest
from onnx import parser

from qdialect.onnx_io.exporter import export_model
from qdialect.onnx_io.importer import import_model
from qdialect.onnx_io.opsets import import_domains
from qdialect.runtimes.onnxruntime.rules import TABLE
from qdialect.runtimes.rules import Rule
from qdialect.targets import target

SESSION = target("onnxruntime")


@dataclass(frozen=True)
class Example:
    """A model that a session spoils if a rule is left out."""

    text: str
    opset: int = 21
    scale: float = 1.0
    """Of the inputs, which are normally distributed."""
    step: float = 1e-5
    """How far outputs may be from the model's: a step of their quantize, if a kernel rounds otherwise."""
    made: str = ""
    """The operator that a session makes, of a rule for speed."""


W = "{-37, -127, 72, -115, -86, 127, 68, 127, 44, 45, -77, -128}"
"""Twelve integers."""

EXAMPLES: dict[str, list[Example]] = {
    "captured-moves": [
        Example("""g (bool p, float[3,4] x) => (float[N,M] y) <float s = {0.1}, uint8 z = {3}> {
          q = QuantizeLinear(x, s, z)
          d = DequantizeLinear(q, s, z)
          t = Transpose(d)
          y = If(p) <then_branch = a () => (float[N,M] u) { u = Identity(t) },
                     else_branch = b () => (float[N,M] v) { v = Exp(t) }>
        }""", 17),
    ],
    "typed-moves": [
        Example("""g (float[2,6] x) => (float[4,3] y, float[6,2] z)
        <float s = {0.1}, int8 zp = {3}, int64[2] k = {3, 4}> {
          q = QuantizeLinear(x, s, zp)
          d = DequantizeLinear(q, s, zp)
          a = Reshape(d, k)
          b = Transpose(a)
          y = Exp(b)
          z = Transpose(d)
        }"""),
    ],
    "returned-moves": [
        Example("""g (float[1,3,8] x) => (float[1,3,1] y, float[1,1,3] z) <float t = {0.1}, uint8 u = {110}> {
          e = Exp(x)
          y = GlobalAveragePool(e)
          m = Transpose<perm = [0, 2, 1]>(y)
          n = QuantizeLinear(m, t, u)
          z = DequantizeLinear(n, t, u)
        }""", 17),
    ],
    "captured-weight": [
        Example(f"""g (float[4,3] x, bool c) => (float[4,4] y)
        <int8[3,4] w = {W}, float[4] s = {{0.1, 0.2, 0.3, 0.4}}> {{
          y = If (c) <then_branch = a () => (float[4,4] p) {{
            d = DequantizeLinear<axis = 1>(w, s)
            p = MatMul(x, d)
          }}, else_branch = b () => (float[4,4] q) {{
            e = DequantizeLinear<axis = 1>(w, s)
            m = MatMul(x, e)
            q = Relu(m)
          }}>
        }}""", step=1e-4),
    ],
    "moved-i32": [
        Example("""g (int32[2,3] x) => (float[6] y) <float s = {0.1}, int32 z = {0}, int64[1] n = {6}> {
          d = DequantizeLinear(x, s, z)
          t = Transpose<perm = [1, 0]>(d)
          y = Reshape(t, n)
        }""", 17, scale=40),
    ],
    "other-bias": [
        Example(f"""g (float[3,3] x) => (float[3,4] y)
        <float s = {{0.02}}, uint8 z = {{128}}, float v = {{0.01}}, int8 zero = {{0}}, float bs = {{0.01}},
         int8[3,4] w = {W}, int32[4] b = {{75, 26, -127, 4}}> {{
          q = QuantizeLinear(x, s, z)
          d = DequantizeLinear(q, s, z)
          e = DequantizeLinear(w, v, zero)
          m = MatMul(d, e)
          c = DequantizeLinear(b, bs)
          y = Add(m, c)
        }}""", 17, step=1e-4),
    ],
    "wider-bias": [
        Example("""g (float[3,4] x) => (float[3] y)
        <int8[4] w = {-37, -127, 72, -115}, float ws = {0.01}, float[3] b = {1, 2, 3}> {
          q, s, z = DynamicQuantizeLinear(x)
          i = MatMulInteger(q, w, z)
          f = Cast<to = 1>(i)
          p = Mul(s, ws)
          m = Mul(f, p)
          y = Add(m, b)
        }"""),
        Example(f"""g (float[3] x) => (float[4,1] y)
        <int8[3,4] w = {W}, float ws = {{0.01}}, float[1,4] b = {{1, 2, 3, 4}}> {{
          q, s, z = DynamicQuantizeLinear(x)
          i = MatMulInteger(q, w, z)
          f = Cast<to = 1>(i)
          p = Mul(s, ws)
          m = Mul(f, p)
          a = Add(m, b)
          y = Transpose<perm = [1, 0]>(a)
        }}"""),
        Example(f"""g (float[2,3] x) => (float[1,2,4] y)
        <int8[3,4] w = {W}, float ws = {{0.01}}, float[1,1,4] b = {{1, 2, 3, 4}}> {{
          q, s, z = DynamicQuantizeLinear(x)
          i = MatMulInteger(q, w, z)
          f = Cast<to = 1>(i)
          p = Mul(s, ws)
          m = Mul(p, f)
          y = Add(b, m)
        }}"""),
    ],
    "other-filter": [
        Example(f"""g (float[2,4,5] x) => (float[2,3,5] y)
        <float s = {{0.02}}, uint8 z = {{3}}, float t = {{0.05}}, uint8 u = {{117}}, int8[3,4,1] w = {W},
         float[4] ws = {{0.03, 0.002, 0.011, 0.02}}, int8[4] wz = {{0, 0, 0, 0}}> {{
          q = QuantizeLinear(x, s, z)
          d = DequantizeLinear(q, s, z)
          e = DequantizeLinear<axis = 1>(w, ws, wz)
          r = Conv(d, e)
          p = QuantizeLinear(r, t, u)
          y = DequantizeLinear(p, t, u)
        }}""", 17, step=0.051),
        Example(f"""g (float[5,3] x) => (float[5,4] y)
        <float s = {{0.02}}, uint8 z = {{3}}, float t = {{0.05}}, uint8 u = {{117}}, int32[3,4] w = {W},
         float ws = {{0.01}}> {{
          q = QuantizeLinear(x, s, z)
          d = DequantizeLinear(q, s, z)
          e = DequantizeLinear(w, ws)
          r = MatMul(d, e)
          p = QuantizeLinear(r, t, u)
          y = DequantizeLinear(p, t, u)
        }}""", 17, step=0.051),
    ],
    "batched-bias": [
        Example(f"""g (float[2,5,3] x) => (float[2,5,4] y)
        <float s = {{0.1}}, int8 z = {{3}}, float[3,4] w = {W.replace("-128", "1")}, float[4] b = {{1, 2, 3, 4}}> {{
          q = QuantizeLinear(x, s, z)
          d = DequantizeLinear(q, s, z)
          m = MatMul(d, w)
          y = Add(b, m)
        }}""", step=1e-3),
    ],
    "odd-quantize": [
        Example("""g (float[1,3,4,4] x) => (float[1,3,4,4] y) <float t = {-0.05}, uint8 u = {0}> {
          r = Relu(x)
          p = QuantizeLinear(r, t, u)
          y = DequantizeLinear(p, t, u)
        }"""),
    ],
    "merged-quantize": [
        Example("""g (float[3,4] x) => (float[3,4] y)
        <float s = {4}, uint8 z = {3}, float t = {0.11}, uint8 u = {128}> {
          e = Exp(x)
          q = QuantizeLinear(e, s, z)
          d = DequantizeLinear(q, s, z)
          p = QuantizeLinear(d, t, u)
          r = DequantizeLinear(p, t, u)
          y = Exp(r)
        }""", step=1e-6),
    ],
    "lost-clamp": [
        Example("""g (float[1,3,4,4] x) => (float[1,3,4,4] y)
        <float t = {5e-10}, uint8 u = {100}, float low = {-1e-9}, float high = {1.5e-9}, float m = {5e-9}> {
          k = Mul(x, m)
          c = Clip(k, low, high)
          p = QuantizeLinear(c, t, u)
          y = DequantizeLinear(p, t, u)
        }""", step=1e-11),
        Example("""g (float[3,4] x) => (float[3,4] y) <float t = {0.25}, int4 u = {0}> {
          a = Relu(x)
          p = QuantizeLinear(a, t, u)
          y = DequantizeLinear(p, t, u)
        }"""),
    ],
    "odd-operand": [
        Example("""g (float[1,3,4,4] x) => (float[1,3,1,1] y)
        <float s = {-0.02}, uint8 z = {128}, float t = {0.05}, uint8 u = {100}> {
          q = QuantizeLinear(x, s, z)
          d = DequantizeLinear(q, s, z)
          m = GlobalAveragePool(d)
          p = QuantizeLinear(m, t, u)
          y = DequantizeLinear(p, t, u)
        }"""),
    ],
    "odd-selection": [
        Example("""g (float[1,4] x) => (int64[1,1] y) <float s = {-0.05}, int8 z = {0}> {
          q = QuantizeLinear(x, s, z)
          d = DequantizeLinear(q, s, z)
          y = ArgMax<axis = 1>(d)
        }""", 17),
    ],
    "odd-product": [
        Example(f"""g (float[2,3] x) => (float[2,4] y)
        <float s = {{0.0}}, int8 z = {{0}}, int8[3,4] w = {W}, float ws = {{0.01}}, float[4] b = {{0.5, -0.7, 0.3, 1}},
         float t = {{0.01}}> {{
          q = QuantizeLinear(x, s, z)
          d = DequantizeLinear(q, s, z)
          e = DequantizeLinear(w, ws, z)
          m = MatMul(d, e)
          c = Add(m, b)
          p = QuantizeLinear(c, t, z)
          y = DequantizeLinear(p, t, z)
        }}""", 17, step=0.0101),
    ],
    "quantized-weight": [
        Example("""g (float[2,3] x) => (float[2,2] y)
        <float s = {0.02}, uint8 z = {130}, float[3,2] w = {-0.37, -1.27, 0.72, -1.15, -0.86, 12.7},
         float t = {0.005}, uint8 u = {7}> {
          q = QuantizeLinear(x, s, z)
          d = DequantizeLinear(q, s, z)
          m = Gemm(d, w)
          p = QuantizeLinear(m, t, u)
          y = DequantizeLinear(p, t, u)
        }""", step=1e-5),
        Example("""g (float[2,3] x) => (float[2,2] y)
        <float s = {0.0003}, int16 z = {130}, float[3,2] w = {-0.37, -1.27, 0.72, -1.15, -0.86, 12.7},
         float[2] b = {0.013, -0.007}, float t = {0.0005}, int16 u = {7}> {
          q = QuantizeLinear(x, s, z)
          d = DequantizeLinear(q, s, z)
          m = Gemm(d, w, b)
          p = QuantizeLinear(m, t, u)
          y = DequantizeLinear(p, t, u)
        }""", step=0.00051),
    ],
    "lost-bias": [
        Example("""g (float[2,3,5] x) => (float[2,3,5] y)
        <float s = {340.0}, uint8 z = {128}, float t = {0.03}, uint8 u = {100}, int8[3,1,1] w = {-127, 90, 127},
         float ws = {0.02}, int8 wz = {0}, float[3] b = {0.66, -0.58, 0.75}> {
          q = QuantizeLinear(x, s, z)
          d = DequantizeLinear(q, s, z)
          f = DequantizeLinear(w, ws, wz)
          c = Conv<group = 3>(d, f, b)
          p = QuantizeLinear(c, t, u)
          y = DequantizeLinear(p, t, u)
        }""", 17, step=0.031),
    ],
    "refused-scales": [
        Example("""g (float[2,6] x) => (float[2,6] y)
        <float s = {0.02}, uint8 z = {128}, bool[2,6] b = {1, 0, 1, 1, 0, 0, 1, 0, 1, 1, 0, 0},
         float[2] t = {0.02, 0.04}, uint8[2] u = {61, 56}> {
          q = QuantizeLinear(x, s, z)
          d = DequantizeLinear(q, s, z)
          w = Where(b, d, d)
          p = QuantizeLinear<axis = 0>(w, t, u)
          y = DequantizeLinear<axis = 0>(p, t, u)
        }""", 17),
        Example("""g (float[4,3] x) => (float[4,3] y)
        <float s = {0.02}, uint8 z = {128}, float[3] t = {0.02, 0.04, 0.03}, uint8[3] u = {61, 56, 128}> {
          q = QuantizeLinear(x, s, z)
          d = DequantizeLinear(q, s, z)
          k = LeakyRelu<alpha = 0.2>(d)
          p = QuantizeLinear<axis = 1>(k, t, u)
          y = DequantizeLinear<axis = 1>(p, t, u)
        }""", 17),
    ],
    "slower-kernel": [
        Example("""g (float[64,48] x) => (float[64,48] y)
        <float s = {0.03}, uint8 z = {117}, float t = {0.004}, uint8 u = {3}> {
          q = QuantizeLinear(x, s, z)
          d = DequantizeLinear(q, s, z)
          m = Softmax<axis = -1>(d)
          p = QuantizeLinear(m, t, u)
          y = DequantizeLinear(p, t, u)
        }""", made="QLinearSoftmax"),
    ],
    "wrong-kernel": [
        Example("""g (float[1,2,3,4] x) => (uint8[1,2,3,4] y)
        <float s = {70000000}, uint8 z = {128}, float t = {0.004}, uint8 u = {100}> {
          q = QuantizeLinear(x, s, z)
          d = DequantizeLinear(q, s, z)
          r = Add(d, d)
          y = QuantizeLinear(r, t, u)
        }""", 17, scale=3e9),
        Example("""g (float[1,2,4,6] x) => (float[1,2,4,4] y)
        <float s = {0.02}, uint8 z = {128}, float t = {0.0235}, uint8 u = {128}> {
          q = QuantizeLinear(x, s, z)
          d = DequantizeLinear(q, s, z)
          m = AveragePool<kernel_shape = [2, 3], strides = [1, 2], pads = [1, 1, 0, 1], ceil_mode = 1,
                          count_include_pad = 1>(d)
          p = QuantizeLinear(m, t, u)
          y = DequantizeLinear(p, t, u)
        }""", 17, step=0.0236),
    ],
    "slower-normalization": [
        Example("""g (float[2,3,4] x, float[2,3,4] r) => (float[2,3,4] y) <float[4] g = {1.5, 0.75, 1.25, 0.5}> {
          a = Relu(x)
          b = Relu(r)
          s = Add(a, b)
          y = LayerNormalization(s, g)
        }""", 17, made="SkipLayerNormalization"),
    ],
    "slow-float-op": [
        Example("""g (float[4,3,5] x) => (float[4,3,5] y) <float[3,1] c = {0.25, -3.5, 1}> { y = PRelu(x, c) }""", 17,
                made="PRelu"),
    ],
    "refused-product": [
        Example("""g (float[3,4] x, float[4,5] w) => (float[3,5] y)
        <float[3] s = {0.02, 0.03, 0.05}, uint8[3] z = {3, 5, 7}, float v = {0.03}, uint8 k = {120}> {
          q = QuantizeLinear<axis = 0>(x, s, z)
          d = DequantizeLinear<axis = 0>(q, s, z)
          p = QuantizeLinear(w, v, k)
          e = DequantizeLinear(p, v, k)
          y = MatMul(d, e)
        }""", 17, step=1e-4),
    ],
    "rounded-activation": [
        Example(f"""g (float[3,2] x) => (float[3,3] y)
        <float s = {{0.01}}, uint8 z = {{128}}, int8[4,3] w = {W}, float[3] ws = {{10000, 0.01, 3}},
         int8[3] wz = {{0, 0, 0}}> {{
          e = Sigmoid(x)
          c = Concat<axis = 1>(x, e)
          q = QuantizeLinear(c, s, z)
          d = DequantizeLinear(q, s, z)
          k = Flatten(d)
          v = DequantizeLinear<axis = 1>(w, ws, wz)
          y = MatMul(k, v)
        }}""", 17, step=0.5),
    ],
    "narrow-selection": [
        Example("""g (float[1,2,4,6] x) => (float[1,2,3,5] y) <float s = {0.25}, int4 z = {3}> {
          q = QuantizeLinear(x, s, z)
          d = DequantizeLinear(q, s, z)
          y = MaxPool<kernel_shape = [2, 2]>(d)
        }"""),
    ],
    "invented-name": [
        Example("""g (float[2,3,4] x) => (float[6,2] y, float[2,3,2] z)
        <int64[2] gemm_input_shape = {6, 4}, float[4,2] w = {1, 1, 1, 1, 1, 1, 1, 1}, float[2] b = {0.5, 1}> {
          r = Reshape(x, gemm_input_shape)
          y = MatMul(r, w)
          m = MatMul(x, w)
          z = Add(m, b)
        }""", 17),
    ],
}  # fmt: skip

RUN = """
import sys
import numpy as np, onnx, onnxruntime as ort
data = dict(np.load(sys.argv[2]))
options = ort.SessionOptions()
options.log_severity_level = 4
options.graph_optimization_level = getattr(ort.GraphOptimizationLevel, sys.argv[3])
options.optimized_model_filepath = sys.argv[1] + ".made"
outputs = ort.InferenceSession(sys.argv[1], options, providers=["CPUExecutionProvider"]).run(None, data)
np.savez(sys.argv[4], *outputs)
"""
"""A process of its own: a session may end it."""


def outputs(model: onnx.ModelProto, feeds: dict[str, Any], folder: Path, level: str) -> list[Any] | None:
    """The outputs of a session; None if it fails or ends its process."""
    names = [str(folder / name) for name in ("m.onnx", "in.npz", "out.npz")]
    onnx.save(model, names[0])
    np.savez(names[1], **feeds)
    done = subprocess.run(
        [sys.executable, "-c", RUN, names[0], names[1], level, names[2]], capture_output=True, check=False
    )
    if done.returncode:
        return None
    with np.load(names[2]) as read:
        return [read[name] for name in read.files]


def guarded(model: onnx.ModelProto, rules: list[Rule]) -> onnx.ModelProto:
    """A model with the guards of some rules."""
    module = import_model(onnx.ModelProto.FromString(model.SerializeToString()))
    TABLE.guard(module, SESSION, rules)
    import_domains(module)
    return export_model(module)


def fed(model: onnx.ModelProto, scale: float) -> dict[str, Any]:
    rng = np.random.default_rng(3)
    feeds: dict[str, Any] = {}
    for one in model.graph.input:
        kind = one.type.tensor_type
        shape = [d.dim_value for d in kind.shape.dim]
        values = np.asarray(rng.normal(0, scale, shape))
        feeds[one.name] = values.astype(onnx.helper.tensor_dtype_to_np_dtype(kind.elem_type))
    return feeds


def is_spoilt(got: list[Any] | None, wanted: list[Any], step: float) -> bool:
    """True if a session failed, or an output is another."""
    return got is None or not all(
        a.shape == b.shape and np.allclose(a.astype(np.float64), b.astype(np.float64), rtol=1e-5, atol=step)
        for a, b in zip(got, wanted, strict=True)
    )


def made(folder: Path) -> set[str]:
    return {node.op_type for node in onnx.load(folder / "m.onnx.made").graph.node}


@pytest.mark.parametrize(
    ("name", "place"), [(name, k) for name, of in EXAMPLES.items() for k in range(len(of))]
)
def test_a_session_still_needs_the_rule(name: str, place: int, tmp_path: Path):
    example, [rule] = EXAMPLES[name][place], [rule for rule in TABLE.rules if rule.name == name]
    model = parser.parse_model(f'<ir_version: 10, opset_import: ["" : {example.opset}]> {example.text}')
    feeds = fed(model, example.scale)
    wanted = outputs(model, feeds, tmp_path, "ORT_DISABLE_ALL")
    assert wanted is not None
    with_rule, without = (
        guarded(model, [*TABLE.rules]),
        guarded(model, [one for one in TABLE.rules if one is not rule]),
    )
    now = outputs(with_rule, feeds, tmp_path, "ORT_ENABLE_ALL")
    assert not is_spoilt(now, wanted, example.step)
    assert example.made not in made(tmp_path)
    before = outputs(without, feeds, tmp_path, "ORT_ENABLE_ALL")
    if example.made:
        assert example.made in made(tmp_path), "a session does not make it any more: the rule can go"
    else:
        assert is_spoilt(before, wanted, example.step), "a session does it right by now: the rule can go"


def test_each_rule_has_its_example():
    """In EXAMPLES, by the rule's name: a model that a session spoils if the rule is left out."""
    differ = EXAMPLES.keys() ^ {rule.name for rule in TABLE.rules}
    assert not differ, (
        f"a rule of rules.py without a model in EXAMPLES, or a model without its rule: {differ}"
    )
