"""
What an op's runtime finds by place or name stays: results that say what the op does, names of subgraphs' inputs and
outputs. And what ends in a subgraph's result, not in an op, is compiled.
"""

from __future__ import annotations

from collections.abc import Sequence
from typing import Any

import numpy as np
import onnx
import onnxruntime as ort
import pytest
from onnx import TensorProto, helper, numpy_helper

import qdialect
from qdialect.evaluation.session import run

MS = "com.microsoft"
F, I32, I64 = TensorProto.FLOAT, TensorProto.INT32, TensorProto.INT64
B, S, N, H, P = 1, 1, 2, 16, 4
"""Sizes: batch, steps, heads, columns of a head, past steps."""
node, info = helper.make_node, helper.make_tensor_value_info


def floats(*shape: int, seed: int = 0) -> np.ndarray[Any, np.dtype[np.float32]]:
    return np.random.default_rng(seed).standard_normal(shape).astype(np.float32)


def constant(name: str, value: Any) -> onnx.TensorProto:
    return numpy_helper.from_array(np.asarray(value), name)


def compiled(model: onnx.ModelProto, target: str = "onnxruntime", **options: Any) -> onnx.ModelProto:
    module = qdialect.load(model)
    qdialect.compile(module, target=target, **options)
    return qdialect.to_model(module)


def in_default_session(model: onnx.ModelProto, feeds: dict[str, Any]) -> list[Any]:
    options = ort.SessionOptions()
    options.log_severity_level = 4
    return list(ort.InferenceSession(model.SerializeToString(), options).run(None, feeds))


def model_of(
    nodes: list[onnx.NodeProto],
    inputs: list[onnx.ValueInfoProto],
    outputs: list[str],
    tensors: Sequence[onnx.TensorProto] = (),
    opset: int = 17,
) -> onnx.ModelProto:
    graph = helper.make_graph(nodes, "g", inputs, [onnx.ValueInfoProto(name=o) for o in outputs], tensors)
    imports = [helper.make_opsetid("", opset), helper.make_opsetid(MS, 1), helper.make_opsetid("own", 1)]
    return helper.make_model(graph, opset_imports=imports, ir_version=10)


def assert_same(
    model: onnx.ModelProto, feeds: dict[str, Any], target: str = "onnxruntime"
) -> onnx.ModelProto:
    """Bit-identical with optimization disabled, and close in a default session."""
    result = compiled(model, target, exactness="exact")
    for one, other in zip(run(model, feeds), run(result, feeds), strict=True):
        assert one.tobytes() == other.tobytes()
    for one, other in zip(in_default_session(model, feeds), in_default_session(result, feeds), strict=True):
        np.testing.assert_allclose(one, other, rtol=1e-4, atol=1e-4)
    return result


PAST = [("pk", [B, N, P, H]), ("pv", [B, N, P, H])]
QKV = [(name, [B, S, N * H]) for name in "qkv"]
WIDE = [("x", [B, S, N * H]), ("past", [2, B, N, P, H])]
LENGTHS = [constant("sl", np.array([P], np.int32)), constant("tl", np.int32(P + 1))]
WEIGHTS = [constant("w", floats(N * H, 3 * N * H)), constant("b", floats(3 * N * H))]
BYTES = [
    constant("w8", np.random.default_rng(0).integers(0, 255, (N * H, 3 * N * H)).astype(np.uint8)),
    constant("b", floats(3 * N * H)),
    *(constant(name, np.float32(0.02)) for name in ("xs", "ws")),
    *(constant(name, np.uint8(128)) for name in ("xz", "wz")),
]
Case = tuple[
    str, str, list[str], list[str], list[tuple[str, list[int]]], list[onnx.TensorProto], dict[str, Any], int
]
STATES: dict[str, Case] = {
    "grouped": (
        "GroupQueryAttention",
        MS,
        ["q", "k", "v", "pk", "pv", "sl", "tl"],
        ["o", "prk", "prv"],
        [*QKV, *PAST],
        LENGTHS,
        {"num_heads": N, "kv_num_heads": N},
        17,
    ),
    "heads": (
        "MultiHeadAttention",
        MS,
        ["q", "k", "v", "", "", "", "pk", "pv"],
        ["o", "prk", "prv"],
        [*QKV, *PAST],
        [],
        {"num_heads": N},
        17,
    ),
    **{
        f"onnx-{opset}": (
            "Attention",
            "",
            ["q", "k", "v", "", "pk", "pv"],
            ["o", "prk", "prv"],
            [*QKV, *PAST],
            [],
            {"q_num_heads": N, "kv_num_heads": N},
            opset,
        )
        for opset in (23, 24)
    },
    "onnx-causal": (
        "Attention",
        "",
        ["q", "k", "v", "", "pk", "pv"],
        ["o", "prk", "prv"],
        [*QKV, *PAST],
        [],
        {"q_num_heads": N, "kv_num_heads": N, "is_causal": 1},
        23,
    ),
    "microsoft": (
        "Attention",
        MS,
        ["x", "w", "b", "", "past"],
        ["o", "present"],
        WIDE,
        WEIGHTS,
        {"num_heads": N, "unidirectional": 1},
        17,
    ),
    "bytes": (
        "QAttention",
        MS,
        ["x8", "w8", "b", "xs", "ws", "", "xz", "wz", "past"],
        ["o", "present"],
        WIDE,
        BYTES,
        {"num_heads": N, "unidirectional": 1},
        17,
    ),
}


