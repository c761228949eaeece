"""Where kernels, linear ops, windows and subgraphs change their mind: the last case on one side, the first on the other."""

# ruff: noqa: E501 -- a case a line, so that the table can be read down

from __future__ import annotations

from dataclasses import replace
from typing import Any

import numpy as np
import pytest
from guard_cases import last_op, module_named, parsed
from promised_types import flat, reason, rows

from qdialect import numerics
from qdialect.dialects.onnx_base import OnnxOp
from qdialect.dialects.quant import UniformType
from qdialect.promises.control import Carries, Slot
from qdialect.promises.copies import Copies
from qdialect.promises.kernels import KERNELS, MAX_COUNTED_STEPS, softmax_axis
from qdialect.promises.linear import BIAS_TOLERANCE, Linear, bias_matches, largest_sums
from qdialect.promises.padding import AddsPadding
from qdialect.promises.qoperator import reading, result_element
from qdialect.promises.weight_only import unpacked_weight
from qdialect.promises.window import Geometry, Window
from qdialect.promises.work import Numbers, SumsProducts
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


@pytest.mark.parametrize(
    ("call", "expected"),
    [
        ("QLinearAdd(a, s, _, b, s, _, s, _)", "i8"),
        ("QLinearAdd(b, s, _, a, s, _, s, _)", "ui8"),
        ("QLinearAdd(b, s, _, b, s, _, s, z)", "i8"),
        ("QLinearWhere(c, a, s, z, a, s, z, s, _)", "ui8"),
    ],
)
def test_a_result_without_a_zero_point_is_stored_as_its_operand(call: str, expected: str):
    """The op's own type counts where the first operand is not scaled."""
    op = last_op(f"a: 2xi8\nb: 2xui8\nc: 2xi1\ns = [0.5] : f32\nz = [3] : i8\ny = {call} : 2xui8")
    found = reading(op)
    assert not isinstance(found, Blocked)
    assert str(result_element(op, found)) == expected


# --- Linear ops ---


@pytest.mark.parametrize(
    ("attributes", "sees"),
    [
        ("", False),
        (" {pads = array<i64: 0, 0, 0, 0>}", False),
        (" {pads = array<i64: 0, 0, 0, 1>}", True),
        (' {auto_pad = "SAME_UPPER"}', True),
        (' {auto_pad = "SAME_LOWER"}', True),
        (' {auto_pad = "VALID"}', False),
        (' {auto_pad = "NOTSET"}', False),
    ],
)
def test_who_sees_the_border(attributes: str, sees: bool):
    op = last_op(f"x: 1x2x4x4xf32\nw: 3x2x3x3xf32\ny = Conv(x, w){attributes} : *xf32")
    linear = op.get_trait(Linear)
    assert linear is not None
    assert linear.sees_border(op) is sees


def sum_type(*scales: float) -> UniformType:
    one = flat(scales[0], "i32")
    if len(scales) == 1:
        return one
    return UniformType.per_axis(one.storage, 0, np.array(scales, np.float32), np.zeros(len(scales), np.int64))


SAME = (0.25, 0.25, 0.25)
EDGE = np.float32(1.0728824)
"""A millionth of it, rounded, is 9 of its own last places."""


@pytest.mark.parametrize(
    ("x", "weight", "bias", "matches"),
    [
        (flat(2.0), rows(0.5, 0.25, 2.0), sum_type(1, 0.5, 4), True),
        (flat(2.0), rows(0.5, 0.25, 2.0), sum_type(1, 0.5, 4.5), False),
        (flat(2.0), rows(*SAME), sum_type(0.5), True),
        (flat(2.0), rows(*SAME), sum_type(0.75), False),
        (flat(2.0), rows(*SAME), sum_type(0.5, 0.5), False),
        (flat(2.0), flat(0.25), sum_type(0.5, 0.5), True),
        (flat(2.0), flat(0.25), sum_type(0.5, 0.25), False),
        (flat(2.0), flat(0.25), flat(0.5, "i32", 1), False),
        (flat(2.0), flat(0.25), flat(0.5, "i16"), False),
        (rows(2.0, 2.0), flat(0.25), sum_type(0.5), False),
    ],
)
def test_a_bias_in_steps_of_the_product(
    x: UniformType, weight: UniformType, bias: UniformType, matches: bool
):
    assert bias_matches(x, weight, bias) is matches


def test_a_bias_may_be_off_by_a_millionth():
    last = np.float32(2.0**-23)
    exact = next(
        wanted
        for k in range(1000)
        if np.float32(BIAS_TOLERANCE) * (wanted := np.float32(EDGE + (k - 500) * last)) == 9 * last
    )
    x, w = flat(1.0), flat(float(exact))
    assert bias_matches(x, w, sum_type(float(exact + 9 * last)))
    assert bias_matches(x, w, sum_type(float(exact - 9 * last)))
    assert not bias_matches(x, w, sum_type(float(exact + 10 * last)))
    assert not bias_matches(x, w, sum_type(float(exact - 10 * last)))


