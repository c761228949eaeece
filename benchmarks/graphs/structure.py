"""What two ONNX graphs have in common, whatever their tensors are called and however they are ordered."""

from __future__ import annotations

from collections import Counter
from collections.abc import Mapping
from hashlib import sha256
from itertools import zip_longest

from onnx import AttributeProto, GraphProto, ModelProto, NodeProto, TensorProto, numpy_helper


def _digest(*parts: object) -> str:
    return sha256(repr(parts).encode()).hexdigest()[:16]


def _tensor(tensor: TensorProto) -> str:
    array = numpy_helper.to_array(tensor)
    return _digest("constant", tensor.data_type, array.shape, array.tobytes())


def _attribute(attribute: AttributeProto, outer: Mapping[str, str]) -> object:
    if attribute.type == AttributeProto.GRAPH:
        return sorted(_graph(attribute.g, outer).elements())
    if attribute.type == AttributeProto.TENSOR:
        return _tensor(attribute.t)
    plain = AttributeProto()
    plain.CopyFrom(attribute)
    plain.name = plain.doc_string = ""
    return plain.SerializeToString(deterministic=True)


def _node(node: NodeProto, values: Mapping[str, str]) -> str:
    if node.op_type == "Constant" and node.attribute[0].name == "value":
        return _tensor(node.attribute[0].t)
    attributes = sorted((a.name, repr(_attribute(a, values))) for a in node.attribute)
    inputs = [values[name] if name else "" for name in node.input]
    return _digest(node.domain, node.op_type, attributes, inputs)


def _graph(graph: GraphProto, outer: Mapping[str, str]) -> Counter[str]:
    values = dict(outer) | {i.name: _digest("input", k, i.name) for k, i in enumerate(graph.input)}
    values |= {t.name: _tensor(t) for t in graph.initializer}
    nodes: Counter[str] = Counter()
    for node in graph.node:
        digest = _node(node, values)
        values |= {name: _digest(digest, k) if k else digest for k, name in enumerate(node.output) if name}
        if node.op_type != "Constant":
            nodes[f"{node.domain}::{node.op_type} {digest}"] += 1
    for k, output in enumerate(graph.output):
        nodes[f"output {k} {values[output.name]}"] += 1
    return nodes


def structure(model: ModelProto) -> Counter[str]:
    """How many nodes there are of each op type, attributes and operands, down to the inputs and constants."""
    return _graph(model.graph, {})


def op_counts(model: ModelProto) -> Counter[str]:
    """How many nodes there are of each type."""
    return Counter(f"{n.domain}::{n.op_type}" for n in model.graph.node)


def difference(a: ModelProto, b: ModelProto) -> str:
    """What `b` has otherwise than `a`, in one line; empty if nothing."""
    first, second = op_counts(a), op_counts(b)
    if first != second:
        return f"{dict(second - first)} more, {dict(first - second)} fewer"
    more = sorted(key.split()[0] for key in structure(b) - structure(a))
    return f"otherwise connected or other parameters: {more}" if more else ""


def first_change(a: ModelProto, b: ModelProto) -> str:
    """The first line of text that `b` has otherwise than `a`, though its bytes are not the same; empty if they are."""
    if a.SerializeToString(deterministic=True) == b.SerializeToString(deterministic=True):
        return ""
    rows = zip_longest(str(a).splitlines(), str(b).splitlines(), fillvalue="nothing")
    return next(
        (f"{one.strip()} became {other.strip()}" for one, other in rows if one != other),
        "the order of fields",
    )
