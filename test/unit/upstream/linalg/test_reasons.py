"""Reasons of the forms in linalg, and of what stands before them: one case for each place that gives one."""

from __future__ import annotations

from pathlib import Path

import pytest
from guard_cases import ALIASES, Case, check_unmoved, full_context, text

from qdialect.rewriting.remarks import remarks_of
from qdialect.text.assembly import parse_module
from qdialect.transforms import get_all_passes

LINALG = "lower-to-linalg"
CASES = [
    ("Resize", Case(LINALG, "interpolates", """
        x: 1x2x3x5xf32
        r = [0.0, 0.0, 0.0, 0.0, 1.0, 1.0, 1.0, 1.0] : 8xf32
        k = [1.0, 1.0, 2.0, 3.0] : 4xf32
        y = Resize(x, r, k) {coordinate_transformation_mode = "tf_crop_and_resize"} : 1x2x6x15xf32""")),
    ("Resize", Case(LINALG, "interpolates", """
        x: 1x2x3x5xf32
        k = [1.0, 1.0, 2.0, 3.0] : 4xf32
        y = Resize(x, _, k) {mode = "linear"} : 1x2x6x15xf32""")),
    ("Conv", Case(LINALG, "invalid-op", """
        x: 1x4x5x5xf32
        w = [1.0, 2.0, 3.0, 4.0, 5.0, 6.0] : 2x3x1x1xf32
        y = Conv(x, w) : 1x2x5x5xf32""")),
    ("ReduceSum", Case(LINALG, "computed-parameter", """
        x: 3x4xf32
        k: 1xi64
        y = ReduceSum(x, k) : 1x4xf32""")),
    ("dcast", Case(LINALG, "block-scales", """
        p: 2x4x!quant.uniform<i8:f32:{0:1, 1:2}, {{0.5:3, 0.25:-7}, {0.125, 2.0:1}}>
        y = dcast p : 2x4xf32""")),
    ("Add", Case(LINALG, "expressed-type", """
        p: 3x4x!half
        a: 3x4xf16
        y = Add(p, a) : 3x4x!half""")),
    ("Add", Case(LINALG, "expressed-type", """
        a: 3x4xf64
        b: 3x4xf64
        y = Add(a, b) : 3x4xf64""")),
    ("Cast", Case(LINALG, "expressed-type", """
        p: 3x4x!u
        y = Cast(p) {to = 1 : i64} : 3x4xf32""")),
    ("Clip", Case(LINALG, "expressed-type", """
        x: 3x4xf64
        y = Clip(x) : 3x4xf64""")),
    ("Clip", Case(LINALG, "computed-parameter", """
        x: 3x4xf32
        low: f32
        y = Clip(x, low) : 3x4xf32""")),
    ("Greater", Case(LINALG, "expressed-type", """
        a: 3x4xf64
        b: 3x4xf64
        y = Greater(a, b) : 3x4xi1""")),
    ("dcast", Case(LINALG, "expressed-type", """
        p: 3x4x!half
        y = dcast p : 3x4xf16""")),
    ("qcast", Case(LINALG, "expressed-type", """
        x: 3x4xf16
        y = qcast x : 3x4x!half""")),
    ("qcast", Case(LINALG, "storage-type", """
        x: 3x4xf32
        y = qcast x : 3x4x!sum""")),
    ("Pow", Case(LINALG, "expressed-type", """
        a: 3x4xf64
        b: 3x4xf64
        y = Pow(a, b) : 3x4xf64""")),
    ("Tanh", Case(LINALG, "expressed-type", """
        x: 3x4xf64
        y = Tanh(x) : 3x4xf64""")),
    ("Reshape", Case(LINALG, "other-type", """
        p: 3x4x!s
        k = [2, 6] : 2xi64
        y = Reshape(p, k) : 2x6x!t""")),
    ("Concat", Case(LINALG, "other-type", """
        p: 3x4x!rows
        q: 3x2x!rows
        y = Concat(p, q) {axis = 1 : i64} : 3x6x!rows""")),
    ("Concat", Case(LINALG, "other-type", """
        x: 3x4xf32
        p: 3x2x!s
        y = Concat(x, p) {axis = 1 : i64} : 3x6xf32""")),
    ("Pad", Case(LINALG, "computed-parameter", """
        x: 3x4xf32
        k: 4xi64
        y = Pad(x, k) : 4x6xf32""")),
    ("Pad", Case(LINALG, "computed-parameter", """
        x: 3x4xf32
        a: f32
        k = [1, 0, 0, 2] : 4xi64
        y = Pad(x, k, a) : 4x6xf32""")),
    ("LayerNormalization", Case(LINALG, "computed-parameter", """
        x: 3x4xf32
        a: 4xf32
        y = LayerNormalization(x, a) : 3x4xf32""")),
    ("LayerNormalization", Case(LINALG, "training-mode", """
        x: 3x4xf32
        a = [1.0, 2.0, 3.0, 4.0] : 4xf32
        n, m = LayerNormalization(x, a) : 3x4xf32, 3x1xf32
        y = Add(n, m) : 3x4xf32""")),
    ("Gemm", Case(LINALG, "product-form", """
        x: 3x2xf32
        w = [1.0, 2.0, 3.0, 4.0, 5.0, 6.0, 7.0, 8.0] : 2x4xf32
        y = Gemm(x, w) {alpha = 0.5 : f32} : 3x4xf32""")),
    ("Gemm", Case(LINALG, "bias-shape", """
        x: 3x2xf32
        w = [1.0, 2.0, 3.0, 4.0, 5.0, 6.0, 7.0, 8.0] : 2x4xf32
        b = [1.0, 2.0, 3.0] : 3x1xf32
        y = Gemm(x, w, b) : 3x4xf32""")),
    ("Gemm", Case(LINALG, "computed-parameter", """
        x: 3x2xf32
        b: 4xf32
        w = [1.0, 2.0, 3.0, 4.0, 5.0, 6.0, 7.0, 8.0] : 2x4xf32
        y = Gemm(x, w, b) : 3x4xf32""")),
    ("MatMul", Case(LINALG, "storage-type", """
        x: 3x2x!s
        w: 2x4x!u
        y = MatMul(x, w) : 3x4xf32""")),
    ("MatMulInteger", Case(LINALG, "zero-point", """
        x: 3x2xi8
        w: 2x4xi8
        z = [0] : i8
        k = [1, 2, 3, 4] : 4xi8
        y = MatMulInteger(x, w, z, k) : 3x4xi32""")),
    ("ConvInteger", Case(LINALG, "computed-parameter", """
        x: 1x2x5x3xi8
        w: 4x2x1x1xi8
        y = ConvInteger(x, w) : 1x4x5x3xi32""")),
    ("OneHot", Case(LINALG, "expressed-type", """
        i: 3xf32
        v: 2xf32
        e = [5] : i64
        y = OneHot(i, e, v) : 3x5xf32""")),
    ("ReduceL2", Case(LINALG, "expressed-type", """
        x: 3x4xf64
        y = ReduceL2(x) {axes = array<i64: 1>} : 3x1xf64""")),
    ("ReduceL2", Case(LINALG, "computed-parameter", """
        x: 3x4xf32
        k: 1xi64
        y = ReduceL2(x, k) : 3x1xf32""", opset=18)),
    ("BatchNormalization", Case(LINALG, "computed-parameter", """
        x: 2x3xf32
        a = [1.0, 2.0, 3.0] : 3xf32
        n, m, v = BatchNormalization(x, a, a, a, a) {training_mode = 1 : i64} : 2x3xf32, 3xf32, 3xf32
        y = Add(n, m) : 2x3xf32""")),
    ("ReduceMax", Case(LINALG, "expressed-type", """
        p: 3x4x!u
        y = ReduceMax(p) {axes = array<i64: 1>} : 3x1x!u""")),
    ("ReduceMax", Case(LINALG, "other-type", """
        p: 3x4x!s
        y = ReduceMax(p) {axes = array<i64: 1>} : 3x1x!t""")),
    ("MaxPool", Case(LINALG, "expressed-type", """
        p: 1x2x5x4x!u
        y = MaxPool(p) {kernel_shape = array<i64: 2, 2>} : 1x2x4x3x!u""")),
    ("MaxPool", Case(LINALG, "other-type", """
        p: 1x2x5x4x!s
        y = MaxPool(p) {kernel_shape = array<i64: 2, 2>} : 1x2x4x3x!t""")),
    ("MaxPool", Case(LINALG, "equal-elements", """
        x: 1x2x5x4xf32
        m, i = MaxPool(x) {kernel_shape = array<i64: 2, 2>, storage_order = 1 : i64} : 1x2x4x3xf32, 1x2x4x3xi64
        y = Identity(i) : 1x2x4x3xi64""")),
    ("Softmax", Case(LINALG, "expressed-type", """
        x: 3x4xf64
        y = Softmax(x) : 3x4xf64""")),
    ("Conv", Case(LINALG, "computed-parameter", """
        x: 1x2x5x3xf32
        w: 4x2x1x1xf32
        y = Conv(x, w) : 1x4x5x3xf32""")),
    ("ConvTranspose", Case(LINALG, "pad-form", """
        x: 1x1x5x3xf32
        w = [1.0, 2.0, 3.0, 4.0] : 1x1x2x2xf32
        y = ConvTranspose(x, w) {pads = array<i64: 2, 0, 0, 1>} : 1x1x4x3xf32""")),
    ("Identity", Case(LINALG, "expressed-type", """
        x: 3x4xbf16
        y = Identity(x) : 3x4xbf16""")),
]  # fmt: skip


