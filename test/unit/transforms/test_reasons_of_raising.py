"""Reasons of the passes that read older and foreign forms: one case for each place that gives one."""

from __future__ import annotations

import pytest
from guard_cases import Case, check_unmoved, text

from qdialect.transforms import get_all_passes
from qdialect.transforms.raise_opset import RaiseOpsetPass

CASES = [
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
    Case("raise-opset", "opset", """
        x: 4x3xf32
        y = Relu(x) {consumed_inputs = array<i64: 0>} : 4x3xf32""", opset=5),
    Case("raise-integer", "storage-type", """
        x: *x!onnx.any
        w = [1, -2, 3, -4, 5, -6] : 2x3xi8
        k = [0.5] : f32
        s = MatMulInteger(x, w) : 4x3xi32
        f = Cast(s) {to = 1 : i64} : 4x3xf32
        y = Mul(f, k) : 4x3xf32"""),
]  # fmt: skip


@pytest.mark.parametrize("case", CASES, ids=lambda c: f"{c.rewrite}:{c.reason}")
def test_nothing_moves(case: Case):
    check_unmoved(text(case), get_all_passes()[case.rewrite]()(**case.options), case.reason)


FUNCTION = """
builtin.module attributes {onnx.opset_import = {ai.onnx = 9 : i64, my = 1 : i64}} {
  "onnx.Function"() <{domain = "my", sym_name = "Leak", overload = "", inputs = ["x"], outputs = ["y"],
    attribute_names = [], attribute_defaults = {}, onnx.opset_import = {ai.onnx = 9 : i64}}> ({
  ^bb0(%x: tensor<*x!onnx.any>):
    %y = onnx.Tanh(%x) : (tensor<*x!onnx.any>) -> tensor<*x!onnx.any>
    "onnx.Yield"(%y) : (tensor<*x!onnx.any>) -> ()
  }) : () -> ()
  func.func @f(%x: tensor<2xf32>) -> tensor<2xf32> {
    %y = onnx.Custom(%x) {domain = "my", op_type = "Leak"} : (tensor<2xf32>) -> tensor<2xf32>
    func.return %y : tensor<2xf32>
  }
}"""


def test_functions_of_a_model_keep_its_opset():
    check_unmoved(FUNCTION, RaiseOpsetPass(), "model-functions")
