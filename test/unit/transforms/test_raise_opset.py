"""Ops of older opsets give the same numbers as the ops of opset 13 that they become."""

from __future__ import annotations

from collections.abc import Mapping
from typing import Any

import numpy as np
import onnx
import onnxruntime as ort
import pytest
from guard_cases import Case, check_unmoved, parsed, text
from onnx import parser
from xdsl.context import Context

import qdialect
from qdialect.dialects.onnx_base import OnnxOp
from qdialect.errors import UserError
from qdialect.exactness import Exactness
from qdialect.ir.interface import main_of
from qdialect.onnx_io.exporter import export_model
from qdialect.onnx_io.importer import import_model
from qdialect.onnx_io.opsets import MAX_OPSET
from qdialect.rewriting.remarks import remarks_of
from qdialect.transforms.raise_opset import SAME_SUMS, RaiseOpsetPass

X = np.random.default_rng(3).normal(size=(2, 3, 4, 5)).astype(np.float32)

BODIES: Mapping[str, tuple[int, str]] = {
    "clip": (10, "y = Clip<min=-0.25, max=0.5>(x)"),
    "clip_below": (7, "y = Clip<min=-0.25>(x)"),
    "clip_above": (10, "y = Clip<max=0.5>(x)"),
    "clip_of_nothing": (10, "y = Clip(x)"),
    "clip_operands": (11, "k = Constant<value = float {0.5}>() y = Clip(x, , k)"),
    "dropout": (10, "y = Dropout<ratio = 0.3>(x)"),
    "pad": (10, "y = Pad<pads = [0, 1, 0, 2, 1, 0, 0, 0], value = 1.5>(x)"),
    "pad_edge": (9, 'y = Pad<pads = [0, 0, 0, 2, 0, 0, 1, 0], mode = "edge">(x)'),
    "reduce_sum": (12, "y = ReduceSum<axes = [1, -1], keepdims = 0>(x)"),
    "reduce_sum_of_all": (10, "y = ReduceSum(x)"),
    "slice": (9, "y = Slice<starts = [1, -3], ends = [2, 100], axes = [1, 3]>(x)"),
    "split": (12, "y, z = Split<axis = -1, split = [2, 3]>(x)"),
    "split_equally": (10, "y, z = Split<axis = 2>(x)"),
    "squeeze": (12, "u = Unsqueeze<axes = [0, 3]>(x) v = Add(u, u) y = Squeeze<axes = [0, 3]>(v)"),
    "squeeze_all": (10, "u = Unsqueeze<axes = [0]>(x) y = Squeeze(u)"),
    "softmax": (12, "y = Softmax(x)"),
    "softmax_last": (12, "y = Softmax<axis = 3>(x)"),
    "softmax_of_planes": (10, "y = Softmax<axis = 2>(x)"),
    "softmax_of_channels": (11, "p = GlobalAveragePool(x) y = Softmax<axis = 1>(p)"),
    "log_softmax": (12, "y = LogSoftmax<axis = -2>(x)"),
    "hardmax": (11, "y = Hardmax(x)"),
    "top_k": (9, "y, z = TopK<k = 2, axis = 2>(x)"),
    "top_k_operand": (10, "k = Constant<value = int64[1] {2}>() y, z = TopK<axis = 2>(x, k)"),
    "resize": (10, 'k = Constant<value = float[4] {1, 1, 2, 2.5}>() y = Resize<mode = "nearest">(x, k)'),
    "resize_linear": (10, 'k = Constant<value = float[4] {1, 1, 2, 2}>() y = Resize<mode = "linear">(x, k)'),
    "average_pool": (10, "y = AveragePool<kernel_shape = [2, 2], ceil_mode = 1, strides = [2, 2]>(x)"),
    "max_pool": (10, "y = MaxPool<kernel_shape = [2, 2], ceil_mode = 1, strides = [2, 2]>(x)"),
    "depth_to_space": (10, "t = Transpose<perm = [0, 2, 1, 3]>(x) y = DepthToSpace<blocksize = 2>(t)"),
    "gemm": (9, "f = Flatten<axis = 2>(x) y = Gemm<transB = 1>(f, f, f2)"),
    "arg_max": (11, "y = ArgMax<axis = -1>(x)"),
    "branches": (12, "c = Constant<value = bool {1}>() y = If(c) <then_branch = t () => (float[2,4,5,3] u) "
                     "{ s = Split<axis = 1, split = [3]>(x) u = Transpose<perm = [0, 2, 3, 1]>(s) },"
                     " else_branch = e () => (float[2,4,5,3] v) { v = Transpose<perm = [0, 2, 3, 1]>(x) }>"),
}  # fmt: skip


