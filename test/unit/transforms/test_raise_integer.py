"""`raise-integer` on numbers: integer products with a rescale against the ops that they are read as."""

from __future__ import annotations

import numpy as np
import onnx
import onnx.helper as oh
import pytest
from onnx_models import onnx_model

from qdialect.api import compile
from qdialect.evaluation.session import run
from qdialect.onnx_io.exporter import export_model
from qdialect.onnx_io.importer import import_model
from qdialect.rewriting.remarks import remarks_of

RNG = np.random.default_rng(5)
Values = dict[str, np.ndarray]


def product(
    *, conv: bool, per_channel: bool, integer_bias: bool, quantized: bool, batch: bool = False
) -> onnx.ModelProto:
    """x -> Q -> *Integer [+ int32] -> Cast -> Mul [+ float] [-> Q]."""
    shape = [2, 3, 7, 5] if conv else [2, 4, 30] if batch else [4, 30]
    w = RNG.integers(-128, 128, (6, 3, 3, 2) if conv else (30, 6)).astype(np.int8)
    channels = (1, 6, 1, 1) if conv else (6,)
    constants: Values = {
        "xs": np.array(0.03, np.float32),
        "xz": np.array(117, np.uint8),
        "w": w,
        "m": RNG.uniform(2e-5, 9e-5, channels if per_channel else ()).astype(np.float32),
        "b": RNG.integers(-9000, 9000, channels).astype(np.int32),
        "c": RNG.uniform(-1, 1, channels).astype(np.float32),
        "ys": np.array(0.02, np.float32),
        "yz": np.array(131, np.uint8),
    }
    nodes = [oh.make_node("QuantizeLinear", ["x", "xs", "xz"], ["q"])]
    if conv:
        nodes.append(oh.make_node("ConvInteger", ["q", "w", "xz"], ["s"], pads=[1, 0, 2, 1]))
    else:
        nodes.append(oh.make_node("MatMulInteger", ["q", "w", "xz"], ["s"]))
    if integer_bias:
        nodes.append(oh.make_node("Add", ["s", "b"], ["t"]))
    nodes.append(oh.make_node("Cast", ["t" if integer_bias else "s"], ["f"], to=1))
    nodes.append(oh.make_node("Mul", ["f", "m"], ["g"]))
    if not integer_bias:
        nodes.append(oh.make_node("Add", ["g", "c"], ["h"]))
    if quantized:
        nodes.append(oh.make_node("QuantizeLinear", ["g" if integer_bias else "h", "ys", "yz"], ["y"]))
    else:
        nodes[-1].output[0] = "y"
    used = {i for n in nodes for i in n.input}
    return onnx_model(
        nodes,
        {"x": (1, shape)},
        {"y": (2 if quantized else 1, None)},
        {k: v for k, v in constants.items() if k in used},
    )


@pytest.mark.parametrize("conv", [True, False])
@pytest.mark.parametrize("per_channel", [True, False])
@pytest.mark.parametrize("integer_bias", [True, False])
@pytest.mark.parametrize("quantized", [True, False])
@pytest.mark.parametrize("form", ["qoperator", "qdq"])
def test_each_form_writes_integer_products(
    conv: bool, per_channel: bool, integer_bias: bool, quantized: bool, form: str
):
    original = product(conv=conv, per_channel=per_channel, integer_bias=integer_bias, quantized=quantized)
    module = import_model(onnx.ModelProto.FromString(original.SerializeToString()))
    compile(module, "onnxruntime" if form == "qoperator" else "generic", form)
    proto = export_model(module)
    ops = {n.op_type for n in proto.graph.node}
    if form == "qdq":
        assert ops == {"QuantizeLinear", "DequantizeLinear", "Conv" if conv else "Gemm"}
    elif quantized:
        folds = {"Transpose", "Reshape"}  # pixels become channels where that is faster
        assert ops - folds == {"QuantizeLinear", "QLinearConv" if conv else "QGemm"}
    elif conv:
        assert "ConvInteger" in ops
    _check(original, proto)


def _check(original: onnx.ModelProto, proto: onnx.ModelProto) -> None:
    shape = [d.dim_value for d in original.graph.input[0].type.tensor_type.shape.dim]
    feeds = {"x": RNG.normal(0, 1.5, shape).astype(np.float32)}
    a, b = run(original, feeds)[0], run(proto, feeds)[0]
    assert a.shape == b.shape
    if a.dtype.kind == "f":
        assert np.abs(a - b).max() <= 1e-4 * np.abs(a).max()
    else:
        assert len(np.unique(a)) > 10
        assert np.abs(a.astype(int) - b.astype(int)).max() <= 1


def test_batch_of_matrices_keeps_its_float_bias_as_an_add():
    original = product(conv=False, per_channel=True, integer_bias=False, quantized=False, batch=True)
    module = import_model(onnx.ModelProto.FromString(original.SerializeToString()))
    compile(module, "generic")
    proto = export_model(module)
    assert [n.op_type for n in proto.graph.node][-2:] == ["MatMul", "Add"]
    _check(original, proto)


def test_run_time_scale_stays_and_says_so():
    original = product(conv=False, per_channel=False, integer_bias=False, quantized=False)
    nodes = original.graph.node
    nodes[0].CopyFrom(oh.make_node("DynamicQuantizeLinear", ["x"], ["q", "ds", "dz"]))
    nodes[1].input[2] = "dz"
    module = import_model(onnx.ModelProto.FromString(original.SerializeToString()))
    compile(module, "onnxruntime")
    assert "run-time-scale" in {r.blocked.id for r in remarks_of(module) if r.pass_name == "raise-integer"}
    shape = [d.dim_value for d in original.graph.input[0].type.tensor_type.shape.dim]
    for gain in (1, 20):
        feeds = {"x": (gain * RNG.normal(0, 1, shape)).astype(np.float32)}
        np.testing.assert_array_equal(run(export_model(module), feeds)[0], run(original, feeds)[0])
