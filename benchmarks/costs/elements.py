"""Measure what an element costs: in float operations, casts, lookups and moves."""

from collections.abc import Sequence
from typing import Any

import numpy as np
import numpy.typing as npt
import onnxruntime as ort
from onnx import NodeProto, TensorProto, helper

from costs.fitting import fitted
from qdialect.measuring.kernels import least_time, session
from qdialect.promises.elementwise import FUNCTIONS
from qdialect.promises.elementwise import NAMES as ELEMENTWISE_NAMES
from qdialect.promises.kernels import Rows
from qdialect.targets.pricing import row_terms

Array = npt.NDArray[Any]
BINARY = "Add Div Max Min Mul Pow Sub"


def elementwise_costs(runs: int, least: float) -> dict[str, float]:
    """Nanoseconds for an element of each op, of a lookup in a table of 256, and of a kernel of integers."""
    node, size, prices = helper.make_node, 2**16, dict[str, float]()
    c: dict[str, Array] = {
        "c": np.array(0.7, np.float32),
        "s": np.array(0.1, np.float32),
        "z": np.array(3, np.uint8),
    }
    real = np.random.default_rng(3).uniform(0.05, 0.95, (1, 1, 1, size)).astype(np.float32)
    byte = np.random.default_rng(3).integers(0, 256, (1, 1, 1, size)).astype(np.uint8)
    table: dict[str, Array] = {"t": np.arange(256).astype(np.uint8)}
    float32, uint8 = TensorProto.FLOAT, TensorProto.UINT8
    lookup = [node("Cast", ["x"], ["i"], to=TensorProto.INT32), node("Gather", ["t", "i"], ["y"])]
    kernel = node("QLinearSigmoid", ["x", "s", "z", "s", "z"], ["y"], domain="com.microsoft")
    scale = {k: c[k] for k in "sz"}
    cases: list[tuple[str, list[NodeProto], dict[str, Array], int, int]] = [
        ("Gather", lookup, table, uint8, uint8),
        ("QLinearSigmoid", [kernel], scale, uint8, uint8),
        ("DequantizeLinear", [node("DequantizeLinear", ["x", "s", "z"], ["y"])], scale, float32, uint8),
        ("QuantizeLinear", [node("QuantizeLinear", ["x", "s", "z"], ["y"])], scale, uint8, float32),
    ]
    for name in ELEMENTWISE_NAMES.split():
        constants = {"Clip": ["c"], "PRelu": ["c"]}.get(name, ["c"] if name in BINARY.split() else [])
        one = [node(name, ["x", *constants], ["y"])]
        cases.append((name, one, {k: c[k] for k in constants}, float32, float32))
    for f in FUNCTIONS:
        if f.name not in ELEMENTWISE_NAMES.split():
            attributes: dict[str, Any] = dict(f.attributes)
            one = [node(f.name, ["x"], ["y"], domain=f.domain, **attributes)]
            cases.append((f.name, one, {}, float32, float32))
    for name, nodes, constants, result, operand in cases:
        one = session(nodes, constants, result, operand, opset=20 if name != "Swish" else 24)
        x = byte if operand == uint8 else real + (name == "Acosh")
        prices[name] = max(least_time(one, x, runs) - least, 0.0) / size
    return prices


def quantize_costs(runs: int, least: float) -> dict[str, float]:
    """Nanoseconds for each value, and for a call, of a quantize to i8 whose zero point is computed from one for u8."""
    nodes = [
        helper.make_node("Cast", ["z"], ["a"], to=TensorProto.INT32),
        helper.make_node("Sub", ["a", "h"], ["b"]),
        helper.make_node("Cast", ["b"], ["c"], to=TensorProto.INT8),
        helper.make_node("QuantizeLinear", ["x", "s", "c"], ["y"]),
    ]
    constants: dict[str, Array] = {"h": np.array(128, np.int32), "s": np.array(0.1, np.float32)}
    one = session(nodes, constants, TensorProto.INT8, TensorProto.FLOAT, zero_point=True)
    times: list[float] = []
    for size in (1, 1000):
        x = np.ones((1, 1, size, 1000), np.float32)
        times.append(least_time(one, x, runs, z=np.array(7, np.uint8)))
    read = (times[1] - times[0]) / 999_000
    return {"read": read, "call": max(times[0] - least - 1000 * read, 0.0)}


