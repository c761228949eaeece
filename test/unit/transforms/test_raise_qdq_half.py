"""Models quantized in half precision, as Model Optimizer writes them, on numbers."""

from __future__ import annotations

from collections import Counter
from typing import Any

import numpy as np
import onnx
import onnx.helper as oh
import onnx.numpy_helper as onh
import pytest
from onnx_models import onnx_model

from graphs.structure import difference
from qdialect.api import compile
from qdialect.evaluation.session import run
from qdialect.onnx_io.exporter import export_model
from qdialect.onnx_io.importer import import_model
from qdialect.onnx_io.models import load

X_SCALE, Y_SCALE, Z_SCALE = 0.03, 0.06, 0.05


def _pair(source: str, result: str, scale: str, zero: str) -> list[onnx.NodeProto]:
    return [
        oh.make_node("QuantizeLinear", [source, scale, zero], [f"{result}_q"]),
        oh.make_node("DequantizeLinear", [f"{result}_q", scale, zero], [result]),
    ]


def _with_casts(nodes: list[onnx.NodeProto]) -> list[onnx.NodeProto]:
    """Casts of float32, with a Cast on their other side: scales are numbers of float32 alone."""
    written: list[onnx.NodeProto] = []
    for node in nodes:
        if node.op_type == "QuantizeLinear":
            wide = f"{node.input[0]}_{node.output[0]}_wide"
            written.append(oh.make_node("Cast", [node.input[0]], [wide], to=onnx.TensorProto.FLOAT))
            node.input[0] = wide
        written.append(node)
        if node.op_type == "DequantizeLinear":
            real, node.output[0] = node.output[0], f"{node.output[0]}_wide"
            written.append(oh.make_node("Cast", [node.output[0]], [real], to=onnx.TensorProto.FLOAT16))
    return written


def _model(*, casts: bool = False) -> onnx.ModelProto:
    """x -> pair -> Conv with bias -> Relu -> pair -> Conv -> pair, all in float16, i8 throughout."""
    draw = np.random.default_rng(11)
    half = np.float32 if casts else np.float16
    tensors: dict[str, Any] = {
        "xs": half(X_SCALE), "ys": half(Y_SCALE), "zs": half(Z_SCALE),
        "x0": np.int8(5), "y0": np.int8(-3), "z0": np.int8(-7),
        "w": draw.integers(-127, 128, (6, 3, 3, 3)).astype(np.int8), "ws": draw.uniform(0.004, 0.02, 6).astype(half),
        "w0": np.zeros(6, np.int8), "b": draw.normal(size=6).astype(np.float16),
        "v": draw.integers(-127, 128, (4, 6, 1, 1)).astype(np.int8), "vs": half(0.011), "v0": np.int8(0),
    }  # fmt: skip
    nodes = [
        *_pair("x", "xr", "xs", "x0"),
        oh.make_node("DequantizeLinear", ["w", "ws", "w0"], ["wr"], axis=0),
        oh.make_node("Conv", ["xr", "wr", "b"], ["c"], pads=[1, 1, 1, 1]),
        oh.make_node("Relu", ["c"], ["r"]),
        *_pair("r", "yr", "ys", "y0"),
        oh.make_node("DequantizeLinear", ["v", "vs", "v0"], ["vr"]),
        oh.make_node("Conv", ["yr", "vr"], ["d"]),
        *_pair("d", "z", "zs", "z0"),
    ]
    return onnx_model(
        _with_casts(nodes) if casts else nodes,
        {"x": (onnx.TensorProto.FLOAT16, (2, 3, 7, 9))},
        {"z": (onnx.TensorProto.FLOAT16, None)},
        tensors,
        opset=19,
    )


@pytest.mark.parametrize("casts", [False, True])
@pytest.mark.parametrize(("form", "expected"), [("qoperator", {"QLinearConv": 2}), ("qdq", {"Conv": 2})])
def test_float16_models_compute_in_integers(form: str, expected: dict[str, int], *, casts: bool):
    before = _model(casts=casts)
    module = import_model(onnx.ModelProto.FromString(before.SerializeToString()))
    compile(module, form=form)
    after = export_model(module)
    counts = Counter(n.op_type for n in after.graph.node)
    assert {k: v for k, v in counts.items() if "Conv" in k} == expected
    feeds = {"x": np.random.default_rng(12).normal(size=(2, 3, 7, 9)).astype(np.float16) * 3}
    (old,), (new,) = run(before, feeds), run(after, feeds)
    assert np.ptp(old) > 50 * Z_SCALE
    # A step of y that falls the other way is 127 * 0.011 * 0.06, under two steps of z; one in twenty moves.
    moved = np.abs(old.astype(np.float32) - new.astype(np.float32)) / Z_SCALE
    assert moved.max() <= 2.01
    assert (moved < 0.01).mean() > 0.9


