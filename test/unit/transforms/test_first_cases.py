"""The case right beside a guard: the first opset, size or operand that a pass does take, and what it writes then."""

from __future__ import annotations

from typing import Any

import numpy as np
import pytest
from guard_cases import Case, ops_of, parsed, text
from xdsl.dialects.builtin import ModuleOp

from qdialect.dialects.onnx_base import OnnxOp
from qdialect.errors import UserError
from qdialect.targets import target
from qdialect.transforms import get_all_passes
from qdialect.transforms.fix_shapes import sizes_of
from qdialect.transforms.insert_casts import activation_type

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
    Case("raise-qoperator", "scast LeakyRelu scast", """
        x: 3x4xui8
        s = [0.25] : f32
        z = [7] : ui8
        y = QLinearLeakyRelu(x, s, z, s, z) : *x!onnx.any"""),
    Case("raise-qoperator", "scast scast Add scast", """
        x: 3x4xi8
        s = [0.25] : f32
        y = QLinearAdd(x, s, _, x, s, _, s, _) : *x!onnx.any"""),
    Case("fold-batch-norm", "Gemm", """
        x: 4x3xf32
        w = [1.0, 2.0, 3.0, 4.0, 5.0, 6.0] : 3x2xf32
        k = [2.0] : f32
        m = Mul(x, k) : 4x3xf32
        y = Gemm(m, w) : 4x2xf32"""),
    Case("fold-batch-norm", "MatMul", """
        x: 4x3xf32
        w = [1.0, 2.0, 3.0, 4.0, 5.0, 6.0] : 3x2xf32
        k = [2.0, 3.0] : 2xf32
        m = MatMul(x, w) : 4x2xf32
        y = Mul(m, k) : 4x2xf32"""),
    Case("fold-batch-norm", "Conv", """
        x: 1x2x5x3xf32
        w = [1.0, 2.0, 3.0, 4.0, 5.0, 6.0] : 3x2x1x1xf32
        k = [2.0, 3.0] : 2x1x1xf32
        m = Mul(x, k) : 1x2x5x3xf32
        y = Conv(m, w) : 1x3x5x3xf32"""),
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


@pytest.mark.parametrize(("most", "ops"), [(6, "Gather"), (5, "OneHot MatMul")])
def test_a_table_has_so_many_elements_at_most(most: int, ops: str, monkeypatch: pytest.MonkeyPatch):
    monkeypatch.setattr("qdialect.transforms.fold_one_hot.MAX_TABLE_ELEMENTS", most)
    case = Case("", "", """
        i: 5xi64
        d = [3] : i64
        v = [0.0, 1.0] : 2xf32
        w = [1.0, 2.0, 3.0, 4.0, 5.0, 6.0] : 3x2xf32
        o = OneHot(i, d, v) : 5x3xf32
        y = MatMul(o, w) : 5x2xf32""")  # fmt: skip
    context, module = parsed(text(case))
    get_all_passes()["fold-one-hot"]()().apply(context, module)
    assert ops_of(module).endswith(ops)


UNRANKED = [
    "i: 2xi64\ng = Gather(x, i) : *xf32",
    "i = [0] : 1xi64\ng = Unsqueeze(x, i) : *xf32",
    "i: ?xi64\ng = Unsqueeze(x, i) : *xf32",
    "i = [0] : 1xi64\ng = Squeeze(x, i) : *xf32",
    "g = Squeeze(x) : *xf32",
    "g = Transpose(x) {perm = array<i64: 1, 0>} : *xf32",
    "g = Transpose(x) : *xf32",
    "g = Concat(x, x) {axis = 0 : i64} : *xf32",
    "i: 2xi64\ng = Expand(x, i) : *xf32",
    "i: ?xi64\ng = Reshape(x, i) : *xf32",
    "g = Flatten(x) : *xf32",
    "i = [0] : 1xi64\nj = [1] : 1xi64\ng = Slice(x, i, j) : *xf32",
    "g = Mul(x, x) : *xf32",
    "g = MatMul(x, x) : *xf32",
    "g = ReduceMax(x) {axes = array<i64: 0>} : *xf32",
]


@pytest.mark.parametrize(
    "body", [*(f"x: *xf32\n{body}" for body in UNRANKED), "x: 2x3xf32\ni: *xi64\ng = Gather(x, i) : *xf32"]
)
def test_sizes_that_nothing_tells_are_left(body: str):
    context, module = parsed(text(Case("", "", f"{body}\ny = Shape(g) : ?xi64")))
    before = str(module)
    get_all_passes()["fold-shapes"]()().apply(context, module)
    assert str(module) == before


@pytest.mark.parametrize("op", ["ReduceMean", "ReduceSum", "GlobalAveragePool", "AveragePool"])
@pytest.mark.parametrize("x", ["f32", "!s"])
@pytest.mark.parametrize("y", ["f32", "!t"])
def test_means_and_sums_of_either_type_are_written_in_linalg(op: str, x: str, y: str):
    window = " {kernel_shape = array<i64: 3, 3>}" if op == "AveragePool" else ""
    attributes = " {axes = array<i64: 2, 3>}" if op == "ReduceMean" else window
    axes, more = ("k = [2, 3] : 2xi64\n", ", k") if op == "ReduceSum" else ("", "")
    body = f"x: 2x4x3x3x{x}\n{axes}y = {op}(x{more}){attributes} : 2x4x1x1x{y}"
    context, module = parsed(text(Case("", "", body)))
    get_all_passes()["lower-to-linalg"]()().apply(context, module)
    module.verify()
    assert ops_of(module) == ""


