"""Where a promise changes its mind: the last op, type or number on one side, and the first on the other."""

# ruff: noqa: E501 -- a case a line, so that the table can be read down

from __future__ import annotations

import numpy as np
import numpy.typing as npt
import pytest
from guard_cases import last_op
from promised_types import I8, U8, after, flat, reason, rows

from qdialect.dialects.quant import UniformType
from qdialect.promises import blocks
from qdialect.promises.affine import AFFINE
from qdialect.promises.arithmetic import Bounds, along, step_of
from qdialect.promises.axes import ALONG_AXIS
from qdialect.promises.blocks import BLOCK_CUT, BLOCKED_SCALES
from qdialect.promises.casts import MAX_FOLDED_OPS, DequantizeForm, described_type
from qdialect.promises.clamping import MAX_TESTED_VALUES, Keeps
from qdialect.promises.copies import Copies
from qdialect.promises.fake_quantize import FAKE_QUANTIZE
from qdialect.promises.reshaping import MAX_REPEATED_SCALES
from qdialect.reasons import SCALE_VALUE, UNKNOWN_RANK, Blocked


def blocked(scales: npt.ArrayLike, *sizes: tuple[int, int]) -> UniformType:
    """An i8 type of these scales, (axis, size) blocks, and zero points 1, 2, .."""
    array = np.array(scales, np.float32)
    return UniformType.sub_channel(I8, sizes, array, np.arange(1, array.size + 1).reshape(array.shape))


# --- Where scales go ---


@pytest.mark.parametrize(
    ("indices", "expected"),
    [([2, 0, -3, -1], [2, 0, 0, 2]), ([-4], None), ([3], None), ([1, 3, 0], None)],
)
def test_a_gather_counts_from_both_ends(indices: list[int], expected: list[int] | None):
    body = f"x: 3x4xf32\ni = {indices} : {len(indices)}xi64\ny = Gather(x, i) : ?x4xf32"
    type = rows(0.5, 0.25, 0.125)
    moved = after(body, type)
    if expected is None:
        assert reason(moved) == "invalid-op"
    else:
        assert moved == rows(*type.scales[expected], zeros=tuple(type.zero_points[expected]))


@pytest.mark.parametrize(
    ("axis", "forward", "backward"), [(0, 0, 0), (1, None, None), (2, 3, None), (3, 4, 2)]
)
def test_scales_beside_a_gathered_axis(axis: int, forward: int | None, backward: int | None):
    """Two axes of indices stand in the place of one: axes 1 and 2 of the result."""
    body = "x: ?x?x?x?xf32\ni: ?x?xi64\ny = Gather(x, i) {axis = 1 : i64} : ?x?x?x?x?xf32"
    for hoists, expected in ((False, forward), (True, backward)):
        moved = after(body, rows(0.5, 0.25, axis=axis), hoists=hoists)
        if expected is None:
            assert isinstance(moved, Blocked)
        else:
            assert moved == rows(0.5, 0.25, axis=expected)


@pytest.mark.parametrize(
    ("axis", "forward", "backward"), [(0, None, 1), (1, 0, 3), (2, None, 4), (3, 1, None), (4, 2, None)]
)
def test_scales_beside_reduced_axes(axis: int, forward: int | None, backward: int | None):
    body = "x: 3x3x3x3x3xf32\na = [2, 0] : 2xi64\ny = ReduceMax(x, a) {keepdims = 0 : i64} : 3x3x3xf32"
    moved = after(body, rows(0.5, 0.25, 2.0, axis=axis))
    assert moved == (ALONG_AXIS if forward is None else rows(0.5, 0.25, 2.0, axis=forward))
    if backward is not None:
        assert after(body, rows(0.5, 0.25, 2.0, axis=axis), hoists=True) == rows(
            0.5, 0.25, 2.0, axis=backward
        )


