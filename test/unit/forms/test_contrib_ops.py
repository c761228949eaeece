"""Ops of com.microsoft that targets without them get as ONNX's own, unasked, and with the kernels' numbers."""

from __future__ import annotations

from itertools import product
from typing import Any

import numpy as np
import numpy.typing as npt
import onnx
import onnx.helper as oh
import pytest
from guard_cases import last_op
from onnx import TensorProto
from onnx.numpy_helper import from_array

import qdialect
from qdialect.evaluation.session import run
from qdialect.forms.contrib_ops import FOREIGN
from qdialect.onnx_io.exporter import export_model
from qdialect.reasons import Blocked
from qdialect.report.report import Report

FLOAT, INT32 = TensorProto.FLOAT, TensorProto.INT32
MICROSOFT = "com.microsoft"
TARGETS = ("tensorrt", "openvino", "generic")
Feeds = dict[str, npt.NDArray[Any]]


def model(
    nodes: list[onnx.NodeProto], inputs: Feeds, tensors: list[TensorProto], opset: int = 21
) -> onnx.ModelProto:
    shown = [
        oh.make_tensor_value_info(name, oh.np_dtype_to_tensor_dtype(value.dtype), value.shape)
        for name, value in inputs.items()
    ]
    graph = oh.make_graph(nodes, "g", shown, [oh.make_tensor_value_info("y", FLOAT, None)], tensors)
    imports = [oh.make_opsetid("", opset), oh.make_opsetid(MICROSOFT, 1)]
    return oh.make_model(graph, opset_imports=imports, ir_version=10)


def check(proto: onnx.ModelProto, feeds: Feeds, target: str) -> Report:
    module = qdialect.load(proto.SerializeToString())
    report = qdialect.compile(module, target=target)
    written = export_model(module)
    assert [one.domain for one in written.opset_import] == [""], str(report)
    (ours,), (right,) = run(written, feeds), run(proto, feeds)
    np.testing.assert_allclose(ours, right, rtol=0, atol=1e-5 * float(np.abs(right).max()))
    return report


TABLES = [
    (TensorProto.UINT4, 4, 1), (TensorProto.INT4, 4, 1), (TensorProto.UINT8, 4, 1), (TensorProto.UINT8, 8, 1),
    (TensorProto.UINT4, 4, 0), (TensorProto.INT4, 4, 0),
]  # fmt: skip


