"""Convolutions of activations quantized at run time, as matrix products, on numbers."""

from __future__ import annotations

from pathlib import Path
from typing import Any

import numpy as np
import onnx
import onnx.helper as oh
import pytest
from geometries import FREE, costs, runtime
from guard_cases import Case, ops_of, parsed, text
from onnx_models import onnx_model
from xdsl.context import Context

import qdialect
from qdialect.evaluation import session as oracle
from qdialect.onnx_io.exporter import export_model
from qdialect.onnx_io.importer import import_model
from qdialect.promises.window import Geometry
from qdialect.targets import Target
from qdialect.targets.pricing import (
    PRODUCT,
    QUANTIZE,
    SIGNED,
    SUM,
)
from qdialect.transforms import get_all_passes
from qdialect.transforms.infer_shapes import InferShapesPass
from qdialect.transforms.lower_to_product import REST, SCALING_OPS, LowerToProduct, LowerToProductPass

# operand, weight, attributes of the convolution
CASES: dict[str, tuple[tuple[int, ...], tuple[int, ...], dict[str, Any]]] = {
    "pads": ((2, 64, 9, 7), (96, 64, 3, 3), {"pads": [1, 2, 0, 1]}),
    "strides": ((1, 64, 9, 9), (96, 64, 3, 3), {"strides": [2, 3], "pads": [1, 1, 1, 1]}),
    "dilations": ((1, 128, 9, 8), (128, 128, 2, 3), {"dilations": [2, 1]}),
    "one axis": ((1, 128, 40), (128, 128, 5), {"pads": [2, 2]}),
    "one element": ((1, 64, 6, 6), (64, 64, 1, 1), {}),
}


def model(case: str, *, weight: str, biased: bool) -> onnx.ModelProto:
    """Relu, a run-time quantize, ConvInteger with its rescale and, if `biased`, a bias."""
    x, w, attributes = CASES[case]
    rng, info = np.random.default_rng(7), np.iinfo(weight)
    ones = [1] * (len(w) - 2)
    constants: dict[str, Any] = {
        "w": rng.integers(info.min, info.max + 1, w).astype(weight),
        "v": np.array(info.min + 120, weight),
        "c": np.float32(0.013),
        "b": rng.normal(size=(1, w[0], *ones)).astype(np.float32),
    }
    nodes = [
        oh.make_node("Relu", ["x"], ["r"]),
        oh.make_node("DynamicQuantizeLinear", ["r"], ["q", "s", "z"]),
        oh.make_node("ConvInteger", ["q", "w", "z", "v"], ["i"], **attributes),
        oh.make_node("Cast", ["i"], ["f"], to=1),
        oh.make_node("Mul", ["s", "c"], ["m"]),
        oh.make_node("Mul", ["f", "m"], ["a" if biased else "y"]),
        *([oh.make_node("Add", ["a", "b"], ["y"])] if biased else []),
    ]
    return onnx_model(nodes, {"x": (1, x)}, {"y": (1, [None] * len(x))}, constants, opset=13)


def compiled(proto: onnx.ModelProto, folder: Path) -> tuple[Path, list[str]]:
    """The file that `compile` writes, and its operators."""
    onnx.save(proto, folder / "before.onnx")
    module = qdialect.load(folder / "before.onnx")
    qdialect.compile(module)
    qdialect.save(module, folder / "after.onnx")
    return folder / "after.onnx", [n.op_type for n in onnx.load(folder / "after.onnx").graph.node]


@pytest.mark.parametrize("biased", [True, False])
@pytest.mark.parametrize("weight", ["uint8", "int8"])
@pytest.mark.parametrize("case", CASES)
def test_a_product_computes_what_the_sum_and_its_rescale_did(
    case: str, weight: str, biased: bool, tmp_path: Path
):
    after, ops = compiled(model(case, weight=weight, biased=biased), tmp_path)
    assert "MatMulIntegerToFloat" in ops
    assert not {"ConvInteger", "Cast", "Mul", "Add"} & set(ops)
    feeds = {"x": np.random.default_rng(3).normal(0.4, 1, CASES[case][0]).astype(np.float32)}
    expected, found = (oracle.run(str(path), feeds)[0] for path in (tmp_path / "before.onnx", after))
    np.testing.assert_allclose(found, expected, rtol=1e-5, atol=1e-4 * float(np.abs(expected).max()))


