"""The case right beside a guard: the first opset, size or operand that a pass does take, and what it writes then."""

from __future__ import annotations

from typing import Any

import numpy as np
import pytest
from guard_cases import Case, parsed, text
from xdsl.dialects.builtin import ModuleOp
from xdsl.ir import Operation

from qdialect.dialects.onnx_base import ConstantOp, OnnxOp
from qdialect.dialects.quant import DequantizeOp, QuantizeOp, StorageCastOp
from qdialect.errors import UserError
from qdialect.targets import target
from qdialect.transforms import get_all_passes
from qdialect.transforms.fix_shapes import sizes_of
from qdialect.transforms.insert_casts import activation_type

CASTS: dict[type[Operation], str] = {QuantizeOp: "qcast", DequantizeOp: "dcast", StorageCastOp: "scast"}


def ops_of(module: ModuleOp) -> str:
    """The ops but constants, in order."""
    names = (
        op.op_type if isinstance(op, OnnxOp) and not isinstance(op, ConstantOp) else CASTS.get(type(op))
        for op in module.walk()
    )
    return " ".join(name for name in names if name)


MOVED = [
    # the second field is what is written
    Case("fold-scales", "Conv Relu Min qcast dcast Conv", """
        x: 1x1x5x3xf32
        w = [3.0, -5.0] : 2x1x1x1xf32
        c = Conv(x, w) : 1x2x5x3xf32
        r = Relu(c) : 1x2x5x3xf32
        q = qcast r : 1x2x5x3x!apart
        d = dcast q : 1x2x5x3xf32
        y = Conv(d, w) {group = 2 : i64} : 1x2x5x3xf32""", opset=12),
    Case("raise-qoperator", "Conv Relu", """
        x: 1x1x3x3xf32
        w = [1.0] : 1x1x1x1xf32
        y = FusedConv(x, w) {activation = "Relu"} : 1x1x3x3xf32""", opset=11),
    Case("raise-qoperator", "Conv Clip", """
        x: 1x1x3x3xf32
        w = [1.0] : 1x1x1x1xf32
        y = FusedConv(x, w) {activation = "Clip", activation_params = array<f32: 0.0, 6.0>} : 1x1x3x3xf32""", opset=11),
    Case("raise-qoperator", "Add LayerNormalization", """
        x: 2x3xf32
        w = [1.0, 1.0, 1.0] : 3xf32
        y = SkipLayerNormalization(x, x, w) : 2x3xf32""", opset=17),
    Case("raise-qoperator", "scast scast dcast dcast Where qcast scast", """
        c: 3x4xi1
        x: 3x4xui8
        s = [0.25] : f32
        z = [7] : ui8
        y = QLinearWhere(c, x, s, z, x, s, z, s, z) : 3x4xui8""", opset=10),
    Case("raise-qoperator", "Transpose MaxPool Transpose", """
        x: 1x4x4x3xui8
        y = NhwcMaxPool(x) {kernel_shape = array<i64: 2, 2>} : 1x3x3x3xui8""", opset=12),
    Case("raise-opset", "Clip", """
        x: 2x3xf32
        y = Clip(x) {min = 1.0 : f32, max = 2.0 : f32} : 2x3xf32""", {"to": 11}, opset=10),
    Case("decompose", "Gather Transpose MatMul Gather Transpose Scan MatMul Add Tanh Yield Unsqueeze", """
        x: 5x3x4xf32
        w: 1x2x4xf32
        r: 1x2x2xf32
        y = RNN(x, w, r) {hidden_size = 2 : i64} : 5x1x3x2xf32""", {"ops": ("RNN",)}, 9),
]  # fmt: skip


@pytest.mark.parametrize("case", MOVED, ids=lambda c: f"{c.rewrite}:{c.opset}")
def test_what_a_guard_lets_pass(case: Case):
    context, module = parsed(text(case))
    get_all_passes()[case.rewrite]()(**case.options).apply(context, module)
    module.verify()
    assert ops_of(module) == case.reason


