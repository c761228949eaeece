"""`rescale-bias` under `--check-numerics`, where a bias and the sums beside it cancel."""

from dataclasses import dataclass

import numpy as np
import pytest
from guard_cases import parsed
from xdsl.context import Context
from xdsl.dialects.builtin import ModuleOp

from qdialect.checking.numerics_check import check_passes
from qdialect.dialects.onnx_base import ConstantOp
from qdialect.dialects.onnx_tensor import from_array
from qdialect.dialects.onnx_types import quantized_of
from qdialect.ir.values import known_array
from qdialect.transforms.rescale_bias import RescaleBiasPass

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
