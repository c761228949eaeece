"""
Every reason that layout, filling and monotone ops give for casts to stay: one case for each place that gives it.

The cases are short of everything but the reason: a cast on one side of an op, and the op as the promise refuses it.
"""

# ruff: noqa: E501 -- a case a line, so that the table can be read down

from __future__ import annotations

from typing import NamedTuple

import pytest
from guard_cases import check_unmoved

from qdialect.transforms.hoist_quantize import HoistQuantizePass
from qdialect.transforms.sink_dequantize import SinkDequantizePass


class Case(NamedTuple):
    """An op of `%x`, which is dequantized, or quantized behind, with scales along `axis`; `more` are other operands."""

    op: str
    shape: str
    result: str
    axis: int | str
    reason: str
    more: str = ""


SINKS = [
    Case("Transpose(%x)", "*", "*", 0, "unknown-shape"),
    Case("Reshape(%x, %i)", "3x4", "*", 0, "unknown-shape", "2xi64"),
    Case("Reshape(%x, %i)", "?x4", "?x6", 0, "unknown-shape", "2xi64"),
    Case("Unsqueeze(%x, %i)", "*", "*", 0, "unknown-shape", "=[1] : tensor<1xi64>"),
    Case("Unsqueeze(%x, %i)", "3x4", "*", 0, "computed-parameter", "1xi64"),
    Case("Squeeze(%x, %i)", "*", "*", 0, "unknown-shape", "=[1] : tensor<1xi64>"),
    Case("Squeeze(%x)", "3x?", "*", 0, "unknown-shape"),
    Case("Squeeze(%x, %i)", "3x1", "*", 0, "computed-parameter", "1xi64"),
    Case("Slice(%x, %i, %i)", "3x4", "?x4", 0, "computed-parameter", "1xi64"),
    Case("Slice(%x, %i, %i)", "*", "*", 0, "unknown-shape", "=[1] : tensor<1xi64>"),
    Case("Slice(%x, %c, %c, %i)", "3x4", "*", 0, "computed-parameter", "1xi64"),
    Case("Slice(%x, %i, %c, %c)", "3x4", "*", 0, "invalid-op", "=[0, 0] : tensor<2xi64>"),
    Case("Slice(%x, %c, %i, %c)", "4x?", "*", 1, "unknown-shape", "=[2] : tensor<1xi64>"),
    Case("Slice(%x, %c, %i, %c)", "?x8", "*", "blocks", "unknown-shape", "=[2] : tensor<1xi64>"),
    Case("Gather(%x, %i)", "3x4", "*", 0, "unknown-shape", "*xi64"),
    Case("Gather(%x, %i)", "?x4", "1x4", 0, "unknown-shape", "=[2] : tensor<1xi64>"),
    Case("Expand(%x, %i)", "3x4", "*", 0, "unknown-shape", "2xi64"),
    Case("Unsqueeze(%x, %i)", "3x8", "*", "blocks", "computed-parameter", "1xi64"),
    Case("Slice(%x, %i, %i)", "3x8", "*", "blocks", "computed-parameter", "1xi64"),
    Case("Concat(%x, %x) {axis = 1 : i64}", "*", "*", 0, "unknown-shape"),
    Case("Compress(%x, %i)", "3x4", "?", 0, "scales-along-axis", "4xi1"),
    Case("ReduceMax(%x) {axes = array<i64: 1>}", "*", "*", 0, "unknown-shape"),
    Case("ReduceMax(%x, %i)", "3x4", "*", 0, "computed-parameter", "1xi64"),
    Case("ReduceMax(%x)", "3x4", "1x1", 0, "scales-along-axis"),
    Case("ReduceMax(%x) {axes = array<i64: 2>}", "3x4", "3x1", 0, "invalid-parameters"),
    Case("ReduceMax(%x) {axes = array<i64: -3>}", "3x4", "3x1", 0, "invalid-parameters"),
    Case("TopK(%x, %i)", "*", "*", 0, "unknown-shape", "=[1] : tensor<1xi64>"),
    Case("Pad(%x, %i)", "*", "*", 0, "unknown-shape", "=[1, 0, 0, 2] : tensor<4xi64>"),
    Case("MaxPool(%x) {kernel_shape = array<i64: 2>}", "1x2x3", "1x2x2", 2, "scales-along-axis"),
    Case("MaxUnpool(%x, %i) {kernel_shape = array<i64: 2>}", "1x2x3", "1x2x6", 2, "scales-along-axis", "1x2x3xi64"),
    Case("Resize(%x, _, %i)", "3x4", "*", 0, "unknown-shape", "2xf32"),
    Case("Resize(%x, _, %i)", "3x4", "6x4", 0, "scales-along-axis", "2xf32"),
    Case("Resize(%x, _, %i)", "3x4", "3x8", 0, "computed-parameter", "2xf32"),
    Case("Resize(%x, _, %i)", "3x4", "3x8", 0, "scales-along-axis", "=[1.125, 2.0] : tensor<2xf32>"),
    Case('Resize(%x, _, _, %i) {keep_aspect_ratio_policy = "not_larger"}', "3x4", "3x8", 0, "scales-along-axis", "2xi64"),
]  # fmt: skip

