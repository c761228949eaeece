"""`promises.resizing`: the last case on one side of each bound, the first on the other."""

from __future__ import annotations

import pytest
from promised_types import after, reason, rows


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
