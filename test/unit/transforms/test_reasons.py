"""Reasons of passes for what is rare in models: one case for each place that gives one."""

from __future__ import annotations

import pytest
from guard_cases import ALIASES, Case, check_unmoved, ops_of, parsed, text

from qdialect.transforms import get_all_passes


def _custom(domain: str, op_type: str, attributes: str = "") -> str:
    return f'{{domain = "{domain}", op_type = "{op_type}", attrs = {{{attributes}}}}}'


BY_THRESHOLD = _custom("mct_quantizers", "WeightsPOTQuantizer", "num_bits = 8 : i64")
THRESHOLDS = _custom("qonnx.custom_op.general", "MultiThreshold")
SHIFT = _custom("PACTOps", "RequantShift", "div = 4 : i64, n_levels = 16 : i64, signed = 1 : i64")
TRUNC = _custom("qonnx.custom_op.general", "Trunc", "signed = 1 : i64")
TRUNC_DOWN = _custom("qonnx.custom_op.general", "Trunc", 'signed = 1 : i64, rounding_mode = "DOWN"')
TRUNC_OF_UNKNOWN_SIGN = _custom("qonnx.custom_op.general", "Trunc")

CASES = [
    Case("choose-convolution-form", "computed-parameter", """
        x: 1x2x5x3x!u
        w: 3x2x1x1x!t
        y = Conv(x, w) : 1x3x5x3xf32"""),
    Case("choose-convolution-form", "unknown-shape", """
        x: 1x2x5x3x!u
        w = [1, 2, 3, 4, 5, 6] : 3x2x1x1xi8 as 3x2x1x1x!t
        y = Conv(x, w) : *xf32""", {"form": "product"}),
    Case("choose-convolution-form", "unknown-shape", """
        x: 1x2x?x3x!u
        w = [1, 2, 3, 4, 5, 6] : 3x2x1x1xi8 as 3x2x1x1x!t
        y = Conv(x, w) {auto_pad = "SAME_UPPER", strides = array<i64: 2, 1>} : 1x3x?x3xf32""", {"form": "product"}),
    Case("choose-convolution-form", "computed-parameter", """
        x: 1x2x5x3x!u
        b: 3xf32
        w = [1, 2, 3, 4, 5, 6] : 3x2x1x1xi8 as 3x2x1x1x!t
        y = Conv(x, w, b) : 1x3x5x3xf32""", {"form": "product"}),
    Case("decompose", "recurrent-form", """
        x: 5x3x4xf32
        w: 1x2x4xf32
        r: 1x2x2xf32
        y = RNN(x, w, r) {hidden_size = 2 : i64, activations = ["Tanh", "Relu"]} : 5x1x3x2xf32""", {"ops": ("RNN",)}),
    Case("decompose", "opset", """
        x: 5x3x4xf32
        w: 1x2x4xf32
        r: 1x2x2xf32
        n: 3xi32
        y = RNN(x, w, r, _, n) {hidden_size = 2 : i64} : 5x1x3x2xf32""", {"ops": ("RNN",)}, 10),
    Case("fold-batch-norm", "quantizer-between", """
        x: 1x1x5x3x!u
        w: 2x1x1x1x!t
        k = [2.0] : f32
        c = Conv(x, w) : 1x2x5x3x!s
        y = Mul(c, k) : 1x2x5x3xf32"""),
    Case("fold-batch-norm", "second-consumer", """
        x: 1x1x5x3xf32
        w = [3.0, -5.0] : 2x1x1x1xf32
        k = [2.0] : f32
        c = Conv(x, w) : 1x2x5x3xf32
        q = qcast c : 1x2x5x3x!u
        d = dcast q : 1x2x5x3xf32
        m = Mul(d, k) : 1x2x5x3xf32
        n = Sub(m, d) : 1x2x5x3xf32
        y = Tanh(n) : 1x2x5x3xf32""", {"lossy": True}),
    Case("fold-batch-norm", "computed-parameter", """
        x: 1x1x5x3xf32
        w: ?x1x1x1xf32
        k = [2.0] : f32
        c = Conv(x, w) : 1x?x5x3xf32
        y = Mul(c, k) : 1x?x5x3xf32"""),
    Case("fold-batch-norm", "computed-parameter", """
        x: 2x4xf32
        w: ?x?x!t
        d = dcast w : ?x?xf32
        y = Gemm(x, d) {alpha = 0.5 : f32} : 2x?xf32"""),
    Case("fold-batch-norm", "second-consumer", """
        x: 1x2x5x3xf32
        w = [3.0, -5.0] : 1x2x1x1xf32
        k = [2.0] : f32
        m = Mul(x, k) : 1x2x5x3xf32
        c = Conv(m, w) : 1x1x5x3xf32
        y = Add(c, m) : 1x2x5x3xf32"""),
    Case("fold-batch-norm", "weight-axis", """
        x: 1x2x5x3xf32
        w = [3.0, -5.0] : 1x2x1x1xf32
        k = [2.0, 3.0, 4.0] : 3xf32
        m = Mul(x, k) : 1x2x5x3xf32
        y = Conv(m, w) : 1x1x5x3xf32"""),
    Case("fold-batch-norm", "bias-shape", """
        x: 2x4xf32
        w = [1.0, 2.0, 3.0, 4.0, 5.0, 6.0, 7.0, 8.0, 9.0, 1.0, 2.0, 3.0] : 4x3xf32
        b = [1.0, 2.0, 3.0, 4.0, 5.0, 6.0] : 2x3xf32
        k = [2.0] : f32
        c = Gemm(x, w, b) : 2x3xf32
        y = Mul(c, k) : 2x3xf32"""),
    Case("fold-batch-norm", "second-consumer", """
        x: 2x4xf32
        k = [2.0] : f32
        m = Mul(x, k) : 2x4xf32
        q = qcast m : 2x4x!u
        d = dcast q : 2x4xf32
        y = Sub(d, m) : 2x4xf32""", {"lossy": True}),
    Case("fold-batch-norm", "scale-value", """
        x: 2x4xf32
        k = [1.0e-30] : f32
        m = Mul(x, k) : 2x4xf32
        y = qcast m : 2x4x!huge""", {"lossy": True}),
    Case("fold-batch-norm", "unknown-shape", """
        x: *xf32
        k = [2.0, 3.0] : 2xf32
        y = Mul(x, k) : *xf32"""),
    Case("fold-batch-norm", "weight-axis", """
        x: 4x3xf32
        w = [1.0, 2.0, 3.0] : 3xf32
        k = [2.0] : f32
        m = Mul(x, k) : 4x3xf32
        y = Gemm(m, w) : 4x1xf32"""),
    Case("fold-batch-norm", "weight-axis", """
        x: 4x3xf32
        w = [1.0, 2.0, 3.0] : 3xf32
        k = [2.0] : f32
        m = Mul(x, k) : 4x3xf32
        y = Gemm(m, w) {transB = 1 : i64} : 4x3xf32"""),
    Case("fold-layout", "unknown-shape", """
        x: *xf32
        k = [2, 6] : 2xi64
        y = CenterCropPad(x, k) {axes = array<i64: -2, -1>} : *xf32""", opset=18),
    Case("fold-layout", "invalid-op", """
        x: 3x?xf32
        k: 2xi64
        y = CenterCropPad(x, k) {axes = array<i64: -1>} : 3x6xf32""", opset=18),
    Case("fold-layout", "invalid-parameters", """
        x: 3x4xf32
        k = [6] : 1xi64
        y = Resize(x, _, _, k) {axes = array<i64: 2>} : *xf32""", opset=18),
    Case("fold-layout", "invalid-parameters", """
        x: 3x4xf32
        k = [2, 6] : 2xi64
        y = CenterCropPad(x, k) {axes = array<i64: 1, -1>} : *xf32""", opset=18),
    Case("fold-layout", "invalid-op", """
        x: 3x4xf32
        k = [2.0, 3.0] : 1x2xf32
        y = Resize(x, _, k) {axes = array<i64: 1>} : *xf32""", opset=18),
    Case("fold-layout", "interpolates", """
        x: 3x4xf32
        k = [2.0] : 1xf32
        y = Resize(x, _, k) {axes = array<i64: 1>, keep_aspect_ratio_policy = "not_larger"} : *xf32""", opset=18),
    Case("fold-layout", "unknown-shape", """
        x: *xf32
        k = [2.0] : 1xf32
        y = Resize(x, _, k) {axes = array<i64: 1>} : *xf32""", opset=18),
    Case("fold-layout", "invalid-op", """
        x: 3x?xf32
        k = [2, 6] : 2xi64
        y = Resize(x, _, _, k) {axes = array<i64: 1>} : *xf32""", opset=18),
    Case("fold-layout", "invalid-op", """
        x: 3x4xf32
        y = Resize(x, _, _) {axes = array<i64: 1>} : *xf32""", opset=18),
    Case("fold-layout", "invalid-op", """
        x: 3x4xf32
        k: 3xi64
        a = [1] : 1xi64
        y = Pad(x, k, _, a) : *xf32""", opset=18),
    Case("fold-layout", "invalid-parameters", """
        x: 3x4xf32
        k = [1, 2, 3, 4] : 4xi64
        a = [1, -1] : 2xi64
        y = Pad(x, k, _, a) : *xf32""", opset=18),
    Case("fold-layout", "invalid-op", """
        x: 3x4xf32
        k = [2.0, 3.0] : 2xf32
        y = Resize(x, _, k) {axes = array<i64: 1>} : *xf32""", opset=18),
    Case("fold-layout", "invalid-op", """
        x: 3x4xf32
        k = [2, 6, 1] : 3xi64
        y = CenterCropPad(x, k) : *xf32""", opset=18),
    Case("fold-layout", "computed-parameter", """
        x: 3x4xf32
        k = [1, 2] : 2xi64
        a: 1xi64
        y = Pad(x, k, _, a) : *xf32""", opset=18),
    Case("fold-layout", "unknown-shape", """
        x: *xf32
        k = [1, 2] : 2xi64
        a = [1] : 1xi64
        y = Pad(x, k, _, a) : *xf32""", opset=18),
    Case("fold-pad", "unknown-shape", """
        x: *xf32
        w = [1.0, 2.0, 3.0, 4.0, 5.0, 6.0] : 3x2x1x1xf32
        k = [0, 0, 1, 2, 0, 0, 3, 4] : 8xi64
        a = Pad(x, k) : *xf32
        y = Conv(a, w) : *xf32"""),
    Case("fold-pad", "invalid-parameters", """
        x: 1x1x3xf32
        w = [1.0] : 1x1x1xf32
        k = [1, 2, 3, 4] : 4xi64
        a = [2, -1] : 2xi64
        p = Pad(x, k, _, a) : *xf32
        y = Conv(p, w) : *xf32""", opset=18),
    Case("fold-scales", "weight-axis", """
        x: *xf32
        w = [3.0, -5.0] : 2x1x1x1xf32
        c = Conv(x, w) : *xf32
        q = qcast c : *x!like
        d = dcast q : *xf32
        y = Conv(d, w) {group = 2 : i64} : *xf32"""),
    Case("fold-scales", "opset", """
        x: 1x1x5x3xf32
        w = [3.0, -5.0] : 2x1x1x1xf32
        c = Conv(x, w) : 1x2x5x3xf32
        r = Relu(c) : 1x2x5x3xf32
        q = qcast r : 1x2x5x3x!apart
        d = dcast q : 1x2x5x3xf32
        y = Conv(d, w) {group = 2 : i64} : 1x2x5x3xf32""", opset=11),
    Case("hoist-quantize", "other-type", """
        x: 2x4xf32
        k = [3, 1] : 2xi64
        a, b = Split(x, k) {axis = 1 : i64} : 2x3xf32, 2x1xf32
        y = qcast a : 2x3x!columns"""),
    Case("hoist-quantize", "other-type", """
        x: 2x4xi8
        k = [3, 1] : 2xi64
        a, b = Split(x, k) {axis = 1 : i64} : 2x3xi8, 2x1xi8
        y = scast a : 2x3x!columns"""),
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
    Case("lower-to-integer", "empty-tensor", """
        x: 4x0x!u
        w: 0x3x!t
        y = MatMul(x, w) : 4x3xf32"""),
    Case("lower-to-integer", "bias-scale", """
        x: 4x2x!u
        w: 2x3x!t
        b: 3x!quant.uniform<i32:f32, 0.5>
        y = Gemm(x, w, b) : 4x3xf32"""),
    Case("lower-to-qoperator", "unknown-shape", """
        p: *x!rows
        y = Relu(p) : *x!rows"""),
    Case("lower-to-qoperator", "unknown-shape", """
        p: ?x4x!u
        y = Trilu(p) : ?x4x!u"""),
    Case("lower-to-qoperator", "no-kernel", """
        p: *x!u
        y = GlobalMaxPool(p) : *x!u"""),
    Case("lower-to-qoperator", "product-form", """
        x: *xf32
        w = [1, 2, 3, 4, 5, 6] : 3x2xui4 as 3x2x!four
        d = dcast w : 3x2xf32
        y = MatMul(x, d) : *xf32"""),
    Case("lower-to-qoperator", "bias-shape", """
        x: 4x3xf32
        b: 4x2xf32
        w = [1, 2, 3, 4, 5, 6] : 3x2xui4 as 3x2x!four
        d = dcast w : 3x2xf32
        y = Gemm(x, d, b) : 4x2xf32"""),
    Case("lower-to-qoperator", "weight-axis", """
        x: 4x3xf32
        w = [1, 2, 3, 4, 5, 6] : 3x2xui4 as 3x2x!fours
        d = dcast w : 3x2xf32
        y = MatMul(x, d) : 4x2xf32"""),
    Case("lower-to-qoperator", "no-kernel", """
        x: 1x2x5x3x!u
        r: 1x5xf32
        y = MaxRoiPool(x, r) {pooled_shape = array<i64: 2, 2>} : 1x2x2x2x!u"""),
    Case("raise-arithmetic", "not-a-quantize", """
        x: 3x4xf32
        k = [4.0] : f32
        lo = [-7.0] : f32
        hi = [300.0] : f32
        a = Mul(x, k) : 3x4xf32
        b = Round(a) : 3x4xf32
        y = Cast(b) {to = 1 : i64} : 3x4xf32"""),
    Case("raise-arithmetic", "inexact-arithmetic", """
        x: 3x4xf32
        k = [3.0] : f32
        lo = [0.0] : f32
        hi = [255.0] : f32
        a = Mul(x, k) : 3x4xf32
        b = Round(a) : 3x4xf32
        c = Clip(b, lo, hi) : 3x4xf32
        y = Cast(c) {to = 2 : i64} : 3x4xui8""", {"exact": True}),
    Case("raise-arithmetic", "inexact-arithmetic", """
        x: 3x4xui8
        k = [3.0] : f32
        f = Cast(x) {to = 1 : i64} : 3x4xf32
        y = Div(f, k) : 3x4xf32""", {"exact": True}),
    Case("raise-arithmetic", "invalid-parameters", """
        x: 3x4xf32
        k = [4.0] : f32
        z = [9.0] : f32
        lo = [5.0] : f32
        hi = [200.0] : f32
        a = Mul(x, k) : 3x4xf32
        b = Round(a) : 3x4xf32
        c = Add(b, z) : 3x4xf32
        d = Clip(c, lo, hi) : 3x4xf32
        y = Sub(d, z) : 3x4xf32"""),
    Case("raise-arithmetic", "invalid-parameters", """
        x: 3x4xf32
        lo = [20] : ui8
        hi = [200] : ui8
        q = qcast x : 3x4x!u
        i = scast q : 3x4xui8
        y = Clip(i, lo, hi) : 3x4xui8"""),
    Case("raise-arithmetic", "empty-tensor", """
        x: 3x0xf32
        k = [] : 0xf32
        lo = [0.0] : f32
        hi = [255.0] : f32
        a = Mul(x, k) : 3x0xf32
        b = Round(a) : 3x0xf32
        c = Clip(b, lo, hi) : 3x0xf32
        y = Cast(c) {to = 2 : i64} : 3x0xui8"""),
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
    Case("raise-integer", "bias-shape", """
        x: 4x2xui8
        w = [1, -2, 3, -4, 5, -6] : 2x3xi8
        b = [1, 2, 3, 4] : 4x1xi32
        k = [0.5] : f32
        s = MatMulInteger(x, w) : 4x3xi32
        t = Add(s, b) : 4x3xi32
        f = Cast(t) {to = 1 : i64} : 4x3xf32
        y = Mul(f, k) : 4x3xf32"""),
    Case("raise-integer", "empty-tensor", """
        x: 4x2xui8
        w: 2x0xi8
        k = [] : 0xf32
        s = MatMulInteger(x, w) : 4x0xi32
        f = Cast(s) {to = 1 : i64} : 4x0xf32
        y = Mul(f, k) : 4x0xf32"""),
    Case("raise-integer", "activation-per-axis", """
        x: 4x2xui8
        w = [1, -2, 3, -4, 5, -6] : 2x3xi8
        z = [1, 2, 3, 4] : 4xui8
        k = [0.5] : f32
        s = MatMulInteger(x, w, z) : 4x3xi32
        f = Cast(s) {to = 1 : i64} : 4x3xf32
        y = Mul(f, k) : 4x3xf32"""),
    Case("raise-integer", "scale-value", """
        p: 4x2x!huge
        w = [1, -2, 3, -4, 5, -6] : 2x3xi8
        k = [1.0e-30] : f32
        z = [13] : ui8
        x = scast p : 4x2xui8
        s = MatMulInteger(x, w, z) : 4x3xi32
        f = Cast(s) {to = 1 : i64} : 4x3xf32
        y = Mul(f, k) : 4x3xf32"""),
    Case("raise-integer", "unknown-shape", """
        x: 4x2xui8
        w: *xi8
        k = [0.5, 0.25, 0.125] : 3xf32
        s = MatMulInteger(x, w) : 4x3xi32
        f = Cast(s) {to = 1 : i64} : 4x3xf32
        y = Mul(f, k) : 4x3xf32"""),
    Case("raise-integer", "storage-type", """
        x: *x!onnx.any
        w = [1, -2, 3, -4, 5, -6] : 2x3xi8
        k = [0.5] : f32
        s = MatMulInteger(x, w) : 4x3xi32
        f = Cast(s) {to = 1 : i64} : 4x3xf32
        y = Mul(f, k) : 4x3xf32"""),
    Case("raise-opset", "training-mode", """
        x: 1x2x5x3xf32
        k = [1.0, 2.0] : 2xf32
        y, m = BatchNormalization(x, k, k, k, k) : 1x2x5x3xf32, 2xf32""", opset=8),
    Case("raise-opset", "unknown-shape", """
        x: *x!onnx.any
        y = Clip(x) {min = 1.0 : f32} : *x!onnx.any""", opset=10),
    Case("raise-opset", "opset", """
        x: 1x1x2x3xf32
        y = Upsample(x) {width_scale = 2.0 : f32, height_scale = 2.0 : f32} : 1x1x4x6xf32""", opset=1),
    Case("raise-opset", "opset", """
        x: 1x2x5x3xf32
        k: 4xf32
        y = Upsample(x, k) : ?x?x?x?xf32""", opset=9),
    Case("raise-opset", "opset", """
        x: 1x2x5x3xf32
        y = Custom(x) {domain = "", op_type = "Crop", attrs = {border = array<i64: 1, 2>}} : *xf32""", opset=9),
    Case("raise-opset", "opset", """
        x: 1x2x5x3xf32
        y = GridSample(x, x) {mode = "bilinear"} : *xf32""", {"to": 20}, opset=16),
    Case("raise-opset", "opset", """
        x: 4x3xf32
        y = Relu(x) {consumed_inputs = array<i64: 0>} : 4x3xf32""", opset=5),
    Case("raise-qoperator", "attribute", """
        x: 1x5x4x3xui8
        s = [0.25] : f32
        z = [7] : ui8
        w = [1, 2, 3, 4, 5, 6] : 2x3x1x1xi8
        n = [0] : i8
        b = [1, 2] : 2xi32
        y = QLinearAdd(x, s, z, x, s, z, s, z, b) : *xui8"""),
    Case("raise-qoperator", "attribute", """
        s = [0.25] : f32
        z = [7] : ui8
        y = QLinearConcat(s, z) {axis = 0 : i64} : *xui8"""),
    Case("raise-qoperator", "storage-type", """
        x: *x!onnx.any
        s = [0.25] : f32
        y = QLinearSigmoid(x, s, _, s, _) : *x!onnx.any"""),
    Case("raise-qoperator", "empty-tensor", """
        x: 3x4xui8
        s = [] : 0xf32
        z = [7] : ui8
        y = QLinearSigmoid(x, s, z, s, z) : 3x4xui8"""),
    Case("raise-qoperator", "expressed-type", """
        x: 3x4xui8
        s = [0.25] : f16
        z = [7] : ui8
        y = QLinearSigmoid(x, s, z, s, z) : 3x4xui8"""),
    Case("raise-qoperator", "activation-per-axis", """
        x: 3x4xui8
        s = [0.25, 0.5, 0.125, 2.0] : 4xf32
        z = [7] : ui8
        y = QLinearSigmoid(x, s, z, s, z) : 3x4xui8"""),
    Case("raise-qoperator", "invalid-parameters", """
        x: 1x2x5x3xui8
        s = [0.25] : f32
        z = [7] : ui8
        w = [1, 2, 3, 4, 5, 6] : 3x2x1x1xi8
        ws = [0.5, 0.25, 0.125] : 3xf32
        wz = [0, 0] : 2xi8
        y = QLinearConv(x, s, z, w, ws, wz, s, z) : 1x3x5x3xui8"""),
    Case("raise-qoperator", "invalid-parameters", """
        x: 2x4xui8
        b: 2x1xi32
        s = [0.25] : f32
        z = [7] : ui8
        w = [1, 2, 3, 4, 5, 6, 7, 8] : 4x2xi8
        ws = [0.5, 0.25] : 2xf32
        wz = [0, 0] : 2xi8
        y = QGemm(x, s, z, w, ws, wz, b) : 2x2xf32"""),
    Case("raise-qoperator", "unknown-shape", """
        x: 1x2x5x3xui8
        b: *xi32
        s = [0.25] : f32
        z = [7] : ui8
        w = [1, 2, 3, 4, 5, 6] : 3x2x1x1xi8
        ws = [0.5, 0.25, 0.125] : 3xf32
        wz = [0, 0, 0] : 3xi8
        y = QLinearConv(x, s, z, w, ws, wz, s, z, b) : 1x3x5x3xui8"""),
    Case("raise-qoperator", "expressed-type", """
        x: 3x16xf16
        w = [33, 101, 169, 237, 33, 101, 169, 237, 67, 135, 203, 15, 67, 135, 203, 15] : 2x1x8xui8
        s = [0.5, 0.25] : 2xf16
        y = MatMulNBits(x, w, s) {K = 16 : i64, N = 2 : i64, bits = 4 : i64, block_size = 16 : i64} : 3x2xf16
        """, {}, 21),
    Case("raise-qoperator", "expressed-type", """
        x: 3x16xf32
        w = [33, 101, 169, 237, 33, 101, 169, 237, 67, 135, 203, 15, 67, 135, 203, 15] : 2x1x8xui8
        s = [0.5, 0.25] : 2xf16
        y = MatMulNBits(x, w, s) {K = 16 : i64, N = 2 : i64, bits = 4 : i64, block_size = 16 : i64} : 3x2xf32
        """, {}, 21),
    Case("raise-qoperator", "storage-type", """
        x: 3x4xf32
        w = [33, 101, 169, 237] : 1x4x1xui8
        s = [0.5, 0.25, 1.0, 2.0] : 4xf32
        y = MatMulNBits(x, w, s) {K = 4 : i64, N = 1 : i64, bits = 8 : i64} : 3x1xf32
        """, {}, 21),
    Case("raise-qoperator", "recurrent-form", """
        x: 1x1x3x3xf32
        w = [1.0] : 1x1x1x1xf32
        y = FusedConv(x, w) {activation = "Softsign"} : 1x1x3x3xf32"""),
    Case("raise-qoperator", "recurrent-form", """
        x: 2x2xf32
        y = FusedGemm(x, x) {activation = "LeakyRelu"} : 2x2xf32"""),
    Case("raise-qoperator", "opset", """
        x: 2x4xf32
        w = [1, 2, 3, 4, 5, 6, 7, 8] : 4x2xi8
        s = [0.25] : f32
        y = DynamicQuantizeMatMul(x, w, s) : 2x2xf32""", opset=10),
    Case("raise-qoperator", "opset", """
        x: 1x1x3x3xf32
        w = [1.0] : 1x1x1x1xf32
        y = FusedConv(x, w) {activation = "Relu"} : 1x1x3x3xf32""", opset=9),
    Case("raise-qoperator", "expressed-type", """
        x: 2x2xf16
        y = FusedMatMul(x, x) {alpha = 2.0 : f32} : 2x2xf16"""),
    Case("raise-qoperator", "product-form", """
        x: 2x2x2xf32
        y = FusedMatMul(x, x) {transBatchA = 1 : i64} : 2x2x2xf32"""),
    Case("raise-qoperator", "unknown-shape", """
        x: *xf32
        y = FusedMatMul(x, x) {transA = 1 : i64} : *xf32"""),
    Case("raise-qoperator", "opset", """
        x: 2x3xf32
        w = [1.0, 1.0, 1.0] : 3xf32
        y = SkipLayerNormalization(x, x, w) : 2x3xf32""", opset=15),
    Case("raise-qoperator", "second-consumer", """
        x: 2x3xf32
        w = [1.0, 1.0, 1.0] : 3xf32
        y, m = SkipLayerNormalization(x, x, w) : 2x3xf32, 2x1xf32"""),
    Case("raise-qoperator", "opset", """
        c: 3x4xi1
        x: 3x4xui8
        s = [0.25] : f32
        z = [7] : ui8
        y = QLinearWhere(c, x, s, z, x, s, z, s, z) : 3x4xui8""", opset=8),
    Case("rescale-bias", "no-kernel", """
        x: 1x4x5x3x!u
        w: 4x3x1x1x!t
        b = [1, 2, 3] : 3xi8 as 3x!t
        d = dcast b : 3xf32
        y = ConvTranspose(x, w, d) : 1x3x5x3x!s"""),
    Case("rescale-bias", "bias-shape", """
        x: 2x4x!u
        w: 4x2x!t
        b = [1.0, 2.0] : 2x1xf32
        y = Gemm(x, w, b) : 2x2x!s"""),
    Case("rescale-bias", "weight-axis", """
        x: 1x4x5x3x!u
        w: 4x3x1x1x!quant.uniform<i8:f32:1, {0.5,0.25,0.125}>
        b = [1.0, 2.0, 3.0, 4.0, 5.0, 6.0] : 6xf32
        y = ConvTranspose(x, w, b) {group = 2 : i64} : 1x6x5x3x!s"""),
    Case("sink-dequantize", "mixed-scales", """
        p: 3x4x!rows
        q: 3x4x!quant.uniform<u8:f32:0, {0.5:3,0.25:7,0.125}>
        a = dcast p : 3x4xf32
        b = dcast q : 3x4xf32
        y = Concat(a, b) {axis = 1 : i64} : 3x8xf32"""),
    Case("sink-dequantize", "mixed-scales", """
        p: 3x4x!rows
        q: 3x4x!quant.uniform<i8:f32, 0.5:3>
        a = dcast p : 3x4xf32
        b = dcast q : 3x4xf32
        y = Concat(a, b) {axis = 0 : i64} : 6x4xf32"""),
    Case("sink-dequantize", "mixed-scales", """
        p: 3x4x!rows
        q: 3x4x!others
        a = dcast p : 3x4xf32
        b = dcast q : 3x4xf32
        y = Concat(a, b) {axis = 1 : i64} : 3x8xf32"""),
    Case("sink-dequantize", "float-operand", """
        p: 3x4x!u
        a: 3x4xui8
        b: 3x4xui8
        s = scast p : 3x4xui8
        y = Max(s, a, b) : 3x4xui8"""),
    Case("sink-dequantize", "float-operand", """
        p: 3x4x!u
        a: 3x4xui8
        s = scast p : 3x4xui8
        y = Max(s, a) : 3x4xui8"""),
    Case("sink-dequantize", "computed-parameter", """
        p: 3x4x!u
        a: ui8
        k = [1, 0, 0, 2] : 4xi64
        s = scast p : 3x4xui8
        y = Pad(s, k, a) : 4x6xui8"""),
    Case("sink-dequantize", "zero-point", """
        p: 3x4x!rows
        k = [1, 0, 0, 2] : 4xi64
        s = scast p : 3x4xi8
        y = Pad(s, k) : 4x6xi8"""),
]  # fmt: skip


