"""Why nodes of com.microsoft keep their form, and what targets without them say of a result: a case for each reason."""

from __future__ import annotations

import pytest
from guard_cases import Case, check_unmoved, parsed, text

import qdialect
from qdialect.report.report import SOME_FLOAT
from qdialect.targets import target
from qdialect.targets.legality import breaches
from qdialect.transforms import get_all_passes

ROWS = """
        i: 3xi64
        w: 2x32xui8
        k = [0.5, 0.25] : 2x1xf32
        y = GatherBlockQuantized(w, i, k) {bits = 8 : i64, block_size = 32 : i64} : 3x32xf32"""
ATTENTION = """
        x: 2x3x2xui8
        w: 2x6xi8
        b: 6xf32
        k: f32
        c: f32
        m: 2x3xi32
        y = QAttention(x, w, b, k, c, m) {num_heads = 1 : i64} : 2x3x2xf32"""
STORED = ROWS.replace("w: 2x32xui8", f"w = {list(range(64))} : 2x32xui8")
CASES = [
    Case("", "opset", ROWS, opset=20),
    Case("", "run-time-scale", ROWS, opset=21),
    Case("", "expressed-type", STORED.replace("f32", "f16"), opset=21),
    Case("", "storage-type", STORED.replace("bits = 8", "bits = 3"), opset=21),
    Case("", "block-size", STORED.replace("block_size = 32", "block_size = 16"), opset=21),
    Case("", "attention-form", ATTENTION.replace("m: 2x3xi32", "m: 2x3x3xi32")),
    Case("", "opset", ATTENTION, opset=12),
    Case("", "unknown-shape", ATTENTION.replace("2x3x", "2x?x").replace("heads", "heads = 1 : i64, unidirectional")),
    Case("", "unknown-shape", ATTENTION.replace("x: 2x3x2x", "x: *x")),
    Case("", "expressed-type", ATTENTION.replace("2x3x2xf32", "2x3x2xf16")),
    Case("", "attention-form", ATTENTION.replace("heads = 1", "heads = 4")),
]  # fmt: skip


@pytest.mark.parametrize("case", CASES, ids=lambda c: c.reason)
def test_nodes_of_a_runtime_keep_their_form(case: Case):
    check_unmoved(text(case), get_all_passes()["raise-qoperator"]()(), case.reason)


REFUSED = [
    Case("Conv", "storage-type", """
        x: 1x2x3x3xi8
        s = [0.5] : f32
        w = [-4, 3, 2, 1] : 2x2x1x1xi4
        a = DequantizeLinear(x, s) : 1x2x3x3xf32
        b = DequantizeLinear(w, s) : 2x2x1x1xf32
        y = Conv(a, b) : 1x2x3x3xf32""", opset=21),
    Case("QuantizeLinear", "run-time-scale", """
        x: 3x4xf32
        s: f32
        z = [0] : i8
        a = QuantizeLinear(x, s, z) : 3x4xi8
        y = DequantizeLinear(a, s, z) : 3x4xf32""", opset=21),
]  # fmt: skip
"""With the op that breaks the rule in place of a rewrite."""


@pytest.mark.parametrize("case", REFUSED, ids=lambda c: c.reason)
def test_rules_of_tensorrt(case: Case):
    _, module = parsed(text(case))
    found = [(one.op.op_type, one.blocked.id) for one in breaches(module, target("tensorrt"))]
    assert (case.rewrite, case.reason) in found


def test_a_product_with_a_vector_in_blocks_is_in_float():
    """A vector has no axis of output channels, so that its blocks are not along a wrong one."""
    _, module = parsed(text(Case("", "", f"""
        x: 3x8xf32
        s = [0.5] : f32
        z = [0] : i8
        w = {list(range(-4, 4))} : 8xi8
        k = [0.5, 0.25, 0.125, 0.5] : 4xf32
        q = QuantizeLinear(x, s, z) : 3x8xi8
        a = DequantizeLinear(q, s, z) : 3x8xf32
        b = DequantizeLinear(w, k) {{axis = 0 : i64, block_size = 2 : i64}} : 8xf32
        y = MatMul(a, b) : 3xf32""", opset=21)))  # fmt: skip
    report = qdialect.compile(module, target="tensorrt")
    assert [one.blocked.id for one in report.floats] == ["block-size"], str(report)


def test_a_product_without_promises_of_one_quantized_operand():
    """At `exact`, FusedMatMul is not raised, and no pass says a word of it."""
    _, module = parsed(text(Case("", "", """
        x: 3x4xi8
        w: 4x2xf32
        s = [0.5] : f32
        a = DequantizeLinear(x, s) : 3x4xf32
        y = FusedMatMul(a, w) : 3x2xf32""")))  # fmt: skip
    report = qdialect.compile(module, exactness="exact")
    assert [one.blocked for one in report.floats] == [SOME_FLOAT], str(report)
