"""Integers at the ends of what weights, biases and sums hold, and biases that move as much as they may."""

# pyright: reportPrivateUsage=false

from __future__ import annotations

from types import SimpleNamespace
from typing import Any, cast

import numpy as np
import pytest
from guard_cases import Case, last_op, ops_of, parsed, text
from xdsl.dialects.builtin import ModuleOp

from qdialect import numerics
from qdialect.dialects.onnx_base import ConstantOp, OnnxOp
from qdialect.dialects.onnx_types import quantized_of, shape_of, uniform_of
from qdialect.dialects.quant import QuantizeOp, Storage, StorageCastOp, UniformType
from qdialect.errors import UserError
from qdialect.ir.values import constant_array
from qdialect.numerics import folding
from qdialect.patterns.half_precision_casts import _read_as
from qdialect.patterns.integral_weights import read_weights_above
from qdialect.patterns.region_casts import _expressible
from qdialect.quantizer.placement.placement import Placement
from qdialect.reasons import Blocked
from qdialect.rewriting.driver import Rewriter, apply_patterns
from qdialect.rewriting.remarks import remarks_of
from qdialect.targets import target
from qdialect.transforms import get_all_passes, insert_casts
from qdialect.transforms.collapse_transpose import _was_last
from qdialect.transforms.fold_float_weights import affordable
from qdialect.transforms.fold_scales import Above, _ceiling
from qdialect.transforms.insert_casts import InsertCastsPass
from qdialect.transforms.legalize_weights import LegalizeWeightsPass
from qdialect.transforms.lower_to_qoperator import _sum_guard
from qdialect.transforms.raise_arithmetic import NarrowStorage
from qdialect.transforms.rescale_bias import RescaleBiasPass, _count, _refine

ONE = UniformType.per_tensor(Storage.of("u8"), np.float32(1))
WEIGHTS = UniformType.per_tensor(Storage.of("i8"), np.float32(1))


def applied(rewrite: Any, body: str, aliases: str = "") -> ModuleOp:
    context, module = parsed(aliases + text(Case("", "", body)))
    rewrite.apply(context, module)
    module.verify()
    return module


GEMM = """
    x: 1x1x!one
    w = [{0}] : 1x1xi8 as 1x1x!t
    y = Gemm(x, w) : 1x1xf32"""


@pytest.mark.parametrize(("weight", "counted"), [(1, True), (2, False)])
def test_a_sum_is_as_large_as_int32(weight: int, counted: bool):
    """255 and a bias of 2147483392 make 2**31 - 1."""
    op = last_op(GEMM.format(weight))
    result = _count(op, ONE, WEIGHTS, np.array([[weight]], np.int8), np.array([2147483392], np.float32))
    unchanged = not isinstance(result, Blocked) and result.weight is None
    assert unchanged is counted


@pytest.mark.parametrize(("most", "blocked"), [(726, False), (725, True)])
def test_a_product_sums_up_to_the_greatest_integer(most: int, blocked: bool, monkeypatch: pytest.MonkeyPatch):
    """3 times 242 steps above the zero point."""
    op = last_op("x: 2x1x!u\nw = [3] : 1x1xi8 as 1x1x!t\ny = MatMul(x, w) : 2x1xf32")
    types = [uniform_of(value.type) for value in op.operands]
    monkeypatch.setattr(numerics, "INT32_MAX", most)
    reason = _sum_guard(op, types)
    assert (reason is not None) is blocked
    if reason is not None:
        assert "726" in reason.message


@pytest.mark.parametrize(("more", "widened"), [(0, False), (128, True)])
def test_only_a_bias_beyond_its_share_widens_a_weight(
    more: int, widened: bool, monkeypatch: pytest.MonkeyPatch
):
    op = last_op(GEMM.format(1))
    monkeypatch.setattr(numerics, "INT32_MAX", folding.MAX_FOLDED_BIAS + 200)
    bias = np.array([folding.MAX_FOLDED_BIAS + more], np.float32)
    result = _count(op, ONE, WEIGHTS, np.ones((1, 1), np.int8), bias)
    if widened:
        assert not isinstance(result, Blocked)
        assert result.weight is not None
    else:
        assert isinstance(result, Blocked)
        assert result.id == "accumulator-overflow"
        assert str(folding.MAX_FOLDED_BIAS + 255) in result.message


