"""Where the form of an op on stored integers changes: at a size, at a bound, and along an axis."""

from __future__ import annotations

from collections.abc import Sequence
from typing import Any

import numpy as np
import pytest
from built_ops import I8, names, numbers
from guard_cases import last_op

from qdialect.dialects.onnx_base import ConstantOp, OnnxOp
from qdialect.dialects.onnx_types import shape_of, uniform_of
from qdialect.forms.pixels import PIXEL_FORMS
from qdialect.forms.pointwise import POINTWISE
from qdialect.forms.storage import MAX_MASK_BYTES, STORAGE_FORMS, STORAGE_READINGS
from qdialect.ir.names import location, node_name
from qdialect.reasons import Blocked, answer


def build(forms: Any, body: str, opset: int = 18, mine: str = I8) -> Any:
    """A form of the last op on stored integers; its operand is of type `mine`, and so is the result."""
    op = last_op(body, opset, mine)
    type = uniform_of(op.operands[0].type)
    built = answer(forms["", op.op_type].build, op, op.operands[0], type)
    return built if isinstance(built, Blocked) else built.ops


IMAGES = [
    # the op and its result, sizes of the smallest image and of one that is too small, and what it becomes
    ("DepthToSpace(x) {blocksize = 2 : i64}", (64, 8, 8), (60, 8, 8), "Transpose"),
    ("SpaceToDepth(x) {blocksize = 2 : i64}", (2, 64, 32), (2, 62, 32), "Transpose"),
    ("GlobalMaxPool(x)", (64, 8, 8), (63, 13, 5), "NhwcMaxPool"),
]


@pytest.mark.parametrize(("call", "enough", "few", "kernel"), IMAGES)
def test_images_of_4096_bytes_go_last(call: str, enough: Sequence[int], few: Sequence[int], kernel: str):
    assert np.prod(enough) == 4096
    assert np.prod(few) < 4096
    for sizes, expected in ((enough, True), (few, False)):
        text = "x".join(map(str, sizes))
        ops = build(PIXEL_FORMS, f"x: 1x{text}x!mine\ny = {call} : *x!mine")
        assert (kernel in names(ops)) is expected


NEAREST = 'mode = "nearest", nearest_mode = "floor"'
RESIZES = [
    # sizes of the operand and of the result, how, and what it becomes
    ((8, 16, 8), (8, 32, 16), "asymmetric", [2, 2], "Tile"),
    ((8, 16, 16), (8, 32, 16), "asymmetric", [2, 1], "Tile"),
    ((8, 16, 8), (8, 16, 32), "asymmetric", [1, 4], "Tile"),
    ((8, 16, 8), (8, 31, 16), "asymmetric", None, "no-kernel"),
    ((8, 8, 8), (8, 16, 16), "asymmetric", None, "no-kernel"),
    ((8, 16, 8), (8, 32, 16), "tf_crop_and_resize", None, "interpolates"),
]  # fmt: skip


@pytest.mark.parametrize(("old", "new", "how", "times", "kernel"), RESIZES)
def test_pixels_that_are_repeated_are_tiles(
    old: Sequence[int], new: Sequence[int], how: str, times: list[int] | None, kernel: str
):
    before, after = ("x".join(map(str, sizes)) for sizes in (old, new))
    ops = build(PIXEL_FORMS, f"""
        x: 1x{before}x!mine
        n = [1, {", ".join(map(str, new))}] : 4xi64
        y = Resize(x, _, _, n) {{{NEAREST}, coordinate_transformation_mode = "{how}"}} : 1x{after}x!mine
    """)  # fmt: skip
    assert kernel in names(ops)
    if times is not None:
        (tile,) = [op for op in ops if isinstance(op, OnnxOp) and op.op_type == "Tile"]
        assert numbers(tile, 1) == [1, 1, times[0], 1, times[1], 1]
        assert shape_of(ops[-1].results[0].type) == (1, *new)