@pytest.mark.parametrize("case", CASES, ids=lambda c: f"{c.rewrite}:{c.reason}")
def test_nothing_moves(case: Case):
    check_unmoved(text(case), get_all_passes()[case.rewrite]()(**case.options), case.reason)


IN_A_SUBGRAPH = """
    %p = onnx.Constant() {value = #onnx.tensor<[1] : tensor<i1>>} : () -> tensor<i1>
    %w = onnx.Constant() {value = #onnx.tensor<[3.0, -5.0] : tensor<2x1x1x1xf32>>} : () -> tensor<2x1x1x1xf32>
    %k = onnx.Constant() {value = #onnx.tensor<[2.0] : tensor<f32>>} : () -> tensor<f32>
    %c = OUTSIDE
    %r = onnx.If(%p) then_branch {
      %t = INSIDE
      onnx.Yield(%t) : (tensor<1x2x5x3xf32>) -> ()
    } else_branch {
      %e = onnx.Tanh(%x) : (tensor<1x2x5x3xf32>) -> tensor<1x2x5x3xf32>
      onnx.Yield(%e) : (tensor<1x2x5x3xf32>) -> ()
    } : (tensor<i1>) -> tensor<1x2x5x3xf32>
    func.return %r : tensor<1x2x5x3xf32>
"""
"""A value from outside that one branch of an If takes, and that no other op does."""

