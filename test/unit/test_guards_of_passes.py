"""
Reasons of passes for what is short to write and rare in models: one case for each place that gives one.

A case is the body of a function: inputs `x: 3x4xf32`, constants `k = [1.0] : f32`, ops `y = Add(x, k) : 3x4xf32`, and
casts `q = qcast x : 3x4x!u`. Its last line makes the result, which stays as it is.
"""

from __future__ import annotations

import re
from pathlib import Path
from typing import Any, NamedTuple

import pytest
from xdsl.context import Context

from qdialect.ops import get_all_dialects
from qdialect.rewriting.remarks import remarks_of
from qdialect.text.assembly import parse_module
from qdialect.transforms import get_all_passes

ALIASES = """
!u = !quant.uniform<u8:f32, 0.02:13>
!s = !quant.uniform<i8:f32, 0.5:-3>
!t = !quant.uniform<i8:f32, 0.25>
!one = !quant.uniform<u8:f32, 1.0>
!rows = !quant.uniform<i8:f32:0, {0.5:3,0.25:-7,0.125}>
!columns = !quant.uniform<i8:f32:1, {0.5:3,0.25:-7,0.125}>
!like = !quant.uniform<i8:f32:1, {0.5:9,2.0:9}>
!four = !quant.uniform<u4:f32, 0.25:7>
!fours = !quant.uniform<u4:f32:0, {0.5:3,0.25:7,0.125}>
!apart = !quant.uniform<i8:f32:1, {0.5:-128,2.0:5}>
!huge = !quant.uniform<u8:f32, 1.0e+20:13>
!pair = !quant.uniform<i8:f32:0, {0.5,0.25}>
!unsigned = !quant.uniform<u8:f32:0, {0.5,0.25}>
"""


MICROSOFT = ("MatMulNBits", "NhwcMaxPool", "QLinearAdd", "QLinearLeakyRelu", "QLinearSigmoid", "QLinearWhere")


class Case(NamedTuple):
    """What a pass gives `reason` for."""

    rewrite: str
    reason: str
    body: str
    options: dict[str, Any] = {}
    opset: int = 17


def tensor(spec: str) -> str:
    return f"tensor<{spec.strip()}>"


