"""Constant scales of 0, as pruned channels have, below 0, and next to 0: of weights, biases, tables and activations."""

from __future__ import annotations

from collections.abc import Sequence
from typing import Any

import numpy as np
import onnx
import pytest
from default_session import LEVELS, run
from onnx import TensorProto, helper, numpy_helper

from qdialect.api import compile
from qdialect.onnx_io.exporter import export_model
from qdialect.onnx_io.importer import import_model

STEP = 0.02
POOL: dict[str, Any] = {"kernel_shape": [2, 2]}
TARGETS = ["onnxruntime", "openvino", "tensorrt", "generic"]
KERNELS = {"QLinearConv", "QGemm", "QLinearMatMul", "MatMulIntegerToFloat"}


class Graph:
    """Nodes and initializers of a graph under construction, with random numbers."""

    def __init__(self, seed: int):
        self.rng = np.random.default_rng(seed)
        self.nodes: list[onnx.NodeProto] = []
        self.tensors: dict[str, np.ndarray] = {}

    def add(self, op: str, inputs: Sequence[str], result: str, domain: str = "", **attributes: Any) -> str:
        self.nodes.append(helper.make_node(op, inputs, [result], result, domain=domain, **attributes))
        return result

    def put(self, name: str, values: Any, dtype: Any = np.float32) -> str:
        self.tensors[name] = np.asarray(values, dtype)
        return name

    def pair(self, x: str, name: str, scale: float, zero: int, dtype: Any = np.uint8) -> str:
        parameters = [self.put(f"{name}_s", scale), self.put(f"{name}_z", zero, dtype)]
        q = self.add("QuantizeLinear", [x, *parameters], f"{name}_q")
        return self.add("DequantizeLinear", [q, *parameters], name)

    def model(
        self, shape: Sequence[int], opset: int = 17, result: int = TensorProto.FLOAT
    ) -> onnx.ModelProto:
        tensors = [numpy_helper.from_array(v, k) for k, v in self.tensors.items()]
        ends = [helper.make_tensor_value_info(n, t, s) for n, t, s in (("x", 1, shape), ("y", result, None))]
        graph = helper.make_graph(self.nodes, "g", ends[:1], ends[1:], tensors)
        imports = [helper.make_opsetid("", opset), helper.make_opsetid("com.microsoft", 1)]
        return helper.make_model(graph, opset_imports=imports, ir_version=8 if opset < 21 else 10)


