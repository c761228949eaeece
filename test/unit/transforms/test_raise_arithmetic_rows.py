"""Rows quantized at run time by arithmetic, as torchao's dynamic quantization is exported: products of integers."""

from __future__ import annotations

from typing import Any

import numpy as np
import numpy.typing as npt
import onnx
import onnx.helper as oh
import onnx.numpy_helper as onh
import onnxruntime
import pytest

import qdialect
from qdialect.evaluation.session import run

Array = npt.NDArray[Any]
RNG = np.random.default_rng(3)
K, N = 96, 64
EPSILON = np.float32(1e-5)


def model(kind: str, scales: Array, rank: int) -> tuple[onnx.ModelProto, Array]:
    """x in 8 bits, a scale for each row; its integers, or the numbers that they stand for, times a stored weight."""
    w = RNG.integers(-127, 128, (K, N)).astype(np.int8)
    tensors: dict[str, Array] = {
        "w": w, "ws": scales, "most": np.array(127, np.float32), "low": np.array(-128, np.float32),
        "least": np.array(EPSILON, np.float32), "axis": np.array([-1], np.int64),
    }  # fmt: skip
    nodes = [
        oh.make_node("Abs", ["x"], ["size"]),
        oh.make_node("ReduceMax", ["size", "axis"], ["top"], keepdims=1),
        oh.make_node("Div", ["top", "most"], ["ratio"]),
        oh.make_node("Max", ["ratio", "least"], ["s"]),
        oh.make_node("Div", ["x", "s"], ["d"]),
        oh.make_node("Round", ["d"], ["r"]),
        oh.make_node("Clip", ["r", "low", "most"], ["c"]),
        oh.make_node("Cast", ["c"], ["q"], to=3),
        oh.make_node("Cast", ["q"], ["f"], to=1),
        oh.make_node("Cast", ["w"], ["wf"], to=1),
    ]
    if kind == "dequantized":
        nodes += [
            oh.make_node("Mul", ["f", "s"], ["xd"]),
            oh.make_node("Mul", ["wf", "ws"], ["wd"]),
            oh.make_node("MatMul", ["xd", "wd"], ["y"], "product"),
        ]
    else:
        left = {"integers": "f", "rounded": "c"}.get(kind, "f")
        nodes += [
            oh.make_node("MatMul", [left, "wf"], ["p"], "product"),
            oh.make_node("Mul", ["p", "s"], ["ps"]),
            oh.make_node("Mul", ["ps", "ws"], ["y"]),
        ]
    shape = ["rows", K] if rank == 2 else [2, "rows", K]
    graph = oh.make_graph(
        nodes,
        "g",
        [oh.make_tensor_value_info("x", 1, shape)],
        [oh.make_tensor_value_info("y", 1, None)],
        [onh.from_array(np.asarray(value), name) for name, value in tensors.items()],
    )
    return oh.make_model(graph, opset_imports=[oh.make_opsetid("", 18)], ir_version=9), w


def meant(x: Array, w: Array, scales: Array) -> Array:
    s = np.maximum(np.abs(x).max(axis=-1, keepdims=True) / np.float32(127), EPSILON)
    q = np.clip(np.rint(x / s), -128, 127).astype(np.float64)
    return (q @ w.astype(np.float64)) * s * scales


SCALES = {
    "columns": (RNG.random(N) * 0.01 + 0.001).astype(np.float32),
    "one": np.array(0.004, np.float32),
}


@pytest.mark.parametrize("target", ["onnxruntime", "generic"])
@pytest.mark.parametrize("rank", [2, 3])
@pytest.mark.parametrize("scales", SCALES)
@pytest.mark.parametrize("kind", ["integers", "rounded", "dequantized"])
def test_rows_of_the_run_are_multiplied_as_integers(kind: str, scales: str, rank: int, target: str):
    original, w = model(kind, SCALES[scales], rank)
    module = qdialect.load(original)
    report = qdialect.compile(module, target=target)
    assert report.totals.share == 1, str(report)
    result = qdialect.to_model(module)
    x = RNG.normal(size=(5, K) if rank == 2 else (2, 5, K)).astype(np.float32)
    true = meant(x, w, SCALES[scales])
    session = onnxruntime.InferenceSession(result.SerializeToString())
    for y in (run(result, {"x": x})[0], np.asarray(session.run(None, {"x": x})[0])):
        assert np.abs(y - true).max() <= 1e-4 * np.abs(true).max()


@pytest.mark.parametrize("kind", ["integers", "rounded", "dequantized"])
def test_at_exact_rows_of_the_run_give_the_same_bits(kind: str):
    original, _ = model(kind, SCALES["columns"], 2)
    module = qdialect.load(original)
    qdialect.compile(module, target="generic", exactness="exact")
    x = RNG.normal(size=(5, K)).astype(np.float32)
    np.testing.assert_array_equal(run(qdialect.to_model(module), {"x": x})[0], run(original, {"x": x})[0])