def state_model(case: Case) -> tuple[onnx.ModelProto, dict[str, Any]]:
    name, domain, inputs, outputs, shapes, tensors, attributes, opset = case
    nodes = [node(name, inputs, outputs, domain=domain, **attributes)]
    if "x8" in inputs:
        nodes.insert(0, node("QuantizeLinear", ["x", "xs", "xz"], ["x8"]))
    feeds = {one: floats(*shape, seed=k) for k, (one, shape) in enumerate(shapes)}
    infos = [info(one, F, shape) for one, shape in shapes]
    return model_of(nodes, infos, ["o"], tensors, opset), feeds


@pytest.mark.parametrize("target", ["onnxruntime", "generic"])
@pytest.mark.parametrize("name", STATES)
def test_an_unread_present_stays_beside_a_past(name: str, target: str):
    model, feeds = state_model(STATES[name])
    if target == "generic" and name == "bytes":
        target = "onnxruntime"
    result = assert_same(model, feeds, target)
    [one] = [n for n in result.graph.node if n.op_type.endswith("Attention")]
    assert len(one.output) == len(STATES[name][3])


@pytest.mark.parametrize("opset", [23, 24])
def test_an_unread_present_goes_without_a_past(opset: int):
    inputs, outputs = ["q", "k", "v"], ["o", "prk", "prv"]
    nodes = [node("Attention", inputs, outputs, q_num_heads=N, kv_num_heads=N)]
    model = model_of(nodes, [info(one, F, shape) for one, shape in QKV], ["o"], opset=opset)
    result = compiled(model, exactness="exact")
    feeds = {one: floats(*shape, seed=k) for k, (one, shape) in enumerate(QKV)}
    assert [len(n.output) for n in result.graph.node if n.op_type == "Attention"] in ([], [1])
    assert run(model, feeds)[0].tobytes() == run(result, feeds)[0].tobytes()


@pytest.mark.parametrize("quantized", [False, True])
@pytest.mark.parametrize("mask", [False, True])
@pytest.mark.parametrize("target", ["onnxruntime", "generic", "tensorrt"])
def test_an_embedding_keeps_its_unread_mask_index(mask: bool, quantized: bool, target: str):
    width = 8
    inputs = ["ids", "", "word", "pos", "", "g", "b", *(["mask"] if mask else [])]
    nodes = [node("EmbedLayerNormalization", inputs, ["e", "unread"], domain=MS)]
    tensors = [constant("word", floats(20, width)), constant("pos", floats(16, width))]
    tensors += [constant(name, floats(width)) for name in "gb"]
    if quantized:
        nodes += [
            node("QuantizeLinear", ["e", "s", "z"], ["eq"]),
            node("DequantizeLinear", ["eq", "s", "z"], ["ed"]),
            node("DequantizeLinear", ["w8", "s", "z8"], ["w"]),
        ]
        tensors += [constant("s", np.float32(0.02)), constant("z", np.uint8(128)), constant("z8", np.int8(0))]
        tensors.append(constant("w8", np.arange(-12, 12, dtype=np.int8).reshape(width, 3)))
    else:
        tensors.append(constant("w", floats(width, 3)))
    nodes.append(node("MatMul", ["ed" if quantized else "e", "w"], ["y"]))
    names = ["ids", "mask"] if mask else ["ids"]
    model = model_of(nodes, [info(name, I32, [1, 4]) for name in names], ["y"], tensors)
    assert_same(model, {name: np.ones((1, 4), np.int32) for name in names}, target)


