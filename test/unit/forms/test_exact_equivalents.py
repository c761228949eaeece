"""Where a form changes its mind, or a number that it computes: the last case on one side, the first on the other."""

from __future__ import annotations

from dataclasses import replace
from typing import Any

import numpy as np
import pytest
from geometries import ROW
from guard_cases import Case, last_op, parsed, text

from qdialect.dialects.onnx_base import OnnxOp
from qdialect.dialects.quant import Storage, UniformType
from qdialect.forms.activations import activations_of
from qdialect.forms.contrib_ops import FOREIGN
from qdialect.forms.exact_equivalents import _chooser, _slopes  # pyright: ignore[reportPrivateUsage]
from qdialect.forms.geometry import pool, pool_counts, reduced_axes, tiled
from qdialect.numerics.near_ties import _bounds, _within  # pyright: ignore[reportPrivateUsage]
from qdialect.numerics.pixels import coordinates
from qdialect.numerics.tables import reciprocals
from qdialect.promises.clamping import KEEPS
from qdialect.promises.linear import Linear
from qdialect.reasons import Blocked, unblocked
from qdialect.transforms.lower_to_tosa import LowerToTosaPass
from qdialect.upstream.tosa.elementwise import COARSE, _terms  # pyright: ignore[reportPrivateUsage]
from qdialect.upstream.tosa.images import _Line, _lines, _rounded  # pyright: ignore[reportPrivateUsage]
from qdialect.upstream.tosa.sums import _stored_weight, _two_axes  # pyright: ignore[reportPrivateUsage]

LEGAL = [
    # numerator, denominator, offset, sizes
    (1, 1, 0, 5, 5, True),
    (2048, 1, 0, 2, 2, True),
    (2049, 1, 0, 2, 2, False),
    (0, 1, 0, 1, 1, False),
    (1, 15, 0, 16, 2, True),
    (1, 16, 0, 17, 2, False),
    (2, 31, 0, 17, 2, True),
    (2, 32, 0, 17, 2, False),
    (2, 1, -2, 4, 4, True),
    (2, 1, -3, 4, 4, False),
    (2, 1, 31, 20, 8, True),
    (2, 1, 32, 20, 8, False),
    (1, 1, 0, 17, 1, True),  # the last pixel lies 16 in front of the border
    (1, 1, 0, 18, 1, False),
    (2, 1, 0, 17, 2, True),  # 31 halves in front of it, then 32 and 33
    (2, 1, 0, 17, 1, True),
    (2, 1, -1, 17, 1, False),
    (2, 1, 0, 3, 6, True),  # half a pixel behind it, then a whole one
    (2, 1, 0, 3, 7, False),
    (2, 1, 0, 3, 5, True),
    (2, 1, 1, 3, 5, True),
    (2, 1, 2, 3, 5, False),
]


@pytest.mark.parametrize(("n", "d", "offset", "old", "new", "legal"), LEGAL)
def test_which_scales_offsets_and_borders_tosa_allows(
    n: int, d: int, offset: int, old: int, new: int, legal: bool
):
    border = (new - 1) * d - (old - 1) * n + offset
    line = _Line(n, d, offset)
    assert line.border(old, new) == border
    expected = 0 < n <= 2048 and d < 16 * n and -n <= offset < 16 * n and -16 * n <= border < n
    assert line.is_legal(old, new) is expected is legal


@pytest.mark.parametrize("mode", ["align_corners", "asymmetric", "half_pixel", "pytorch_half_pixel"])
@pytest.mark.parametrize(("old", "new"), [(4, 8), (6, 4), (5, 3), (3, 1), (1, 4), (1, 1), (5, 9)])
def test_lines_have_the_coordinates_of_pixels(mode: str, old: int, new: int):
    line = _lines(old, new, mode)
    if mode == "pytorch_half_pixel" and new == 1:
        assert line is None
        return
    assert line is not None
    at = (np.arange(new) * line.d + line.offset) / line.n
    if old > 1 or mode != "align_corners":
        assert np.allclose(at, coordinates(old, new, new / old, mode), atol=1e-5)
    else:
        assert ((0 <= at) & (at <= new)).all()
    assert np.gcd(np.gcd(line.n, line.d), line.offset or line.n) <= 2  # in lowest terms, but for halves


