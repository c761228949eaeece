"""Functions of one operand as arithmetic, on numbers, and in quantized models."""

from __future__ import annotations

from typing import Any

import numpy as np
import onnx
import onnx.parser
import pytest
from onnx import numpy_helper

import qdialect
from qdialect.evaluation.session import run
from qdialect.onnx_io.exporter import export_model

FAR = np.logspace(-30, 30, 300)
NUMBERS = np.concatenate([np.linspace(-30, 30, 8001), FAR, -FAR, [0.0, -0.0, np.inf, -np.inf]]).astype(
    np.float32
)


@pytest.mark.parametrize(
    "function",
    [
        "Softplus(x)",
        "Mish(x)",
        "Elu(x)",
        "Elu<alpha=0.5>(x)",
        "Celu<alpha=0.7>(x)",
        "Celu(x)",
        "Selu(x)",
        "Selu<alpha=2.0, gamma=3.0>(x)",
    ],
)
def test_the_parts_of_a_slow_function_compute_it(function: str) -> None:
    """To float rounding, also at infinity; compiled twice they are the same."""
    size = len(NUMBERS)
    text = f"g (float[{size}] x) => (float[{size}] y) {{ y = {function} }}"
    model = onnx.parser.parse_model(f'<ir_version: 8, opset_import: ["" : 18]> {text}')
    compiled = _compiled(model)
    assert len(compiled.graph.node) >= 4
    (wanted,), (result,) = (run(m, {"x": NUMBERS}) for m in (model, compiled))
    np.testing.assert_allclose(result, wanted, rtol=5e-7, atol=5e-7)
    assert _compiled(compiled) == compiled


@pytest.mark.parametrize("options", [{"exactness": "exact"}, {"target": "tensorrt"}, {"form": "qdq"}])
def test_a_slow_function_stays_whole(options: dict[str, Any]) -> None:
    text = "g (float[9000] x) => (float[9000] y) { y = Softplus(x) }"
    model = onnx.parser.parse_model(f'<ir_version: 8, opset_import: ["" : 18]> {text}')
    module = qdialect.load(model)
    qdialect.compile(module, **options)
    assert [n.op_type for n in export_model(module).graph.node] == ["Softplus"]


def test_parts_need_operands_that_broadcast() -> None:
    text = "g (float[9000] x) => (float[9000] y) { y = Softplus(x) }"
    model = onnx.parser.parse_model(f'<ir_version: 3, opset_import: ["" : 7]> {text}')
    assert [n.op_type for n in _compiled(model).graph.node] == ["Softplus"]


@pytest.mark.parametrize(("size", "apart"), [(32, True), (4, False)])
def test_a_model_that_stays_in_float_has_the_parts(size: int, apart: bool) -> None:
    """1,024 elements and more of a sample: measured 2.2 times as fast for a network with Mish."""
    weight = numpy_helper.from_array(np.ones((1, 1, 1, 1), np.float32), "w")
    shape = f"float[N,1,{size},{size}]"
    text = f"g ({shape} x) => ({shape} y) <float[1,1,1,1] w = {{1}}> {{ c = Conv(x, w) y = Softplus(c) }}"
    model = onnx.parser.parse_model(f'<ir_version: 8, opset_import: ["" : 17]> {text}')
    model.graph.initializer[0].CopyFrom(weight)
    data = np.random.default_rng(0).normal(size=(4, 1, size, size)).astype(np.float32)
    report = qdialect.quantize(model, [{"x": data}])
    ops = [n.op_type for n in export_model(report.report.module).graph.node]
    assert ("Softplus" not in ops) is apart


def _compiled(model: onnx.ModelProto) -> onnx.ModelProto:
    module = qdialect.load(model)
    qdialect.compile(module)
    return export_model(module)
