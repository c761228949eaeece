"""If, Loop and Scan whose values are quantized on both sides: integers cross, and the numbers stay."""

from __future__ import annotations

from collections.abc import Callable
from typing import Any

import numpy as np
import numpy.typing as npt
import onnx
import onnx.helper as oh
import onnx.numpy_helper as onh
import pytest
from guard_cases import Case, last_op, parsed, text
from onnx_models import onnx_model
from xdsl.dialects.builtin import f16
from xdsl.dialects.func import ReturnOp

import qdialect
from qdialect.dialects.quant import Storage, StorageCastOp, UniformType
from qdialect.evaluation.session import run
from qdialect.onnx_io.exporter import export_model
from qdialect.onnx_io.importer import import_model
from qdialect.patterns.region_casts import is_expressible, yields_only

F, U8, I8, B = onnx.TensorProto.FLOAT, onnx.TensorProto.UINT8, onnx.TensorProto.INT8, onnx.TensorProto.BOOL
Feeds = dict[str, npt.NDArray[Any]]
RNG = np.random.default_rng(7)
X = RNG.normal(size=(2, 3, 6, 6)).astype(np.float32)
SHAPE = list(X.shape)


def parameters(signed: bool = False, **scales: float) -> list[onnx.TensorProto]:
    """A scale and a zero point for each name."""
    kind, zero = (np.int8, -3) if signed else (np.uint8, 117)
    proto = [onh.from_array(np.array(s, np.float32), f"{n}_s") for n, s in scales.items()]
    return proto + [onh.from_array(np.array(zero, kind), f"{n}_z") for n in scales]


def pair(x: str, y: str, by: str) -> list[onnx.NodeProto]:
    q = oh.make_node("QuantizeLinear", [x, f"{by}_s", f"{by}_z"], [f"{y}_q"])
    return [q, oh.make_node("DequantizeLinear", [f"{y}_q", f"{by}_s", f"{by}_z"], [y])]


def value(name: str, shape: Any = SHAPE, kind: int = F) -> onnx.ValueInfoProto:
    return oh.make_tensor_value_info(name, kind, shape)


def weights() -> list[onnx.TensorProto]:
    w = RNG.integers(-127, 128, (3, 3, 3, 3)).astype(np.int8)
    return [
        onh.from_array(w, "w_q"),
        onh.from_array(np.array(0.01, np.float32), "w_s"),
        onh.from_array(np.array(0, np.int8), "w_z"),
    ]


def model(
    nodes: list[onnx.NodeProto],
    inputs: list[onnx.ValueInfoProto],
    outputs: list[onnx.ValueInfoProto],
    constants: list[onnx.TensorProto],
) -> onnx.ModelProto:
    proto = onnx_model(nodes, inputs, outputs, constants)
    onnx.checker.check_model(proto, full_check=True)
    return proto


def conv(x: str, y: str) -> list[onnx.NodeProto]:
    dq = oh.make_node("DequantizeLinear", ["w_q", "w_s", "w_z"], [f"{y}_w"])
    return [dq, oh.make_node("Conv", [x, f"{y}_w"], [y], pads=[1, 1, 1, 1])]


def branches(other: str = "a", signed: bool = False) -> tuple[onnx.ModelProto, list[Feeds]]:
    """Both branches end in a pair, the second with the parameters `other`; a conv behind takes them again."""
    then = oh.make_graph([*conv("d", "t"), *pair("t", "tr", "a")], "then", [], [value("tr")])
    els = oh.make_graph(
        [oh.make_node("Relu", ["d"], ["e"]), *pair("e", "er", other)], "else", [], [value("er")]
    )
    nodes = [
        *pair("x", "d", "a"),
        oh.make_node("If", ["p"], ["r"], then_branch=then, else_branch=els),
        *pair("r", "rr", "a"),
        *conv("rr", "c"),
        *pair("c", "y", "b"),
    ]
    proto = model(
        nodes,
        [value("x"), value("p", [], B)],
        [value("y")],
        [*parameters(signed, a=0.02, b=0.07), *parameters(signed, o=0.05), *weights()],
    )
    return proto, [{"x": X, "p": np.array(p)} for p in (True, False)]


