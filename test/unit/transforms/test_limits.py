"""How large, how new, how exact what a pass rewrites may be: the last case that it takes, the first that it leaves."""

# pyright: reportPrivateUsage=false

from __future__ import annotations

from typing import Any

import numpy as np
import pytest
from guard_cases import Case, last_op, ops_of, parsed, text
from xdsl.dialects.builtin import ArrayAttr, StringAttr
from xdsl.ir import Operation

from qdialect.dialects.onnx_base import ANNOTATION, OnnxOp
from qdialect.dialects.quant import QuantizeOp
from qdialect.errors import UserError
from qdialect.exactness import Exactness
from qdialect.ir.names import location, node_name, tensor_names
from qdialect.ir.symbols import size_names
from qdialect.ir.values import constant_array
from qdialect.onnx_io.opsets import MAX_OPSET
from qdialect.patterns.copies import _move_annotation
from qdialect.promises.window import Geometry
from qdialect.reasons import Blocked
from qdialect.rewriting.changes import DIMS
from qdialect.rewriting.driver import apply_patterns
from qdialect.rewriting.remarks import remarks_of
from qdialect.runtimes.onnxruntime.weights import refused_product
from qdialect.targets import target
from qdialect.transforms import get_all_passes, lower_to_table
from qdialect.transforms.fold_batch_norm import FoldBatchNormPass
from qdialect.transforms.fold_branches import _is_convolution, _over
from qdialect.transforms.raise_opset import SAME_SUMS, RaiseOpsetPass
from qdialect.transforms.raise_qdq import FittingAxis, PositiveScales, _is_float_alone

REQUANTIZED = """
    x: 1x1x4x5x!u
    y: 1x1x4x5x!t
    w = [3] : 1x1x1x1xi8 as 1x1x1x1x!t
    c = Conv(x, w) : 1x1x4x5x!made
    d = dcast c : 1x1x4x5xf32
    q = qcast d : 1x1x4x5x!t
    z = Concat(q, y) {axis = 1 : i64} : 1x2x4x5x!t"""
"""A result of 20 elements, whose type is requantized in front of a join."""


@pytest.mark.parametrize(
    ("made", "few", "opset", "expected"),
    [
        ("i8:f32, 0.125", 20, 17, "Conv Clip Concat"),
        ("i8:f32, 0.125", 21, 17, None),
        ("i8:f32, 0.125", 1, 11, "Conv Clip Concat"),
        ("i8:f32, 0.25:1", 1, 17, "Conv Clip Concat"),
        ("i8:f32, 0.25:-3", 1, 17, "Conv Clip Concat"),
        ("i8:f32, 0.2500001", 1, 17, None),
    ],
)
def test_a_second_rounding_is_left_out_unless_it_is_to_finer_steps(
    made: str, few: int, opset: int, expected: str | None, monkeypatch: pytest.MonkeyPatch
):
    monkeypatch.setattr("qdialect.transforms.fold_requantize.MAX_RECAST_ELEMENTS", few)
    source = text(Case("", "", REQUANTIZED, opset=opset))
    context, module = parsed(f"!made = !quant.uniform<{made}>\n{source}")
    conv = next(op for op in module.walk() if isinstance(op, OnnxOp) and op.op_type == "Conv")
    conv.location = location("c", ["made"])
    get_all_passes()["fold-requantize"]()().apply(context, module)
    assert ops_of(module) == (expected or "Conv dcast qcast Concat")
    if expected == "Conv Clip Concat":
        conv, clip = (op for op in module.walk() if isinstance(op, OnnxOp) and op.op_type in ("Conv", "Clip"))
        assert (node_name(clip), tensor_names(clip)) == ("c_range", ["made"])
        assert node_name(conv) == "c"


