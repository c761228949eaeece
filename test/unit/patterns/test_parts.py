"""What the parts of patterns say of single values and types: each boundary from both sides."""

# pyright: reportPrivateUsage=false

from __future__ import annotations

from types import SimpleNamespace
from typing import Any, cast

import numpy as np
import numpy.typing as npt
import pytest
from guard_cases import Case, last_op, parsed, text
from xdsl.dialects.builtin import BFloat16Type, Float16Type, f16
from xdsl.dialects.func import ReturnOp

from qdialect.dialects.onnx_base import ConstantOp, OnnxOp
from qdialect.dialects.quant import Storage, UniformType
from qdialect.dialects.quant_parameters import FORMATS
from qdialect.ir.values import constant_array
from qdialect.numerics import Array
from qdialect.onnx_io.sizes import MAX_LIST_ELEMENTS, _is_small
from qdialect.patterns import cast_normal_form as placement
from qdialect.patterns import casts
from qdialect.patterns import constant_folding as computing
from qdialect.patterns.affine import _scaled
from qdialect.patterns.affine_kernels import _row, _stays
from qdialect.patterns.half_precision_casts import _of_half
from qdialect.patterns.recurrent import pays
from qdialect.patterns.region_casts import _expressible, yields_only
from qdialect.promises import sizes
from qdialect.promises.affine import AffineMap
from qdialect.reasons import Blocked
from qdialect.runtimes.onnxruntime.biases import has_other_steps
from qdialect.runtimes.onnxruntime.cast_motion import first_moved
from qdialect.targets import Target, target
from qdialect.transforms import fold_layout
from qdialect.transforms.insert_casts import activation_type
from qdialect.transforms.lower_to_matmul import AxisMatrix, _are_exact
from qdialect.transforms.lower_to_table import MAX_DISTANCE_STEPS, _is_near
from qdialect.transforms.quantize_branches import _is_one_sided


def array(dtype: npt.DTypeLike, values: Any) -> npt.NDArray[Any]:
    return np.array(values, dtype)


def per_tensor(storage: str, scale: float, zero: int = 0, expressed: Any = None) -> UniformType:
    type = UniformType.per_tensor(Storage.of(storage), np.float32(scale), zero)
    return type if expressed is None else type.replace(expressed=expressed)


WEIGHT = np.arange(1, 49, dtype=np.float32).reshape(4, 3, 2, 2)


@pytest.mark.parametrize(
    ("rows", "axis", "expected"),
    [
        (np.float64(3), 1, WEIGHT * 3),
        (np.array([[2, 3, 5]]), 1, WEIGHT * np.array([2, 3, 5]).reshape(1, 3, 1, 1)),
        (np.array([[2, 3, 5, 7]]), 0, WEIGHT * np.array([2, 3, 5, 7]).reshape(4, 1, 1, 1)),
        (np.array([[2, 3, 5], [7, 11, 13]]), 1, np.concatenate([
            WEIGHT[:2] * np.array([2, 3, 5]).reshape(1, 3, 1, 1),
            WEIGHT[2:] * np.array([7, 11, 13]).reshape(1, 3, 1, 1),
        ])),
        (np.array([[2, 3], [5, 7]]), 0, WEIGHT * np.array([2, 3, 5, 7]).reshape(4, 1, 1, 1)),
    ],
)  # fmt: skip
def test_a_weight_is_scaled_by_group_and_channel(rows: Array, axis: int, expected: Array):
    scaled = _scaled(WEIGHT, np.asarray(rows, np.float64), axis)
    assert scaled.dtype == np.float32
    np.testing.assert_array_equal(scaled, expected)


@pytest.mark.parametrize(
    ("constant", "built"),
    [
        ("b = [1.0, 2.0, 4.0] : 3xf32", False),
        ("b = [1.0, 2.0, 4.0] : 1x3xf32", True),
        ("k = [2, 4, 8] : 3xi8 as 3x!s\nb = dcast k : 3xf32", True),
    ],
)
def test_a_bias_is_one_row_of_floats(constant: str, built: bool):
    add = last_op(f"x: 2x3xf32\n{constant}\ny = Add(x, b) : 2x3xf32")
    ops = _row(add.operands[1], add.operands[0])
    assert not isinstance(ops, Blocked)
    assert [type(op) for op in ops] == ([ConstantOp] if built else [])
    for op in ops:
        expected = [2.5, 3.5, 5.5] if "dcast" in constant else [1.0, 2.0, 4.0]
        np.testing.assert_array_equal(constant_array(op.results[0]), array(np.float32, expected))