def captured() -> tuple[onnx.ModelProto, list[Feeds]]:
    """What a branch yields was dequantized outside of it; the other yields zeros."""
    then = oh.make_graph([oh.make_node("Identity", ["d"], ["t"])], "then", [], [value("t")])
    zeros = onh.from_array(np.zeros(SHAPE, np.float32), "z")
    els = oh.make_graph([oh.make_node("Constant", [], ["e"], value=zeros)], "else", [], [value("e")])
    nodes = [
        *pair("x", "d", "a"),
        oh.make_node("If", ["p"], ["r"], then_branch=then, else_branch=els),
        *conv("r", "c"),
        *pair("c", "y", "b"),
    ]
    constants = [*parameters(a=0.02, b=0.07), *weights()]
    proto = model(nodes, [value("x"), value("p", [], B)], [value("y")], constants)
    return proto, [{"x": X, "p": np.array(p)} for p in (True, False)]


def behind() -> tuple[onnx.ModelProto, list[Feeds]]:
    """Convs in float branches, quantized behind the If alone."""
    then = oh.make_graph(conv("d", "t"), "then", [], [value("t")])
    els = oh.make_graph([*conv("d", "u"), oh.make_node("Relu", ["u"], ["e"])], "else", [], [value("e")])
    nodes = [
        *pair("x", "d", "a"),
        oh.make_node("If", ["p"], ["r"], then_branch=then, else_branch=els),
        *pair("r", "y", "b"),
    ]
    constants = [*parameters(a=0.02, b=0.07), *weights()]
    proto = model(nodes, [value("x"), value("p", [], B)], [value("y")], constants)
    return proto, [{"x": X, "p": np.array(p)} for p in (True, False)]


def loop(signed: bool = False, own: str = "a") -> tuple[onnx.ModelProto, list[Feeds]]:
    """A state that is quantized before the loop and in each round, and what each round gives besides."""
    body = oh.make_graph(
        [
            *conv("v", "c"),
            *pair("c", "n", own),
            oh.make_node("MaxPool", ["n"], ["m"], kernel_shape=[2, 2]),
            oh.make_node("Identity", ["k"], ["kk"]),
        ],
        "body",
        [value("i", [], onnx.TensorProto.INT64), value("k", [], B), value("v")],
        [value("kk", [], B), value("n"), value("m", [2, 3, 5, 5])],
    )
    nodes = [
        *pair("x", "d", "a"),
        oh.make_node("Loop", ["rounds", "", "d"], ["f", "s"], body=body),
        *pair("f", "ff", own),
        *conv("ff", "g"),
        *pair("g", "y", "b"),
        *pair("s", "t", own),
    ]
    constants = [
        *parameters(signed, a=0.05, b=0.07, o=0.031),
        *weights(),
        onh.from_array(np.array(3), "rounds"),
    ]
    proto = model(nodes, [value("x")], [value("y"), value("t", [None, 2, 3, 5, 5])], constants)
    return proto, [{"x": X}]


def scan() -> tuple[onnx.ModelProto, list[Feeds]]:
    """Each row convolved in turn; the state is the largest so far, zeros at first."""
    body = oh.make_graph(
        [
            *conv("row", "c"),
            *pair("c", "e", "a"),
            oh.make_node("Max", ["m", "e"], ["n"]),
            *pair("n", "nn", "a"),
        ],
        "body",
        [value("m", [1, 3, 6, 6]), value("row", [1, 3, 6, 6])],
        [value("nn", [1, 3, 6, 6]), value("e", [1, 3, 6, 6])],
    )
    nodes = [
        *pair("x", "d", "a"),
        oh.make_node("Unsqueeze", ["d", "one"], ["rows"]),
        oh.make_node("Scan", ["zeros", "rows"], ["f", "s"], body=body, num_scan_inputs=1),
        *pair("f", "y", "a"),
        *pair("s", "t", "a"),
    ]
    constants = [
        *parameters(a=0.05),
        *weights(),
        onh.from_array(np.array([1]), "one"),
        onh.from_array(np.zeros((1, 3, 6, 6), np.float32), "zeros"),
    ]
    proto = model(nodes, [value("x")], [value("y", [1, 3, 6, 6]), value("t", [2, 1, 3, 6, 6])], constants)
    return proto, [{"x": X}]


