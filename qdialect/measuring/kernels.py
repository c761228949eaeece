"""
Micro-benchmarks of the onnxruntime kernels among which the compiler chooses: each form of an 8-bit convolution in a
model of its own, on one thread.
"""

import time
from collections.abc import Sequence
from math import prod
from typing import Any, NamedTuple

import numpy as np
import numpy.typing as npt
import onnxruntime as ort
from onnx import NodeProto, TensorProto, helper, numpy_helper

from qdialect.targets.pricing import FLOAT, PACKED, PRODUCT, QUANTIZED, SIGNED, SUM, Convolution

Array = npt.NDArray[Any]


def session(
    nodes: Sequence[NodeProto],
    constants: dict[str, Array],
    result: int = TensorProto.FLOAT,
    operand: int = TensorProto.UINT8,
    *,
    zero_point: bool = False,
    opset: int = 13,
    rank: int = 4,
) -> ort.InferenceSession:
    """A session of a model with inputs x, of any size, and optionally z, and output y."""
    more = [helper.make_tensor_value_info("z", TensorProto.UINT8, [])] if zero_point else []
    graph = helper.make_graph(
        list(nodes),
        "g",
        [helper.make_tensor_value_info("x", operand, [None] * rank), *more],
        [helper.make_tensor_value_info("y", result, [None] * rank)],
        [numpy_helper.from_array(v, k) for k, v in constants.items()],
    )
    opsets = [helper.make_opsetid("", opset), helper.make_opsetid("com.microsoft", 1)]
    options = ort.SessionOptions()
    options.intra_op_num_threads = 1
    options.log_severity_level = 3
    model = helper.make_model(graph, opset_imports=opsets, ir_version=10)
    return ort.InferenceSession(model.SerializeToString(), options, providers=["CPUExecutionProvider"])


def overhead() -> float:
    """Least nanoseconds of a trivial run, over 10,000 runs, since an idle processor takes time to speed up."""
    one = session([helper.make_node("Cast", ["x"], ["y"], to=TensorProto.FLOAT)], {})
    return least_time(one, np.zeros([1] * 4, np.uint8), 10_000)