@pytest.mark.parametrize(
    ("constant", "type", "expected"),
    [
        ("[1.0, -63.5] : 2xf32", per_tensor("i8", 0.5, -3), False),
        ("[1.0, -62.5] : 2xf32", per_tensor("i8", 0.5, -3), True),
        ("[1.25, 1.0] : 2xf32", per_tensor("i8", 0.5, -3), False),
        ("[1.0, -62.5] : 2xf64", per_tensor("i8", 0.5, -3), False),
        ("[1.0, -62.5] : 2xf16", per_tensor("i8", 0.5, -3), False),
        ("[1.0, -62.5] : 2xf16", per_tensor("i8", 0.5, -3, f16), True),
    ],
)
def test_what_a_type_expresses_exactly(constant: str, type: UniformType, expected: bool):
    op = last_op(f"k = {constant}\ny = Identity(k) : {constant.rpartition(' ')[2]}")
    assert _expressible(op.operands[0], type) is expected


def test_what_a_function_returns_is_not_only_yielded():
    _, module = parsed(text(Case("", "", "x: 2xf32\ny = Relu(x) : 2xf32")))
    (end,) = (op for op in module.walk() if isinstance(op, ReturnOp))
    assert not yields_only(end, 0)


SESSION = target("onnxruntime")

QUANTIZED_AGAIN = """
    q: 2x3xi8
    s = [0.5{0}] : {2}f32
    z = [3{1}] : {2}i8
    t = [0.5{0}] : {2}f32
    v = [{3}{1}] : {2}i8
    d = DequantizeLinear(q, s, z) {{axis = 1 : i64}} : 2x3xf32
    y = QuantizeLinear(d, t, v) {{axis = 1 : i64}} : 2x3xi8"""


@pytest.mark.parametrize(
    ("parts", "expected"),
    [
        (("", "", "", 3), True),
        (("", "", "", 4), False),
        ((", 0.25, 2.0", ", 4, 5", "3x", 3), False),
    ],
)
def test_a_second_quantize_is_of_one_scale_for_all(parts: tuple[Any, ...], expected: bool):
    op = last_op(QUANTIZED_AGAIN.format(*parts))
    assert first_moved(op, SESSION) is (op if expected else None)


@pytest.mark.parametrize("computed", ["s", "t"])
def test_a_second_quantize_has_known_scales(computed: str):
    body = QUANTIZED_AGAIN.format("", "", "", 3).replace(f"{computed} = [0.5] : f32", f"{computed}: f32")
    assert first_moved(last_op(body), SESSION) is None


@pytest.mark.parametrize(
    ("between", "expected"),
    [
        ("m = Transpose(d) : 3x3xf32", "Transpose"),
        ("k = Unsqueeze(d) {axes = [0]} : 1x3x3xf32\n    m = Squeeze(k) {axes = [0]} : 3x3xf32", "Unsqueeze"),
        ("m = Relu(d) : 3x3xf32", None),
    ],
)
def test_a_session_brings_the_casts_of_a_second_quantize_together(between: str, expected: str | None):
    body = QUANTIZED_AGAIN.format("", "", "", 3).replace("2x3", "3x3").replace("axis = 1", "axis = 0")
    body = body.replace("y = QuantizeLinear(d", f"{between}\n    y = QuantizeLinear(m")
    first = first_moved(last_op(body), SESSION)
    assert (None if first is None else first.op_type) == expected


PRODUCT = """
    x: 2x3xui8
    s = [0.5] : f32
    w = [1, 2, 3, 4, 5, 6] : 3x2xi8
    t = [0.25] : f32
    b: 2xi32
    u = [0.125] : f32
    d = DequantizeLinear(x, s) : 2x3xf32
    v = DequantizeLinear(w, t) : 3x2xf32
    p = MatMul(d, v) : 2x2xf32
    c = DequantizeLinear(b, u) : 2xf32
    y = Add(p, c) : 2x2xf32"""


