"""Every form of a model is read again and becomes every other form: the same ops, the same numbers."""

from __future__ import annotations

from collections import Counter
from functools import cache
from itertools import product
from pathlib import Path
from typing import Any

import numpy as np
import numpy.typing as npt
import onnx
import onnx.helper as oh
import onnx.numpy_helper as onh
import pytest
from onnx_models import onnx_model

import qdialect
from qdialect.checking.numerics_check import check_feeds
from qdialect.compiler.options import FORMS
from qdialect.errors import UserError
from qdialect.evaluation.session import run
from qdialect.onnx_io.exporter import export_model
from qdialect.onnx_io.importer import import_model
from qdialect.targets import target as target_called
from qdialect.targets import target_names

ROOT = Path(__file__).parents[3]


def example() -> onnx.ModelProto:
    """Convolutions with residual branches, pools, a Gemm; trained."""
    return onnx.load(ROOT / "examples" / "digits_qdq.onnx")


def branches() -> onnx.ModelProto:
    """A product with a bias of its own, a clamp, a concatenation of two scales, a sum, a mean; 2 x 6 floats in."""
    draw = np.random.default_rng(11)
    tensors: dict[str, npt.NDArray[Any]] = {
        "w": draw.integers(-127, 128, (6, 6)).astype(np.int8),
        "v": draw.integers(-127, 128, (12, 4)).astype(np.int8),
        "b": draw.uniform(-1, 1, 6).astype(np.float32),
        "c": draw.uniform(-1, 1, 4).astype(np.float32),
        "ws": np.float32(0.01) * np.arange(1, 7, dtype=np.float32),
        "wz": np.zeros(6, np.int8),
        "vs": np.asarray(np.float32(0.008)),
        "vz": np.asarray(np.int8(0)),
    }
    for name, scale, zero in (("p", 0.02, 121), ("q", 0.05, 117), ("r", 0.04, 131)):
        tensors |= {f"{name}s": np.asarray(np.float32(scale)), f"{name}z": np.asarray(np.uint8(zero))}

    def pair(x: str, y: str, p: str) -> list[onnx.NodeProto]:
        return [
            oh.make_node("QuantizeLinear", [x, f"{p}s", f"{p}z"], [f"{y}_q"]),
            oh.make_node("DequantizeLinear", [f"{y}_q", f"{p}s", f"{p}z"], [y]),
        ]

    nodes = [
        *pair("x", "a", "p"),
        oh.make_node("DequantizeLinear", ["w", "ws", "wz"], ["wr"], axis=1),
        oh.make_node("DequantizeLinear", ["v", "vs", "vz"], ["vr"]),
        oh.make_node("Gemm", ["a", "wr", "b"], ["d"]),
        oh.make_node("Relu", ["d"], ["e"]),
        *pair("e", "f", "q"),
        oh.make_node("Concat", ["a", "f"], ["g"], axis=1),
        *pair("g", "h", "q"),
        oh.make_node("MatMul", ["h", "vr"], ["i"]),
        oh.make_node("Add", ["i", "c"], ["j"]),
        *pair("j", "k", "r"),
        oh.make_node("Sigmoid", ["k"], ["l"]),
        *pair("l", "y", "p"),
    ]
    return onnx_model(nodes, {"x": [2, 6]}, {"y": None}, tensors)


MODELS = {"example": example, "branches": branches}


def compiled(proto: onnx.ModelProto, target: str, form: str | None = None, *, check: bool = False):
    """The model in a form; `check`: every op of every pass judged by its class of exactness."""
    module = import_model(onnx.ModelProto.FromString(proto.SerializeToString()))
    qdialect.compile(module, target=target, form=form, feeds=check_feeds(module, "") if check else ())
    return export_model(module)


@cache  # what many tests begin with; nothing changes it
def first_of(name: str, target: str, form: str | None = None) -> onnx.ModelProto:
    """A model of the table in a form."""
    return compiled(MODELS[name](), target, form)