def test_axes_that_are_computed_are_not_all_pixels():
    body = "x: 1x64x8x8x!mine\n{}\ny = ReduceMax(x, k) : 1x64x1x1x!mine"
    assert names(build(PIXEL_FORMS, body.format("k: 2xi64"))) == ["computed-parameter"]
    assert "NhwcMaxPool" in names(build(PIXEL_FORMS, body.format("k = [2, -1] : 2xi64")))
    assert names(build(PIXEL_FORMS, body.format("k = [1, -1] : 2xi64"))) == ["no-kernel"]


def test_a_clamp_has_one_bound():
    ops = read("x: 3xi8\nk = [-3] : i8\nz: 3xi8\ny = Max(x, k, z) : 3xi8", I8)
    assert names(ops) == ["float-operand"]


@pytest.mark.parametrize(("size", "kernel"), [(1024, "Where"), (1025, "too-large")])
def test_a_mask_of_a_triangle_has_a_mebibyte_at_most(size: int, kernel: str):
    assert 1024 * 1024 == MAX_MASK_BYTES
    assert names(build(STORAGE_FORMS, f"x: 1024x{size}x!mine\ny = Trilu(x) : 1024x{size}x!mine")) == [kernel]


def test_a_triangle_of_blocks_has_no_zero_points():
    blocks = "!quant.uniform<i8:f32:{0:2}, {{0.5:3}, {0.25:7}}>"
    assert names(build(STORAGE_FORMS, "x: 4x1x!mine\ny = Trilu(x) : 4x1x!mine", mine=blocks)) == [
        "block-scales"
    ]


def bound(op: str, sizes: str, values: str, mine: str) -> Any:
    """A clamp of stored integers, read as an op on the type `mine`."""
    kind = "ui8" if "<u8" in mine else "i8"
    body = f"x: {sizes}x{kind}\nk = {values}\ny = {op}(x, k) : {sizes}x{kind}"
    return read(body, mine)


def read(body: str, mine: str) -> Any:
    """An op on stored integers, read as one on a quantized tensor of the operand's shape."""
    op = last_op(body)
    quantized = last_op("q: 3x!mine\ny = Neg(q) : 3x!mine", mine=mine)
    type = uniform_of(quantized.operands[0].type)
    built = answer(STORAGE_READINGS["", op.op_type].build, op, op.operands[0], type)
    return built if isinstance(built, Blocked) else built.ops


@pytest.mark.parametrize(
    ("op", "sizes", "values", "mine", "expected"),
    [
        ("Max", "3", "[-3] : 1xi8", I8, ["Relu"]),
        ("Max", "3", "[-3] : i8", I8, ["Relu"]),
        ("Max", "2x3", "[-3] : 1x1xi8", I8, ["Relu"]),
        ("Max", "3", "[-3] : 1x1xi8", I8, ["not-a-quantize"]),
        ("Max", "3", "[-3, -3, -3] : 3xi8", I8, ["not-a-quantize"]),
        ("Max", "3", "[-4] : 1xi8", I8, ["Clip"]),
        ("Min", "3", "[-3] : 1xi8", I8, ["Clip"]),
        ("Max", "3", "[1, 2, 3] : 3xi8", "!quant.uniform<i8:f32:0, {0.5:1,0.25:2,2.0:3}>", ["Relu"]),
        (
            "Min",
            "3",
            "[1, 2, 3] : 3xi8",
            "!quant.uniform<i8:f32:0, {0.5:1,0.25:2,2.0:3}>",
            ["activation-per-axis"],
        ),
        (
            "Max",
            "3",
            "[1, 2, 4] : 3xi8",
            "!quant.uniform<i8:f32:0, {0.5:1,0.25:2,2.0:3}>",
            ["activation-per-axis"],
        ),
    ],
)
def test_a_bound_of_stored_integers_is_one_number(
    op: str, sizes: str, values: str, mine: str, expected: list[str]
):
    assert names(bound(op, sizes, values, mine)) == expected


