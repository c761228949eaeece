"""`rescale-bias` under `--check-numerics`, where a bias and the sums beside it cancel."""

from __future__ import annotations

from dataclasses import dataclass
from typing import Any

import numpy as np
import pytest
from guard_cases import Case, last_op, parsed, text
from xdsl.context import Context
from xdsl.dialects.builtin import ModuleOp

from qdialect import numerics
from qdialect.checking.numerics_check import check_passes
from qdialect.dialects.onnx_base import ConstantOp, OnnxOp
from qdialect.dialects.onnx_tensor import from_array
from qdialect.dialects.onnx_types import quantized_of, uniform_of
from qdialect.dialects.quant import Storage, UniformType
from qdialect.ir.values import known_array
from qdialect.numerics import folding
from qdialect.reasons import Blocked
from qdialect.rewriting.remarks import remarks_of
from qdialect.transforms.rescale_bias import RescaleBiasPass, counted_bias, refined_weight

CANCELS = """
func.func @main(%x: tensor<1x4xui8>) -> tensor<1x2xf32> {
  %q = quant.scast %x : tensor<1x4xui8> to tensor<1x4x!quant.uniform<u8:f32, 0.0078125:125>>
  %w = onnx.Constant() {value = #onnx.tensor<[100, -7, 1, 90, 100, 3, 0, 1] : tensor<4x2xi8>>}
    : () -> tensor<4x2x!quant.uniform<i8:f32, 0.00390625>>
  %b = onnx.Constant() {value = #onnx.tensor<[0.51577, -0.0159] : tensor<2xf32>>} : () -> tensor<2xf32>
  %y = onnx.Gemm(%q, %w, %b) : (tensor<1x4x!quant.uniform<u8:f32, 0.0078125:125>>,
    tensor<4x2x!quant.uniform<i8:f32, 0.00390625>>, tensor<2xf32>) -> tensor<1x2xf32>
  func.return %y : tensor<1x2xf32>
}
"""
"""A step of the sums is 2^-15."""


@dataclass(frozen=True)
class OffPass(RescaleBiasPass):
    """The bias is off by some steps."""

    steps: int = 0

    def apply(self, ctx: Context, op: ModuleOp) -> None:
        super().apply(ctx, op)
        for one in op.walk():
            type = quantized_of(one.results[0].type) if isinstance(one, ConstantOp) else None
            array = known_array(one.results[0]) if type is not None and type.storage.width == 32 else None
            if array is not None:
                one.properties["value"] = from_array(array + np.int32(self.steps))


@pytest.mark.parametrize(("steps", "is_beyond"), [(0, False), (1, True)])
def test_half_a_step_of_the_sums_is_close(steps: int, is_beyond: bool):
    """It is more than 1e-4 of what is left: the first sum is -16,900 steps, its bias 16,900.75."""
    _, module = parsed(CANCELS)
    x = np.array([[5, 125, 76, 125]], np.uint8)
    finding = check_passes(module, [OffPass(steps=steps)], [{"input_0": x}])
    assert (finding is not None) == is_beyond
    assert any(isinstance(o, ConstantOp) and "i32" in str(o.results[0].type) for o in module.walk())


ONE = UniformType.per_tensor(Storage.of("u8"), np.float32(1))


WEIGHTS = UniformType.per_tensor(Storage.of("i8"), np.float32(1))


def applied(rewrite: Any, body: str, aliases: str = "") -> ModuleOp:
    context, module = parsed(aliases + text(Case("", "", body)))
    rewrite.apply(context, module)
    module.verify()
    return module


GEMM = """
    x: 1x1x!one
    w = [{0}] : 1x1xi8 as 1x1x!t
    y = Gemm(x, w) : 1x1xf32"""


@pytest.mark.parametrize(("weight", "counted"), [(1, True), (2, False)])
def test_a_sum_is_as_large_as_int32(weight: int, counted: bool):
    """255 and a bias of 2147483392 make 2**31 - 1."""
    op = last_op(GEMM.format(weight))
    result = counted_bias(op, ONE, WEIGHTS, np.array([[weight]], np.int8), np.array([2147483392], np.float32))
    unchanged = not isinstance(result, Blocked) and result.weight is None
    assert unchanged is counted


@pytest.mark.parametrize(("more", "widened"), [(0, False), (128, True)])
def test_only_a_bias_beyond_its_share_widens_a_weight(
    more: int, widened: bool, monkeypatch: pytest.MonkeyPatch
):
    op = last_op(GEMM.format(1))
    monkeypatch.setattr(numerics, "INT32_MAX", folding.MAX_FOLDED_BIAS + 200)
    bias = np.array([folding.MAX_FOLDED_BIAS + more], np.float32)
    result = counted_bias(op, ONE, WEIGHTS, np.ones((1, 1), np.int8), bias)
    if widened:
        assert not isinstance(result, Blocked)
        assert result.weight is not None
    else:
        assert isinstance(result, Blocked)
        assert result.id == "accumulator-overflow"
        assert str(folding.MAX_FOLDED_BIAS + 255) in result.message


def refined(values: str, bias: list[float]) -> list[float] | None:
    """The scales of two channels, 1.0 each, of such weights."""
    source = text(
        Case("", "", f"x: 1x1x!one\nw = [{values}] : 1x2xi8 as 1x2x!ones\ny = Gemm(x, w) : 1x2xf32")
    )
    _, module = parsed(f"!ones = !quant.uniform<i8:f32:1, {{1.0,1.0}}>\n{source}")
    op = next(o for o in module.walk() if isinstance(o, OnnxOp) and o.op_type == "Gemm")
    new = refined_weight(op, ONE, uniform_of(op.operands[1].type), np.array(bias, np.float32))
    return None if new is None else new[1].scales.tolist()


def test_weights_are_refined_where_a_bias_is_no_whole_number_of_steps():
    assert refined("1, 100", [2.0, 3.25]) is None
    finer = refined("1, 1", [2.0 + 2**-20, 3.0])
    assert finer is not None
    assert finer[0] < 1.0
    assert finer[1] == 1.0


def test_scales_of_zeros_change_where_a_bias_is_no_whole_number_of_steps():
    assert refined("0, 0", [2.0, 3.0]) is None
    one = refined("0, 0", [2.25, 3.0])
    assert one is not None
    assert one[0] != 1.0
    assert one[1] == 1.0
    other = refined("0, 0", [2.0, 2.5])
    assert other is not None
    assert other[0] == 1.0
    assert other[1] != 1.0
    assert refined("100, 0", [2.5, 3.0]) is None


@pytest.mark.parametrize(("scale", "rescaled"), [(0.5, True), (0.499, False)])
def test_a_bias_moves_by_half_a_step_of_the_result(scale: float, rescaled: bool):
    module = applied(RescaleBiasPass(), """
        x: 2x1x!one
        w = [100, -100] : 1x2xi8 as 1x2x!w
        b = [2.25, -3.25] : 2xf32
        y = Gemm(x, w, b) : 2x2x!y""",
        f"!w = !quant.uniform<i8:f32, 1.0>\n!y = !quant.uniform<i8:f32, {scale}>\n")  # fmt: skip
    gemm = next(op for op in module.walk() if isinstance(op, OnnxOp) and op.op_type == "Gemm")
    assert (quantized_of(gemm.operands[2].type) is not None) is rescaled
    assert [r.blocked.id for r in remarks_of(module)] == ([] if rescaled else ["bias-range"])