def check_kept(source: str, op: str, reason: str):
    """`lower-to-linalg` lets an op stand, and says why."""
    context = full_context()
    module = parse_module(context, source, "test", Path())
    module.verify()
    get_all_passes()[LINALG]()().apply(context, module)
    module.verify()
    kept = [one for one in module.walk() if one.name.rpartition(".")[2] == op]
    assert [r.blocked.id for one in kept for r in remarks_of(module).on(one)] == [reason]


@pytest.mark.parametrize(("op", "case"), CASES, ids=[f"{op}:{case.reason}" for op, case in CASES])
def test_op_stays(op: str, case: Case):
    check_kept(text(case), op, case.reason)


def test_op_with_subgraphs_stays():
    source = """func.func @f(%p: tensor<i1>, %x: tensor<3x4xf32>) -> tensor<3x4xf32> {
        %r = onnx.If(%p) then_branch {
          %t = onnx.Tanh(%x) : (tensor<3x4xf32>) -> tensor<3x4xf32>
          onnx.Yield(%t) : (tensor<3x4xf32>) -> ()
        } else_branch {
          %e = onnx.Exp(%x) : (tensor<3x4xf32>) -> tensor<3x4xf32>
          onnx.Yield(%e) : (tensor<3x4xf32>) -> ()
        } : (tensor<i1>) -> tensor<3x4xf32>
        func.return %r : tensor<3x4xf32>
    }"""
    check_kept(source, "If", "no-form")