def kinds(proto: onnx.ModelProto) -> Counter[str]:
    """
    How many nodes of each type there are, a Gemm as the product and addition that it is.

    A bias may be float or dequantized, and its shape computed or not: what has a constant operand of int32, and
    Reshape, are not counted. Neither is Transpose: pixels that were packed into channels stay so in other forms.
    """
    integers = {t.name for t in proto.graph.initializer if t.data_type == onnx.TensorProto.INT32}
    counts = Counter(f"{n.domain}::{n.op_type}" for n in proto.graph.node if n.input[0] not in integers)
    for _ in range(counts.pop("::Gemm", 0)):
        counts.update(("::MatMul", "::Add"))
    for moves in ("::Reshape", "::Transpose"):
        counts.pop(moves, None)
    return counts


def feeds_of(proto: onnx.ModelProto) -> dict[str, npt.NDArray[Any]]:
    draw = np.random.default_rng(3)
    if len(proto.graph.input) == 1 and proto.graph.input[0].name == "x":
        return {"x": draw.uniform(-2, 2, (2, 6)).astype(np.float32)}
    data = np.load(ROOT / "examples" / "digits_test.npz")
    return {name: data[name][:16] for name in data.files}


@pytest.mark.parametrize(("first", "second"), list(product(FORMS, FORMS)))
@pytest.mark.parametrize("name", MODELS)
def test_every_form_becomes_every_other(name: str, first: str, second: str):
    own = first_of(name, "onnxruntime", first)
    other = compiled(own, "onnxruntime", second, check=True)
    again = compiled(other, "onnxruntime", first)
    assert kinds(again) == kinds(own)
    for model in (own, other, again):
        onnx.checker.check_model(model)  # com.microsoft is imported where it is used
    feeds = feeds_of(own)
    for model in (other, again):
        for expected, got in zip(run(own, feeds), run(model, feeds), strict=True):
            noise = np.square(expected - got).mean()
            assert np.square(expected).mean() >= 1e4 * noise  # 40 dB


@pytest.mark.parametrize("form", FORMS)
@pytest.mark.parametrize("target", [name for name in target_names() if target_called(name).form == "qdq"])
@pytest.mark.parametrize("name", MODELS)
def test_what_onnxruntime_is_given_other_targets_read(name: str, target: str, form: str):
    """No node of com.microsoft or of integers is left, and the product's operands are quantized."""
    proto_for_onnxruntime = first_of(name, "onnxruntime", form)
    module = import_model(onnx.ModelProto.FromString(proto_for_onnxruntime.SerializeToString()))
    report = qdialect.compile(module, target=target, feeds=check_feeds(module, ""))
    wrong = {b.blocked.id for b in report.breaches}
    assert wrong <= {"zero-point", "storage-type"}
    result = export_model(module)
    assert not {
        n.op_type for n in result.graph.node if "Integer" in n.op_type or n.op_type.startswith("QLinear")
    }
    own = first_of(name, target)
    assert [kinds(result)[f"::{k}"] for k in ("Conv", "MatMul")] == [
        kinds(own)[f"::{k}"] for k in ("Conv", "MatMul")
    ]