@pytest.mark.parametrize(
    ("old", "new", "rows"),
    [
        (4, 8, [0, 0, 1, 1, 2, 2, 3, 3]),
        (4, 8, [0, 1, 1, 2, 2, 3, 3, 3]),
        (6, 4, [0, 2, 3, 5]),
        (6, 4, [0, 1, 3, 4]),
        (6, 3, [0, 2, 4]),
        (6, 3, [1, 3, 5]),
        (6, 2, [1, 4]),
        (5, 3, [0, 2, 4]),
        (4, 6, [0, 0, 1, 2, 2, 3]),
        (4, 5, [0, 1, 1, 2, 3]),
        (2, 1, [1]),
        (4, 1, [1]),
        (3, 4, [0, 0, 1, 2]),
        (4, 7, [0, 0, 1, 1, 2, 3, 3]),
        (4, 6, [0, 1, 2, 2, 3, 3]),
        (3, 3, None),
    ],
)
def test_a_line_picks_the_rows_that_it_was_asked_for(old: int, new: int, rows: list[int] | None):
    line = _rounded(None if rows is None else np.array(rows), old, new)
    assert line is not None
    assert line.is_legal(old, new)
    assert line.nearest(old, new).tolist() == (list(range(old)) if rows is None else rows)


def test_no_line_picks_rows_out_of_order():
    assert _rounded(np.array([0, 2, 1, 3]), 4, 4) is None


POOLS = [
    # attributes, sizes, result, pads before and behind the windows, elements under each
    ("kernel_shape = array<i64: 3>", 5, 3, (0, 0), [3, 3, 3]),
    ("kernel_shape = array<i64: 3>, strides = array<i64: 2>", 6, 2, (0, 0), [3, 3]),
    ("kernel_shape = array<i64: 3>, pads = array<i64: 1, 1>", 4, 4, (1, 1), [2, 3, 3, 2]),
    ("kernel_shape = array<i64: 3>, pads = array<i64: 2, 0>", 4, 4, (2, 0), [1, 2, 3, 3]),
    ("kernel_shape = array<i64: 2>, dilations = array<i64: 3>", 5, 2, (0, 0), [2, 2]),
    ("kernel_shape = array<i64: 2>, dilations = array<i64: 3>, pads = array<i64: 1, 2>", 5, 5, (1, 2), [1, 2, 2, 1, 1]),
    ('kernel_shape = array<i64: 2>, auto_pad = "SAME_UPPER"', 3, 3, (0, 1), [2, 2, 1]),
    ('kernel_shape = array<i64: 2>, auto_pad = "SAME_LOWER"', 3, 3, (1, 0), [1, 2, 2]),
    ('kernel_shape = array<i64: 4>, auto_pad = "SAME_UPPER", strides = array<i64: 3>', 7, 3, (1, 2), [3, 4, 2]),
    ('kernel_shape = array<i64: 2>, auto_pad = "SAME_UPPER", strides = array<i64: 3>', 4, 2, (0, 1), [2, 1]),
    ('kernel_shape = array<i64: 1>, auto_pad = "SAME_UPPER", strides = array<i64: 2>', 4, 2, (0, 0), [1, 1]),
    ('kernel_shape = array<i64: 3>, auto_pad = "VALID"', 5, 3, (0, 0), [3, 3, 3]),
    ("kernel_shape = array<i64: 2>, strides = array<i64: 2>, ceil_mode = 1 : i64", 5, 3, (0, 1), [2, 2, 1]),
]  # fmt: skip