def session(model: onnx.ModelProto) -> Any:
    options = ort.SessionOptions()
    options.log_severity_level = 4
    options.graph_optimization_level = ort.GraphOptimizationLevel.ORT_DISABLE_ALL
    return ort.InferenceSession(model.SerializeToString(), options, providers=["CPUExecutionProvider"])


def written(opset: int, body: str) -> onnx.ModelProto:
    stored = " <float[6,6] f2 = {" + ", ".join("1" for _ in range(36)) + "}>" if "f2" in body else ""
    text = f'<ir_version: 4, opset_import: ["" : {opset}]> g (float[2,3,4,5] x) => (float[] y){stored} {{ {body} }}'
    model = parser.parse_model(text)
    for name in {output for node in model.graph.node for output in node.output} & {"m", "z"}:
        model.graph.output.add(name=name).type.tensor_type.elem_type = {"m": 9, "z": 1}[name]
    for output in model.graph.output:
        output.type.ClearField("value")
    return model


@pytest.mark.parametrize("name", BODIES)
def test_the_newer_op_gives_the_same_numbers(name: str):
    model = written(*BODIES[name])
    was = session(model).run(None, {"x": X})
    module = import_model(model)
    RaiseOpsetPass().apply(Context(), module)
    module.verify()
    raised = export_model(module)
    assert (raised.opset_import[0].version, raised.ir_version) == (13, 7)
    for old, new in zip(was, session(raised).run(None, {"x": X}), strict=True):
        np.testing.assert_array_equal(np.asarray(new), np.asarray(old))


@pytest.mark.parametrize("name", BODIES)
def test_patterns_leave_or_read_the_older_form(name: str):
    """A float model keeps its opset, so that patterns see parameters as attributes; a Pad ended in a traceback."""
    model = written(*BODIES[name])
    was = session(model).run(None, {"x": X})
    compiled = export_model(qdialect.compile(model).module)
    # 1e-6: some of the last bits of floats, which a pool or a sum adds in another order.
    for old, new in zip(was, session(compiled).run(None, {"x": X}), strict=True):
        np.testing.assert_allclose(np.asarray(new), np.asarray(old), rtol=1e-6)


UNMOVED = {
    "training-mode": (10, "y, m = Dropout<ratio = 0.3>(x)"),
    "opset": (10, "k = Constant<value = float[4] {1, 1, 0.5, 0.5}>() y = Resize(x, k)"),
}


@pytest.mark.parametrize("reason", UNMOVED)
def test_a_model_with_an_op_that_has_no_such_form_stays(reason: str):
    model = written(*UNMOVED[reason])
    module = import_model(model)
    RaiseOpsetPass().apply(Context(), module)
    assert [remark.blocked.id for remark in remarks_of(module)] == [reason]
    assert export_model(module).opset_import[0].version == UNMOVED[reason][0]


