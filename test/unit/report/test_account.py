"""What each node of a model as it was read has become: the account that reports read."""

from pathlib import Path

import numpy as np
import onnx
import pytest
from onnx import helper, numpy_helper
from onnx.parser import parse_model
from onnx_models import onnx_model

import qdialect
from qdialect.promises.work import Numbers
from qdialect.report.account import Layer


def model_of(*, named: bool = True) -> onnx.ModelProto:
    """Q, DQ, Conv, BatchNormalization, Relu, Q, DQ, MatMul of a float weight; the batch is open."""
    rng = np.random.default_rng(3)
    tensors = {
        "s": np.float32(0.02),
        "z": np.uint8(131),
        "ws": np.float32(0.01),
        "w": rng.integers(-90, 90, (4, 3, 2, 1)).astype(np.int8),
        **{name: rng.uniform(0.5, 1.5, 4).astype(np.float32) for name in ("g", "b", "m", "v")},
        "u": rng.uniform(-1, 1, (5, 2)).astype(np.float32),
    }
    nodes = [
        helper.make_node("QuantizeLinear", ["x", "s", "z"], ["xq"], "quantize"),
        helper.make_node("DequantizeLinear", ["xq", "s", "z"], ["xd"], "dequantize"),
        helper.make_node("DequantizeLinear", ["w", "ws"], ["wd"], "weight"),
        helper.make_node("Conv", ["xd", "wd"], ["c"], "conv"),
        helper.make_node("BatchNormalization", ["c", "g", "b", "m", "v"], ["n"], "norm"),
        helper.make_node("Relu", ["n"], ["r"], "relu"),
        helper.make_node("QuantizeLinear", ["r", "s", "z"], ["rq"], "quantize2"),
        helper.make_node("DequantizeLinear", ["rq", "s", "z"], ["rd"], "dequantize2"),
        helper.make_node("MatMul", ["rd", "u"], ["y"], "product"),
    ]
    for node in nodes:
        node.name = node.name if named else ""
    return onnx_model(nodes, {"x": ["N", 3, 7, 5]}, {"y": ["N", 4, 6, 2]}, tensors)


def layers_of(model: onnx.ModelProto, folder: Path, **options: str) -> dict[str, Layer]:
    path = folder / "in.onnx"
    onnx.save(model, str(path))
    module = qdialect.load(path)
    report = qdialect.compile(module, **options)  # pyright: ignore[reportArgumentType]
    assert sum(len(one.became) for one in report.layers) == sum(report.after.values())
    totals = report.totals
    assert totals.macs == 4 * 6 * 5 * 6 + 4 * 6 * 2 * 5
    assert totals.is_open
    assert totals.written[Numbers.PAIRS] == totals.integer == 4 * 6 * 5 * 6
    assert totals.share_before == 0.0
    return {one.node: one for one in report.layers}


@pytest.mark.parametrize("named", [True, False])
def test_each_node_of_the_result_belongs_to_one_that_was_read(tmp_path: Path, named: bool):
    layers = layers_of(model_of(named=named), tmp_path)
    conv, norm, relu, product = (
        layers[name] for name in (("conv", "norm", "relu", "product") if named else "cnry")
    )
    assert (conv.operators, conv.integer, conv.is_float) == (("QLinearConv",), True, False)
    assert (conv.macs, conv.written) == (4 * 6 * 5 * 6, Numbers.PAIRS)
    assert [t.shape for t in conv.outputs] == [(None, 4, 6, 5)]
    [kernel] = conv.became
    assert (kernel.outputs[0].element, kernel.outputs[0].scale) == ("uint8", "0.02:131")
    assert conv.bytes == kernel.bytes > 0
    assert (norm.became, norm.into) == ((), conv.node)
    assert (relu.operators, relu.integer) == (("Max",), True)  # on the stored integers
    assert (product.operators, product.integer, product.is_float) == (
        ("DequantizeLinear", "MatMul"),
        False,
        True,
    )
    assert [r.blocked.id for r in product.reasons] == ["float-operand"]
    assert product.written is Numbers.FLOAT


def test_in_the_form_of_pairs_a_product_of_two_is_of_integers(tmp_path: Path):
    layers = layers_of(model_of(), tmp_path, target="openvino")
    assert layers["conv"].integer
    assert "Conv" in layers["conv"].operators
    assert not layers["product"].integer


def test_a_product_that_is_named_after_what_was_added_belongs_to_the_product(tmp_path: Path):
    """MatMul and the Add behind it become one Gemm, which carries the Add's name."""
    model = model_of()
    model.graph.node[-1].output[0] = "p"
    model.graph.node.append(helper.make_node("Add", ["p", "e"], ["y"], "bias"))
    model.graph.initializer.append(numpy_helper.from_array(np.ones(2, np.float32), "e"))
    layers = layers_of(model, tmp_path)
    assert "MatMul" in layers["product"].operators
    assert layers["bias"].macs is None


SIXTEEN_BITS = """<ir_version: 10, opset_import: ["" : 21]> g (float[1,1,3,3] x) => (float[1,1,3,3] y)
<float s = {0.001}, int16 z = {0}, int8[1,1,1,1] w = {3}, float t = {0.01}> {
  q = QuantizeLinear(x, s, z)
  d = DequantizeLinear(q, s, z)
  v = DequantizeLinear(w, t)
  c = Conv(d, v)
  r = Relu(c)
  p = QuantizeLinear(r, s, z)
  y = DequantizeLinear(p, s, z)
}"""


def test_a_product_of_16_bits_without_a_name_is_counted():
    """Its result is quantized in front of the Relu, and so has no name that was read."""
    report = qdialect.compile(qdialect.load(parse_model(SIXTEEN_BITS)))
    assert report.totals.macs == 9


@pytest.mark.parametrize("clamp", ["Identity", "Relu"])
def test_a_product_without_a_name_in_front_of_casts_is_counted_in_the_form_of_integers(clamp: str):
    """It is MatMulInteger or ConvInteger with ops behind it that no name was read for."""
    model = parse_model(SIXTEEN_BITS.replace("int16 z", "uint8 z").replace("Relu", clamp))
    report = qdialect.compile(qdialect.load(model), form="integer")
    assert (report.totals.macs, report.totals.integer) == (9, 9)


def test_what_quantize_did_is_told_of_the_model_as_it_came(tmp_path: Path):
    rng = np.random.default_rng(5)
    nodes = [
        helper.make_node("Conv", ["x", "w"], ["c"], "conv", pads=[1, 1, 1, 1]),
        helper.make_node("BatchNormalization", ["c", "g", "b", "m", "v"], ["n"], "norm"),
        helper.make_node("Relu", ["n"], ["y"], "relu"),
    ]
    tensors = {
        "w": rng.normal(0, 0.1, (24, 64, 3, 3)).astype(np.float32),
        **{name: rng.uniform(0.5, 1.5, 24).astype(np.float32) for name in ("g", "b", "m", "v")},
    }
    model = onnx_model(nodes, {"x": [1, 64, 20, 18]}, {"y": [1, 24, 20, 18]}, tensors)
    path = tmp_path / "float.onnx"
    onnx.save(model, str(path))
    data = [{"x": rng.normal(0, 1, (1, 64, 20, 18)).astype(np.float32)} for _ in range(8)]
    report = qdialect.quantize(path, data).report
    layers = {one.node: one for one in report.layers}
    assert list(layers) == ["conv", "norm", "relu"]
    assert layers["conv"].macs == report.totals.integer == 24 * 20 * 18 * 64 * 9
    assert layers["conv"].written is Numbers.FLOAT
    assert layers["norm"].into == "conv"
