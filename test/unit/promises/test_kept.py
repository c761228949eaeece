"""Casts, Clip, Resize, reductions and row kernels: which types and attributes they keep, and at which sizes they do not."""

# ruff: noqa: E501 -- a case a line, so that the table can be read down

from __future__ import annotations

import numpy as np
import pytest
from guard_cases import last_op
from promised_types import after, flat, reason, rows

from qdialect.dialects.quant import Storage, UniformType
from qdialect.promises.casts import described_type
from qdialect.promises.clamping import CLAMPS, KEEPS
from qdialect.promises.kernels import KERNELS
from qdialect.promises.monotone import clip_bounds
from qdialect.promises.weight_only import packed_weight
from qdialect.promises.work import SumsProducts
from qdialect.reasons import Blocked, answer


@pytest.mark.parametrize(
    ("shape", "scales", "attributes", "expected"),
    [
        ("2x3", "3", "", 1),
        ("2x3", "2", "axis = 0 : i64", 0),
        ("2x3", "2", "axis = -2 : i64", 0),
        ("2x3", "3", "axis = 2 : i64", "invalid-parameters"),
        ("2x3", "3", "axis = -3 : i64", "invalid-parameters"),
        ("2x3", "2", "axis = 1 : i64", "invalid-parameters"),
        ("2x?", "3", "axis = 1 : i64", 1),
        ("2x3", "1x3", "axis = 1 : i64", "invalid-parameters"),
        ("*", "3", "axis = 1 : i64", "unknown-shape"),
        ("2x8", "2x2", "axis = 1 : i64, block_size = 4 : i64", ((0, 1), (1, 4))),
        ("4x3", "2x3", "axis = 0 : i64, block_size = 2 : i64", ((0, 2), (1, 1))),
        ("2x8", "2x4", "axis = 1 : i64, block_size = 4 : i64", "invalid-parameters"),
        ("2x8", "1x2", "axis = 1 : i64, block_size = 4 : i64", "invalid-parameters"),
        ("2x7", "2x2", "axis = 1 : i64, block_size = 4 : i64", "block-size"),
        ("?x8", "2x2", "axis = 1 : i64, block_size = 4 : i64", "block-size"),
        ("2x8", "2", "axis = 1 : i64, block_size = 4 : i64", "block-size"),
        # one block along the axis: a scale for each place on the other
        ("2x4", "2x1", "axis = 1 : i64, block_size = 4 : i64", 0),
        ("2x3", "2x1", "axis = 1 : i64, block_size = 4 : i64", 0),
        ("2x5", "2x1", "axis = 1 : i64, block_size = 4 : i64", "block-size"),
        ("3x2", "1x2", "axis = 0 : i64, block_size = 4 : i64", 1),
    ],
)
def test_how_scales_lie_on_a_tensor(
    shape: str, scales: str, attributes: str, expected: int | str | tuple[tuple[int, int], ...]
):
    count = int(np.prod([int(size) for size in scales.split("x")]))
    op = last_op(
        f"q: {shape}xi8\ns = {[float(k + 1) for k in range(count)]} : {scales}xf32\n"
        f"y = DequantizeLinear(q, s) {{{attributes}}} : {shape}xf32",
        21,
    )
    type = described_type(op)
    if isinstance(expected, str):
        assert reason(type) == expected
        return
    assert isinstance(type, UniformType)
    assert type.scales.reshape(-1).tolist() == list(range(1, count + 1))
    assert (type.axis if type.blocks is None else tuple(type.blocks)) == expected


@pytest.mark.parametrize(
    ("call", "constants", "opset", "expected"),
    [
        ("Clip(x, a, b)", ("[-1.0] : f32", "[2.0] : 1xf32"), 17, (-1, 2)),
        ("Clip(x, _, b)", ("[-1.0] : f32", "[2.0] : f32"), 17, (-np.inf, 2)),
        ("Clip(x, a)", ("[-1.0] : f32",), 17, (-1, np.inf)),
        ("Clip(x)", (), 17, (-np.inf, np.inf)),
        ("Clip(x, a, b)", ("[-1.0] : f32", "f32"), 17, None),
        ("Clip(x, a, b)", ("f32", "[2.0] : f32"), 17, None),
        ("Clip(x, a, b)", ("[-1.0, 0.0] : 2xf32", "[2.0] : f32"), 17, None),
        ("Clip(x) {min = -1.0 : f32}", (), 10, (-1, np.inf)),
        ("Clip(x) {max = 2.0 : f32}", (), 10, (-np.inf, 2)),
    ],
)
def test_bounds_of_a_clip(
    call: str, constants: tuple[str, ...], opset: int, expected: tuple[float, float] | None
):
    lines = [
        f"{n} = {c}" if c.startswith("[") else f"{n}: {c}" for n, c in zip("ab", constants, strict=False)
    ]
    op = last_op("\n".join(["x: 2xf32", *lines, f"y = {call} : 2xf32"]), opset)
    assert clip_bounds(op) == expected