@pytest.mark.parametrize(
    ("old", "new", "expected"),
    [
        ("", "", False),
        ("u = [0.125]", "u = [0.25]", True),
        ("t = [0.25]", "t = [0.5]", True),
        ("s = [0.5] : f32", "s: f32", True),
        ("t = [0.25] : f32", "t: f32", True),
        ("u = [0.125] : f32", "u: f32", True),
        ("d = DequantizeLinear(x, s)", "d = Cast(x) {to = 1 : i64}", False),
        ("v = DequantizeLinear(w, t)", "v = Cast(w) {to = 1 : i64}", False),
    ],
)
def test_steps_of_a_bias_are_those_of_its_product(old: str, new: str, expected: bool):
    add = last_op(PRODUCT.replace(old, new) if old else PRODUCT)
    product, bias = (value.owner for value in add.operands)
    assert isinstance(product, OnnxOp)
    assert isinstance(bias, OnnxOp)
    assert has_other_steps(bias, product) is expected


def test_as_many_integers_are_tried_as_the_most(monkeypatch: pytest.MonkeyPatch):
    """One too many are not: the type is taken for one that does not settle."""
    type = per_tensor("i8", 512.0, 0, f16)  # the ends are infinite, and stay so
    assert not type.round_trips
    tried = casts.settles.__wrapped__
    for most, expected in ((255, True), (254, False)):
        monkeypatch.setattr(casts, "MAX_TESTED_VALUES", most)
        assert tried(type) is expected


def test_integers_of_many_scales_are_not_all_tried(monkeypatch: pytest.MonkeyPatch):
    type = UniformType.per_axis(Storage.of("i8"), 0, [512.0] * 3).replace(expressed=f16)
    for most, expected in ((765, True), (764, False)):
        monkeypatch.setattr(casts, "MAX_TESTED_VALUES", most)
        assert casts.settles.__wrapped__(type) is expected


@pytest.mark.parametrize(("size", "computed"), [(1 << 14, True), ((1 << 14) + 1, False)])
def test_a_result_of_so_many_bytes_is_computed(size: int, computed: bool):
    op = last_op(f"k = [1.0] : 1xf32\nn = [{size}] : 1xi64\ny = Expand(k, n) : {size}xf32")
    assert isinstance(computing.foldable(op, 2), Blocked) is not computed


@pytest.mark.parametrize(("of", "size", "long"), [("", 8, False), ("", 9, True), ("3x", 9, False)])
def test_a_list_of_computed_operands_may_be_so_long(
    of: str, size: int, long: bool, monkeypatch: pytest.MonkeyPatch
):
    monkeypatch.setattr(computing, "MAX_LIST_ELEMENTS", 8)
    assert computing._long_list(last_op(f"x: {of}{size}xi64\ny = Neg(x) : {of}{size}xi64")) is long
    known = f"k = [{', '.join(['1'] * size)}] : {size}xi64\ny = Neg(k) : {size}xi64"
    assert not computing._long_list(last_op(known))


@pytest.mark.parametrize(
    ("result", "scale", "computed"),
    [("2xui8", " = [0.5]", True), ("?xui8", " = [0.5]", False), ("2xi8", " = [0.5]", False), ("2xui8", "", False)],
)  # fmt: skip
def test_a_quantized_constant_has_the_type_of_the_result(result: str, scale: str, computed: bool):
    start = f"k = [1.0, 3.0] : 2xf32\ns{scale} : f32" if scale else "k = [1.0, 3.0] : 2xf32\ns: f32"
    new = computing._quantized(last_op(f"{start}\nz = [7] : ui8\ny = QuantizeLinear(k, s, z) : {result}"))
    assert len(new) == computed
    for op in new:
        np.testing.assert_array_equal(constant_array(op.results[0]), array(np.uint8, [9, 13]))


