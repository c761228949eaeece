"""Several ops on 8 bits, written as the one function that they compute, on all values."""

from __future__ import annotations

from collections.abc import Sequence
from pathlib import Path

import numpy as np
import onnx
import onnx.helper as oh
import onnx.numpy_helper as onh
import pytest
from geometries import runtime
from guard_cases import Case, ops_of, parsed, text
from onnx.parser import parse_model
from onnx_models import onnx_model
from xdsl.ir import SSAValue

import qdialect
from qdialect.dialects.onnx_base import OnnxOp
from qdialect.dialects.onnx_tensor import TensorAttr
from qdialect.evaluation import session as oracle
from qdialect.evaluation.session import evaluate
from qdialect.kernel_selection.functions import ELEMENTWISE, ComposeFunction
from qdialect.rewriting.driver import apply_patterns
from qdialect.text.upstream import refused
from qdialect.upstream.tosa_interpreter import run_integer

GELU = "Div x s d; Erf d e *; Add e one a *; Mul x a m *; Mul m half y *"
TANH = "Pow x three p *; Mul p c q *; Add x q r *; Mul r k t *; Tanh t u *; Add u one a *; Mul x a m *; Mul m half y *"
CONSTANTS = {"s": 2**0.5, "one": 1.0, "half": 0.5, "three": 3.0, "c": 0.044715, "k": (2 / np.pi) ** 0.5}
SCALES = {
    "x": (0.03, 128), "e": (2 / 255, 127), "a": (2 / 255, 0), "m": (8 / 255, 11), "y": (4 / 255, 11),
    "p": (0.44, 128), "q": (0.02, 128), "r": (0.05, 128), "t": (0.04, 128), "u": (2 / 255, 128),
}  # fmt: skip


def model(text: str) -> onnx.ModelProto:
    """The ops, each with a result of 8 bits where a star stands behind it."""
    held = {k: np.float32(v) for k, v in CONSTANTS.items()}
    held |= {f"{k}_scale": np.float32(s) for k, (s, _) in SCALES.items()}
    zeros = {f"{k}_zero": np.uint8(z) for k, (_, z) in SCALES.items()}
    nodes: list[onnx.NodeProto] = []

    def pair(name: str, plain: str) -> None:
        parameters = [f"{name}_scale", f"{name}_zero"]
        nodes.append(oh.make_node("QuantizeLinear", [plain, *parameters], [f"{name}_q"]))
        nodes.append(oh.make_node("DequantizeLinear", [f"{name}_q", *parameters], [name]))

    pair("x", "input")
    for line in text.split("; "):
        op, *operands, result = line.removesuffix(" *").split()
        starred = line.endswith("*")
        nodes.append(oh.make_node(op, operands, [f"{result}_real" if starred else result]))
        if starred:
            pair(result, f"{result}_real")
    used = {name for node in nodes for name in node.input}
    return onnx_model(
        nodes,
        {"input": [16, 16]},
        {"y": [16, 16]},
        {k: v for k, v in (held | zeros).items() if k in used},
        opset=13,
    )


@pytest.mark.parametrize("text", [GELU, TANH])
def test_every_value_is_within_a_step(text: str, tmp_path: Path):
    path, result = tmp_path / "model.onnx", tmp_path / "result.onnx"
    onnx.save(model(text), path)
    module = qdialect.load(path)
    qdialect.compile(module)
    qdialect.save(module, result)
    ops = [node.op_type for node in onnx.load(result).graph.node]
    assert ops == ["QuantizeLinear", "DequantizeLinear", "Gelu", "QuantizeLinear", "DequantizeLinear"]
    scale, zero = SCALES["x"]
    x = ((np.arange(256).reshape(16, 16) - zero) * scale).astype(np.float32)
    expected, got = (oracle.run(str(p), {"input": x})[0] for p in (path, result))
    assert np.abs(np.rint((got - expected) / SCALES["y"][0])).max() <= 1


@pytest.mark.parametrize("target", ["linalg", "tosa"])
def test_upstream_gets_a_table(target: str):
    module = qdialect.load(model(GELU))
    qdialect.compile(module, target=target, integer_io=True)
    assert not refused(module)


@pytest.mark.parametrize("text", [GELU, TANH])
def test_the_table_is_what_onnxruntime_computes(text: str, tmp_path: Path):
    reference, module = qdialect.load(model(text)), qdialect.load(model(text))
    qdialect.compile(reference, integer_io=True)
    qdialect.save(reference, tmp_path / "r.onnx")
    qdialect.compile(module, target="tosa", integer_io=True)
    x = np.arange(256).astype(np.uint8).reshape(16, 16)
    (expected,) = oracle.run(str(tmp_path / "r.onnx"), {"input": x}, optimize=True)
    (got,) = run_integer(module, [x])
    assert np.array_equal(got.view(expected.dtype), expected)


def test_a_function_is_no_other_whose_table_is_near_in_coarse_steps():
    """HardSwish is 0.78 steps below LeakyRelu at 1.5, where a step is 0.479: each entry is one step off at most."""
    leaky = parse_model("""<ir_version: 8, opset_import: ["" : 17]>
        g (int8[16,16] q) => (int8[16,16] y) <float s = {0.0599}, float t = {0.479}, int8 z = {0}> {
            d = DequantizeLinear(q, s, z)
            l = LeakyRelu<alpha = 0.01>(d)
            y = QuantizeLinear(l, t, z)
        }""")
    module = qdialect.load(leaky)
    qdialect.compile(module)
    assert "HardSwish" not in [node.op_type for node in qdialect.to_model(module).graph.node]