@pytest.mark.parametrize("target", TARGETS)
@pytest.mark.parametrize("zero", [False, True])
@pytest.mark.parametrize(("type", "bits", "axis"), TABLES)
@pytest.mark.parametrize(("gathered", "block"), [(0, 16), (0, 32), (1, 16)])
def test_rows_of_a_table_in_blocks(
    type: int, bits: int, axis: int, gathered: int, block: int, zero: bool, target: str
):
    random = np.random.default_rng(bits + axis + gathered + block)
    if gathered and type == TensorProto.UINT8:
        pytest.skip("the kernel gathers rows of bytes along the first axis")
    parts = 8 // bits if type == TensorProto.UINT8 else 1
    shape, counts = [32, 64], [32, 64]
    counts[axis] //= block
    low, high = (-8, 8) if type == TensorProto.INT4 else (0, 16 if type == TensorProto.UINT4 else 256)
    stored = [32, 64 // parts]
    tensors = [
        oh.make_tensor("w", type, stored, random.integers(low, high, int(np.prod(stored)))),
        from_array(random.uniform(0.005, 0.02, counts).astype(np.float32), "k"),
    ]
    if zero:
        points = [counts[0], -(-counts[1] // parts)]
        tensors.append(oh.make_tensor("z", type, points, random.integers(low, high, int(np.prod(points)))))
    attributes: dict[str, Any] = {"bits": bits} if type == TensorProto.UINT8 else {}
    node = oh.make_node(
        "GatherBlockQuantized",
        ["w", "i", "k", *(["z"] if zero else [])],
        ["y"],
        domain=MICROSOFT,
        gather_axis=gathered,
        quantize_axis=axis,
        block_size=block,
        **attributes,
    )
    assert shape[axis] % block == 0
    feeds: Feeds = {"i": np.array([[1, 5], [2, 31]], np.int64)}
    check(model([node], feeds, tensors), feeds, target)


@pytest.mark.parametrize("target", TARGETS)
@pytest.mark.parametrize("zero", [False, True])
@pytest.mark.parametrize(("inputs", "block"), [(64, 32), (48, 16), (40, 16), (128, 64), (16, 16)])
def test_weights_of_2_bits_in_blocks(inputs: int, block: int, zero: bool, target: str):
    """Before: no type stores 2 bits in blocks."""
    random, outputs, count = np.random.default_rng(inputs), 8, -(-inputs // block)
    tensors = [
        from_array(random.integers(0, 256, (outputs, count, block // 4)).astype(np.uint8), "w"),
        from_array(random.uniform(0.01, 0.1, (outputs, count)).astype(np.float32), "k"),
    ]
    if zero:
        tensors.append(from_array(random.integers(0, 256, (outputs, -(-count // 4))).astype(np.uint8), "z"))
    node = oh.make_node(
        "MatMulNBits", ["x", "w", "k", *(["z"] if zero else [])], ["y"], domain=MICROSOFT, K=inputs, N=outputs,
        bits=2, block_size=block,
    )  # fmt: skip
    feeds: Feeds = {"x": random.normal(size=(3, inputs)).astype(np.float32)}
    report = check(model([node], feeds, tensors), feeds, target)
    assert not report.unread


@pytest.mark.parametrize("target", TARGETS)
@pytest.mark.parametrize("mask", ["none", "places", "lengths"])
@pytest.mark.parametrize(
    ("weight", "one_way", "channels"), [*product((np.int8, np.uint8), (0, 1), (False, True))]
)
def test_quantized_attention(weight: Any, one_way: int, channels: bool, mask: str, target: str):
    random, (batch, length, width) = np.random.default_rng(5), (2, 4, 8)
    scale = random.uniform(0.005, 0.02, 3 * width) if channels else 0.01
    low, high = (-100, 100) if weight is np.int8 else (28, 228)
    tensors = [
        from_array(random.integers(low, high, (width, 3 * width)).astype(weight), "w"),
        from_array(random.normal(size=3 * width).astype(np.float32), "b"),
        from_array(np.array(0.02, np.float32), "s"),
        from_array(np.asarray(scale, np.float32), "ws"),
        from_array(np.array(128, np.uint8), "z"),
        from_array(np.asarray(0 if weight is np.int8 else 128, weight), "wz"),
    ]
    feeds: Feeds = {"x": random.normal(size=(batch, length, width)).astype(np.float32)}
    if mask == "places":
        feeds["m"] = np.array([[1, 1, 1, 0], [1, 1, 0, 0]], np.int32)
    if mask == "lengths":
        feeds["m"] = np.array([3, 2], np.int32)
    nodes = [
        oh.make_node("QuantizeLinear", ["x", "s", "z"], ["q"]),
        oh.make_node(
            "QAttention",
            ["q", "w", "b", "s", "ws", "m" if mask != "none" else "", "z", "wz"],
            ["y"],
            domain=MICROSOFT,
            num_heads=2,
            unidirectional=one_way,
        ),
    ]
    report = check(model(nodes, feeds, tensors), feeds, target)
    assert not report.unread
    assert report.totals.integer == batch * length * width * 3 * width
    assert "in pairs: 1 MatMul" in str(report).splitlines()


@pytest.mark.parametrize("target", TARGETS)
@pytest.mark.parametrize("direction", ["forward", "reverse", "bidirectional"])
@pytest.mark.parametrize("channels", [False, True])
def test_a_dynamically_quantized_lstm(channels: bool, direction: str, target: str):
    """Before: it stayed, and counted as 100 % in integers, in pairs."""
    random, hidden, ways = np.random.default_rng(2), 8, 2 if direction == "bidirectional" else 1
    counts = (ways, 4 * hidden) if channels else (ways,)
    tensors = [
        from_array(random.integers(-100, 100, (ways, 6, 4 * hidden)).astype(np.int8), "w"),
        from_array(random.integers(-100, 100, (ways, hidden, 4 * hidden)).astype(np.int8), "r"),
        from_array(random.normal(size=(ways, 8 * hidden)).astype(np.float32), "b"),
        from_array(random.uniform(0.005, 0.02, counts).astype(np.float32), "ws"),
        from_array(np.zeros(counts, np.int8), "z"),
    ]
    node = oh.make_node(
        "DynamicQuantizeLSTM", ["x", "w", "r", "b", "", "", "", "", "ws", "z", "ws", "z"], ["y"],
        domain=MICROSOFT, hidden_size=hidden, direction=direction,
    )  # fmt: skip
    feeds: Feeds = {"x": random.normal(size=(5, 2, 6)).astype(np.float32)}
    report = check(model([node], feeds, tensors), feeds, target)
    assert not report.unread
    assert "DynamicQuantizeLSTM" not in report.after
    assert (report.totals.integer == 0) == (target != "generic")


@pytest.mark.parametrize("target", TARGETS)
def test_what_has_no_form_says_why(target: str):
    """An open length: the steps are not known."""
    random = np.random.default_rng(2)
    tensors = [
        from_array(random.integers(-100, 100, (1, 6, 32)).astype(np.int8), "w"),
        from_array(random.integers(-100, 100, (1, 8, 32)).astype(np.int8), "r"),
        from_array(np.array([0.01], np.float32), "ws"),
        from_array(np.zeros(1, np.int8), "z"),
    ]
    node = oh.make_node(
        "DynamicQuantizeLSTM", ["x", "w", "r", "", "", "", "", "", "ws", "z", "ws", "z"], ["y"],
        domain=MICROSOFT, hidden_size=8,
    )  # fmt: skip
    proto = model([node], {"x": np.zeros((5, 2, 6), np.float32)}, tensors)
    proto.graph.input[0].type.tensor_type.shape.dim[0].dim_param = "steps"
    report = qdialect.compile(qdialect.load(proto.SerializeToString()), target=target)
    if target == "openvino":  # has the op
        assert not report.unread
        return
    assert str(report).startswith(
        f"not read by {target}: 1 DynamicQuantizeLSTM: {target} reads no operators of com.microsoft, and the sizes"
    )
    assert report.totals.integer == 0
    assert "in pairs" not in str(report)


@pytest.mark.parametrize(
    ("x", "slope", "fits"),
    [
        ("3xf32", "[0.5] : 1xf32", True),
        ("*xf32", "[0.5] : 1xf32", True),
        ("3xf32", "[0.5] : 1x1xf32", False),
        ("f32", "[0.5] : 1xf32", False),  # onnxruntime gives a vector, whatever type is stated
    ],
)
def test_one_slope_of_a_higher_rank_makes_the_result_larger(x: str, slope: str, fits: bool):
    parts = FOREIGN["", "PRelu"].parts(last_op(f"x: {x}\nk = {slope}\ny = PRelu(x, k) : {x}"))
    assert (parts.id if isinstance(parts, Blocked) else "fits") == ("fits" if fits else "invalid-op")