class Shape(NamedTuple):
    """A convolution: batch, channels in and out, input height and width, kernel size, stride."""

    batch: int
    inputs: int
    outputs: int
    size: int
    kernel: int
    stride: int = 1

    @property
    def counted(self) -> Convolution:
        """The convolution as the cost model describes it."""
        pixels = ((self.size - 1) // self.stride + 1) ** 2
        return Convolution(
            self.inputs, self.outputs, (self.kernel,) * 2, (self.stride,) * 2, pixels, True, self.batch
        )


class Grouped(NamedTuple):
    """A convolution: batch, channels in and out, input sizes, kernel size, groups, stride."""

    batch: int
    inputs: int
    outputs: int
    sizes: tuple[int, ...]
    kernel: int
    groups: int = 1
    stride: int = 1

    @property
    def counted(self) -> Convolution:
        """The convolution as the cost model describes it, with all its groups."""
        pixels = prod((size - 1) // self.stride + 1 for size in self.sizes)
        rank = len(self.sizes)
        return Convolution(
            self.inputs // self.groups,
            self.outputs // self.groups,
            (self.kernel,) * rank,
            (self.stride,) * rank,
            pixels,
            True,
            self.batch,
            self.groups,
        )


def columns(shape: Shape) -> tuple[list[NodeProto], dict[str, Array], str]:
    """im2col: nodes that gather the pixels under the kernel as channels, from `t`, channels last."""
    _, _, _, size, k, stride = shape
    node, rows, value = helper.make_node, (size - 1) // stride + 1, "t"
    nodes: list[NodeProto] = []
    c: dict[str, Array] = {"pads": np.array([0, k // 2, k // 2, 0] * 2), "step": np.array([stride])}
    if k > 1:
        nodes, value = [node("Pad", ["t", "pads", "zx"], ["p"])], "p"
    for axis in (2, 1):
        parts: list[str] = []
        for at in range(k):
            part = f"s{axis}{at}"
            c |= {f"from{at}": np.array([at]), f"to{at}": np.array([at + (rows - 1) * stride + 1])}
            c[f"axis{axis}"] = np.array([axis])
            parts.append(part)
            nodes.append(node("Slice", [value, f"from{at}", f"to{at}", f"axis{axis}", "step"], [part]))
        value = parts[0]
        if k > 1:
            value = f"c{axis}"
            nodes.append(node("Concat", parts, [value], axis=3))
    return nodes, c, value


def product_form(shape: Shape, c: dict[str, Array]) -> ort.InferenceSession:
    """A matrix product of gathered columns, between Transposes."""
    node, weight = helper.make_node, c["w"].transpose(2, 3, 1, 0).reshape(-1, shape.outputs)
    gather, more, value = ([], {}, "t") if shape.counted.is_pointwise else columns(shape)
    nodes = [
        node("Transpose", ["x"], ["t"], perm=[0, 2, 3, 1]),
        *gather,
        node("MatMulIntegerToFloat", [value, "m", "sx", "s", "zx", "", "b"], ["g"], domain="com.microsoft"),
        node("Transpose", ["g"], ["y"], perm=[0, 3, 1, 2]),
    ]
    used = {name for n in nodes for name in n.input}
    constants = c | more | {"m": np.ascontiguousarray(weight)}
    return session(nodes, {k: v for k, v in constants.items() if k in used})


def sum_form(shape: Shape, c: dict[str, Array], *, signed: bool) -> ort.InferenceSession:
    """ConvInteger and its scale; the weight is u8, activations are i8 if `signed`."""
    attributes: dict[str, Any] = {"pads": [shape.kernel // 2] * 4, "strides": [shape.stride] * 2}
    constants = {
        "u": (c["w"].astype(np.int16) + 128).astype(np.uint8),
        "zx": np.array(-8, np.int8) if signed else c["zx"],
        "zu": np.array(128, np.uint8),
        "m": (c["sx"] * c["s"]).reshape(1, -1, 1, 1),
        "b": c["b"].reshape(1, -1, 1, 1),
    }
    nodes = [
        helper.make_node("ConvInteger", ["x", "u", "zx", "zu"], ["i"], **attributes),
        helper.make_node("Cast", ["i"], ["f"], to=TensorProto.FLOAT),
        helper.make_node("Mul", ["f", "m"], ["g"]),
        helper.make_node("Add", ["g", "b"], ["y"]),
    ]
    return session(nodes, constants, operand=TensorProto.INT8 if signed else TensorProto.UINT8)


def quantized_form(shape: Grouped, weight: Array, scales: Array) -> ort.InferenceSession:
    """QLinearConv, channels last."""
    rank = len(shape.sizes)
    c: dict[str, Array] = {
        "sx": np.array(0.02, np.float32),
        "zx": np.array(120, np.uint8),
        "w": weight,
        "s": scales.astype(np.float32),
        "z": np.zeros(shape.outputs, np.int8),
        "sy": np.array(0.5, np.float32),
        "zy": np.array(128, np.uint8),
        "b": np.zeros(shape.outputs, np.int32),
    }
    attributes: dict[str, Any] = {
        "pads": [shape.kernel // 2] * 2 * rank,
        "strides": [shape.stride] * rank,
        "group": shape.groups,
        "channels_last": 1,
    }
    node = helper.make_node("QLinearConv", ["x", *c], ["y"], domain="com.microsoft", **attributes)
    return session([node], c, TensorProto.UINT8, rank=rank + 2)


def forms(shape: Shape, rng: np.random.Generator) -> dict[str, ort.InferenceSession]:
    """Sessions of the forms of a shape, by kernel name."""
    batch, ci, co, size, k, stride = shape
    w, s = rng.integers(-127, 128, (co, ci, k, k)).astype(np.int8), rng.uniform(0.01, 0.02, co)
    b = rng.normal(size=co).astype(np.float32)
    c: dict[str, Array] = {"sx": np.array(0.02, np.float32), "zx": np.array(120, np.uint8), "w": w}
    c |= {"s": s.astype(np.float32), "z": np.zeros(co, np.int8), "b": b}
    at: dict[str, Any] = {"pads": [k // 2] * 4, "strides": [stride] * 2, "kernel_shape": [k, k]}
    node = helper.make_node
    reals = {"v": (w * c["s"].reshape(-1, 1, 1, 1)).astype(np.float32)}
    weight = node("DequantizeLinear", ["w", "s", "z"], ["v"], axis=0)
    nodes = [node("DequantizeLinear", ["x", "sx", "zx"], ["r"]), node("Conv", ["r", "v", "b"], ["y"], **at)]
    return {
        FLOAT: session([weight, *nodes], c),
        PACKED: session(nodes, c | reals),
        SUM: sum_form(shape, c, signed=False),
        PRODUCT: product_form(shape, c),
        QUANTIZED: quantized_form(Grouped(batch, ci, co, (size, size), k, stride=stride), w, s),
        SIGNED: sum_form(shape, c, signed=True),
    }


def measure(shape: Shape, runs: int) -> dict[str, float]:
    """Least nanoseconds of each form, for the whole batch, by kernel name."""
    rng = np.random.default_rng(3)
    x = rng.integers(0, 256, (shape.batch, shape.inputs, shape.size, shape.size)).astype(np.uint8)
    sessions = forms(shape, rng)
    last, signed = np.ascontiguousarray(x.transpose(0, 2, 3, 1)), x.view(np.int8)
    times: dict[str, list[int]] = {name: [] for name in sessions}
    for _ in range(runs + 2):
        for name, one in sessions.items():
            feed = {"x": last if name == QUANTIZED else signed if name == SIGNED else x}
            start = time.perf_counter_ns()
            one.run(None, feed)
            times[name].append(time.perf_counter_ns() - start)
    return {name: min(t) for name, t in times.items()}


def least_time(one: Any, x: Array, runs: int, **feeds: Array) -> float:
    """Nanoseconds of the fastest of some runs. feeds: inputs besides `x`."""
    times: list[int] = []
    for _ in range(runs + 2):
        start = time.perf_counter_ns()
        one.run(None, {"x": x, **feeds})
        times.append(time.perf_counter_ns() - start)
    return min(times)


def taken_in_groups(shape: Grouped, runs: int) -> float:
    """Least nanoseconds of QLinearConv, channels last."""
    rng, kernel = np.random.default_rng(3), (shape.kernel,) * len(shape.sizes)
    weight = rng.integers(-127, 128, (shape.outputs, shape.inputs // shape.groups, *kernel)).astype(np.int8)
    one = quantized_form(shape, weight, rng.uniform(0.01, 0.02, shape.outputs))
    x = rng.integers(0, 256, (shape.batch, *shape.sizes, shape.inputs)).astype(np.uint8)
    return least_time(one, x, runs)