UNREAD: dict[str, tuple[list[onnx.NodeProto], list[onnx.TensorProto], int]] = {
    "MaxPool": ([node("MaxPool", ["x4"], ["y", "i"], kernel_shape=[2, 2])], [], 1),
    "Dropout": ([node("Dropout", ["x"], ["y", "mask"])], [], 0),
    "LayerNormalization": (
        [node("LayerNormalization", ["x", "g"], ["y", "m", "v"])],
        [constant("g", floats(6))],
        1,
    ),
    "Unique": ([node("Unique", ["x"], ["y", "i", "j", "k"])], [], 1),
    "SkipLayerNormalization": (
        [node("SkipLayerNormalization", ["x3", "x3", "g"], ["y", "", "", "s"], domain=MS)],
        [constant("g", floats(6))],
        1,
    ),
    "SkipSimplifiedLayerNormalization": (
        [node("SkipSimplifiedLayerNormalization", ["x3", "x3", "g"], ["y", "", "", "s"], domain=MS)],
        [constant("g", floats(6))],
        1,
    ),
    **{
        kind: (
            [node(kind, ["x3", "w", "r"], ["y", *(["h", "c"][: 2 if kind == "LSTM" else 1])], hidden_size=2)],
            [constant("w", floats(1, 2 * gates, 6)), constant("r", floats(1, 2 * gates, 2))],
            1,
        )
        for kind, gates in (("LSTM", 4), ("GRU", 3), ("RNN", 1))
    },
}


@pytest.mark.parametrize("name", UNREAD)
def test_results_that_change_no_other_are_dropped_unread(name: str):
    nodes, tensors, left = UNREAD[name]
    reshapes = [node("Reshape", ["x", "s4"], ["x4"]), node("Reshape", ["x", "s3"], ["x3"])]
    reshapes = [n for n in reshapes if n.output[0] in nodes[0].input]
    tensors = [*tensors, constant("s4", np.array([1, 1, 4, 6])), constant("s3", np.array([1, 4, 6]))]
    model = model_of([*reshapes, *nodes], [info("x", F, [4, 6])], ["y"], tensors)
    result = assert_same(model, {"x": floats(4, 6)})
    assert [len(n.output) for n in result.graph.node if n.op_type == name] == [left] * bool(left)


def decoder(inner: str, past: str, outer: bool) -> onnx.GraphProto:
    """A decoder of one layer, as GreedySearch wants it. outer: whether it reads a tensor of the graph around it."""
    nodes = [
        node("Gather", ["emb", inner], ["e"]),
        node("Reshape", ["e", "shape"], ["e4"]),
        node("MatMul", ["e", "proj"], ["logits" if not outer else "l"]),
        node("Transpose", ["e4"], ["e5"], perm=[0, 2, 1, 3]),
        node("Unsqueeze", ["e5", "zero"], ["e6"]),
        node("Concat", ["e6", "e6"], ["e7"], axis=0),
        node("Concat", [past, "e7"], ["present_0"], axis=3),
    ]
    if outer:
        nodes.append(node("Add", ["l", "outside"], ["logits"]))
    inputs = [info(inner, I32, ["b", "s"]), info("position_ids", I32, ["b", "s"])]
    inputs += [info("attention_mask", I32, ["b", "t"]), info(past, F, [2, "b", 2, "p", 4])]
    outputs = [info("logits", F, ["b", "s", 12]), info("present_0", F, [2, "b", 2, "t", 4])]
    tensors = [constant("emb", floats(12, 8)), constant("proj", floats(8, 12, seed=1))]
    tensors += [constant("shape", np.array([0, 0, 2, 4])), constant("zero", np.array([0]))]
    return helper.make_graph(nodes, "decoder", inputs, outputs, tensors)


