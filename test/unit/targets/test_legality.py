"""The rules of the target files over what `compile` writes, and each rule on a graph that breaks it."""

from __future__ import annotations

from collections import Counter
from collections.abc import Sequence
from pathlib import Path
from typing import Any

import numpy as np
import numpy.typing as npt
import onnx
import onnx.helper as oh
import onnx.numpy_helper as onh
import pytest
from guard_cases import Case, parsed, text

import qdialect
from graphs.quantized import random_case
from qdialect.dialects.onnx_base import OnnxOp
from qdialect.evaluation.session import run
from qdialect.onnx_io.exporter import export_model
from qdialect.onnx_io.importer import import_model
from qdialect.promises.linear import Linear
from qdialect.reasons import ACTIVATION_PER_AXIS
from qdialect.targets import target, target_names
from qdialect.targets.legality import breaches, in_float

ROOT = Path(__file__).parents[3]
Node = onnx.NodeProto

ONLY_THE_USER_CAN = {
    "activation-per-axis",
    "float-operand",
    "integer-interface",
    "may-saturate",
    "storage-type",
    "weight-axis",
    "zero-point",
}
"""What no exact rewrite mends: other zero points, scales or weights, an interface, an operand nobody quantized."""


def model(nodes: Sequence[Node], tensors: dict[str, Any], shapes: dict[str, Any], results: Sequence[str]):
    """A model of opset 17, inputs by shape; what ends in `_q` is int8, in `_u` uint8."""
    types = {"_q": 3, "_u": 2}
    inputs = [oh.make_tensor_value_info(n, types.get(n[-2:], 1), s) for n, s in shapes.items()]
    outputs = [oh.make_tensor_value_info(n, types.get(n[-2:], 1), None) for n in results]
    constants = [onh.from_array(np.asarray(v), k) for k, v in tensors.items()]
    graph = oh.make_graph(list(nodes), "g", inputs, outputs, constants)
    domains = [oh.make_opsetid("", 17), oh.make_opsetid("com.microsoft", 1)]
    return oh.make_model(graph, opset_imports=domains, ir_version=8)


def cast(kind: str, x: str, y: str, parameters: str = "", **attributes: Any) -> Node:
    return oh.make_node(kind, [x, f"{parameters}s", f"{parameters}z"], [y], name=f"{kind}_{y}", **attributes)


def q(x: str, y: str, parameters: str = "", **attributes: Any) -> Node:
    return cast("QuantizeLinear", x, y, parameters, **attributes)


def dq(x: str, y: str, parameters: str = "", **attributes: Any) -> Node:
    return cast("DequantizeLinear", x, y, parameters, **attributes)


S, Z = np.float32(0.25), np.int8(0)
PAIR = {"s": S, "z": Z}
W = np.arange(-4, 4, dtype=np.int8).reshape(2, 4)
SCALES = {"ws": np.array([0.5, 0.25, 0.5, 0.25], np.float32), "wz": np.zeros(4, np.int8)}
CONV_W = np.arange(-4, 4, dtype=np.int8).reshape(4, 2, 1, 1)


def beside_sigmoid(other: str) -> list[Node]:
    """An Add of a quantized Sigmoid of `b`, which is quantized from `x`, and of one of these."""
    nodes = [q("x", "a"), dq("a", "b"), oh.make_node("Sigmoid", ["b"], ["c"]), q("c", "d"), dq("d", "e")]
    return [*nodes, oh.make_node("Add", [other, "e"], ["y"])]


