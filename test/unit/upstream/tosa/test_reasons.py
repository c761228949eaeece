"""Reasons of the forms in TOSA's integer profile for what is rare in models: one case for each place that gives one."""

from __future__ import annotations

from pathlib import Path

import pytest
from guard_cases import ALIASES, Case, full_context, text

from qdialect.rewriting.remarks import remarks_of
from qdialect.text.assembly import parse_module
from qdialect.transforms.lower_to_tosa import LowerToTosaPass

TYPES = """
!x = !quant.uniform<i8:f32, 0.05:3>
!y = !quant.uniform<i8:f32, 0.07:-9>
!w = !quant.uniform<i8:f32, 0.02>
!b = !quant.uniform<i32:f32, 0.001>
!coarse = !quant.uniform<i8:f32, 1.0e+06:5>
!coarser = !quant.uniform<i8:f32, 1.0e+09:5>
!fine = !quant.uniform<i8:f32, 1.0e-01:7>
!finer = !quant.uniform<i8:f32, 1.0e-07:7>
!wide = !quant.uniform<i16:f32, 0.01:5>
!spread = !quant.uniform<u8:f32:1, {0.02:0, 0.03:255}>
!channels = !quant.uniform<i8:f32:0, {0.02:1, 0.03:-4}>
!half = !quant.uniform<i8:f16, 0.5:5>
"""


def case(reason: str, body: str, opset: int = 18) -> Case:
    return Case("lower-to-tosa", reason, body, opset=opset)


MANY_ROWS = [2, 1, 0] * 23
"""Rows backwards, each a piece by itself, and more of them than one op may become."""

