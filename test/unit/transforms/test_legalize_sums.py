"""Products of i8 activations: the model that runs u8 instead gives the same numbers, bit for bit."""

from __future__ import annotations

from collections.abc import Callable
from pathlib import Path
from typing import Any

import numpy as np
import onnx
import pytest
from geometries import costs, runtime
from guard_cases import Case, last_op, ops_of, parsed, text
from onnx import TensorProto, helper
from onnx_models import onnx_model
from xdsl.ir import Use

import qdialect
from qdialect.evaluation.session import run
from qdialect.onnx_io.exporter import export_model
from qdialect.rewriting.driver import apply_patterns
from qdialect.targets.pricing import (
    MAX_TIME_RATIO,
    QUANTIZE,
    SIGNED,
    SIGNED_PRODUCT,
    SUM,
)
from qdialect.transforms.legalize_sums import LegalizeSum, Source


def nodes(kind: str) -> list[onnx.NodeProto]:
    """Products of integers that are quantized by a computed scale, in the spellings of exporters."""
    quantize = [helper.make_node("QuantizeLinear", ["x", "s", "z"], ["q"])]
    if kind == "arithmetic":
        quantize = [
            helper.make_node("Div", ["x", "s"], ["d"]),
            helper.make_node("Round", ["d"], ["r"]),
            helper.make_node("Clip", ["r", "low", "high"], ["c"]),
            helper.make_node("Cast", ["c"], ["q"], to=TensorProto.INT8),
        ]
    moves = [
        helper.make_node("Transpose", ["q"], ["t"], perm=[1, 0]),
        helper.make_node("Slice", ["t", "start", "end"], ["m"]),
    ]
    if kind == "wide":
        return [
            *quantize,
            *moves,
            helper.make_node("Cast", ["m"], ["a"], to=TensorProto.INT32),
            helper.make_node("Cast", ["w"], ["b"], to=TensorProto.INT32),
            helper.make_node("MatMul", ["a", "b"], ["y"]),
        ]
    zeros = [] if kind == "arithmetic" else ["z"]
    return [*quantize, *moves, helper.make_node("MatMulInteger", ["m", "w", *zeros], ["y"])]


@pytest.mark.parametrize("kind", ["quantize", "arithmetic", "wide"])
def test_activations_become_unsigned(kind: str, tmp_path: Path):
    rng = np.random.default_rng(0)
    tensors = {
        "w": rng.integers(-128, 128, (6, 3)).astype(np.int8),
        "low": np.float32(-128),
        "high": np.float32(127),
        "start": np.array([1]),
        "end": np.array([5]),
    }
    used = {name for node in nodes(kind) for name in node.input}
    inputs = [
        helper.make_tensor_value_info("x", TensorProto.FLOAT, [6, 5]),
        helper.make_tensor_value_info("s", TensorProto.FLOAT, []),
        helper.make_tensor_value_info("z", TensorProto.INT8, []),
    ]
    inputs = [one for one in inputs if one.name in used]
    outputs = [helper.make_tensor_value_info("y", TensorProto.INT32, [4, 3])]
    model = onnx_model(nodes(kind), inputs, outputs, {n: v for n, v in tensors.items() if n in used})
    path = tmp_path / "model.onnx"
    onnx.save(model, path)
    x = (rng.standard_normal((6, 5)) * 3).astype(np.float32)
    feeds = {"x": x, "s": np.float32(0.02), "z": np.int8(-9)}
    feeds = {name: np.asarray(value) for name, value in feeds.items() if name in used}

    module = qdialect.load(path)
    qdialect.compile(module)
    result = export_model(module)

    (product,) = (node for node in result.graph.node if node.op_type == "MatMulInteger")
    zeros = {one.name: one.data_type for one in result.graph.initializer}
    casts = {o: n for n in result.graph.node for o in n.output}
    zero = zeros.get(product.input[2]) or casts[product.input[2]].attribute[0].i
    assert zero == TensorProto.UINT8
    np.testing.assert_array_equal(run(result, feeds)[0], run(model, feeds)[0])