@pytest.mark.parametrize(("axis", "forward"), [(0, None), (1, 0), (2, None), (3, 1)])
def test_scales_beside_removed_axes(axis: int, forward: int | None):
    """Along an axis that goes there is one scale."""
    body = "x: 1x3x1x3xf32\na = [2, 0] : 2xi64\ny = Squeeze(x, a) : 3x3xf32"
    if forward is None:
        one = UniformType.per_axis(I8, axis, np.array([0.5], np.float32), np.array([7]))
        assert after(body, one) == flat(0.5, zero=7)
    else:
        assert after(body, rows(0.5, 0.25, 2.0, axis=axis)) == rows(0.5, 0.25, 2.0, axis=forward)


@pytest.mark.parametrize(
    ("size", "is_repeated"), [(MAX_REPEATED_SCALES, False), (MAX_REPEATED_SCALES + 2, True)]
)
def test_a_merged_axis_repeats_each_scale_so_often(size: int, is_repeated: bool):
    body = f"x: 2x{size // 2}xf32\ns = [{size}] : 1xi64\ny = Reshape(x, s) : {size}xf32"
    moved = after(body, rows(0.5, 0.25))
    if is_repeated:
        assert reason(moved) == "too-large"
    else:
        half = size // 2
        assert moved == rows(*[0.5] * half, *[0.25] * half, zeros=(1,) * half + (2,) * half)


EIGHT = [[[0.5, 0.25], [1.0, 2.0]]]


def test_axes_of_blocked_types_come_and_go():
    type = blocked(EIGHT, (0, 1), (2, 4))
    wider = blocks.with_axes(type, [1, 3])
    assert wider.blocks == ((0, 1), (1, 1), (3, 1), (4, 4))
    assert wider.scales.shape == (1, 1, 2, 1, 2)
    back = blocks.without_axes(wider, [1, 3])
    assert back == type
    assert blocks.without_axes(type, [0]) == blocked(EIGHT[0], (1, 4))
    one = blocks.without_axes(blocked([[0.5]], (0, 1), (1, 1)), [0, 1])
    assert one == flat(0.5, zero=1)


def test_blocked_types_are_cut_between_blocks():
    type = blocked([[0.5, 0.25, 1.0]], (1, 4))
    assert blocks.cut(type, 1, 0, 12, 12) == type
    part = blocks.cut(type, 1, 4, 8, 12)
    assert isinstance(part, UniformType)
    assert (part.scales.tolist(), part.zero_points.tolist(), part.blocks) == ([[0.25]], [[2]], ((1, 4),))
    for start, stop in ((1, 8), (4, 7), (4, 4), (8, 4)):
        assert blocks.cut(type, 1, start, stop, 12) == BLOCK_CUT
    assert blocks.cut(type, 0, 0, 3, 3) == type  # an axis of one block
    assert blocks.cut(type, 0, 0, 2, 3) == BLOCK_CUT


def test_blocked_types_are_joined_if_they_are_alike():
    a, b = blocked([[0.5, 0.25]], (1, 4)), blocked([[1.0]], (1, 4))
    whole = blocks.joined([a, b], 1)
    assert isinstance(whole, UniformType)
    assert (whole.scales.tolist(), whole.zero_points.tolist(), whole.blocks) == (
        [[0.5, 0.25, 1.0]], [[1, 2, 1]], ((1, 4),),
    )  # fmt: skip
    assert blocks.joined([a, a], 0) == BLOCKED_SCALES  # an axis of one block
    assert blocks.joined([a, blocked([[1.0]], (1, 8))], 1) == BLOCKED_SCALES


# --- Constants ---