@pytest.mark.parametrize(("attributes", "size", "result", "pads", "counts"), POOLS)
def test_pads_and_elements_under_a_window(
    attributes: str, size: int, result: int, pads: tuple[int, int], counts: list[int]
):
    body = f"x: 1x2x{size}xf32\ny = AveragePool(x) {{ATTRIBUTES}} : 1x2x{result}xf32"
    op = last_op(body.replace("ATTRIBUTES", attributes), opset=19)
    window = pool(op)
    assert window.pads == (pads,)
    assert pool_counts(op, window).tolist() == counts
    op = last_op(body.replace("ATTRIBUTES", f"{attributes}, count_include_pad = 1 : i64"), opset=19)
    every = pool_counts(op, pool(op)).tolist()
    taps = int(np.prod(op.ints_attr("kernel_shape") or ()))
    assert every == counts if "ceil_mode" in attributes else every == [taps] * result


def test_a_window_of_two_axes_is_that_of_each():
    attributes = "kernel_shape = array<i64: 3, 2>, strides = array<i64: 2, 1>, pads = array<i64: 1, 0, 0, 1>"
    op = last_op(f"x: 1x2x5x6xf32\ny = AveragePool(x) {{{attributes}}} : 1x2x2x6xf32")
    window = pool(op)
    assert window.pads == ((1, 0), (0, 1))
    assert (window.kernel, window.strides, window.dilations) == ((3, 2), (2, 1), (1, 1))
    assert pool_counts(op, window).tolist() == [[4, 4, 4, 4, 4, 2], [6, 6, 6, 6, 6, 3]]


@pytest.mark.parametrize(
    ("op", "result", "axes"),
    [
        ("GlobalAveragePool(x)", "2x3x1x1", [2, 3]),
        ("ReduceMean(x) {axes = array<i64: -1, 1>}", "2x1x4x1", [1, 3]),
        ("ReduceMean(x)", "1x1x1x1", [0, 1, 2, 3]),
    ],
)
def test_which_axes_are_reduced(op: str, result: str, axes: list[int]):
    assert reduced_axes(last_op(f"x: 2x3x4x5xf32\ny = {op} : {result}xf32", opset=17)) == axes


def test_a_tile_repeats_the_axes_that_grow():
    op = last_op("x: 2x1x3xf32\nk = [1, 3, 2] : 3xi64\ny = Tile(x, k) : 2x3x6xf32")
    assert {axis: rows.tolist() for axis, rows in tiled(op).items()} == {1: [0, 0, 0], 2: [0, 1, 2, 0, 1, 2]}


WEIGHTS = [
    # element type, stored values, what the integer profile multiplies with, its zero point
    ("i8:f32, 0.5", [-128, 127], "i8", [-128, 127], 0),
    ("i8:f32, 0.5:-128", [-128, 127], "i8", [-128, 127], -128),
    ("i8:f32, 0.5:127", [-128, 127], "i8", [-128, 127], 127),
    ("u8:f32, 0.5:127", [0, 127], "ui8", [0, 127], 127),
    ("u8:f32, 0.5:128", [0, 127], "ui8", [-128, -1], 0),
    ("u8:f32, 0.5:127", [0, 128], "ui8", [-128, 0], -1),
    ("u8:f32:0, {0.5:1,0.25:200}", [1, 73], "ui8", [0, -127], 0),
    ("u8:f32:0, {0.5:1,0.25:200}", [1, 72], "ui8", [0, -128], 0),
    ("u8:f32:0, {0.5:1,0.25:200}", [1, 71], "ui8", None, 0),
    ("u8:f32:0, {0.5:1,0.25:200}", [128, 200], "ui8", [127, 0], 0),
    ("u8:f32:0, {0.5:1,0.25:200}", [129, 200], "ui8", None, 0),
]