@pytest.mark.parametrize(
    ("mine", "expected", "least"),
    [
        ("!quant.uniform<i8:f32, 0.5>", ["Relu"], None),
        (I8, ["Clip"], 1.5),
        ("!quant.uniform<i8:f32:0, {0.5,0.25,2.0}>", ["Relu"], None),
        ("!quant.uniform<i8:f32:0, {0.5:1,0.25,2.0}>", ["activation-per-axis"], None),
    ],
)
def test_a_relu_of_stored_integers_ends_at_0(mine: str, expected: list[str], least: float | None):
    ops = read("x: 3xi8\ny = Relu(x) : 3xi8", mine)
    assert names(ops) == expected
    if least is not None:
        assert numbers(ops[-1], 1) == least
        assert len(ops[-1].operands) == 2


@pytest.mark.parametrize(
    ("value", "mine", "expected", "real"),
    [
        ("", I8, ["Pad"], 1.5),
        ("", "!quant.uniform<i8:f32, 0.5>", ["Pad"], None),
        ("[-3] : i8", I8, ["Pad"], None),
        ("[-4] : i8", I8, ["Pad"], -0.5),
        ("[-4] : i8", "!quant.uniform<i8<-4:127>:f32, 0.5:-3>", ["Pad"], -0.5),
        ("[-5] : i8", "!quant.uniform<i8<-4:127>:f32, 0.5:-3>", ["bound-outside"], None),
        ("[9] : i8", "!quant.uniform<i8<-128:9>:f32, 0.5:-3>", ["Pad"], 6.0),
        ("[10] : i8", "!quant.uniform<i8<-128:9>:f32, 0.5:-3>", ["bound-outside"], None),
        ("[-3, -3] : 2xi8", I8, ["computed-parameter"], None),
    ],
)
def test_a_pad_of_stored_integers_puts_a_real_number_in(
    value: str, mine: str, expected: list[str], real: float | None
):
    stated = f"v = {value}\n" if value else ""
    body = f"x: 3xi8\nk = [1, 2] : 2xi64\n{stated}y = Pad(x, k{', v' if value else ''}) : 6xi8"
    ops = read(body, mine)
    assert names(ops) == expected
    if expected == ["Pad"]:
        assert (numbers(ops[-1], 2) if len(ops[-1].operands) > 2 else None) == real


def test_a_product_as_a_convolution_keeps_the_name_of_its_node():
    op = last_op("""
        x: 1x5x3x!mine
        w = [1, 2, 3, 4, 5, 6] : 3x2xi8 as 3x2x!mine
        y = MatMul(x, w) : 1x5x2x!mine""", mine=I8)  # fmt: skip
    op.location = location("the node", ["its tensor"])
    form = POINTWISE["", "MatMul"]
    assert form.matches(op)
    ops = [one for one in form.parts(op) if not isinstance(one, ConstantOp)]
    assert names(ops) == ["Transpose", "Conv", "Transpose"]
    assert node_name(ops[1]) == "the node"
    assert ops[2].location == op.location
    assert numbers(ops[1], 1) == [[[1], [3], [5]], [[2], [4], [6]]]


GEMM = "x: 5x3x!mine\n{}\n{}y = Gemm(x, w{}) {} : 5x2x!mine"
WEIGHT = "w = [1, 2, 3, 4, 5, 6] : 3x2xi8 as 3x2x!mine"


@pytest.mark.parametrize(
    ("weight", "bias", "how", "plain"),
    [
        (WEIGHT, "", "", True),
        (WEIGHT, "", "{transA = 0 : i64}", True),
        (WEIGHT, "", "{transA = 1 : i64}", False),
        (WEIGHT, "", "{alpha = 2.0 : f32}", False),
        (WEIGHT, "", "{beta = 0.5 : f32}", False),
        ("w: 3x2x!mine", "", "", False),
        (WEIGHT, "b = [1, 2] : 2xi32 as 2x!sum\n", "", True),
        (WEIGHT, "b = [1] : 1xi32 as 1x!sum\n", "", False),
        (WEIGHT, "b: 2xf32\n", "", False),
    ],
)
def test_which_gemm_is_a_convolution(weight: str, bias: str, how: str, plain: bool):
    op = last_op(GEMM.format(weight, bias, ", b" if bias else "", how), mine=I8)
    assert POINTWISE["", "Gemm"].matches(op) is plain