@pytest.mark.parametrize(
    ("low", "high", "sinks", "is_redundant", "is_at_zero"),
    [
        (-64.0, 63.5, True, True, False),
        (-65.0, 64.0, True, True, False),
        (-63.5, 63.0, True, False, False),
        (-63.4, 63.5, "clip-bound", False, False),
        (-64.0, 63.4, "clip-bound", True, False),
        (0.0, 63.5, True, False, True),
        (0.0, 63.0, True, False, False),
        (0.5, 63.5, True, False, False),
    ],
)
def test_a_clip_of_64_steps_of_a_half(
    low: float, high: float, sinks: bool | str, is_redundant: bool, is_at_zero: bool
):
    """i8 holds -64 to 63.5."""
    body = f"x: 2xf32\na = [{low}] : f32\nb = [{high}] : f32\ny = Clip(x, a, b) : 2xf32"
    op, clamp, type = last_op(body), CLAMPS["", "Clip"], flat(0.5)
    moved = after(body, type)
    assert isinstance(moved, Blocked) == (sinks is not True)
    assert clamp.is_redundant(op, type) is is_redundant
    assert clamp.is_at_zero(op, type) is is_at_zero


@pytest.mark.parametrize(
    ("call", "constant", "result", "expected"),
    [
        ("Resize(x, _, k)", "[1.0, 2.0] : 2xf32", "3x8", True),
        ("Resize(x, _, k)", "[2.0, 1.0] : 2xf32", "6x4", "scales-along-axis"),
        ("Resize(x, _, k)", "[1.125, 2.0] : 2xf32", "3x8", "scales-along-axis"),
        ("Resize(x, _, k)", "[1.0, 2.0] : 2xf32", "*", "unknown-shape"),
        ('Resize(x, _, k) {mode = "linear"}', "[1.0, 2.0] : 2xf32", "3x8", "interpolates"),
        (
            'Resize(x, _, k) {coordinate_transformation_mode = "tf_crop_and_resize"}',
            "[1.0, 2.0] : 2xf32",
            "3x8",
            "interpolates",
        ),
        (
            'Resize(x, _, k) {coordinate_transformation_mode = "tf_half_pixel_for_nn"}',
            "[1.0, 2.0] : 2xf32",
            "3x8",
            "scales-along-axis",
        ),
        ("Resize(x, _, k)", "2xf32", "3x8", "computed-parameter"),
        ("Resize(x, _, _, k)", "2xi64", "3x8", True),
        ("Resize(x, _, _, k)", "2xi64", "5x8", "scales-along-axis"),
        ('Resize(x, _, _, k) {keep_aspect_ratio_policy = "not_larger"}', "2xi64", "3x8", "scales-along-axis"),
        ("Resize(x, _, _, k) {axes = array<i64: -1>}", "1xi64", "3x8", True),
        ("Resize(x, _, _, k) {axes = array<i64: 0>}", "[3] : 1xi64", "3x4", True),
    ],
)
def test_scales_beside_a_resized_axis(call: str, constant: str, result: str, expected: bool | str):
    line = f"k = {constant}" if constant.startswith("[") else f"k: {constant}"
    moved = after(f"x: 3x4xf32\n{line}\ny = {call} : {result}xf32", rows(0.5, 0.25, 2.0))
    if expected is True:
        assert moved == rows(0.5, 0.25, 2.0)
    else:
        assert reason(moved) == expected


@pytest.mark.parametrize(
    ("shape", "axis", "expected"),
    [
        ("2x3x4", -1, (6, 4, 24)),
        ("?x3x4", 2, (3, 4, 12)),
        ("2x3x4", 1, None),
        ("2x3x?", 2, None),
        ("3", 0, (1, 3, 3)),
        ("*", 0, None),
    ],
)
def test_rows_of_a_softmax(shape: str, axis: int, expected: tuple[int, int, int] | None):
    op = last_op(f"x: {shape}xf32\ny = Softmax(x) {{axis = {axis} : i64}} : {shape}xf32")
    (kernel,) = KERNELS["", "Softmax"].forms
    assert kernel.rows is not None
    assert kernel.rows(op) == expected
    old = last_op("x: 2x3x4xf32\ny = Softmax(x) : 2x3x4xf32", 12)
    assert kernel.rows(old) == (2, 12, 24)


