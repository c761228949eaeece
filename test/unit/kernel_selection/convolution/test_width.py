"""`kernel_selection.convolution.width`: the last case on one side of each bound, the first on the other."""

from __future__ import annotations

from dataclasses import replace

import pytest
from geometries import FREE, ROW, SPACE

from qdialect.dialects.onnx_types import DYNAMIC
from qdialect.kernel_selection.convolution.step import Spec
from qdialect.kernel_selection.convolution.width import (
    Packing,
    Row,
    moves_of_packing,
    packed_spec,
    packed_widths,
    packings,
    row_of,
)
from qdialect.promises.window import Geometry
from qdialect.targets.pricing import (
    ALIGNED,
    POINTWISE,
    QUANTIZED,
    SOME_SIZE,
    SPREADING,
)


@pytest.mark.parametrize(
    ("row", "expected"),
    [
        # width, result, kernel, stride, dilation, before
        (Row(4, 4, 1, 1, 1, 0), [(1, 2), (2, 2), (1, 4), (2, 4), (4, 4)]),
        (Row(4, 4, 3, 1, 1, 1), [(1, 2), (2, 2), (1, 4), (2, 4), (4, 4)]),
        (Row(4, 2, 2, 2, 1, 0), [(2, 1), (1, 2), (2, 2), (4, 2)]),
        (Row(6, 3, 2, 2, 1, 0), [(2, 1), (1, 3), (2, 3), (3, 3), (6, 3)]),
        (Row(5, 5, 1, 1, 1, 0), [(1, 5), (5, 5)]),
        (Row(3, 1, 3, 1, 1, 0), []),
        (Row(3, 1, 3, 3, 1, 0), [(3, 1)]),
        (Row(1, 1, 1, 1, 1, 0), []),
    ],
)
def test_which_pixels_are_packed(row: Row, expected: list[tuple[int, int]]):
    """Every packing but the trivial one, by divisors of the sizes and of the stride."""
    assert [packing[:2] for packing in packings(row)] == expected


@pytest.mark.parametrize(
    ("row", "size", "expected"),
    [
        (Row(4, 4, 3, 1, 1, 1), (2, 2), Packing(2, 2, 3, 1, 1, 1)),
        (Row(4, 4, 3, 1, 1, 1), (4, 4), Packing(4, 4, 1, 1, 0, 0)),
        (Row(4, 4, 3, 1, 1, 1), (1, 2), Packing(1, 2, 4, 2, 1, 1)),
        (Row(8, 4, 3, 2, 1, 1), (2, 1), Packing(2, 1, 2, 1, 1, 0)),
        (Row(8, 4, 3, 2, 1, 1), (4, 2), Packing(4, 2, 2, 1, 1, 0)),
        (Row(8, 4, 3, 2, 1, 0), (2, 1), Packing(2, 1, 2, 1, 0, 1)),
        (Row(8, 8, 3, 1, 2, 2), (2, 2), Packing(2, 2, 3, 1, 1, 1)),
    ],
)
def test_the_convolution_of_packed_pixels(row: Row, size: tuple[int, int], expected: Packing):
    assert next(packing for packing in packings(row) if packing[:2] == size) == expected


def axes(geometry: Geometry, count: int) -> Geometry:
    """Its last axes."""
    names = ("kernel", "strides", "dilations", "pads", "sizes", "results")
    return replace(geometry, **{name: getattr(geometry, name)[-count:] for name in names})


@pytest.mark.parametrize("count", [1, 2, 3])
def test_only_the_last_axis_is_packed(count: int):
    g = axes(SPACE, count)
    packing = Packing(2, 4, kernel=6, stride=3, before=7, behind=9)
    after = packed_spec(Spec(g, 2, True, False, 17), row_of(g), packing).geometry
    assert after == replace(
        g,
        inputs=6,
        outputs=16,
        kernel=(*g.kernel[:-1], 6),
        strides=(*g.strides[:-1], 3),
        dilations=(*g.dilations[:-1], 1),
        pads=(*(g.pads or ())[:-1], (7, 9)),
        sizes=(*g.sizes[:-1], 4),
        results=(*g.results[:-1], 1),
    )


