"""
Ten rewrites made wrong on purpose, in passes of ours: `--check-numerics` names the pass, the op and the tensor of each.
"""

# ruff: noqa: E501 -- types of text, on the lines that they are of

from __future__ import annotations

from collections.abc import Callable
from pathlib import Path
from typing import Any, NamedTuple

import numpy as np
import pytest
from guard_cases import full_context
from wrong_on_purpose import FOLLOWS, Patch, promise, wrong_rounding, wrong_zero_point
from xdsl.context import Context
from xdsl.parser import Parser

from qdialect.checking.functions import check_functions
from qdialect.checking.numerics_check import BeyondClass
from qdialect.cli.opt import main as opt
from qdialect.compiler.pipeline_text import get_available_passes, parse_pipeline
from qdialect.forms import storage
from qdialect.promises.clamping import Clamp
from qdialect.promises.padding import AddsPadding
from qdialect.transforms import fold_batch_norm, fold_scales, rescale_bias
from qdialect.transforms.lower_to_qdq import LowerToQdqPass


def wrong_axis(patch: Patch) -> None:
    promise(patch, "Transpose", FOLLOWS)


def wrong_pad_value(patch: Patch) -> None:
    """Something else than what the Pad says."""

    def wrong(_: object) -> float:
        return 0.5

    patch.setattr(storage, "pad_value", wrong)