CONV = (
    "onnx.Conv(%x, %w) {group = 2 : i64} : (tensor<1x2x5x3xf32>, tensor<2x1x1x1xf32>) -> tensor<1x2x5x3xf32>"
)
BRANCHES = """onnx.If(%p) then_branch {
      %u = onnx.Exp(%x) : (tensor<1x2x5x3xf32>) -> tensor<1x2x5x3xf32>
      onnx.Yield(%u) : (tensor<1x2x5x3xf32>) -> ()
    } else_branch {
      %v = onnx.Neg(%x) : (tensor<1x2x5x3xf32>) -> tensor<1x2x5x3xf32>
      onnx.Yield(%v) : (tensor<1x2x5x3xf32>) -> ()
    } : (tensor<i1>) -> tensor<1x2x5x3xf32>"""
CASTS = """onnx.Identity(%d) : (tensor<1x2x5x3xf32>) -> tensor<1x2x5x3xf32>"""
QUANTIZED = """%q = quant.qcast %c : tensor<1x2x5x3xf32> to tensor<1x2x5x3xTYPE>
      %d = quant.dcast %q : tensor<1x2x5x3xTYPE> to tensor<1x2x5x3xf32>
      %t = """
AFFINE = "onnx.Mul(%c, %k) : (tensor<1x2x5x3xf32>, tensor<f32>) -> tensor<1x2x5x3xf32>"


