"""`raise-fake-quantize` on numbers: operators of QONNX and OpenVINO against what their specifications say."""

from __future__ import annotations

from typing import Any

import numpy as np
import numpy.typing as npt
import onnx
import onnx.helper as oh
import onnx.numpy_helper as onh
import pytest
from guard_cases import Case, check_unmoved, text

import qdialect
from graphs.structure import difference
from qdialect.evaluation.session import run
from qdialect.onnx_io.exporter import export_model
from qdialect.onnx_io.importer import import_model
from qdialect.transforms import get_all_passes

Array = npt.NDArray[Any]
QONNX, OPENVINO = "qonnx.custom_op.general", "org.openvinotoolkit"
TIES = np.arange(-80, 80, 0.0625, dtype=np.float32).reshape(2, -1)
"""Every tie of a scale of 1/2 or 1/4, and values beyond any range of 7 bits."""


def quant(x: Array, scale: Array | np.float32, zero: float, bits: int, signed: int, narrow: int) -> Array:
    """QONNX's specification of Quant, in its order."""
    low = (-(2 ** (bits - 1)) + narrow) if signed else 0
    high = 2 ** (bits - 1) - 1 if signed else 2**bits - 1 - narrow
    steps = np.clip(x / scale + np.float32(zero), low, high)
    return ((np.round(steps) - np.float32(zero)) * scale).astype(np.float32)


def model(nodes: list[onnx.NodeProto], x: Array, constants: dict[str, Array]) -> onnx.ModelProto:
    graph = oh.make_graph(
        nodes,
        "g",
        [oh.make_tensor_value_info("x", 1, x.shape)],
        [oh.make_tensor_value_info("y", 1, None)],
        [onh.from_array(np.asarray(v, np.float32), k) for k, v in constants.items()],
    )
    imports = [oh.make_opsetid("", 17), oh.make_opsetid(QONNX, 1), oh.make_opsetid(OPENVINO, 1)]
    return oh.make_model(graph, opset_imports=imports, ir_version=8)


def compiled(original: onnx.ModelProto, target: str, exactness: str = "close") -> onnx.ModelProto:
    module = import_model(original)
    qdialect.compile(module, target=target, exactness=exactness)
    return export_model(module)


def operators(result: onnx.ModelProto) -> list[str]:
    return [node.op_type for node in result.graph.node]


@pytest.mark.parametrize("axis", [None, 0, 1])
@pytest.mark.parametrize("narrow", [0, 1])
@pytest.mark.parametrize("signed", [0, 1])
@pytest.mark.parametrize("bits", [2, 3, 5, 8, 12, 16])
def test_each_bit_width(bits: int, signed: int, narrow: int, axis: int | None):
    x = TIES if axis != 1 else TIES.reshape(-1, 2)
    scale = np.array(0.25 if axis is None else [0.5, 0.25], np.float32)
    scale = scale[:, None] if axis == 0 else scale
    node = oh.make_node("Quant", ["x", "s", "z", "n"], ["y"], domain=QONNX, signed=signed, narrow=narrow)
    original = model([node], x, {"s": scale, "z": np.array(0), "n": np.array(bits)})
    result = compiled(original, "generic", "exact")
    np.testing.assert_array_equal(run(result, {"x": x})[0], quant(x, scale, 0, bits, signed, narrow))
    assert "Quant" not in operators(result)


@pytest.mark.parametrize("zero", [3.0, 8.0])
def test_a_zero_point_moves_ties_alone(zero: float):
    # The operator adds it in front of the rounding: an odd one turns ties to even around.
    node = oh.make_node("Quant", ["x", "s", "z", "n"], ["y"], domain=QONNX, signed=0, narrow=0)
    original = model([node], TIES, {"s": np.array(0.5), "z": np.array(zero), "n": np.array(4)})
    gap = np.abs(
        run(compiled(original, "generic"), {"x": TIES})[0] - quant(TIES, np.float32(0.5), zero, 4, 0, 0)
    )
    tie = TIES * 2 % 1 == 0.5
    assert gap.max() <= 0.5
    assert not gap[~tie].any()
    assert gap.any() == (zero == 3.0)
    assert "Quant" in operators(compiled(original, "generic", "exact"))


