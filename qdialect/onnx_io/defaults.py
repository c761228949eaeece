"""Attributes that calls of model-local functions leave to the function's defaults."""

from __future__ import annotations

from collections import defaultdict
from collections.abc import Callable, Hashable, Iterable, Iterator
from graphlib import TopologicalSorter
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
    that the op in the function would take its own. nodes: nodes and those in their graphs; key: what a node calls.

    Where F passes an attribute `@a` that has no default to G, which has one, calls of F without `a` take G's. Other
    ops of F may take `@a` too, so F gets a further attribute with G's default; calls of F with `a` state both.
    """
    if not any(function.attribute_proto for function in model.functions):
        return model
    whole = type(model)()
    whole.CopyFrom(model)
    functions = {key(function): function for function in whole.functions}
    calls = {
        name: [(node, key(node)) for node in nodes(graph.node) if key(node) in functions]
        for name, graph in [*functions.items(), (None, whole.graph)]
    }
    further: defaultdict[Hashable, list[tuple[str, str]]] = defaultdict(list)
    order = TopologicalSorter({name: [callee for _, callee in some] for name, some in calls.items()})
    for name in order.static_order():
        _complete(calls[name], functions, name, further)
    return whole


def _complete(
    calls: Iterable[tuple[NodeProto, Hashable]],
    functions: dict[Hashable, FunctionProto],
    caller: Hashable,
    further: defaultdict[Hashable, list[tuple[str, str]]],
) -> None:
    """
    State what calls leave out. caller: the function that they stand in, or None for the graph; further: per function,
    its attributes and their further names.
    """
    optional = set(functions[caller].attribute) if caller in functions else set[str]()
    for node, callee in calls:
        stated = {attribute.name: attribute for attribute in node.attribute}
        for name, copy in further[callee]:
            if name in stated:
                stated[copy] = node.attribute.add()
                stated[copy].CopyFrom(stated[name])
                stated[copy].name = copy
        for default in functions[callee].attribute_proto:
            if default.name not in stated:
                node.attribute.add().CopyFrom(default)
            elif (passed := stated[default.name].ref_attr_name) in optional:
                stated[default.name].ref_attr_name = copy = f"{passed}.{len(further[caller])}"
                own = functions[caller].attribute_proto.add()
                own.CopyFrom(default)
                own.name = copy
                further[caller].append((passed, copy))
