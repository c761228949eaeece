"""What `quantize` plans in integers is in integers in the file; what it says of the file is true of the file."""

from __future__ import annotations

import re
from collections.abc import Callable
from typing import Any

import numpy as np
import onnx
import pytest
from onnx import helper, numpy_helper
from onnx_models import onnx_model

import qdialect
from qdialect.evaluation.session import session
from qdialect.quantizer.quantize import Quantized

CHANNELS, SIZE, LAYERS, SAMPLES = 32, 14, 4, 10
INTEGER = {"QLinearConv", "ConvInteger", "QLinearMatMul", "MatMulInteger", "QGemm", "MatMulIntegerToFloat"}
FLOAT = {"Conv", "ConvTranspose", "Gemm", "MatMul"}

Nodes = list[onnx.NodeProto]
Arrays = dict[str, Any]
Bias = Callable[[int, str, Nodes, Arrays], str]


def computed_by(op: str, *shape: int) -> Bias:
    """Biases that an op computes of the input: no constant."""

    def bias(k: int, x: str, nodes: Nodes, arrays: Arrays) -> str:
        nodes.append(helper.make_node("GlobalAveragePool", [x], [f"pool{k}"]))
        arrays[f"to{k}"] = np.array(shape)
        nodes.append(helper.make_node(op, [f"pool{k}"], [f"act{k}"]))
        nodes.append(helper.make_node("Reshape", [f"act{k}", f"to{k}"], [f"bias{k}"]))
        return f"bias{k}"

    return bias


def shifted(k: int, x: str, nodes: Nodes, arrays: Arrays) -> str:
    """A constant and the mean of the input."""
    nodes.append(helper.make_node("ReduceMean", [x], [f"mean{k}"], keepdims=0))
    nodes.append(helper.make_node("Add", [f"b{k}", f"mean{k}"], [f"bias{k}"]))
    return f"bias{k}"


def masked(k: int, x: str, nodes: Nodes, arrays: Arrays) -> str:
    """One of two constants, by the sign of the mean of the input."""
    nodes.append(helper.make_node("ReduceMean", [x], [f"mean{k}"], keepdims=0))
    arrays[f"zero{k}"] = np.float32(0)
    nodes.append(helper.make_node("Greater", [f"mean{k}", f"zero{k}"], [f"is{k}"]))
    nodes.append(helper.make_node("Where", [f"is{k}", f"b{k}", f"zero{k}"], [f"bias{k}"]))
    return f"bias{k}"


def network(bias: Bias | None, of: tuple[int, ...] = (), op: str = "Conv") -> onnx.ModelProto:
    """A chain of layers with an activation each, those of `of` with another bias."""
    draw = np.random.default_rng(0)
    nodes: Nodes = []
    arrays: Arrays = {}
    x = "x"
    for k in range(LAYERS):
        arrays[f"w{k}"] = (draw.normal(size=(CHANNELS, CHANNELS, 3, 3)) / 17).astype(np.float32)
        arrays[f"b{k}"] = draw.normal(size=CHANNELS).astype(np.float32) / 8
        b = bias(k, x, nodes, arrays) if bias is not None and k in of else f"b{k}"
        nodes.append(helper.make_node(op, [x, f"w{k}", b], [f"c{k}"], f"layer{k}", pads=[1] * 4))
        nodes.append(helper.make_node("Relu", [f"c{k}"], [f"r{k}"], f"relu{k}"))
        x = f"r{k}"
    shape = [1, CHANNELS, SIZE, SIZE]
    return onnx_model(nodes, {"x": shape}, {x: shape}, arrays)


def samples() -> list[dict[str, Any]]:
    draw = np.random.default_rng(1)
    return [{"x": draw.normal(size=(1, CHANNELS, SIZE, SIZE)).astype(np.float32)} for _ in range(SAMPLES)]


def quantized(model: onnx.ModelProto, **options: Any) -> Quantized:
    return qdialect.quantize(model, samples(), range="minmax", rounding="nearest", **options)


def counted(done: Quantized) -> tuple[int, int]:
    """Layers in integers and in float of the result, as its nodes say."""
    kinds = [node.op_type for node in qdialect.to_model(done.module).graph.node]
    return sum(kind in INTEGER for kind in kinds), sum(kind in FLOAT for kind in kinds)


def check(done: Quantized) -> None:
    """The lines agree with each other and with the nodes, and no node in float reads a pair of casts."""
    model = qdialect.to_model(done.module)
    integer, floating = counted(done)
    lines = [*done.summary(), *str(done.report).splitlines()]
    assert (done.integer, done.layers) == (integer, integer + floating)
    if not done.floating:
        assert any(line.startswith(f"{integer} of {integer + floating} layers in integers") for line in lines)
    said = next((int(m[1]) for line in lines if (m := re.match(r"float: (\d+) layer", line))), 0)
    assert said == floating
    makers = {name: node for node in model.graph.node for name in node.output}
    for node in model.graph.node:
        if node.op_type == "DequantizeLinear":
            above = makers.get(node.input[0])
            assert above is None or above.op_type != "QuantizeLinear"