def test_requantize_does_not_fold_into_what_an_outer_region_computes():
    source = f"""{ALIASES}func.func @f(
        %p: tensor<i1>, %y: tensor<200x128xf32>, %b: tensor<1x200x!s>
    ) -> tensor<129x200x!s> {{
        %q = quant.qcast %y : tensor<200x128xf32> to tensor<200x128x!t>
        %r = onnx.If(%p) then_branch {{
          %m = onnx.Transpose(%q) {{perm = array<i64: 1, 0>}} : (tensor<200x128x!t>) -> tensor<128x200x!t>
          %d = quant.dcast %m : tensor<128x200x!t> to tensor<128x200xf32>
          %e = quant.qcast %d : tensor<128x200xf32> to tensor<128x200x!s>
          %j = onnx.Concat(%e, %b) {{axis = 0 : i64}} : (tensor<128x200x!s>, tensor<1x200x!s>) -> tensor<129x200x!s>
          onnx.Yield(%j) : (tensor<129x200x!s>) -> ()
        }} else_branch {{
          %k = onnx.Constant() {{value = #onnx.tensor<[129, 200] : tensor<2xi64>>}} : () -> tensor<2xi64>
          %o = onnx.Expand(%b, %k) : (tensor<1x200x!s>, tensor<2xi64>) -> tensor<129x200x!s>
          onnx.Yield(%o) : (tensor<129x200x!s>) -> ()
        }} : (tensor<i1>) -> tensor<129x200x!s>
        func.return %r : tensor<129x200x!s>
    }}"""
    check_unmoved(source, get_all_passes()["fold-requantize"]()(), "sides-differ")