@pytest.mark.parametrize(("more", "fits"), [(0, True), (1, False)])
def test_sums_may_reach_the_last_of_32_bits(more: int, fits: bool):
    """12 products of 255 by 128 at most, and the bias."""
    op = last_op("x: 1x3x4x4xf32\nw: 2x3x2x2xf32\nb: 2xf32\ny = Conv(x, w, b) : *xf32")
    bias = np.array([0, numerics.INT32_MAX - 12 * 255 * 128 + more], np.int32)
    weight = np.stack([np.full((3, 2, 2), k, np.int8) for k in (-1, 3)])
    sums = largest_sums(op, flat(0.5, "u8"), flat(0.5), weight, -bias)
    if fits:
        assert sums is None
    else:
        assert sums is not None
        assert sums.tolist() == [12 * 255, 3 * 12 * 255 + int(bias[1])]
    assert largest_sums(op, flat(0.5, "u8"), flat(0.5), None, bias) is None


def test_the_last_of_a_few_products():
    """Of a vector by a matrix there is a count; a packed weight's block may be one element."""
    (op,) = (
        one
        for one in module_named(
            "func.func @main(%x : tensor<5xf32>, %w : tensor<5x4xf32>) {\n"
            "%y = onnx_ms.FusedMatMul(%x, %w) {transA = 1 : i64} : (tensor<5xf32>, tensor<5x4xf32>) -> tensor<4xf32>\nreturn\n}\n"
        ).walk()
        if isinstance(one, OnnxOp)
    )
    work = op.get_trait(SumsProducts)
    assert work is not None
    assert work.count(op) == 20


def test_integers_out_of_a_cast_are_no_dequantized_values():
    _, module = parsed(
        "!u = !quant.uniform<u8:f32, 0.02:13>\n"
        "builtin.module attributes {onnx.opset_import = {ai.onnx = 17 : i64}} {\n"
        "func.func @f(%q: tensor<2x3x!u>, %x: tensor<2x3xf32>) {\n"
        "%s = quant.scast %q : tensor<2x3x!u> to tensor<2x3xui8>\n"
        "%d = quant.dcast %q : tensor<2x3x!u> to tensor<2x3xf32>\n"
        "%c = onnx.Concat(%d, %d) {axis = 0 : i64} : (tensor<2x3xf32>, tensor<2x3xf32>) -> tensor<4x3xf32>\n"
        "%0 = onnx.Gemm(%x, %s) {transB = 1 : i64} : (tensor<2x3xf32>, tensor<2x3xui8>) -> tensor<2x2xf32>\n"
        "%1 = onnx.Gemm(%x, %x) {transB = 1 : i64} : (tensor<2x3xf32>, tensor<2x3xf32>) -> tensor<2x2xf32>\n"
        "%2 = onnx.Gemm(%x, %c) {transB = 1 : i64} : (tensor<2x3xf32>, tensor<4x3xf32>) -> tensor<2x4xf32>\n"
        "%3 = onnx.Gemm(%x, %d) {transB = 1 : i64} : (tensor<2x3xf32>, tensor<2x3xf32>) -> tensor<2x2xf32>\n"
        "func.return\n}\n}"
    )
    products = [op for op in module.walk() if isinstance(op, OnnxOp) and op.get_trait(SumsProducts)]
    kinds = [work.numbers(op) for op in products if (work := op.get_trait(SumsProducts))]
    assert kinds == [Numbers.FLOAT, Numbers.FLOAT, Numbers.FLOAT, Numbers.WEIGHTS]


