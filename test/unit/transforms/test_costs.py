"""Another form has to take less time than the one it replaces: at the same price everything stays as it is."""

# pyright: reportPrivateUsage=false

from __future__ import annotations

from dataclasses import replace
from types import SimpleNamespace
from typing import Any, cast

import numpy as np
import pytest
from geometries import FREE, SPACE, costs, runtime
from guard_cases import Case, last_op, ops_of, parsed, text

from qdialect.dialects.onnx_base import OnnxOp
from qdialect.dialects.onnx_types import DYNAMIC
from qdialect.kernel_selection.convolution.conversions import WriteAsConvolution
from qdialect.kernel_selection.convolution.search import Plan
from qdialect.kernel_selection.convolution.step import Spec
from qdialect.kernel_selection.functions import ELEMENTWISE, ComposeFunction
from qdialect.patterns.float_kernels import faster_in_float
from qdialect.promises.kernels import Kernels, Rows
from qdialect.promises.window import Geometry
from qdialect.reasons import Blocked
from qdialect.rewriting.driver import apply_patterns
from qdialect.rewriting.remarks import remarks_of
from qdialect.targets.pricing import (
    ALIGNED,
    DEPTHWISE,
    MAX_TIME_RATIO,
    POINTWISE,
    PRODUCT,
    QUANTIZE,
    QUANTIZED,
    SIGNED,
    SIGNED_PRODUCT,
    SPREADING,
    SUM,
)
from qdialect.transforms.choose_convolution_form import ChooseConvolutionForm
from qdialect.transforms.collapse_transpose import MOVES, CollapseRows, CollapseTranspose
from qdialect.transforms.legalize_sums import LegalizeSum
from qdialect.transforms.lower_to_matmul import AxisMatrix, LowerToMatMul
from qdialect.transforms.lower_to_product import REST, SCALING_OPS, LowerToProduct
from qdialect.transforms.lower_to_table import LOOKUP, LowerToTable


def moves(call: float, scattered: float) -> dict[str, Any]:
    return {MOVES: {"scattered": scattered, "moved": 1.0}, "Placement": {"call": call}}


@pytest.mark.parametrize(
    ("groups", "shape", "scattered", "call"),
    [
        # 120 elements: scattered one by one, or in rows of 20 or, of unknown size, of 5
        (((0,), (3,), (1, 2)), (2, 3, 4, 5), 3.0, 120.0),
        (((1,), (0,), (2, 3)), (2, 3, 4, 5), 60.0, 120.0),
        (((1,), (0,), (2, 3)), (DYNAMIC, 3, 4, 5), 60.0, 60.0),
        (((1,), (0,), (2, 3)), (2, 3, DYNAMIC, 5), 15.0, 30.0),
    ],
)
def test_a_transpose_of_blocks_gains_more_than_two_calls(
    groups: Any, shape: tuple[int, ...], scattered: float, call: float
):
    assert not CollapseTranspose(runtime(moves(call, scattered)))._pays(groups, shape)
    assert CollapseTranspose(runtime(moves(call - 0.5, scattered)))._pays(groups, shape)


@pytest.mark.parametrize(("shape", "call"), [((2, 3, 4, 5), 240.0), ((DYNAMIC, 3, 4, 5), 120.0)])
def test_rows_in_place_gain_more_than_two_calls(shape: tuple[int, ...], call: float):
    assert not CollapseRows(runtime(moves(call, 3.0)))._pays(shape)
    assert CollapseRows(runtime(moves(call - 0.5, 3.0)))._pays(shape)


AVERAGE = "x: 2x3x6x8x!u\ny = AveragePool(x) {{kernel_shape = array<i64: 2, 2>, strides = array<i64: 2, 2>}} : {0}x!u"
POOL = "QLinearAveragePool"


@pytest.mark.parametrize(
    ("result", "now"),
    [
        # each element under a window 1, each element of the operand 10, each window 100
        ("2x3x3x4", 72 * 4 + 288 * 10 + 72 * 100),
        ("2x3x3x?", 252 * 4 + 288 * 10 + 252 * 100),
        ("?x3x3x4", 144 * 4 + 576 * 10 + 144 * 100),
        ("*", 2352 * 4 + 576 * 10 + 2352 * 100),
    ],
)
def test_a_pool_is_a_convolution_if_that_is_faster(result: str, now: float):
    op = last_op(AVERAGE.format(result))
    own = {POOL: {"element": 1.0, "read": 10.0, "row": 100.0, "call": 0.0}}
    shape: dict[str, Any] = {ALIGNED: {}, "QLinearConvDepthwiseAligned": {"outputs_multiple": 16.0}}
    for price, pays in ((0.85 * now, False), (0.85 * now - 1, True)):
        depthwise = {DEPTHWISE: FREE | {"call": price, "rest": 0.0}}
        assert WriteAsConvolution(runtime(own | depthwise | shape))._pays(op, 3, (2, 2)) is pays
    assert not WriteAsConvolution(runtime(own | shape))._pays(op, 3, (2, 2))
    assert not WriteAsConvolution(runtime({DEPTHWISE: FREE | {"rest": 0.0}} | shape))._pays(op, 3, (2, 2))


