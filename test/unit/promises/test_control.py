"""`promises.control`: the last case on one side of each bound, the first on the other."""

from __future__ import annotations

import pytest
from guard_cases import parsed

from qdialect.dialects.onnx_base import OnnxOp
from qdialect.promises.control import Carries, Slot

LOOP = """%r, %t, %u = onnx.Loop(%n, _, %x, %z) body {
    ^bb0(%i: tensor<i64>, %k: tensor<i1>, %v: tensor<2xf32>, %w: tensor<2xf32>):
      onnx.Yield(%k, %v, %w, %v) : (tensor<i1>, tensor<2xf32>, tensor<2xf32>, tensor<2xf32>) -> ()
    } : (tensor<i64>, tensor<2xf32>, tensor<2xf32>) -> (tensor<2xf32>, tensor<2xf32>, tensor<?x2xf32>)"""


SHORT_LOOP = LOOP.replace(", %w: tensor<2xf32>):", "):").replace(
    "%k, %v, %w, %v) : (tensor<i1>, tensor<2xf32>, ", "%k, %v, %v) : (tensor<i1>, "
)


SCAN = """%r, %t = onnx.Scan(%x, %m) ATTRIBUTES body {
    ^bb0(%v: tensor<2xf32>, %w: tensor<2xf32>):
      onnx.Yield(%w, %v) : (tensor<2xf32>, tensor<2xf32>) -> ()
    } : (tensor<2xf32>, tensor<?x2xf32>) -> (tensor<2xf32>, tensor<?x2xf32>)"""


ONE_SCANNED = [Slot(0, 0, 0, 0), Slot(operand=1, argument=1, stacked=True), Slot(1, yielded=1, stacked=True)]


@pytest.mark.parametrize(
    ("opset", "body", "expected"),
    [
        (17, LOOP, [Slot(0, 1, 2, 1), Slot(1, 2, 3, 2), Slot(2, yielded=3, stacked=True)]),
        (17, SHORT_LOOP, [Slot(0, 1, 2, 1)]),
        (9, SCAN.replace("ATTRIBUTES", "{num_scan_inputs = 1 : i64}"), ONE_SCANNED),
        (8, SCAN.replace("ATTRIBUTES", "{num_scan_inputs = 1 : i64}"), []),
        (17, SCAN.replace("ATTRIBUTES", ""), ONE_SCANNED),
        (17, SCAN.replace("ATTRIBUTES", "{num_scan_inputs = 0 : i64}"), [Slot(0, 0, 0, 0), Slot(1, 1, 1, 1)]),
    ],
)
def test_slots_of_a_subgraph(opset: int, body: str, expected: list[Slot]):
    """Those that a body without an argument or a value for them has not are left out."""
    _, module = parsed(
        f"builtin.module attributes {{onnx.opset_import = {{ai.onnx = {opset} : i64}}}} {{\n"
        "func.func @f(%n: tensor<i64>, %x: tensor<2xf32>, %z: tensor<2xf32>, %m: tensor<?x2xf32>) {\n"
        f"{body}\nfunc.return\n}}\n}}"
    )
    op = next(op for op in module.walk() if isinstance(op, OnnxOp))
    promise = op.get_trait(Carries)
    assert promise is not None
    assert promise.slots(op) == expected
