"""Where a pattern changes its mind, and the sizes that it works out, along each axis."""

from __future__ import annotations

from dataclasses import replace

import numpy as np
import pytest
from geometries import ROW, SPACE
from guard_cases import Case, last_op, parsed, text

from qdialect.dialects.onnx_base import OnnxOp
from qdialect.dialects.onnx_types import DYNAMIC, quantized_of, shape_of, tensor_type, uniform_of
from qdialect.dialects.quant import Storage, UniformType
from qdialect.kernel_selection.convolution.depth import _rows, _slices  # pyright: ignore[reportPrivateUsage]
from qdialect.kernel_selection.convolution.step import Spec
from qdialect.kernel_selection.convolution.width import (
    Packing,
    Row,
    _packed,  # pyright: ignore[reportPrivateUsage]
    packings,
    row_of,
)
from qdialect.patterns.concat_scales import MAX_REPEATED_ELEMENTS, repeated_rows
from qdialect.promises.base import _sized  # pyright: ignore[reportPrivateUsage]
from qdialect.promises.weight_only import _block  # pyright: ignore[reportPrivateUsage]
from qdialect.promises.window import Geometry
from qdialect.reasons import Blocked
from qdialect.targets.pricing import SOME_SIZE


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
    after = _packed(Spec(g, 2, True, False, 17), row_of(g), packing).geometry
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


FLAT = replace(SPACE, kernel=(3, 1, 1), strides=(1, 1, 1), dilations=(2, 1, 1), pads=((1, 2), (0, 0), (0, 0)))


def opened(g: Geometry, *places: tuple[str, int]) -> Geometry:
    for name, axis in places:
        sizes = list(getattr(g, name))
        sizes[axis] = DYNAMIC
        g = replace(g, **{name: tuple(sizes)})
    return g


@pytest.mark.parametrize(
    ("places", "blocked"),
    [
        ([], False),
        ([("sizes", 0)], True),
        ([("sizes", 1)], False),
        ([("sizes", 2)], True),
        ([("results", 0)], True),
        ([("results", 1)], False),
        ([("results", 2)], True),
        ([("sizes", 1), ("results", 1)], False),
    ],
)
def test_rows_are_joined_if_all_other_sizes_are_known(places: list[tuple[str, int]], blocked: bool):
    step = _rows(Spec(opened(FLAT, *places), 2, True, False, 17))
    assert (step.blocked is not None) is blocked
    after = _rows(Spec(FLAT, 2, True, False, 17)).after.geometry
    assert (after.kernel, after.strides, after.dilations, after.pads) == (
        (3, 1),
        (1, 1),
        (2, 1),
        ((1, 2), (0, 0)),
    )
    assert (after.sizes, after.results) == ((7, 72), (6, 16))


@pytest.mark.parametrize(
    ("places", "blocked"),
    [
        ([], False),
        ([("sizes", 0)], False),
        ([("sizes", 1)], True),
        ([("sizes", 2)], True),
        ([("results", 0)], False),
        ([("results", 1)], True),
        ([("results", 2)], True),
    ],
)
def test_slices_are_joined_if_all_other_sizes_are_known(places: list[tuple[str, int]], blocked: bool):
    one = replace(SPACE, kernel=(1, 3, 5))
    step = _slices(Spec(opened(one, *places), 2, True, False, 17), {})
    assert (step.blocked is not None) is blocked
    after = _slices(Spec(one, 2, True, False, 17), {}).after.geometry
    assert (after.images, after.inputs, after.kernel) == (12, 3, (3, 5))
    assert (after.strides, after.dilations, after.pads) == ((2, 1), (2, 3), ((2, 1), (3, 2)))
    assert (after.sizes, after.results) == ((9, 8), (4, 4))


def test_joined_steps_wait_for_pads_and_channels():
    for change, reason in (({"pads": None}, "pads"), ({"states_channels": False}, "channels")):
        step = _rows(Spec(replace(FLAT, **change), 2, True, False, 17))
        assert step.blocked is not None
        assert reason in step.blocked.message


def nibbles(axis: int | None) -> UniformType:
    if axis is None:
        return UniformType.per_tensor(Storage.of("i4"), np.float32(0.5))
    scales = np.array([0.5, 0.25], np.float32)
    return UniformType.per_axis(Storage.of("i4"), axis, scales, np.zeros(2, np.int64))


