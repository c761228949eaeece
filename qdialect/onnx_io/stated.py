"""
Types that a model states of tensors inside its graph, against those that its nodes compute.

A graph that was edited after its export, for another batch or size, often states what held before. onnx's inference
keeps a stated type that contradicts a computed one; onnxruntime warns and takes the computed one, as here.
"""

from __future__ import annotations

from collections.abc import Callable, Iterator
from typing import TYPE_CHECKING

from qdialect.onnx_io import parts as onnx_parts

if TYPE_CHECKING:
    from onnx import GraphProto, TypeProto

Infers = Callable[[bytes, bool, bool, bool], bytes]
"""onnx's shape inference on a serialized model; flags: check_type, strict_mode, data_prop."""

CONTRADICTS = "nferred shape and existing shape differ"
"""In strict mode, what onnx's error says of a stated shape that is not the computed one."""


def typed_bytes(model: bytes, infer: Infers) -> bytes:
    """A serialized model with inferred types; those of inner tensors that contradict computed ones are replaced."""
    try:
        return infer(model, False, True, True)
    except Exception as error:  # a C++ exception of onnx's, whose class is not importable here
        if CONTRADICTS in str(error):
            model = _without_contradictions(model, infer)
    return infer(model, False, False, True)


def _without_contradictions(raw: bytes, infer: Infers) -> bytes:
    """The model without the stated types that differ from what its nodes alone compute."""
    read = onnx_parts.messages().ModelProto.FromString
    bare, model = read(raw), read(raw)
    for graph in _graphs(bare.graph):
        del graph.value_info[:]
    computed = read(infer(bare.SerializeToString(), False, False, True))
    for graph, typed in zip(_graphs(model.graph), _graphs(computed.graph), strict=True):
        known = {info.name: info.type for info in typed.value_info}
        wrong = (i.name in known and _contradict(i.type, known[i.name]) for i in graph.value_info)
        for place in reversed([k for k, is_wrong in enumerate(wrong) if is_wrong]):
            del graph.value_info[place]
    return model.SerializeToString()


def _graphs(graph: GraphProto) -> Iterator[GraphProto]:
    """A graph, and those in its nodes; a message nests no deeper than its reader allows."""
    yield graph
    for attribute in (attribute for node in graph.node for attribute in node.attribute):
        for inner in [attribute.g] if attribute.HasField("g") else attribute.graphs:
            yield from _graphs(inner)


def _contradict(stated: TypeProto, computed: TypeProto) -> bool:
    """True if no tensor is of both types."""
    one, other = stated.tensor_type, computed.tensor_type
    if not (one.HasField("shape") and other.HasField("shape")):
        return False
    pairs = zip(one.shape.dim, other.shape.dim, strict=False)
    return len(one.shape.dim) != len(other.shape.dim) or any(
        a.HasField("dim_value") and b.HasField("dim_value") and a.dim_value != b.dim_value for a, b in pairs
    )