@pytest.mark.parametrize("count", [1, 2, 3])
def test_a_row_is_the_last_axis_of_any_number(count: int):
    g = axes(replace(SPACE, strides=(5, 4, 2)), count)
    assert row_of(g) == Row(8, 4, 5, 2, 3, 3)
    assert row_of(replace(g, pads=None)) == Row(8, 4, 5, 2, 3, 0)
    assert row_of(replace(g, sizes=(*g.sizes[:-1], DYNAMIC))) == Row(2 * SOME_SIZE, SOME_SIZE, 5, 2, 3, 3)


def test_the_stride_of_a_row_is_its_own():
    assert row_of(ROW) == Row(9, 4, 3, 2, 1, 0)


def test_a_row_is_the_last_of_three_axes():
    sizes = Geometry(
        images=1,
        inputs=3,
        outputs=4,
        groups=1,
        kernel=(1, 2, 3),
        strides=(1, 2, 3),
        dilations=(1, 2, 3),
        pads=((1, 1), (2, 2), (3, 4)),
        sizes=(5, 6, 7),
        results=(7, 8, 4),
    )
    assert row_of(sizes) == Row(7, 4, 3, 3, 3, 3)


@pytest.mark.parametrize(
    ("inputs", "outputs", "last", "moved"),
    [
        (2, 4, (False, False), 2 * (6 * 2 * 40 + 10 * 8 * 40)),
        (2, 4, (True, False), 2 * 10 * 8 * 40),  # the operand lies so already
        (2, 4, (False, True), 2 * 6 * 2 * 40),
        (2, 4, (True, True), 0),
        (1, 4, (False, False), 2 * 10 * 8 * 40),  # nothing is packed in front
        (2, 1, (False, False), 2 * 6 * 2 * 40),
        (6, 8, (False, False), 0),  # a pixel of one channel lies both ways
    ],
)
def test_packed_pixels_are_moved_there_and_back(
    inputs: int, outputs: int, last: tuple[bool, bool], moved: int
):
    """Of 2 images of 20 pixels, 6 bytes for each of two strides, at 1, and 8 floats, at 10."""
    spec = Spec(ROW, 2, True, True, 17, reads_last=last[0], makes_last=last[1])
    packing = Packing(inputs, outputs, kernel=3, stride=1, before=0, behind=0)
    assert moves_of_packing({SPREADING: {"move_byte": 1.0, "move_float": 10.0}}, spec, packing) == moved


@pytest.mark.parametrize("sizes", [((7, DYNAMIC), (5, 4)), ((7, 9), (5, DYNAMIC))])
def test_a_row_of_unknown_width_is_as_wide_as_its_stride_wants(sizes: tuple[tuple[int, int], ...]):
    """Columns of stride 2 where rows have 1."""
    row = row_of(replace(ROW, sizes=sizes[0], results=sizes[1]))
    assert row == Row(2 * SOME_SIZE, SOME_SIZE, kernel=3, stride=2, dilation=1, before=0)


PLANE = replace(SPACE, **{
    name: getattr(SPACE, name)[1:] for name in ("kernel", "strides", "dilations", "pads", "sizes", "results")
})  # fmt: skip


POINT = replace(PLANE, kernel=(1, 1), strides=(1, 1), dilations=(1, 1), pads=((0, 0), (0, 0)))


@pytest.mark.parametrize(
    ("inputs", "least", "tried"), [(1, 8500, True), (1, 8501, False), (3, 7000, True), (3, 7001, False)]
)
def test_rows_are_packed_where_the_least_cost_would_pay(inputs: int, least: int, tried: bool):
    """Of 10 microseconds, 15 percent, and one or two pairs of moves."""
    geometry = replace(POINT, images=1, inputs=inputs, outputs=1, sizes=(1, 2), results=(1, 2))
    prices = {kernel: FREE | {"written": least / 2} for kernel in (QUANTIZED, POINTWISE, ALIGNED)}
    prices[ALIGNED] |= {"least_outputs": 1000.0, "inputs_multiple": 4.0, "outputs_multiple": 16.0}
    steps = list(packed_widths(Spec(geometry, 1, True, False, 17), prices, 10_000.0))
    assert bool(steps) is tried


@pytest.mark.parametrize("row", [Row(4, 2, 1, 1, 1, 0), Row(2, 2, 1, 1, 1, 2), Row(2, 1, 1, 2, 1, 1)])
def test_a_packing_adds_no_pixel(row: Row):
    """Elements beside the row that no result reads would be one."""
    assert list(packings(row)) == []
