"""
Ops in linalg against the oracle, each by its class: many functions in one shared object, each tensor a result.

The bodies are written as those of `guard_cases.Case`.
"""

from __future__ import annotations

import ctypes
from pathlib import Path

import pytest
from linalg_functions import NEEDS_MLIR, drawn, lowered

from graphs.quantized import random_case
from random_graphs import imported
from upstream import graphs, kernels, layers
from upstream.layers import Exposed

pytestmark = NEEDS_MLIR

CASES = {
    "a convolution of 16 bits adds its bias in real numbers": """
        x: 1x2x5x3x!wide
        w = [3, -5, 7, 1, -2, 4] : 3x2x1x1xi8 as 3x2x1x1x!t
        b = [4000, -9000, 100] : 3xi32 as 3x!sum
        y = Conv(x, w, b) : 1x3x5x3x!short""",
    "a convolution of floats by a weight that is dequantized": """
        x: 1x2x5x3xf32
        w = [3, -5, 7, 1, -2, 4] : 3x2x1x1xi8 as 3x2x1x1x!t
        d = dcast w : 3x2x1x1xf32
        y = Conv(x, d) : 1x3x5x3xf32""",
    "a dynamic product, a zero point for each column": """
        x: 2x3x5xf32
        w = [3, -5, 7, 1, -2, 4, -128, 127, 9, 11] : 5x2xi8
        z = [4, -7] : 2xi8
        q, s, p = DynamicQuantizeLinear(x) : 2x3x5xui8, f32, ui8
        y = MatMulInteger(q, w, p, z) : 2x3x2xi32""",
    "a range of zeros alone": """
        x: 3x4xf32
        k = [0.0] : f32
        n = Mul(x, k) : 3x4xf32
        q, s, p = DynamicQuantizeLinear(n) : 3x4xui8, f32, ui8
        y = Cast(q) {to = 1 : i64} : 3x4xf32""",
    "a product of stored integers, one zero point computed": """
        a: 3x5xi8
        b: 5x2xui8
        c = [-7] : 1xi8
        z: ui8
        y = MatMulInteger(a, b, c, z) : 3x2xi32""",
    "a convolution of stored integers with pads of its zero point": """
        x: 1x4x5x3xui8
        w = [3, 250, 7, 1, 2, 4, 9, 8, 77, 0, 1, 255] : 2x2x3x1xui8
        z: ui8
        v = [9] : ui8
        y = ConvInteger(x, w, z, v) {group = 2 : i64, pads = array<i64: 1, 0, 2, 1>} : 1x2x6x4xi32""",
    "a transposed convolution whose stated shape leaves an odd pad": """
        x: 1x1x3x4xf32
        w = [1.0, 2.0, 3.0, 4.0, 5.0, 6.0, 7.0, 8.0, 9.0] : 1x1x3x3xf32
        y = ConvTranspose(x, w) {output_shape = array<i64: 7, 8>, strides = array<i64: 2, 2>} : 1x1x7x8xf32""",
    "one-hot rows": """
        v: 2xf32
        e = [5] : i32
        i = [4, 0, -1, 2, -5, 3] : 2x3xi32
        y = OneHot(i, e, v) {axis = 1 : i64} : 2x5x3xf32""",
    "sums of squares": """
        x: 2x3x4xf32
        y = ReduceSumSquare(x, _) {keepdims = 0 : i64} : f32""",
    "a sum over no axes": """
        x: 2x3xf32
        y = ReduceSum(x, _) {noop_with_empty_axes = 1 : i64} : 2x3xf32""",
    "a norm of stored integers": """
        p: 2x3x4x!s
        k = [1] : 1xi64
        y = ReduceL2(p, k) : 2x1x4x!u""",
    "sums of magnitudes, and their logarithm": """
        x: 2x3x4xf32
        k = [2] : 1xi64
        a = ReduceL1(x, k) : 2x3x1xf32
        l = [0] : 1xi64
        y = ReduceLogSum(a, l) : 1x3x1xf32""",
    "a batch normalization of what is computed": """
        x: 1x2x5x3xf32
        a: 2xf32
        v: 2xf32
        m = Mul(v, v) : 2xf32
        b = [1.0, 2.0] : 2xf32
        y = BatchNormalization(x, a, b, v, m) : 1x2x5x3xf32""",
    "a batch normalization of constants": """
        x: 1x2x5x3xf32
        a = [0.5, -3.0] : 2xf32
        b = [1.0, 2.0] : 2xf32
        v = [0.25, 0.75] : 2xf32
        y = BatchNormalization(x, a, b, v, v) {epsilon = 0.125 : f32} : 1x2x5x3xf32""",
    "a hard swish": """
        x: 2x3x5xf32
        y = HardSwish(x) : 2x3x5xf32""",
    "a choice between two types": """
        c: 3x1xi1
        x: 2x3x4x!s
        z: 2x3x4x!u
        y = Where(c, x, z) : 2x3x4x!u""",
    "blocks of pixels as channels": """
        x: 1x2x4x6xf32
        y = SpaceToDepth(x) {blocksize = 2 : i64} : 1x8x2x3xf32""",
    "a scale and a zero point for each row": """
        x: 3x4xf32
        q = qcast x : 3x4x!rows
        y = dcast q : 3x4xf32""",
    "a scale for each channel of an image": """
        x: 1x3x4x2xf32
        t = Transpose(x) {perm = array<i64: 0, 3, 1, 2>} : 1x2x3x4xf32
        q = qcast t : 1x2x3x4x!apart
        y = dcast q : 1x2x3x4xf32""",
    "an edge and a cut": """
        p: 2x3x4x!s
        k = [1, 0, -1, 0, 2, 3] : 6xi64
        y = Pad(p, k) {mode = "edge"} : 3x5x6x!s""",
    "a reflection": """
        p: 1x2x4x5x!s
        k = [0, 0, 2, 1, 0, 0, 1, 3] : 8xi64
        y = Pad(p, k) {mode = "reflect"} : 1x2x7x9x!s""",
    "a cut with pads of a number": """
        p: 3x4x!s
        k = [-1, 2, 1, -1] : 4xi64
        v = [1.5] : f32
        y = Pad(p, k, v) : 3x5x!s""",
    "a product of 16 bits adds its bias in real numbers": """
        x: 3x2x!wide
        w = [3, -5, 7, 1, -2, 4, 9, -8] : 2x4xi8 as 2x4x!t
        b = [4000, -9000, 100, 7] : 4xi32 as 4x!sum
        y = Gemm(x, w, b) : 3x4x!short""",
}