@pytest.mark.parametrize(
    ("axis", "rows", "expected"),
    [
        (None, 64, 64),
        (None, 32, 32),
        (None, 48, 16),
        (None, 8, 16),
        (None, 128, 128),
        (None, 512, 128),
        (1, 64, 64),
        (0, 64, None),
    ],
)
def test_blocks_of_a_weight_without_blocks(axis: int | None, rows: int, expected: int | None):
    """The greatest power of two that divides the rows, from 16 on; along the inputs, axis 0 here."""
    block = _block(nibbles(axis), rows, 0)
    if expected is None:
        assert isinstance(block, Blocked)
    else:
        assert block == expected


@pytest.mark.parametrize(
    ("blocks", "expected"),
    [
        ("{0:8}", None),
        ("{0:16}", 16),
        ("{0:32}", 32),
        ("{0:48}", None),
        ("{0:16, 1:1}", 16),
        ("{0:16, 1:2}", None),
        ("{1:16}", None),
    ],
)
def test_the_kernel_takes_blocks_of_powers_of_two_along_the_inputs(blocks: str, expected: int | None):
    mine = f"!mine = !quant.uniform<i4:f32:{blocks}, {{{{0.5, 0.25}}, {{0.5, 0.25}}}}>\n"
    _, module = parsed(mine + text(Case("", "", "w: ?x?x!mine\ny = Identity(w) : ?x?x!mine")))
    (op,) = (one for one in module.walk() if isinstance(one, OnnxOp))
    block = _block(uniform_of(op.operands[0].type), 96, 0)
    if expected is None:
        assert isinstance(block, Blocked)
    else:
        assert block == expected


@pytest.mark.parametrize(
    ("axis", "shape", "expected"),
    [
        (0, (DYNAMIC, 4), (2, 4)),
        (1, (3, DYNAMIC), (3, 2)),
        (1, (DYNAMIC, DYNAMIC), (DYNAMIC, 2)),
        (0, (2, 4), (2, 4)),
        (0, (DYNAMIC,), (2,)),
        (1, (DYNAMIC,), (DYNAMIC,)),  # of another rank
        (None, (DYNAMIC, 4), (DYNAMIC, 4)),
    ],
)
def test_an_axis_is_as_long_as_its_scales_are_many(
    axis: int | None, shape: tuple[int, ...], expected: tuple[int, ...]
):
    type = tensor_type(nibbles(axis), shape)
    assert shape_of(_sized(type)) == expected
    assert quantized_of(_sized(type)) == quantized_of(type)


@pytest.mark.parametrize(
    ("shape", "row", "expected"),
    [
        ("2x3x4", "4", (2, 3, 4)),
        ("2x3x4", "1x4", (2, 3, 4)),
        ("?x3x4", "4", (3, 4)),
        ("2x?x4", "4", None),
        ("4", "4", None),
        ("1x4", "4", None),
        (f"3x{MAX_REPEATED_ELEMENTS // 4}x4", "4", (MAX_REPEATED_ELEMENTS // 4, 4)),
        (f"3x{MAX_REPEATED_ELEMENTS // 4 + 1}x4", "4", None),
    ],
)
def test_rows_are_repeated_as_far_as_sizes_are_known_and_small(
    shape: str, row: str, expected: tuple[int, ...] | None
):
    op = last_op(f"x: {shape}xf32\nk = [1.0, 2.0, 3.0, 4.0] : {row}xf32\ny = Mul(x, k) : {shape}xf32")
    rows = repeated_rows(op, 1)
    if expected is None:
        assert rows is None
    else:
        assert rows is not None
        assert np.array_equal(rows, np.broadcast_to(np.array([1, 2, 3, 4], np.float32), expected))
        assert rows.shape == expected


@pytest.mark.parametrize(
    "body",
    [
        "x: 2x1xf32\nk = [1.0, 2.0, 3.0, 4.0] : 4xf32\ny = Mul(x, k) : 2x4xf32",
        "x: 2x4xf32\nk = [1.0, 2.0, 3.0, 4.0] : 4x1xf32\ny = Mul(x, k) : 4x4xf32",
        "x: 2x4xf32\nk = [1.0] : 1xf32\ny = Mul(x, k) : 2x4xf32",
        "x: *xf32\nk = [1.0, 2.0] : 2xf32\ny = Mul(x, k) : *xf32",
        "x: 2x4xf32\nk: 4xf32\ny = Mul(x, k) : 2x4xf32",
    ],
)
def test_what_is_no_row_is_not_repeated(body: str):
    assert repeated_rows(last_op(body), 1) is None


def test_the_stride_of_a_row_is_its_own():
    assert row_of(ROW) == Row(9, 4, 3, 2, 1, 0)
