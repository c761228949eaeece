"""Classification of nodes as integer, float, cast or other: the colours of a report's graph."""

from __future__ import annotations

from collections.abc import Sequence
from enum import StrEnum

from qdialect.compiler.graph import Links, Tensor
from qdialect.compiler.layers import Layer, Node

WIDE = ("int64", "uint64", "bool", "object", "")
"""Element types of sizes, indices, booleans and text; empty if unknown."""


class Kind(StrEnum):
    """Kind of numbers that a node computes on."""

    INTEGER = "integer"
    FLOAT = "float"
    CAST = "cast"
    """Elementwise conversion between integers and floats."""
    OTHER = "other"
    """Sizes, indices, booleans, text, unknown types."""


def kinds_of(nodes: Sequence[Node], layers: Sequence[Layer | None], links: Links, form: str) -> list[Kind]:
    """
    The kind of each node, by the element types of its first input and output. layers: the layer of each node.

    A float node that does all of a layer's products in integers counts as integer; so does, in the form `qdq`, a node
    between casts or other such nodes: the target fuses it with them.
    """
    kinds = [_by_elements(node) for node in nodes]
    whole = [layer is not None and bool(layer.macs) and layer.integer for layer in layers]
    if form == "qdq":
        return _between_casts(kinds, whole, links)
    for k, layer in enumerate(layers):
        if kinds[k] is Kind.FLOAT and whole[k] and layer is not None:
            apart = any(_by_elements(node) is Kind.INTEGER for node in layer.became)
            kinds[k] = Kind.FLOAT if apart else Kind.INTEGER
    return kinds


def _number(tensor: Tensor) -> Kind:
    if tensor.element in WIDE:
        return Kind.OTHER
    return Kind.FLOAT if "float" in tensor.element else Kind.INTEGER


def _by_elements(node: Node) -> Kind:
    if not node.inputs or not node.outputs:
        return Kind.OTHER
    first, result = node.inputs[0], node.outputs[0]
    before, after = _number(first), _number(result)
    if before is after:
        return before
    if Kind.OTHER in (before, after):
        return Kind.OTHER
    return Kind.CAST if first.shape == result.shape else before


def _between_casts(kinds: Sequence[Kind], whole: Sequence[bool], links: Links) -> list[Kind]:
    """Float nodes count as integer unless adjacent to one that is not, or to a graph input or output."""
    near: list[list[int]] = [[] for _ in kinds]
    for source, target in links.edges:
        near[source].append(target)
        near[target].append(source)
    outside = {k for end in (*links.inputs, *links.outputs) for k in end.nodes}
    result = list(kinds)
    floats = [k for k, kind in enumerate(kinds) if kind is Kind.FLOAT]
    stack: list[int] = []
    for k in floats:
        fused = whole[k] or (k not in outside and bool(near[k]))
        result[k] = Kind.INTEGER if fused else Kind.FLOAT
        stack += [] if fused else [k]
    while stack:
        for k in near[stack.pop()]:
            if kinds[k] is Kind.FLOAT and result[k] is Kind.INTEGER and not whole[k]:
                result[k] = Kind.FLOAT
                stack.append(k)
    return result
