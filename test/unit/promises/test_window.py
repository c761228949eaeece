"""`promises.window`: the last case on one side of each bound, the first on the other."""

from __future__ import annotations

from dataclasses import replace
from typing import Any

import pytest
from guard_cases import last_op

from qdialect.promises.window import Geometry, Window


@pytest.mark.parametrize(
    ("attributes", "expected"),
    [
        ("", ((0, 0), (0, 0))),
        ("pads = array<i64: 1, 2, 3, 4>", ((1, 3), (2, 4))),
        ('auto_pad = "VALID"', ((0, 0), (0, 0))),
        # 7 by 9 pixels, windows of 2 by 4: one and three more
        ('auto_pad = "SAME_UPPER"', ((0, 1), (1, 2))),
        ('auto_pad = "SAME_LOWER"', ((1, 0), (2, 1))),
        # every third row, every other column: 3 and 5 results that reach 8 and 12 pixels
        ('auto_pad = "SAME_UPPER", strides = array<i64: 3, 2>', ((0, 1), (1, 2))),
        ('auto_pad = "SAME_UPPER", strides = array<i64: 7, 5>', ((0, 0), (0, 0))),
        # windows that reach over 4 and 7 pixels
        ('auto_pad = "SAME_UPPER", dilations = array<i64: 3, 2>', ((1, 2), (3, 3))),
    ],
)
def test_pads_of_a_window(attributes: str, expected: tuple[tuple[int, int], ...]):
    op = last_op(f"x: 2x3x7x9xf32\nw: 4x3x2x4xf32\ny = Conv(x, w) {{{attributes}}} : *xf32")
    window = op.get_trait(Window)
    assert window is not None
    assert window.pads(op) == expected


@pytest.mark.parametrize("shape", ["*", "2x3x7", "2x3x7x?", "2x3x?x9"])
def test_same_pads_want_all_sizes(shape: str):
    op = last_op(f'x: {shape}xf32\nw: 4x3x2x4xf32\ny = Conv(x, w) {{auto_pad = "SAME_UPPER"}} : *xf32')
    window = op.get_trait(Window)
    assert window is not None
    assert window.pads(op) is None
    op = last_op('x: ?x?x7x9xf32\nw: 4x3x2x4xf32\ny = Conv(x, w) {auto_pad = "SAME_UPPER"} : *xf32')
    assert window.pads(op) == ((0, 1), (1, 2))


@pytest.mark.parametrize(
    ("attributes", "expected"),
    [
        # without pads (7 - 1) * 3 + 2 = 20 rows and (9 - 1) * 2 + 4 = 20 columns
        ("output_shape = array<i64: 20, 17>, strides = array<i64: 3, 2>", ((0, 0), (2, 1))),
        ("output_shape = array<i64: 20, 21>, strides = array<i64: 3, 2>", None),
        (
            "output_shape = array<i64: 20, 21>, strides = array<i64: 3, 2>, output_padding = array<i64: 0, 1>",
            ((0, 0), (0, 0)),
        ),
        (
            "output_shape = array<i64: 20, 22>, strides = array<i64: 3, 2>, dilations = array<i64: 1, 2>",
            ((0, 0), (1, 0)),
        ),
        ("output_shape = array<i64: 20>, strides = array<i64: 3, 2>", None),
        ("pads = array<i64: 1, 2, 3, 4>", ((1, 3), (2, 4))),
        ('auto_pad = "SAME_UPPER"', ((0, 1), (1, 2))),
        ('auto_pad = "SAME_LOWER", strides = array<i64: 1, 2>', ((1, 0), (1, 1))),
        (
            'auto_pad = "SAME_UPPER", strides = array<i64: 2, 3>, output_padding = array<i64: 1, 0>',
            ((0, 1), (0, 1)),
        ),
        ('auto_pad = "SAME_UPPER", strides = array<i64: 3, 2>', None),
    ],
)
def test_pads_of_a_window_that_spreads(attributes: str, expected: tuple[tuple[int, int], ...] | None):
    op = last_op(f"x: 2x3x7x9xf32\nw: 3x4x2x4xf32\ny = ConvTranspose(x, w) {{{attributes}}} : *xf32")
    window = op.get_trait(Window)
    assert window is not None
    assert window.pads(op) == expected


POINT = Geometry(
    images=2, inputs=3, outputs=4, groups=1, kernel=(1, 1), strides=(1, 1), dilations=(1, 1), pads=((0, 0),) * 2,
    sizes=(7, 9), results=(7, 9),
)  # fmt: skip


@pytest.mark.parametrize(
    ("change", "is_point"),
    [
        ({}, True),
        ({"kernel": (1, 2)}, False),
        ({"strides": (2, 1)}, False),
        ({"pads": ((0, 0), (0, 1))}, False),
        ({"pads": ((1, 0), (0, 0))}, False),
        ({"pads": None}, False),
        ({"dilations": (2, 2)}, True),
    ],
)
def test_a_window_of_one_pixel(change: dict[str, Any], is_point: bool):
    assert replace(POINT, **change).is_pointwise is is_point


@pytest.mark.parametrize(
    ("groups", "weight", "regular"),
    [
        (1, "4x3x1x1", True),
        (0, "4x3x1x1", False),
        (-1, "4x3x1x1", False),
        (2, "4x3x1x1", True),
        (3, "4x3x1x1", False),
        (1, "0x3x1x1", False),
    ],
)
def test_groups_divide_channels(groups: int, weight: str, regular: bool):
    op = last_op(f"x: 2x3x7x9xf32\nw: {weight}xf32\ny = Conv(x, w) {{group = {groups} : i64}} : *xf32")
    window = op.get_trait(Window)
    assert window is not None
    assert window.is_regular(op) is regular
