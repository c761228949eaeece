"""`forms.geometry`: the last case on one side of each bound, the first on the other."""

from __future__ import annotations

import numpy as np
import pytest
from guard_cases import last_op

from qdialect.forms.geometry import pool, pool_counts, reduced_axes, tiled

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


def test_a_valid_window_has_no_pads_that_could_be_counted():
    how = '{kernel_shape = array<i64: 2, 3>, auto_pad = "VALID", strides = array<i64: 2, 1>}'
    window = pool(last_op(f"x: 1x2x5x4xf32\ny = AveragePool(x) {how} : 1x2x2x2xf32"))
    assert window.stated == window.pads == ((0, 0), (0, 0))