def refined(values: str, bias: list[float]) -> list[float] | None:
    """The scales of two channels, 1.0 each, of such weights."""
    source = text(
        Case("", "", f"x: 1x1x!one\nw = [{values}] : 1x2xi8 as 1x2x!ones\ny = Gemm(x, w) : 1x2xf32")
    )
    _, module = parsed(f"!ones = !quant.uniform<i8:f32:1, {{1.0,1.0}}>\n{source}")
    op = next(o for o in module.walk() if isinstance(o, OnnxOp) and o.op_type == "Gemm")
    new = _refine(op, ONE, uniform_of(op.operands[1].type), np.array(bias, np.float32))
    return None if new is None else new[1].scales.tolist()


def test_weights_are_refined_where_a_bias_is_no_whole_number_of_steps():
    assert refined("1, 100", [2.0, 3.25]) is None
    finer = refined("1, 1", [2.0 + 2**-20, 3.0])
    assert finer is not None
    assert finer[0] < 1.0
    assert finer[1] == 1.0


def test_scales_of_zeros_change_where_a_bias_is_no_whole_number_of_steps():
    assert refined("0, 0", [2.0, 3.0]) is None
    one = refined("0, 0", [2.25, 3.0])
    assert one is not None
    assert one[0] != 1.0
    assert one[1] == 1.0
    other = refined("0, 0", [2.0, 2.5])
    assert other is not None
    assert other[0] == 1.0
    assert other[1] != 1.0
    assert refined("100, 0", [2.5, 3.0]) is None


@pytest.mark.parametrize(("scale", "rescaled"), [(0.5, True), (0.499, False)])
def test_a_bias_moves_by_half_a_step_of_the_result(scale: float, rescaled: bool):
    module = applied(RescaleBiasPass(), """
        x: 2x1x!one
        w = [100, -100] : 1x2xi8 as 1x2x!w
        b = [2.25, -3.25] : 2xf32
        y = Gemm(x, w, b) : 2x2x!y""",
        f"!w = !quant.uniform<i8:f32, 1.0>\n!y = !quant.uniform<i8:f32, {scale}>\n")  # fmt: skip
    gemm = next(op for op in module.walk() if isinstance(op, OnnxOp) and op.op_type == "Gemm")
    assert (quantized_of(gemm.operands[2].type) is not None) is rescaled
    assert [r.blocked.id for r in remarks_of(module)] == ([] if rescaled else ["bias-range"])


READ = [
    # weight and bias, which of them are read as integers
    ("127.0, -128.0", "2147483520.0, -2147483648.0", (True, True)),
    ("128.0, -128.0", "2147483648.0, -2147483648.0", (False, False)),
    ("127.0, -129.0", "2147483520.0, -2147483904.0", (False, False)),
    ("1.5, 2.0", "1.0, 2.5", (False, False)),
]


@pytest.mark.parametrize(("weight", "bias", "read"), READ)
def test_float_constants_that_8_and_32_bits_hold(weight: str, bias: str, read: tuple[bool, bool]):
    _, module = parsed(text(Case("", "", f"""
        x: 3x1xf32
        w = [{weight}] : 1x2xf32
        b = [{bias}] : 2xf32
        y = Gemm(x, w, b) : 3x2xf32""")))  # fmt: skip
    gemm = next(op for op in module.walk() if isinstance(op, OnnxOp) and op.op_type == "Gemm")
    read_weights_above(gemm.results[0], Rewriter(module, "any"))
    assert tuple(not isinstance(value.owner, ConstantOp) for value in gemm.operands[1:]) == read


NARROW = """
    x: 2x3xf32
    q = qcast x : 2x3x!s
    p = scast q : 2x3xi8
    a = [{0}] : i8
    b = [{1}] : i8
    y = Clip(p, a, b) : 2x3xi8"""


@pytest.mark.parametrize(
    ("low", "high", "storage"),
    [(-4, -2, (-4, -2)), (-3, -3, None), (-2, 5, None), (-9, -4, None), (-4, -3, (-4, -3)), (-3, 5, None)],
)
def test_a_clamp_around_the_zero_point_is_a_narrower_storage(
    low: int, high: int, storage: tuple[int, int] | None
):
    _, module = parsed(text(Case("", "", NARROW.format(low, high))))
    apply_patterns(module, "raise-arithmetic", [NarrowStorage()])
    (cast_op,) = (op for op in module.walk() if isinstance(op, QuantizeOp))
    is_storage = cast_op.element_type.storage
    assert (is_storage.low, is_storage.high) == (storage or (-128, 127))
    outside = low == high or not low <= -3 <= high
    assert [r.blocked.id for r in remarks_of(module)] == (["invalid-parameters"] if outside else [])