def test_elements_between_two_products_stay_channels_last(tmp_path: Path):
    proto = model("one element", weight="uint8", biased=True)
    again = [oh.make_node("Relu", ["y"], ["r2"])]
    for node in proto.graph.node[1:]:
        names = {name: f"{name}2" for name in [*node.output, *node.input] if name not in "wvcb"}
        again.append(
            oh.make_node(node.op_type, [names.get(n, n) for n in node.input], [names[o] for o in node.output])
        )
        again[-1].attribute.extend(node.attribute)
    proto.graph.node.extend(again)
    proto.graph.output[0].name = "y2"
    after, ops = compiled(proto, tmp_path)
    assert ops.count("MatMulIntegerToFloat") == ops.count("Transpose") == 2  # the first and the last
    feeds = {"x": np.random.default_rng(3).normal(0.4, 1, CASES["one element"][0]).astype(np.float32)}
    expected, found = (oracle.run(str(path), feeds)[0] for path in (tmp_path / "before.onnx", after))
    np.testing.assert_allclose(found, expected, rtol=1e-5, atol=1e-4 * float(np.abs(expected).max()))


def test_a_product_of_a_compiled_model_stays_as_it_is(tmp_path: Path):
    after, _ = compiled(model("pads", weight="uint8", biased=True), tmp_path)
    module = qdialect.load(after)
    qdialect.compile(module)
    qdialect.save(module, tmp_path / "twice.onnx")
    assert (tmp_path / "twice.onnx").read_bytes() == after.read_bytes()


PRICES: dict[str, dict[str, float]] = {
    **dict.fromkeys((PRODUCT, SUM, SIGNED, QUANTIZE), FREE),
    "Elementwise": {"Mul": 0.0},
    REST: {"least_outputs": 64.0, "packed": 0.0, "beyond": 0.0, "cache": 0.0},
}
"""Nothing costs anything, from 64 channels on."""
DEAR: dict[str, float] = {**FREE, "call": 1e6}


@pytest.mark.parametrize(
    ("priced", "biased", "now"),
    [
        ({"Elementwise": {"Mul": 1.0}}, True, 3 * 36 * 64),  # Cast, Mul and Add of 36 pixels of 64 channels
        ({"Elementwise": {"Mul": 1.0}}, False, 2 * 36 * 64),
        ({REST: {**PRICES[REST], "packed": 1.0}}, True, 64 * 64),  # the sum packs its weight each time
        ({SUM: {**FREE, "call": 500.0}, SIGNED: DEAR}, True, 500),
        ({SUM: DEAR, QUANTIZE: {**FREE, "call": 70.0, "read": 2.0}}, True, 70 + 2 * 36 * 64),
        ({SUM: DEAR, SIGNED: {**FREE, "call": 300.0}}, True, 300),
        ({"Elementwise": {"Mul": 1.0}, REST: {**PRICES[REST], "least_outputs": 65.0}}, True, 0),
    ],
)
def test_a_product_takes_85_hundredths_of_the_sums_time(
    priced: dict[str, dict[str, float]], biased: bool, now: int, monkeypatch: pytest.MonkeyPatch
):
    for call in (0.84 * now, 0.86 * now):
        costs = {**PRICES, **priced, PRODUCT: {**FREE, "call": call}}
        monkeypatch.setattr(Target, "costs", property(lambda _, costs=costs: costs))
        module = import_model(model("one element", weight="int8", biased=biased))
        for one in (InferShapesPass(), LowerToProductPass()):
            one.apply(Context(), module)
        ops = {node.op_type for node in export_model(module).graph.node}
        assert ("MatMulIntegerToFloat" in ops) == (call < 0.85 * now)


