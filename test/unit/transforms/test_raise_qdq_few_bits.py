"""Weights of few bits as tools write them: negative scales, scales along another axis than the node says, moves."""

from __future__ import annotations

from typing import Any

import ml_dtypes
import numpy as np
import pytest
from onnx import ModelProto, TensorProto, helper, numpy_helper
from onnx_models import onnx_model

from qdialect import numerics
from qdialect.api import compile
from qdialect.evaluation.session import run
from qdialect.numerics.signs import turn_negative
from qdialect.onnx_io.exporter import export_model
from qdialect.onnx_io.importer import import_model

ROWS, INPUTS, OUTPUTS = 3, 64, 6
TARGETS = ["generic", "onnxruntime", "openvino", "tensorrt"]


@pytest.mark.parametrize("dtype", ["int8", "uint8"])
@pytest.mark.parametrize("zero", [-128, -1, 0, 1, 3, 127])
def test_every_integer_under_a_negative_scale(dtype: str, zero: int):
    limits = np.iinfo(dtype)
    zero = zero if dtype == "int8" else zero + 128
    every = np.arange(limits.min, limits.max + 1).astype(dtype)
    q, zeros = np.stack([every, every]), np.array([zero, zero])
    turned = turn_negative(q, np.array([True, False]), zeros, limits.min, limits.max, axis=0)
    assert turned.zero_points is not None
    assert turned.stored.dtype == q.dtype
    after = numerics.dequantize(turned.stored, [0.3, 0.7], turned.zero_points, axis=0)
    np.testing.assert_array_equal(after, numerics.dequantize(q, [-0.3, 0.7], zeros, axis=0))


def product(
    kind: int,
    scales: np.ndarray,
    stored: np.ndarray,
    zeros: np.ndarray | None,
    attributes: dict[str, Any],
    *,
    transposed: bool = False,
) -> ModelProto:
    """x @ dequantized, or a Gemm with the weight the other way round."""
    inputs, outputs = stored.shape[::-1] if transposed else stored.shape
    weights = [
        helper.make_tensor("w", kind, stored.shape, stored.flatten().tolist()),
        numpy_helper.from_array(scales.astype(np.float32), "s"),
    ]
    if zeros is not None:
        weights.append(helper.make_tensor("z", kind, zeros.shape, zeros.flatten().tolist()))
    nodes = [
        helper.make_node("DequantizeLinear", [w.name for w in weights], ["r"], "dequantize", **attributes),
        helper.make_node("Gemm", ["x", "r"], ["y"], "product", transB=1)
        if transposed
        else helper.make_node("MatMul", ["x", "r"], ["y"], "product"),
    ]
    values = [
        helper.make_tensor_value_info(n, TensorProto.FLOAT, s)
        for n, s in (("x", [ROWS, inputs]), ("y", [ROWS, outputs]))
    ]
    return onnx_model(nodes, values[:1], values[1:], weights, opset=21)


def compiled(model: ModelProto, target: str) -> tuple[ModelProto, list[str]]:
    module = import_model(ModelProto.FromString(model.SerializeToString()))
    compile(module, target)
    after = export_model(module)
    return after, [n.op_type for n in after.graph.node if n.op_type != "Constant"]


def assert_close(after: ModelProto, wanted: np.ndarray, feeds: dict[str, Any]) -> None:
    """To the rounding of float sums."""
    np.testing.assert_allclose(run(after, feeds)[0], wanted, rtol=0, atol=1e-5 * np.abs(wanted).max())


def feeds_of(draw: np.random.Generator) -> dict[str, Any]:
    return {"x": draw.normal(0, 1, (ROWS, INPUTS)).astype(np.float32)}