@pytest.mark.parametrize(
    ("attributes", "rank", "opset", "expected"),
    [
        ("axis = 1 : i64, opset = 13 : i64", "2x3x4", 17, "1 : i64"),
        ("axis = 1 : i64, opset = 12 : i64", "2x3x4", 17, "opset"),
        ("axis = 1 : i64, opset = 13 : i64", "2x3x4", 12, "opset"),
        ("axis = 1 : i64, opset = 12 : i64", "2x3x4", 12, "1 : i64"),
        ("axis = 2 : i64, opset = 12 : i64", "2x3x4", 17, "2 : i64"),
        ("axis = 2 : i64, opset = 12 : i64", "*", 17, "opset"),
        ("axis = -1 : i64, opset = 12 : i64", "*", 17, "-1 : i64"),
        ("opset = 12 : i64", "2x3x4", 17, "-1 : i64"),
        ("axis = 1 : i64", "2x3x4", 17, "1 : i64"),
        ("axis = 1 : i64, opset = 13 : i64", "2x3x4", 13, "1 : i64"),
        ("axis = 1 : i64, opset = 12 : i64", "2x3x4", 13, "opset"),
    ],
)
def test_rows_that_a_softmax_kernel_means(attributes: str, rank: str, opset: int, expected: str):
    (kernel,) = KERNELS["", "Softmax"].forms
    node = last_op(
        f"x: {rank}xui8\ns = [0.5] : f32\ny = QLinearSoftmax(x, s, _, s, _) {{{attributes}}} : {rank}xui8"
    )
    found = kernel.read(node, opset)
    assert (found.id if isinstance(found, Blocked) else str(found["axis"])) == expected


@pytest.mark.parametrize(
    ("call", "x", "w", "result", "count"),
    [
        ("Gemm(x, w) {transA = 1 : i64}", "3x5", "3x4", "5x4", 5 * 4 * 3),
        ("Gemm(x, w)", "5x3", "3x4", "5x4", 5 * 4 * 3),
        ("MatMul(x, w)", "3", "3x4", "4", 4 * 3),
        ("MatMul(x, w)", "*", "3x4", "5x4", 3 * 4),
        ("MatMul(x, w)", "*", "*", "5x4", None),
    ],
)
def test_products_of_matrices(call: str, x: str, w: str, result: str, count: int | None):
    op = last_op(f"x: {x}xf32\nw: {w}xf32\ny = {call} : {result}xf32")
    work = op.get_trait(SumsProducts)
    assert work is not None
    assert work.count(op) == count


def test_a_weight_of_scales_along_its_inputs_is_not_packed():
    type = UniformType.per_axis(Storage.of("i8"), 0, np.ones(32, np.float32), np.zeros(32, np.int64))
    assert reason(answer(packed_weight, np.zeros((32, 5), np.int8), type, 0)) == "weight-axis"
    assert not isinstance(packed_weight(np.zeros((5, 32), np.int8).T, flat(0.5), 0), Blocked)


@pytest.mark.parametrize(
    ("call", "constant", "kept"),
    [
        ("Max(x, k)", "[-1.0] : f32", [False, True, True, True]),
        ("Max(k, x)", "[-1.0, 0.0] : 2xf32", [False, False, True, True]),
        ("Min(x, k)", "[1.0, 0.0] : 2xf32", [True, True, True, False]),
        ("Min(k, x)", "[1.0] : f32", [True, True, True, True]),
        ("Min(x, k, k)", "[1.0] : f32", [False] * 4),
        ("Min(k, k)", "[1.0] : f32", [False] * 4),
    ],
)
def test_numbers_within_a_bound(call: str, constant: str, kept: list[bool]):
    op = last_op(f"x: 2xf32\nk = {constant}\ny = {call} : 2xf32")
    assert KEEPS["", op.op_type].kept(op, np.array([-2, -1, 0, 1], np.float32)).tolist() == kept


@pytest.mark.parametrize(
    ("mode", "axis", "expected"),
    [
        ('{mode = "nearest"}', 0, True),
        ('{mode = "nearest"}', 1, True),
        ('{mode = "nearest"}', 2, "scales-along-axis"),
        ('{mode = "linear"}', 0, "interpolates"),
        ("", 0, "interpolates"),
    ],
)
def test_scales_of_pixels_that_are_picked(mode: str, axis: int, expected: bool | str):
    moved = after(
        f"x: 3x3x3x3xf32\ng: 3x3x3x2xf32\ny = GridSample(x, g) {mode} : 3x3x3x3xf32", rows(1, 2, 4, axis=axis)
    )
    assert (moved == rows(1, 2, 4, axis=axis)) if expected is True else reason(moved) == expected