FUNCTIONS = (
    "Abs(x)", "Ceil(x)", "Cos(x)", "Elu(x)", "Elu(x) {alpha = 0.5 : f32}", "Erf(x)", "Exp(x)", "Floor(x)", "Gelu(x)",
    "HardSigmoid(x)", "HardSigmoid(x) {alpha = 0.3 : f32, beta = 0.25 : f32}", "LeakyRelu(x)",
    "LeakyRelu(x) {alpha = 0.25 : f32}", "Neg(x)", "Relu(x)", "Round(x)", "Sigmoid(x)", "Sin(x)", "Softplus(x)",
    "Tanh(x)", "Clip(x, low, high)", "Clip(x, low)", "Clip(x, _, high)", "Clip(x)",
)  # fmt: skip
BOUNDS = "low = [-0.75] : f32\nhigh = [1.5] : f32\n"
ORDERS = ("Less", "LessOrEqual", "Greater", "GreaterOrEqual", "Equal")
CASTS = (
    ("f32", "i32"), ("f32", "i1"), ("i32", "i1"), ("i1", "f32"), ("i8", "f32"), ("ui8", "f32"), ("i64", "f32"),
    ("ui8", "i32"), ("i8", "i64"), ("i32", "ui8"), ("i64", "i8"), ("i1", "i64"), ("ui32", "f32"),
)  # fmt: skip
POOLS = (
    ("kernel_shape = array<i64: 2, 3>", "4x2"),
    ("kernel_shape = array<i64: 3, 2>, strides = array<i64: 2, 1>, pads = array<i64: 1, 0, 0, 1>", "2x4"),
    ("kernel_shape = array<i64: 2, 2>, strides = array<i64: 2, 2>, ceil_mode = 1 : i64", "3x2"),
    ('kernel_shape = array<i64: 2, 3>, auto_pad = "SAME_UPPER"', "5x4"),
    ("kernel_shape = array<i64: 2, 2>, dilations = array<i64: 2, 3>", "3x1"),
)
MORE = {
    **{f"{f} of real numbers": f"{BOUNDS}x: 2x3x5xf32\ny = {f} : 2x3x5xf32" for f in FUNCTIONS},
    **{f"{f} of integers": f"{BOUNDS}x: 2x3x5x!t\ny = {f} : 2x3x5x!s" for f in FUNCTIONS},
    **{f"{op} of {kind}": f"a: 2x3x4x{kind}\nb: 3x1x{kind}\ny = {op}(a, b) : 2x3x4xi1"
       for op in ORDERS for kind in ("f32", "ui8", "i8", "i32")},
    **{f"{op} of {kind}": f"a: 2x3x4x{kind}\nb: 3x1x{kind}\ny = {op}(a, b) : 2x3x4x{kind}"
       for op in ("Add", "Sub", "Mul", "Max", "Min") for kind in ("f32", "ui8", "i8", "i32")},
    **{f"{op} of two types": f"a: 2x3x4x!s\nb: 3x1x!t\ny = {op}(a, b) : 2x3x4x!u"
       for op in ("Add", "Sub", "Mul", "Max", "Min")},
    "a quotient of unsigned integers":
        "a: 2x3x4xui8\nb: 3x1xui8\nk = [1] : ui8\nc = Max(b, k) : 3x1xui8\ny = Div(a, c) : 2x3x4xui8",
    "slopes below zero": "x: 2x3x4xf32\ns: 3x1xf32\ny = PRelu(x, s) : 2x3x4xf32",
    **{f"{a} as {b}": f"x: 2x3x4x{a}\ny = Cast(x) {{to = {{}} : i64}} : 2x3x4x{b}".replace("{}", str(number))
       for a, b in CASTS for number in [{"f32": 1, "ui8": 2, "i8": 3, "i32": 6, "i64": 7, "i1": 9}[b]]},
    **{f"{op} of {x} as {y}, rank {kept}": f"""
        x: 2x3x4x{x}
        k = [-1, 0] : 2xi64
        y = {op}(x, k) {{keepdims = {kept} : i64}} : {"1x3x1" if kept else "3"}x{y}"""
       for kept in (0, 1) for op, x, y in (
           ("ReduceMean", "f32", "f32"), ("ReduceMean", "!s", "!t"), ("ReduceMean", "!s", "f32"),
           ("ReduceSum", "f32", "f32"), ("ReduceSum", "!t", "!s"), ("ReduceMax", "f32", "f32"),
           ("ReduceMax", "!s", "!s"), ("ReduceMin", "f32", "f32"), ("ReduceMin", "!s", "!s"))},
    **{f"{op} of {x} as {y}, {how}": f"x: 2x3x5x4x{x}\ny = {op}(x) {{{how}}} : 2x3x{sizes}x{y}"
       for how, sizes in POOLS for op, x, y in (
           ("MaxPool", "f32", "f32"), ("MaxPool", "!s", "!s"), ("AveragePool", "f32", "f32"),
           ("AveragePool", "!s", "!t"), ("AveragePool", "!s", "f32"))},
}  # fmt: skip
CASES.update(MORE)


