"""Where a form of an op in ONNX's own ops changes: at an opset, at a size, and where little is known of a tensor."""

from __future__ import annotations

from collections.abc import Sequence
from typing import Any

import numpy as np
import pytest
from built_ops import names, numbers
from guard_cases import last_op
from xdsl.dialects.builtin import Float32Type

from qdialect.dialects.onnx_base import OnnxOp
from qdialect.dialects.onnx_types import DYNAMIC, element_of, shape_of, uniform_of
from qdialect.dialects.quant import Storage, UniformType
from qdialect.dialects.snapshot import MICROSOFT
from qdialect.forms.activations import clipped
from qdialect.forms.arithmetic import _along, _square  # pyright: ignore[reportPrivateUsage]
from qdialect.forms.builder import Builder
from qdialect.forms.casts import clamped_real, clamps_integers
from qdialect.forms.cells import KINDS
from qdialect.forms.contrib_ops import FOREIGN
from qdialect.forms.dynamic import _columns_in_8_bits  # pyright: ignore[reportPrivateUsage]
from qdialect.forms.exact_equivalents import SPELLED
from qdialect.forms.fused import FUSED
from qdialect.forms.geometry import pool
from qdialect.forms.kernel_substitutes import REWRITTEN
from qdialect.forms.nodes import Nodes
from qdialect.forms.opset_upgrades import NEWER
from qdialect.forms.recurrent import _read  # pyright: ignore[reportPrivateUsage]
from qdialect.ir.values import constant_array
from qdialect.ops.generated import op_named
from qdialect.reasons import Blocked, answer

LAYER = """
    x: 5x3x4xf32
    w: 1x6x4xf32
    r: 1x6x2xf32
    {}
    y = GRU(x, w, r, _, n) {{hidden_size = 2 : i64}} : 5x1x3x2xf32"""


@pytest.mark.parametrize(("opset", "operands"), [(10, 1), (11, 3)])
def test_a_bound_of_a_layer_is_an_operand_from_opset_11_on(opset: int, operands: int):
    op = last_op("x: 3xf32\ny = Neg(x) : 3xf32", opset)
    build = Builder(op)
    clip = clipped(build, op.operands[0], 0.5).owner
    assert isinstance(clip, OnnxOp)
    assert len(clip.operands) == operands
    if operands == 3:
        assert [numbers(clip, 1), numbers(clip, 2)] == [-0.5, 0.5]
    else:
        assert (clip.float_attr("min", 0), clip.float_attr("max", 0)) == (-0.5, 0.5)
    assert clipped(build, op.operands[0], 0.0) is op.operands[0]


@pytest.mark.parametrize(
    ("lengths", "opset", "kept"),
    [
        ("n = [5, 5, 5] : 3xi32", 9, False),
        ("n = [5, 4, 5] : 3xi32", 11, True),
        ("n = [4, 4, 4] : 3xi32", 11, True),
        ("n = [5, 5, 4] : 3xi32", 10, None),
        ("n: 3xi32", 11, True),
        ("n: 3xi32", 10, None),
    ],
)
def test_lengths_that_are_all_steps_are_none(lengths: str, opset: int, kept: bool | None):
    op = last_op(LAYER.format(lengths), opset)
    layer = _read(op, KINDS[op.op_type])
    if kept is None:
        assert names(layer) == ["opset"]
    else:
        assert not isinstance(layer, Blocked)
        assert (layer.lengths is not None) is kept
        assert (layer.steps, layer.batch) == (5, 3)


@pytest.mark.parametrize(
    ("values", "sizes", "axis", "expected"),
    [
        ("[1.0, 2.0, 3.0] : 3xf32", (2, 4, 3), 2, [1, 2, 3]),
        ("[1.0, 2.0, 3.0] : 1x3x1xf32", (2, 3, 4), 1, [1, 2, 3]),
        ("[1.0, 2.0, 3.0] : 3x1xf32", (2, 3, 4), 1, [1, 2, 3]),
        ("[7.0] : 1x1x1xf32", (2, 3, 4), 1, [7, 7, 7]),
        ("[1.0, 2.0, 3.0] : 1x1x3x1xf32", (2, 3, 4), 1, None),
        ("[1.0, 2.0, 3.0] : 3xf32", (3, 4, 3), 0, None),
        ("[1.0, 2.0] : 2x1xf32", (2, 3, 4), 1, None),
        ("[1.0, 2.0, 3.0] : 3x1xf16", (2, 3, 4), 1, None),
    ],
)
def test_a_constant_along_one_axis_is_a_vector(
    values: str, sizes: tuple[int, ...], axis: int, expected: list[float] | None
):
    vector = _along(last_op(f"k = {values}\ny = Neg(k) : 1xf32").operands[0], sizes, axis)
    assert (None if vector is None else vector.tolist()) == expected