@pytest.mark.parametrize("body", ["y = ReduceMax<axes = [1]>(x, x, x, x)", "y, z = ReduceMax(x)"])
def test_a_node_of_other_counts_than_its_op_takes_has_no_such_form(body: str):
    """An op of a newer opset was built for it that the verifier refused, and no message named."""
    module = import_model(written(9, body))
    RaiseOpsetPass(to=18).apply(Context(), module)
    module.verify()
    (remark,) = remarks_of(module)
    assert "ReduceMax" in remark.blocked.message
    assert "expected" in remark.blocked.message


def test_a_float_model_keeps_its_opset():
    module = import_model(written(12, "y = Relu(x)"))
    qdialect.compile(module)
    assert export_model(module).opset_import[0].version == 12


PER_AXIS = """<ir_version: 7, opset_import: ["" : {opset}]> g (float[1,2,4,4] x) => (float[1,2,4,4] y)
<float[2] s = {{0.02, 0.05}}, uint8[2] z = {{128, 13}}> {{
  q = QuantizeLinear<axis = 1>(x, s, z)
  d = DequantizeLinear<axis = 1>(q, s, z)
  {rest}
}}"""


@pytest.mark.parametrize("target", ["generic", "onnxruntime", "tensorrt"])
def test_scales_for_each_channel_raise_the_opset(target: str):
    # What onnxruntime's own tool writes, and no session loads.
    model = parser.parse_model(PER_AXIS.format(opset=11, rest="y = Sigmoid(d)"))
    module = import_model(model)
    qdialect.compile(module, target=target)
    x = np.random.default_rng(0).normal(size=(1, 2, 4, 4)).astype(np.float32)
    result = export_model(module)
    assert result.opset_import[0].version == 13
    model.opset_import[0].version = 13
    np.testing.assert_allclose(
        session(result).run(None, {"x": x})[0], session(model).run(None, {"x": x})[0], atol=1e-6
    )


BATCH_NORM = """<ir_version: 7, opset_import: ["" : 10]> g (float[1,1,4,4] x) => (float[1,2,2,2] y)
<float s = {0.02}, uint8 z = {128}, int8[2,1,1,1] w = {50, -70}, float ws = {0.01}, int8 wz = {0},
 float[2] ga = {1, 0.5}, float[2] be = {0.1, 0.2}, float[2] mu = {0.1, 0.1}, float[2] va = {1, 2},
 float[4] k = {1, 1, 0.5, 0.5}> {
  q = QuantizeLinear(x, s, z)
  d = DequantizeLinear(q, s, z)
  wd = DequantizeLinear(w, ws, wz)
  c = Conv(d, wd)
  e = BatchNormalization(c, ga, be, mu, va)
  p = QuantizeLinear(e, s, z)
  r = DequantizeLinear(p, s, z)
  y = Resize(r, k)
}"""


def test_scales_for_each_channel_are_written_in_an_opset_that_stays():
    module = import_model(model := parser.parse_model(BATCH_NORM))
    qdialect.compile(module, target="generic")
    result = export_model(module)
    assert result.opset_import[0].version == 10
    x = np.random.default_rng(0).normal(size=(1, 1, 4, 4)).astype(np.float32)
    new, old = (session(m).run(None, {"x": x})[0] for m in (result, model))
    np.testing.assert_allclose(new, old, atol=0.0201)


IN_16_BITS = """<ir_version: 8, opset_import: ["" : {opset}]> g (float[1,4] x) => (float[1,3] y)
<float s = {{0.0005}}, int16 z = {{-31}}, int8[4,3] w = {{5, -9, 7, 1, 2, -3, 4, 8, -6, 11, 9, -2}},
 float[3] ws = {{0.01, 0.03, 0.02}}, int8[3] wz = {{0, 0, 0}}, {bits}[3] b = {{700, -90000, 31}},
 float[3] bs = {{0.000005, 0.000015, 0.00001}}, {bits}[3] bz = {{0, 0, 0}}> {{
  q = QuantizeLinear(x, s, z)
  d = DequantizeLinear(q, s, z)
  wd = DequantizeLinear<axis = 1>(w, ws, wz)
  bd = DequantizeLinear<axis = 0>(b, bs, bz)
  m = MatMul(d, wd)
  y = Add(m, bd)
}}"""