@pytest.mark.parametrize(("most", "known"), [(4, True), (3, False)])
def test_so_many_values_are_searched_for_a_table(most: int, known: bool, monkeypatch: pytest.MonkeyPatch):
    monkeypatch.setattr(lower_to_table, "MAX_CONE_VALUES", most)
    _, module = parsed(text(Case("", "", """
        q: 2x3x!u
        d = dcast q : 2x3xf32
        t = Erf(d) : 2x3xf32
        y = qcast t : 2x3x!t""")))  # fmt: skip
    (last,) = (op for op in module.walk() if isinstance(op, QuantizeOp))
    assert (lower_to_table._cone(last.results[0]) is not None) is known


WEIGHT = """
    x: 2x3xf32
    w = [1, 2, 3, 4, 5, 6] : 3x2xi8
    q, s, z = DynamicQuantizeLinear(x) : 2x3xui8, f32, ui8
    m = MatMulInteger(q, w, z) : 2x2xi32
    y = Cast(m) {to = 1 : i64} : 2x2xf32"""
ADDED = """
    x: 2x3xf32
    k = [1, 2, 3, 4, 5, 6] : 2x3xi8 as 2x3x!s
    d = dcast k : 2x3xf32
    y = Mod(x, d) {fmod = 1 : i64} : 2x3xf32"""
SCAN = """builtin.module attributes {onnx.opset_import = {ai.onnx = 17 : i64}} {
      func.func @f(%s: tensor<2xf32>, %xs: tensor<3x2xf32>) -> tensor<3x2xf32> {
        %f, %ys = onnx.Scan(%s, %xs) {num_scan_inputs = 1 : i64} body {
        ^bb0(%a: tensor<2xf32>, %b: tensor<2xf32>):
          %c = onnx.Add(%a, %b) : (tensor<2xf32>, tensor<2xf32>) -> tensor<2xf32>
          onnx.Yield(%c, %c) : (tensor<2xf32>, tensor<2xf32>) -> ()
        } : (tensor<2xf32>, tensor<3x2xf32>) -> (tensor<2xf32>, tensor<3x2xf32>)
        func.return %ys : tensor<3x2xf32>
      }
    }"""


@pytest.mark.parametrize(
    ("rewrite", "option", "most", "source"),
    [
        ("decompose-dynamic", "elements", 6, text(Case("", "", WEIGHT))),
        ("fold-float-weights", "elements", 6, text(Case("", "", ADDED))),
        ("unroll", "steps", 3, SCAN),
    ],
)
def test_an_option_says_how_much_is_rewritten(rewrite: str, option: str, most: int, source: str):
    for limit, moved in ((most, True), (most - 1, False)):
        context, module = parsed(source)
        before = str(module)
        get_all_passes()[rewrite]()(**{option: limit}).apply(context, module)
        assert (str(module) != before) is moved


@pytest.mark.parametrize(("most", "unrolled"), [(6, True), (5, False)])
def test_so_many_ops_are_written_for_a_loop(most: int, unrolled: bool, monkeypatch: pytest.MonkeyPatch):
    """Three steps of two ops."""
    monkeypatch.setattr("qdialect.transforms.unroll.MAX_UNROLLED_OPS", most)
    context, module = parsed(SCAN)
    get_all_passes()["unroll"]()().apply(context, module)
    assert ("Scan" not in ops_of(module)) is unrolled


def test_a_loop_without_a_state_is_unrolled():
    context, module = parsed("""builtin.module attributes {onnx.opset_import = {ai.onnx = 17 : i64}} {
      func.func @f(%xs: tensor<3x2xf32>) -> tensor<3x2xf32> {
        %ys = onnx.Scan(%xs) {num_scan_inputs = 1 : i64} body {
        ^bb0(%b: tensor<2xf32>):
          %c = onnx.Relu(%b) : (tensor<2xf32>) -> tensor<2xf32>
          onnx.Yield(%c) : (tensor<2xf32>) -> ()
        } : (tensor<3x2xf32>) -> tensor<3x2xf32>
        func.return %ys : tensor<3x2xf32>
      }
    }""")
    get_all_passes()["unroll"]()().apply(context, module)
    module.verify()
    assert ops_of(module) == "Gather Relu Gather Relu Gather Relu Unsqueeze Unsqueeze Unsqueeze Concat"


