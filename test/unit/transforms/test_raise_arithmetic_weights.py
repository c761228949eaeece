"""Weights of stored integers, cast to float, as torchao's weight-only quantization is exported: read as casts."""

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
RNG = np.random.default_rng(9)
K, N = 160, 128
"""Large enough that float weights are not folded as constants."""
TARGETS = ("onnxruntime", "generic", "tensorrt", "openvino")

WEIGHTS = {
    "scales behind": ("behind", False, False, np.int8),
    "one scale behind": ("one behind", False, False, np.int8),
    "scales of the weight": ("weight", False, False, np.int8),
    "one scale of the weight": ("one", False, False, np.int8),
    "zero points": ("weight", True, False, np.uint8),
    "zero points, turned": ("weight", True, True, np.uint8),
    "scales behind, turned": ("behind", False, True, np.int8),
    "scales, turned": ("weight", False, True, np.int8),
    "bytes, scales behind": ("behind", False, False, np.uint8),
    "zero point, one scale behind": ("one behind", True, False, np.uint8),
}


def model(case: str, *, bias: bool = False, size: tuple[int, int] = (K, N)) -> tuple[onnx.ModelProto, Array]:
    """x times a weight of integers; and the real weight."""
    where, has_zero, is_turned, dtype = WEIGHTS[case]
    k, n = size
    limits = np.iinfo(dtype)
    stored = RNG.integers(limits.min, limits.max + 1, (k, n)).astype(dtype)
    many = "one" not in where
    scales = (RNG.random(n) * 0.01 + 0.001).astype(np.float32) if many else np.float32(0.007)
    zeros = RNG.integers(100, 150, n if where == "weight" else 1).astype(np.float32) if has_zero else None
    weight = (stored.astype(np.float64) - (0 if zeros is None else zeros)) * scales
    is_column = is_turned and many

    def column(values: Array) -> Array:
        return np.reshape(values, (-1, 1)) if is_column and np.size(values) > 1 else np.asarray(values)

    tensors: dict[str, Array] = {
        "w": np.ascontiguousarray(stored.T if is_turned else stored),
        "s": column(np.asarray(scales)),
    }
    nodes = [oh.make_node("Cast", ["w"], ["f"], "cast", to=1)]
    value = "f"
    if zeros is not None:
        tensors["z"] = column(zeros)
        nodes.append(oh.make_node("Sub", [value, "z"], ["d"], "sub"))
        value = "d"
    if "behind" not in where:
        nodes.append(oh.make_node("Mul", [value, "s"], ["v"], "scale"))
        value = "v"
    if is_turned:
        nodes.append(oh.make_node("Transpose", [value], ["t"], "turn", perm=[1, 0]))
        value = "t"
    result = "p" if "behind" in where or bias else "y"
    nodes.append(oh.make_node("MatMul", ["x", value], [result], "product"))
    if "behind" in where:
        tensors["s"] = np.asarray(scales)
        nodes.append(oh.make_node("Mul", ["p", "s"], ["r" if bias else "y"], "scale"))
        result = "r"
    if bias:
        tensors["b"] = np.arange(n, dtype=np.float32)
        nodes.append(oh.make_node("Add", [result, "b"], ["y"], "bias"))
    graph = oh.make_graph(
        nodes,
        "g",
        [oh.make_tensor_value_info("x", 1, ["rows", k])],
        [oh.make_tensor_value_info("y", 1, ["rows", n])],
        [onh.from_array(value, name) for name, value in tensors.items()],
    )
    return oh.make_model(graph, opset_imports=[oh.make_opsetid("", 18)], ir_version=9), weight


def compiled(original: onnx.ModelProto, **options: Any) -> onnx.ModelProto:
    module = qdialect.load(original)
    qdialect.compile(module, **options)
    return qdialect.to_model(module)


@pytest.mark.parametrize("bias", [False, True])
@pytest.mark.parametrize("target", TARGETS)
@pytest.mark.parametrize("case", WEIGHTS)
def test_a_weight_of_integers_is_read(case: str, target: str, bias: bool):
    original, weight = model(case, bias=bias)
    result = compiled(original, target=target)
    kinds = [node.op_type for node in result.graph.node]
    assert "Cast" not in kinds
    if target != "onnxruntime":  # which may prefer float constants
        assert "DequantizeLinear" in kinds
        assert "Mul" not in kinds
    x = RNG.normal(size=(3, K)).astype(np.float32)
    meant = x.astype(np.float64) @ weight + (np.arange(N) if bias else 0)
    session = onnxruntime.InferenceSession(result.SerializeToString())
    before = onnxruntime.InferenceSession(original.SerializeToString()).run(None, {"x": x})[0]
    largest = np.abs(meant).max()
    assert np.abs(run(result, {"x": x})[0] - meant).max() <= 1e-4 * largest
    assert np.abs(np.asarray(session.run(None, {"x": x})[0]) - before).max() <= 0.02 * largest


@pytest.mark.parametrize("case", WEIGHTS)
def test_at_exact_a_weight_of_integers_is_read_bit_for_bit(case: str):
    original, _ = model(case)
    x = RNG.normal(size=(3, K)).astype(np.float32)
    result = compiled(original, target="generic", exactness="exact")
    np.testing.assert_array_equal(run(result, {"x": x})[0], run(original, {"x": x})[0])


@pytest.mark.parametrize("target", TARGETS)
@pytest.mark.parametrize("case", ["scales behind", "scales of the weight", "zero points, turned"])
def test_the_verdict_says_that_only_the_weight_is_quantized(case: str, target: str):
    original, _ = model(case)
    report = qdialect.compile(qdialect.load(original), target=target)
    layer = next(one for one in report.layers if one.node == "product")
    assert layer.reasons[0].blocked.id != "not-quantized"


def test_integers_that_no_product_multiplies_stay_cast():
    original, _ = model("scales behind")
    original.graph.node[1].CopyFrom(oh.make_node("Pow", ["x", "f"], ["p"], "product"))
    original.graph.input[0].CopyFrom(oh.make_tensor_value_info("x", 1, [K, N]))
    assert "Cast" in [node.op_type for node in compiled(original, target="generic").graph.node]
