"""The first opset that a pass writes for, the last limit that it keeps, and results that several ops read."""

# pyright: reportPrivateUsage=false

from __future__ import annotations

from types import SimpleNamespace
from typing import Any

import numpy as np
import pytest
from geometries import costs, runtime
from guard_cases import Case, last_op, ops_of, parsed, text
from xdsl.ir import BlockArgument

from qdialect.dialects.onnx_base import OnnxOp
from qdialect.ir.values import constant_array
from qdialect.kernel_selection.convolution.shuffle import _channels_last
from qdialect.kernel_selection.convolution.step import ImageNodes
from qdialect.patterns.affine import FoldIntoNormalization
from qdialect.patterns.arithmetic_operands import Constants
from qdialect.patterns.casts import ReadNarrowing
from qdialect.patterns.half_precision_casts import ReadInHalf
from qdialect.patterns.sums import _slower
from qdialect.patterns.weight_only import LowerWeightOnly
from qdialect.rewriting.driver import apply_patterns
from qdialect.rewriting.remarks import remarks_of
from qdialect.runtimes.onnxruntime.biases import loses_bias
from qdialect.targets.pricing import ALIGNED, POINTWISE, QUANTIZE, QUANTIZED, SIGNED, SUM
from qdialect.transforms import get_all_passes
from qdialect.transforms.fold_activation import ReadBound
from qdialect.transforms.fold_constants import ComputeTable
from qdialect.transforms.raise_arithmetic import _quantizes


@pytest.mark.parametrize(("opset", "ops"), [(11, "qcast Clip scast dcast"), (10, "qcast dcast")])
def test_narrow_storage_is_a_clamp_from_opset_11_on(opset: int, ops: str):
    source = text(Case("", "", "x: 2x3xf32\nq = qcast x : 2x3x!narrow\ny = dcast q : 2x3xf32", opset=opset))
    _, module = parsed(f"!narrow = !quant.uniform<i8<-100:100>:f32, 0.5>\n{source}")
    apply_patterns(module, "any", [ReadNarrowing()])
    assert ops_of(module).replace("scast ", "") == ops.replace("scast ", "")
    assert [r.blocked.id for r in remarks_of(module)] == (["opset"] if opset == 10 else [])


@pytest.mark.parametrize(("opset", "op"), [(12, "Clip"), (11, "Clip"), (10, "Max")])
def test_a_bound_of_integers_is_a_clamp_from_opset_11_on(opset: int, op: str):
    _, module = parsed(text(Case("", "", """
        x: 2x3x!s
        k = [5] : i8 as !s
        y = Max(x, k) : 2x3x!s""", opset=opset)))  # fmt: skip
    apply_patterns(module, "any", [ReadBound()])
    assert ops_of(module) == op


def test_what_normalizes_and_says_its_mean_is_folded_for_all():
    _, module = parsed(text(Case("", "", """
        x: 2x3xf32
        g = [1.0, 2.0, 4.0] : 3xf32
        b = [1.0, 3.0, 5.0] : 3xf32
        k = [2.0] : f32
        n, m, d = LayerNormalization(x, g, b) : 2x3xf32, 2x1xf32, 2x1xf32
        t = Mul(n, k) : 2x3xf32
        y = Add(t, m) : 2x3xf32""")))  # fmt: skip
    apply_patterns(module, "any", [FoldIntoNormalization()])
    module.verify()
    assert ops_of(module) == "LayerNormalization Add"
    (norm, add) = (op for op in module.walk() if isinstance(op, OnnxOp) and op.op_type in ops_of(module))
    assert list(add.operands) == [norm.results[0], norm.results[1]]
    assert [np.asarray(constant_array(v)).tolist() for v in norm.operands[1:]] == [[2, 4, 8], [2, 6, 10]]


@pytest.mark.parametrize(("op", "computed"), [("Tanh", True), ("Softmax", False)])
def test_only_the_same_function_of_each_element_is_computed_of_a_table(op: str, computed: bool):
    _, module = parsed(text(Case("", "", f"""
        i: 5xi64
        w = [1.0, 2.0, 3.0, 4.0, 5.0, 6.0] : 2x3xf32
        t = Gather(w, i) : 5x3xf32
        y = {op}(t) : 5x3xf32""")))  # fmt: skip
    apply_patterns(module, "any", [ComputeTable()])
    assert ops_of(module) == (f"{op} Gather" if computed else f"Gather {op}")