@pytest.mark.parametrize(
    ("constant", "expected"),
    [
        ("[] : 0xf32", None),
        ("[3.0] : 1xf32", 3.0),
        ("[3.0] : f32", 3.0),
        ("[3.0, 3.0, 3.0, 3.0] : 2x2xf32", 3.0),
        ("[3.0, 3.0, 3.0, 3.0, 3.0] : 5xf32", None),
        ("[3.0, 4.0] : 2xf32", None),
        ("[4, 4] : 2xi64", 4.0),
        ("[1, 1] : 2xi1", None),
    ],
)
def test_equal_elements_of_a_constant(constant: str, expected: float | None, monkeypatch: pytest.MonkeyPatch):
    monkeypatch.setattr(sizes, "MAX_EXAMINED_ELEMENTS", 4)
    op = last_op(f"k = {constant}\ny = Identity(k) : {constant.rpartition(' ')[2]}")
    assert sizes.filled_with(op.operands[0]) == expected


@pytest.mark.parametrize("expressed", [Float16Type(), BFloat16Type()])
def test_scales_as_small_and_as_large_as_half_precision_has_them(expressed: Any):
    limits = FORMATS[expressed.__class__]
    ends = array(np.float32, [limits.smallest, limits.largest])
    type = UniformType.along(Storage.of("i8"), 0, ends)
    assert _of_half(type, expressed) == type.replace(expressed=expressed)
    below, above = np.nextafter(ends, array(np.float32, [0, np.inf]))
    assert (
        _of_half(UniformType.along(Storage.of("i8"), 0, array(np.float32, [below, ends[1]])), expressed)
        is None
    )
    assert (
        _of_half(UniformType.along(Storage.of("i8"), 0, array(np.float32, [ends[0], above])), expressed)
        is None
    )


@pytest.mark.parametrize(
    ("factor", "shift", "type", "result", "expected"),
    [
        (2.0, 0.0, per_tensor("u8", 0.5, 7), per_tensor("u8", 1.0, 7), True),
        (2.0, 3.0, per_tensor("u8", 0.5, 7), per_tensor("u8", 1.0, 4), True),
        (2.0, 3.0, per_tensor("u8", 0.5, 7), per_tensor("u8", 1.0, 5), False),
        (2.0, 0.0, per_tensor("u8", 0.5, 7), per_tensor("u8", 0.5, 7), False),
        (2.0, 0.0, per_tensor("u8", 0.5, 7), per_tensor("i8", 1.0, 7), False),
        (2.0, 0.0, per_tensor("u16", 0.5, 7), per_tensor("u16", 1.0, 7), False),
        (2.0, 0.0, per_tensor("u8", 0.5, 7, f16), per_tensor("u8", 1.0, 7), False),
        (2.0, 0.0, per_tensor("u8", 0.5, 7), per_tensor("u8", 1.0, 7, f16), False),
    ],
)
def test_a_map_that_leaves_each_integer(
    factor: float, shift: float, type: UniformType, result: UniformType, expected: bool
):
    assert _stays(AffineMap(0, 1, np.array(factor), np.array(shift)), type, result) is expected


@pytest.mark.parametrize(
    ("shape", "small"),
    [(f"{MAX_LIST_ELEMENTS}xi64", True), (f"{MAX_LIST_ELEMENTS + 1}xi64", False),
     (f"2x{MAX_LIST_ELEMENTS // 2}xi32", True), ("?xi64", False),
     ("4xf32", False), ("i1", True)],
)  # fmt: skip
def test_lists_are_analysed_up_to_so_many_elements(shape: str, small: bool):
    assert _is_small(last_op(f"x: {shape}\ny = Identity(x) : {shape}").operands[0]) is small


@pytest.mark.parametrize(("most", "expected"), [(3, True), (2, False)])
def test_so_many_values_are_looked_at_for_one_that_is_no_number(
    most: int, expected: bool, monkeypatch: pytest.MonkeyPatch
):
    monkeypatch.setattr(placement, "MAX_VISITED_VALUES", most)
    op = last_op("x: 2xf32\na = Relu(x) : 2xf32\nb = Tanh(a) : 2xf32\ny = Add(a, b) : 2xf32")
    assert placement.is_number(op.results[0]) is expected