HOISTS = [
    Case("Slice(%x, %i, %i)", "5x4", "3x4", 0, "computed-parameter", "1xi64"),
    Case("ReduceMax(%x, %i)", "3x4", "3x1", 0, "computed-parameter", "1xi64"),
    Case("Concat(%x, %x) {axis = 1 : i64}", "3x3", "3x6", "blocks", "block-size"),
    Case("Reshape(%x, %i)", "*", "3x4", 0, "unknown-shape", "2xi64"),
    Case("Gather(%x, %i)", "*", "3x4", 0, "unknown-shape", "1xi64"),
    Case("Expand(%x, %i)", "*", "3x4", 0, "unknown-shape", "2xi64"),
    Case("ReduceMax(%x, %i)", "1x4", "3x4", 0, "scales-along-axis", "=[0] : tensor<1xi64>"),
    Case("Compress(%x, %i)", "4x3", "3", 0, "scales-along-axis", "12xi1"),
    Case("Split(%x) {axis = 0 : i64, num_outputs = 1 : i64}", "*", "*", 0, "unknown-shape"),
]


def element(axis: int | str) -> str:
    if axis == "blocks":
        return "!quant.uniform<i8:f32:{1:4}, {{2.0,3.0}}>"
    return f"!quant.uniform<i8:f32:{axis}, {{0.5:3,0.25:-7,0.125}}>"


def text(case: Case, *, hoists: bool) -> str:
    shape, result = f"{case.shape}x", f"{case.result}x"
    constants = ["%c = onnx.Constant() {value = #onnx.tensor<[1] : tensor<1xi64>>} : () -> tensor<1xi64>"]
    arguments, types = "", {"%c": "tensor<1xi64>", "%x": f"tensor<{shape}f32>"}
    if case.more.startswith("="):
        types["%i"] = case.more[case.more.index("tensor") :]
        constants.append(
            f"%i = onnx.Constant() {{value = #onnx.tensor<{case.more[1:]}>}} : () -> {types['%i']}"
        )
    elif case.more:
        types["%i"] = f"tensor<{case.more}>"
        arguments = f", %i: {types['%i']}"
    operands = [o.strip() for o in case.op[case.op.index("(") + 1 : case.op.index(")")].split(",")]
    signature = ", ".join(types[o] for o in operands if o != "_")
    results = f"tensor<{result}f32>"
    if case.op.startswith("TopK"):
        results = f"({results}, tensor<{result}i64>)"
    named = "%y, %n" if case.op.startswith("TopK") else "%y"
    line = f"{named} = onnx.{case.op} : ({signature}) -> {results}"
    quantized = element(case.axis)
    if hoists:
        entry, cast = (
            f"%x: tensor<{shape}f32",
            f"%r = quant.qcast %y : tensor<{result}f32> to tensor<{result}{quantized}>",
        )
        body, returned_value = [*constants, line, cast], f"%r : tensor<{result}{quantized}>"
    else:
        entry = f"%q: tensor<{shape}{quantized}"
        cast = f"%x = quant.dcast %q : tensor<{shape}{quantized}> to tensor<{shape}f32>"
        body, returned_value = [cast, *constants, line], f"%y : tensor<{result}f32>"
    returned = returned_value.split(" : ")[1]
    lines = "\n    ".join([*body, f"func.return {returned_value}"])
    return (
        "builtin.module attributes {onnx.opset_import = {ai.onnx = 18 : i64}} {\n"
        f"  func.func @f({entry}>{arguments}) -> {returned} {{\n    {lines}\n  }}\n}}"
    )


@pytest.mark.parametrize("case", SINKS, ids=str)
def test_a_dequantize_stays_above(case: Case):
    check_unmoved(text(case, hoists=False), SinkDequantizePass(), case.reason)


@pytest.mark.parametrize("case", HOISTS, ids=str)
def test_a_quantize_stays_below(case: Case):
    check_unmoved(text(case, hoists=True), HoistQuantizePass(), case.reason)
