"""`fold-activation` on numbers: what goes would have changed no integer."""

from __future__ import annotations

import numpy as np
import pytest
from test_promises import Feeds, module, outputs, parameters, quantized, stored_values
from xdsl.context import Context

from qdialect.transforms.fold_activation import FoldActivationPass

KEEPING = {
    "Abs": "",
    "Elu": "",
    "LeakyRelu": "",
    "ThresholdedRelu": " {alpha = 0.01 : f32}",
    "Shrink": " {lambd = 0.01 : f32}",
    "HardSigmoid": " {alpha = 1.0 : f32, beta = 0.0 : f32}",
    "Relu": "",
}


@pytest.mark.parametrize("op", KEEPING)
def test_an_activation_that_goes_changes_no_bit(op: str):
    """Between casts of one type, for all types of the table."""
    body, results = "", dict[str, str]()
    arguments = {"u8": "tensor<256xui8>", "i8": "tensor<256xi8>"}
    feeds: Feeds = {storage: stored_values(storage, (256,), 0) for storage in arguments}
    for n, (storage, zero_point, scale) in enumerate(
        [*parameters(None), ("u8", 0, 1 / 255), ("i8", -128, 1e-3)]
    ):
        type, plain = f"tensor<256x{quantized(storage, None, (256,), scale, zero_point)}>", arguments[storage]
        body += f"%q{n} = quant.scast %{storage} : {plain} to {type}\n"
        body += f"%y{n} = onnx.{op}(%q{n}){KEEPING[op]} : ({type}) -> {type}\n"
        body += f"%z{n} = quant.scast %y{n} : {type} to {plain}\n"
        results[f"z{n}"] = plain
    before = module(arguments, body, results)
    after = before.clone()
    FoldActivationPass().apply(Context(), after)
    left = [sum(o.name == f"onnx.{op}" for o in m.walk()) for m in (before, after)]
    assert 0 < left[1] < left[0] or (op == "HardSigmoid" and left[1] == left[0] - 1)
    for a, b in zip(outputs(before, feeds, False), outputs(after, feeds, False), strict=True):
        np.testing.assert_array_equal(a, b)