ROWS = [(rows, size) for rows in (1, 8, 64, 1024) for size in (4, 10, 16, 64, 256, 1000)]
POOLS = [
    (channels, size, kernel, stride)
    for channels in (16, 64, 176)
    for size, kernel, stride in (
        *((16, 3, 1), (16, 2, 2), (32, 3, 2), (8, 8, 8), (12, 5, 1), (24, 2, 2)),
        *((25, 25, 1), (25, 5, 5), (14, 14, 1), (4, 2, 2)),
    )
]
"""Channels, pixels of a side, and what a window is: a row is what one window sees."""
CASTS: dict[str, Array] = {
    "s": np.array(0.05, np.float32),
    "z": np.array(120, np.uint8),
    "t": np.array(1 / 256, np.float32),
    "u": np.array(0, np.uint8),
}


def _in_float(op: str, **attributes: Any) -> list[NodeProto]:
    """An op between casts of its own: of one operand, a Sum keeps them apart."""
    return [
        helper.make_node("DequantizeLinear", ["x", "s", "z"], ["r"]),
        helper.make_node("Sum", ["r"], ["c"]),
        helper.make_node(op, ["c"], ["p"], **attributes),
        helper.make_node("QuantizeLinear", ["p", "t", "u"], ["y"]),
    ]


def _as_kernel(op: str, **attributes: Any) -> list[NodeProto]:
    return [helper.make_node(op, ["x", "s", "z", "t", "u"], ["y"], domain="com.microsoft", **attributes)]


def _least(one: ort.InferenceSession, shape: Sequence[int], runs: int) -> float:
    return least_time(one, np.random.default_rng(3).integers(0, 256, shape).astype(np.uint8), runs)


def _by_rows(counted: Sequence[Rows], times: Sequence[float]) -> dict[str, float]:
    """Fitted nanoseconds of each term, from rows and what they took."""
    terms = [row_terms(rows) for rows in counted]
    return dict(zip(terms[0], fitted([list(one.values()) for one in terms], times), strict=True))


def softmax_costs(runs: int, least: float) -> dict[str, dict[str, float]]:
    """Nanoseconds for an element, a row and a call of Softmax on bytes, as one kernel and in float between casts."""
    costs: dict[str, dict[str, float]] = {}
    kernel = _as_kernel("QLinearSoftmax", axis=-1, opset=13)
    counted = [Rows(rows, size, rows * size) for rows, size in ROWS]
    for name, nodes in (("QLinearSoftmax", kernel), ("Softmax", _in_float("Softmax", axis=-1))):
        one = session(nodes, CASTS, TensorProto.UINT8, rank=2)
        costs[name] = _by_rows(counted, [_least(one, shape, runs) - least for shape in ROWS])
    return costs


def pool_costs(runs: int, least: float) -> dict[str, dict[str, float]]:
    """The same of AveragePool: an element is a pixel under a window, a row a window."""
    costs: dict[str, dict[str, float]] = {}
    for name, written in (("QLinearAveragePool", _as_kernel), ("AveragePool", _in_float)):
        counted: list[Rows] = []
        times: list[float] = []
        for channels, size, kernel, stride in POOLS:
            nodes = written(name, kernel_shape=[kernel] * 2, strides=[stride] * 2)
            one = session(nodes, CASTS, TensorProto.UINT8)
            times.append(_least(one, (1, channels, size, size), runs) - least)
            windows = channels * ((size - kernel) // stride + 1) ** 2
            counted.append(Rows(windows, kernel**2, channels * size**2))
        costs[name] = _by_rows(counted, times)
    return costs


def move_costs(runs: int, least: float) -> dict[str, float]:
    """Nanoseconds for a byte, and for a float, that moves from the channels of a pixel to the pixels of a window."""
    prices: dict[str, float] = {}
    nodes = [
        helper.make_node("Reshape", ["x", "a"], ["r"]),
        helper.make_node("Transpose", ["r"], ["t"], perm=[0, 1, 3, 2, 4]),
        helper.make_node("Reshape", ["t", "b"], ["y"]),
    ]
    constants: dict[str, Array] = {"a": np.array([0, 0, 0, 2, 32]), "b": np.array([0, -1, 32, 16])}
    for name, kind, dtype in (
        ("move_byte", TensorProto.UINT8, np.uint8),
        ("move_float", TensorProto.FLOAT, np.float32),
    ):
        one, x = session(nodes, constants, kind, kind), np.ones((16, 16, 16, 64), dtype)
        prices[name] = (least_time(one, x, runs) - least) / x.size
    return prices