@pytest.mark.parametrize(
    ("zero", "bits"), [(np.inf, 8), (0.5, 8), (np.nan, 8), (0, np.inf), (0, np.nan), (0, 7.5)]
)
def test_parameters_that_are_no_integers_are_left(zero: float, bits: float):
    node = oh.make_node("Quant", ["x", "s", "z", "n"], ["y"], domain=QONNX)
    original = model([node], TIES, {"s": np.array(0.5), "z": np.array(zero), "n": np.array(bits)})
    assert operators(compiled(original, "generic")) == ["Quant"]


def network(rng: np.random.Generator, bits: int) -> tuple[onnx.ModelProto, dict[str, Array]]:
    """A convolution as Brevitas writes it in QONNX: every tensor quantized, the bias in 32 bits."""
    c = {
        "s": np.array(0.05), "z": np.array(0), "n": np.array(8), "m": np.array(bits), "l": np.array(32),
        "w": rng.normal(size=(4, 3, 3, 2)), "ws": rng.uniform(0.2, 0.9, (4, 1, 1, 1)) / 2 ** (bits - 2),
        "b": rng.normal(size=4), "r": np.array(0.03),
    }  # fmt: skip
    c = {name: value.astype(np.float32) for name, value in c.items()}
    c["bs"] = c["s"] * c["ws"].reshape(-1)
    nodes = [
        oh.make_node("Quant", ["x", "s", "z", "n"], ["xq"], domain=QONNX, signed=1, narrow=0),
        oh.make_node("Quant", ["w", "ws", "z", "m"], ["wq"], domain=QONNX, signed=1, narrow=1),
        oh.make_node("Quant", ["b", "bs", "z", "l"], ["bq"], domain=QONNX, signed=1, narrow=0),
        oh.make_node("Conv", ["xq", "wq", "bq"], ["c"]),
        oh.make_node("Relu", ["c"], ["p"]),
        oh.make_node("Quant", ["p", "r", "z", "n"], ["y"], domain=QONNX, signed=0, narrow=0),
    ]
    return model(nodes, np.zeros((2, 3, 6, 5), np.float32), c), c


@pytest.mark.parametrize("target", ["generic", "onnxruntime", "tensorrt", "openvino"])
@pytest.mark.parametrize("bits", [3, 8])
def test_a_network_computes_in_integers(bits: int, target: str):
    rng = np.random.default_rng(bits)
    original, c = network(rng, bits)
    x = rng.normal(size=(2, 3, 6, 5)).astype(np.float32)
    result = compiled(original, target)
    assert not {"Quant"} & set(operators(result))
    if target == "onnxruntime":
        assert "QLinearConv" in operators(result)
    w, b = quant(c["w"], c["ws"], 0, bits, 1, 1), quant(c["b"], c["bs"], 0, 32, 1, 0)
    windows = np.lib.stride_tricks.sliding_window_view(quant(x, c["s"], 0, 8, 1, 0), (3, 2), (2, 3))
    sums = np.einsum("nchwij,ocij->nohw", windows.astype(np.float64), w) + b[:, None, None]
    meant = quant(np.maximum(sums, 0).astype(np.float32), c["r"], 0, 8, 0, 0)
    gap = np.abs(run(result, {"x": x})[0] - meant) / c["r"]
    assert gap.max() <= 1.01  # one step where float32 sums tie
    assert (gap > 0.01).mean() < 0.02


@pytest.mark.parametrize(("low", "high", "levels"), [(-63.5, 63.5, 255), (-64, 63.5, 256), (-3.5, 12, 32)])
def test_a_range_of_openvino(low: float, high: float, levels: int):
    node = oh.make_node("FakeQuantize", ["x", "l", "h", "l", "h"], ["y"], domain=OPENVINO, levels=levels)
    original = model([node], TIES, {"l": np.array([low]), "h": np.array([high])})
    step = (high - low) / (levels - 1)
    meant = np.round((np.clip(TIES, low, high) - low) / step) * step + low
    y = run(compiled(original, "generic"), {"x": TIES})[0]
    off_ties = np.abs((TIES / step) % 1 - 0.5) > 1e-3
    np.testing.assert_allclose(y[off_ties], meant[off_ties], atol=1e-4 * step)
    assert np.abs(y - meant).max() <= 1.001 * step
    assert "FakeQuantize" not in operators(compiled(original, "generic"))
    assert "FakeQuantize" in operators(compiled(original, "generic", "exact"))