@pytest.mark.parametrize(("kind", "ops"), [("f16", "scast scast dcast"), ("bf16", "scast scast dcast")])
def test_half_precision_of_what_is_given(kind: str, ops: str):
    number = 10 if kind == "f16" else 16
    _, module = parsed(text(Case("", "", f"""
        x: 2x3x!s
        d = dcast x : 2x3xf32
        y = Cast(d) {{to = {number} : i64}} : 2x3x{kind}""", opset=19)))  # fmt: skip
    apply_patterns(module, "any", [ReadInHalf()])
    module.verify()
    assert ops_of(module) == ops


@pytest.mark.parametrize(("limit", "written"), [(96, True), (95, False), (None, True)])
def test_a_weight_of_so_many_elements_is_packed(limit: int | None, written: bool):
    values = ", ".join(str(k % 13 - 6) for k in range(96))
    _, module = parsed(text(Case("", "", f"""
        x: 2x32xf32
        w = [{values}] : 32x3xi4 as 32x3x!quarter
        d = dcast w : 32x3xf32
        y = MatMul(x, d) : 2x3xf32""", opset=21)).replace("!quarter", "!quant.uniform<i4:f32, 0.25>"))  # fmt: skip
    target: Any = SimpleNamespace(name="any", weight_only_limit=limit, has_kernel=lambda *_: True)  # pyright: ignore
    apply_patterns(module, "any", [LowerWeightOnly(target)])
    assert ("MatMulNBits" in ops_of(module)) is written, [r.blocked for r in remarks_of(module)]


BIASED = """
    x: 2x1xui8
    s = [1.0] : f32
    w = [100, -100] : 1x2xi8
    b = [2.25, -3.0] : 2xf32
    t = [{0}] : f32
    z = [0] : ui8
    d = DequantizeLinear(x, s) : 2x1xf32
    v = DequantizeLinear(w, s) : 1x2xf32
    {1}
    y = QuantizeLinear(g, t, z) : 2x2xui8"""
IN_GEMM = "g = Gemm(d, v, b) : 2x2xf32"
ADDED = "m = MatMul(d, v) : 2x2xf32\n    g = Add({}) : 2x2xf32"


@pytest.mark.parametrize("nodes", [IN_GEMM, ADDED.format("m, b"), ADDED.format("b, m")])
@pytest.mark.parametrize(("scale", "loses"), [(0.25, False), (0.249, True), (1.0, False)])
def test_a_bias_may_move_by_a_step_of_the_result(scale: float, loses: bool, nodes: str):
    quantize = last_op(BIASED.format(scale, nodes))
    op = quantize.operands[0].owner
    assert isinstance(op, OnnxOp)
    assert loses_bias(op, quantize) is loses


OTHERS = {
    "used twice": ("g = Add(m, b) : 2x2xf32", "g = Add(m, b) : 2x2xf32\n    h = Relu(m) : 2x2xf32"),
    "computed": ("g = Add(m, b) : 2x2xf32", "c = Relu(b) : 2xf32\n    g = Add(m, c) : 2x2xf32"),
    "no sum": ("g = Add(m, b)", "g = Mul(m, b)"),
}


@pytest.mark.parametrize("case", OTHERS)
def test_a_session_makes_no_bias_of_what_is(case: str):
    text = BIASED.format(0.1, ADDED.format("m, b")).replace(*OTHERS[case])
    quantize = last_op(text)
    op = quantize.operands[0].owner
    assert isinstance(op, OnnxOp)
    assert not loses_bias(op, quantize)


