"""`upstream.tosa.sums`: the last case on one side of each bound, the first on the other."""

from __future__ import annotations

from dataclasses import replace

import pytest
from geometries import ROW
from guard_cases import last_op

from qdialect.promises.linear import Linear
from qdialect.reasons import Blocked
from qdialect.upstream.tosa.sums import weight_in_i8, with_two_axes

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
    weight = weight_in_i8(op, linear)
    if expected is None:
        assert isinstance(weight, Blocked)
        return
    assert not isinstance(weight, Blocked)
    assert weight[0][:, 0].ravel().tolist() == expected
    assert weight[1] == zero


@pytest.mark.parametrize("pads", [((2, 3),), None])
def test_a_convolution_of_one_axis_is_one_of_two(pads: tuple[tuple[int, int], ...] | None):
    """The first has one row, which nothing is around."""
    both = replace(ROW, pads=((0, 0), *pads) if pads else None, kernel=(1, 3), strides=(1, 2))
    both = replace(both, dilations=(1, 2), sizes=(1, 9), results=(1, 4))
    names = ("kernel", "strides", "dilations", "sizes", "results")
    one = replace(both, pads=pads, **{name: getattr(both, name)[1:] for name in names})
    assert with_two_axes(one) == both
    assert with_two_axes(both) is both
    three = replace(both, **{name: (1, *getattr(both, name)) for name in names})
    assert isinstance(with_two_axes(three), Blocked)