STANDARDIZED = """
<ir_version: 8, opset_import: ["": 17]>
g (float[2, 32, 6, 5] input) => (float[2, 32, 6, 5] y)
<float s = {0.05}, uint8 z = {128}, float two = {2.0}, float e = {0.000001}, float t = {0.03},
 float[32, 1, 1] w, float[32, 1, 1] b> {
    q = QuantizeLinear(input, s, z)
    x = DequantizeLinear(q, s, z)
    u = ReduceMean<axes = [1]>(x)
    d = Sub(x, u)
    p = Pow(d, two)
    v = ReduceMean<axes = [1]>(p)
    a = Add(v, e)
    r = Sqrt(a)
    n = Div(d, r)
    m = Mul(w, n)
    o = Add(m, b)
    k = QuantizeLinear(o, t, z)
    y = DequantizeLinear(k, t, z)
}
"""


def test_a_normalization_over_channels_is_one_op(tmp_path: Path):
    path, result, draw = tmp_path / "model.onnx", tmp_path / "result.onnx", np.random.default_rng(1)
    proto = parse_model(STANDARDIZED)
    for name in "wb":
        proto.graph.initializer.append(onh.from_array(draw.uniform(0.5, 1, (32, 1, 1)).astype("f4"), name))
    onnx.save(proto, path)
    module = qdialect.load(path)
    qdialect.compile(module)
    qdialect.save(module, result)
    ops = [node.op_type for node in onnx.load(result).graph.node]
    assert "LayerNormalization" in ops
    assert not {"ReduceMean", "Sqrt", "Div"} & set(ops)
    again = qdialect.load(result)
    qdialect.compile(again)
    qdialect.save(again, tmp_path / "again.onnx")
    assert [node.op_type for node in onnx.load(tmp_path / "again.onnx").graph.node] == ops
    x = draw.normal(1, 2, (2, 32, 6, 5)).astype(np.float32)
    x[0, :, 0, 0] = 3  # without variance: zero times a great number
    expected, got = (oracle.run(str(p), {"input": x})[0] for p in (path, result))
    assert np.abs(np.rint((got - expected) / 0.03)).max() <= 1


def test_chains_of_the_same_ops_are_run_once(monkeypatch: pytest.MonkeyPatch):
    """Each chain was run for each function, so that a thousand elementwise ops took twelve seconds to compile."""
    runs: list[int] = []

    def counted(ops: Sequence[OnnxOp], outputs: Sequence[SSAValue]) -> dict[SSAValue, TensorAttr]:
        runs.append(len(ops))
        return evaluate(ops, outputs)

    monkeypatch.setattr("qdialect.evaluation.session.evaluate", counted)
    text = "; ".join(f"Mul v{k} c w{k}; Abs w{k} v{k + 1}" for k in range(40)).split("; ")
    nodes = [oh.make_node(op, operands, [result]) for op, *operands, result in map(str.split, text)]
    ends = [oh.make_tensor_value_info(name, onnx.TensorProto.FLOAT, [3, 5]) for name in ("v0", "v40")]
    factor = onh.from_array(np.array(0.99, np.float32), "c")
    report = qdialect.compile(onnx_model(nodes, ends[:1], ends[1:], [factor]))
    assert len(qdialect.to_model(report.module).graph.node) == 80
    assert 1 < len(runs) < 25


@pytest.mark.parametrize(
    ("opset", "price", "ops"),
    [
        (14, 8.0, "HardSwish"),
        (13, 8.0, "HardSigmoid Mul"),
        (14, 8.5, "HardSigmoid Mul"),
        (14, None, "HardSigmoid Mul"),
    ],
)
def test_a_function_stands_for_a_chain_that_takes_longer(opset: int, price: float | None, ops: str):
    _, module = parsed(text(Case("", "", """
        x: 2x3xf32
        h = HardSigmoid(x) {alpha = 0.1666666666 : f32} : 2x3xf32
        y = Mul(x, h) : 2x3xf32""", opset=opset)))  # fmt: skip
    prices = {"HardSigmoid": 7.0, "Mul": 3.0} | ({} if price is None else {"HardSwish": price})
    apply_patterns(module, "any", [ComposeFunction(runtime({ELEMENTWISE: prices}, kernels=True))])
    assert ops_of(module) == ops


@pytest.mark.parametrize(("sizes", "ops"), [("1x3", "HardSwish"), ("3", "Add Clip Mul Div")])
def test_a_function_has_the_sizes_of_its_operand(sizes: str, ops: str):
    """Numbers of shape (1, 1) give a row an axis, which no function does."""
    _, module = parsed(text(Case("", "", f"""
        x: {sizes}xf32
        three = [3.0] : 1x1xf32
        six = [6.0] : 1x1xf32
        low = [0.0] : f32
        high = [6.0] : f32
        a = Add(x, three) : 1x3xf32
        c = Clip(a, low, high) : 1x3xf32
        m = Mul(x, c) : 1x3xf32
        y = Div(m, six) : 1x3xf32""", opset=14)))  # fmt: skip
    prices = {"Add": 3.0, "Clip": 3.0, "Mul": 3.0, "Div": 3.0, "HardSwish": 4.0}
    apply_patterns(module, "any", [ComposeFunction(runtime({ELEMENTWISE: prices}, kernels=True))])
    assert ops_of(module) == ops
