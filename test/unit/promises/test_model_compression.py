"""Quantizers of Sony's Model Compression Toolkit, on numbers: against the arithmetic that its package states."""

from __future__ import annotations

from typing import Any

import numpy as np
import numpy.typing as npt
import onnx
import onnx.helper as oh
import onnx.numpy_helper as onh
import pytest

import qdialect
from qdialect.evaluation.session import run
from qdialect.onnx_io.exporter import export_model
from qdialect.onnx_io.importer import import_model

Array = npt.NDArray[Any]
DOMAIN = "mct_quantizers"
RNG = np.random.default_rng(5)
X = np.concatenate([RNG.normal(0, 3, (6, 8)), np.arange(-24, 24).reshape(6, 8) / 16]).astype(np.float32)


def symmetric(x: Array, threshold: Array | np.float32, bits: int, signed: bool) -> Array:
    scale = threshold / np.float32(2 ** (bits - signed))
    low, high = (-threshold if signed else np.zeros_like(threshold)), threshold - scale
    return (np.round(np.clip(x, low, high) / scale) * scale).astype(np.float32)


def uniform(x: Array, low: Array | np.float32, high: Array | np.float32, bits: int) -> Array:
    low, high = np.minimum(low, 0), np.maximum(high, 0)
    scale = (high - low) / np.float32(2**bits - 1)
    moved = scale * np.round(low / scale)
    return np.round((np.clip(x, moved, high - low + moved) - moved) / scale) * scale + moved


def model(
    node: onnx.NodeProto, x: Array, constants: dict[str, Array], *, weight: bool = False
) -> onnx.ModelProto:
    nodes = [node]
    if weight:
        nodes.append(oh.make_node("MatMul", ["x", "y0"], ["y"], "product"))
        nodes.insert(
            0,
            oh.make_node(
                "ActivationPOTQuantizer", ["i"], ["x"], domain=DOMAIN, num_bits=8, signed=1, threshold=4.0
            ),
        )
    tensors = [onh.from_array(np.asarray(v, np.float32), k) for k, v in constants.items()]
    graph = oh.make_graph(
        nodes,
        "g",
        [oh.make_tensor_value_info("i" if weight else "x", 1, x.shape)],
        [oh.make_tensor_value_info("y", 1, None)],
        tensors,
    )
    return oh.make_model(
        graph, opset_imports=[oh.make_opsetid("", 16), oh.make_opsetid(DOMAIN, 1)], ir_version=8
    )


def compiled(original: onnx.ModelProto, target: str, exactness: str) -> onnx.ModelProto:
    module = import_model(original)
    qdialect.compile(module, target=target, exactness=exactness)
    return export_model(module)


@pytest.mark.parametrize("listed", [False, True])
@pytest.mark.parametrize("signed", [0, 1])
@pytest.mark.parametrize(("bits", "threshold"), [(8, 4.0), (4, 1.0), (2, 2.0), (16, 8.0)])
def test_activations_in_powers_of_two(bits: int, threshold: float, signed: int, listed: bool):
    stated = [threshold] if listed else threshold
    node = oh.make_node(
        "ActivationPOTQuantizer", ["x"], ["y"], domain=DOMAIN, num_bits=bits, signed=signed, threshold=stated
    )
    y = run(compiled(model(node, X, {}), "generic", "exact"), {"x": X})[0]
    np.testing.assert_array_equal(y, symmetric(X, np.float32(threshold), bits, bool(signed)))


@pytest.mark.parametrize("target", ["generic", "onnxruntime", "tensorrt", "openvino"])
@pytest.mark.parametrize("signed", [0, 1])
@pytest.mark.parametrize(("bits", "threshold"), [(8, 3.7), (3, 1.1)])
def test_symmetric_activations(bits: int, threshold: float, signed: int, target: str):
    node = oh.make_node(
        "ActivationSymmetricQuantizer",
        ["x"],
        ["y"],
        domain=DOMAIN,
        num_bits=bits,
        signed=signed,
        threshold=threshold,
    )
    y = run(compiled(model(node, X, {}), target, "exact"), {"x": X})[0]
    np.testing.assert_array_equal(y, symmetric(X, np.float32(threshold), bits, bool(signed)))


