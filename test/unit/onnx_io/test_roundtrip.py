"""
ONNX -> module -> text -> module -> ONNX: what a model computes, says and is called survives both ways.

Every model goes through text with its constants in it. Where onnxruntime can run it, outputs are compared bit by bit.
"""

from collections.abc import Callable, Sequence
from io import StringIO
from typing import Any

import numpy as np
import numpy.typing as npt
import onnx
import pytest
from guard_cases import full_context
from onnx import ModelProto, NodeProto, TensorProto, helper, numpy_helper

from qdialect.errors import UserError
from qdialect.evaluation.feeds import random_feeds
from qdialect.evaluation.session import run
from qdialect.onnx_io.exporter import export_model
from qdialect.onnx_io.importer import import_model
from qdialect.text.assembly import parse_module, print_module

FLOAT = TensorProto.FLOAT
Array = npt.NDArray[Any]
Feeds = dict[str, Array]
Made = tuple[ModelProto, Feeds | None]

X: Array = np.array([[-1.5, 0.25, 3.0], [2.0, -0.0, 7.75]], np.float32)
node = helper.make_node


def value(name: str, shape: Sequence[int | str | None] = (2, 3), kind: int = FLOAT):
    return helper.make_tensor_value_info(name, kind, shape)


def weight(name: str, values: Any) -> TensorProto:
    return numpy_helper.from_array(np.asarray(values), name)


def model(
    nodes: Sequence[NodeProto],
    inputs: Sequence[Any] = (value("x"),),
    outputs: Sequence[Any] = (value("y"),),
    weights: Sequence[TensorProto] = (),
    opset: int = 18,
    **more: Any,
) -> ModelProto:
    graph = helper.make_graph(list(nodes), "the graph", list(inputs), list(outputs), list(weights))
    imports = [helper.make_opsetid("", opset), *(helper.make_opsetid(d, 1) for d in more.pop("domains", ()))]
    return helper.make_model(graph, opset_imports=imports, ir_version=9, **more)


def through_text(source: ModelProto) -> ModelProto:
    copy = ModelProto.FromString(source.SerializeToString())
    module = import_model(copy)
    module.verify()
    text = StringIO()
    print_module(module, text, locations=True, constants="inline")
    context = full_context()
    read = parse_module(context, text.getvalue(), "text", None)
    read.verify()
    again = StringIO()
    print_module(read, again, locations=True, constants="inline")
    assert again.getvalue() == text.getvalue()
    return export_model(read)


def branches() -> Made:
    """If in Loop in If, each with values of the graphs around it; one branch returns an outer value as it is."""
    body = helper.make_graph(
        [
            node(
                "If",
                ["keep"],
                ["inner"],
                "pick",
                then_branch=helper.make_graph(
                    [node("Add", ["state", "x"], ["sum"])], "then", [], [value("sum")]
                ),
                else_branch=helper.make_graph(
                    [node("Mul", ["state", "negative"], ["product"])], "else", [], [value("product")]
                ),
            ),
            node("Identity", ["going"], ["on"]),
            node("ReduceSum", ["inner"], ["total"], keepdims=0),
        ],
        "body",
        [value("i", (), TensorProto.INT64), value("going", (), TensorProto.BOOL), value("state")],
        [value("on", (), TensorProto.BOOL), value("inner"), value("total", ())],
    )
    loop = node("Loop", ["count", "", "negative"], ["last", "totals"], "loop", body=body)
    then = helper.make_graph([loop], "outer then", [], [value("last"), value("totals", (None,))])
    zero = node("Constant", [], ["none"], value=weight("", np.zeros(0, np.float32)))
    other = helper.make_graph(
        [zero, node("Identity", ["x"], ["same"])], "outer else", [], [value("same"), value("none", (None,))]
    )
    nodes = [
        node("Neg", ["x"], ["negative"], "neg"),
        node("If", ["keep"], ["y", "z"], "choose", then_branch=then, else_branch=other),
    ]
    inputs = [value("x"), value("keep", (), TensorProto.BOOL)]
    proto = model(nodes, inputs, [value("y"), value("z", (None,))], [weight("count", np.array(3))])
    return proto, {"x": X, "keep": np.array(True)}