def test_casts_of_float32_around_float16_are_written_as_they_were_read():
    """Sin has no kernel: its Casts stand again where they stood, and a second compilation changes nothing."""
    nodes = [*_pair("x", "xr", "xs", "x0"), oh.make_node("Sin", ["xr"], ["c"]), *_pair("c", "z", "zs", "z0")]
    constants = {"xs": np.float32(X_SCALE), "zs": np.float32(0.008), "x0": np.int8(5), "z0": np.int8(-7)}
    ends = [oh.make_tensor_value_info(n, onnx.TensorProto.FLOAT16, (2, 300)) for n in "xz"]
    before = onnx_model(_with_casts(nodes), ends[:1], ends[1:], constants, opset=19)
    module = import_model(onnx.ModelProto.FromString(before.SerializeToString()))
    compile(module)
    after = export_model(module)
    assert Counter(n.op_type for n in after.graph.node) == Counter(n.op_type for n in before.graph.node)
    feeds = {"x": np.random.default_rng(2).normal(size=(2, 300)).astype(np.float16)}
    np.testing.assert_array_equal(run(before, feeds)[0], run(after, feeds)[0])
    again = import_model(onnx.ModelProto.FromString(after.SerializeToString()))
    compile(again)
    assert not difference(after, export_model(again))


def test_a_join_is_taken_by_a_session():
    """It made the integer kernel of it, whose scales are of float32, and refused what it had made."""
    half, u8 = np.float16, onnx.TensorProto.UINT8
    nodes = [oh.make_node("DequantizeLinear", [n, "s", "z"], [f"{n}_real"]) for n in "ab"]
    nodes += [oh.make_node("Concat", ["a_real", "b_real"], ["c"], axis=1)]
    nodes += [oh.make_node("QuantizeLinear", ["c", "s", "z"], ["y"])]
    constants = [onh.from_array(np.array(half(0.04)), "s"), onh.from_array(np.array(np.uint8(97)), "z")]
    ends = [oh.make_tensor_value_info(n, u8, [2, size]) for n, size in (("a", 3), ("b", 4), ("y", 7))]
    model = onnx_model(nodes, ends[:2], ends[2:], constants, opset=21)
    draw = np.random.default_rng(5)
    feeds: dict[str, Any] = {
        n: draw.integers(0, 256, (2, k)).astype(np.uint8) for n, k in (("a", 3), ("b", 4))
    }
    (before,) = run(model, feeds)
    for target, in_session in (("generic", False), ("onnxruntime", True)):  # no other runtime gets a guard
        module = import_model(onnx.ModelProto.FromString(model.SerializeToString()))
        compile(module, target)
        (after,) = run(export_model(module), feeds, optimize=in_session)
        np.testing.assert_array_equal(before, after)


@pytest.mark.parametrize("element", [onnx.TensorProto.FLOAT16, onnx.TensorProto.FLOAT])
def test_a_quotient_in_half_precision_is_not_read_as_one_in_f32(element: int):
    """From opset 23 on QuantizeLinear divides in its scale's type: 16 bits moved by up to 8 steps."""
    dtype = oh.tensor_dtype_to_np_dtype(element)
    stated = element == onnx.TensorProto.FLOAT
    nodes = [oh.make_node("QuantizeLinear", ["x", "s", "z"], [n]) for n in "ym"]
    if stated:
        nodes[0].attribute.append(oh.make_attribute("precision", onnx.TensorProto.FLOAT16))
    else:
        nodes[1].domain = "com.microsoft"
    constants = [onh.from_array(np.array(0.0003, dtype), "s"), onh.from_array(np.array(np.int16(0)), "z")]
    ends = [oh.make_tensor_value_info("x", element, [500])]
    ends += [oh.make_tensor_value_info(n, onnx.TensorProto.INT16, [500]) for n in "ym"]
    graph = oh.make_graph(nodes, "g", ends[:1], ends[1:], constants)
    imports = [oh.make_opsetid("", 23), oh.make_opsetid("com.microsoft", 1)]
    before = oh.make_model(graph, opset_imports=imports, ir_version=11)
    module = import_model(onnx.ModelProto.FromString(before.SerializeToString()))
    compile(module)
    feeds = {"x": np.random.default_rng(4).uniform(-7, 7, 500).astype(dtype)}
    olds, news = run(before, feeds), run(export_model(module), feeds)
    assert (olds[0] != olds[1]).any()
    for old, new in zip(olds, news, strict=True):
        np.testing.assert_array_equal(old, new)


def test_contrib_casts_in_an_old_opset_give_half_precision():
    """Of com.microsoft, as onnxruntime's quantizer writes them; ONNX's own gave f32 alone before opset 19."""
    constants = {
        "xs": np.float16(X_SCALE),
        "ys": np.float16(Y_SCALE),
        "x0": np.uint8(120),
        "y0": np.uint8(128),
    }
    nodes = [*_pair("x", "a", "xs", "x0"), oh.make_node("Abs", ["a"], ["b"]), *_pair("b", "y", "ys", "y0")]
    for node in nodes:
        node.domain = "" if node.op_type == "Abs" else "com.microsoft"
    ends = [oh.make_tensor_value_info(n, onnx.TensorProto.FLOAT16, [300]) for n in "xy"]
    tensors = [onh.from_array(np.asarray(v), k) for k, v in constants.items()]
    graph = oh.make_graph(nodes, "g", ends[:1], ends[1:], tensors)
    imports = [oh.make_opsetid("", 13), oh.make_opsetid("com.microsoft", 1)]
    before = oh.make_model(graph, opset_imports=imports, ir_version=8)
    module = load(before)
    compile(module)
    feeds = {"x": np.random.default_rng(6).normal(size=300).astype(np.float16)}
    np.testing.assert_array_equal(run(before, feeds)[0], run(export_model(module), feeds)[0])