@pytest.mark.parametrize(
    ("result", "rows"),
    [("2x3x3x4", Rows(72, 4, 288)), ("?x3x3x4", Rows(36, 4, 288)), ("2x3x3x?", None), ("*", None)],
)
def test_rows_of_a_pool_are_its_windows(result: str, rows: Rows | None):
    op = last_op(AVERAGE.format(result))
    promise = op.get_trait(Kernels)
    assert promise is not None
    assert [form.rows and form.rows(op) for form in promise.forms] == [rows]


def _one_row(op: OnnxOp) -> Rows:
    return Rows(1, 1, 1)


@pytest.mark.parametrize(("price", "faster"), [(85.0, False), (84.0, True)])
def test_a_float_kernel_for_rows_takes_less_than_its_share(price: float, faster: bool):
    op = last_op("x: 2x3xf32\ny = Softmax(x) : 2x3xf32")
    prices = {name: {"element": 0.0, "read": 0.0, "row": 0.0, "call": call} for name, call in
              (("QLinearSoftmax", 100.0), ("Softmax", price))}  # fmt: skip
    kernels = [SimpleNamespace(op_type="Other", rows=None),
               SimpleNamespace(op_type="QLinearSoftmax", rows=_one_row)]  # fmt: skip
    promise = cast(Kernels, SimpleNamespace(forms=kernels))
    assert (faster_in_float(op, promise, prices) is not None) is faster
    assert faster_in_float(op, promise, {"Softmax": prices["Softmax"]}) is None


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
    assert LegalizeSum(runtime(prices | {QUANTIZE: {"read": 0.0, "call": 40.0}}))._pays(op) is pays


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
        LegalizeSum(runtime(saved | {QUANTIZE: {"read": 1.0, "call": call}}))._product_pays(op, casts) is pays
    )
    assert not LegalizeSum(runtime({QUANTIZE: {"read": 0.0, "call": 0.0}}))._product_pays(op, casts)


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
    assert LowerToProduct(runtime(prices))._pays(plane, biased=change.get("biased", True)) is pays


RESIZE = 'x: {0}xf32\nn = [{1}] : {2}xi64\ny = Resize(x, _, _, n) {{mode = "linear"}} : {3}xf32'


@pytest.mark.parametrize(("price", "pays"), [(100.0, False), (100.5, True)])
def test_products_for_an_interpolation_take_less_time(price: float, pays: bool):
    """Rows of 2 and 3 pixels to 4 and 6: 85 for the products, and a share of 85 percent of the kernel's price."""
    op = last_op("x: 1x1x2x3xf32\nn = [1, 1, 4, 6] : 4xi64\ny = Resize(x, _, _, n) : 1x1x4x6xf32")
    steps = [AxisMatrix(3, np.zeros((6, 3), np.float32)), AxisMatrix(2, np.zeros((4, 2), np.float32))]
    # 36 + 48 products, 12 + 24 elements, two calls, one matrix in front of the last axis
    product = {"product": 0.5, "written": 0.25, "call": 16.5}
    kernel = {"linear": 2.0, "call": price - 48, "matrix": 1.0}
    target = runtime({"Interpolation": kernel, "Gemm": product})
    assert LowerToMatMul(target)._pays(op, 2, (1, 1, 2, 3), steps) is pays


@pytest.mark.parametrize(
    ("shape", "result", "ops"),
    [("3", "6", "Resize"), ("2x3", "4x6", "MatMul MatMul"), ("1x2x3", "1x4x6", "MatMul MatMul")],
)
def test_interpolations_of_two_axes_or_more_are_products(shape: str, result: str, ops: str):
    sizes = result.split("x")
    _, module = parsed(text(Case("", "", RESIZE.format(shape, ", ".join(sizes), len(sizes), result))))
    apply_patterns(module, "lower-to-matmul", [LowerToMatMul(runtime({}))])
    assert ops_of(module) == ops


TABLE = "q: 2x3x!u\nd = dcast q : 2x3xf32\nt = Tanh(d) : 2x3xf32\ny = qcast t : 2x3x!t"