@pytest.mark.parametrize(("element", "stored", "kind", "expected", "zero"), WEIGHTS)
def test_a_weight_in_i8_keeps_its_values(
    element: str, stored: list[int], kind: str, expected: list[int] | None, zero: int
):
    values = [v for v in stored for _ in range(3)]
    body = f"""
        x: 1x3x4x4x!t
        w = {values} : 2x3x1x1x{kind} as 2x3x1x1x!mine
        y = Conv(x, w) : 1x2x4x4x!t"""
    op = last_op(body, mine=f"!quant.uniform<{element}>")
    linear = op.get_trait(Linear)
    assert linear is not None
    weight = _stored_weight(op, linear)
    if expected is None:
        assert isinstance(weight, Blocked)
        return
    assert not isinstance(weight, Blocked)
    assert weight[0][:, 0].ravel().tolist() == expected
    assert weight[1] == zero


@pytest.mark.parametrize(
    ("exponent", "count", "bits"),
    [(-3, 2, 20), (-1, 2, 20), (0, 2, 19), (5, 2, 14), (18, 2, 1), (19, 2, None), (0, 3, 19), (0, 5, 18), (0, 9, 17),
     (17, 5, 1), (18, 5, None)],
)  # fmt: skip
def test_terms_have_as_many_fraction_bits_as_32_bits_allow(exponent: int, count: int, bits: int | None):
    """One less for each doubling of the largest ratio from 1 on, and of the number of terms from 4 on."""
    scale = f"!quant.uniform<i8:f32, {float(2.0**exponent)!r}>"
    op = last_op(f"x: 2x3x!mine\ny = Sum({', '.join(['x'] * count)}) : 2x3x!t", mine=scale)
    result = _terms(op.operands, UniformType.per_tensor(Storage.of("i8"), np.float32(1.0)))
    if bits is None:
        assert result is COARSE
    else:
        assert not isinstance(result, Blocked)
        assert result[1] == bits


def named(names: list[str], alphas: list[float], betas: list[float]) -> OnnxOp:
    lists = [f"activations = {names!r}".replace("'", '"')]
    for name, values in (("activation_alpha", alphas), ("activation_beta", betas)):
        if values:
            lists.append(f"{name} = array<f32: {', '.join(map(str, values))}>")
    return last_op(f"""
        x: 5x3x4xf32
        w: 1x6x4xf32
        r: 1x6x2xf32
        y = GRU(x, w, r) {{hidden_size = 2 : i64, {", ".join(lists)}}} : 5x1x3x2xf32""")


@pytest.mark.parametrize(
    ("names", "alphas", "betas", "expected"),
    [
        (["Relu", "HardSigmoid"], [0.3], [0.4], [(None, None), (0.3, 0.4)]),
        (["LeakyRelu", "HardSigmoid"], [0.3, 0.4], [0.6], [(0.3, None), (0.4, 0.6)]),
        (["LeakyRelu", "HardSigmoid"], [0.3], [], [(0.3, None), (0.2, 0.5)]),
        (["Affine", "ScaledTanh"], [], [0.25], [(1.0, 0.25), (1.0, 1.0)]),
        (["Tanh", "Elu"], [], [], [(None, None), (1.0, None)]),
    ],
)
def test_parameters_go_to_the_functions_that_take_them(
    names: list[str], alphas: list[float], betas: list[float], expected: list[tuple[Any, Any]]
):
    (functions,) = unblocked(activations_of(named(names, alphas, betas), ["Sigmoid", "Tanh"], 1))
    assert [f[0] for f in functions] == names
    for function, (alpha, beta) in zip(functions, expected, strict=True):
        assert function[1] == (alpha if alpha is None else pytest.approx(alpha))
        assert function[2] == (beta if beta is None else pytest.approx(beta))


def test_a_shrink_keeps_what_is_above_its_bound_and_0():
    op = last_op("x: 3xf32\ny = Shrink(x) {lambd = 0.5 : f32} : 3xf32")
    values = np.array([-0.75, -0.5, -0.25, 0, 0.25, 0.5, 0.75], np.float32)
    assert KEEPS["", "Shrink"].kept(op, values).tolist() == [True, False, False, True, False, False, True]


