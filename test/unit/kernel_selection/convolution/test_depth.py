"""`kernel_selection.convolution.depth`: the last case on one side of each bound, the first on the other."""

from __future__ import annotations

from dataclasses import replace

import pytest
from geometries import FREE, SPACE

from qdialect.dialects.onnx_types import DYNAMIC
from qdialect.kernel_selection.convolution.depth import MAX_SLICES, joined_axes, joined_rows, joined_slices
from qdialect.kernel_selection.convolution.step import BYTE_SLICES_OPSET, ConvolutionStep, Spec
from qdialect.promises.window import Geometry
from qdialect.reasons import Blocked
from qdialect.targets.pricing import (
    GATHERED,
    VOLUME,
)

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
    step = joined_rows(Spec(opened(FLAT, *places), 2, True, False, 17))
    assert (step.blocked is not None) is blocked
    after = joined_rows(Spec(FLAT, 2, True, False, 17)).after.geometry
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
    step = joined_slices(Spec(opened(one, *places), 2, True, False, 17), {})
    assert (step.blocked is not None) is blocked
    after = joined_slices(Spec(one, 2, True, False, 17), {}).after.geometry
    assert (after.images, after.inputs, after.kernel) == (12, 3, (3, 5))
    assert (after.strides, after.dilations, after.pads) == ((2, 1), (2, 3), ((2, 1), (3, 2)))
    assert (after.sizes, after.results) == ((9, 8), (4, 4))


def test_joined_steps_wait_for_pads_and_channels():
    for change, reason in (({"pads": None}, "pads"), ({"states_channels": False}, "channels")):
        step = joined_rows(Spec(replace(FLAT, **change), 2, True, False, 17))
        assert step.blocked is not None
        assert reason in step.blocked.message


@pytest.mark.parametrize(
    ("images", "height", "blocked"), [(DYNAMIC, 4, False), (2, DYNAMIC, False), (DYNAMIC, DYNAMIC, True)]
)
def test_one_of_two_joined_sizes_may_be_unknown(images: int, height: int, blocked: bool):
    """Height and width become one axis; the batch and the height come apart again if one of them is known."""
    rows = Geometry(
        images=images, inputs=3, outputs=4, groups=1, kernel=(3, 1, 1), strides=(1, 1, 1), dilations=(1, 1, 1),
        pads=((0, 0),) * 3, sizes=(6, height, 5), results=(4, height, 5),
    )  # fmt: skip
    (step,) = joined_axes(Spec(rows, 1, True, False, 17), {VOLUME: {}}, 1e9)
    assert (step.blocked is not None) == blocked


def reason(blocked: ConvolutionStep | Blocked | None) -> str | None:
    return blocked.id if isinstance(blocked, Blocked) else None


@pytest.mark.parametrize(
    ("depth", "opset", "expected"),
    [
        (2, BYTE_SLICES_OPSET, None),
        (2, BYTE_SLICES_OPSET - 1, "opset"),
        (MAX_SLICES, BYTE_SLICES_OPSET, None),
        (MAX_SLICES + 1, BYTE_SLICES_OPSET, "window-form"),
        (MAX_SLICES + 1, BYTE_SLICES_OPSET - 1, "window-form"),
    ],
)
def test_slices_are_channels_up_to_a_depth(depth: int, opset: int, expected: str | None):
    spec = Spec(replace(SPACE, kernel=(depth, 3, 5)), 2, True, False, opset)
    assert reason(joined_slices(spec, {GATHERED: FREE}).blocked) == expected