def channel_scales(rng: np.random.Generator, count: int, odd: str) -> np.ndarray:
    """Scales about 0.01 for `count` channels, some of them of the kind `odd`."""
    scales = rng.uniform(0.005, 0.02, count).astype(np.float32)
    which = rng.permutation(count)[: max(1, count // 3)]
    value = {"zero": 0.0, "negative": -1.0, "denormal": 1e-42, "minus zero": -0.0, "tiny": 1e-30}[odd]
    scales[which] = -scales[which] if odd == "negative" else value
    return scales


SHAPES: dict[str, tuple[list[int], list[int], int]] = {
    "Conv": ([2, 6, 5, 5], [9, 6, 3, 3], 0),
    "Conv, groups": ([2, 6, 5, 5], [6, 1, 3, 3], 0),
    "Conv, 1-D": ([2, 6, 9], [9, 6, 3], 0),
    "ConvTranspose": ([2, 6, 5, 5], [6, 9, 3, 3], 1),
    "Gemm": ([4, 6], [6, 9], 1),
    "Gemm, transB": ([4, 6], [9, 6], 0),
    "MatMul": ([4, 6], [6, 9], 1),
    "MatMul, Add": ([4, 6], [6, 9], 1),
    "MatMul, 3-D": ([3, 4, 6], [6, 9], 1),
}
"""Shapes of activation and weight, and the weight's axis of output channels."""


def linear(
    case: str,
    odd: str,
    seed: int,
    *,
    per_channel: bool = True,
    weight: Any = np.int8,
    symmetric: bool = True,
    bias: str = "float",
    odd_bias: str = "",
    quantized: bool = True,
    norm: bool = False,
) -> onnx.ModelProto:
    """x between casts, a weight of odd scales, and casts behind."""
    g, (shape, size, axis) = Graph(seed), SHAPES[case]
    rng, channels, op = g.rng, size[axis], case.split(",")[0]
    low, high = np.iinfo(weight).min, np.iinfo(weight).max
    scales = channel_scales(rng, channels if per_channel else 1, odd)
    scales = scales if per_channel else scales.reshape(())
    zeros = np.zeros(scales.shape) if symmetric else rng.integers(low, high + 1, scales.shape)
    stored = rng.integers(low, high + 1, size)
    stored.flat[:2] = low, high
    names = [g.put("w", stored, weight), g.put("ws", scales), g.put("wz", zeros, weight)]
    along: dict[str, Any] = {"axis": axis} if per_channel else {}
    w = g.add("DequantizeLinear", names, "wd", **along)
    x, b = g.pair("x", "a", STEP, 120), rng.normal(0, 1, channels).astype(np.float32)
    inputs = [x, w]
    if bias and op != "MatMul":
        inputs.append(_bias(g, b, bias, odd_bias, STEP * scales))
    attributes: dict[str, Any] = {"group": 6} if case == "Conv, groups" else {}
    attributes |= {"transB": 1} if case == "Gemm, transB" else {}
    y = g.add(op, inputs, "c", **attributes)
    if case == "MatMul, Add":
        y = g.add("Add", [y, _bias(g, b, bias or "float", odd_bias, STEP * scales)], "sum")
    if norm:
        rows = [g.put(k, rng.uniform(0.5, 2, channels)) for k in ("gain", "shift", "mean", "variance")]
        y = g.add("BatchNormalization", [y, *rows], "norm")
    g.pair(y, "y", STEP, 100) if quantized else g.add("Identity", [y], "y")
    return g.model(shape)


def _bias(g: Graph, values: np.ndarray, kind: str, odd: str, steps: np.ndarray) -> str:
    if kind == "float":
        return g.put("b", values)
    steps = np.abs(np.broadcast_to(steps, values.shape)).astype(np.float32)
    steps = np.where(steps == 0, np.float32(0.0002), steps)
    stored = np.clip(np.rint(values / steps), -(2**20), 2**20)
    if odd:
        which = g.rng.permutation(len(values))[:3]
        steps[which] = 0 if odd == "zero" else -steps[which]
    names = [g.put("b", stored, np.int32), g.put("bs", steps)]
    return g.add("DequantizeLinear", names, "bd", axis=0)


def compiled(model: onnx.ModelProto, target: str, exactness: str = "close") -> onnx.ModelProto:
    module = import_model(onnx.ModelProto.FromString(model.SerializeToString()))
    compile(module, target, exactness=exactness)
    return export_model(module)


def assert_right(
    model: onnx.ModelProto,
    result: onnx.ModelProto,
    exactness: str,
    step: float = STEP,
    target: str = "onnxruntime",
) -> None:
    """
    Within a step of the original without optimization, which at `exact` is met; everything is also a number. In default
    sessions too where the target is onnxruntime, whose fusions are guarded against there alone.
    """
    shape = [d.dim_value for d in model.graph.input[0].type.tensor_type.shape.dim]
    feeds = {"x": np.random.default_rng(1).normal(size=shape).astype(np.float32)}
    wanted = run(model, feeds, LEVELS[0]).astype(np.float64)
    assert np.isfinite(wanted).all()
    for level in LEVELS if target.startswith("onnxruntime") else LEVELS[:1]:
        given = run(result, feeds, level).astype(np.float64)
        is_exact = exactness == "exact" and level == LEVELS[0]
        tolerance = 0 if is_exact else max(1.01 * step, 1e-4 * np.abs(wanted).max())
        np.testing.assert_allclose(given, wanted, rtol=0, atol=tolerance)


def nodes(model: onnx.ModelProto) -> set[str]:
    return {n.op_type for n in model.graph.node}


@pytest.mark.parametrize("target", TARGETS)
@pytest.mark.parametrize("exactness", ["exact", "close"])
@pytest.mark.parametrize("case", SHAPES)
@pytest.mark.parametrize("odd", ["zero", "negative", "denormal", "minus zero"])
def test_a_channel_of_odd_scale(case: str, odd: str, exactness: str, target: str):
    model = linear(case, odd, len(case) + len(odd))
    result = compiled(model, target, exactness)
    assert_right(model, result, exactness, target=target)
    stored = {i.name: numpy_helper.to_array(i) for i in result.graph.initializer}
    scales = [stored[n.input[1]] for n in result.graph.node if n.op_type == "DequantizeLinear"]
    assert all((s > 0).all() and np.isfinite(s).all() for s in scales)
    if case == "ConvTranspose":
        return  # which has no integer kernel
    if target == "onnxruntime" and exactness == "close" and odd in ("zero", "minus zero"):
        assert nodes(result) & KERNELS


@pytest.mark.parametrize("target", ["onnxruntime", "tensorrt"])
@pytest.mark.parametrize(("weight", "odd"), [(np.int8, "zero"), (np.uint8, "negative")])
@pytest.mark.parametrize("case", ["Conv", "ConvTranspose", "Gemm, transB", "MatMul, Add"])
@pytest.mark.parametrize(
    "options",
    [
        {"per_channel": False},
        {"symmetric": False},
        {"per_channel": False, "symmetric": False},
        {"bias": "int32"},
        {"norm": True, "bias": ""},
        {"quantized": False},
        {"bias": "int32", "odd_bias": "zero"},
        {"bias": "int32", "odd_bias": "negative"},
    ],
    ids=str,
)
def test_weights_and_biases_around_odd_scales(
    case: str, odd: str, weight: Any, options: dict[str, Any], target: str
):
    if options.get("norm") and case.startswith("Gemm"):
        pytest.skip("a Gemm has no such layer behind it")
    model = linear(case, odd, len(case) + len(str(options)), weight=weight, **options)
    for exactness in ("exact", "close"):
        assert_right(model, compiled(model, target, exactness), exactness, target=target)


def activation(case: str, odd: str, seed: int, dtype: Any) -> onnx.ModelProto:
    """An activation of odd scale in front of ops with and without products."""
    g, scale = Graph(seed), {"zero": 0.0, "negative": -STEP}[odd]
    zero, rng = (3 if dtype == np.int8 else 120), g.rng
    x = g.pair("x", "a", scale, zero, dtype)
    shape, channels = [2, 6, 5, 5], 9
    if case == "Conv":
        names = [g.put("w", rng.integers(-127, 128, (9, 6, 3, 3)), np.int8), g.put("ws", 0.01)]
        y = g.add("Conv", [x, g.add("DequantizeLinear", names, "wd"), g.put("b", rng.normal(size=9))], "c")
    elif case in ("Gemm", "MatMul"):
        shape = [4, 6]
        names = [g.put("w", rng.integers(-127, 128, (6, 9)), np.int8), g.put("ws", 0.01)]
        w, b = g.add("DequantizeLinear", names, "wd"), g.put("b", rng.normal(size=channels))
        y = (
            g.add(case, [x, w, b], "c")
            if case == "Gemm"
            else g.add("Add", [g.add(case, [x, w], "m"), b], "c")
        )
    elif case == "Add":
        y = g.add("Add", [x, g.pair("x", "other", 0.03, 100, dtype)], "c")
    else:
        y = g.add(case, [x], "c", **(POOL if "Pool" in case else {}))
    g.pair(
        y, "y", scale if case in ("MaxPool", "Transpose", "Relu") and odd == "negative" else STEP, zero, dtype
    )
    return g.model(shape)


@pytest.mark.parametrize("target", TARGETS)
@pytest.mark.parametrize("dtype", [np.uint8, np.int8])
@pytest.mark.parametrize("odd", ["zero", "negative"])
@pytest.mark.parametrize(
    "case", ["Conv", "Gemm", "MatMul", "Add", "MaxPool", "AveragePool", "Relu", "Transpose", "Sigmoid"]
)
def test_an_activation_of_odd_scale(case: str, odd: str, dtype: Any, target: str):
    model = activation(case, odd, len(case), dtype)
    for exactness in ("exact", "close"):
        result = compiled(model, target, exactness)
        assert_right(model, result, exactness, target=target)
        stored = {i.name: numpy_helper.to_array(i) for i in result.graph.initializer}
        casts = [n for n in result.graph.node if n.op_type in ("QuantizeLinear", "DequantizeLinear")]
        used = {v for n in result.graph.node for v in n.input} | {o.name for o in result.graph.output}
        assert all((stored[n.input[1]] > 0).all() for n in casts if n.output[0] in used)


def node(case: str, odd: str, seed: int, *, per_channel: bool) -> onnx.ModelProto:
    """A QOperator node, or an integer product and its rescale, with a weight of odd scale."""
    g = Graph(seed)
    rng, is_conv = g.rng, "Conv" in case
    shape, size = ([2, 6, 5, 5], [9, 6, 3, 3]) if is_conv else ([4, 6], [6, 9])
    scales = channel_scales(rng, 9 if per_channel else 1, odd)
    scales = scales if per_channel else scales.reshape(())
    stored = rng.integers(-127, 128, size)
    g.put("w", stored, np.int8)
    g.put("ws", scales)
    g.put("wz", np.zeros(scales.shape), np.int8)
    g.put("xs", STEP)
    g.put("xz", 120, np.uint8)
    g.put("ys", STEP)
    g.put("yz", 100, np.uint8)
    b = g.put("b", rng.integers(-3000, 3000, 9), np.int32)
    q = g.add("QuantizeLinear", ["x", "xs", "xz"], "xq")
    x, w, y = [q, "xs", "xz"], ["w", "ws", "wz"], ["ys", "yz"]
    if case == "QLinearConv":
        p = g.add(case, [*x, *w, *y, b], "yq")
    elif case == "QGemm":
        p = g.add(case, [*x, *w, b, *y], "yq", "com.microsoft")
    elif case == "QLinearMatMul":
        p = g.add(case, [*x, *w, *y], "yq")
    elif case == "MatMulIntegerToFloat":
        g.put("c", rng.normal(size=9))
        inputs = [q, "w", "xs", "ws", "xz", "wz", "c"]
        g.add(case, inputs, "y", "com.microsoft")
        return g.model(shape)
    else:
        spread = (1, 9, 1, 1) if is_conv and per_channel else scales.shape
        g.put("m", (scales * np.float32(STEP)).reshape(spread))
        g.put("wz", 0, np.int8)
        g.put("b", g.tensors["b"].reshape(1, 9, 1, 1) if is_conv else g.tensors["b"], np.int32)
        i = g.add("Add", [g.add(case, [q, "w", "xz", "wz"], "i"), "b"], "j")
        f = g.add("Mul", [g.add("Cast", [i], "f", to=TensorProto.FLOAT), "m"], "g")
        p = g.add("QuantizeLinear", [f, *y], "yq")
    g.add("DequantizeLinear", [p, *y], "y")
    return g.model(shape)


@pytest.mark.parametrize("target", TARGETS)
@pytest.mark.parametrize("per_channel", [True, False])
@pytest.mark.parametrize("odd", ["zero", "negative", "denormal"])
@pytest.mark.parametrize(
    "case",
    ["QLinearConv", "QGemm", "QLinearMatMul", "MatMulIntegerToFloat", "ConvInteger", "MatMulInteger"],
)
def test_nodes_of_odd_scales(case: str, odd: str, per_channel: bool, target: str):
    model = node(case, odd, len(case), per_channel=per_channel)
    for exactness in ("exact", "close"):
        result = compiled(model, target, exactness)
        assert_right(model, result, exactness, target=target)
    if odd != "denormal" and target != "onnxruntime":
        assert not nodes(result) & {"QLinearConv", "QGemm", "QLinearMatMul", "ConvInteger", "MatMulInteger"}


def table(odd: str, seed: int, *, blocks: bool) -> onnx.ModelProto:
    """Rows of a table, or a product with a weight in blocks, of odd scales."""
    g = Graph(seed)
    rng = g.rng
    if blocks:
        scales = channel_scales(rng, 32 * 9 // 16, odd).reshape(2, 9)
        names = [g.put("w", rng.integers(-128, 128, (32, 9)), np.int8), g.put("ws", scales)]
        w = g.add("DequantizeLinear", names, "wd", axis=0, block_size=16)
        g.add("MatMul", ["x", w], "y")
        return g.model([4, 32], 21)
    names = [g.put("w", rng.integers(-128, 128, (20, 6)), np.int8), g.put("ws", channel_scales(rng, 20, odd))]
    w = g.add("DequantizeLinear", names, "wd", axis=0)
    i = g.add("Cast", [g.add("Clip", [g.add("Abs", ["x"], "p"), "", g.put("most", 19)], "r")], "i", to=7)
    g.add("Gather", [w, i], "y")
    return g.model([4, 6])


@pytest.mark.parametrize("target", TARGETS)
@pytest.mark.parametrize("blocks", [True, False])
@pytest.mark.parametrize("odd", ["zero", "negative", "denormal", "minus zero"])
def test_tables_and_blocks_of_odd_scales(odd: str, blocks: bool, target: str):
    model = table(odd, len(odd), blocks=blocks)
    for exactness in ("exact", "close"):
        # Of a weight in blocks a session makes a product with activations in 8 bits.
        assert_right(model, compiled(model, target, exactness), exactness, 0.2 if blocks else 0)