@pytest.mark.parametrize("zeros", [False, True])
@pytest.mark.parametrize(("inputs", "block"), [(32, 16), (40, 16), (16, 16), (288, 16)])
def test_a_packed_weight_is_the_weight_it_was(inputs: int, block: int, zeros: bool):
    """MatMulNBits against MatMul of what it dequantizes, also where the last block is short."""
    draw = np.random.default_rng(9)
    count, outputs = -(-inputs // block), 6
    tensors = {
        "w": draw.integers(0, 256, (outputs, count, block // 2)).astype(np.uint8),
        "s": draw.uniform(0.01, 0.1, outputs * count).astype(np.float32),
        "z": draw.integers(0, 256, outputs * -(-count // 2)).astype(np.uint8),
        "b": draw.uniform(-1, 1, outputs).astype(np.float32),
    }
    attributes: dict[str, Any] = {
        "K": inputs,
        "N": outputs,
        "bits": 4,
        "block_size": block,
        "accuracy_level": 1,
    }
    operands = ["x", "w", "s", "z" if zeros else "", "", "b"]
    node = oh.make_node("MatMulNBits", operands, ["y"], domain="com.microsoft", **attributes)
    graph = oh.make_graph(
        [node],
        "g",
        [oh.make_tensor_value_info("x", 1, (3, inputs))],
        [oh.make_tensor_value_info("y", 1, (3, outputs))],
        [onh.from_array(v, k) for k, v in tensors.items() if zeros or k != "z"],
    )
    domains = [oh.make_opsetid("", 21), oh.make_opsetid("com.microsoft", 1)]
    proto = oh.make_model(graph, opset_imports=domains, ir_version=10)
    feeds = {"x": draw.uniform(-1, 1, (3, inputs)).astype(np.float32)}
    (expected,) = run(proto, feeds)
    result = compiled(proto, "generic")
    assert kinds(result) == {"::DequantizeLinear": 1, "::MatMul": 1, "::Add": 1}
    np.testing.assert_allclose(run(result, feeds)[0], expected, rtol=0, atol=1e-4 * np.abs(expected).max())


@pytest.mark.parametrize(
    ("options", "says"),
    [
        ({"keep_float": ("x",)}, "a graph input"),
        ({"keep_float": ("w",)}, "a constant"),
        ({"keep_float": ("nothing",)}, "no node or tensor is called 'nothing'"),
        ({"decompose": ("Gemm",), "exactness": "exact"}, "--exactness exact"),
        ({"exactness": "roughly"}, "there is no level 'roughly'"),
        ({"decompose": ("Gemm", "Nothing")}, "'Nothing' is not decomposed"),
    ],
)
def test_what_cannot_be_is_said(options: dict[str, Any], says: str):
    with pytest.raises(UserError, match=says):
        qdialect.compile(import_model(branches()), **options)


@pytest.mark.parametrize("form", FORMS)
@pytest.mark.parametrize("tensor", ["d", "e", "g", "i", "j", "l"])
def test_what_is_kept_is_there_in_float(tensor: str, form: str):
    proto = branches()
    module = import_model(branches())
    qdialect.compile(module, form=form, keep_float=(tensor,), feeds=check_feeds(module, ""))
    result = export_model(module)
    (before,) = (n for n in proto.graph.node if tensor in n.output)
    (after,) = (n for n in result.graph.node if tensor in n.output)
    assert (after.op_type, after.attribute) == (before.op_type, before.attribute)


def test_integers_in_and_out_are_the_targets():
    """tensorrt takes symmetric i8: what the model quantizes to u8 with zero point 128 comes in as i8."""
    proto = branches()
    for tensor in proto.graph.initializer:
        if tensor.name in ("pz", "qz", "rz"):
            tensor.CopyFrom(onh.from_array(np.asarray(np.uint8(128)), tensor.name))
    feeds = {"x": np.random.default_rng(5).uniform(-2, 2, (2, 6)).astype(np.float32)}
    (expected,) = run(proto, feeds)
    integers = np.clip(np.rint(feeds["x"] / np.float32(0.02)), -128, 127)
    for target, dtype, zero in (("tensorrt", np.int8, 0), ("generic", np.uint8, 128)):
        module = import_model(onnx.ModelProto.FromString(proto.SerializeToString()))
        qdialect.compile(module, target=target, integer_io=True)
        (got,) = run(export_model(module), {"x": (integers + zero).astype(dtype)})
        assert got.dtype == dtype
        np.testing.assert_array_equal((got.astype(np.float32) - zero) * np.float32(0.02), expected)