@pytest.mark.parametrize(
    ("storage", "opset", "takes"), [("i8", 11, False), ("i8", 12, True), ("u8", 13, True), ("i16", 21, False)]
)
def test_bytes_are_clamped_from_opset_12_on(storage: str, opset: int, takes: bool):
    type = UniformType.per_tensor(Storage.of(storage), 0.5)
    assert clamps_integers(type, last_op("x: 3xf32\ny = Neg(x) : 3xf32", opset)) is takes


NARROW = "!quant.uniform<i8<-100:90>:f32, 0.5:-3>"
WIDE = "!quant.uniform<i8:f32, 0.5:-3>"
ROWS = "!quant.uniform<i8<-100:90>:f32:0, {0.5,0.25:7,2.0}>"


@pytest.mark.parametrize(
    ("mine", "shape", "opset", "always", "expected"),
    [
        (NARROW, "3x4", 11, False, ["Clip"]),
        (NARROW, "3x4", 10, False, ["Max", "Min"]),
        (NARROW, "*", 11, False, ["Clip"]),
        (ROWS, "3x4", 13, False, ["Max", "Min"]),
        (ROWS, "*", 13, False, []),
        (ROWS, "*", 13, True, []),
        (WIDE, "3x4", 13, False, []),
        (WIDE, "3x4", 13, True, ["Clip"]),
        (WIDE, "*", 13, True, ["Clip"]),
    ],
)
def test_a_clamp_of_reals_needs_the_rank_of_what_runs_along_an_axis(
    mine: str, shape: str, opset: int, always: bool, expected: list[str]
):
    op = last_op(f"x: {shape}xf32\nw: 3x4x!mine\ny = Mul(x, w) : {shape}xf32", opset, mine)
    ops = clamped_real(op.operands[0], uniform_of(op.operands[1].type), op, always=always)
    assert names(ops) == expected


def test_a_column_of_zeros_has_the_scale_1():
    weight = np.array([[[0.5, -2.54, 1.0], [0, 0, 0]]], np.float32)
    stored, scales, zeros = (numbers_of(value) for value in _columns_in_8_bits(weight, Nodes()))
    assert scales.tolist() == [[pytest.approx(0.02), 1.0]]
    assert stored.tolist() == [[[25, 0], [-127, 0], [50, 0]]]
    assert zeros.tolist() == [[0, 0]]


def test_columns_of_no_rows_have_a_scale_each():
    stored, scales, zeros = (
        numbers_of(value) for value in _columns_in_8_bits(np.zeros((1, 8, 0), np.float32), Nodes())
    )
    assert stored.shape == (1, 0, 8)
    assert scales.tolist() == [[1.0] * 8]
    assert zeros.shape == (1, 8)


def numbers_of(value: Any) -> np.ndarray:
    array = constant_array(value)
    assert array is not None
    return array


POOL = "x: 1x5x4x2xui8\ny = NhwcMaxPool(x) {kernel_shape = array<i64: 2, 3>} : 1x4x2x2xui8"


@pytest.mark.parametrize(
    ("opset", "expected"), [(11, ["opset"]), (12, ["Transpose", "MaxPool", "Transpose"])]
)
def test_a_pool_takes_integers_from_opset_12_on(opset: int, expected: list[str]):
    assert names(FOREIGN[MICROSOFT, "NhwcMaxPool"].parts(last_op(POOL, opset))) == expected


@pytest.mark.parametrize(
    ("body", "perms"),
    [
        ("a: 5xf32\nb: 5x3xf32\ny = FusedMatMul(a, b) {transA = 1 : i64} : 3xf32", []),
        ("a: 5x2xf32\nb: 5x3xf32\ny = FusedMatMul(a, b) {transA = 1 : i64} : 2x3xf32", [(1, 0)]),
        ("a: 4x2x5xf32\nb: 4x3x5xf32\ny = FusedMatMul(a, b) {transB = 1 : i64} : 4x2x3xf32", [(0, 2, 1)]),
    ],
)
def test_a_vector_is_not_transposed(body: str, perms: list[tuple[int, ...]]):
    ops = FUSED[MICROSOFT, "FusedMatMul"].parts(last_op(body))
    assert names(ops) == ["Transpose"] * len(perms) + ["MatMul"]
    assert isinstance(ops, Sequence)
    assert [op.ints_attr("perm") for op in ops if isinstance(op, OnnxOp)][:-1] == perms