BROKEN: dict[str, tuple[str, Sequence[Node], dict[str, Any], dict[str, Any], Sequence[str]]] = {
    "zero-point": ("tensorrt", [q("x", "a"), dq("a", "y")], PAIR | {"z": np.int8(3)}, {"x": (3,)}, ["y"]),
    "storage-type": ("tensorrt", [q("x", "a"), dq("a", "y")], PAIR | {"z": np.uint8(0)}, {"x": (3,)}, ["y"]),
    "activation-per-axis": (
        "tensorrt",
        [q("x", "a", "w", axis=1), dq("a", "y", "w", axis=1)],
        SCALES,
        {"x": (3, 4)},
        ["y"],
    ),
    "constant-quantize": (
        "generic",
        [q("c", "a"), dq("a", "y")],
        PAIR | {"c": np.ones(3, np.float32)},
        {},
        ["y"],
    ),
    "integer-interface": ("generic", [q("x", "y_q")], PAIR, {"x": (3,)}, ["y_q"]),
    "integer-interface at an input": ("generic", [dq("x_q", "y")], PAIR, {"x_q": (3,)}, ["y"]),
    "lone-cast": (
        "generic",
        [q("x", "a"), oh.make_node("Identity", ["a"], ["b"]), dq("b", "y")],
        PAIR,
        {"x": (3,)},
        ["y"],
    ),
    "lone-cast that reads": (
        "generic",
        [oh.make_node("Identity", ["x_q"], ["a"]), dq("a", "y")],
        PAIR,
        {"x_q": (3,)},
        ["y"],
    ),
    "float-operand": (
        "generic",
        [dq("w", "v"), oh.make_node("MatMul", ["x", "v"], ["y"])],
        PAIR | {"w": W},
        {"x": (3, 2)},
        ["y"],
    ),
    "moved-weight": (
        "generic",
        [dq("w", "v"), oh.make_node("Transpose", ["v"], ["t"]), oh.make_node("MatMul", ["x", "t"], ["y"])],
        PAIR | {"w": W},
        {"x": (3, 4)},
        ["y"],
    ),
    "weight-axis": (
        "generic",
        [
            q("x", "a"),
            dq("a", "b"),
            dq("w", "v", "w", axis=0),
            oh.make_node("MatMul", ["b", "v"], ["y"]),
        ],
        PAIR | SCALES | {"w": W.T.copy()},
        {"x": (3, 4)},
        ["y"],
    ),
    "quantized-bias": (
        "tensorrt",
        [
            q("x", "a"),
            dq("a", "b"),
            dq("w", "v"),
            dq("c", "d", "b"),
            oh.make_node("Conv", ["b", "v", "d"], ["y"]),
        ],
        PAIR | {"w": CONV_W, "c": np.arange(4, dtype=np.int32), "bs": S * S, "bz": np.int32(0)},
        {"x": (1, 2, 3, 3)},
        ["y"],
    ),
    "bias-scale": (
        "generic",
        [
            q("x", "a"),
            dq("a", "b"),
            dq("w", "v"),
            dq("c", "d", "b"),
            oh.make_node("Conv", ["b", "v", "d"], ["y"]),
        ],
        PAIR | {"w": CONV_W, "c": np.arange(4, dtype=np.int32), "bs": S, "bz": np.int32(0)},
        {"x": (1, 2, 3, 3)},
        ["y"],
    ),
    "shared-pair": ("tensorrt", beside_sigmoid("b"), PAIR, {"x": (3,)}, ["y"]),
    "float-operand beside a pair": ("tensorrt", beside_sigmoid("x"), PAIR, {"x": (3,)}, ["y"]),
    "operator": (
        "tensorrt",
        [oh.make_node("FusedMatMul", ["x", "x"], ["y"], domain="com.microsoft")],
        {},
        {"x": (3, 3)},
        ["y"],
    ),
    "no-kernel": (
        "onnxruntime",
        [oh.make_node("MaxPool", ["x_q"], ["y_q"], kernel_shape=[2, 2])],
        {},
        {"x_q": (1, 2, 4, 4)},
        ["y_q"],
    ),
    "slow-kernel": (
        "onnxruntime",
        [oh.make_node("QLinearConv", ["x_q", "s", "z", "w", "s", "z", "s", "z"], ["y_q"])],
        PAIR | {"w": CONV_W},
        {"x_q": (1, 2, 4, 4)},
        ["y_q"],
    ),
    "may-saturate": (
        "onnxruntime-avx2",
        [oh.make_node("QLinearConv", ["x_u", "s", "zu", "w", "s", "z", "s", "zu"], ["y_u"])],
        PAIR | {"w": np.array([65, 64, 1, 2, 3, 4, 5, 6], np.int8).reshape(4, 2, 1, 1), "zu": np.uint8(7)},
        {"x_u": (1, 2, 4, 4)},
        ["y_u"],
    ),
}
"""By rule: a target, and nodes, constants, inputs and outputs that break it as they stand."""