def text(case: Case) -> str:
    """The case as a module."""
    inputs, lines, types = list[str](), list[str](), dict[str, str]()
    last = ""
    for line in filter(None, (line.strip() for line in case.body.splitlines())):
        if "=" not in line.split(":", maxsplit=1)[0]:
            name, spec = line.split(":", maxsplit=1)
            inputs.append(f"%{name}: {tensor(spec)}")
            types[name] = tensor(spec)
            continue
        names, rest = (part.strip() for part in line.split("=", maxsplit=1))
        what, spec = rest.rsplit(" : ", maxsplit=1)
        results = [tensor(one) for one in spec.split(",")]
        last = ", ".join(names.split(", ")[:1])
        given = ", ".join(f"%{n}" for n in names.split(", "))
        types |= dict(zip(names.split(", "), results, strict=True))
        if what.startswith("["):
            plain, _, typed = spec.partition(" as ")
            value = f"#onnx.tensor<{what} : {tensor(plain)}>"
            types[names] = tensor(typed or plain)
            lines.append(f"{given} = onnx.Constant() {{value = {value}}} : () -> {types[names]}")
        elif what.split()[0] in ("qcast", "dcast", "scast"):
            kind, operand = what.split()
            lines.append(f"{given} = quant.{kind} %{operand} : {types[operand]} to {results[0]}")
        else:
            called = re.fullmatch(r"(\w+)\(([^)]*)\)(.*)", what)
            assert called is not None, line
            operands = [o.strip() for o in called[2].split(",") if o.strip()]
            taken = ", ".join("_" if o == "_" else f"%{o}" for o in operands)
            signature = ", ".join(types[o] for o in operands if o != "_")
            made = results[0] if len(results) == 1 else f"({', '.join(results)})"
            dialect = "onnx_ms" if called[1] in MICROSOFT else "onnx"
            lines.append(f"{given} = {dialect}.{called[1]}({taken}){called[3]} : ({signature}) -> {made}")
    body = "\n    ".join([*lines, f"func.return %{last} : {types[last]}"])
    return (
        f"{ALIASES}builtin.module attributes {{onnx.opset_import = {{ai.onnx = {case.opset} : i64, com.microsoft = 1 : i64}}}} {{\n"
        f"  func.func @f({', '.join(inputs)}) -> {types[last]} {{\n    {body}\n  }}\n}}"
    )


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
    Case("fold-batch-norm", "computed-weight", """
        x: 1x1x5x3xf32
        w: ?x1x1x1xf32
        k = [2.0] : f32
        c = Conv(x, w) : 1x?x5x3xf32
        y = Mul(c, k) : 1x?x5x3xf32"""),
    Case("fold-batch-norm", "computed-weight", """
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
    Case("fold-batch-norm", "other-axis", """
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
    Case("fold-batch-norm", "scale-overflow", """
        x: 2x4xf32
        k = [1.0e-30] : f32
        m = Mul(x, k) : 2x4xf32
        y = qcast m : 2x4x!huge""", {"lossy": True}),
    Case("fold-batch-norm", "unknown-rank", """
        x: *xf32
        k = [2.0, 3.0] : 2xf32
        y = Mul(x, k) : *xf32"""),
    Case("fold-scales", "other-axis", """
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
    Case("sink-dequantize", "other-operand", """
        p: 3x4x!u
        a: 3x4xui8
        b: 3x4xui8
        s = scast p : 3x4xui8
        y = Max(s, a, b) : 3x4xui8"""),
    Case("sink-dequantize", "other-operand", """
        p: 3x4x!u
        a: 3x4xui8
        s = scast p : 3x4xui8
        y = Max(s, a) : 3x4xui8"""),
    Case("sink-dequantize", "computed-pad-value", """
        p: 3x4x!u
        a: ui8
        k = [1, 0, 0, 2] : 4xi64
        s = scast p : 3x4xui8
        y = Pad(s, k, a) : 4x6xui8"""),
    Case("sink-dequantize", "pad-value-per-axis", """
        p: 3x4x!rows
        k = [1, 0, 0, 2] : 4xi64
        s = scast p : 3x4xi8
        y = Pad(s, k) : 4x6xi8"""),
    Case("lower-to-qoperator", "unknown-rank", """
        p: *x!rows
        y = Relu(p) : *x!rows"""),
    Case("lower-to-qoperator", "unknown-rank", """
        p: ?x4x!u
        y = Trilu(p) : ?x4x!u"""),
    Case("lower-to-qoperator", "unknown-rank", """
        p: *x!u
        k = [2, 6] : 2xi64
        y = CenterCropPad(p, k) : *x!u""", opset=18),
    Case("lower-to-qoperator", "weight-rank", """
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
    Case("lower-to-integer", "empty-sum", """
        x: 4x0x!u
        w: 0x3x!t
        y = MatMul(x, w) : 4x3xf32"""),
    Case("lower-to-integer", "float-bias", """
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
    Case("rescale-bias", "grouped-scales", """
        x: 1x4x5x3x!u
        w: 4x3x1x1x!quant.uniform<i8:f32:1, {0.5,0.25,0.125}>
        b = [1.0, 2.0, 3.0, 4.0, 5.0, 6.0] : 6xf32
        y = ConvTranspose(x, w, b) {group = 2 : i64} : 1x6x5x3x!s"""),
    Case("fold-pad", "unknown-rank", """
        x: *xf32
        w = [1.0, 2.0, 3.0, 4.0, 5.0, 6.0] : 3x2x1x1xf32
        k = [2, 6] : 2xi64
        a = CenterCropPad(x, k) {axes = array<i64: -2, -1>} : *xf32
        y = Conv(a, w) : *xf32""", opset=18),
    Case("decompose", "activations", """
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
    Case("raise-arithmetic", "unbounded", """
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
    Case("raise-arithmetic", "zero-point-outside", """
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
    Case("raise-arithmetic", "zero-point-outside", """
        x: 3x4xf32
        lo = [20] : ui8
        hi = [200] : ui8
        q = qcast x : 3x4x!u
        i = scast q : 3x4xui8
        y = Clip(i, lo, hi) : 3x4xui8"""),
    Case("raise-arithmetic", "empty-axis", """
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
    Case("raise-integer", "scale-value", """
        x: 4x2xui8
        w = [1, -2, 3, -4, 5, -6] : 2x3xi8
        k = [-0.5] : f32
        s = MatMulInteger(x, w) : 4x3xi32
        f = Cast(s) {to = 1 : i64} : 4x3xf32
        y = Mul(f, k) : 4x3xf32"""),
    Case("raise-integer", "empty-axis", """
        x: 4x2xui8
        w: 2x0xi8
        k = [] : 0xf32
        s = MatMulInteger(x, w) : 4x0xi32
        f = Cast(s) {to = 1 : i64} : 4x0xf32
        y = Mul(f, k) : 4x0xf32"""),
    Case("raise-integer", "per-axis", """
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
    Case("raise-integer", "unknown-rank", """
        x: 4x2xui8
        w: *xi8
        k = [0.5, 0.25, 0.125] : 3xf32
        s = MatMulInteger(x, w) : 4x3xi32
        f = Cast(s) {to = 1 : i64} : 4x3xf32
        y = Mul(f, k) : 4x3xf32"""),
    Case("choose-convolution-form", "computed-weight", """
        x: 1x2x5x3x!u
        w: 3x2x1x1x!t
        y = Conv(x, w) : 1x3x5x3xf32"""),
    Case("choose-convolution-form", "unknown-rank", """
        x: 1x2x5x3x!u
        w = [1, 2, 3, 4, 5, 6] : 3x2x1x1xi8 as 3x2x1x1x!t
        y = Conv(x, w) : *xf32""", {"form": "product"}),
    Case("choose-convolution-form", "auto-pad", """
        x: 1x2x?x3x!u
        w = [1, 2, 3, 4, 5, 6] : 3x2x1x1xi8 as 3x2x1x1x!t
        y = Conv(x, w) {auto_pad = "SAME_UPPER", strides = array<i64: 2, 1>} : 1x3x?x3xf32""", {"form": "product"}),
    Case("choose-convolution-form", "computed-bias", """
        x: 1x2x5x3x!u
        b: 3xf32
        w = [1, 2, 3, 4, 5, 6] : 3x2x1x1xi8 as 3x2x1x1x!t
        y = Conv(x, w, b) : 1x3x5x3xf32""", {"form": "product"}),
    Case("raise-opset", "training-mode", """
        x: 1x2x5x3xf32
        k = [1.0, 2.0] : 2xf32
        y, m = BatchNormalization(x, k, k, k, k) : 1x2x5x3xf32, 2xf32""", opset=8),
    Case("raise-opset", "unknown-type", """
        x: *x!onnx.any
        y = Clip(x) {min = 1.0 : f32} : *x!onnx.any""", opset=10),
    Case("raise-opset", "old-form", """
        x: 1x1x2x3xf32
        y = Upsample(x) {width_scale = 2.0 : f32, height_scale = 2.0 : f32} : 1x1x4x6xf32""", opset=1),
    Case("raise-opset", "old-form", """
        x: 1x2x5x3xf32
        k: 4xf32
        y = Upsample(x, k) : *xf32""", opset=9),
    Case("raise-opset", "old-form", """
        x: 1x2x5x3xf32
        y = Custom(x) {domain = "", op_type = "Crop", attrs = {border = array<i64: 1, 2>}} : *xf32""", opset=9),
    Case("raise-opset", "old-form", """
        x: 1x2x5x3xf32
        y = GridSample(x, x) {mode = "bilinear"} : *xf32""", {"to": 20}, opset=16),
    Case("raise-qoperator", "more-inputs", """
        x: 1x5x4x3xui8
        s = [0.25] : f32
        z = [7] : ui8
        w = [1, 2, 3, 4, 5, 6] : 2x3x1x1xi8
        n = [0] : i8
        b = [1, 2] : 2xi32
        y = QLinearAdd(x, s, z, x, s, z, s, z, b) : *xui8"""),
    Case("raise-qoperator", "storage-type", """
        x: *x!onnx.any
        s = [0.25] : f32
        y = QLinearSigmoid(x, s, _, s, _) : *x!onnx.any"""),
    Case("raise-qoperator", "empty-axis", """
        x: 3x4xui8
        s = [] : 0xf32
        z = [7] : ui8
        y = QLinearSigmoid(x, s, z, s, z) : 3x4xui8"""),
    Case("raise-qoperator", "scale-type", """
        x: 3x4xui8
        s = [0.25] : f16
        z = [7] : ui8
        y = QLinearSigmoid(x, s, z, s, z) : 3x4xui8"""),
    Case("raise-qoperator", "per-axis", """
        x: 3x4xui8
        s = [0.25, 0.5, 0.125, 2.0] : 4xf32
        z = [7] : ui8
        y = QLinearSigmoid(x, s, z, s, z) : 3x4xui8"""),
    Case("raise-qoperator", "scale-count", """
        x: 1x2x5x3xui8
        s = [0.25] : f32
        z = [7] : ui8
        w = [1, 2, 3, 4, 5, 6] : 3x2x1x1xi8
        ws = [0.5, 0.25, 0.125] : 3xf32
        wz = [0, 0] : 2xi8
        y = QLinearConv(x, s, z, w, ws, wz, s, z) : 1x3x5x3xui8"""),
    Case("raise-qoperator", "unknown-rank", """
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
        y = MatMulNBits(x, w, s) {K = 16 : i64, N = 2 : i64, bits = 4 : i64, block_size = 16 : i64} : 3x2xf16""", opset=21),
    Case("raise-qoperator", "scale-type", """
        x: 3x16xf32
        w = [33, 101, 169, 237, 33, 101, 169, 237, 67, 135, 203, 15, 67, 135, 203, 15] : 2x1x8xui8
        s = [0.5, 0.25] : 2xf16
        y = MatMulNBits(x, w, s) {K = 16 : i64, N = 2 : i64, bits = 4 : i64, block_size = 16 : i64} : 3x2xf32""", opset=21),
    Case("raise-qoperator", "storage-type", """
        x: 3x16xf32
        w = [33, 101, 169, 237, 33, 101, 169, 237, 67, 135, 203, 15, 67, 135, 203, 15] : 2x1x8xui8
        s = [0.5, 0.25] : 2xf32
        y = MatMulNBits(x, w, s) {K = 16 : i64, N = 2 : i64, bits = 2 : i64, block_size = 16 : i64} : 3x2xf32""", opset=21),
    Case("raise-qoperator", "opset", """
        c: 3x4xi1
        x: 3x4xui8
        s = [0.25] : f32
        z = [7] : ui8
        y = QLinearWhere(c, x, s, z, x, s, z, s, z) : 3x4xui8""", opset=8),
    Case("fold-batch-norm", "other-axis", """
        x: 4x3xf32
        w = [1.0, 2.0, 3.0] : 3xf32
        k = [2.0] : f32
        m = Mul(x, k) : 4x3xf32
        y = Gemm(m, w) : 4x1xf32"""),
    Case("fold-batch-norm", "other-axis", """
        x: 4x3xf32
        w = [1.0, 2.0, 3.0] : 3xf32
        k = [2.0] : f32
        m = Mul(x, k) : 4x3xf32
        y = Gemm(m, w) {transB = 1 : i64} : 4x3xf32"""),
    Case("raise-opset", "old-form", """
        x: 4x3xf32
        y = Relu(x) {consumed_inputs = array<i64: 0>} : 4x3xf32""", opset=5),
    Case("raise-integer", "storage-type", """
        x: *x!onnx.any
        w = [1, -2, 3, -4, 5, -6] : 2x3xi8
        k = [0.5] : f32
        s = MatMulInteger(x, w) : 4x3xi32
        f = Cast(s) {to = 1 : i64} : 4x3xf32
        y = Mul(f, k) : 4x3xf32"""),
    Case("lower-to-qoperator", "no-kernel", """
        x: 1x2x5x3x!u
        r: 1x5xf32
        y = MaxRoiPool(x, r) {pooled_shape = array<i64: 2, 2>} : 1x2x2x2x!u"""),
]  # fmt: skip


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
    check(source, rewrite, {}, "other-region")


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
    check(FUNCTION, "raise-opset", {}, "model-functions")


def check(source: str, rewrite: str, options: dict[str, Any], reason: str):
    context = Context()
    for name, dialect in get_all_dialects().items():
        context.register_dialect(name, dialect)
    module = parse_module(context, source, "test", Path())
    before = str(module)
    get_all_passes()[rewrite]()(**options).apply(context, module)
    assert str(module) == before
    assert reason in [r.blocked.id for r in remarks_of(module)]


@pytest.mark.parametrize("case", CASES, ids=lambda c: f"{c.rewrite}:{c.reason}")
def test_nothing_moves(case: Case):
    check(text(case), case.rewrite, case.options, case.reason)