@pytest.fixture(scope="module")
def functions() -> dict[str, Exposed]:
    """Each case lowered."""
    return {name: lowered(body) for name, body in CASES.items()}


@pytest.fixture(scope="module")
def library(functions: dict[str, Exposed], tmp_path_factory: pytest.TempPathFactory) -> ctypes.CDLL:
    """All cases in one shared object, f0, f1, ... in order."""
    named = {f"f{k}": graph for k, graph in enumerate(functions.values())}
    return layers.library(named, tmp_path_factory.mktemp("linalg") / "cases.so", level=0)


@pytest.mark.parametrize("name", CASES)
def test_op_computes_what_the_oracle_does(name: str, functions: dict[str, Exposed], library: ctypes.CDLL):
    graph, function = functions[name], library[f"f{list(CASES).index(name)}"]
    for seed in range(4):
        feeds = drawn(graph, seed)
        _, tensors = layers.results(graph, function, feeds)
        assert layers.differences(graph, feeds, tensors) == []


def test_ops_are_compared_with_onnxruntimes_kernels(tmp_path: Path):
    case = random_case(8, integer=True)
    graph = layers.exposed(imported(case.model))
    assert isinstance(graph, Exposed)
    function = layers.library({"f": graph}, tmp_path / "f.so", level=0)["f"]
    _, tensors = layers.results(graph, function, case.feeds)
    alike = kernels.by_kind(graph, case.feeds, tensors, tmp_path)
    assert {"1 Conv", "3 MatMul", "1 MaxPool", "2 GlobalAveragePool"} < set(alike)
    assert all(one.is_identical for one in alike.values())
    place = next(k for k, value in enumerate(graph.values) if value.owner.name == "onnx.Conv")  # pyright: ignore
    tensors[place][0, 0] ^= 1
    assert not kernels.by_kind(graph, case.feeds, tensors, tmp_path)["1 Conv"].is_identical


def test_random_graphs_are_within_their_class():
    outcome = graphs.chunk(300, size=12, floats=False)
    assert outcome.problems == {}
    assert outcome.whole >= 10
