"""Operators that count thresholds, or shift and round sums, on numbers: against what their definitions say."""

from __future__ import annotations

from collections.abc import Sequence
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
from qdialect.onnx_io.importer import import_model

Array = npt.NDArray[Any]
RNG = np.random.default_rng(11)
DOMAINS = ("qonnx.custom_op.general", "finn.custom_op.general", "finn", "qonnx", "onnx.brevitas", "")
TARGETS = ("generic", "onnxruntime", "tensorrt", "openvino")
X = RNG.normal(0, 4, (6, 8)).astype(np.float32)


def multi_threshold(
    x: Array, thresholds: Array, scale: float = 1.0, bias: float = 0.0, axis: int = 1
) -> Array:
    """qonnx's definition: the thresholds of each channel that an element reaches are counted."""
    moved = np.moveaxis(x, axis, -1)[..., None]
    count = np.count_nonzero(moved >= thresholds, axis=-1)
    return np.moveaxis(np.float32(scale) * count.astype(np.float32) + np.float32(bias), -1, axis)


def requant_shift(x: Array, mul: Array, add: Array, div: int, levels: int, signed: int) -> Array:
    """Deeploy's kernels: 32-bit integers, rounded to nearest, ties upwards."""
    total = x.astype(np.int64) * mul.astype(np.int64) + add.astype(np.int64)
    shifted = (2 * total + div) // (2 * div)
    low = -(levels // 2) if signed else 0
    return np.clip(shifted, low, low + levels - 1).astype(np.float32)


def trunc(x: Array, scale: float, wide: int, narrow: int, mode: str) -> Array:
    """QONNX's first version of Trunc, zero point 0."""
    rounded = {"FLOOR": np.floor, "CEIL": np.ceil, "ROUND": np.round}[mode]
    step = np.float32(scale)
    return (rounded(np.round(x / step) / 2 ** (wide - narrow)) * step).astype(np.float32)


def model(
    nodes: Sequence[onnx.NodeProto], shape: Sequence[int], constants: dict[str, Array]
) -> onnx.ModelProto:
    graph = oh.make_graph(
        list(nodes),
        "g",
        [oh.make_tensor_value_info("x", 1, shape)],
        [oh.make_tensor_value_info("y", 1, None)],
        [onh.from_array(np.asarray(v, np.float32), k) for k, v in constants.items()],
    )
    domains = {node.domain for node in nodes} | {""}
    imports = [oh.make_opsetid(domain, 1 if domain else 13) for domain in sorted(domains)]
    return oh.make_model(graph, opset_imports=imports, ir_version=8)


def compiled(original: onnx.ModelProto, target: str, exactness: str = "close") -> onnx.ModelProto:
    module = import_model(original)
    qdialect.compile(module, target=target, exactness=exactness)
    return export_model(module)


def results(result: onnx.ModelProto, x: Array) -> tuple[Array, Array]:
    """Without optimization, and in a default session."""
    session = onnxruntime.InferenceSession(result.SerializeToString())
    return run(result, {"x": x})[0], np.asarray(session.run(None, {"x": x})[0])


def operators(result: onnx.ModelProto) -> set[str]:
    return {node.op_type for node in result.graph.node}


def equal_steps(count: int, step: float, first: float | None = None) -> Array:
    first = step / 2 - count // 2 * step if first is None else first
    return (first + step * np.arange(count)).astype(np.float32)


# --- MultiThreshold ---

FLOAT_CASES = {
    "signed": (equal_steps(15, 0.25)[None], 0.25, -2.0),
    "signed, integers": (equal_steps(15, 0.25)[None], 1.0, -8.0),
    "unsigned": (equal_steps(15, 0.3, 0.15)[None], 0.3, 0.0),
    "unsigned, integers": (equal_steps(255, 0.03, 0.015)[None], 1.0, 0.0),
    "another phase": (equal_steps(7, 0.7, -1.9)[None], 0.5, 0.0),
    "another phase, signed": (equal_steps(7, 0.7, -1.9)[None], 0.5, -2.0),
    "one threshold": (np.array([[0.4]], np.float32), 1.0, 0.0),
    "three bits": (equal_steps(7, 1.1)[None], 0.1, -0.4),
    "by channel": (np.stack([equal_steps(15, s) for s in np.linspace(0.1, 0.8, 8)]), 1.0, -8.0),
    "by channel, phases": (
        np.stack([equal_steps(15, s, s - 1) for s in np.linspace(0.1, 0.8, 8)]), 0.5, 0.0,
    ),
    "equal channels": (np.tile(equal_steps(15, 0.25), (8, 1)), 0.125, -1.0),
    "unsorted": (equal_steps(15, 0.25)[::-1][None], 0.25, -2.0),
}  # fmt: skip


@pytest.mark.parametrize("target", TARGETS)
@pytest.mark.parametrize("case", FLOAT_CASES)
def test_thresholds_at_equal_steps_are_a_quantize(case: str, target: str):
    thresholds, scale, bias = FLOAT_CASES[case]
    node = oh.make_node(
        "MultiThreshold",
        ["x", "t"],
        ["y"],
        domain=DOMAINS[0],
        out_scale=scale,
        out_bias=bias,
        out_dtype="INT4",
    )
    result = compiled(model([node], X.shape, {"t": thresholds}), target)
    assert "MultiThreshold" not in operators(result)
    rows = np.broadcast_to(thresholds, (X.shape[1], thresholds.shape[1]))
    near = (np.abs(X[..., None] - rows) < 2e-3 * np.abs(rows).max()).any(axis=-1)
    meant = multi_threshold(X, thresholds, scale, bias)
    for y in results(result, X):
        np.testing.assert_allclose(y[~near], meant[~near], rtol=1e-6, atol=1e-6)
        assert np.abs(y - meant).max() <= 1.001 * scale


@pytest.mark.parametrize("domain", DOMAINS)
def test_thresholds_of_each_domain_are_read(domain: str):
    node = oh.make_node("MultiThreshold", ["x", "t"], ["y"], domain=domain, out_dtype="UINT4")
    original = model([node], X.shape, {"t": equal_steps(15, 0.3, 0.15)[None]})
    result = compiled(original, "onnxruntime")
    assert "MultiThreshold" not in operators(result)
    assert np.abs(results(result, X)[0] - multi_threshold(X, equal_steps(15, 0.3, 0.15)[None])).max() <= 1


def test_at_exact_a_threshold_that_is_a_tie_stays():
    node = oh.make_node("MultiThreshold", ["x", "t"], ["y"], domain=DOMAINS[0])
    original = model([node], X.shape, {"t": equal_steps(15, 0.25)[None]})
    assert operators(compiled(original, "generic", "exact")) == {"MultiThreshold"}


@pytest.mark.parametrize(
    ("thresholds", "attributes", "reason"),
    [
        ([[0.0, 1.0, 3.0, 4.0]], {}, "unlike-a-cast"),
        ([[0.0, 0.0, 1.0]], {}, "unlike-a-cast"),
        ([[0.0, np.inf, 1.0]], {}, "unlike-a-cast"),
        ([[1.0, 1.0, 1.0]], {}, "unlike-a-cast"),
        ([[0.0]], {"out_scale": 2.0, "out_bias": -1.0}, "unlike-a-cast"),
        ([[0.0, 1.0]], {"out_scale": 2.0, "out_bias": -1.0}, "unlike-a-cast"),
        ([[0.0, 1.0]], {"out_scale": 1.0, "out_bias": 1.0}, "unlike-a-cast"),
        ([[0.0, 1.0]], {"out_scale": 1.0, "out_bias": 1e30}, "unlike-a-cast"),
        ([[0.0, 1.0], [0.0, 2.0]], {}, "invalid-parameters"),
        ([[0.0, 1.0]], {"out_scale": 0.0}, "scale-value"),
        ([[0.0, 1.0]], {"out_scale": -1.0}, "scale-value"),
        ([0.0, 1.0], {}, "invalid-op"),
    ],
)
def test_other_thresholds_stay_with_a_reason(thresholds: Any, attributes: dict[str, Any], reason: str):
    nodes = [
        oh.make_node("MultiThreshold", ["x", "t"], ["q"], domain=DOMAINS[0], **attributes),
        oh.make_node("MatMul", ["q", "w"], ["y"], "product"),
    ]
    constants = {"t": np.array(thresholds), "w": RNG.integers(-1, 2, (8, 3))}
    report = qdialect.compile(import_model(model(nodes, X.shape, constants)))
    layer = next(one for one in report.layers if one.node == "product")
    blocked = layer.reasons[0].blocked
    assert blocked.id == reason
    assert blocked.message.startswith("MultiThreshold in front of it stays in float: ")


LAYOUTS = {
    "NCHW": ((2, 4, 3, 3), "NCHW", 1),
    "NHWC": ((2, 3, 3, 4), "NHWC", 3),
    "NC": ((2, 4), "NCHW", 1),
    "rows": ((2, 5, 4), "NCHW", 2),
    "channels in front": ((2, 4, 5), "NCHW", 1),
}


@pytest.mark.parametrize("layout", LAYOUTS)
def test_thresholds_run_along_the_channels(layout: str):
    shape, name, axis = LAYOUTS[layout]
    thresholds = np.stack([equal_steps(7, s) for s in (0.2, 0.3, 0.5, 0.9)])
    node = oh.make_node(
        "MultiThreshold", ["x", "t"], ["y"], domain=DOMAINS[0], data_layout=name, out_bias=-4.0
    )
    x = RNG.normal(0, 1, shape).astype(np.float32)
    y = results(compiled(model([node], shape, {"t": thresholds}), "onnxruntime"), x)[0]
    np.testing.assert_array_equal(y, multi_threshold(x, thresholds, 1, -4, axis))


def _sums(
    product: str, behind: Sequence[onnx.NodeProto], **constants: Array
) -> tuple[onnx.ModelProto, Array, Array]:
    """x rounded to 4 bits, a product with integer weights, `behind`; an input, and the exact sums of it."""
    if product == "Conv":
        shape, w, b = (2, 3, 6, 5), RNG.integers(-3, 4, (4, 3, 3, 3)), RNG.integers(-9, 9, 4)
    else:
        shape, w, b = (6, 8), RNG.integers(-3, 4, (8, 4)), RNG.integers(-9, 9, 4)
    x = RNG.normal(0, 5, shape).astype(np.float32)
    stored = np.clip(np.round(x), -8, 7).astype(np.float64)
    nodes = [
        oh.make_node("Quant", ["x", "s", "z", "n"], ["xq"], domain=DOMAINS[0], signed=1, narrow=0),
        oh.make_node(product, ["xq", "w", *(["b"] if product != "MatMul" else [])], ["sum"], "product"),
        *behind,
    ]
    given: dict[str, Array] = {"s": np.array(1), "z": np.array(0), "n": np.array(4), "w": w, **constants}
    if product != "MatMul":
        given["b"] = b
    if product == "Conv":
        windows = np.lib.stride_tricks.sliding_window_view(stored, (3, 3), (2, 3))
        sums = np.einsum("nchwij,ocij->nohw", windows, w) + b[:, None, None]
    else:
        sums = stored @ w + (b if product == "Gemm" else 0)
    return model(nodes, shape, given), x, sums


THRESHOLDS = {
    "even": np.arange(-21, 24, 3)[None],
    "of two": np.arange(-14, 16, 2)[None],
    "fractions": np.arange(15)[None] * 2.5 - 17.2,
    "rounded up": np.ceil(np.arange(15)[None] * 2.6 - 18.1),
    "by channel": np.ceil(np.arange(15) * np.array([[1.7], [2.2], [3.6], [4]]) - 19.3),
    "unsigned": np.arange(1, 46, 3)[None],
}


@pytest.mark.parametrize("exactness", ["exact", "close"])
@pytest.mark.parametrize("product", ["MatMul", "Gemm", "Conv"])
@pytest.mark.parametrize("case", THRESHOLDS)
def test_thresholds_of_integer_sums_are_exact(case: str, product: str, exactness: str):
    thresholds = THRESHOLDS[case]
    bias = 0 if case == "unsigned" else -8
    behind = oh.make_node("MultiThreshold", ["sum", "t"], ["y"], domain="finn", out_bias=float(bias))
    original, x, sums = _sums(product, [behind], t=thresholds)
    result = compiled(original, "onnxruntime", exactness)
    assert "MultiThreshold" not in operators(result)
    meant = multi_threshold(sums, thresholds, 1, bias)
    y, default = results(result, x)
    if exactness == "exact":
        np.testing.assert_array_equal(y, meant)
    assert max(np.abs(y - meant).max(), np.abs(default - meant).max()) <= 1


@pytest.mark.parametrize("target", TARGETS)
@pytest.mark.parametrize("product", ["MatMul", "Gemm", "Conv"])
def test_products_around_thresholds_are_of_integers(product: str, target: str):
    second = "MatMul" if product == "Gemm" else product
    tail = [
        oh.make_node("MultiThreshold", ["sum", "t"], ["q"], domain="finn", out_bias=-8.0),
        oh.make_node(second, ["q", "v"], ["p"], "second"),
        oh.make_node("MultiThreshold", ["p", "t"], ["y"], domain="finn", out_bias=-8.0),
    ]
    v = RNG.integers(-1, 2, (2, 4, 1, 1) if product == "Conv" else (4, 2))
    original, _, _ = _sums(product, tail, t=np.arange(-14, 16, 2)[None], v=v)
    report = qdialect.compile(import_model(original), target=target)
    assert report.totals.share == 1, str(report)
    assert {one.node for one in report.layers if one.integer_macs} == {"product", "second"}


# --- RequantShift ---

SHIFTS: dict[str, tuple[Any, Any, int, int, int]] = {
    "scalar": (37, 0, 1024, 256, 1),
    "scalar, addend": (37, 5000, 1024, 256, 1),
    "half": (32768, 0, 65536, 256, 1),
    "one": (65536, 0, 65536, 256, 1),
    "unsigned": (70, 900, 256, 256, 0),
    "16 levels": (9, -40, 64, 16, 1),
    "16 levels, unsigned": (9, 40, 64, 16, 0),
    "by channel": ([21, 35, 50, 77], [100, -200, 0, 999], 512, 256, 1),
    "negative": ([-21, 35, -50, 77], [100, -200, 0, 999], 512, 256, 1),
    "a dead channel": ([0, 35, 50, 77], [5000, -200, 0, 999], 512, 256, 1),
    "of no power of two": (37, 11, 1000, 256, 1),
    "one bit": (30, 0, 1024, 2, 0),
}


def _requant(
    case: str, inputs: Sequence[str], domain: str = "", levels: str = "n_levels", tensors: bool = False
):
    mul, add, div, count, signed = SHIFTS[case]
    stated: dict[str, Any] = {"div": div, levels: count, "signed": signed}
    if tensors:
        stated = {k: onh.from_array(np.array([v], np.float32)) for k, v in stated.items()}
    node = oh.make_node("RequantShift", [*inputs, "mul", "add"], ["q"], "shift", domain=domain, **stated)
    return node, {"mul": np.array(mul), "add": np.array(add)}


@pytest.mark.parametrize("product", ["MatMul", "Conv", "Gemm"])
@pytest.mark.parametrize("exactness", ["exact", "close"])
@pytest.mark.parametrize("case", SHIFTS)
def test_shifted_sums_are_quantized(case: str, exactness: str, product: str):
    node, given = _requant(case, ["sum"])
    if product == "Conv":
        given = {k: v.reshape(-1, 1, 1) if v.ndim else v for k, v in given.items()}
    node.output[0] = "y"
    original, x, sums = _sums(product, [node], **given)
    result = compiled(original, "onnxruntime", exactness)
    assert "RequantShift" not in operators(result)
    _, _, div, levels, signed = SHIFTS[case]
    meant = requant_shift(sums, given["mul"], given["add"], div, levels, signed)
    y, default = results(result, x)
    if exactness == "exact":
        np.testing.assert_array_equal(y, meant)
    assert max(np.abs(y - meant).max(), np.abs(default - meant).max()) <= 1


def test_a_shift_of_rows_of_images_runs_along_their_channels():
    node, given = _requant("by channel", ["x"])
    node.output[0] = "y"
    x = RNG.integers(-900, 900, (1, 4, 7)).astype(np.float32)
    given = {k: v.reshape(4, 1, 1) for k, v in given.items()}
    result = compiled(model([node], x.shape, given), "onnxruntime", "exact")
    mul, add = (given[k].reshape(4, 1) for k in ("mul", "add"))
    np.testing.assert_array_equal(results(result, x)[0], requant_shift(x, mul, add, 512, 256, 1))


@pytest.mark.parametrize("domain", ["", "PACTOps", "ai.onnx.contrib"])
@pytest.mark.parametrize("levels", ["n_levels", "n_levels_out"])
@pytest.mark.parametrize("tensors", [False, True])
def test_shifts_of_each_spelling_are_read(domain: str, levels: str, tensors: bool):
    node, given = _requant("by channel", ["sum"], domain, levels, tensors)
    second = oh.make_node("MatMul", ["q", "v"], ["y"], "second")
    original, _, _ = _sums("MatMul", [node, second], v=RNG.integers(-5, 6, (4, 2)), **given)
    report = qdialect.compile(import_model(original), target="onnxruntime")
    assert report.totals.share == 1, str(report)
    assert not report.unknown


@pytest.mark.parametrize(
    ("changed", "reason"),
    [
        ({"mul": np.array(0.5)}, "invalid-parameters"),
        ({"div": 0.0}, "invalid-parameters"),
        ({"n_levels": 1}, "storage-type"),
        ({"n_levels": 1 << 17}, "storage-type"),
        ({"signed": None}, "invalid-parameters"),
        ({"mul": np.ones((4, 3)), "add": np.ones((4, 3))}, "weight-axis"),
        ({"mul": np.array(2.0**40)}, "storage-type"),
        ({"mul": np.arange(1, 6)}, "invalid-parameters"),
    ],
)
def test_other_shifts_stay_with_a_reason(changed: dict[str, Any], reason: str):
    stated: dict[str, Any] = {"div": 256, "n_levels": 256, "signed": 1} | {
        k: v for k, v in changed.items() if k not in ("mul", "add")
    }
    stated = {k: v for k, v in stated.items() if v is not None}
    given = {"mul": np.array(3), "add": np.array(1)} | {
        k: v for k, v in changed.items() if k in ("mul", "add")
    }
    nodes = [
        oh.make_node("RequantShift", ["x", "mul", "add"], ["q"], **stated),
        oh.make_node("MatMul", ["q", "w"], ["y"], "product"),
    ]
    original = model(nodes, (4, 3), {**given, "w": RNG.integers(-1, 2, (3, 2))})
    layer = qdialect.compile(import_model(original)).layers[-1]
    assert layer.reasons[0].blocked.id == reason


# --- Trunc ---


@pytest.mark.parametrize("exactness", ["exact", "close"])
@pytest.mark.parametrize("signed", [0, 1])
@pytest.mark.parametrize("mode", ["FLOOR", "CEIL", "ROUND"])
@pytest.mark.parametrize(
    ("wide", "narrow", "scale"), [(8, 4, 0.25), (8, 8, 0.1), (6, 2, 0.3), (10, 8, 0.0625)]
)
def test_truncation_of_quantized_numbers_is_exact(
    wide: int, narrow: int, scale: float, mode: str, signed: int, exactness: str
):
    low = -(1 << (wide - 1)) if signed else 0
    x = (np.arange(low, low + (1 << wide)) * np.float32(scale)).astype(np.float32)[None]
    nodes = [
        oh.make_node("Quant", ["x", "s", "z", "n"], ["q"], domain=DOMAINS[0], signed=signed, narrow=0),
        oh.make_node("Trunc", ["q", "s", "z", "n", "m"], ["y"], domain=DOMAINS[0], rounding_mode=mode),
    ]
    constants = {"s": np.array(scale), "z": np.array(0), "n": np.array(wide), "m": np.array(narrow)}
    result = compiled(model(nodes, x.shape, constants), "onnxruntime", exactness)
    assert "Trunc" not in operators(result)
    y, default = results(result, x)
    meant = trunc(x, scale, wide, narrow, mode)
    if exactness == "exact":
        np.testing.assert_array_equal(y, meant)
    assert max(np.abs(y - meant).max(), np.abs(default - meant).max()) <= 1.001 * scale


@pytest.mark.parametrize("domain", DOMAINS)
def test_truncation_of_each_domain_is_read(domain: str):
    nodes = [
        oh.make_node("Quant", ["x", "s", "z", "n"], ["q"], domain=domain, signed=0, narrow=0),
        oh.make_node("AveragePool", ["q"], ["p"], kernel_shape=[2, 2]),
        oh.make_node("Trunc", ["p", "s", "z", "n", "m"], ["y"], domain=domain),
    ]
    constants = {"s": np.array(0.25), "z": np.array(0), "n": np.array(8), "m": np.array(6)}
    assert operators(compiled(model(nodes, (1, 2, 4, 4), constants), "onnxruntime")).isdisjoint(
        {"Quant", "Trunc"}
    )


def test_the_second_version_of_truncation_clamps():
    x = np.arange(-128, 128, dtype=np.float32)[None] * np.float32(0.5)
    nodes = [
        oh.make_node("Quant", ["x", "s", "z", "n"], ["q"], domain=DOMAINS[0], signed=1, narrow=0),
        oh.make_node(
            "Trunc", ["q", "s", "z", "n", "r", "z", "m"], ["y"], domain=DOMAINS[0], signed=1, narrow=1
        ),
    ]
    constants = {"s": 0.5, "z": 0, "n": 8, "r": 2.0, "m": 4}
    result = compiled(
        model(nodes, x.shape, {k: np.array(v) for k, v in constants.items()}), "generic", "exact"
    )
    meant = np.floor(np.clip(x / np.float32(0.5) / 4, -7, 7)) * 2
    np.testing.assert_array_equal(results(result, x)[0], meant)


@pytest.mark.parametrize(
    ("thresholds", "reason"),
    [([[0.0, 1.0, 3.0]], "unlike-a-cast"), ([[0.0, 0.25, 0.5]], "inexact-arithmetic")],
)
@pytest.mark.parametrize("moved", [False, True])
def test_a_product_in_front_of_thresholds_that_stay_says_why(thresholds: Any, reason: str, moved: bool):
    nodes = [
        oh.make_node("MatMul", ["x", "w"], ["p"], "product"),
        *([oh.make_node("Relu", ["p"], ["r"])] if moved else []),
        oh.make_node("MultiThreshold", ["r" if moved else "p", "t"], ["y"], domain="finn"),
    ]
    constants = {"t": np.array(thresholds), "w": RNG.normal(size=(8, 3))}
    report = qdialect.compile(import_model(model(nodes, X.shape, constants)), exactness="exact")
    blocked = next(one for one in report.layers if one.node == "product").reasons[0].blocked
    assert blocked.id == reason
    assert blocked.message.startswith("MultiThreshold behind it stays in float: ")
    assert report.unknown == {"finn.MultiThreshold": 1}
    assert "1 finn.MultiThreshold; not rewritten; the runtime must support them" in str(report)