@pytest.mark.parametrize("target", ["generic", "onnxruntime", "openvino"])
def test_casts_of_16_bits_raise_the_opset(target: str):
    # As tf2onnx writes a TFLite model of 16x8 bits: biases of 64 bits, which no cast reads; no session loads it.
    model = parser.parse_model(IN_16_BITS.format(opset=17, bits="int64"))
    with pytest.raises(Exception, match="int16"):
        session(model)
    module = import_model(model)
    qdialect.compile(module, target=target)
    result = export_model(module)
    assert (result.opset_import[0].version, result.ir_version) == (21, 10)
    x = np.random.default_rng(0).normal(size=(1, 4)).astype(np.float32)
    meant = session(parser.parse_model(IN_16_BITS.format(opset=21, bits="int32")))
    np.testing.assert_allclose(
        session(result).run(None, {"x": x})[0], meant.run(None, {"x": x})[0], atol=1e-6
    )


@pytest.mark.parametrize("to", [13, 21])
def test_a_bias_that_32_bits_do_not_hold_stays(to: int):
    body = IN_16_BITS.format(opset=17, bits="int64").replace("-90000", "5000000000")
    module = import_model(parser.parse_model(body))
    RaiseOpsetPass(to=to).apply(Context(), module)
    assert {remark.blocked.id for remark in remarks_of(module)} == {"opset"}
    assert export_model(module).opset_import[0].version == 17


def test_a_form_between_that_is_not_the_last_leaves_no_use():
    module = import_model(written(11, "y, a = Split<axis = 1>(x)"))
    RaiseOpsetPass(to=18).apply(Context(), module)
    for value in main_of(module).body.block.args:
        assert all(use.operation.parent is not None for use in value.uses)
    (split,) = (op for op in module.walk() if isinstance(op, OnnxOp) and op.operands)
    assert split.int_attr("num_outputs", 0) == 2


def test_opsets_that_models_are_raised_to():
    assert RaiseOpsetPass(to=SAME_SUMS).level == Exactness.EXACT
    assert RaiseOpsetPass(to=SAME_SUMS + 1).level == Exactness.CLOSE
    source = text(Case("", "", "x: 2x3xf32\ny = Relu(x) : 2x3xf32", opset=13))
    context, module = parsed(source)
    RaiseOpsetPass(to=MAX_OPSET).apply(context, module)
    assert f"ai.onnx = {MAX_OPSET} : i64" in str(module)
    with pytest.raises(UserError, match=f"up to {MAX_OPSET}"):
        RaiseOpsetPass(to=MAX_OPSET + 1).apply(context, module)


FUNCTION = """
builtin.module attributes {onnx.opset_import = {ai.onnx = 9 : i64, my = 1 : i64}} {
  "onnx.Function"() <{domain = "my", sym_name = "Leak", overload = "", inputs = ["x"], outputs = ["y"],
    attribute_names = [], attribute_defaults = {}, onnx.opset_import = {ai.onnx = 9 : i64}}> ({
  ^bb0(%x: tensor<*x!onnx.any>):
    %y = onnx.Tanh(%x) : (tensor<*x!onnx.any>) -> tensor<*x!onnx.any>
    "onnx.Yield"(%y) : (tensor<*x!onnx.any>) -> ()
  }) : () -> ()
  func.func @f(%x: tensor<2xf32>) -> tensor<2xf32> {
    %y = onnx.Custom(%x) {domain = "my", op_type = "Leak"} : (tensor<2xf32>) -> tensor<2xf32>
    func.return %y : tensor<2xf32>
  }
}"""


def test_functions_of_a_model_keep_its_opset():
    check_unmoved(FUNCTION, RaiseOpsetPass(), "model-functions")
