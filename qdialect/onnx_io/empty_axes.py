"""Squeeze with an empty list of axes: onnx's inference removes none, a session all of size 1, as without a list."""

from __future__ import annotations

from collections.abc import Generator, Iterable, Sequence
from contextlib import contextmanager
from typing import TYPE_CHECKING

from qdialect.onnx_io import parts as onnx_parts

if TYPE_CHECKING:
    from onnx import AttributeProto, ModelProto, NodeProto


@contextmanager
def without_empty_axes(model: ModelProto, nodes: Iterable[NodeProto]) -> Generator[None]:
    """Context in which such nodes of the model lack their list. nodes: all, with those of graphs in them."""
    every = list(nodes)
    squeezes = [n for n in every if n.op_type == "Squeeze" and n.domain in ("", "ai.onnx")]
    empty = _empty_constants(model, every) if squeezes else set[str]()
    changed: list[tuple[NodeProto, NodeProto]] = []
    for node in squeezes:
        if not empty.isdisjoint(node.input[1:2]) or any(
            a.name == "axes" and not a.ints for a in node.attribute
        ):
            former = onnx_parts.messages().NodeProto()
            former.CopyFrom(node)
            changed.append((node, former))
            del node.input[1:], node.attribute[:]
    try:
        yield
    finally:
        for node, former in changed:
            node.CopyFrom(former)


def _empty_constants(model: ModelProto, nodes: Sequence[NodeProto]) -> set[str]:
    """The names of constants without elements."""
    made = {n.output[0] for n in nodes if n.op_type == "Constant" and any(map(_is_empty, n.attribute))}
    return made | {t.name for t in model.graph.initializer if 0 in t.dims}


def _is_empty(attribute: AttributeProto) -> bool:
    return 0 in attribute.t.dims or (attribute.name == "value_ints" and not attribute.ints)