CASES = [
    # --- types and scales
    case("expressed-type", """
        x: 2x3x!half
        y = Relu(x) : 2x3x!half"""),
    case("scale-value", """
        x: 2x3x!coarser
        y = Relu(x) : 2x3x!finer"""),
    case("accumulator-overflow", """
        x: 2x3x!coarse
        y = Relu(x) : 2x3x!x"""),
    # --- element by element
    case("mixed-scales", """
        x: 2x3x!coarse
        z: 2x3x!x
        y = Add(x, z) : 2x3x!fine"""),
    case("mixed-scales", """
        x: 2x3x!coarse
        z: 2x3x!x
        y = Div(x, z) : 2x3x!fine"""),
    case("no-form", """
        i: 2x3xi64
        w = [1, 2, 3, 4, 5] : 5xi8 as 5x!x
        y = Gather(w, i) : 2x3x!x"""),
    case("too-large", """
        x: 2x3x!x
        y = Softmax(x) : 2x3x!finer"""),
    case("computed-parameter", """
        x: 2x3x!x
        z: 3x!x
        y = PRelu(x, z) : 2x3x!y"""),
    case("mixed-scales", """
        x: 2x3x!coarse
        s = [0.5] : 1xf32
        y = PRelu(x, s) : 2x3x!fine"""),
    case("mixed-scales", """
        c = [1, 0, 1] : 3xi1
        x: 2x3x!coarse
        z: 2x3x!x
        y = Where(c, x, z) : 2x3x!fine"""),
    case("float-operand", """
        c = [1, 0, 1] : 3xi1
        x: 2x3xf32
        y = Where(c, x, x) : 2x3xf32"""),
    case("float-operand", """
        x: 2x3xf32
        s = [0.5] : 1xf32
        y = PRelu(x, s) : 2x3xf32"""),
    case("float-operand", """
        x: 2x3xf32
        s = [0.5, 1.0, 2.0] : 3xf32
        y = LayerNormalization(x, s) : 2x3xf32"""),
    case("computed-parameter", """
        x: 2x3x!x
        s: 3x!x
        y = LayerNormalization(x, s) : 2x3x!y"""),
    case("too-large", """
        x: 2x3x!finer
        s = [0.5, 1.0, 2.0] : 3xf32
        y = LayerNormalization(x, s) {epsilon = 1000.0 : f32} : 2x3x!y"""),
    case("float-operand", f"""
        x: 2x3xi8
        w = {list(range(-128, 128))} : 256xi8
        i = Cast(x) {{to = 7 : i64}} : 2x3xi64
        y = Gather(w, i) : 2x3xi8"""),
    case("float-operand", """
        x: 2x3xf32
        y = Transpose(x) : 3x2xf32"""),
    case("zero-point", """
        x: 2x3x!x
        w = [0, 255, 3, 4, 0, 255] : 3x2xui8 as 3x2x!spread
        y = MatMul(x, w) : 2x2x!y"""),
    case("storage-type", """
        x: 2x3x!channels
        f = dcast x : 2x3xf32
        y = qcast f : 2x3x!x"""),
    case("too-large", """
        x: 2x1x!x
        s = [0.5] : 1xf32
        y = LayerNormalization(x, s) : 2x1x!y"""),
    case("mixed-scales", """
        x: 2x3x!x
        s = [0.5, 1.0, 2.0] : 3xf32
        y = LayerNormalization(x, s) : 2x3x!finer"""),
    # --- moves
    case("no-form", """
        x: 2x3xi8
        y = Cast(x) {to = 7 : i64} : 2x3xi64"""),
    case("storage-type", """
        x: 2x3xi16
        y = scast x : 2x3x!wide"""),
    case("float-operand", """
        x: 2x3xf32
        y = Identity(x) : 2x3xf32"""),
    case("computed-parameter", """
        x: 2x3x!x
        p: 4xi64
        y = Pad(x, p) : 2x5x!x"""),
    case("computed-parameter", """
        x: 2x3x!x
        v: !x
        k = [0, 1, 0, 1] : 4xi64
        y = Pad(x, k, v) : 2x5x!x"""),
    case("too-large", f"""
        x: 3x2x!x
        k = {MANY_ROWS} : {len(MANY_ROWS)}xi64
        y = Gather(x, k) : {len(MANY_ROWS)}x2x!x"""),
    case("storage-type", """
        x: 2x3x!wide
        k = [0, 1, 0, 1] : 4xi64
        y = Pad(x, k) : 2x5x!wide"""),
    case("pad-form", """
        x: 2x3x!x
        k = [0, -3, 0, 2] : 4xi64
        y = Pad(x, k) : 2x2x!x"""),
    case("empty-tensor", """
        x: 3x2x!x
        k = [] : 0xi64
        y = Gather(x, k) : 0x2x!x"""),
    case("empty-tensor", f"""
        x: 0x3xi8
        w = {list(range(-128, 128))} : 256xi8 as 256x!x
        i = Cast(x) {{to = 7 : i64}} : 0x3xi64
        y = Gather(w, i) : 0x3x!x"""),
    case("empty-tensor", """
        x: 1x2x!x
        k = [0, 2] : 2xi64
        y = Expand(x, k) : 0x2x!x"""),
    # --- images
    case("interpolates", """
        x: 2x3x!x
        k = [4, 6] : 2xi64
        y = Resize(x, _, _, k) {mode = "linear"} : 4x6x!x"""),
    case("interpolates", """
        x: 1x2x3x4x!x
        r = [0.0, 0.0, 0.0, 0.0, 1.0, 1.0, 0.5, 0.5] : 8xf32
        k = [1, 2, 6, 8] : 4xi64
        y = Resize(x, r, _, k) {coordinate_transformation_mode = "tf_crop_and_resize", mode = "linear"} : 1x2x6x8x!x
        """),
    case("interpolates", """
        x: 1x2x3x4x!x
        s: 4xf32
        y = Resize(x, _, s) {mode = "linear"} : 1x2x6x8x!x"""),
    case("interpolates", """
        x: 1x2x32x3x!x
        k = [1, 2, 2, 6] : 4xi64
        y = Resize(x, _, _, k) {mode = "linear"} : 1x2x2x6x!x"""),
    case("other-type", """
        x: 1x2x3x4x!x
        k = [1, 2, 6, 8] : 4xi64
        y = Resize(x, _, _, k) : 1x2x6x8x!y"""),
    # --- windows and axes
    case("window-form", """
        x: 1x2x6x!x
        y = AveragePool(x) {kernel_shape = array<i64: 2>} : 1x2x5x!y"""),
    case("window-form", """
        x: 1x2x6x!x
        y = MaxPool(x) {kernel_shape = array<i64: 2>} : 1x2x5x!x"""),
    case("empty-tensor", """
        x: 1x2x5x6x!x
        y = AveragePool(x) {kernel_shape = array<i64: 3, 1>, pads = array<i64: 3, 0, 3, 0>} : 1x2x9x6x!y"""),
    case("empty-tensor", """
        x: 1x2x5x6x!x
        y = MaxPool(x) {kernel_shape = array<i64: 3, 2>, pads = array<i64: 3, 0, 0, 0>} : 1x2x6x5x!x"""),
    case("window-form", """
        x: 1x2x5x6x!x
        y = AveragePool(x) {kernel_shape = array<i64: 2, 2>, dilations = array<i64: 2, 2>} : 1x2x3x4x!y""", 19),
    case("accumulator-overflow", """
        x: 1x2x43x6x!x
        y = AveragePool(x) {kernel_shape = array<i64: 43, 1>, pads = array<i64: 42, 0, 42, 0>} : 1x2x85x6x!y"""),
    case("accumulator-overflow", """
        x: 3000x4000x!x
        y = ReduceMean(x) : 1x1x!y"""),
    case("other-type", """
        x: 2x3x!x
        y = ReduceMax(x) : 1x1x!y"""),
    case("other-type", """
        x: 1x2x5x6x!x
        y = MaxPool(x) {kernel_shape = array<i64: 2, 2>} : 1x2x4x5x!y"""),
    # --- sums of products
    case("bias-range", """
        x: 2x3x!x
        w = [1, -2, 3, 4, 5, -6] : 3x2xi8 as 3x2x!w
        b = [1.0e+07, -2.0] : 2xf32
        y = Gemm(x, w, b) : 2x2x!y"""),
    case("mixed-scales", """
        x: 2x3x!coarse
        r = [1.5, -2.0, 0.1] : 3xf32
        y = Mul(x, r) : 2x3x!fine"""),
    case("float-operand", """
        x: 2x3xf32
        r = [1.5, -2.0, 0.1] : 3xf32
        y = Mul(x, r) : 2x3xf32"""),
    case("float-operand", """
        x: 2x3xf32
        r = [1.5, -2.0, 0.1] : 3xf32
        y = Mul(r, x) : 2x3x!x"""),
    case("float-operand", """
        x: 2x3xf32
        z: 2x3x!x
        y = Add(z, x) : 2x3x!x"""),
    case("bias-shape", """
        x: 2x3x!x
        w = [1, -2, 3, 4, 5, -6] : 3x2xi8 as 3x2x!w
        b = [100, -200, 300, 400] : 2x2xi32 as 2x2x!b
        y = Gemm(x, w, b) : 2x2x!y"""),
    case("product-form", """
        x: 3x!x
        z: 3x4x!w
        y = MatMul(x, z) : 4x!y"""),
    case("window-form", """
        x: 1x2x3x4x!x
        w = [1, 2, 3, 4] : 2x1x2x1xi8 as 2x1x2x1x!w
        y = ConvTranspose(x, w) {dilations = array<i64: 2, 1>} : 1x1x5x4x!y"""),
    case("unknown-shape", """
        x: 1x2x3x4x!x
        w = [1, 2, 3, 4] : 2x1x2x1xi8 as 2x1x2x1x!w
        y = ConvTranspose(x, w) {output_shape = array<i64: 5, 4>} : 1x1x5x4x!y"""),
    case("window-form", """
        x: 1x2x3x4x5x!x
        w = [1, 2] : 1x2x1x1x1xi8 as 1x2x1x1x1x!w
        y = Conv(x, w) : 1x1x3x4x5x!y"""),
    case("accumulator-overflow", """
        x: 2x40000x!x
        z: 40000x3x!x
        y = MatMul(x, z) : 2x3x!y"""),
    case("empty-tensor", """
        x: 2x0x!x
        w = [] : 0x3xi8 as 0x3x!w
        y = MatMul(x, w) : 2x3x!y"""),
    case("accumulator-overflow", """
        x: 2x3x!x
        w = [1, -2, 3, 4, 5, -6] : 3x2xi8 as 3x2x!w
        b = [2147483647, -200] : 2xi32 as 2x!b
        y = Gemm(x, w, b) : 2x2x!y"""),
    case("product-form", """
        x: 2x3x!x
        z: 3x2x!w
        b = [100, -200] : 2xi32 as 2x!b
        y = Gemm(x, z, b) : 2x2x!y"""),
    case("computed-parameter", """
        x: 1x2x3x4x!x
        w: 1x2x1x1x!w
        y = Conv(x, w) : 1x1x3x4x!y"""),
    case("no-kernel", """
        x: 2x3x!x
        w = [1, -2, 3, 4, 5, -6] : 3x2xi16 as 3x2x!wide
        y = MatMul(x, w) : 2x2x!y"""),
]  # fmt: skip


@pytest.mark.parametrize("case", CASES, ids=lambda c: c.reason)
def test_the_op_stays(case: Case):
    context = full_context()
    module = parse_module(context, TYPES + text(case).removeprefix(ALIASES), "test", Path())
    LowerToTosaPass().apply(context, module)
    assert [r.blocked.id for r in remarks_of(module)] == [case.reason]
    assert "tosa." not in str(module)