@pytest.mark.parametrize("most", [0, 1, 2, 3])
def test_so_many_ops_are_turned(most: int, monkeypatch: pytest.MonkeyPatch):
    monkeypatch.setattr(fold_layout, "MAX_FOLLOWED_OPS", most)
    turned = fold_layout._turned(last_op("""
        x: 2x3x4xf32
        t = Transpose(x) {perm = array<i64: 2, 0, 1>} : 4x2x3xf32
        a = Relu(t) : 4x2x3xf32
        b = Tanh(t) : 4x2x3xf32
        c = Mul(a, b) : 4x2x3xf32
        y = ReduceMax(c) {axes = array<i64: 0>, keepdims = 0 : i64} : 2x3xf32""", 17))  # fmt: skip
    assert (turned is not None) is (most >= 3)
    if turned is not None:
        assert turned.order == (2, 0, 1)
        assert [op.op_type for op in turned.ops][-1] == "Mul"


@pytest.mark.parametrize(
    ("zeros", "expected"),
    [([0], True), ([255], True), ([1], False), ([254], False), ([7, 255], True), ([0, 7], True)],
)
def test_one_side_of_zero(zeros: list[int], expected: bool):
    scales = np.full(len(zeros), 0.5, np.float32)
    type = UniformType.per_axis(Storage.of("u8"), 0, scales, np.array(zeros))
    assert _is_one_sided(type) is expected


@pytest.mark.parametrize(
    ("fractions", "exact"),
    [
        ([2.0**-8, 2.0**-8], True),
        ([2.0**-8, 2.0**-9], False),
        ([2.0**-16], True),
        ([2.0**-17], False),
        ([1.0, 1.0], True),
        ([1 / 3], False),
        ([0.5, 1 / 3], False),
    ],
)
def test_sums_of_bytes_that_float32_holds(fractions: list[float], exact: bool):
    steps = [AxisMatrix(k, array(np.float32, [[f, 1 - f]])) for k, f in enumerate(fractions)]
    assert _are_exact(steps) is exact


@pytest.mark.parametrize(
    ("moved", "off", "expected"),
    [(0.0, 0, True), (MAX_DISTANCE_STEPS, 1, True), (MAX_DISTANCE_STEPS * 1.01, 1, False), (0.0, 2, False)],
)
def test_near_is_by_steps_and_by_a_part_of_one(moved: float, off: int, expected: bool):
    type = per_tensor("u8", 0.5, 0)
    exact = np.arange(4, 68) * 0.5
    table = np.arange(4, 68, dtype=np.uint8)
    table[5] += off
    assert _is_near(exact + moved * 0.5, exact, table, type) is expected


def test_bounds_of_next_to_nothing():
    least = float(np.finfo(np.float32).tiny) * 1e6
    target: Any = SimpleNamespace(activations="", symmetric_activations=False)
    assert activation_type((0.0, least), target).scale == np.float32(least / 255)
    assert activation_type((0.0, np.nextafter(least, 0)), target).scale == np.float32(1 / 255)


def ones(shape: str) -> str:
    return f"[{', '.join(['1.0'] * np.prod([int(n) for n in shape.split('x')]))}] : {shape}xf32"


class Runtime(SimpleNamespace):
    """A target with the kernels `has`, and the costs that say when they are faster."""

    def has_kernel(self, op_type: str, operands: Any, result: str) -> bool:
        return op_type in self.has


LSTM = f"""
    x: 5x3x2xf32
    w = {ones("1x12x2")}
    r = {ones("1x12x3")}
    y = LSTM(x, w, r) {{hidden_size = 3 : i64}} : 5x1x3x3xf32"""


@pytest.mark.parametrize(
    ("old", "new", "least", "expected"),
    [
        ("", "", {}, True),
        ("", "", {"least": 3}, True),
        ("", "", {"least": 4}, False),
        (f"w = {ones('1x12x2')}", "w: 1x12x2xf32", {}, False),
        (f"r = {ones('1x12x3')}", "r: 1x12x?xf32", {}, False),
        ("LSTM(x, w, r)", "GRU(x, w, r)", {}, False),
    ],
)
def test_a_recurrent_kernel_pays_from_a_number_of_units_on(
    old: str, new: str, least: dict[str, float], expected: bool
):
    kernel = "DynamicQuantizeLSTM"
    op = last_op(LSTM.replace(old, new) if old else LSTM)
    assert pays(op, cast(Target, Runtime(has=[kernel], costs={kernel: least}))) is expected
    assert not pays(op, cast(Target, Runtime(has=[], costs={kernel: least})))