@pytest.mark.parametrize(
    ("bits", "block", "blocked"), [(8, 1, False), (4, 2, False), (8, 0, True), (8, -1, True), (2, 16, False)]
)
def test_blocks_of_a_packed_weight_have_an_element(bits: int, block: int, blocked: bool):
    count = -(-3 // block) if block > 0 else 3
    packed = np.arange(2 * count * max(block, 1) * bits // 8, dtype=np.uint8)
    scales = np.arange(1, 2 * count + 1, dtype=np.float32)
    weight = unpacked_weight(packed, scales, None, 3, 2, bits, block)
    if blocked:
        assert reason(weight) == "storage-type"
    else:
        assert not isinstance(weight, Blocked)
        assert weight.stored.shape == (3, 2)
        assert weight.scales.tolist() == scales.reshape(2, -1).T.tolist()
        assert (weight.zero_points == 1 << (bits - 1)).all()


# --- Windows ---

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


@pytest.mark.parametrize(
    ("shape", "name", "numbers", "expected"),
    [
        ("2x3x4", "Pad", [0, 0, 1, 0, 0, 2], (1, 2)),
        ("2x3x4x5", "Pad", [0, 0, 1, 2, 0, 0, 3, 4], (1, 2, 3, 4)),
        ("2x3x4", "Pad", [0, 1, 1, 0, 0, 2], "pad-form"),
        ("2x3x4", "Pad", [0, 0, 1, 1, 0, 2], "pad-form"),
        ("2x3", "Pad", [0, 0, 0, 0], "pad-form"),
        ("2x3x4", "Pad", [0, 0, -1, 0, 0, 2], "pad-form"),
        ("2x3x4", "Pad", [0, 0, 1, 0, 0, -2], "pad-form"),
        ("2x3x4", "Pad", [0, 0, 1, 0, 0, 2], "pad-form"),
    ],
)
def test_pads_of_spatial_axes(shape: str, name: str, numbers: list[int], expected: tuple[int, ...] | str):
    mode = ' {mode = "reflect"}' if expected == "pad-form" else ""
    op = last_op(f"x: {shape}xf32\np = {numbers} : {len(numbers)}xi64\ny = {name}(x, p){mode} : *xf32")
    promise = op.get_trait(AddsPadding)
    assert promise is not None
    spatial = promise.spatial(op)
    assert (reason(spatial) if isinstance(spatial, Blocked) else spatial) == expected


# --- Copies and subgraphs ---


@pytest.mark.parametrize(
    ("start", "end", "step", "shapes", "place"),
    [
        (0, (1 << 31) - 1, 1, ("?x4", "?x4"), 0),
        (0, (1 << 31) - 2, 1, ("?x4", "?x4"), None),
        (0, (1 << 63) - 1, 1, ("?x4", "?x4"), 0),
        (1, (1 << 31) - 1, 1, ("?x4", "?x4"), None),
        (0, (1 << 31) - 1, 2, ("?x4", "?x4"), None),
        (0, 3, 1, ("3x4", "3x4"), 0),
        (-3, 5, 1, ("3x4", "3x4"), 0),
        (0, 2, 1, ("3x4", "2x4"), None),
        (2, -4, -1, ("3x4", "3x4"), None),
    ],
)
def test_slices_that_take_all(start: int, end: int, step: int, shapes: tuple[str, str], place: int | None):
    op = last_op(
        f"x: {shapes[0]}xf32\ns = [{start}] : 1xi64\ne = [{end}] : 1xi64\na = [0] : 1xi64\nt = [{step}] : 1xi64\n"
        f"y = Slice(x, s, e, a, t) : {shapes[1]}xf32"
    )
    promise = op.get_trait(Copies)
    assert promise is not None
    assert promise.place(op) == place


LOOP = """%r, %t, %u = onnx.Loop(%n, _, %x, %z) body {
    ^bb0(%i: tensor<i64>, %k: tensor<i1>, %v: tensor<2xf32>, %w: tensor<2xf32>):
      onnx.Yield(%k, %v, %w, %v) : (tensor<i1>, tensor<2xf32>, tensor<2xf32>, tensor<2xf32>) -> ()
    } : (tensor<i64>, tensor<2xf32>, tensor<2xf32>) -> (tensor<2xf32>, tensor<2xf32>, tensor<?x2xf32>)"""
SHORT_LOOP = LOOP.replace(", %w: tensor<2xf32>):", "):").replace(
    "%k, %v, %w, %v) : (tensor<i1>, tensor<2xf32>, ", "%k, %v, %v) : (tensor<i1>, "
)
SCAN = """%r, %t = onnx.Scan(%x, %m) ATTRIBUTES body {
    ^bb0(%v: tensor<2xf32>, %w: tensor<2xf32>):
      onnx.Yield(%w, %v) : (tensor<2xf32>, tensor<2xf32>) -> ()
    } : (tensor<2xf32>, tensor<?x2xf32>) -> (tensor<2xf32>, tensor<?x2xf32>)"""
ONE_SCANNED = [Slot(0, 0, 0, 0), Slot(operand=1, argument=1, stacked=True), Slot(1, yielded=1, stacked=True)]


@pytest.mark.parametrize(
    ("opset", "body", "expected"),
    [
        (17, LOOP, [Slot(0, 1, 2, 1), Slot(1, 2, 3, 2), Slot(2, yielded=3, stacked=True)]),
        (17, SHORT_LOOP, [Slot(0, 1, 2, 1)]),
        (9, SCAN.replace("ATTRIBUTES", "{num_scan_inputs = 1 : i64}"), ONE_SCANNED),
        (8, SCAN.replace("ATTRIBUTES", "{num_scan_inputs = 1 : i64}"), []),
        (17, SCAN.replace("ATTRIBUTES", ""), ONE_SCANNED),
        (17, SCAN.replace("ATTRIBUTES", "{num_scan_inputs = 0 : i64}"), [Slot(0, 0, 0, 0), Slot(1, 1, 1, 1)]),
    ],
)
def test_slots_of_a_subgraph(opset: int, body: str, expected: list[Slot]):
    """Those that a body without an argument or a value for them has not are left out."""
    _, module = parsed(
        f"builtin.module attributes {{onnx.opset_import = {{ai.onnx = {opset} : i64}}}} {{\n"
        "func.func @f(%n: tensor<i64>, %x: tensor<2xf32>, %z: tensor<2xf32>, %m: tensor<?x2xf32>) {\n"
        f"{body}\nfunc.return\n}}\n}}"
    )
    op = next(op for op in module.walk() if isinstance(op, OnnxOp))
    promise = op.get_trait(Carries)
    assert promise is not None
    assert promise.slots(op) == expected
