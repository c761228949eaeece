"""QONNX's Quant that rounds down, up, to zero or away from it, on numbers: against its definition."""

from __future__ import annotations

from collections.abc import Callable
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
from qdialect.onnx_io.exporter import export_model

Array = npt.NDArray[Any]
ROUND: dict[str, Callable[[Array], Array]] = {
    "FLOOR": np.floor,
    "CEIL": np.ceil,
    "DOWN": np.trunc,
    "ROUND_TO_ZERO": np.trunc,
    "UP": lambda x: np.sign(x) * np.ceil(np.abs(x)),
    "HALF_UP": lambda x: np.sign(x) * np.floor(np.abs(x) + 0.5),
    "HALF_DOWN": lambda x: np.sign(x) * np.ceil(np.abs(x) - 0.5),
}
BOTH_SIGNS = ["FLOOR", "CEIL", "HALF_UP", "HALF_DOWN"]
TARGETS = ["onnxruntime", "generic", "openvino"]
SHAPE = (6, 8)
REALS = np.random.default_rng(5).normal(0, 4, SHAPE).astype(np.float32)


def quant(x: Array, scale: Any, zero: float, bits: int, mode: str, signed: int) -> Array:
    """The integers, by QONNX's definition: numbers are clipped, then rounded."""
    low = -(1 << (bits - 1)) if signed else 0
    numbers = np.clip(x / scale + np.float32(zero), low, low + (1 << bits) - 1)
    return np.asarray(ROUND[mode](numbers), np.float32)


def model(
    scale: Any, zero: float, bits: int, mode: str, signed: int, weight: Array | None = None
) -> onnx.ModelProto:
    """Quant(x), or x + Quant(weight)."""
    attributes: dict[str, Any] = {"rounding_mode": mode, "signed": signed}
    name = "x" if weight is None else "w"
    nodes = [
        oh.make_node(
            "Quant", [name, "s", "z", "b"], ["q"], "q", domain="qonnx.custom_op.general", **attributes
        )
    ]
    if weight is not None:
        nodes.append(oh.make_node("MatMul", ["x", "q"], ["y"]))
    else:
        nodes[0].output[0] = "y"
    held = {"s": scale, "z": np.float32(zero), "b": np.float32(bits)} | (
        {} if weight is None else {"w": weight}
    )
    graph = oh.make_graph(
        nodes, "g",
        [oh.make_tensor_value_info("x", 1, SHAPE if weight is None else (2, SHAPE[0]))],
        [oh.make_tensor_value_info("y", 1, None)],
        [onh.from_array(np.asarray(v, np.float32), k) for k, v in held.items()],
    )  # fmt: skip
    imports = [oh.make_opsetid("", 17), oh.make_opsetid("qonnx.custom_op.general", 1)]
    return oh.make_model(graph, opset_imports=imports, ir_version=8)


def compiled(original: onnx.ModelProto, target: str, exactness: str = "close") -> tuple[Any, onnx.ModelProto]:
    report = qdialect.compile(qdialect.load(original), target=target, exactness=exactness)
    return report, export_model(report.module)


def results(result: onnx.ModelProto, x: Array) -> list[Array]:
    """Without optimization, and in a default session."""
    session = onnxruntime.InferenceSession(result.SerializeToString())
    return [run(result, {"x": x})[0], np.asarray(session.run(None, {"x": x})[0])]


SCALES: dict[str, Any] = {
    "tensor": np.float32(0.37),
    "power": np.float32(0.25),
    "channel": np.linspace(0.1, 0.9, 8, dtype=np.float32),
    "rows": np.linspace(0.1, 0.9, 6, dtype=np.float32).reshape(6, 1),
}