@pytest.mark.parametrize(("steps", "unrolled"), [("1", True), ("0", False), ("?", False)])
def test_a_loop_of_one_step_is_unrolled(steps: str, unrolled: bool):
    context, module = parsed(SCAN.replace("<3x2", f"<{steps}x2"))
    get_all_passes()["unroll"]()().apply(context, module)
    assert ("Scan" not in ops_of(module)) is unrolled
    assert ["unknown-shape"] * (not unrolled) == [r.blocked.id for r in remarks_of(module)]


def test_opsets_that_models_are_raised_to():
    assert RaiseOpsetPass(to=SAME_SUMS).level == Exactness.EXACT
    assert RaiseOpsetPass(to=SAME_SUMS + 1).level == Exactness.CLOSE
    source = text(Case("", "", "x: 2x3xf32\ny = Relu(x) : 2x3xf32", opset=13))
    context, module = parsed(source)
    RaiseOpsetPass(to=MAX_OPSET).apply(context, module)
    assert f"ai.onnx = {MAX_OPSET} : i64" in str(module)
    with pytest.raises(UserError, match=f"up to {MAX_OPSET}"):
        RaiseOpsetPass(to=MAX_OPSET + 1).apply(context, module)


NEGATIVE = """
    k = [1, 2, 3, -4, 5, 6] : 2x3x{0}
    s = [{1}] : 2xf32
    y = DequantizeLinear(k, s) {{axis = 0 : i64}} : 2x3xf32"""


@pytest.mark.parametrize(
    ("kind", "scales", "stored", "zeros"),
    [
        ("i8", "0.5, 0.25", None, None),
        ("i8", "0.5, 0.0", [[1, 2, 3], [0, 0, 0]], None),
        ("i8", "-0.5, 0.25", [[-1, -2, -3], [-4, 5, 6]], None),
        ("i8", "-0.5, 0.0", [[-1, -2, -3], [0, 0, 0]], None),
        ("i8", "-0.5, -0.25", [[-1, -2, -3], [4, -5, -6]], None),
        ("i16", "-0.5, 0.25", [[-1, -2, -3], [-4, 5, 6]], None),
        ("i32", "-0.5, 0.25", [[-1, -2, -3], [-4, 5, 6]], None),
    ],
)
def test_signs_of_scales_move_to_the_integers(kind: str, scales: str, stored: Any, zeros: Any):
    _, module = parsed(text(Case("", "", NEGATIVE.format(kind, scales), opset=21)))
    before = str(module)
    apply_patterns(module, "raise-qdq", [PositiveScales()])
    (cast,) = (op for op in module.walk() if isinstance(op, OnnxOp) and op.op_type == "DequantizeLinear")
    assert (str(module) == before) is (stored is None)
    if stored is not None:
        assert np.array_equal(np.asarray(constant_array(cast.operands[0])), stored)
        assert (np.asarray(constant_array(cast.operands[1])) >= 0).all()


@pytest.mark.parametrize(("kind", "moved"), [("ui8", True), ("ui16", True), ("ui32", False)])
def test_a_zero_point_has_16_bits_at_most(kind: str, moved: bool):
    body = NEGATIVE.format(kind, "-0.5, 0.25").replace("-4", "4")
    _, module = parsed(text(Case("", "", body, opset=21)))
    before = str(module)
    apply_patterns(module, "raise-qdq", [PositiveScales()])
    assert (str(module) != before) is moved


@pytest.mark.parametrize("scale", ["s = [-0.5] : f32\n", "s = [-0.5, 0.25, 0.5] : 3xf32\n"])
def test_negative_scales_that_fit_no_axis_stay(scale: str):
    body = f"k = [1, 2, 3, 4] : 2x2xi8\n{scale}y = DequantizeLinear(k, s) {{axis = 0 : i64}} : 2x2xf32"
    _, module = parsed(text(Case("", "", body, opset=21)))
    before = str(module)
    apply_patterns(module, "raise-qdq", [PositiveScales()])
    assert (str(module) == before) is ("3xf32" in scale)