def read(proto: onnx.ModelProto) -> Any:
    module = import_model(proto)
    module.verify()
    return module


def id_of(rule: str) -> str:
    """The id of the reason; what breaks the rule may stand behind it."""
    return rule.partition(" ")[0]


@pytest.mark.parametrize("rule", BROKEN)
def test_each_rule_is_looked_at(rule: str):
    name, nodes, tensors, shapes, results = BROKEN[rule]
    opset = 11 if rule == "no-kernel" else 17
    proto = model(nodes, tensors, shapes, results)
    proto.opset_import[0].version = opset
    violations = breaches(read(proto), target(name))
    assert [b for b in violations if b.blocked.id == id_of(rule)]
    if id_of(rule) not in ("no-kernel", "lone-cast"):
        assert {b.blocked.id for b in violations} <= {id_of(rule), "zero-point", "storage-type"}


def test_a_kernel_has_its_types():
    """onnxruntime's QLinearConv takes no int8 activation with a uint8 weight."""
    tensors = {
        "s": np.float32(0.5),
        "z": np.int8(0),
        "w_u": np.ones((1, 1, 1, 1), np.uint8),
        "v": np.uint8(7),
    }
    conv = oh.make_node("QLinearConv", ["x_q", "s", "z", "w_u", "s", "v", "s", "z"], ["y_q"])
    proto = model([conv], tensors, {"x_q": (1, 1, 4, 3)}, ["y_q"])
    assert [b.blocked.id for b in breaches(read(proto), target("onnxruntime"))] == ["no-kernel"]


@pytest.mark.parametrize(
    "rule",
    sorted(rule for rule in BROKEN if id_of(rule) not in ONLY_THE_USER_CAN | {"operator", "no-kernel"}),
)
def test_what_a_pass_can_mend_is_mended(rule: str):
    name, nodes, tensors, shapes, results = BROKEN[rule]
    module = read(model(nodes, tensors, shapes, results))
    report = qdialect.compile(module, target=name)
    assert not [b for b in report.breaches if b.blocked.id == id_of(rule)]


def test_a_float_branch_is_quantized_where_that_is_allowed():
    name, nodes, tensors, shapes, results = BROKEN["float-operand beside a pair"]
    proto = model(nodes, tensors, shapes, results)
    violations = [
        qdialect.compile(read(proto), target=name, exactness=e).breaches for e in ("close", "lossy")
    ]
    assert [[b.blocked.id for b in one] for one in violations] == [["float-operand"], []]


def allowed(name: str) -> set[str]:
    """The rules that compiled models may break on a target."""
    return {"onnxruntime": set[str](), "onnxruntime-avx2": {"may-saturate"}}.get(name, ONLY_THE_USER_CAN)


@pytest.mark.parametrize("name", target_names())
def test_random_graphs_keep_the_rules(name: str):
    """Only what no exact rewrite mends is left, and the report says each."""
    said: Counter[str] = Counter()
    for seed in range(300, 330):
        proto = random_case(seed).model
        module = read(onnx.ModelProto.FromString(proto.SerializeToString()))
        report = qdialect.compile(module, target=name)
        violations = [(b.op.op_type, b.blocked.id) for b in breaches(module, target(name))]
        assert [(b.op, b.blocked.id) for b in report.breaches] == violations
        said.update(id for _, id in violations)
    assert set(said) <= allowed(name), (
        f"rules that no pass enforces; if none can, state them in `allowed`: {said}"
    )
    assert name != "tensorrt" or said["zero-point"]  # else there was nothing to see


