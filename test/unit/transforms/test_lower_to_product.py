"""Convolutions of activations quantized at run time, as matrix products, on numbers."""

from pathlib import Path
from typing import Any

import numpy as np
import onnx
import onnx.helper as oh
import pytest
from onnx_models import onnx_model
from xdsl.context import Context

import qdialect
from qdialect.evaluation import session as oracle
from qdialect.onnx_io.exporter import export_model
from qdialect.onnx_io.importer import import_model
from qdialect.targets import Target
from qdialect.targets.pricing import PRODUCT, QUANTIZE, SIGNED, SUM, TERMS
from qdialect.transforms.infer_shapes import InferShapesPass
from qdialect.transforms.lower_to_product import REST, LowerToProductPass

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


FREE: dict[str, float] = dict.fromkeys(TERMS, 0.0)
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