@pytest.mark.parametrize(
    ("cache", "pays"), [(36 * (64 + 4 * 64) - 10, True), (36 * (64 + 4 * 64) - 12, False)]
)
def test_columns_and_results_beyond_the_cache_cost_more(
    cache: int, pays: bool, monkeypatch: pytest.MonkeyPatch
):
    """Of 36 pixels, 64 bytes and 64 floats each; of 100, 85 may be taken: 74 and the bytes beyond."""
    costs: dict[str, dict[str, float]] = {
        **PRICES,
        SUM: {**FREE, "call": 100.0},
        SIGNED: DEAR,
        PRODUCT: {**FREE, "call": 74.0},
        REST: {**PRICES[REST], "beyond": 1.0, "cache": float(cache)},
    }
    monkeypatch.setattr(Target, "costs", property(lambda _: costs))
    module = import_model(model("one element", weight="int8", biased=True))
    for one in (InferShapesPass(), LowerToProductPass()):
        one.apply(Context(), module)
    assert ("MatMulIntegerToFloat" in {node.op_type for node in export_model(module).graph.node}) == pays


HOISTED = """
        x: 1x2x2x16xf32
        t = Transpose(x) {perm = array<i64: 0, 3, 1, 2>} : 1x16x2x2xf32
        k = VALUES
        r = Mul(t, k) : 1x16x2x2xf32
        q, s, z = DynamicQuantizeLinear(r) : 1x16x2x2xui8, f32, ui8
        y = Transpose(q) {perm = array<i64: 0, 2, 3, 1>} : 1x2x2x16xui8"""


@pytest.mark.parametrize(
    ("values", "ops"),
    [
        ("[2.0] : f32", "Mul DynamicQuantizeLinear Transpose Transpose"),
        ("[2.0] : 1xf32", "Mul DynamicQuantizeLinear Transpose Transpose"),
        ("[2.0, 3.0] : 2xf32", "Transpose Mul DynamicQuantizeLinear Transpose"),
    ],
)
def test_what_is_one_number_moves_with_its_quantize(values: str, ops: str):
    """A list of several would have to be transposed too."""
    context, module = parsed(text(Case("", "", HOISTED.replace("VALUES", values))))
    get_all_passes()["lower-to-product"]()().apply(context, module)
    assert ops_of(module) == ops


@pytest.mark.parametrize(
    ("change", "product", "pays"),
    [
        # 15 pixels in 2 images of 3 inputs, 4 outputs, 2 elements under the kernel: 100 for the sum and 2 * 6 * 4 for
        # the weight, SCALING_OPS * 30 * 4 for what stands behind it, and 30 * (6 + 16) bytes held
        ({}, 0.85 * (100 + 48 + SCALING_OPS * 120), False),
        ({}, 0.85 * (100 + 48 + SCALING_OPS * 120) - 1, True),
        ({"biased": False}, 0.85 * (100 + 48 + (SCALING_OPS - 1) * 120), False),
        ({"biased": False}, 0.85 * (100 + 48 + (SCALING_OPS - 1) * 120) - 1, True),
        ({"cache": 610.0}, 0.85 * (100 + 48 + SCALING_OPS * 120) - 51, True),
        ({"cache": 610.0}, 0.85 * (100 + 48 + SCALING_OPS * 120) - 50, False),
        ({"least_outputs": 4.0}, 1.0, True),
        ({"least_outputs": 5.0}, 1.0, False),
        ({"groups": 2}, 1.0, False),
        ({"without": SIGNED}, 1.0, False),
    ],
)
def test_a_product_takes_less_than_a_sum_and_its_scaling(change: dict[str, Any], product: float, pays: bool):
    rest = {"least_outputs": 1.0, "packed": 1.0, "beyond": 1.0, "cache": 1e6}
    prices: dict[str, Any] = costs(**{PRODUCT: product, SUM: 100.0, SIGNED: 100.0})
    prices |= {REST: rest | change, QUANTIZE: {"read": 0.0, "call": 0.0}, "Elementwise": {"Mul": 1.0}}
    prices.pop(str(change.get("without")), None)
    plane = Geometry(
        images=2, inputs=3, outputs=4, groups=change.get("groups", 1), kernel=(1, 2), strides=(1, 1), dilations=(1, 1),
        pads=((0, 0), (0, 0)), sizes=(3, 6), results=(3, 5),
    )  # fmt: skip
    assert LowerToProduct(runtime(prices)).pays(plane, biased=change.get("biased", True)) is pays