@pytest.mark.parametrize("name", target_names())
def test_the_example_breaks_no_rule(name: str):
    module = qdialect.load(ROOT / "examples" / "digits_qdq.onnx")
    report = qdialect.compile(module, target=name)
    known = {"tensorrt": {"zero-point", "storage-type"}, "onnxruntime-avx2": {"may-saturate"}}
    broken = {b.blocked.id for b in report.breaches} - known.get(name, set[str]())
    assert not broken, (
        f"rules of qdialect/targets/{name}.toml that no pass enforces on a model of u8 activations with zero points: "
        f"{broken}; where only the user can, state them in `known`"
    )


@pytest.mark.parametrize("largest", [64, 65])
def test_sums_of_two_products_fit_in_16_bits_or_not(largest: int):
    """Whichever two of an output's weights meet."""
    proto = model(
        [oh.make_node("QLinearMatMul", ["x_u", "s", "zu", "w", "s", "z", "s", "zu"], ["y_u"])],
        PAIR | {"w": np.array([[largest, 3], [0, -60], [64, 2], [-127, -64]], np.int8), "zu": np.uint8(7)},
        {"x_u": (3, 4)},
        ["y_u"],
    )
    violations = breaches(read(proto), target("onnxruntime-avx2"))
    assert [b.blocked.id for b in violations] == (["may-saturate"] if largest > 64 else [])
    assert not breaches(read(proto), target("onnxruntime"))


@pytest.mark.parametrize("per_axis", [False, True])
def test_zero_point_128_becomes_symmetric(per_axis: bool):
    """Weights, activations and boundaries; every element as before."""
    draw = np.random.default_rng(5)
    scales = np.array([0.02, 0.01, 0.03, 0.005], np.float32) if per_axis else np.float32(0.02)
    tensors: dict[str, npt.NDArray[Any]] = {
        "s": np.asarray(np.float32(0.03)),
        "z": np.asarray(np.uint8(128)),
        "ws": np.asarray(scales),
        "wz": np.full(np.shape(scales), 128, np.uint8),
        "w": draw.integers(0, 256, (4, 3, 3, 3)).astype(np.uint8),
    }
    axis = {"axis": 0} if per_axis else {}
    nodes = [
        q("x", "a"),
        dq("a", "b"),
        dq("w", "v", "w", **axis),
        oh.make_node("Conv", ["b", "v"], ["c"], pads=[1, 1, 1, 1]),
        q("c", "d"),
        dq("d", "e"),
        oh.make_node("MaxPool", ["e"], ["f"], kernel_shape=[2, 2]),
        q("f", "g"),
        dq("g", "y"),
    ]
    proto = model(nodes, tensors, {"x": (2, 3, 6, 5)}, ["y"])
    feeds = {"x": draw.uniform(-5, 5, (2, 3, 6, 5)).astype(np.float32)}
    expected = run(proto, feeds)
    module = read(onnx.ModelProto.FromString(proto.SerializeToString()))
    assert not qdialect.compile(module, target="tensorrt", exactness="exact").breaches
    result = export_model(module)
    assert {i.data_type for i in result.graph.initializer if "zero_point" in i.name} == {3}
    np.testing.assert_array_equal(run(result, feeds)[0], expected[0])


def test_narrow_storage_is_the_same_in_front_of_the_pair():
    """All 256 integers and the halves between, clamped in front in float or behind as integers."""
    nodes = [q("x", "a"), oh.make_node("Clip", ["a", "low", "high"], ["b"]), dq("b", "y")]
    for scale in (1e-6, 0.1, 0.037, 3.0, 1e4):
        tensors = {"s": np.float32(scale), "z": np.int8(-7), "low": np.int8(-100), "high": np.int8(57)}
        proto = model(nodes, tensors, {"x": (1024,)}, ["y"])
        x = (np.arange(-512, 512) * np.float32(scale) / 2).astype(np.float32)
        expected = run(proto, {"x": x})[0]
        module = read(onnx.ModelProto.FromString(proto.SerializeToString()))
        report = qdialect.compile(module, target="generic", exactness="exact")
        assert not report.breaches
        np.testing.assert_array_equal(run(export_model(module), {"x": x})[0], expected)


