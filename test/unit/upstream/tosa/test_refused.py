"""Where a form in the integer profile is refused: the last case that it takes, and the first that it does not."""

from __future__ import annotations

import numpy as np
import pytest
from guard_cases import Case, last_op, parsed, text
from tosa_cases import case, compared
from xdsl.dialects.builtin import IntegerAttr, i32

from qdialect import numerics
from qdialect.dialects.onnx_types import shape_of, uniform_of
from qdialect.dialects.quant import Storage, UniformType
from qdialect.reasons import Blocked
from qdialect.rewriting.remarks import remarks_of
from qdialect.transforms.lower_to_tosa import LowerToTosaPass
from qdialect.upstream.site import Values
from qdialect.upstream.tosa.elementwise import COARSE, terms_of_sum
from qdialect.upstream.tosa.normalizations import LONG_ROW, rows_of
from qdialect.upstream.tosa.site import LARGE_SUM, TosaSite, array_attr, takes
from qdialect.upstream.tosa.sums import factors_of


def outcome(body: str, mine: str, plain: str = "1.0") -> tuple[list[str], str]:
    """
    The names of ops after the pass, and what it says of the last ONNX op: nothing if that is lowered. The scales of
    `!mine` and `!plain`.
    """
    types = f"!mine = !quant.uniform<i8:f32, {mine}>\n!plain = !quant.uniform<i8:f32, {plain}>\n"
    context, module = parsed(f"{types}{text(Case('', '', body, opset=18))}")
    LowerToTosaPass().apply(context, module)
    left = [op for op in module.walk() if op.name.startswith("onnx.") and op.name != "onnx.Constant"]
    reasons = [remark.blocked.id for op in left for remark in remarks_of(module).on(op)]
    return [op.name for op in module.walk()], "".join(reasons)


def power(exponent: int) -> str:
    return repr(float(2.0**exponent))


LAYER = "x: 3x4x!plain\ng = [{}] : 1xf32\ny = LayerNormalization(x, g) : 3x4x!plain"
SCALES = [
    # the op, the exponent of its operand's scale at which it still has one fraction bit more than too few, the reason
    ("x: 3x4x!mine\nk = [-1.0] : f32\ny = Mul(x, k) : 3x4x!plain", 18, "mixed-scales"),
    ("x: 3x4x!mine\ny = Add(x, x) : 3x4x!plain", 18, "mixed-scales"),
    ("x: 3x4x!mine\nk = [-1.0] : f32\ny = PRelu(x, k) : 3x4x!plain", 18, "mixed-scales"),
    ("x: 3x4x!mine\nk = [0.25, -4.0, 1.0, 2.0] : 4xf32\ny = PRelu(x, k) : 3x4x!plain", 16, "mixed-scales"),
    ("x: 3x4x!mine\nz: 3x4x!plain\ny = Div(x, z) : 3x4x!plain", 15, "mixed-scales"),
]


@pytest.mark.parametrize(("body", "exponent", "reason"), SCALES)
def test_an_operand_has_a_scale_that_leaves_enough_bits(body: str, exponent: int, reason: str):
    assert outcome(body, power(exponent))[1] == ""
    assert outcome(body, power(exponent + 1))[1] == reason


@pytest.mark.parametrize(
    ("exponent", "size", "legal"), [(-18, 4, True), (-19, 4, False), (-8, 1 << 18, True), (-8, (1 << 18) + 1, False)]
)  # fmt: skip
def test_a_softmax_has_12_bits_at_least(exponent: int, size: int, legal: bool):
    body = f"x: 1x{size}x!plain\ny = Softmax(x) : 1x{size}x!mine"
    assert outcome(body, power(exponent))[1] == ("" if legal else LONG_ROW.id)


@pytest.mark.parametrize(("factor", "legal"), [(2.0**23, True), (2.0**23 + 1, False)])
def test_a_factor_of_a_layer_normalization_leaves_6_bits(factor: float, legal: bool):
    assert outcome(LAYER.format(factor), "1.0")[1] == ("" if legal else "mixed-scales")


