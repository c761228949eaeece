"""unify-scales changes no number: rounding commutes with choosing and joining, ties and saturation included."""

from pathlib import Path

import numpy as np
import pytest
from guard_cases import full_context

from qdialect.evaluation import session as oracle
from qdialect.onnx_io.exporter import export_model
from qdialect.text.assembly import parse_module
from qdialect.transforms.lower_to_qdq import LowerToQdqPass
from qdialect.transforms.unify_scales import UnifyScalesPass

U8, I8, RESULT = (f"!quant.uniform<{p}>" for p in ("u8:f32, 0.05:7", "i8:f32, 0.02:-13", "i8:f32, 0.037:5"))
TEXT = """
!a = tensor<256x4xU8>
!b = tensor<256x4xI8>
!r = tensor<SHAPExRESULT>
builtin.module attributes {onnx.ir_version = 8 : i64, onnx.opset_import = {ai.onnx = 17 : i64}} {
  func.func @main(
      %x: tensor<256x4xf32> {onnx.name = "x"}, %y: tensor<256x4xf32> {onnx.name = "y"}) -> tensor<SHAPExf32> {
    %a = quant.qcast %x : tensor<256x4xf32> to !a
    %b = quant.qcast %y : tensor<256x4xf32> to !b
    %c = onnx.OP : (!a, !b) -> !r
    %d = quant.dcast %c : !r to tensor<SHAPExf32>
    func.return %d : tensor<SHAPExf32>
  }
}
"""


def result(op: str, shape: str, unify: bool) -> np.ndarray:
    context = full_context()
    text = TEXT.replace("U8", U8).replace("I8", I8).replace("RESULT", RESULT)
    text = text.replace("SHAPE", shape).replace("OP", op)
    module = parse_module(context, text, "test", Path())
    if unify:
        UnifyScalesPass().apply(context, module)
        assert str(module).count("quant.qcast") == 4
    LowerToQdqPass("generic").apply(context, module)
    rng = np.random.default_rng(7)
    # Every stored value of each operand, and multiples of both steps, where ties are.
    x = np.concatenate([np.arange(512) * 0.05 - 3, rng.integers(-300, 300, 512) * 0.0185]).astype(np.float32)
    feeds = {"x": x.reshape(256, 4), "y": rng.permutation(x).reshape(256, 4)}
    return oracle.run(export_model(module), feeds)[0]


@pytest.mark.parametrize(
    ("op", "shape"),
    [("Max(%a, %b)", "256x4"), ("Min(%a, %b)", "256x4"), ("Concat(%a, %b) {axis = 1 : i64}", "256x8")],
)
def test_no_element_differs(op: str, shape: str):
    np.testing.assert_array_equal(result(op, shape, unify=True), result(op, shape, unify=False))