def scan() -> Made:
    body = helper.make_graph(
        [node("Add", ["carry", "row"], ["next"]), node("Mul", ["next", "scale"], ["out"])],
        "rows",
        [value("carry", (3,)), value("row", (3,))],
        [value("next", (3,)), value("out", (3,))],
    )
    nodes = [node("Scan", ["start", "x"], ["end", "y"], body=body, num_scan_inputs=1)]
    weights = [weight("start", np.ones(3, np.float32)), weight("scale", np.array([0.5, 3, -1], np.float32))]
    return model(nodes, outputs=[value("end", (3,)), value("y")], weights=weights), {"x": X}


def functions() -> Made:
    """A function that calls another, with an attribute handed on."""
    imports = [helper.make_opsetid("", 18), helper.make_opsetid("mine", 1)]
    leak = helper.make_function(
        "mine", "Leak", ["a"], ["b"], [node("LeakyRelu", ["a"], ["b"])], imports, ["slope"]
    )
    reference = onnx.AttributeProto(name="alpha", type=onnx.AttributeProto.FLOAT, ref_attr_name="slope")
    leak.node[0].attribute.append(reference)
    inner = node("Leak", ["a"], ["c"], domain="mine", slope=0.25)
    twice = helper.make_function(
        "mine", "Twice", ["a"], ["d"], [inner, node("Add", ["c", "c"], ["d"])], imports
    )
    nodes = [node("Twice", ["x"], ["h"], "call", domain="mine"), node("Abs", ["h"], ["y"])]
    return model(nodes, functions=[leak, twice], domains=["mine"]), {"x": X}


def lstm() -> Made:
    """Inputs left out between others, the first two outputs left out."""
    rng = np.random.default_rng(0)
    w, r, h = (rng.standard_normal(s).astype(np.float32) for s in ((1, 8, 3), (1, 8, 2), (1, 1, 2)))
    nodes = [node("LSTM", ["x", "w", "r", "", "", "h"], ["", "", "c"], "cell", hidden_size=2)]
    inputs, outputs = [value("x", (4, 1, 3))], [value("c", (1, 1, 2))]
    weights = [weight("w", w), weight("r", r), weight("h", h)]
    return model(nodes, inputs, outputs, weights), {"x": rng.standard_normal((4, 1, 3)).astype(np.float32)}


def sequences() -> Made:
    nodes = [
        node("SplitToSequence", ["x"], ["parts"], axis=0),
        node("Optional", ["parts"], ["maybe"]),
        node("OptionalGetElement", ["maybe"], ["surely"]),
        node("SequenceAt", ["surely", "one"], ["y"]),
    ]
    return model(nodes, outputs=[value("y", (1, 3))], weights=[weight("one", np.array(1))]), {"x": X}


def texts() -> Made:
    """Strings in a constant, with letters beyond ASCII, an empty one and a NUL."""
    words = numpy_helper.from_array(np.array(["a", "\u20ac", "", "b\0c"], object), "words")
    nodes = [node("Equal", ["s", "words"], ["same"]), node("Cast", ["same"], ["y"], to=FLOAT)]
    proto = model(nodes, [value("s", (4,), TensorProto.STRING)], [value("y", (4,))], [words], opset=19)
    return proto, {"s": np.array(["a", "x", "", "b"], object)}


def sparse() -> Made:
    proto = model([node("MatMul", ["x", "w"], ["y"])], outputs=[value("y", (2, 2))])
    entries = weight("w", np.array([1.5, -2.0], np.float32))
    where = weight("", np.array([1, 4]))
    proto.graph.sparse_initializer.append(helper.make_sparse_tensor(entries, where, [3, 2]))
    return proto, {"x": X}


def overridable() -> Made:
    proto = model(
        [node("Mul", ["x", "w"], ["y"])],
        [value("x"), value("w", (3,))],
        weights=[weight("w", np.arange(3, dtype=np.float32))],
    )
    return proto, {"x": X, "w": np.array([2, -1, 0.5], np.float32)}


def outputs_of_all_kinds() -> Made:
    """An input, an initializer and a constant as outputs; one value under two names."""
    nodes = [
        node("Relu", ["x"], ["r"]),
        node("Identity", ["r"], ["again"]),
        node("Constant", [], ["c"], value_floats=[0.5, 1.5]),
    ]
    names = [value("x"), value("w", (2,)), value("c", (2,)), value("r"), value("again")]
    return model(nodes, outputs=names, weights=[weight("w", np.array([1, 2], np.float32))]), {"x": X}


