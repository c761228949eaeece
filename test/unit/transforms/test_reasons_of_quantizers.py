"""Reasons of operators that quantize and dequantize in one, of zero points and of integer products."""

from __future__ import annotations

import pytest
from guard_cases import Case, check_unmoved, text

from qdialect.transforms import get_all_passes


def _custom(domain: str, op_type: str, attributes: str = "") -> str:
    return f'{{domain = "{domain}", op_type = "{op_type}", attrs = {{{attributes}}}}}'


BY_THRESHOLD = _custom("mct_quantizers", "WeightsPOTQuantizer", "num_bits = 8 : i64")
THRESHOLDS = _custom("qonnx.custom_op.general", "MultiThreshold")
SHIFT = _custom("PACTOps", "RequantShift", "div = 4 : i64, n_levels = 16 : i64, signed = 1 : i64")
TRUNC = _custom("qonnx.custom_op.general", "Trunc", "signed = 1 : i64")
TRUNC_DOWN = _custom("qonnx.custom_op.general", "Trunc", 'signed = 1 : i64, rounding_mode = "DOWN"')
TRUNC_OF_UNKNOWN_SIGN = _custom("qonnx.custom_op.general", "Trunc")
FROM_BELOW = _custom("qonnx.custom_op.general", "MultiThreshold", "out_bias = -32999.0 : f32")

CASES = [
    Case("raise-fake-quantize", "run-time-scale", f"""
        x: 3x4xf32
        t: f32
        y = Custom(x, t) {BY_THRESHOLD} : 3x4xf32"""),
    Case("raise-fake-quantize", "unknown-shape", f"""
        x: *xf32
        t = [1.0, 2.0, 4.0] : 3xf32
        y = Custom(x, t) {BY_THRESHOLD} : *xf32"""),
    Case("raise-fake-quantize", "run-time-scale", f"""
        x: 3x4xf32
        t: 1x3xf32
        y = Custom(x, t) {THRESHOLDS} : 3x4xf32"""),
    Case("raise-fake-quantize", "unknown-shape", f"""
        x: *xf32
        t = [0.5, 1.5, 0.25, 0.75] : 2x2xf32
        y = Custom(x, t) {THRESHOLDS} : *xf32"""),
    Case("raise-fake-quantize", "unknown-shape", f"""
        x: 3x2x2xf32
        t = [0.5, 1.5, 0.25, 0.75] : 2x2xf32
        y = Custom(x, t) {THRESHOLDS} : 3x2x2xf32"""),
    Case("raise-fake-quantize", "run-time-scale", f"""
        x: 3x4xf32
        m: f32
        a = [1.0] : f32
        y = Custom(x, m, a) {SHIFT} : 3x4xf32"""),
    Case("raise-fake-quantize", "unknown-shape", f"""
        x: *xf32
        m = [1.0, 3.0] : 2x1xf32
        a = [1.0] : f32
        y = Custom(x, m, a) {SHIFT} : *xf32"""),
    Case("raise-fake-quantize", "run-time-scale", f"""
        x: 3x4xf32
        s: f32
        z = [0.0] : f32
        w = [8.0] : f32
        n = [4.0] : f32
        y = Custom(x, s, z, w, n) {TRUNC} : 3x4xf32"""),
    Case("raise-fake-quantize", "run-time-scale", f"""
        x: 3x4xf32
        s = [0.5] : f32
        z = [0.0] : f32
        w = [8.0] : f32
        n = [4.0] : f32
        r: f32
        y = Custom(x, s, z, w, r, z, n) {TRUNC} : 3x4xf32"""),
    Case("raise-fake-quantize", "unlike-a-cast", f"""
        x: 3x4xf32
        s = [0.5] : f32
        z = [0.0] : f32
        w = [8.0] : f32
        n = [4.0] : f32
        y = Custom(x, s, z, w, n) {TRUNC_DOWN} : 3x4xf32"""),
    Case("raise-fake-quantize", "invalid-parameters", f"""
        x: 3x4xf32
        s = [0.5] : f32
        z = [1.0] : f32
        w = [8.0] : f32
        n = [4.0] : f32
        y = Custom(x, s, z, w, n) {TRUNC} : 3x4xf32"""),
    Case("raise-fake-quantize", "scale-value", f"""
        x: 3x4xf32
        s = [-0.5] : f32
        z = [0.0] : f32
        w = [8.0] : f32
        n = [4.0] : f32
        y = Custom(x, s, z, w, n) {TRUNC} : 3x4xf32"""),
    Case("raise-fake-quantize", "storage-type", f"""
        x: 3x4xf32
        s = [0.5] : f32
        z = [0.0] : f32
        w = [8.0] : f32
        n = [4.0] : f32
        y = Custom(x, s, z, w, n) {TRUNC_OF_UNKNOWN_SIGN} : 3x4xf32"""),
    Case("raise-fake-quantize", "storage-type", f"""
        x: 3x4xf32
        s = [0.5] : f32
        z = [0.0] : f32
        w = [17.0] : f32
        n = [4.0] : f32
        y = Custom(x, s, z, w, n) {TRUNC} : 3x4xf32"""),
    Case("raise-fake-quantize", "scale-value", f"""
        x: 3x4xf32
        s = [1.0e+39] : f64
        z = [0.0] : f32
        w = [8.0] : f32
        n = [4.0] : f32
        y = Custom(x, s, z, w, n) {TRUNC} : 3x4xf32"""),
    Case("legalize-zero-points", "unknown-shape", """
        x: 2x4x5xui8
        w: 2x5x3xi8
        v: ?xi8
        y = MatMulInteger(x, w, _, v) : 2x4x3xi32"""),
    Case("legalize-zero-points", "unknown-shape", """
        x: 1x2x5x4xui8
        w: *xi8
        v: 3xi8
        y = ConvInteger(x, w, _, v) : 1x3x5x4xi32"""),
    Case("legalize-zero-points", "unknown-shape", """
        x: 1x2x5x4xui8
        w: 3x2x1x1xi8
        v: 3xi8
        y = ConvInteger(x, w, _, v) : *xi32"""),
    Case("raise-integer", "run-time-scale", """
        x: 4x2xui8
        w: 2x3xi8
        v: i8
        k = [0.5] : f32
        s = MatMulInteger(x, w, _, v) : 4x3xi32
        f = Cast(s) {to = 1 : i64} : 4x3xf32
        y = Mul(f, k) : 4x3xf32"""),
    Case("raise-integer", "scale-value", """
        x: 4x2xui8
        w: 2x3xi8
        k = [-0.5] : f32
        s = MatMulInteger(x, w) : 4x3xi32
        f = Cast(s) {to = 1 : i64} : 4x3xf32
        y = Mul(f, k) : 4x3xf32"""),
]  # fmt: skip


@pytest.mark.parametrize("case", CASES, ids=lambda c: f"{c.rewrite}:{c.reason}")
def test_nothing_moves(case: Case):
    check_unmoved(text(case), get_all_passes()[case.rewrite]()(**case.options), case.reason)


def test_levels_that_no_stored_integer_has():
    thresholds = ", ".join(f"{k}.0" for k in range(33_000))
    body = f"""
        x: 3x4xf32
        t = [{thresholds}] : 1x33000xf32
        y = Custom(x, t) {FROM_BELOW} : 3x4xf32"""
    check_unmoved(text(Case("", "", body)), get_all_passes()["raise-fake-quantize"]()(), "storage-type")