@pytest.mark.parametrize(
    ("constant", "axis", "factor"),
    [("[3.0] : f32", None, 3.0), ("[3.0] : 1xf32", "rank", None), ("[3.0, 5.0] : 2xf32", "rank", None)],
)
def test_a_scalar_scales_a_tensor_of_any_rank(constant: str, axis: str | None, factor: float | None):
    op = last_op(f"x: *xf32\nk = {constant}\ny = Mul(x, k) : *xf32")
    map = AFFINE["", "Mul"].map(op)
    if axis is not None:
        assert map == UNKNOWN_RANK
    else:
        assert map is not None
        assert not isinstance(map, Blocked)
        assert (map.place, map.axis, float(map.factor), float(map.shift)) == (0, None, factor, 0)


@pytest.mark.parametrize(
    ("body", "ordered", "expected"),
    [
        ("x: 2xf32\nk = [3.0] : f32\ny = Mul(x, k) : 2xf32", False, (0, [3])),
        ("x: 2xf32\nk = [3.0] : f32\ny = Mul(k, x) : 2xf32", False, (1, [3])),
        ("x: 2xf32\nk = [3.0] : f32\ny = Div(k, x) : 2xf32", True, None),
        ("a = [2.0, 5.0] : 2xf32\nk = [3.0] : 1xf32\ny = Mul(a, k) : 2xf32", False, (0, [3])),
        ("a = [2.0, 5.0] : 2xf32\nk = [3.0] : 1xf32\ny = Mul(k, a) : 2xf32", False, (1, [3])),
        ("a = [2.0, 5.0] : 2xf32\nk = [3.0, 4.0] : 2xf32\ny = Mul(a, k) : 2xf32", False, None),
        ("x: 2xf32\nz: 2xf32\ny = Mul(x, z) : 2xf32", False, None),
    ],
)
def test_the_constant_of_a_step_is_the_smaller(
    body: str, ordered: bool, expected: tuple[int, list[float]] | None
):
    op = last_op(body)
    step = step_of(op, ordered=ordered)
    assert (
        None if step is None else (list(op.operands).index(step.value), step.constant.reshape(-1).tolist())
    ) == expected


@pytest.mark.parametrize(
    ("shape", "rank", "axis", "expected"),
    [
        ((), None, 0, ()),
        ((1, 1), 2, 0, ()),
        ((1, 1), None, 0, ()),
        ((1, 1), 1, 0, None),
        ((3,), None, 0, None),
        ((3,), 2, 1, (3,)),
        ((3,), 2, 0, None),
        ((3, 1), 2, 0, (3,)),
        ((1, 3, 1), 2, 0, None),
        ((1, 3, 1), 3, 1, (3,)),
        ((2, 3), 2, 1, None),
    ],
)
def test_a_constant_along_one_axis(
    shape: tuple[int, ...], rank: int | None, axis: int, expected: tuple[int, ...] | None
):
    entries = along(np.ones(shape, np.float32), rank, axis)
    assert (None if entries is None else entries.shape) == expected


@pytest.mark.parametrize(
    ("call", "constant", "expected"),
    [
        ("Max(x, k)", "[3.0] : f32", (3, np.inf)),
        ("Max(k, x)", "[3.0] : 1xf32", (3, np.inf)),
        ("Min(x, k)", "[3.0] : 1xf32", (-np.inf, 3)),
        ("Min(x, k)", "[3.0] : 1x1xf32", None),
        ("Max(x, k)", "[3.0, 4.0] : 2xf32", None),
        ("Max(x, k, k)", "[3.0] : f32", None),
    ],
)
def test_one_number_is_a_bound(call: str, constant: str, expected: tuple[float, float] | None):
    op = last_op(f"x: 2xf32\nk = {constant}\ny = {call} : *xf32")
    promise = op.get_trait(Bounds)
    assert promise is not None
    step = promise.step(op)
    assert (None if step is None else step[1:]) == expected
    assert step is None or step[0] is op.operands[call.startswith(("Max(k", "Min(k"))]