@pytest.mark.parametrize("listed", [False, True])
@pytest.mark.parametrize(("low", "high"), [(-1.0, 3.0), (-2.2, 2.9), (0.5, 3.0), (-3.0, -1.0)])
@pytest.mark.parametrize("bits", [8, 4])
def test_uniform_activations(bits: int, low: float, high: float, listed: bool):
    ranges: dict[str, Any] = {"min_range": [low] if listed else low, "max_range": [high] if listed else high}
    node = oh.make_node("ActivationUniformQuantizer", ["x"], ["y"], domain=DOMAIN, num_bits=bits, **ranges)
    result = compiled(model(node, X, {}), "generic", "close")
    assert {n.domain for n in result.graph.node} == {""}
    gap = np.abs(run(result, {"x": X})[0] - uniform(X, np.float32(low), np.float32(high), bits))
    step = (max(high, 0) - min(low, 0)) / (2**bits - 1)
    assert gap.max() <= 1.001 * step
    assert (gap > 1e-4 * step + 1e-6).mean() < 0.05  # near ties


@pytest.mark.parametrize("as_operand", [False, True])
@pytest.mark.parametrize("axis", [None, 0, 1])
@pytest.mark.parametrize("kind", ["POT", "Symmetric"])
def test_weights_are_stored_as_integers(kind: str, axis: int | None, as_operand: bool):
    weight = RNG.normal(0, 1, (8, 5)).astype(np.float32)
    threshold = np.exp2(RNG.integers(-1, 2, 1 if axis is None else weight.shape[axis])).astype(np.float32)
    stated: dict[str, Any] = {"num_bits": 8, "per_channel": int(axis is not None), "channel_axis": axis or 0}
    inputs = ["w"]
    constants: dict[str, Array] = {"w": weight}
    if as_operand:
        inputs, constants = ["w", "t"], {"w": weight, "t": threshold}
    else:
        stated["threshold"] = threshold.tolist()
    node = oh.make_node(f"Weights{kind}Quantizer", inputs, ["y0"], domain=DOMAIN, **stated)
    original = model(node, X, constants, weight=True)
    along = threshold.reshape(-1, 1) if axis == 0 else threshold
    meant = symmetric(X, np.float32(4), 8, True).astype(np.float64) @ symmetric(weight, along, 8, True)
    y = run(compiled(original, "generic", "exact"), {"i": X})[0]
    np.testing.assert_allclose(y, meant, rtol=1e-6, atol=1e-5)
    if axis != 0:  # scales along the summed axis have no kernel
        report = qdialect.compile(import_model(original), target="onnxruntime")
        assert report.totals.share == 1, str(report)


@pytest.mark.parametrize("axis", [None, 1])
def test_uniform_weights_are_stored_as_integers(axis: int | None):
    weight = RNG.normal(0, 1, (8, 5)).astype(np.float32)
    low, high = (weight.min(axis=0), weight.max(axis=0)) if axis else (weight.min()[None], weight.max()[None])
    node = oh.make_node(
        "WeightsUniformQuantizer", ["w", "a", "b"], ["y0"], domain=DOMAIN, num_bits=8, per_channel=int(bool(axis)),
        channel_axis=1,
    )  # fmt: skip
    original = model(node, X, {"w": weight, "a": low, "b": high}, weight=True)
    report = qdialect.compile(import_model(original), target="onnxruntime")
    assert report.totals.share == 1, str(report)
    meant = symmetric(X, np.float32(4), 8, True).astype(np.float64) @ uniform(weight, low, high, 8)
    gap = np.abs(run(compiled(original, "generic", "close"), {"i": X})[0] - meant)
    assert gap.max() < 0.1


@pytest.mark.parametrize(
    "operator", ["WeightsLUTSymmetricQuantizer", "WeightsLUTPOTQuantizer", "ActivationLutPOTQuantizer"]
)
def test_tables_of_values_are_named_as_not_read(operator: str):
    node = oh.make_node(
        operator, ["w"], ["y0"], domain=DOMAIN, num_bits=2, threshold=[1.0], lut_values=[-8.0, 0.0, 3.0, 6.0]
    )
    report = qdialect.compile(import_model(model(node, X, {"w": np.ones((8, 2))}, weight=True)))
    blocked = next(one for one in report.layers if one.node == "product").reasons[0].blocked
    assert blocked.id == "unknown-operator"
    assert blocked.message == f"the operand comes from mct_quantizers.{operator}, which is not read"


@pytest.mark.parametrize("missing", ["num_bits", "threshold"])
def test_a_quantizer_without_its_parameters_stays(missing: str):
    stated: dict[str, Any] = {"num_bits": 8, "threshold": 1.0, "signed": 1}
    del stated[missing]
    node = oh.make_node("ActivationSymmetricQuantizer", ["x"], ["y"], domain=DOMAIN, **stated)
    report = qdialect.compile(import_model(model(node, X, {})))
    assert "invalid-parameters" in {remark.blocked.id for remark in report.remarks}