@pytest.mark.parametrize(
    ("block", "scales", "axis", "expected"),
    [
        (2, "1, 2, 3, 4, 5, 6, 7, 8|4x2", 0, 1),
        (1, "1, 2, 3, 4, 5, 6, 7, 8, 9, 10, 11, 12|4x3", 0, 0),
        (3, "1, 2, 3, 4|4x1", 0, 1),
        (4, "1, 2, 3|1x3", 1, 0),
        (0, "1, 2, 3|3", 0, 0),
    ],
)
def test_blocks_run_along_the_axis_that_fits(block: int, scales: str, axis: int, expected: int):
    values, _, shape = scales.partition("|")
    body = f"""
        q: 4x3xi8
        s = [{", ".join(f"{v}.0" for v in values.split(", "))}] : {shape}xf32
        y = DequantizeLinear(q, s) {{axis = {axis} : i64, block_size = {block} : i64}} : 4x3xf32"""
    _, module = parsed(text(Case("", "", body, opset=21)))
    apply_patterns(module, "raise-qdq", [FittingAxis()])
    (cast,) = (op for op in module.walk() if isinstance(op, OnnxOp) and op.op_type == "DequantizeLinear")
    assert cast.int_attr("axis", 1) == expected


def test_a_place_behind_the_results_has_no_annotation():
    op = last_op("x: 2xf32\ny = Relu(x) : 2xf32")
    assert [_is_float_alone(op, index) for index in (0, 1, 2)] == [True, False, False]


def test_names_of_sizes_by_result():
    op = last_op("x: ?x4xf32\na, b = Split(x) {axis = 1 : i64, num_outputs = 2 : i64} : ?x2xf32, ?x2xf32")
    op.attributes[DIMS] = ArrayAttr([ArrayAttr([StringAttr("n"), StringAttr("")])])
    assert [size_names(result) for result in op.results] == [("n", ""), ()]


@pytest.mark.parametrize("source", ["a", "x"])
def test_an_annotation_moves_to_what_makes_the_value(source: str):
    op = last_op(f"x: 2xf32\na = Relu(x) : 2xf32\ny = Identity({source}) : 2xf32")
    op.attributes[f"{ANNOTATION}0"] = StringAttr("said")
    value = op.operands[0]
    _move_annotation(op, value)
    owner = value.owner if isinstance(value.owner, Operation) else value.owner.parent_op()
    assert owner is not None
    assert owner.attributes[f"{ANNOTATION}0"] == StringAttr("said")


REFUSED = """
    x: 2x3xui8
    s = [0.5] : f32
    w = [1, 2, 3, 4, 5, 6] : {0}3x2xi8
    t = [{1}] : {2}xf32
    d = DequantizeLinear(x, s) : 2x3xf32
    v = DequantizeLinear(w, t) {{axis = {3} : i64}} : {0}3x2xf32
    y = MatMul(d, v) : {0}2x2xf32"""


@pytest.mark.parametrize(
    ("batch", "scales", "count", "axis", "expected"),
    [
        ("", "0.5, 0.25", "2", 1, None),
        ("", "0.5, 0.25", "2", -1, None),
        ("", "0.5, 0.25, 2.0", "3", 0, 1),
        ("1x", "0.5, 0.25", "2", 2, 1),
        ("", "0.5", "1", 0, None),
    ],
)
def test_scales_of_columns_alone_have_a_kernel(
    batch: str, scales: str, count: str, axis: int, expected: int | None
):
    product = last_op(REFUSED.format(batch, scales, count, axis))
    assert refused_product(product, target("onnxruntime")) == expected