@pytest.mark.parametrize(("opset", "stated"), [(17, False), (18, True)])
def test_a_split_states_the_number_of_its_parts_from_opset_18_on(opset: int, stated: bool):
    case = Case("decompose", "", """
        x: 5x3x4xf32
        w: 1x6x4xf32
        r: 1x6x2xf32
        y = GRU(x, w, r) {hidden_size = 2 : i64} : 5x1x3x2xf32""", {"ops": ("GRU",)}, opset)  # fmt: skip
    context, module = parsed(text(case))
    get_all_passes()[case.rewrite]()(**case.options).apply(context, module)
    splits = [op for op in module.walk() if isinstance(op, OnnxOp) and op.op_type == "Split"]
    assert splits
    assert [op.int_attr("num_outputs", 0) for op in splits] == [
        len(op.results) if stated else 0 for op in splits
    ]


@pytest.mark.parametrize(("opset", "written"), [(12, "axes = array<i64: 1>"), (13, ", %")])
def test_axes_are_an_operand_from_opset_13_on(opset: int, written: str):
    case = Case("decompose", "", """
        x: 5x3x4xf32
        w: 1x2x4xf32
        r: 1x2x2xf32
        y = RNN(x, w, r) {hidden_size = 2 : i64} : 5x1x3x2xf32""", {"ops": ("RNN",)}, opset)  # fmt: skip
    context, module = parsed(text(case))
    get_all_passes()[case.rewrite]()(**case.options).apply(context, module)
    (line,) = [line for line in str(module).splitlines() if "onnx.Unsqueeze" in line]
    assert written in line.partition(" : (")[0]


@pytest.mark.parametrize("batch", [0, -1, 1.5, "2"])
def test_a_batch_is_a_whole_number_from_1_on(batch: Any):
    with pytest.raises(UserError, match="whole number"):
        sizes_of(ModuleOp([]), batch, [])


@pytest.mark.parametrize("row", ["n", "n=", "=3", "n=0", "n=-1", "n=1.5"])
def test_a_size_is_a_name_and_a_whole_number_from_1_on(row: str):
    with pytest.raises(UserError, match="NAME=N"):
        sizes_of(ModuleOp([]), 1, [row])


@pytest.mark.parametrize(
    ("bounds", "scale"),
    [
        ((0.0, 0.0), 1 / 255),
        ((-1e-33, 1e-33), 1 / 255),
        ((0.0, 2.55), 0.01),
        ((-2.55, 0.0), 0.01),
        ((-2.55, 1e-40), 0.01),
    ],
)
def test_bounds_that_are_almost_0_stand_for_any(bounds: tuple[float, float], scale: float):
    """By either end: one that is far from 0 is enough."""
    type = activation_type(bounds, target("onnxruntime"))
    assert type.scale == pytest.approx(np.float32(scale), rel=1e-6)


UNMOVED = [
    Case("quantize-inputs", "", """
        x: 1x2x4x5xf32
        w: 3x2x1x1xf32
        y = Conv(x, w) : 1x3x4x5xf32"""),
    Case("quantize-inputs", "", """
        x: 1x2x4x5xf32
        v: 3x2x1x1xf32
        w = Tanh(v) : 3x2x1x1xf32
        y = Conv(x, w) : 1x3x4x5xf32"""),
    Case("quantize-inputs", "", """
        x: 1x2x4x5xf32
        v: 3x2x1x1x!one
        w = dcast v : 3x2x1x1xf32
        y = Conv(x, w) : 1x3x4x5xf32"""),
    Case("quantize-inputs", "", """
        x: 1x2x4x5xf16
        v = [1, 2, 3, 4, 5, 6] : 3x2x1x1xui8 as 3x2x1x1x!one
        w = dcast v : 3x2x1x1xf32
        c = Cast(w) {to = 10 : i64} : 3x2x1x1xf16
        y = Conv(x, c) : 1x3x4x5xf16"""),
    Case("quantize-inputs", "", """
        x: 1x2x4x5xf32
        v = [1, 2, 3, 4, 5, 6] : 3x2x1x1xui8 as 3x2x1x1x!above
        w = dcast v : 3x2x1x1xf32
        y = Conv(x, w) : 1x3x4x5xf32"""),
    Case("fold-shapes", "", """
        x: 2x3xf32
        y = Reshape(x) {shape = array<i64: 3, 2>} : 3x2xf32""", opset=4),
]  # fmt: skip


@pytest.mark.parametrize("case", UNMOVED, ids=lambda c: c.rewrite)
def test_what_a_pass_is_not_for_stays(case: Case):
    context, module = parsed(f"!above = !quant.uniform<u8:f32, 1.0:1>\n{text(case)}")
    before = str(module)
    get_all_passes()[case.rewrite]()(**case.options).apply(context, module)
    assert str(module) == before
