"""Where kernels, linear ops, windows and subgraphs change their mind: the last case on one side, the first on the other."""

# ruff: noqa: E501 -- a case a line, so that the table can be read down

from __future__ import annotations

import pytest
from guard_cases import first_op, last_op
from promised_types import reason

from qdialect.promises.kernels import KERNELS, MAX_COUNTED_STEPS, softmax_axis
from qdialect.reasons import Blocked

# --- Kernels ---


@pytest.mark.parametrize(
    ("attributes", "shape", "expected"),
    [
        ("", "1x2x4x5", None),  # strides of 1 fit every size
        (", strides = array<i64: 1, 2>", "1x2x4x5", None),
        (", strides = array<i64: 1, 2>", "1x2x4x4", "window-form"),
        (", strides = array<i64: 2, 1>", "1x2x4x4", "window-form"),
        (", strides = array<i64: 2, 1>, pads = array<i64: 1, 0, 0, 0>", "1x2x4x4", None),
        (", strides = array<i64: 2, 1>, pads = array<i64: 0, 0, 1, 0>", "1x2x4x4", None),
        (", strides = array<i64: 2, 1>, pads = array<i64: 0, 1, 0, 0>", "1x2x4x4", "window-form"),
        (", strides = array<i64: 2>", "1x2x5x5", "window-form"),
        (", pads = array<i64: 0, 0>", "1x2x5x5", "window-form"),
        ("", "1x2x5", "window-form"),
        ("", "1x2x5x?", "window-form"),
        (', auto_pad = "VALID"', "1x2x5x5", "window-form"),
        (", dilations = array<i64: 1, 1>", "1x2x5x5", None),
        (", dilations = array<i64: 1, 2>", "1x2x5x5", "window-form"),
    ],
)
def test_windows_that_end_with_the_image(attributes: str, shape: str, expected: str | None):
    op = last_op(
        f"x: {shape}xf32\ny = AveragePool(x) {{ceil_mode = 1 : i64, count_include_pad = 1 : i64, "
        f"kernel_shape = array<i64: 3, 3>{attributes}}} : *xf32"
    )
    (kernel,) = KERNELS["", "AveragePool"].forms
    assert reason(kernel.guard(op)) == expected


@pytest.mark.parametrize(
    ("shape", "steps", "wrong"),
    [
        ("2x?", 128, False),
        ("2x?", 129, True),
        ("*", 128, False),
        ("*", 129, True),
        ("?x3", 384, False),
        ("?x3", 385, True),
    ],
)
def test_a_row_of_unknown_length_counts_128_steps(shape: str, steps: int, wrong: bool):
    op = last_op(f"x: {shape}xf32\ny = Softmax(x) : {shape}xf32")
    (kernel,) = KERNELS["", "Softmax"].forms
    assert kernel.is_wrong(op, [0.1], 1 / steps) is wrong


@pytest.mark.parametrize(
    ("opset", "attributes", "expected"),
    [
        (12, "", (1, True)),
        (13, "", (-1, False)),
        (12, " {axis = 2 : i64}", (2, True)),
        (13, " {axis = 0 : i64}", (0, False)),
    ],
)
def test_the_axis_of_a_softmax_by_opset(opset: int, attributes: str, expected: tuple[int, bool]):
    op = last_op(f"x: 2x3x4xf32\ny = Softmax(x){attributes} : 2x3x4xf32", opset)
    assert softmax_axis(op) == expected


@pytest.mark.parametrize(
    ("name", "operands", "wrong"),
    [
        ("Add", [0.5, 2 * MAX_COUNTED_STEPS], False),
        ("Add", [0.5, 2 * MAX_COUNTED_STEPS + 1], True),
        ("Add", [2 * MAX_COUNTED_STEPS + 1, 0.5], True),
        ("Mul", [0.5, 4 * MAX_COUNTED_STEPS], False),
        ("Mul", [0.5, 4 * MAX_COUNTED_STEPS + 1], True),
    ],
)
def test_kernels_count_4096_steps_of_a_result_in_one_of_an_operand(
    name: str, operands: list[float], wrong: bool
):
    op = last_op(f"x: 2xf32\nz: 2xf32\ny = {name}(x, z) : 2xf32")
    (kernel,) = KERNELS["", name].forms
    assert kernel.is_wrong(op, operands, 2.0) is wrong


# --- Linear ops ---


# --- Windows ---


# --- Copies and subgraphs ---


@pytest.mark.parametrize(("steps", "wrong"), [(128, False), (511, False), (512, False), (513, True)])
def test_a_row_of_four_counts_512_steps(steps: int, wrong: bool):
    """128 for each element of a row; with 128 or less in all, any row does."""
    op = first_op("%y = onnx.Softmax(%x) : (tensor<2x4xf32>) -> tensor<2x4xf32>", "%x: tensor<2x4xf32>")
    (kernel,) = KERNELS["", "Softmax"].forms
    assert kernel.is_wrong(op, [0.1], 1 / steps) is wrong


@pytest.mark.parametrize(("steps", "wrong"), [(255, False), (256, True), (300, True)])
def test_a_mean_of_an_unknown_number_of_pixels_counts_one(steps: int, wrong: bool):
    op = first_op(
        "%y = onnx.GlobalAveragePool(%x) : (tensor<2x4x?x3xf32>) -> tensor<2x4x1x1xf32>",
        "%x: tensor<2x4x?x3xf32>",
    )
    (kernel,) = KERNELS["", "GlobalAveragePool"].forms
    assert kernel.is_wrong(op, [float(steps)], 1.0) is wrong


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
