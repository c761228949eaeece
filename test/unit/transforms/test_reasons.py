"""Reasons of passes for what is rare in models: one case for each place that gives one."""

from __future__ import annotations

import pytest
from guard_cases import ALIASES, Case, check_unmoved, text

from qdialect.transforms import get_all_passes

CASES = [
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
    Case("lower-to-integer", "empty-tensor", """
        x: 4x0x!u
        w: 0x3x!t
        y = MatMul(x, w) : 4x3xf32"""),
    Case("lower-to-integer", "bias-scale", """
        x: 4x2x!u
        w: 2x3x!t
        b: 3x!quant.uniform<i32:f32, 0.5>
        y = Gemm(x, w, b) : 4x3xf32"""),
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
    Case("fold-pad", "unknown-shape", """
        x: *xf32
        w = [1.0, 2.0, 3.0, 4.0, 5.0, 6.0] : 3x2x1x1xf32
        k = [0, 0, 1, 2, 0, 0, 3, 4] : 8xi64
        a = Pad(x, k) : *xf32
        y = Conv(a, w) : *xf32"""),
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
    Case("fold-pad", "invalid-parameters", """
        x: 1x1x3xf32
        w = [1.0] : 1x1x1xf32
        k = [1, 2, 3, 4] : 4xi64
        a = [2, -1] : 2xi64
        p = Pad(x, k, _, a) : *xf32
        y = Conv(p, w) : *xf32""", opset=18),
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
    Case("lower-to-qoperator", "no-kernel", """
        x: 1x2x5x3x!u
        r: 1x5xf32
        y = MaxRoiPool(x, r) {pooled_shape = array<i64: 2, 2>} : 1x2x2x2x!u"""),
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