def test_a_multiplier_goes_to_the_nearest_bound_of_most_weight():
    largest = 2**31 - 1

    def within(start: int, *bounds: tuple[int, int, float]) -> int:
        least, greatest, weights = (np.array(column) for column in zip(*bounds, strict=True))
        return _within(start, least, greatest, weights)

    assert within(2**30, (2**30 - 5, 2**30 + 5, 1.0)) == 2**30
    assert within(2**30, (2**30 + 3, 2**30 + 5, 1.0)) == 2**30 + 3
    assert within(2**30, (2**30 - 5, 2**30 - 2, 1.0)) == 2**30 - 2
    assert within(2**30, (2**30 + 3, 2**30 + 5, 1.0), (2**30 - 5, 2**30 - 2, 2.0)) == 2**30 - 2
    assert within(largest - 1, (largest, largest + 9, 1.0)) == largest
    assert within(largest - 1, (largest + 1, largest + 9, 1.0)) == largest - 1
    assert within(2**30, (2**30 + 256, 2**30 + 300, 1.0)) == 2**30 + 256
    assert within(2**30, (2**30 + 257, 2**30 + 300, 1.0)) == 2**30


@pytest.mark.parametrize("bits", [0, 3])
@pytest.mark.parametrize("sum", [1, -1, 7, -7, 100])
def test_bounds_of_a_multiplier_are_those_that_give_the_result(sum: int, bits: int):
    """The least and the greatest give it, the next ones do not; with bits, ties of the second rounding go to even."""
    shift, result = 20, 3 if sum > 0 else -4
    least, greatest = (
        int(end[0])
        for end in _bounds(np.array([sum]), np.array([float(result)]), np.array([shift], np.int8), bits)
    )

    def rounded(multiplier: int) -> int:
        fine = (sum * multiplier + (1 << shift - 1)) >> shift
        half = (1 << bits) >> 1
        up = (fine + half) >> bits
        return up - 1 if bits and up % 2 and (fine + half) % (1 << bits) == 0 else up

    assert [rounded(m) == result for m in (least - 1, least, greatest, greatest + 1)] == [
        False, True, True, False,
    ]  # fmt: skip


@pytest.mark.parametrize(
    ("x", "slope", "result", "fits"),
    [
        ("2x3xf32", "[0.5, 0.25, 2.0] : 3xf32", "2x3xf32", True),
        ("2x3xf32", "[0.5, 0.25] : 2x1xf32", "2x3xf32", True),
        ("?x3xf32", "[0.5, 0.25, 2.0] : 3xf32", "?x3xf32", True),
        ("?x3xf32", "[0.5, 0.25, 2.0] : 1x3xf32", "?x3xf32", True),
        ("2x?xf32", "[0.5, 0.25, 2.0] : 3xf32", "2x?xf32", False),
        ("2x3xf32", "[0.5] : 1xf32", "2x3xf32", False),
        ("3xf32", "[0.5, 0.25, 2.0] : 1x3xf32", "3xf32", False),
        ("2x1xf32", "[0.5, 0.25, 2.0] : 3xf32", "2x3xf32", False),
        ("*xf32", "[0.5, 0.25, 2.0] : 3xf32", "*xf32", False),
        ("2x3xf16", "[0.5, 0.25, 2.0] : 3xf16", "2x3xf16", False),
        ("2x3xf32", "", "2x3xf32", False),
    ],
)
def test_slopes_are_several_constants_that_broadcast(x: str, slope: str, result: str, fits: bool):
    stated = f"k = {slope}" if slope else "k: 3xf32"
    op = last_op(f"x: {x}\n{stated}\ny = PRelu(x, k) : {result}")
    slopes = _slopes(op.operands[0], op.operands[1], op.results[0])
    assert (slopes is not None) is fits