def test_a_convolution_of_integers_with_channels_first_is_onnxs_own():
    op = last_op("""
        x: 1x2x5x4xui8
        w: 3x2x1x1xui8
        s = [0.5] : f32
        z = [3] : ui8
        y = QLinearConv(x, s, z, w, s, z, s, z) {strides = array<i64: 1, 2>} : 1x3x5x2xui8""")
    own = op_named(MICROSOFT, "QLinearConv").build(op.inputs, op.result_types, op.onnx_attributes)
    parts = FUSED[MICROSOFT, "QLinearConv"].parts(own)
    assert names(parts) == ["QLinearConv"]
    assert isinstance(parts, Sequence)
    assert parts[-1].results[0].type == op.results[0].type
    assert list(parts[-1].operands) == list(op.operands)
    assert isinstance(parts[-1], OnnxOp)
    assert parts[-1].ints_attr("strides") == (1, 2)


def test_a_valid_window_has_no_pads_that_could_be_counted():
    how = '{kernel_shape = array<i64: 2, 3>, auto_pad = "VALID", strides = array<i64: 2, 1>}'
    window = pool(last_op(f"x: 1x2x5x4xf32\ny = AveragePool(x) {how} : 1x2x2x2xf32"))
    assert window.stated == window.pads == ((0, 0), (0, 0))


def newer(body: str, opset: int) -> Any:
    """The first newer form of the last op."""
    op = last_op(body, opset)
    return answer(NEWER["", op.op_type][0].parts, op)


def dropped(op_type: str, attributes: str) -> str:
    """A call of an op that no opset in use has."""
    return f'Custom(x) {{domain = "", op_type = "{op_type}", attrs = {{{attributes}}}}}'


NORMAL = "x: 1x2x3xf32\na: 2xf32\n{} = BatchNormalization(x, a, a, a, a) : {}"


def test_a_normalization_with_one_result_is_that_of_inference():
    five = ", ".join(["1x2x3xf32", *["2xf32"] * 4])
    assert names(newer(NORMAL.format("y", "1x2x3xf32"), 7)) == ["BatchNormalization"]
    assert names(newer(NORMAL.format("y, m, v, o, p", five), 7)) == ["training-mode"]


@pytest.mark.parametrize(
    ("shape", "sizes", "flat"),
    [("2x3x4", None, (2, 12)), ("?x3x4", 3, (DYNAMIC, DYNAMIC)), ("*", DYNAMIC, (DYNAMIC, DYNAMIC))],
)
def test_an_old_softmax_is_one_of_rows_that_are_as_many_as_known(
    shape: str, sizes: int | None, flat: tuple[int, int]
):
    """sizes: the number of them that a Shape gives, DYNAMIC if unknown; None for constants."""
    parts = newer(f"x: {shape}xf32\ny = Softmax(x) : {shape}xf32", 11)
    *_, softmax, last = [op for op in parts if op.op_type in ("Flatten", "Softmax", "Reshape")]
    assert shape_of(softmax.results[0].type) == flat
    assert softmax.int_attr("axis", 9) == 1
    if sizes is None:
        assert numbers(last, 1) == [2, 3, 4]
    else:
        assert shape_of(last.operands[1].type) == (sizes,)
        (counted,) = [op for op in parts if op.op_type == "Shape"]
        assert counted.operands[0] is parts[0].operands[0]


@pytest.mark.parametrize(
    ("how", "ends", "result"),
    [
        ("border = array<i64: 1, 2, 0, 0>, scale = array<i64: 3, 2>", [5, 3], (1, 2, 3, 2)),
        ("border = array<i64: 1, 2, 0, 3>", [-3, 2**63 - 1], (1, 2, 2, 4)),
    ],
)
def test_a_crop_ends_behind_what_it_keeps(how: str, ends: list[int], result: tuple[int, ...]):
    (*_, cut) = newer(f"x: 1x2x7x5xf32\ny = {dropped('Crop', how)} : *xf32", 7)
    assert [numbers(cut, place) for place in (1, 2, 3)] == [[2, 1], ends, [2, 3]]
    assert shape_of(cut.results[0].type) == result


@pytest.mark.parametrize("shape", ["*x", "7x5x"])
def test_a_crop_of_what_is_no_image_is_of_unknown_sizes(shape: str):
    (*_, cut) = newer(f"x: {shape}f32\ny = {dropped('Crop', 'border = array<i64: 1, 2, 0, 3>')} : *xf32", 7)
    assert shape_of(cut.results[0].type) is None