def unsorted() -> Made:
    """Nodes in no order and with one name, as old exporters write them; onnxruntime refuses the order."""
    nodes = [node("Abs", ["h"], ["y"], "n"), node("Neg", ["x"], ["h"], "n")]
    return model(nodes), None


def unknown_domain() -> Made:
    nodes = [
        node(
            "Twist",
            ["x", "", "x"],
            ["y"],
            "t",
            domain="their.ops",
            k=2,
            f=0.1,
            s="text",
            v=[1, 2],
            t=weight("t", X),
        )
    ]
    return model(nodes, domains=["their.ops"]), None


def described() -> Made:
    """Symbolic sizes, metadata, texts, a denotation, annotations: what says something and computes nothing."""
    proto = model(
        [node("Add", ["x", "w"], ["h"], "add", doc_string="why"), node("Relu", ["h"], ["y"], "relu")],
        [value("x", ("batch", 3))],
        [value("y", ("batch", 3))],
        [weight("w", np.ones(3, np.float32)), weight("s", np.float32(0.02)), weight("z", np.uint8(13))],
        producer_name="maker",
        producer_version="1.2",
        doc_string="a model",
        model_version=7,
    )
    proto.graph.doc_string = "a graph"
    proto.graph.input[0].type.denotation = "IMAGE"
    proto.graph.value_info.append(value("h", ("batch", 3)))
    helper.set_model_props(proto, {"author": "somebody", "task": "test"})
    note = proto.graph.quantization_annotation.add(tensor_name="h")
    for key, name in (("SCALE_TENSOR", "s"), ("ZERO_POINT_TENSOR", "z")):
        note.quant_parameter_tensor_names.add(key=key, value=name)
    return proto, {"x": X}


MODELS: tuple[Callable[[], Made], ...] = (
    branches,
    scan,
    functions,
    lstm,
    sequences,
    texts,
    sparse,
    overridable,
    outputs_of_all_kinds,
    described,
)


@pytest.mark.parametrize("make", MODELS, ids=lambda make: make.__name__)
def test_outputs_are_the_same(make: Callable[[], Made]):
    before, feeds = make()
    assert feeds is not None
    onnx.checker.check_model(before)
    after = through_text(before)
    onnx.checker.check_model(after)
    assert [v.name for v in after.graph.output] == [v.name for v in before.graph.output]
    for a, b in zip(run(before, feeds), run(after, feeds), strict=True):
        assert a.dtype == b.dtype
        np.testing.assert_array_equal(a, b)


@pytest.mark.parametrize("keep", [False, True])
def test_both_branches(keep: bool):
    before, _ = branches()
    feeds: Feeds = {"x": X, "keep": np.array(keep)}
    for a, b in zip(run(before, feeds), run(through_text(before), feeds), strict=True):
        np.testing.assert_array_equal(a, b)


def test_a_default_is_still_a_default():
    before, _ = overridable()
    after = through_text(before)
    assert [i.name for i in after.graph.input] == ["x", "w"]
    np.testing.assert_array_equal(run(before, {"x": X})[0], run(after, {"x": X})[0])


def test_a_loop_keeps_what_is_left_out():
    """onnxruntime counts the inputs in front of a variadic one, be they left out."""
    body = helper.make_graph(
        [node("Identity", ["go"], ["on"]), node("Add", ["x", "x"], ["sum"])],
        "body",
        [value("n", (), TensorProto.INT64), value("go", (), TensorProto.BOOL)],
        [value("on", (), TensorProto.BOOL), value("sum")],
    )
    loop = node("Loop", ["times", ""], ["y"], body=body)
    source = model([loop], outputs=[value("y", (2, 2, 3))], weights=[weight("times", np.array(2))])
    result = through_text(source)
    assert list(result.graph.node[0].input) == ["times", ""]
    np.testing.assert_array_equal(run(result, {"x": X})[0], [X + X, X + X])


def test_unsorted_nodes_are_sorted():
    after = through_text(unsorted()[0])
    assert [n.op_type for n in after.graph.node] == ["Neg", "Abs"]
    assert len({n.name for n in after.graph.node}) == 2
    np.testing.assert_array_equal(run(after, {"x": X})[0], np.abs(X))