def test_the_readers_of_a_value_are_asked_once(monkeypatch: pytest.MonkeyPatch):
    """5,000 small products beside a reader of other integers would ask 5,000 times 5,000 readers."""
    count = 20
    products = [helper.make_node("MatMulInteger", ["q", "w"], [f"y{k}"]) for k in range(count)]
    quantize = helper.make_node("QuantizeLinear", ["x", "s", "z"], ["q"])
    cast = helper.make_node("Cast", ["q"], ["o"], to=TensorProto.INT32)
    inputs = [helper.make_tensor_value_info(n, TensorProto.FLOAT, d) for n, d in (("x", [3, 4]), ("s", []))]
    outputs = [helper.make_tensor_value_info(f"y{k}", TensorProto.INT32, [3, 2]) for k in range(count)]
    outputs.append(helper.make_tensor_value_info("o", TensorProto.INT32, [3, 4]))
    tensors = {"z": np.int8(3), "w": np.arange(8, dtype=np.int8).reshape(4, 2)}
    asked: list[Source] = []
    read_by = Source.read_by

    def counted(self: Source, agrees: Callable[[Use], bool]) -> bool:
        asked.append(self)
        return read_by(self, agrees)

    monkeypatch.setattr(Source, "read_by", counted)
    qdialect.compile(onnx_model([quantize, *products, cast], inputs, outputs, tensors))
    assert len(asked) == 1


@pytest.mark.parametrize(
    ("change", "pays"),
    [({}, False), ({SIGNED: 59.0}, True), ({SIGNED: None}, False), ({"group": 2, SIGNED: 1.0}, False)],
)
def test_a_second_quantize_takes_less_than_the_sum_saves(change: dict[str, Any], pays: bool):
    group = change.get("group", 1)
    op = last_op(f"""
        x: 1x{2 * group}x5x3xui8
        w: 4x2x1x1xi8
        y = ConvInteger(x, w) {{group = {group} : i64}} : 1x4x5x3xi32""")
    calls = {SUM: 100.0, SIGNED: 60.0} | change
    prices = costs(**{name: call for name, call in calls.items() if call is not None and name != "group"})
    assert LegalizeSum(runtime(prices | {QUANTIZE: {"read": 0.0, "call": 40.0}})).pays(op) is pays


@pytest.mark.parametrize(
    ("rows", "call", "casts", "pays"),
    [
        ("4", 79.0, 1, True),
        ("4", 81.0, 1, False),
        ("4", 33.0, 2, True),
        ("4", 35.0, 2, False),
        ("?", 21.0, 1, False),
    ],
)
def test_casts_of_an_activation_take_less_than_the_product_saves(
    rows: str, call: float, casts: int, pays: bool
):
    op = last_op(f"""
        x: {rows}x3xi8
        w: 3x5xi8
        y = MatMulInteger(x, w) : {rows}x5xi32""")
    saved = {SIGNED_PRODUCT: {"product": 92 / 60 / MAX_TIME_RATIO}}
    assert (
        LegalizeSum(runtime(saved | {QUANTIZE: {"read": 1.0, "call": call}})).product_pays(op, casts) is pays
    )
    assert not LegalizeSum(runtime({QUANTIZE: {"read": 0.0, "call": 0.0}})).product_pays(op, casts)


@pytest.mark.parametrize(
    ("activation", "ops"),
    [
        ("q: 4x3xi8", "MatMulInteger"),
        ("x: 4x3xf32\ns: f32\nz: i8\nq = QuantizeLinear(x, s, z) : 4x3xi8\nd = Abs(q) : 4x3xi8",
         "QuantizeLinear Abs QuantizeLinear MatMulInteger"),
    ],
)  # fmt: skip
def test_integers_that_are_quantized_here_take_one_cast_more_and_others_two(activation: str, ops: str):
    _, module = parsed(text(Case("", "", f"{activation}\nw: 3x5xui8\ny = MatMulInteger(q, w) : 4x5xi32")))
    prices = {SIGNED_PRODUCT: {"product": 92 / 60 / MAX_TIME_RATIO}, QUANTIZE: {"read": 1.0, "call": 50.0}}
    sums = {"MatMulInteger": ("u8", "u8")}
    apply_patterns(module, "any", [LegalizeSum(runtime(prices, sums=sums, largest_weight=None))])
    names = [name for name in ops_of(module).split() if name not in ("Constant", "Add", "Cast")]
    assert sorted(names) == sorted(ops.split())