@pytest.mark.parametrize("bits", [2, 4, 8, 12])
@pytest.mark.parametrize("scale", SCALES)
@pytest.mark.parametrize("mode", BOTH_SIGNS)
def test_numbers_of_both_signs_are_rounded_as_stated(mode: str, scale: str, bits: int):
    _, result = compiled(model(SCALES[scale], 0, bits, mode, 1), "generic")
    assert "Quant" not in {node.op_type for node in result.graph.node}
    wanted = quant(REALS, SCALES[scale], 0, bits, mode, 1) * SCALES[scale]
    for got in results(result, REALS):
        np.testing.assert_array_equal(got, wanted)


@pytest.mark.parametrize("target", TARGETS)
@pytest.mark.parametrize("zero", [0, 3])
@pytest.mark.parametrize("mode", ROUND)
def test_numbers_without_a_sign_are_rounded_as_stated(mode: str, zero: int, target: str):
    _, result = compiled(model(SCALES["tensor"], zero, 8, mode, 0), target)
    assert "Quant" not in {node.op_type for node in result.graph.node}
    wanted = (quant(REALS, SCALES["tensor"], zero, 8, mode, 0) - zero) * SCALES["tensor"]
    for got in results(result, REALS):
        np.testing.assert_array_equal(got, wanted)


@pytest.mark.parametrize("signed", [0, 1])
@pytest.mark.parametrize("mode", ["FLOOR", "CEIL"])
@pytest.mark.parametrize("scale", [0.37, 0.25, 1.0, 0.1])
def test_multiples_of_the_scale_keep_their_integers(scale: float, mode: str, signed: int):
    """Each would be a tie half a step away, which goes to the even neighbor."""
    step = np.float32(scale)
    x = (np.resize(np.arange(-140, 140), SHAPE[0] * 40).astype(np.float32) * step).reshape(5, *SHAPE)
    original = model(step, 0, 8, mode, signed)
    original.graph.input[0].type.CopyFrom(oh.make_tensor_value_info("x", 1, x.shape).type)
    _, result = compiled(original, "generic")
    wanted = quant(x, step, 0, 8, mode, signed) * step
    for got in results(result, x):
        # x / scale itself may be off by one unit in the last place from an integer
        close = np.abs(np.rint(x / step) - x / step) > 0
        np.testing.assert_array_equal(got[~close], wanted[~close])
        assert np.abs(got - wanted).max() <= 1.001 * step


@pytest.mark.parametrize("exactness", ["exact", "close"])
@pytest.mark.parametrize("signed", [0, 1])
@pytest.mark.parametrize("mode", ROUND)
def test_a_constant_is_rounded_exactly(mode: str, signed: int, exactness: str):
    scale, zero = SCALES["channel"], 0 if signed else 5
    weight = REALS.copy()
    weight[0] = np.arange(8) / 2 * scale  # halves and integers
    _, result = compiled(model(scale, zero, 4, mode, signed, weight), "generic", exactness)
    assert "Quant" not in {node.op_type for node in result.graph.node}
    wanted = (quant(weight, scale, zero, 4, mode, signed) - zero) * scale
    got = run(result, {"x": np.eye(6, dtype=np.float32)[:2]})[0]
    np.testing.assert_allclose(got, wanted[:2], rtol=1e-6)


@pytest.mark.parametrize("mode", ["DOWN", "ROUND_TO_ZERO", "UP"])
def test_a_step_that_is_wider_at_zero_has_a_reason(mode: str):
    report, _ = compiled(model(SCALES["tensor"], 0, 8, mode, 1), "onnxruntime")
    assert [one.blocked.id for one in report.remarks] == ["unlike-a-cast"]


@pytest.mark.parametrize("mode", ["FLOOR", "HALF_UP"])
def test_what_may_differ_by_a_step_is_left_out_at_exact(mode: str):
    report, result = compiled(model(SCALES["tensor"], 0, 8, mode, 1), "onnxruntime", "exact")
    assert [node.op_type for node in result.graph.node] == ["Quant"]
    assert [one.blocked.id for one in report.remarks] == ["inexact-arithmetic"]