@pytest.mark.parametrize(
    ("rewrite", "outside", "inside"),
    [
        ("fold-batch-norm", CONV, f"%t = {AFFINE}"),
        ("fold-scales", CONV, QUANTIZED.replace("TYPE", "!like") + CONV.replace("%x", "%d")),
        ("hoist-quantize", BRANCHES, QUANTIZED.replace("TYPE", "!u") + CASTS),
    ],
)
def test_nothing_moves_out_of_a_subgraph(rewrite: str, outside: str, inside: str):
    body = IN_A_SUBGRAPH.replace("OUTSIDE", outside).replace("%t = INSIDE", inside)
    source = f"{ALIASES}func.func @f(%x: tensor<1x2x5x3xf32>) -> tensor<1x2x5x3xf32> {{{body}}}"
    check_unmoved(source, get_all_passes()[rewrite]()(), "sides-differ")


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


MOVED = [
    # the second field is what is written
    Case("fold-scales", "Conv Relu Min qcast dcast Conv", """
        x: 1x1x5x3xf32
        w = [3.0, -5.0] : 2x1x1x1xf32
        c = Conv(x, w) : 1x2x5x3xf32
        r = Relu(c) : 1x2x5x3xf32
        q = qcast r : 1x2x5x3x!apart
        d = dcast q : 1x2x5x3xf32
        y = Conv(d, w) {group = 2 : i64} : 1x2x5x3xf32""", opset=12),
    Case("raise-qoperator", "Conv Relu", """
        x: 1x1x3x3xf32
        w = [1.0] : 1x1x1x1xf32
        y = FusedConv(x, w) {activation = "Relu"} : 1x1x3x3xf32""", opset=11),
    Case("raise-qoperator", "Conv Clip", """
        x: 1x1x3x3xf32
        w = [1.0] : 1x1x1x1xf32
        y = FusedConv(x, w) {activation = "Clip", activation_params = array<f32: 0.0, 6.0>} : 1x1x3x3xf32""", opset=11),
    Case("raise-qoperator", "Add LayerNormalization", """
        x: 2x3xf32
        w = [1.0, 1.0, 1.0] : 3xf32
        y = SkipLayerNormalization(x, x, w) : 2x3xf32""", opset=17),
    Case("raise-qoperator", "scast scast dcast dcast Where qcast scast", """
        c: 3x4xi1
        x: 3x4xui8
        s = [0.25] : f32
        z = [7] : ui8
        y = QLinearWhere(c, x, s, z, x, s, z, s, z) : 3x4xui8""", opset=10),
    Case("raise-qoperator", "Transpose MaxPool Transpose", """
        x: 1x4x4x3xui8
        y = NhwcMaxPool(x) {kernel_shape = array<i64: 2, 2>} : 1x3x3x3xui8""", opset=12),
    Case("raise-qoperator", "scast LeakyRelu scast", """
        x: 3x4xui8
        s = [0.25] : f32
        z = [7] : ui8
        y = QLinearLeakyRelu(x, s, z, s, z) : *x!onnx.any"""),
    Case("raise-qoperator", "scast scast Add scast", """
        x: 3x4xi8
        s = [0.25] : f32
        y = QLinearAdd(x, s, _, x, s, _, s, _) : *x!onnx.any"""),
    Case("fold-batch-norm", "Gemm", """
        x: 4x3xf32
        w = [1.0, 2.0, 3.0, 4.0, 5.0, 6.0] : 3x2xf32
        k = [2.0] : f32
        m = Mul(x, k) : 4x3xf32
        y = Gemm(m, w) : 4x2xf32"""),
    Case("fold-batch-norm", "MatMul", """
        x: 4x3xf32
        w = [1.0, 2.0, 3.0, 4.0, 5.0, 6.0] : 3x2xf32
        k = [2.0, 3.0] : 2xf32
        m = MatMul(x, w) : 4x2xf32
        y = Mul(m, k) : 4x2xf32"""),
    Case("fold-batch-norm", "Conv", """
        x: 1x2x5x3xf32
        w = [1.0, 2.0, 3.0, 4.0, 5.0, 6.0] : 3x2x1x1xf32
        k = [2.0, 3.0] : 2x1x1xf32
        m = Mul(x, k) : 1x2x5x3xf32
        y = Conv(m, w) : 1x3x5x3xf32"""),
    Case("raise-opset", "Clip", """
        x: 2x3xf32
        y = Clip(x) {min = 1.0 : f32, max = 2.0 : f32} : 2x3xf32""", {"to": 11}, opset=10),
    Case("decompose", "Gather Transpose MatMul Gather Transpose Scan MatMul Add Tanh Yield Unsqueeze", """
        x: 5x3x4xf32
        w: 1x2x4xf32
        r: 1x2x2xf32
        y = RNN(x, w, r) {hidden_size = 2 : i64} : 5x1x3x2xf32""", {"ops": ("RNN",)}, 9),
]  # fmt: skip