SEARCHES: dict[str, tuple[list[str], dict[str, Any]]] = {
    "GreedySearch": (["max", "min"], {}),
    "BeamSearch": (["max", "min", "beams", "returned", "penalty", "repetition"], {}),
    "Sampling": (["max", "min"], {"temperature": 1.0, "top_p": 0.0, "filter_value": -1e30}),
}
LENGTHS_OF_SEARCH = [
    constant("max", np.array([8], np.int32)),
    constant("min", np.array([1], np.int32)),
    constant("beams", np.array([2], np.int32)),
    constant("returned", np.array([1], np.int32)),
    constant("penalty", np.array([1], np.float32)),
    constant("repetition", np.array([1], np.float32)),
]


def sequence(results: list[Any]) -> list[int]:
    """The tokens up to the last one; behind it, memory that nothing was written to."""
    tokens = results[0].ravel().tolist()
    return tokens[: tokens.index(1)] if 1 in tokens else tokens


@pytest.mark.parametrize("target", ["onnxruntime", "openvino"])
@pytest.mark.parametrize("kind", SEARCHES)
@pytest.mark.parametrize("name", ["input_ids", "attention_mask", "past_0", "position_ids", "ids"])
def test_a_search_finds_the_inputs_and_outputs_of_its_decoder(kind: str, name: str, target: str):
    """name: of the graph's input, which the decoder has too."""
    inputs, attributes = SEARCHES[kind]
    body = decoder("input_ids", "past_0", outer=False)
    search = node(
        kind,
        [name, *inputs],
        ["sequences"],
        domain=MS,
        decoder=body,
        eos_token_id=1,
        pad_token_id=1,
        **attributes,
    )
    model = model_of([search], [info(name, I32, ["b", "s"])], ["sequences"], LENGTHS_OF_SEARCH)
    feeds = {name: np.array([[2, 3, 4]], np.int32)}
    result = compiled(model, target, exactness="exact")
    [graph] = [a.g for n in result.graph.node for a in n.attribute if a.name == "decoder"]
    assert [i.name for i in graph.input] == [i.name for i in body.input]
    assert [o.name for o in graph.output] == [o.name for o in body.output]
    for session in (run, in_default_session):
        assert sequence(session(model, feeds)) == sequence(session(result, feeds))


@pytest.mark.parametrize("name", ["attention_mask", "past_0", "position_ids", "input_ids"])
def test_a_decoder_reads_what_has_the_name_of_its_own_input_outside(name: str):
    """Once the Identity is gone, the graph's input is read in the decoder, where its name means another tensor."""
    search = node(
        "GreedySearch", ["ids", "max", "min"], ["sequences"], domain=MS,
        decoder=decoder("input_ids", "past_0", outer=True), eos_token_id=1, pad_token_id=1,
    )  # fmt: skip
    nodes = [node("Identity", [name], ["outside"]), search]
    inputs = [info("ids", I32, [1, 3]), info(name, F, [12])]
    model = model_of(nodes, inputs, ["sequences"], LENGTHS_OF_SEARCH[:2])
    feeds = {"ids": np.array([[2, 3, 4]], np.int32), name: 40 * floats(12, seed=5)}
    result = compiled(model, exactness="exact")
    assert sequence(run(model, feeds)) == sequence(run(result, feeds))


@pytest.mark.parametrize("wrapped", [False, True])
@pytest.mark.parametrize("same", [("x",), ("y",), ("x", "y"), ("k",)])
def test_subgraphs_of_unknown_ops_keep_their_names(same: tuple[str, ...], wrapped: bool):
    """same: names that the graph, the subgraph, or both have."""
    inside, start, end = "k" if "k" in same else "m", "x" if "x" in same else "a", "y" if "y" in same else "b"
    steps = [node("Relu", [start], [inside]), node("Neg", [inside], [end])]
    body = helper.make_graph(steps, "body", [info(start, F, [2])], [info(end, F, [2])])
    own = node("Repeat", ["k"], ["y"], domain="own", body=body)
    nodes = [node("Abs", ["x"], ["k"]), own]
    model = model_of(nodes, [info("x", F, [2])], ["y"])
    if wrapped:
        branch = helper.make_graph(nodes, "t", [], [onnx.ValueInfoProto(name="y")])
        other = helper.make_graph([node("Neg", ["x"], ["n"])], "e", [], [onnx.ValueInfoProto(name="n")])
        chosen = node("If", ["c"], ["z"], then_branch=branch, else_branch=other)
        model = model_of([chosen], [info("x", F, [2]), info("c", TensorProto.BOOL, [])], ["z"])
    result = compiled(model)
    graphs = [result.graph, *(a.g for n in result.graph.node for a in n.attribute if a.HasField("g"))]
    [graph] = [a.g for g in graphs for n in g.node if n.op_type == "Repeat" for a in n.attribute]
    assert ([i.name for i in graph.input], [o.name for o in graph.output]) == ([start], [end])