@pytest.mark.parametrize(
    ("lookup", "shape", "cheap", "lowered", "remark"),
    [
        (12.0, "2x3", None, False, None),
        (12.0, "2x3", 1.0, False, None),
        (11.5, "2x3", None, True, None),
        (12.0, "2x?", None, False, None),
        (11.5, "2x?", None, False, "invalid-op"),
    ],
)
def test_a_table_takes_less_than_what_it_replaces(
    lookup: float, shape: str, cheap: float | None, lowered: bool, remark: str | None
):
    prices = {ELEMENTWISE: {"DequantizeLinear": 2.0, "Tanh": 7.0, "QuantizeLinear": 3.0, LOOKUP: lookup}}
    if cheap is not None:  # a function that is another one
        prices[ELEMENTWISE] |= {"Gelu": cheap}
    _, module = parsed(text(Case("", "", TABLE.replace("= Tanh(d) : 2x3", f"= Tanh(d) : {shape}"))))
    apply_patterns(module, "lower-to-table", [LowerToTable(runtime(prices, kernels=True))])
    assert ("Gather" in ops_of(module)) is lowered
    assert [r.blocked.id for r in remarks_of(module)] == ([remark] if remark else [])


@pytest.mark.parametrize(
    ("opset", "now", "expected"),
    [
        (14, 20.0, ["Gelu", "HardSwish"]),
        (13, 20.0, ["Gelu"]),
        (7, 20.0, ["Gelu"]),
        (6, 20.0, []),
        (14, 16.0, ["Gelu"]),
        (14, 10.0, []),
    ],
)
def test_functions_of_an_opset_that_take_less_time(opset: int, now: float, expected: list[str]):
    prices = {"DequantizeLinear": 2.0, "QuantizeLinear": 3.0, "Gelu": 3.5, "HardSwish": 8.6}
    op = last_op("x: 2x3xf32\ny = Tanh(x) : 2x3xf32", opset)
    assert [f.name for f in LowerToTable(runtime({}))._cheaper(op, prices, now)] == expected


@pytest.mark.parametrize(
    ("opset", "price", "ops"),
    [
        (14, 8.0, "HardSwish"),
        (13, 8.0, "HardSigmoid Mul"),
        (14, 8.5, "HardSigmoid Mul"),
        (14, None, "HardSigmoid Mul"),
    ],
)
def test_a_function_stands_for_a_chain_that_takes_longer(opset: int, price: float | None, ops: str):
    _, module = parsed(text(Case("", "", """
        x: 2x3xf32
        h = HardSigmoid(x) {alpha = 0.1666666666 : f32} : 2x3xf32
        y = Mul(x, h) : 2x3xf32""", opset=opset)))  # fmt: skip
    prices = {"HardSigmoid": 7.0, "Mul": 3.0} | ({} if price is None else {"HardSwish": price})
    apply_patterns(module, "any", [ComposeFunction(runtime({ELEMENTWISE: prices}, kernels=True))])
    assert ops_of(module) == ops


@pytest.mark.parametrize(("sizes", "ops"), [("1x3", "HardSwish"), ("3", "Add Clip Mul Div")])
def test_a_function_has_the_sizes_of_its_operand(sizes: str, ops: str):
    """Numbers of shape (1, 1) give a row an axis, which no function does."""
    _, module = parsed(text(Case("", "", f"""
        x: {sizes}xf32
        three = [3.0] : 1x1xf32
        six = [6.0] : 1x1xf32
        low = [0.0] : f32
        high = [6.0] : f32
        a = Add(x, three) : 1x3xf32
        c = Clip(a, low, high) : 1x3xf32
        m = Mul(x, c) : 1x3xf32
        y = Div(m, six) : 1x3xf32""", opset=14)))  # fmt: skip
    prices = {"Add": 3.0, "Clip": 3.0, "Mul": 3.0, "Div": 3.0, "HardSwish": 4.0}
    apply_patterns(module, "any", [ComposeFunction(runtime({ELEMENTWISE: prices}, kernels=True))])
    assert ops_of(module) == ops


@pytest.mark.parametrize(
    ("price", "spread", "unsure"),
    [(6999.0, True, False), (7000.0, False, True), (9999.0, False, True), (10_000.0, False, False)],
)
def test_a_transposed_convolution_is_spread_if_that_saves_its_moves(price: float, spread: bool, unsure: bool):
    """Of 10 microseconds, 3."""
    geometry = replace(
        SPACE, groups=1, kernel=(2, 2), strides=(2, 2), dilations=(1, 1), pads=((0, 0), (0, 0)), sizes=(3, 5),
        results=(6, 10),
    )  # fmt: skip
    aligned = {"least_outputs": 1000.0, "inputs_multiple": 4.0, "outputs_multiple": 16.0}
    prices: dict[str, Any] = costs(**dict.fromkeys((QUANTIZED, POINTWISE, ALIGNED), price))
    prices |= {SPREADING: FREE | {"call": 10_000.0, "move_byte": 0.0, "quantize": 0.0}}
    prices[ALIGNED] |= aligned
    op = last_op("x: 2x3x3x5xf32\nw: 3x4x2x2xf32\ny = ConvTranspose(x, w) : 2x4x6x10xf32")
    plan = ChooseConvolutionForm(runtime(prices))._spread(op, Spec(geometry, 2, True, False, 17))
    assert isinstance(plan, Plan) is spread
    if isinstance(plan, Blocked):
        assert ("have to be gained" in plan.message) is unsure