@pytest.mark.parametrize("target", TARGETS)
@pytest.mark.parametrize("block", [0, 16])
@pytest.mark.parametrize("kind", ["INT4", "UINT4", "INT8", "UINT8"])
def test_negative_scales_of_low_bit_weights_keep_the_numbers(kind: str, block: int, target: str):
    """As NNCF writes symmetric weights: the integer of the largest magnitude is the lowest, whatever its sign."""
    draw, bits, low = (
        np.random.default_rng(3),
        int(kind[-1]),
        0 if kind[0] == "U" else -(1 << int(kind[-1]) - 1),
    )
    shape = (INPUTS // block, OUTPUTS) if block else (OUTPUTS,)
    stored = draw.integers(low, low + (1 << bits), (INPUTS, OUTPUTS))
    zeros = None if low else np.full(shape, 1 << bits - 1)
    scales = draw.uniform(0.01, 0.1, shape) * draw.choice([-1, 1], shape)
    attributes = {"axis": 0, "block_size": block} if block else {"axis": -1}
    before = product(getattr(TensorProto, kind), scales, stored, zeros, attributes)
    feeds = feeds_of(draw)
    after, ops = compiled(before, target)
    assert_close(after, run(before, feeds)[0], feeds)
    if target == "onnxruntime" and bits == 4:
        assert ops == ["MatMulNBits"]


@pytest.mark.parametrize("target", TARGETS)
@pytest.mark.parametrize("kind", ["INT4", "UINT4"])
def test_scales_that_fit_another_axis(kind: str, target: str):
    """NNCF and Model Optimizer say axis 0 of any weight in blocks; no runtime runs it where it is axis 1."""
    draw, low = np.random.default_rng(4), 0 if kind[0] == "U" else -8
    stored = draw.integers(low, low + 16, (OUTPUTS, INPUTS))
    scales, zeros = (
        draw.uniform(0.01, 0.1, (OUTPUTS, INPUTS // 16)),
        draw.integers(low, low + 16, (OUTPUTS, INPUTS // 16)),
    )
    models = [
        product(
            getattr(TensorProto, kind),
            scales,
            stored,
            zeros,
            {"axis": axis, "block_size": 16},
            transposed=True,
        )
        for axis in (0, 1)
    ]
    feeds = feeds_of(draw)
    after, ops = compiled(models[0], target)
    assert_close(after, run(models[1], feeds)[0], feeds)
    assert ops == compiled(models[1], target)[1]


def test_more_blocks_than_a_type_carries_keep_their_negative_scales_no_more():
    """The node stays, as the type would be too long, with scales that are positive and zero points."""
    draw, outputs = np.random.default_rng(5), 1400
    stored = draw.integers(-8, 8, (INPUTS, outputs))
    scales = draw.uniform(0.01, 0.1, (INPUTS // 16, outputs)) * draw.choice([-1, 1], (INPUTS // 16, outputs))
    before = product(TensorProto.INT4, scales, stored, None, {"axis": 0, "block_size": 16})
    feeds = feeds_of(draw)
    after, ops = compiled(before, "onnxruntime")
    assert ops == ["DequantizeLinear", "MatMul"]
    assert min(numpy_helper.to_array(t).min() for t in after.graph.initializer if t.data_type == 1) > 0
    assert {numpy_helper.to_array(t).dtype for t in after.graph.initializer if t.data_type != 1} == {
        np.dtype(ml_dtypes.int4)
    }
    assert_close(after, run(before, feeds)[0], feeds)


@pytest.mark.parametrize("target", [one for one in TARGETS if one != "generic"])  # which keeps two bits
@pytest.mark.parametrize("kind", ["INT2", "UINT2"])
@pytest.mark.parametrize("result", [True, False])
def test_a_session_takes_integer_products_of_two_bits(kind: str, target: str, result: bool):
    """It makes them of casts whatever the bits are, and then has no kernel for two."""
    rng, zero = np.random.default_rng(2), int(kind == "UINT2")
    stored = rng.integers(-2, 2, (INPUTS, OUTPUTS)) + 2 * zero
    number = TensorProto.DataType.Value(kind)
    weights = [
        helper.make_tensor("w", number, stored.shape, stored.flatten().tolist()),
        helper.make_tensor("wz", number, [], [zero]),
        numpy_helper.from_array(np.array(0.1, np.float32), "ws"),
        numpy_helper.from_array(np.array(0.03, np.float32), "s"),
        numpy_helper.from_array(np.array(0.0371, np.float32), "t"),
        numpy_helper.from_array(np.array(120, np.uint8), "z"),
    ]
    nodes = [
        helper.make_node("QuantizeLinear", ["x", "s", "z"], ["q"]),
        helper.make_node("DequantizeLinear", ["q", "s", "z"], ["d"]),
        helper.make_node("DequantizeLinear", ["w", "ws", "wz"], ["v"]),
        helper.make_node("Gemm", ["d", "v"], ["m"]),
        helper.make_node("QuantizeLinear", ["m", "t", "z"], ["p"]),
        helper.make_node("DequantizeLinear", ["p", "t", "z"], ["y"]),
    ]
    shapes = {"x": (ROWS, INPUTS), "y" if result else "m": (ROWS, OUTPUTS)}
    values = [helper.make_tensor_value_info(n, TensorProto.FLOAT, s) for n, s in shapes.items()]
    model = onnx_model(nodes if result else nodes[:4], values[:1], values[1:], weights, opset=25)
    feeds = {"x": rng.normal(0, 1, (ROWS, INPUTS)).astype(np.float32)}
    expected = run(model, feeds)[0]
    module = import_model(model)
    compile(module, target)
    # No sum is near the middle of two steps, so that 1e-5 is for sums of reals in another order.
    np.testing.assert_allclose(run(export_model(module), feeds, optimize=True)[0], expected, atol=1e-5)