@pytest.mark.parametrize(("shift", "zero"), [(121.0, 255), (121.5, None), (-6.5, 0), (-7.0, None), (0.5, 14)])
def test_a_shift_moves_the_zero_point_within_its_storage(shift: float, zero: int | None):
    """Steps of 0.5 from 13 on: as much as 242 above, and 13 below."""
    context, module = parsed(text(Case("", "", f"""
        x: 2x3xf32
        k = [{shift}] : f32
        m = Add(x, k) : 2x3xf32
        y = qcast m : 2x3x!half_steps""")).replace("!half_steps", "!quant.uniform<u8:f32, 0.5:13>"))  # fmt: skip
    FoldBatchNormPass(lossy=True).apply(context, module)
    casts = [op.element_type for op in module.walk() if isinstance(op, QuantizeOp)]
    assert [(float(c.scale), int(c.zero_point)) for c in casts] == [(0.5, 13 if zero is None else zero)]
    assert ("Add" in ops_of(module)) is (zero is None)


@pytest.mark.parametrize(("factor", "reason"), [("1.0e+30", "scale-value"), ("-1.0", "unfoldable-factor")])
def test_a_factor_leaves_a_scale_above_zero(factor: str, reason: str):
    source = text(Case("", "", f"""
        x: 2x3xf32
        k = [{factor}] : f32
        m = Mul(x, k) : 2x3xf32
        y = qcast m : 2x3x!tiny"""))  # fmt: skip
    context, module = parsed(f"!tiny = !quant.uniform<u8:f32, 1.0e-30:13>\n{source}")
    FoldBatchNormPass(lossy=True).apply(context, module)
    assert ops_of(module) == "Mul qcast"
    assert reason in [r.blocked.id for r in remarks_of(module)]


def window(kernel: int, dilation: int, pads: tuple[int, int]) -> Geometry:
    return Geometry(
        images=2, inputs=3, outputs=4, groups=1, kernel=(kernel,), strides=(1,), dilations=(dilation,), pads=(pads,),
        sizes=(9,), results=(9 + sum(pads) - (kernel - 1) * dilation,),
    )  # fmt: skip


@pytest.mark.parametrize(
    ("one", "two", "expected"),
    [
        # kernel, dilation, pads of each; those of both together and where each starts, or why not
        ((3, 2, (2, 2)), (1, 1, (0, 0)), ((3, 2, ((2, 2),)), [(0, 1)])),
        ((1, 1, (0, 0)), (3, 2, (2, 2)), ((3, 2, ((2, 2),)), [(1, 0)])),
        ((5, 2, (4, 4)), (1, 1, (0, 0)), ((5, 2, ((4, 4),)), [(0, 2)])),
        ((3, 1, (3, 0)), (2, 1, (0, 2)), ((5, 1, ((3, 2),)), [(0, 3)])),
        ((2, 1, (2, 0)), (2, 1, (0, 2)), ((4, 1, ((2, 2),)), [(0, 2)])),
        ((2, 1, (3, 0)), (2, 1, (0, 3)), "does-not-pay"),
        ((3, 2, (1, 3)), (1, 1, (0, 0)), "window-form"),
        ((3, 2, (2, 2)), (3, 1, (1, 1)), "window-form"),
    ],
)
def test_a_window_over_two(one: Any, two: Any, expected: Any):
    over = _over(window(*one), window(*two))
    if isinstance(over, Blocked):
        assert over.id == expected
    else:
        geometry, firsts = over
        assert (
            (geometry.kernel[0], geometry.dilations[0], geometry.pads),
            [*zip(*firsts, strict=True)],
        ) == expected


@pytest.mark.parametrize(("result", "expected"), [("f32", True), ("!s", False)])
def test_only_a_float_convolution_is_folded_with_another(result: str, expected: bool):
    op = last_op(f"""
        x: 1x1x3x3xf32
        w = [1.0] : 1x1x1x1xf32
        c = Conv(x, w) : 1x1x3x3x{result}
        y = Relu(c) : 1x1x3x3x{result}""")
    assert _is_convolution(op.operands[0], op) is expected