@pytest.mark.parametrize(
    ("weight", "columns", "shapes"),
    [("254", "2", ["4x3"]), ("255", "2", None), ("254", "?", ["4x?"]), ("127", "2", [])],
)
def test_a_copied_input_takes_what_i8_does_not_hold(weight: str, columns: str, shapes: list[str] | None):
    module = applied(LegalizeWeightsPass(), f"""
        x: 4x{columns}x!u
        w = [{weight}, 1, 2, 3, 4, 5] : 2x3xui8 as 2x3x!one
        y = MatMul(x, w) : 4x3xf32""")  # fmt: skip
    built = [op for op in module.walk() if isinstance(op, OnnxOp) and op.op_type in ("Gather", "Concat")]
    assert [str(op.results[0].type).partition("x!")[0].removeprefix("tensor<") for op in built] == (
        shapes or []
    )
    assert [r.blocked.id for r in remarks_of(module)] == (["beyond-i8"] if shapes is None else [])


@pytest.mark.parametrize(
    ("shape", "largest", "expected"),
    [("1x2x5", 10, (1, 2, 5)), ("1x2x5", 9, (1, 2, 1)), ("1x2", 10, (1, 2)), ("1x2x4x5", 10, (1, 2, 1, 5)),
     ("1x2x?", 10, (1, 2, 1))],
)  # fmt: skip
def test_a_bound_for_each_channel_is_repeated_along_a_row(
    shape: str, largest: int, expected: tuple[int, ...], monkeypatch: pytest.MonkeyPatch
):
    monkeypatch.setattr("qdialect.transforms.fold_scales.MAX_BOUND_BYTES", largest)
    _, module = parsed(
        text(Case("", "", f"x: {shape}xf32\nr = Relu(x) : {shape}xf32\ny = qcast r : {shape}x!apart"))
    )
    (quantize,) = (op for op in module.walk() if isinstance(op, QuantizeOp))
    above = cast(Above, SimpleNamespace(between=[quantize.operands[0].owner]))
    bound = _ceiling(quantize, quantize.element_type, above)
    assert isinstance(bound, np.ndarray)
    assert bound.shape == expected
    assert np.array_equal(
        bound, np.broadcast_to(np.reshape([255, 122], (1, 2, *[1] * (len(expected) - 2))), expected)
    )


@pytest.mark.parametrize(
    ("range", "known"), [("minmax", True), ("99.9", True), ("100", True), ("9x9", False), ("", False)]
)
def test_a_range_is_a_method_or_a_percentile(range: str, known: bool):
    with pytest.raises((UserError, OSError)) as raised:
        InsertCastsPass(range=range, profile="/none")._annotate(ModuleOp([]), target("onnxruntime"))
    assert ("there is no range" in str(raised.value)) is not known


@pytest.mark.parametrize(
    ("form", "dynamic", "kept"),
    [("qoperator", True, True), ("qdq", True, False), ("qoperator", False, False), ("integer", True, True)],
)
def test_products_are_quantized_at_run_time_where_there_are_kernels(
    form: str, dynamic: bool, kept: bool, monkeypatch: pytest.MonkeyPatch
):
    _, module = parsed(text(Case("", "", "x: 2x3xf32\ny = Relu(x) : 2x3xf32")))
    op = next(o for o in module.walk() if isinstance(o, OnnxOp))

    def place(*_: Any, **__: Any) -> Placement:
        return Placement(dynamic=[op])

    monkeypatch.setattr(insert_casts, "place", place)
    placed = InsertCastsPass(form=form, dynamic=dynamic).placed(module)
    assert placed.dynamic == ([op] if kept else [])


def test_half_precision_is_read_through_integers():
    op = last_op("x: 2x3x!half\ny = Identity(x) : 2x3x!half")
    wide = UniformType.per_tensor(Storage.of("u8"), np.float32(0.25), 7)
    new, value = _read_as(op.operands[0], wide)
    assert str(new[0].results[0].type) == "tensor<2x3xui8>"
    assert new[0].operands[0] is op.operands[0]
    assert new[1].operands[0] is new[0].results[0]
    assert quantized_of(value.type) == wide
    assert shape_of(value.type) == (2, 3)