@pytest.mark.parametrize(
    ("exponent", "bits", "lost"), [(-26, 1, 26), (-27, 0, 28), (-28, 0, 30), (-29, None, None)]
)
def test_an_epsilon_far_above_a_row_takes_its_bits(exponent: int, bits: int | None, lost: int | None):
    attributes = "{epsilon = 1.0 : f32}"
    body = f"x: 3x2x!mine\ng = [1.0] : 1xf32\ny = LayerNormalization(x, g) {attributes} : 3x2x!mine"
    op = last_op(body, mine=f"!quant.uniform<i8:f32, {power(exponent)}>")
    row = rows_of(op, uniform_of(op.operands[0].type), 2)
    if bits is None:
        assert row is LONG_ROW
    else:
        assert not isinstance(row, Blocked)
        assert (row.bits, row.lost) == (bits, lost)


def test_rows_of_two_to_16384_elements():
    op = last_op("x: 3x2x!mine\ng = [1.0] : 1xf32\ny = LayerNormalization(x, g) : 3x2x!mine")
    x = uniform_of(op.operands[0].type)
    known = {
        count: not isinstance(rows_of(op, x, count), Blocked) for count in (1, 2, 1 << 14, (1 << 14) + 1)
    }
    assert known == {1: False, 2: True, 1 << 14: True, (1 << 14) + 1: False}


@pytest.mark.parametrize("scales", [0.3, [0.3, 5000.0], 2.0**-10])
def test_a_rescale_takes_what_then_fits_in_32_bits(scales: float | list[float]):
    _, shift = numerics.rescale_factors(scales)
    reach = numerics.rescale_reach(shift)
    assert takes(scales, reach) is None
    assert takes(scales, reach + 1) is LARGE_SUM


@pytest.mark.parametrize("sign", [1, -1])
def test_sums_end_where_int32_does(sign: int):
    """The largest |sum| is 3 * 127 * 128, the rest is the bias."""
    most = numerics.INT32_MAX - 3 * 127 * 128
    types = "!quant.uniform<i8:f32, 1.0>\n!bias = !quant.uniform<i32:f32, 1.0>"
    for bias, legal in ((most, True), (most + 1, False)):
        body = f"""
            x: 2x3x!mine
            w = [127, 5, -127, 6, 127, 7] : 3x2xi8 as 3x2x!mine
            b = [{sign * bias}, 9] : 2xi32 as 2x!bias
            y = Gemm(x, w, b) : 2x2x!far"""
        op = last_op(body, mine=f"{types}\n!far = !quant.uniform<i8:f32, 16777216.0>")
        factors = factors_of(op, 2)
        if not legal:
            assert isinstance(factors, Blocked)
            assert (factors.id, factors.message.split(",")[0]) == (
                "accumulator-overflow",
                "sums can reach 2147483648",
            )
            continue
        assert not isinstance(factors, Blocked)
        assert factors.largest == numerics.INT32_MAX
        assert factors.bias.tolist() == [sign * bias, 9]


@pytest.mark.parametrize(
    ("height", "width", "whole"), [(64, 3, True), (3, 64, True), (65, 3, False), (3, 65, False)]
)
def test_a_mean_of_few_pixels_is_one_window(height: int, width: int, whole: bool):
    body = f"x: 1x2x{height}x{width}x!plain\ny = GlobalAveragePool(x) : 1x2x1x1x!plain"
    names, reason = outcome(body, "1.0")
    assert reason == ""
    assert ("tosa.depthwise_conv2d" in names, names.count("tosa.reduce_sum")) == (whole, 0 if whole else 2)


@pytest.mark.parametrize(("pieces", "legal"), [(2, True), (63, True), (64, True), (65, False)])
def test_rows_out_of_order_are_64_pieces_at_most(pieces: int, legal: bool):
    rows = list(range(pieces))[::-1]
    body = f"x: 70x2x!plain\nk = {rows} : {pieces}xi64\ny = Gather(x, k) : {pieces}x2x!plain"
    names, reason = outcome(body, "1.0")
    assert reason == ("" if legal else "too-large")
    assert names.count("tosa.slice") == (pieces if legal else 0)