@pytest.mark.parametrize(
    ("images", "behind", "price", "said"),
    [
        (1, 0.0, 85.0, True),
        (1, 0.0, 85.5, False),
        (1, 0.0, 80.0, True),
        (1, 0.1, 90.0, True),
        (1, 0.1, 90.2, False),
        (3, 0.1, 100.2, True),
        (3, 0.1, 100.4, False),
    ],
)
def test_a_sum_is_said_to_be_slower_from_a_share_on(images: int, behind: float, price: float, said: bool):
    """behind: what a quantize takes for each element of the result, of which an image has 60."""
    op = last_op(f"x: {images}x2x5x3x!u\nw: 4x2x1x1x!t\ny = Conv(x, w) : {images}x4x5x3x!u")
    prices: dict[str, Any] = costs(**{SUM: 100.0, SIGNED: 200.0})
    prices |= costs(**dict.fromkeys((QUANTIZED, POINTWISE, ALIGNED), price))
    prices[ALIGNED] |= {"least_outputs": 1000.0, "inputs_multiple": 4.0, "outputs_multiple": 16.0}
    prices |= {QUANTIZE: {"read": behind}, "Elementwise": {"Mul": 0.0}}
    blocked = _slower(op, SimpleNamespace(op_type="ConvInteger"), runtime(prices).costs)  # pyright: ignore
    assert (blocked is not None) is said


@pytest.mark.parametrize(("bound", "moved"), [("i8", True), ("1xi8", False)])
def test_a_clamp_of_integers_stands_behind_its_transpose(bound: str, moved: bool):
    """If its bounds are single numbers."""
    pool = last_op(f"""
        x: 1x4x2x3x!s
        a = [3] : {bound} as {bound.removesuffix("i8")}!s
        b = [9] : {bound} as {bound.removesuffix("i8")}!s
        c = Clip(x, a, b) : 1x4x2x3x!s
        y = Relu(c) : 1x4x2x3x!s""")
    clamp = pool.operands[0].owner
    assert isinstance(clamp, OnnxOp)
    nodes = ImageNodes()
    _channels_last(clamp.results[0], nodes)
    assert [op.op_type for op in nodes.ops if isinstance(op, OnnxOp)] == (
        ["Transpose", "Clip"] if moved else ["Transpose"]
    )


def test_a_dequantized_bias_is_added_as_a_constant():
    """Behind a kernel with a float result; each run would dequantize it again."""
    context, module = parsed(text(Case("", "", """
        x: 2x3x!u
        w = [1, 2, 3, 4, 5, 6] : 3x2xi8 as 3x2x!t
        b = [4, -8] : 2xi8 as 2x!t
        d = dcast b : 2xf32
        y = Gemm(x, w, d) : 2x2xf32""")))  # fmt: skip
    get_all_passes()["lower-to-qoperator"]()().apply(context, module)
    add = [op for op in module.walk() if isinstance(op, OnnxOp)][-1]
    assert add.op_type == "Add"
    assert isinstance(add.operands[0].owner, OnnxOp)
    assert add.operands[0].owner.op_type == "QGemm"
    assert np.asarray(constant_array(add.operands[1])).tolist() == [1.0, -2.0]


@pytest.mark.parametrize("cast", ["qcast", "scast"])
def test_sizes_are_those_of_what_is_quantized(cast: str):
    kind, result = ("f32", "!s") if cast == "qcast" else ("i8", "!s")
    context, module = parsed(text(Case("", "", f"""
        x: 2x3x{kind}
        q = {cast} x : 2x3x{result}
        y = Shape(q) : 2xi64""")))  # fmt: skip
    get_all_passes()["lower-to-qdq"]()().apply(context, module)
    (shape,) = (op for op in module.walk() if isinstance(op, OnnxOp) and op.op_type == "Shape")
    assert isinstance(shape.operands[0], BlockArgument)


@pytest.mark.parametrize(
    ("body", "expected"),
    [
        ("d = Div(x, s) : 2xf32\ny = Round(d) : 2xf32", True),
        ("d = Div(k, s) : 2xf32\ny = Round(d) : 2xf32", False),
        ("y = Round(k) : 2xf32", False),
        ("d = Div(k, s) : 2xf32\ny = QuantizeLinear(d, s) : 2xui8", False),
        ("y = QuantizeLinear(k, s) : 2xui8", False),
        ("y = QuantizeLinear(x, s) : 2xui8", True),
        ("y = Relu(x) : 2xf32", False),
    ],
)
def test_what_quantizes_at_run_time(body: str, expected: bool):
    op = last_op(f"x: 2xf32\nk = [1.0, 2.0] : 2xf32\ns = [0.5] : f32\n{body}")
    assert _quantizes(op, Constants()) is expected