@pytest.mark.parametrize("case", MOVED, ids=lambda c: f"{c.rewrite}:{c.opset}")
def test_what_a_guard_lets_pass(case: Case):
    context, module = parsed(text(case))
    get_all_passes()[case.rewrite]()(**case.options).apply(context, module)
    module.verify()
    assert ops_of(module) == case.reason


UNMOVED = [
    Case("quantize-inputs", "", """
        x: 1x2x4x5xf32
        w: 3x2x1x1xf32
        y = Conv(x, w) : 1x3x4x5xf32"""),
    Case("quantize-inputs", "", """
        x: 1x2x4x5xf32
        v: 3x2x1x1xf32
        w = Tanh(v) : 3x2x1x1xf32
        y = Conv(x, w) : 1x3x4x5xf32"""),
    Case("quantize-inputs", "", """
        x: 1x2x4x5xf32
        v: 3x2x1x1x!one
        w = dcast v : 3x2x1x1xf32
        y = Conv(x, w) : 1x3x4x5xf32"""),
    Case("quantize-inputs", "", """
        x: 1x2x4x5xf16
        v = [1, 2, 3, 4, 5, 6] : 3x2x1x1xui8 as 3x2x1x1x!one
        w = dcast v : 3x2x1x1xf32
        c = Cast(w) {to = 10 : i64} : 3x2x1x1xf16
        y = Conv(x, c) : 1x3x4x5xf16"""),
    Case("quantize-inputs", "", """
        x: 1x2x4x5xf32
        v = [1, 2, 3, 4, 5, 6] : 3x2x1x1xui8 as 3x2x1x1x!above
        w = dcast v : 3x2x1x1xf32
        y = Conv(x, w) : 1x3x4x5xf32"""),
    Case("fold-shapes", "", """
        x: 2x3xf32
        y = Reshape(x) {shape = array<i64: 3, 2>} : 3x2xf32""", opset=4),
    Case("fold-shapes", "", """
        k = [2, 2] : 2xi64
        y = ConstantOfShape(k) {value = #onnx.tensor<[7] : tensor<1xi64>>} : 2x2xi64"""),
    Case("fold-shapes", "", """
        x: ?x1x0xf32
        s = Shape(x) : 3xi64
        y = Resize(x, _, _, s) : ?x1x0xf32"""),
]  # fmt: skip


@pytest.mark.parametrize("case", UNMOVED, ids=lambda c: c.rewrite)
def test_what_a_pass_is_not_for_stays(case: Case):
    context, module = parsed(f"!above = !quant.uniform<u8:f32, 1.0:1>\n{text(case)}")
    before = str(module)
    get_all_passes()[case.rewrite]()(**case.options).apply(context, module)
    assert str(module) == before