def test_rows_of_integers_without_zero_points():
    """A weight whose zero point is left out has zero point 0."""
    source = """
        i: 5xi64
        d = [3] : i64
        v = [0.0, 1.0] : 2xf32
        w = [1, -2, 3, 4, 5, 6] : 3x2xi8
        o = OneHot(i, d, v) : 5x3xf32
        q, s, z = DynamicQuantizeLinear(o) : 5x3xui8, f32, ui8
        y = MatMulInteger(q, w, z) : 5x2xi32"""
    tables = list[Any]()
    for zero in ("", "k = [1] : i8\n"):
        body = source.replace("o = One", f"{zero}o = One").replace("w, z)", "w, z, k)" if zero else "w, z)")
        module = applied(get_pass("fold-one-hot"), body)
        assert "Gather" in ops_of(module)
        tables += [
            array
            for op in module.walk()
            if isinstance(op, ConstantOp)
            and (array := constant_array(op.results[0])) is not None
            and array.shape == (4, 2)
        ]
    assert len(tables) == 2
    assert (tables[0][:3] - tables[1][:3] == 255).all()
    assert tables[0][:3].tolist() == [[255, -510], [765, 1020], [1275, 1530]]
    assert not tables[0][3].any()


def get_pass(name: str) -> Any:
    return get_all_passes()[name]()()


def test_a_clamp_from_the_least_integer_on_is_a_storage():
    source = text(Case("", "", NARROW.replace("!s", "!lowest").format(-128, 5)))
    _, module = parsed(f"!lowest = !quant.uniform<i8:f32, 0.5:-128>\n{source}")
    apply_patterns(module, "raise-arithmetic", [NarrowStorage()])
    (quantize,) = (op for op in module.walk() if isinstance(op, QuantizeOp))
    assert (quantize.element_type.storage.low, quantize.element_type.storage.high) == (-128, 5)


@pytest.mark.parametrize(("elements", "taken"), [(4, False), (3, True)])
def test_weights_of_more_elements_become_float_while_the_file_may_grow(elements: int, taken: bool):
    _, module = parsed(text(Case("", "", """
        x: 1x2x3x3xf32
        w = [1, 2, 3, 4] : 4x1x1x1xi8 as 4x1x1x1x!t
        d = dcast w : 4x1x1x1xf32
        y = Conv(x, d) {group = 2 : i64} : 1x4x3x3xf32""")))  # fmt: skip
    conv = next(op for op in module.walk() if isinstance(op, OnnxOp) and op.op_type == "Conv")
    assert affordable(module, elements, 0, 12) == ({conv} if taken else set())
    assert affordable(module, elements, 0, 11) == set()


@pytest.mark.parametrize(
    ("constant", "storage", "expected"),
    [
        ("[1, -3] : 2xi8", Storage.of("i8"), True),
        ("[1, 3] : 2xui8", Storage.of("i8"), False),
        ("[1, -3] : 2xi8", Storage.make(8, True, -100, 100), False),
    ],
)
def test_integers_that_are_those_of_a_type(constant: str, storage: Storage, expected: bool):
    op = last_op(f"k = {constant}\ny = Identity(k) : {constant.rpartition(' ')[2]}")
    type = UniformType.per_tensor(storage, np.float32(0.5))
    assert _expressible(op.operands[0], type, StorageCastOp) is expected


@pytest.mark.parametrize(
    ("before", "after", "expected"),
    [("0, 2, 1", "0, 2, 1", True), ("0, 2, 1", "1, 2, 0", False), ("1, 0, 2", "0, 2, 1", False)],
)
def test_an_axis_that_was_the_last_and_will_be(before: str, after: str, expected: bool):
    end = last_op(f"""
        x: 3x3x3xf32
        t = Transpose(x) {{perm = array<i64: {before}>}} : 3x3x3xf32
        s = Softmax(t) {{axis = 1 : i64}} : 3x3x3xf32
        y = Transpose(s) {{perm = array<i64: {after}>}} : 3x3x3xf32""")
    softmax = end.operands[0].owner
    assert isinstance(softmax, OnnxOp)
    assert _was_last(softmax, 1) is expected