def wrong_pad_sides(patch: Patch) -> None:
    """Begin and end change places."""

    def swapped(self: AddsPadding) -> Callable[[Any], tuple[int, ...]]:
        def spatial(op: Any) -> tuple[int, ...]:
            added = self.__dict__["spatial"](op)
            return (*added[len(added) // 2 :], *added[: len(added) // 2])

        return spatial

    patch.setattr(AddsPadding, "spatial", property(swapped), raising=False)


def wrong_bias_scale(patch: Patch) -> None:
    right: Callable[..., Any] = rescale_bias.counted_bias

    def wrong(*arguments: Any) -> Any:
        counted = right(*arguments)
        return counted._replace(stored=2 * counted.stored)

    patch.setattr(rescale_bias, "counted_bias", wrong)
    patch.setattr(rescale_bias, "MAX_CHANGE_STEPS", np.inf)


def wrong_sign(patch: Patch) -> None:
    right: Callable[..., Any] = fold_batch_norm.folded_weight

    def wrong(target: Any, factor: Any, **others: Any) -> Any:
        return right(target, np.abs(factor), **others)

    patch.setattr(fold_batch_norm, "folded_weight", wrong)


def wrong_saturation(patch: Patch) -> None:
    def wrong(*_: object) -> bool:
        return True

    patch.setattr(Clamp, "is_redundant", wrong)


def wrong_scale_below(patch: Patch) -> None:
    """What was taken out of the weight above a quantize is not put into the one below it."""
    right: Callable[..., Any] = fold_scales.folded_weight
    calls: list[int] = []

    def wrong(target: Any, factor: Any, **others: Any) -> Any:
        calls.append(1)
        return right(target, factor if len(calls) == 1 else np.ones_like(factor), **others)

    patch.setattr(fold_scales, "folded_weight", wrong)


def wrong_storage(patch: Patch) -> None:
    """Casts are written without their zero point."""
    right = LowerToQdqPass.apply

    def wrong(self: LowerToQdqPass, ctx: Context, op: Any) -> None:
        right(self, ctx, op)
        for one in op.walk():
            if one.name == "onnx.QuantizeLinear":
                one.operands = (*one.operands[:2], one.parent.args[1])

    patch.setattr(LowerToQdqPass, "apply", wrong)


class Seeded(NamedTuple):
    """A wrong rewrite, the text it is tried on, and where it must be noticed."""

    wrong: Callable[[Patch], None]
    passes: str
    text: str
    op: str
    tensor: str


CASES = {
    "axis": Seeded(wrong_axis, "sink-dequantize", """
func.func @f(%q: tensor<3x3x3x!quant.uniform<u8:f32:1, {0.02:13,0.03:1,0.04:2}>>) -> tensor<3x3x3xf32> {
  %r = quant.dcast %q : tensor<3x3x3x!quant.uniform<u8:f32:1, {0.02:13,0.03:1,0.04:2}>> to tensor<3x3x3xf32>
  %t = onnx.Transpose(%r) {perm = array<i64: 1, 2, 0>} : (tensor<3x3x3xf32>) -> tensor<3x3x3xf32>
  func.return %t : tensor<3x3x3xf32>
}""", "quant.dcast", "%t"),
    "pad value": Seeded(wrong_pad_value, "sink-dequantize,lower-to-qoperator", """
func.func @f(%x: tensor<2x3xui8>) -> tensor<3x5xf32> {
  %q = quant.scast %x : tensor<2x3xui8> to tensor<2x3x!quant.uniform<u8:f32, 0.02:117>>
  %p = onnx.Constant() {value = #onnx.tensor<[0, 1, 1, 1] : tensor<4xi64>>} : () -> tensor<4xi64>
  %r = quant.dcast %q : tensor<2x3x!quant.uniform<u8:f32, 0.02:117>> to tensor<2x3xf32>
  %t = onnx.Pad(%r, %p) : (tensor<2x3xf32>, tensor<4xi64>) -> tensor<3x5xf32>
  func.return %t : tensor<3x5xf32>
}""", "onnx.Pad", "Pad_quantized"),
    "pad sides": Seeded(wrong_pad_sides, "fold-pad", """
func.func @f(%x: tensor<1x2x5x4xf32>, %w: tensor<3x2x4x3xf32>) -> tensor<1x3x6x8xf32> {
  %p = onnx.Constant() {value = #onnx.tensor<[0, 0, 1, 2, 0, 0, 3, 4] : tensor<8xi64>>} : () -> tensor<8xi64>
  %a = onnx.Pad(%x, %p) : (tensor<1x2x5x4xf32>, tensor<8xi64>) -> tensor<1x2x9x10xf32>
  %y = onnx.Conv(%a, %w) : (tensor<1x2x9x10xf32>, tensor<3x2x4x3xf32>) -> tensor<1x3x6x8xf32>
  func.return %y : tensor<1x3x6x8xf32>
}""", "onnx.Conv", "%y"),
    "bias scale": Seeded(wrong_bias_scale, "rescale-bias", """
func.func @f(%x: tensor<2x4x!quant.uniform<u8:f32, 0.5:13>>) -> tensor<2x3x!quant.uniform<u8:f32, 0.7:7>> {
  %w = onnx.Constant() {value = #onnx.tensor<[1, -2, 3, 4, -5, 6, 7, -8, 9, 1, 2, -3] : tensor<4x3xi8>>} : () -> tensor<4x3x!quant.uniform<i8:f32, 0.25:3>>
  %b = onnx.Constant() {value = #onnx.tensor<[10.0, -20.0, 30.0] : tensor<3xf32>>} : () -> tensor<3xf32>
  %y = onnx.Gemm(%x, %w, %b) : (tensor<2x4x!quant.uniform<u8:f32, 0.5:13>>, tensor<4x3x!quant.uniform<i8:f32, 0.25:3>>, tensor<3xf32>) -> tensor<2x3x!quant.uniform<u8:f32, 0.7:7>>
  func.return %y : tensor<2x3x!quant.uniform<u8:f32, 0.7:7>>
}""", "onnx.Gemm", "%y"),
    "sign of a BatchNormalization": Seeded(wrong_sign, "fold-batch-norm", """
func.func @f(%x: tensor<1x2x5x3xf32>) -> tensor<1x2x5x3xf32> {
  %w = onnx.Constant() {value = #onnx.tensor<[1, -2, 3, -128] : tensor<2x2x1x1xi8>>} : () -> tensor<2x2x1x1x!quant.uniform<i8:f32, 0.25:3>>
  %gamma = onnx.Constant() {value = #onnx.tensor<[-4.0, 2.0] : tensor<2xf32>>} : () -> tensor<2xf32>
  %beta = onnx.Constant() {value = #onnx.tensor<[0.25, -1.0] : tensor<2xf32>>} : () -> tensor<2xf32>
  %var = onnx.Constant() {value = #onnx.tensor<[3.0, 15.0] : tensor<2xf32>>} : () -> tensor<2xf32>
  %r = quant.dcast %w : tensor<2x2x1x1x!quant.uniform<i8:f32, 0.25:3>> to tensor<2x2x1x1xf32>
  %c = onnx.Conv(%x, %r) : (tensor<1x2x5x3xf32>, tensor<2x2x1x1xf32>) -> tensor<1x2x5x3xf32>
  %y = onnx.BatchNormalization(%c, %gamma, %beta, %beta, %var) {epsilon = 1.0 : f32} : (tensor<1x2x5x3xf32>, tensor<2xf32>, tensor<2xf32>, tensor<2xf32>, tensor<2xf32>) -> tensor<1x2x5x3xf32>
  func.return %y : tensor<1x2x5x3xf32>
}""", "onnx.Conv", "%y"),
    "rounding": Seeded(wrong_rounding, "fold-constants", """
func.func @f(%x: tensor<2x3xf32>) -> tensor<2x3xf32> {
  %c = onnx.Constant() {value = #onnx.tensor<[0.11, 0.29, -0.15] : tensor<3xf32>>} : () -> tensor<3xf32>
  %q = quant.qcast %c : tensor<3xf32> to tensor<3x!quant.uniform<i8:f32, 0.1:3>>
  %d = quant.dcast %q : tensor<3x!quant.uniform<i8:f32, 0.1:3>> to tensor<3xf32>
  %y = onnx.Add(%x, %d) : (tensor<2x3xf32>, tensor<3xf32>) -> tensor<2x3xf32>
  func.return %y : tensor<2x3xf32>
}""", "quant.dcast", "%d"),
    "zero point": Seeded(wrong_zero_point, "legalize", """
func.func @f(%x: tensor<2x3xf32>) -> tensor<3x2xf32> {
  %q = quant.qcast %x : tensor<2x3xf32> to tensor<2x3x!quant.uniform<i8:f32, 0.02:13>>
  %t = onnx.Transpose(%q) {perm = array<i64: 1, 0>} : (tensor<2x3x!quant.uniform<i8:f32, 0.02:13>>) -> tensor<3x2x!quant.uniform<i8:f32, 0.02:13>>
  %y = quant.dcast %t : tensor<3x2x!quant.uniform<i8:f32, 0.02:13>> to tensor<3x2xf32>
  func.return %y : tensor<3x2xf32>
}""", "quant.dcast", "%y"),
    "saturation": Seeded(wrong_saturation, "fold-activation", """
func.func @f(%x: tensor<2x3x!quant.uniform<u8:f32, 0.02:117>>) -> tensor<3x2x!quant.uniform<u8:f32, 0.02:117>> {
  %r = onnx.Relu(%x) : (tensor<2x3x!quant.uniform<u8:f32, 0.02:117>>) -> tensor<2x3x!quant.uniform<u8:f32, 0.02:117>>
  %y = onnx.Transpose(%r) {perm = array<i64: 1, 0>} : (tensor<2x3x!quant.uniform<u8:f32, 0.02:117>>) -> tensor<3x2x!quant.uniform<u8:f32, 0.02:117>>
  func.return %y : tensor<3x2x!quant.uniform<u8:f32, 0.02:117>>
}""", "onnx.Transpose", "%y"),
    "scale below": Seeded(wrong_scale_below, "fold-scales", """
func.func @f(%x: tensor<1x1x5x3xf32>) -> tensor<1x2x5x3xf32> {
  %w = onnx.Constant() {value = #onnx.tensor<[3, -5] : tensor<2x1x1x1xi8>>} : () -> tensor<2x1x1x1x!quant.uniform<i8:f32:0, {0.5,0.25}>>
  %v = onnx.Constant() {value = #onnx.tensor<[1, 2] : tensor<2x1x1x1xi8>>} : () -> tensor<2x1x1x1x!quant.uniform<i8:f32, 0.125>>
  %rw = quant.dcast %w : tensor<2x1x1x1x!quant.uniform<i8:f32:0, {0.5,0.25}>> to tensor<2x1x1x1xf32>
  %rv = quant.dcast %v : tensor<2x1x1x1x!quant.uniform<i8:f32, 0.125>> to tensor<2x1x1x1xf32>
  %c = onnx.Conv(%x, %rw) : (tensor<1x1x5x3xf32>, tensor<2x1x1x1xf32>) -> tensor<1x2x5x3xf32>
  %q = quant.qcast %c : tensor<1x2x5x3xf32> to tensor<1x2x5x3x!quant.uniform<u8:f32:1, {0.5:7,2.0:7}>>
  %d = quant.dcast %q : tensor<1x2x5x3x!quant.uniform<u8:f32:1, {0.5:7,2.0:7}>> to tensor<1x2x5x3xf32>
  %y = onnx.Conv(%d, %rv) {group = 2 : i64} : (tensor<1x2x5x3xf32>, tensor<2x1x1x1xf32>) -> tensor<1x2x5x3xf32>
  func.return %y : tensor<1x2x5x3xf32>
}""", "onnx.Conv", "%y"),
    "stored zero point": Seeded(wrong_storage, "lower-to-qdq", """
func.func @f(%x: tensor<2x3xf32>, %z: tensor<ui8>) -> tensor<2x3xf32> {
  %q = quant.qcast %x : tensor<2x3xf32> to tensor<2x3x!quant.uniform<u8:f32, 0.02:117>>
  %y = quant.dcast %q : tensor<2x3x!quant.uniform<u8:f32, 0.02:117>> to tensor<2x3xf32>
  func.return %y : tensor<2x3xf32>
}""", "onnx.DequantizeLinear", "x_quantized_dequantized"),
}  # fmt: skip


def found_in(text: str, passes: str) -> BeyondClass | None:
    """The first pass beyond its class; None if each function could be run and keeps to it."""
    context = full_context()
    module = Parser(context, text).parse_module()
    try:
        checked = check_functions(module, parse_pipeline(passes, get_available_passes()), context)
    except BeyondClass as error:
        return error
    assert checked.judged == ["f"], checked.summary()
    return None


@pytest.mark.parametrize("case", CASES.values(), ids=list(CASES))
def test_a_wrong_rewrite_is_named(case: Seeded, monkeypatch: Patch):
    assert found_in(case.text, case.passes) is None
    case.wrong(monkeypatch)
    error = found_in(case.text, f"fold-identity,{case.passes},cse")
    assert error is not None
    first = error.finding
    last = case.passes.split(",")[-1]
    assert (first.pass_name, first.difference.op, first.difference.tensor) == (last, case.op, case.tensor)
    assert str(error).startswith(f"in @f, pass '{last}'")


LIT = Path(__file__).parents[2] / "transforms"


@pytest.mark.parametrize(
    ("file", "passes"),
    [
        ("fold-scales.mlir", "fold-scales"),
        ("fold-batch-norm.mlir", "fold-batch-norm"),
        ("fold-pad.mlir", "fold-pad"),
        ("rescale-bias.mlir", "rescale-bias"),
        ("integer-io.mlir", "integer-io"),
    ],
)
def test_a_file_of_functions_is_judged_one_by_one(file: str, passes: str, capfd: pytest.CaptureFixture[str]):
    assert opt([str(LIT / file), "--split-input-file", "-p", passes, "--check-numerics"]) == 0
    out, err = capfd.readouterr()
    assert "func.func" in out
    assert all(line.startswith("check-numerics: every pass keeps its class in ") for line in err.splitlines())