MODELS: dict[str, Callable[[], tuple[onnx.ModelProto, list[Feeds]]]] = {
    "branches": branches,
    "signed branches": lambda: branches(signed=True),
    "branches of two types": lambda: branches("o"),
    "captured": captured,
    "behind": behind,
    "loop": loop,
    "signed loop": lambda: loop(signed=True),
    "loop of two types": lambda: loop(own="o"),
    "scan": scan,
}
INTEGER = ("branches", "signed branches", "captured", "behind", "loop", "signed loop", "scan")
"""All that is left to quantize is what comes in."""
STEP = {"branches": 0.07, "captured": 0.07, "behind": 0.07, "loop": 0.07, "scan": 0.05}


def everywhere(graph: onnx.GraphProto) -> list[onnx.NodeProto]:
    """The nodes of a graph and of the subgraphs in it."""
    everything: list[onnx.NodeProto] = []
    for node in graph.node:
        everything.append(node)
        for attribute in node.attribute:
            if attribute.type == onnx.AttributeProto.GRAPH:
                everything += everywhere(attribute.g)
    return everything


def count(proto: onnx.ModelProto, *op_types: str) -> int:
    return sum(node.op_type in op_types for node in everywhere(proto.graph))


@pytest.mark.parametrize("name", MODELS)
@pytest.mark.parametrize("target", ["onnxruntime", "generic", "tensorrt"])
@pytest.mark.parametrize("exactness", ["exact", "close"])
def test_compiled_control_flow_computes_the_same_numbers(name: str, target: str, exactness: str):
    proto, feeds = MODELS[name]()
    before = [run(proto, feed) for feed in feeds]
    module = import_model(proto)
    qdialect.compile(module, target=target, exactness=exactness, feeds=feeds)
    compiled = export_model(module)
    onnx.checker.check_model(compiled)
    # An integer conv rounds its sum once, so a value at a tie may fall a step aside; a loop goes on from there.
    step = STEP.get(name.removeprefix("signed ").split(" of ")[0], 0.07)
    for old, feed in zip(before, feeds, strict=True):
        for a, b in zip(old, run(compiled, feed), strict=True):
            if exactness == "exact":
                np.testing.assert_array_equal(a, b)
            elif "loop" in name:
                assert np.square(a - b).sum() < 1e-3 * np.square(a).sum()  # 30 dB
            else:
                np.testing.assert_allclose(b, a, rtol=0, atol=step * 1.001)


@pytest.mark.parametrize("name", INTEGER)
def test_integers_cross_the_borders_of_bodies(name: str):
    proto, _ = MODELS[name]()
    module = import_model(proto)
    qdialect.compile(module)
    compiled = export_model(module)
    assert count(compiled, "Conv", "ConvInteger") == 0
    assert count(compiled, "QuantizeLinear") == 1
    assert count(compiled, "DequantizeLinear") == len(proto.graph.output)


@pytest.mark.parametrize("name", MODELS)
def test_no_more_pairs_than_before(name: str):
    proto, _ = MODELS[name]()
    module = import_model(proto)
    qdialect.compile(module, target="generic")
    compiled = export_model(module)
    clamped = 1 if name == "behind" else 0  # the pair above its Relu keeps what it clamps in integers
    assert count(compiled, "QuantizeLinear") <= count(proto, "QuantizeLinear") + clamped


def test_sides_that_differ_stay_and_say_so():
    proto, _ = MODELS["loop of two types"]()
    report = qdialect.compile(import_model(proto))
    assert "sides-differ" in {remark.blocked.id for remark in report.remarks}