BIASES = {
    "sigmoid": computed_by("Sigmoid", CHANNELS),
    "tanh": computed_by("Tanh", CHANNELS),
    "neg": computed_by("Neg", -1),
    "abs": computed_by("Abs", CHANNELS),
    "softplus": computed_by("Softplus", -1),
    "shifted": shifted,
    "masked": masked,
}


@pytest.mark.parametrize("of", [(1,), (0, 2), (0, 1, 2, 3)], ids=str)
@pytest.mark.parametrize("bias", BIASES.values(), ids=BIASES)
def test_a_layer_without_an_integer_form_is_not_planned_as_one(bias: Bias, of: tuple[int, ...]):
    """It was: "4 of 4 layers in integers" above "integers: 0 %", with casts around each float convolution."""
    model = network(bias, of)
    done = quantized(model)
    check(done)
    assert counted(done)[1] >= len(of)
    feeds = samples()[0]
    for optimize in (False, True):
        results = [
            session(one.SerializeToString(), optimize).run(None, feeds)[0]
            for one in (model, qdialect.to_model(done.module))
        ]
        noise = np.square(results[0] - results[1]).sum() / np.square(results[0]).sum()
        assert noise < 1e-2


@pytest.mark.parametrize("target", ["openvino", "tensorrt", "generic"])
@pytest.mark.parametrize("of", [(1,), (0, 2)], ids=str)
def test_a_layer_without_an_integer_form_is_left_without_casts(target: str, of: tuple[int, ...]):
    done = quantized(network(shifted, of), target=target)
    assert done.integer == LAYERS - len(of)
    assert f"{done.integer} of {LAYERS} layers in integers" in "\n".join(done.summary())
    assert f"float: {len(of)} layer" in str(done.report)


def test_a_reason_is_given_for_each_layer_that_was_planned_again():
    done = quantized(network(shifted, (1,)))
    (line,) = [line for line in done.summary() if "planned again" in line]
    assert "'layer1'" in line
    assert "[float-operand]" in line
    assert "excludes it" not in str(done.report)  # --keep-float, which nobody gave


def test_a_model_whose_gain_had_no_integer_form_says_so():
    done = quantized(network(shifted, (0, 1, 2, 3)))
    assert "has no integer form: 'layer" in done.floating
    assert done.integer == 0


@pytest.mark.parametrize("form", ["qoperator", "qdq", "integer", None])
def test_the_summary_counts_what_the_verdict_counts(form: str | None):
    done = quantized(network(None), form=form)
    assert (done.integer, done.layers) == (LAYERS, LAYERS)
    assert "float: " not in str(done.report)


def test_layers_between_pairs_are_none_in_integers():
    """`exact` takes no kernel that may differ by a step, so the runtime has to fuse the pairs."""
    done = quantized(network(None), exactness="exact")
    assert (done.integer, done.layers) == (0, LAYERS)
    assert f"0 of {LAYERS} layers in integers, {LAYERS} in float between pairs" in done.summary()[0]


def test_a_layer_kept_for_its_noise_is_none_that_an_option_excludes():
    """The verdict said "--keep-float excludes it", which nobody had given."""
    done = quantized(network(None), max_drop="38dB")
    assert done.integer < LAYERS
    assert "[noisy-layer]" in str(done.report)
    assert "excludes it" not in str(done.report)


# --- integer inputs and outputs


def ends(done: Quantized) -> tuple[set[int], set[int]]:
    graph = qdialect.to_model(done.module).graph
    return (
        {one.type.tensor_type.elem_type for one in graph.input},
        {one.type.tensor_type.elem_type for one in graph.output},
    )


KEPT = ("", "layer1", "layer0", f"layer{LAYERS - 1},relu{LAYERS - 1}", "layer0,layer3", "layer*")


@pytest.mark.parametrize("target", ["onnxruntime", "openvino"])
@pytest.mark.parametrize("kept", KEPT)
def test_inputs_and_outputs_are_integers_or_a_line_says_why(kept: str, target: str):
    """`quantize --integer-io` left both in float where the first and last layers stayed there, without a word."""
    names = [name for name in kept.split(",") if name]
    done = quantized(network(None), integer_io=True, keep_float=names, target=target)
    verdict = str(done.report)
    for kinds, name in zip(ends(done), ("x", f"r{LAYERS - 1}"), strict=True):
        is_float = kinds == {onnx.TensorProto.FLOAT}
        assert (f"'{name}' stays float: " in verdict) == is_float
        assert (f"'{name}' holds integers: " in verdict) != is_float
    if not kept:
        assert "stays float" not in verdict


def test_an_input_is_in_integers_though_the_first_layer_is_faster_in_float():
    """A first layer of three channels: its input is quantized all the same, since the caller asks for that."""
    draw = np.random.default_rng(2)
    model = network(None)
    first = numpy_helper.from_array((draw.normal(size=(CHANNELS, 3, 3, 3)) / 5).astype(np.float32), "w0")
    model.graph.initializer[0].CopyFrom(first)
    model.graph.input[0].type.tensor_type.shape.dim[1].dim_value = 3
    rows = [{"x": row["x"][:, :3]} for row in samples()]
    done = qdialect.quantize(model, rows, range="minmax", rounding="nearest", integer_io=True)
    assert not ends(done)[0] & {onnx.TensorProto.FLOAT}