def test_a_range_of_one_number_stays():
    node = oh.make_node("FakeQuantize", ["x", "l", "l", "l", "l"], ["y"], domain=OPENVINO, levels=256)
    original = model([node], TIES, {"l": np.array([0.5])})
    assert "FakeQuantize" in operators(compiled(original, "generic"))


@pytest.mark.parametrize("target", ["generic", "onnxruntime", "openvino"])
@pytest.mark.parametrize(("domain", "prefix"), [("com.amd.quark", "Extended"), ("com.vai.quantize", "Vitis")])
def test_casts_of_quark_are_casts(domain: str, prefix: str, target: str):
    # 16 bits in opset 17, which has none; types behind the casts are not stated.
    rng = np.random.default_rng(3)
    numbers = {"s": np.array(0.0003), "w": rng.normal(size=(4, 3, 3, 2)), "b": rng.normal(size=4)}

    def written(domain: str, prefix: str, opset: int) -> onnx.ModelProto:
        nodes = [
            oh.make_node(f"{prefix}QuantizeLinear", ["x", "s", "z"], ["q"], domain=domain),
            oh.make_node(f"{prefix}DequantizeLinear", ["q", "s", "z"], ["d"], domain=domain),
            oh.make_node("Conv", ["d", "w", "b"], ["c"]),
            oh.make_node("Relu", ["c"], ["p"]),
            oh.make_node(f"{prefix}QuantizeLinear", ["p", "s", "z"], ["r"], domain=domain),
            oh.make_node(f"{prefix}DequantizeLinear", ["r", "s", "z"], ["y"], domain=domain),
        ]
        result = model(nodes, np.zeros((2, 3, 6, 5), np.float32), numbers)
        result.graph.initializer.append(onh.from_array(np.array(-77, np.int16), "z"))
        result.opset_import[0].version = opset
        result.opset_import.extend([oh.make_opsetid(domain, 1)] if domain else [])
        return result

    x = rng.normal(size=(2, 3, 6, 5)).astype(np.float32)
    result = compiled(written(domain, prefix, 17), target)
    assert not any(node.domain == domain for node in result.graph.node)
    meant = run(written("", "", 21), {"x": x})[0]
    assert np.abs(run(result, {"x": x})[0] - meant).max() <= 0.00031  # a step where float32 sums tie


def test_the_operator_as_older_exporters_wrote_it():
    """In ONNX's own domain, with an opset whose casts have no axis; compiled again, nothing changes."""
    limits = {"l": np.array([-2.0]), "h": np.array([2 * 127 / 128])}
    limits |= {"b": np.array([0.9, 0.4]).reshape(2, 1), "a": np.array([-0.9, -0.4]).reshape(2, 1)}
    weight = np.random.default_rng(3).normal(0, 0.3, (2, 8))
    x = TIES[:, :8]
    nodes = [
        oh.make_node("FakeQuantize", ["x", "l", "h", "l", "h"], ["q"], levels=256),
        oh.make_node("FakeQuantize", ["w", "a", "b", "a", "b"], ["v"], levels=255),
        oh.make_node("Gemm", ["q", "v"], ["y"], transB=1),
    ]
    original = model(nodes, x, {**limits, "w": weight})
    original.opset_import[0].version = 10
    first = compiled(original, "onnxruntime")
    assert "FakeQuantize" not in operators(first)
    assert difference(first, compiled(first, "onnxruntime")) == ""


def _custom(domain: str, op_type: str, attributes: str = "") -> str:
    return f'{{domain = "{domain}", op_type = "{op_type}", attrs = {{{attributes}}}}}'


FROM_BELOW = _custom("qonnx.custom_op.general", "MultiThreshold", "out_bias = -32999.0 : f32")


def test_levels_that_no_stored_integer_has():
    thresholds = ", ".join(f"{k}.0" for k in range(33_000))
    body = f"""
        x: 3x4xf32
        t = [{thresholds}] : 1x33000xf32
        y = Custom(x, t) {FROM_BELOW} : 3x4xf32"""
    check_unmoved(text(Case("", "", body)), get_all_passes()["raise-fake-quantize"]()(), "storage-type")