def test_products_of_branches_are_said_to_stay_in_float():
    model = onnx.parser.parse_model("""<ir_version: 8, opset_import: ["" : 17]>
        g (float[2,3] x, bool c) => (float[2,4] y) <float[3,4] w> {
            y = If(c) <
                then_branch = yes () => (float[2,4] o) { o = MatMul(x, w) },
                else_branch = no () => (float[2,4] p) { r = Relu(x) p = MatMul(r, w) }
            >
        }""")
    model.graph.initializer.append(onh.from_array(RNG.normal(size=(3, 4)).astype(np.float32), "w"))
    del model.graph.value_info[:]
    done = qdialect.quantize(
        import_model(model), [{"x": np.ones((2, 3), np.float32), "c": np.array(k)} for k in (True, False)]
    )
    wanted = (
        "every layer stays in float: its products are in branches of an If, whose tensors are not profiled"
    )
    assert done.summary()[0] == wanted


def test_a_body_states_the_sizes_of_the_stack():
    """A session that runs no iteration takes the sizes of an empty stack from there."""
    _, module = parsed("""
    func.func @main(%n: tensor<i64>, %x: tensor<?x3xf32>) -> (tensor<?x3xf32>, tensor<?x5x3xf32>, tensor<*xf32>) {
      %s, %y, %z = onnx.Loop(%n, _, %x) body {
      ^bb0(%i: tensor<i64>, %k: tensor<i1>, %v: tensor<?x3xf32>):
        onnx.Yield(%k, %v, %v, %v) : (tensor<i1>, tensor<?x3xf32>, tensor<?x3xf32>, tensor<?x3xf32>) -> ()
      } : (tensor<i64>, tensor<?x3xf32>) -> (tensor<?x3xf32>, tensor<?x5x3xf32>, tensor<*xf32>)
      func.return %s, %y, %z : tensor<?x3xf32>, tensor<?x5x3xf32>, tensor<*xf32>
    }""")
    body = export_model(module).graph.node[0].attribute[0].g
    sizes = [[d.dim_value for d in out.type.tensor_type.shape.dim] for out in body.output]
    assert sizes == [[], [0, 3], [5, 3], [0, 3]]


@pytest.mark.parametrize(
    ("constant", "storage", "expected"),
    [
        ("[1, -3] : 2xi8", Storage.of("i8"), True),
        ("[1, 3] : 2xui8", Storage.of("i8"), False),
        ("[1, -3] : 2xi8", Storage.make(8, True, -100, 100), False),
    ],
)
def test_integers_that_are_those_of_a_type(constant: str, storage: Storage, expected: bool):
    op = last_op(f"k = {constant}\ny = Identity(k) : {constant.rpartition(' ')[2]}")
    type = UniformType.per_tensor(storage, np.float32(0.5))
    assert is_expressible(op.operands[0], type, StorageCastOp) is expected


def per_tensor(storage: str, scale: float, zero: int = 0, expressed: Any = None) -> UniformType:
    type = UniformType.per_tensor(Storage.of(storage), np.float32(scale), zero)
    return type if expressed is None else type.replace(expressed=expressed)


@pytest.mark.parametrize(
    ("constant", "type", "expected"),
    [
        ("[1.0, -63.5] : 2xf32", per_tensor("i8", 0.5, -3), False),
        ("[1.0, -62.5] : 2xf32", per_tensor("i8", 0.5, -3), True),
        ("[1.25, 1.0] : 2xf32", per_tensor("i8", 0.5, -3), False),
        ("[1.0, -62.5] : 2xf64", per_tensor("i8", 0.5, -3), False),
        ("[1.0, -62.5] : 2xf16", per_tensor("i8", 0.5, -3), False),
        ("[1.0, -62.5] : 2xf16", per_tensor("i8", 0.5, -3, f16), True),
    ],
)
def test_what_a_type_expresses_exactly(constant: str, type: UniformType, expected: bool):
    op = last_op(f"k = {constant}\ny = Identity(k) : {constant.rpartition(' ')[2]}")
    assert is_expressible(op.operands[0], type) is expected


def test_what_a_function_returns_is_not_only_yielded():
    _, module = parsed(text(Case("", "", "x: 2xf32\ny = Relu(x) : 2xf32")))
    (end,) = (op for op in module.walk() if isinstance(op, ReturnOp))
    assert not yields_only(end, 0)