@pytest.mark.parametrize(
    ("size", "first", "step", "slices"),
    [(6, 0, 2, 1), (7, 0, 2, 2), (7, 1, 2, 2), (6, 1, 2, 3), (9, 0, 3, 1), (10, 0, 3, 4)],
)
def test_rows_at_equal_distances_are_columns_of_what_they_divide(
    size: int, first: int, step: int, slices: int
):
    """If each row has as many behind it, up to the next, they are one slice of a reshape; else pieces."""
    rows = list(range(first, size, step))
    if slices == 2:
        rows = rows[: (size - first) // step]
    body = f"x: {size}x2x!plain\nk = {rows} : {len(rows)}xi64\ny = Gather(x, k) : {len(rows)}x2x!plain"
    names, reason = outcome(body, "1.0")
    assert reason == ""
    assert names.count("tosa.slice") == slices
    assert names.count("tosa.concat") == (slices > 2)


@pytest.mark.parametrize(("size", "merged"), [(1, True), (64, True), (65, False)])
def test_small_constants_are_one(size: int, merged: bool):
    site = TosaSite(last_op("x: 2xf32\ny = Neg(x) : 2xf32"), Values())
    first, second = (site.constant(np.arange(size, dtype=np.int8)) for _ in range(2))
    assert (first is second) is merged
    assert site.constant(np.arange(size, dtype=np.int32)) is not first
    assert site.constant(np.arange(size, dtype=np.int8)[::-1].copy()) is not first or size == 1


def lists(name: str, values: list[int]) -> str:
    shape = f"tensor<{len(values)}xi64>"
    return f"  %{name} = onnx.Constant() {{value = #onnx.tensor<{values} : {shape}>}} : () -> {shape}\n"


def pooled(line: str, result: str) -> str:
    """`line` of %p, which has its channels last: 2x3x4x5."""
    body = "  %p = onnx.MaxPool(%x) {kernel_shape = array<i64: 2, 3>} : (tensor<2x3x5x7x!x>) -> tensor<2x3x4x5x!x>\n"
    return case("%x: tensor<2x3x5x7x!x>", f"{body}{line}", result)


CASES = {
    "every second row": case(
        "%x: tensor<3x7x5x!x>",
        lists("a", [1]) + lists("e", [99]) + lists("b", [1]) + lists("s", [2])
        + "  %y = onnx.Slice(%x, %b, %e, %a, %s) : (tensor<3x7x5x!x>, tensor<1xi64>, tensor<1xi64>, tensor<1xi64>,"
        " tensor<1xi64>) -> tensor<3x3x5x!x>\n",
        "tensor<3x3x5x!x>",
    ),
    "repeats of images": pooled(
        lists("k", [3, 2, 3, 4, 5]) + lists("a", [1])
        + "  %m = onnx.ReduceMax(%p, %a) : (tensor<2x3x4x5x!x>, tensor<1xi64>) -> tensor<2x1x4x5x!x>\n"
        "  %y = onnx.Expand(%m, %k) : (tensor<2x1x4x5x!x>, tensor<5xi64>) -> tensor<3x2x3x4x5x!x>\n",
        "tensor<3x2x3x4x5x!x>",
    ),
    "pixels of which lines are far apart": case(
        "%x: tensor<1x2x34x6x!x>",
        lists("k", [1, 2, 2, 4])
        + '  %y = onnx.Resize(%x, _, _, %k) {mode = "nearest"} : (tensor<1x2x34x6x!x>, tensor<4xi64>)'
        " -> tensor<1x2x2x4x!x>\n",
        "tensor<1x2x2x4x!x>",
    ),
    "one row of images": pooled(
        "  %k = onnx.Constant() {value = #onnx.tensor<[-2] : tensor<i64>>} : () -> tensor<i64>\n"
        "  %y = onnx.Gather(%p, %k) {axis = 2 : i64} : (tensor<2x3x4x5x!x>, tensor<i64>) -> tensor<2x3x5x!x>\n",
        "tensor<2x3x5x!x>",
    ),
    "sums": case(
        "%x: tensor<2x3x4x!x>",
        lists("a", [2, 0])
        + "  %y = onnx.ReduceSum(%x, %a) {keepdims = 0 : i64} : (tensor<2x3x4x!x>, tensor<2xi64>) -> tensor<3x!f>\n",
        "tensor<3x!f>",
    ),
    "sums of images": pooled(
        lists("a", [1, 3])
        + "  %y = onnx.ReduceSum(%p, %a) {keepdims = 0 : i64}"
        " : (tensor<2x3x4x5x!x>, tensor<2xi64>) -> tensor<2x4x!f>\n",
        "tensor<2x4x!f>",
    ),
    "the greatest of all pixels": case(
        "%x: tensor<2x3x4x5x!x>",
        "  %y = onnx.GlobalMaxPool(%x) : (tensor<2x3x4x5x!x>) -> tensor<2x3x1x1x!x>\n",
        "tensor<2x3x1x1x!x>",
    ),
    "a product, the activation turned": case(
        "%x: tensor<5x3x!x>",
        "  %w = onnx.Constant() {value = #onnx.tensor<[3, -5, 7, 1, -2, 4, 90, -128, 127, 6] : tensor<5x2xi8>>} : ()"
        " -> tensor<5x2x!m>\n"
        "  %y = onnx.Gemm(%x, %w) {transA = 1 : i64} : (tensor<5x3x!x>, tensor<5x2x!m>) -> tensor<3x2x!x>\n",
        "tensor<3x2x!x>",
    ),
    **{f"a product of two activations, {a} {b}": case(
        f"%x: tensor<{'5x3' if a else '3x5'}x!x>, %z: tensor<{'4x5' if b else '5x4'}x!z>",
        f"  %y = onnx.Gemm(%x, %z) {{transA = {a} : i64, transB = {b} : i64}} : (tensor<{'5x3' if a else '3x5'}x!x>, "
        f"tensor<{'4x5' if b else '5x4'}x!z>) -> tensor<3x4x!x>\n",
        "tensor<3x4x!x>",
    ) for a in (0, 1) for b in (0, 1)},
}  # fmt: skip


@pytest.mark.parametrize("name", CASES)
def test_one_step_at_most(name: str):
    sizes = [part.split("x!")[0] for part in CASES[name].partition(")")[0].split("tensor<")[1:]]
    rng = np.random.default_rng(7)
    for _ in range(3):
        feeds = [rng.integers(-128, 128, [int(n) for n in one.split("x")]).astype(np.int8) for one in sizes]
        assert compared(CASES[name], feeds).max() <= 1


@pytest.mark.parametrize(
    ("opset", "axis", "rows", "place"), [(11, 1, (2, 12), 1), (11, 2, (6, 4), 1), (13, 1, (2, 3, 4), 1)]
)
def test_an_old_softmax_is_one_row_of_all_axes(opset: int, axis: int, rows: tuple[int, ...], place: int):
    body = f"x: 2x3x4x!t\ny = Softmax(x) {{axis = {axis} : i64}} : 2x3x4x!mine"
    types = f"!mine = !quant.uniform<i8:f32, {power(-8)}:-128>\n"
    context, module = parsed(f"{types}{text(Case('', '', body, opset=opset))}")
    LowerToTosaPass().apply(context, module)
    (greatest,) = [op for op in module.walk() if op.name == "tosa.reduce_max"]
    assert shape_of(greatest.operands[0].type) == rows
    assert greatest.properties["axis"] == IntegerAttr(place, i32)


def test_the_greatest_of_all_pixels_is_one_window():
    body = "x: 2x3x4x5x!mine\ny = GlobalMaxPool(x) : 2x3x1x1x!mine"
    context, module = parsed(f"!mine = !quant.uniform<i8:f32, 1.0>\n{text(Case('', '', body))}")
    LowerToTosaPass().apply(context, module)
    (pool,) = [op for op in module.walk() if op.name == "tosa.max_pool2d"]
    stated = {
        name: array_attr(values)
        for name, values in (("kernel", (4, 5)), ("stride", (1, 1)), ("pad", (0,) * 4))
    }
    assert {name: pool.properties[name] for name in stated} == stated


@pytest.mark.parametrize(("exponent", "bits"), [(-1, 20), (0, 19), (3, 16), (18, 1), (19, None)])
@pytest.mark.parametrize("sign", [1.0, -1.0])
def test_constants_of_a_sum_count_by_the_greatest(exponent: int, bits: int | None, sign: float):
    """As an operand of 255 steps does whose scale is that power of two."""
    body = f"x: 2x3x!mine\nk = [1.0, {sign * 255 * 2.0**exponent}, 0.0] : 3xf32\ny = Add(x, k) : 2x3x!mine"
    result = terms_of_sum(last_op(body).operands, UniformType.per_tensor(Storage.of("i8"), np.float32(1.0)))
    if bits is None:
        assert result is COARSE
    else:
        assert not isinstance(result, Blocked)
        assert result[1] == min(bits, 19)  # the other operand's ratio is 1