TABLE = constant("t", floats(20, 8))
ENDS: dict[str, list[onnx.NodeProto]] = {
    "Gather": [node("Gather", ["t", "i"], ["y"])],
    "Gather, 2-D": [node("Reshape", ["i", "two"], ["ii"]), node("Gather", ["t", "ii"], ["y"])],
    "Gather, Add": [node("Gather", ["t", "i"], ["g"]), node("Add", ["g", "v"], ["y"])],
    "Gather, Cast": [node("Gather", ["t", "i"], ["g"]), node("Cast", ["g"], ["y"], to=10)],
    "Gather, Reshape": [node("Gather", ["t", "i"], ["g"]), node("Reshape", ["g", "rows"], ["y"])],
    "Gather, Relu, and the rows": [node("Gather", ["t", "i"], ["y"]), node("Relu", ["y"], ["unread"])],
    "Gather, Relu, Neg": [node("Gather", ["t", "i"], ["g"]), node("Relu", ["g"], ["r"]), node("Neg", ["r"], ["y"])],
    "Gather, Split": [node("Gather", ["t", "i"], ["g"]), node("Split", ["g"], ["y", "rest"], axis=1)],
    "Gather, TopK": [node("Gather", ["t", "i"], ["g"]), node("TopK", ["g", "k"], ["y", "places"])],
    "Gather of integers": [node("DequantizeLinear", ["t8", "s", "z"], ["d"]), node("Gather", ["d", "i"], ["y"])],
    "Gather, quantized": [node("Gather", ["t", "i"], ["g"]), node("QuantizeLinear", ["g", "s", "z"], ["y"])],
    "GatherND": [node("Unsqueeze", ["i", "k"], ["ii"]), node("GatherND", ["t", "ii"], ["y"])],
}  # fmt: skip
OF_ENDS = [
    TABLE,
    constant("v", floats(8)),
    constant("rows", np.array([-1, 8])),
    constant("two", np.array([1, 2])),
    constant("k", np.array([1])),
    constant("s", np.float32(0.02)),
    constant("z", np.int8(0)),
    constant("t8", np.arange(160, dtype=np.uint8).view(np.int8).reshape(20, 8)),
]


@pytest.mark.parametrize("target", ["onnxruntime", "tensorrt"])
@pytest.mark.parametrize("around", ["If", "Loop", "Scan"])
@pytest.mark.parametrize("name", ENDS)
def test_rows_of_a_table_are_what_a_subgraph_gives(name: str, around: str, target: str):
    used = {one for n in ENDS[name] for one in n.input}
    tensors = [t for t in OF_ENDS if t.name in used]
    value, truth = onnx.ValueInfoProto(name="y"), info("c", TensorProto.BOOL, [])
    if around == "If":
        branch = helper.make_graph(ENDS[name], "t", [], [value], tensors)
        other = helper.make_graph(ENDS[name], "e", [], [value], tensors)
        nodes = [node("If", ["c"], ["out"], then_branch=branch, else_branch=other)]
        inputs, feeds = [truth, info("i", I64, [2])], {"c": np.array(True), "i": np.array([1, 2])}
    elif around == "Loop":
        inner = [node("Identity", ["go"], ["goes"]), *ENDS[name]]
        ends = [info("n", I64, []), info("go", TensorProto.BOOL, [])]
        body = helper.make_graph(inner, "b", ends, [info("goes", TensorProto.BOOL, []), value], tensors)
        nodes = [node("Loop", ["trip", "c"], ["out"], body=body)]
        inputs = [truth, info("i", I64, [2]), info("trip", I64, [])]
        feeds = {"c": np.array(True), "i": np.array([1, 2]), "trip": np.array(2)}
    else:
        body = helper.make_graph(ENDS[name], "b", [info("i", I64, [2])], [value], tensors)
        nodes = [node("Scan", ["is"], ["out"], body=body, num_scan_inputs=1)]
        inputs, feeds = [info("is", I64, [3, 2])], {"is": np.array([[1, 2], [3, 4], [5, 6]])}
    model = model_of(nodes, inputs, ["out"])
    assert_same(model, feeds, target)