CONV = "x: 1x2x5x4x{x}\nw = [1, 2, 3, 4] : 2x2x1x1x{plain} as 2x2x1x1x{w}\n"
IN_FLOAT = {
    "no-kernel": CONV.format(x="!wide", plain="i8", w="!t") + "y = Conv(x, w, _) : 1x2x5x4xf32",
    "zero-point": CONV.format(x="!u", plain="i8", w="!s") + "y = Conv(x, w, _) : 1x2x5x4xf32",
    "zero-point of two activations": "x: 3x4x!u\nz: 4x5x!t\ny = MatMul(x, z) : 3x5xf32",
    "zero-point of a ConvTranspose": CONV.format(x="!u", plain="i8", w="!t")
    + "y = ConvTranspose(x, w, _) : 1x2x5x4xf32",
    "activation-per-axis": CONV.format(x="!like", plain="i8", w="!t") + "y = Conv(x, w, _) : 1x2x5x4xf32",
    "": CONV.format(x="!u", plain="i8", w="!t") + "y = Conv(x, w, _) : 1x2x5x4xf32",
}
"""Products between pairs that OpenVINO computes in float, by the reason; one that it does not."""


@pytest.mark.parametrize("reason", IN_FLOAT)
def test_products_that_a_target_computes_in_float(reason: str):
    _, module = parsed(text(Case("", "", IN_FLOAT[reason])))
    (product,) = (op for op in module.walk() if isinstance(op, OnnxOp) and op.get_trait(Linear) is not None)

    blocked = in_float(product, target("openvino"))

    assert (blocked.id if blocked is not None else "") == id_of(reason)
    assert in_float(product, target("generic")) is None or reason == "no-kernel"


def test_a_product_whose_scales_share_a_zero_point_is_computed_in_float():
    weight = "w = [5, 4, 3, 2, 1, 0] : 3x2xui8 as 3x2x!u\n"
    product = "y = MatMul(x, w) : 2x2xf32"
    _, module = parsed(text(Case("", "", f"x: 2x3x!shared\n{weight}{product}")))
    (product,) = (op for op in module.walk() if isinstance(op, OnnxOp) and op.get_trait(Linear) is not None)

    assert in_float(product, target("openvino")) is ACTIVATION_PER_AXIS
    assert in_float(product, target("generic")) is None


def test_what_is_quantized_at_run_time_stays_in_float_for_a_target_that_computes_it_so(tmp_path: Path):
    weight = np.arange(-12, 12, dtype=np.int8).reshape(4, 6)
    nodes = [
        oh.make_node("DynamicQuantizeLinear", ["x"], ["q", "s", "z"]),
        oh.make_node("MatMulInteger", ["q", "w", "z"], ["p"], "product"),
        oh.make_node("Cast", ["p"], ["f"], to=1),
        oh.make_node("Mul", ["f", "s"], ["y"]),
    ]
    inputs = [oh.make_tensor_value_info("x", 1, (3, 4))]
    outputs = [oh.make_tensor_value_info("y", 1, (3, 6))]
    graph = oh.make_graph(nodes, "g", inputs, outputs, [onh.from_array(weight, "w")])
    path = tmp_path / "model.onnx"
    onnx.save(oh.make_model(graph, opset_imports=[oh.make_opsetid("", 13)], ir_version=8), path)
    report = qdialect.compile(qdialect.load(path), target="openvino")
    (layer,) = [one for one in report.layers if one.node == "product"]
    assert layer.is_float
    assert [reason.blocked.id for reason in layer.reasons][:1] == ["float-sums"]