LINALG = [
    # element type, op, what it is in linalg
    *(("f32", op, f"arith.{name}") for op, name in {
        "Add": "addf", "Sub": "subf", "Mul": "mulf", "Div": "divf", "Max": "maximumf", "Min": "minimumf",
        "Less": "cmpf olt", "Greater": "cmpf ogt", "LessOrEqual": "cmpf ole", "GreaterOrEqual": "cmpf oge",
        "Equal": "cmpf oeq",
    }.items()),
    *((kind, op, f"arith.{name}") for kind in ("i8", "i32", "i64") for op, name in {
        "Add": "addi", "Sub": "subi", "Mul": "muli", "Div": "divsi", "Max": "maxsi", "Min": "minsi",
        "Less": "cmpi slt", "Greater": "cmpi sgt", "LessOrEqual": "cmpi sle", "GreaterOrEqual": "cmpi sge",
        "Equal": "cmpi eq",
    }.items()),
    *((kind, op, f"arith.{name}") for kind in ("ui8", "ui32", "ui64") for op, name in {
        "Add": "addi", "Sub": "subi", "Mul": "muli", "Div": "divui", "Max": "maxui", "Min": "minui",
        "Less": "cmpi ult", "Greater": "cmpi ugt", "LessOrEqual": "cmpi ule", "GreaterOrEqual": "cmpi uge",
        "Equal": "cmpi eq",
    }.items()),
    ("i1", "Equal", "arith.cmpi eq"),
    ("f64", "Add", "onnx.Add"),
    ("f64", "Less", "onnx.Less"),
]  # fmt: skip


@pytest.mark.parametrize(("kind", "op", "expected"), LINALG)
def test_integers_are_signed_in_linalg_as_their_type_says(kind: str, op: str, expected: str):
    """Upstream, types are signless: comparisons, quotients and extremes say what numbers are."""
    result = kind if op in ("Add", "Sub", "Mul", "Div", "Max", "Min") else "i1"
    case = Case("", "", f"a: 2x3x{kind}\nb: 3x{kind}\ny = {op}(a, b) : 2x3x{result}")
    context, module = parsed(text(case))
    get_all_passes()["lower-to-linalg"]()().apply(context, module)
    assert expected in str(module)
    assert ops_of(module) == (op if expected.startswith("onnx") else "")


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
    Case("fold-shapes", "", """
        k = [2, 2] : 2xi64
        y = ConstantOfShape(k) {value = #onnx.tensor<[7] : tensor<1xi64>>} : 2x2xi64"""),
    Case("fold-shapes", "", """
        x: ?x1x0xf32
        s = Shape(x) : 3xi64
        y = Resize(x, _, _, s) : ?x1x0xf32"""),
]  # fmt: skip


@pytest.mark.parametrize("case", UNMOVED, ids=lambda c: c.rewrite)
def test_what_a_pass_is_not_for_stays(case: Case):
    context, module = parsed(f"!above = !quant.uniform<u8:f32, 1.0:1>\n{text(case)}")
    before = str(module)
    get_all_passes()[case.rewrite]()(**case.options).apply(context, module)
    assert str(module) == before


@pytest.mark.parametrize(("height", "width", "resized"), [(4, 8, True), (4, 2, False), (2, 4, True)])
def test_pixels_are_resized_if_there_is_a_line_for_both_axes(height: int, width: int, resized: bool):
    """Of 40 columns, 2 are too few for one: rows and columns are picked one by one."""
    case = Case("", "", f"""
        x: 1x1x6x40x!s
        n = [1, 1, {height}, {width}] : 4xi64
        y = Resize(x, _, _, n) {{mode = "nearest"}} : 1x1x{height}x{width}x!s""")  # fmt: skip
    context, module = parsed(text(case))
    get_all_passes()["lower-to-tosa"]()().apply(context, module)
    assert ops_of(module) == ""
    assert ("tosa.resize" in str(module)) is resized


@pytest.mark.parametrize(("batch", "rows"), [("4", "20"), ("?", "?")])
def test_rows_taken_of_a_table_are_as_many_as_the_indices(batch: str, rows: str):
    """Flat rows, of vectors that a Reshape put below each other."""
    case = Case("", "", f"""
        i: {batch}x5xi64
        d = [3] : i64
        v = [0.0, 1.0] : 2xf32
        w = [1.0, 2.0, 3.0, 4.0, 5.0, 6.0] : 3x2xf32
        to = [-1, 3] : 2xi64
        o = OneHot(i, d, v) : {batch}x5x3xf32
        r = Reshape(o, to) : {rows}x3xf32
        y = MatMul(r, w) : {rows}x2xf32""")  # fmt: skip
    context, module = parsed(text(case))
    get_all_passes()["fold-one-hot"]()().apply(context, module)
    module.verify()
    assert ops_of(module).endswith("Gather Reshape")
    (reshape,) = (op for op in module.walk() if isinstance(op, OnnxOp) and op.op_type == "Reshape")
    assert str(reshape.results[0].type) == f"tensor<{rows}x2xf32>"