def test_an_old_resize_says_what_keeps_it():
    sides = newer(f"x: 1x2x3x4xf32\ny = {dropped('Upsample', 'height_scale = 2.0 : f32')} : *xf32", 1)
    assert "height and width" in sides.message
    smaller = newer("x: 1x2x3x4xf32\ns = [1.0, 1.0, 0.5, 2.0] : 4xf32\ny = Resize(x, s) : *xf32", 10)
    assert "downsamples" in smaller.message
    assert names(newer("x: 1x2x3x4xf32\ns = [1.0, 1.0, 1.0, 2.0] : 4xf32\ny = Resize(x, s) : *xf32", 10)) == [
        "Resize"
    ]


def test_an_image_has_a_shift_for_each_channel():
    how = "scale = 0.5 : f32, bias = array<f32: 1.0, -2.0>"
    parts = newer(f"x: 1x2x3x4xf32\ny = {dropped('ImageScaler', how)} : 1x2x3x4xf32", 7)
    (product, added) = [op for op in parts if op.op_type in ("Mul", "Add")]
    assert numbers(product, 1) == 0.5
    assert numbers(added, 1) == [[[1.0]], [[-2.0]]]


@pytest.mark.parametrize(
    ("opset", "expected"), [(19, ["Add", "Div", "Erf", "Add", "Mul", "Mul"]), (20, ["Add", "Gelu"])]
)
def test_a_gelu_is_one_op_from_opset_20_on(opset: int, expected: list[str]):
    op = last_op("x: 2x3xf32\nb: 3xf32\ny = Add(x, b) : 2x3xf32", opset)
    fused = op_named(MICROSOFT, "BiasGelu").build(op.inputs, op.result_types)
    body = op.parent
    assert body is not None
    body.insert_op_after(fused, op)
    assert names(FUSED[MICROSOFT, "BiasGelu"].parts(fused)) == expected


@pytest.mark.parametrize(
    ("call", "squares"),
    [
        ("Mul(a, a)", True),
        ("Mul(a, b)", False),
        ("Mul(b, a)", False),
        ("Pow(a, two)", True),
        ("Pow(a, three)", False),
    ],
)
def test_a_square_is_a_value_times_itself(call: str, squares: bool):
    op = last_op(f"""
        a: 2x3xf32
        b: 2x3xf32
        two = [2.0] : f32
        three = [3.0] : f32
        s = {call} : 2x3xf32
        y = Neg(s) : 2x3xf32""")
    square = _square(op.operands[0])
    assert (square is not None) is squares
    if square is not None:
        assert square == (op.operands[0].owner, square[0].operands[0])


@pytest.mark.parametrize("stated", ["3x4xf32", "*x!onnx.any"])
def test_an_affine_has_a_type(stated: str):
    body = f"x: 3x4xf32\ny = {dropped('Affine', 'alpha = 0.5 : f32, beta = 3.0 : f32')} : {stated}"
    (product, added) = [op for op in newer(body, 7) if op.op_type in ("Mul", "Add")]
    assert element_of(product.results[0].type) == element_of(added.results[0].type) == Float32Type()
    assert (numbers(product, 1), numbers(added, 1)) == (0.5, 3.0)


def test_a_slope_as_max_needs_the_opset_whose_max_broadcasts():
    body = "x: 2x3xf32\ns = [0.5, 0.25, 0.125] : 3xf32\ny = PRelu(x, s) : 2x3xf32"
    assert names(SPELLED["", "PRelu"].parts(last_op(body, 7))) == []
    assert names(SPELLED["", "PRelu"].parts(last_op(body, 8))) == ["Mul", "Max"]


@pytest.mark.parametrize(
    ("scale", "alpha", "expected"),
    [
        (2.0**-126, 1.0, ["Add"]),
        (2.0**-126, 0.5, ["scale-value"]),
        (2.0**-125, 0.5, ["Add"]),
        (2.0**126, 2.0, ["Add"]),
        (2.0**127, 2.0, ["scale-value"]),
    ],
)
def test_a_line_has_a_slope_of_full_precision(scale: float, alpha: float, expected: list[str]):
    types = f"!quant.uniform<i8:f32, {scale!r}>\n!p = !quant.uniform<i8:f32, 0.00390625:-128>"
    op = last_op(f"x: 3x!mine\ny = HardSigmoid(x) {{alpha = {alpha} : f32}} : 3x!p", 18, types)
    assert names(REWRITTEN["", "HardSigmoid"].parts(op)) == expected
