"""`--weights int4`: what is written, and what is left of the signal."""

from __future__ import annotations

from pathlib import Path
from typing import Any

import numpy as np
import onnx
import onnx.parser
import onnxruntime as ort
import pytest
from onnx import helper, numpy_helper
from onnx_models import onnx_model

import qdialect
from qdialect.compiler.options import Options
from qdialect.errors import UserError
from qdialect.onnx_io.importer import import_model
from qdialect.quantizer.quantize import Calibration, quantize_module
from qdialect.quantizer.weight_only import WeightFormat, parse_weights

INPUTS, HIDDEN, OUTPUTS = 80, 48, 10


def model() -> onnx.ModelProto:
    """A product, an activation, a Gemm with its weight the other way round."""
    draw = np.random.default_rng(0)
    arrays = {
        "w1": draw.normal(size=(INPUTS, HIDDEN)).astype(np.float32),
        "w2": draw.normal(size=(OUTPUTS, HIDDEN)).astype(np.float32),
        "b2": draw.normal(size=OUTPUTS).astype(np.float32),
    }
    nodes = [
        helper.make_node("MatMul", ["x", "w1"], ["h"], "first"),
        helper.make_node("Relu", ["h"], ["r"], "relu"),
        helper.make_node("Gemm", ["r", "w2", "b2"], ["y"], "second", transB=1),
    ]
    return onnx_model(nodes, {"x": ["n", INPUTS]}, {"y": ["n", OUTPUTS]}, arrays)


def data(count: int = 90) -> list[dict[str, Any]]:
    draw = np.random.default_rng(1)
    mix = draw.normal(size=(INPUTS // 4, INPUTS))
    x = draw.normal(size=(count, INPUTS // 4)) @ mix + 0.2 * draw.normal(size=(count, INPUTS))
    return [{"x": row[None].astype(np.float32)} for row in x]


@pytest.mark.parametrize("block", [16, 32])
@pytest.mark.parametrize("target", ["onnxruntime", "generic"])
def test_the_file_runs_and_gptq_pays(block: int, target: str, tmp_path: Path) -> None:
    original = model().SerializeToString()
    float_results = [_run(original, feeds) for feeds in data()]
    noises: list[float] = []
    for feeds in (data(), data(1)):
        module = import_model(model())
        calibration = Calibration(weights=f"int4,block={block}")
        done = quantize_module(module, feeds, calibration, Options(target=target))
        assert "2 of 2 layers with weights of 4 bits" in done.summary()[0]
        path = tmp_path / "out.onnx"
        qdialect.save(module, str(path))
        written = onnx.load(path)
        kinds = {node.op_type for node in written.graph.node}
        fits = target == "onnxruntime" and INPUTS % block == 0  # the kernel wants whole blocks
        assert ("MatMulNBits" if fits else "DequantizeLinear") in kinds
        results = [_run(path.read_bytes(), one) for one in data()]
        error = sum(float(np.square(a - b).sum()) for a, b in zip(float_results, results, strict=True))
        noises.append(error / sum(float(np.square(a).sum()) for a in float_results))
    assert noises[0] < 10**-1.5
    assert noises[0] < 0.6 * noises[1]


def deep(layers: int = 6) -> onnx.ModelProto:
    """Products behind each other."""
    draw = np.random.default_rng(5)
    sizes = [INPUTS, *[HIDDEN] * (layers - 1), OUTPUTS]
    arrays = {
        f"w{k}": (draw.normal(size=sizes[k : k + 2]) / np.sqrt(sizes[k])).astype(np.float32)
        for k in range(layers)
    }
    nodes: list[onnx.NodeProto] = []
    for k in range(layers):
        source, result = f"r{k}" if k else "x", "y" if k == layers - 1 else f"p{k}"
        nodes.append(helper.make_node("MatMul", [source, f"w{k}"], [result], f"product{k}"))
        if result != "y":
            nodes.append(helper.make_node("LeakyRelu", [result], [f"r{k + 1}"], f"relu{k}"))
    return onnx_model(nodes, {"x": ["n", INPUTS]}, {"y": ["n", OUTPUTS]}, arrays)


def _noise(model: onnx.ModelProto, rounding: str | None) -> tuple[float, list[str], bytes]:
    """Signal to noise in dB on samples that `quantize` does not see, the log, the file."""
    rows = data(240)
    done = qdialect.quantize(model, rows[:120], weights="int4", rounding=rounding)
    written = qdialect.to_model(done.module).SerializeToString()
    pairs = [(_run(model.SerializeToString(), one), _run(written, one)) for one in rows[120:]]
    signal, noise = (sum(float(np.square(a - b * k).sum()) for a, b in pairs) for k in (0, 1))
    return float(10 * np.log10(signal / noise)), done.log, written


def test_later_layers_compensate_the_errors_of_those_before_them() -> None:
    plain, _, _ = _noise(deep(), "gptq")
    better, log, written = _noise(deep(), None)
    assert better > plain + 0.5
    assert log[-1].startswith("errors of inputs compensated: ")
    assert "not used" not in log[-1]
    assert "with the error of its inputs" not in log[0]  # nothing is before it
    assert all("with the error of its inputs" in line for line in log[2:-1])
    assert _noise(deep(), None)[2] == written


def test_the_first_layer_alone_has_no_error_to_compensate() -> None:
    plain, log, written = _noise(deep(1), None)
    assert len(log) == 1
    assert _noise(deep(1), "gptq") == (plain, log, written)


def _run(model: bytes, feeds: dict[str, Any]) -> Any:
    return ort.InferenceSession(model).run(None, feeds)[0]


def test_what_the_flag_says() -> None:
    assert parse_weights("int8") == WeightFormat()
    assert parse_weights("int4") == WeightFormat(4, 32)
    assert parse_weights("int4,block=128") == WeightFormat(4, 128)


@pytest.mark.parametrize("text", ["int3", "int4,block=", "int4,block=5", "int8,block=32", ""])
def test_what_it_cannot_say(text: str) -> None:
    with pytest.raises(UserError):
        parse_weights(text)


REFUSED = """<ir_version: 10, opset_import: ["" : 21]> g (float[32,4] x) => (float[4,3] y)
<float s = {0.02}, int8 z = {3}> {
  q = QuantizeLinear(x, s, z)
  d = DequantizeLinear(q, s, z)
  t = Transpose<perm = [1, 0]>(d)
  r = Relu(t)
  y = MatMul(r, w)
}"""
"""A session moves the dequantize below the Transpose, and there quantizes to i8 what it takes for u8."""


@pytest.mark.parametrize("weights", ["int8", "int4"])
def test_a_model_is_quantized_that_a_default_session_refuses(weights: str):
    draw = np.random.default_rng(2)
    source = onnx.parser.parse_model(REFUSED)
    source.graph.initializer.append(
        numpy_helper.from_array(draw.normal(size=(32, 3)).astype(np.float32), "w")
    )
    with pytest.raises(Exception, match="does not match y_zero_point"):
        ort.InferenceSession(source.SerializeToString())
    rows = [{"x": draw.normal(size=(32, 4)).astype(np.float32)} for _ in range(3)]
    result = qdialect.quantize(source, rows, weights=weights)
    assert result.layers == 1
    if weights == "int4":
        assert result.integer == 1
        assert result.ratio > 12
        ort.InferenceSession(qdialect.to_model(result.module).SerializeToString())