@pytest.mark.parametrize(
    ("x", "slope", "fits"),
    [
        ("3xf32", "[0.5] : 1xf32", True),
        ("*xf32", "[0.5] : 1xf32", True),
        ("3xf32", "[0.5] : 1x1xf32", False),
        ("f32", "[0.5] : 1xf32", False),  # onnxruntime gives a vector, whatever type is stated
    ],
)
def test_one_slope_of_a_higher_rank_makes_the_result_larger(x: str, slope: str, fits: bool):
    parts = FOREIGN["", "PRelu"].parts(last_op(f"x: {x}\nk = {slope}\ny = PRelu(x, k) : {x}"))
    assert (parts.id if isinstance(parts, Blocked) else "fits") == ("fits" if fits else "invalid-op")


@pytest.mark.parametrize(
    ("slopes", "name"),
    [
        ([0.5, -2.0], "Max"),
        ([0.5, 1.0], "Max"),
        ([1.0, 1.0], "Max"),
        ([1.0, 1.5], "Min"),
        ([0.5, 1.5], None),
        ([0.5, 0.0], None),
        ([0.5, -np.inf], None),
        ([np.nan, 0.5], None),
    ],
)
def test_a_slope_above_1_takes_the_lesser(slopes: list[float], name: str | None):
    assert _chooser(np.array(slopes, np.float32)) == name


@pytest.mark.parametrize("length", [2, 5, 40, 300, 340, 2000])
def test_each_correction_of_a_reciprocal_squares_its_error(length: int):
    """Of the sum of a row, which a Softmax divides by."""
    scale = "!quant.uniform<i8:f32, 0.00390625:-128>"
    case = Case("", "", f"x: 3x{length}x!t\ny = Softmax(x) : 3x{length}x!mine")
    context, module = parsed(f"!mine = {scale}\n{text(case)}")
    LowerToTosaPass().apply(context, module)
    error, count = reciprocals(length)[1], 0
    while error > 2.0**-16:
        error, count = error * error, count + 1
    assert count >= 1
    # one difference for the greatest of a row, and one for each correction
    assert sum(op.name == "tosa.sub" for op in module.walk()) == 1 + count


@pytest.mark.parametrize(
    ("sizes", "legal"), [((7, 73), True), ((27, 19), False), ((8, 64), False), ((8, 60), True)]
)
def test_sums_of_four_pixels_fit_where_their_multiplier_says(sizes: tuple[int, int], legal: bool):
    """A shift of 18 takes 17 bits: 256 times 511 pixels of weight, not 512."""
    height, width = sizes
    parts = height * width
    coarse = f"!mine = !quant.uniform<i8:f32, {float(np.float32(parts * 5000.0))!r}>\n"
    attributes = '{mode = "linear", coordinate_transformation_mode = "asymmetric"}'
    case = Case("", "", f"""
        x: 1x1x1x1x!mine
        n = [1, 1, {height}, {width}] : 4xi64
        y = Resize(x, _, _, n) {attributes} : 1x1x{height}x{width}x!plain""")  # fmt: skip
    context, module = parsed(f"!plain = !quant.uniform<i8:f32, 1.0>\n{coarse}{text(case)}")
    LowerToTosaPass().apply(context, module)
    assert ("tosa.resize" in str(module)) is legal


@pytest.mark.parametrize("pads", [((2, 3),), None])
def test_a_convolution_of_one_axis_is_one_of_two(pads: tuple[tuple[int, int], ...] | None):
    """The first has one row, which nothing is around."""
    both = replace(ROW, pads=((0, 0), *pads) if pads else None, kernel=(1, 3), strides=(1, 2))
    both = replace(both, dilations=(1, 2), sizes=(1, 9), results=(1, 4))
    names = ("kernel", "strides", "dilations", "sizes", "results")
    one = replace(both, pads=pads, **{name: getattr(both, name)[1:] for name in names})
    assert _two_axes(one) == both
    assert _two_axes(both) is both
    three = replace(both, **{name: (1, *getattr(both, name)) for name in names})
    assert isinstance(_two_axes(three), Blocked)
