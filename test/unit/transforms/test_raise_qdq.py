"""`raise-qdq`: what it takes, the last case and the first that it leaves."""

from __future__ import annotations

from typing import Any

import numpy as np
import onnx
import onnx.helper as oh
import pytest
from guard_cases import Case, last_op, parsed, text
from onnx_models import onnx_model
from xdsl.context import Context

from qdialect.dialects.onnx_base import OnnxOp
from qdialect.dialects.quant import MAX_BLOCK_PARAMETERS
from qdialect.ir.values import constant_array
from qdialect.onnx_io.importer import import_model
from qdialect.rewriting.driver import apply_patterns
from qdialect.rewriting.remarks import remarks_of
from qdialect.transforms import get_all_passes
from qdialect.transforms.raise_qdq import FittingAxis, PositiveScales, is_float_alone

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
    assert [is_float_alone(op, index) for index in (0, 1, 2)] == [True, False, False]


@pytest.mark.parametrize("rows", [MAX_BLOCK_PARAMETERS // 64, MAX_BLOCK_PARAMETERS // 64 + 1])
def test_no_type_carries_more_scales_than_fit(rows: int):
    """Columns of 64, each of two blocks of 32."""
    scales = np.linspace(0.01, 0.09, rows * 64, dtype=np.float32).reshape(2, rows * 32)
    stored = np.arange(64 * rows * 32, dtype=np.int64).reshape(64, rows * 32).astype(np.int8)
    node = oh.make_node("DequantizeLinear", ["q", "s"], ["y"], axis=0, block_size=32, name="n")
    proto = onnx_model([node], [], {"y": (1, stored.shape)}, {"q": stored, "s": scales}, opset=21)
    onnx.checker.check_model(proto)
    module = import_model(proto)
    get_all_passes()["raise-qdq"]()().apply(Context(), module)
    wanted = [] if scales.size <= MAX_BLOCK_PARAMETERS else [("n", "block-size")]
    assert [(r.node, r.blocked.id) for r in remarks_of(module)] == wanted
