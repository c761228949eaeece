"""Attributes that calls of model-local functions leave to the function's defaults."""

from __future__ import annotations

from collections.abc import Callable, Hashable, Iterable, Iterator
from typing import TYPE_CHECKING

if TYPE_CHECKING:
    from onnx import FunctionProto, ModelProto, NodeProto


def with_defaults(
    model: ModelProto,
    nodes: Callable[[Iterable[NodeProto]], Iterator[NodeProto]],
    key: Callable[[NodeProto | FunctionProto], Hashable],
) -> ModelProto:
    """
    The model, with each call stating all attributes that its function has defaults of: onnx's inliner drops these, so
    that the op in the function would take its own. nodes: some nodes and those in their graphs; key: what a node calls.
    """
    defaults = {key(f): list(f.attribute_proto) for f in model.functions if f.attribute_proto}
    if not defaults:
        return model
    whole = type(model)()
    whole.CopyFrom(model)
    for graph in (whole.graph, *whole.functions):
        for node in nodes(graph.node):
            stated = {attribute.name for attribute in node.attribute}
            left = defaults.get(key(node), ())
            node.attribute.extend(attribute for attribute in left if attribute.name not in stated)
    return whole
