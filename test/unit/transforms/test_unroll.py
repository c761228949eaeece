"""`unroll`: what it takes, the last case and the first that it leaves."""

from __future__ import annotations

import pytest
from guard_cases import ops_of, parsed

from qdialect.rewriting.remarks import remarks_of
from qdialect.transforms import get_all_passes

SCAN = """builtin.module attributes {onnx.opset_import = {ai.onnx = 17 : i64}} {
      func.func @f(%s: tensor<2xf32>, %xs: tensor<3x2xf32>) -> tensor<3x2xf32> {
        %f, %ys = onnx.Scan(%s, %xs) {num_scan_inputs = 1 : i64} body {
        ^bb0(%a: tensor<2xf32>, %b: tensor<2xf32>):
          %c = onnx.Add(%a, %b) : (tensor<2xf32>, tensor<2xf32>) -> tensor<2xf32>
          onnx.Yield(%c, %c) : (tensor<2xf32>, tensor<2xf32>) -> ()
        } : (tensor<2xf32>, tensor<3x2xf32>) -> (tensor<2xf32>, tensor<3x2xf32>)
        func.return %ys : tensor<3x2xf32>
      }
    }"""


@pytest.mark.parametrize(("most", "unrolled"), [(6, True), (5, False)])
def test_so_many_ops_are_written_for_a_loop(most: int, unrolled: bool, monkeypatch: pytest.MonkeyPatch):
    """Three steps of two ops."""
    monkeypatch.setattr("qdialect.transforms.unroll.MAX_UNROLLED_OPS", most)
    context, module = parsed(SCAN)
    get_all_passes()["unroll"]()().apply(context, module)
    assert ("Scan" not in ops_of(module)) is unrolled


def test_a_loop_without_a_state_is_unrolled():
    context, module = parsed("""builtin.module attributes {onnx.opset_import = {ai.onnx = 17 : i64}} {
      func.func @f(%xs: tensor<3x2xf32>) -> tensor<3x2xf32> {
        %ys = onnx.Scan(%xs) {num_scan_inputs = 1 : i64} body {
        ^bb0(%b: tensor<2xf32>):
          %c = onnx.Relu(%b) : (tensor<2xf32>) -> tensor<2xf32>
          onnx.Yield(%c) : (tensor<2xf32>) -> ()
        } : (tensor<3x2xf32>) -> tensor<3x2xf32>
        func.return %ys : tensor<3x2xf32>
      }
    }""")
    get_all_passes()["unroll"]()().apply(context, module)
    module.verify()
    assert ops_of(module) == "Gather Relu Gather Relu Gather Relu Unsqueeze Unsqueeze Unsqueeze Concat"


@pytest.mark.parametrize(("steps", "unrolled"), [("1", True), ("0", False), ("?", False)])
def test_a_loop_of_one_step_is_unrolled(steps: str, unrolled: bool):
    context, module = parsed(SCAN.replace("<3x2", f"<{steps}x2"))
    get_all_passes()["unroll"]()().apply(context, module)
    assert ("Scan" not in ops_of(module)) is unrolled
    assert ["unknown-shape"] * (not unrolled) == [r.blocked.id for r in remarks_of(module)]