@pytest.mark.parametrize(
    ("name", "kept"),
    [
        ("ThresholdedRelu(x) {alpha = 2.0 : f32}", [False, False, True, False, False, True]),
        ("Shrink(x) {lambd = 2.0 : f32}", [True, False, True, False, False, True]),
        ("Shrink(x) {lambd = 2.0 : f32, bias = 1.0 : f32}", [False] * 6),
        ("Shrink(x)", [True, True, True, False, True, True]),
        ("ThresholdedRelu(x)", [False, False, True, False, True, True]),
        ("HardSigmoid(x) {alpha = 1.0 : f32, beta = 0.0 : f32}", [False, False, True, True, False, False]),
        ("HardSigmoid(x)", [False] * 6),
        ("Abs(x)", [False, False, True, True, True, True]),
    ],
)
def test_numbers_that_an_activation_keeps(name: str, kept: list[bool]):
    op = last_op(f"x: 2xf32\ny = {name} : 2xf32")
    promise = op.get_trait(Keeps)
    assert promise is not None
    assert promise.kept(op, np.array([-2.5, -2, 0, 0.5, 2, 2.5], np.float32)).tolist() == kept


@pytest.mark.parametrize(
    ("count", "is_redundant"), [(MAX_TESTED_VALUES // 256, True), (MAX_TESTED_VALUES // 256 + 1, False)]
)
def test_so_many_numbers_are_tested(count: int, is_redundant: bool):
    op = last_op("x: 2xf32\ny = Abs(x) : 2xf32")
    promise = op.get_trait(Keeps)
    assert promise is not None
    type = UniformType.per_axis(U8, 0, np.full(count, np.float32(0.5)), np.zeros(count, np.int64))
    assert promise.is_redundant(op, type) is is_redundant


# --- Casts ---


@pytest.mark.parametrize(
    ("scales", "expected"), [("0.5, 0.25", None), ("0.5, 0.0", "scale-value"), ("0.5, -0.25", "scale-value")]
)
def test_scales_are_above_zero(scales: str, expected: str | None):
    op = last_op(
        f"q: 2x3xi8\ns = [{scales}] : 2xf32\ny = DequantizeLinear(q, s) {{axis = 0 : i64}} : 2x3xf32"
    )
    type = described_type(op)
    assert reason(type) == expected
    assert expected is None or type == SCALE_VALUE


@pytest.mark.parametrize(
    ("operand", "result", "axis"), [("*", "2x3", 1), ("2x3", "*", 1), ("?x3", "2x3", 1), ("2x3", "2x3x5", 1)]
)
def test_axes_are_counted_in_the_shape_that_is_known(operand: str, result: str, axis: int):
    op = last_op(
        f"q: {operand}xi8\ns = [0.5, 0.25, 2.0] : 3xf32\n"
        f"y = DequantizeLinear(q, s) {{axis = -1 : i64}} : {result}xf32"
    )
    assert described_type(op) == rows(0.5, 0.25, 2.0, axis=axis, zeros=(0, 0, 0))


@pytest.mark.parametrize(
    ("count", "expected"), [(MAX_FOLDED_OPS - 2, "unfolded"), (MAX_FOLDED_OPS - 1, "run-time")]
)
def test_so_many_ops_of_constants_may_be_folded(count: int, expected: str):
    """The constant, and as many ops of it."""
    lines = ["k0 = [0.5] : f32", *(f"k{k + 1} = Neg(k{k}) : f32" for k in range(count))]
    body = "\n".join(["q: 2xi8", *lines, f"y = DequantizeLinear(q, k{count}) : 2xf32"])
    op = last_op(body)
    assert op.get_trait(DequantizeForm) is not None
    found = reason(described_type(op))
    assert found is not None
    assert expected in found


@pytest.mark.parametrize(
    ("least", "levels", "expected"),
    [
        (-0.01, 4, (0, 3)),
        (-0.011, 4, None),
        (-0.989, 4, None),
        (-1.01, 4, (-1, 2)),
        (0.0, 65536, (0, 65535)),
        (0.0, 65537, None),
        (0.0, 1, None),
        (0.0, 2, (0, 1)),
    ],
)
def test_zero_is_a_step_but_for_a_hundredth(least: float, levels: int, expected: tuple[int, int] | None):
    """In steps of 1."""
    greatest = np.float32(least) + np.float32(levels - 1)
    op = last_op(
        f"x: 2xf32\nl = [{np.float32(least):.9e}] : f32\ng = [{greatest:.9e}] : f32\n"
        f'y = Custom(x, l, g, l, g) {{domain = "org.openvinotoolkit", op_type = "FakeQuantize", attrs = {{levels = {levels} : i64}}}} : 2xf32'
    )
    one = FAKE_QUANTIZE["org.openvinotoolkit", "FakeQuantize"].parameters(op)
    if expected is None:
        assert reason(one) == "unlike-a-cast"
    else:
        assert not isinstance(one, Blocked)
        assert (one.storage.low, one.storage.high) == expected


@pytest.mark.parametrize(
    ("call", "constant", "place"),
    [
        ("Add(x, k)", "[0.0] : f32", 0), ("Add(k, x)", "[0.0] : f32", 1), ("Add(x, k)", "[1.0] : f32", None),
        ("Sub(x, k)", "[0.0] : f32", 0), ("Sub(k, x)", "[0.0] : f32", None), ("Mul(x, k)", "[1.0] : f32", 0),
        ("Mul(k, x)", "[1.0] : f32", 1), ("Mul(k, x)", "[0.0] : f32", None), ("Div(x, k)", "[1.0] : f32", 0),
        ("Div(k, x)", "[1.0] : f32", None), ("Add(x, k)", "[0.0, 1.0] : 2xf32", None),
    ],
)  # fmt: skip
def test_neutral_constants(call: str, constant: str, place: int | None):
    op = last_op(f"x: 2xf32\nk = {constant}\ny = {call} : *xf32")
    promise = op.get_trait(Copies)
    assert promise is not None
    assert promise.place(op) == place


@pytest.mark.parametrize(
    ("sizes", "diagonal", "upper", "place"),
    [
        ("5x3x4", "[-2] : i64", 1, 0), ("5x3x4", "[-1] : i64", 1, None), ("5x3x4", "[-2] : 1xi64", 1, 0),
        ("5x3x4", "[3] : i64", 0, 0), ("5x3x4", "[2] : i64", 0, None), ("5x3x4", "[-2] : i64", 0, None),
        ("?x1x4", "[0] : i64", 1, 0), ("?x1x4", "[1] : i64", 1, None), ("4x?", "[9] : i64", 0, None),
        ("*", "[0] : i64", 1, None), ("1x4", "i64", 1, None),
    ],
)  # fmt: skip
def test_triangles_that_keep_all(sizes: str, diagonal: str, upper: int, place: int | None):
    operand = f"k = {diagonal}" if "[" in diagonal else f"k: {diagonal}"
    op = last_op(f"x: {sizes}xf32\n{operand}\ny = Trilu(x, k) {{upper = {upper} : i64}} : {sizes}xf32")
    promise = op.get_trait(Copies)
    assert promise is not None
    assert promise.place(op) == place


def test_a_triangle_of_one_row_is_whole():
    op = last_op("x: 1x4xf32\ny = Trilu(x) : 1x4xf32")
    promise = op.get_trait(Copies)
    assert promise is not None
    assert promise.place(op) == 0


@pytest.mark.parametrize(
    ("own", "other", "place"), [("2x3", "3", 1), ("2x3", "1x2x3", None), ("*", "3", None), ("2x3", "*", None)]
)
def test_what_a_condition_of_one_value_selects_has_the_shape_of_the_result(
    own: str, other: str, place: int | None
):
    op = last_op(f"x: {own}xf32\nz: {other}xf32\nk = [1] : i1\ny = Where(k, x, z) : *xf32")
    promise = op.get_trait(Copies)
    assert promise is not None
    assert promise.place(op) == place