def test_unknown_operators_are_carried():
    before = unknown_domain()[0]
    after = through_text(before)
    (a,), (b,) = before.graph.node, after.graph.node
    assert (a.op_type, a.domain, a.name, list(a.input), list(a.output)) == (
        b.op_type,
        b.domain,
        b.name,
        list(b.input),
        list(b.output),
    )
    kinds = {x.name: (x.type, helper.get_attribute_value(x)) for x in b.attribute}
    assert kinds["k"] == (onnx.AttributeProto.INT, 2)
    assert kinds["f"] == (onnx.AttributeProto.FLOAT, pytest.approx(np.float32(0.1), rel=0, abs=0))
    assert kinds["s"] == (onnx.AttributeProto.STRING, b"text")
    assert kinds["v"] == (onnx.AttributeProto.INTS, [1, 2])
    np.testing.assert_array_equal(numpy_helper.to_array(kinds["t"][1]), X)


def test_what_is_said_stays():
    before = described()[0]
    after = through_text(before)
    for name in ("producer_name", "producer_version", "doc_string", "model_version", "ir_version"):
        assert getattr(after, name) == getattr(before, name)
    assert [(p.key, p.value) for p in after.metadata_props] == [("author", "somebody"), ("task", "test")]
    assert after.graph.name == before.graph.name
    assert after.graph.doc_string == "a graph"
    assert after.graph.input[0] == before.graph.input[0]
    assert after.graph.output[0] == before.graph.output[0]
    assert after.graph.value_info[0] == before.graph.value_info[0]
    assert [(n.name, n.doc_string) for n in after.graph.node] == [("add", "why"), ("relu", "")]
    (note,) = after.graph.quantization_annotation
    values = {t.name: numpy_helper.to_array(t) for t in after.graph.initializer}
    kept = {e.key: values[e.value] for e in note.quant_parameter_tensor_names}
    assert note.tensor_name == "h"
    assert kept == {"SCALE_TENSOR": np.float32(0.02), "ZERO_POINT_TENSOR": np.uint8(13)}


def test_a_tensor_made_twice_is_refused():
    twice = [node("Neg", ["x"], ["y"]), node("Abs", ["x"], ["y"])]
    with pytest.raises(UserError, match="'y' is the output of two nodes"):
        import_model(model(twice))


def test_of_two_initializers_of_one_name_the_last_counts():
    """As in onnxruntime, which warns."""
    before = model([node("Mul", ["x", "w"], ["y"])])
    before.graph.initializer.extend(numpy_helper.from_array(np.array(v, np.float32), "w") for v in (3, 5))
    after = export_model(import_model(before))
    assert [numpy_helper.to_array(one) for one in after.graph.initializer] == [np.float32(5)]
    x = np.ones(tuple(d.dim_value for d in before.graph.input[0].type.tensor_type.shape.dim), np.float32)
    np.testing.assert_array_equal(run(after, {"x": x})[0], run(before, {"x": x})[0])


def test_a_tensor_that_nothing_makes_is_refused():
    with pytest.raises(UserError, match="takes tensor 'ghost'"):
        import_model(model([node("Neg", ["ghost"], ["y"], "n")]))


def test_a_sparse_initializer_that_is_an_input_is_a_constant():
    """It was refused as a tensor that is made twice; an old IR version asks for it."""
    proto, _ = sparse()
    expected = run(proto, {"x": X})
    proto.graph.input.append(value("w", (3, 2)))
    written = export_model(import_model(proto))
    assert [one.name for one in written.graph.input] == ["x"]
    assert np.array_equal(run(written, {"x": X})[0], expected[0])


def test_an_output_that_is_stated_twice_is_one_tensor():
    """The file defined it twice, which onnxruntime refuses."""
    proto = model([node("Relu", ["x"], ["y"])], outputs=[value("y"), value("y")])
    written = export_model(import_model(proto))
    assert [one.name for one in written.graph.output] == ["y", "y"]
    assert np.array_equal(run(written, {"x": X})[1], run(proto, {"x": X})[1])


def test_no_input_of_a_stated_size_is_filled_whatever_it_is():
    module = import_model(model([node("Abs", ["x"], ["y"])], [value("x", (1 << 40, 1 << 20))], [value("y")]))
    with pytest.raises(
        UserError, match="has 1152921504606846976 elements, too many for random data; give inputs"
    ):
        random_feeds(module)
