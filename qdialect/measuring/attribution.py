"""
The node of a file from which each node that a session of onnxruntime runs comes, by the names of nodes and tensors.

A session fuses nodes, and adds some: `ReorderInput` and `ReorderOutput` around convolutions whose channels it blocks,
casts, transposes. A fused node carries the name of the first node that it replaces, or is named after the tensor that
it computes, with `_nchwc`; an added one computes or reads a tensor of the file. Only the session's own graph tells the
tensors of its nodes, so it is written out and read.
"""

from __future__ import annotations

import re
from collections.abc import Iterator, Mapping
from typing import TYPE_CHECKING

if TYPE_CHECKING:
    from onnx import GraphProto, ModelProto, NodeProto

BLOCKED_CHANNELS = "_nchwc"
"""What onnxruntime appends to the name of a tensor to name the node with blocked channels that computes it."""
MAX_NODES_TO_FUSED = 4
"""Greatest number of nodes between the last node that a session fused and the one whose work it does."""
_MARK = re.compile(r"<(\d+)>")


def _nodes(graph: GraphProto) -> Iterator[NodeProto]:
    """The nodes of a graph, each followed by those of its subgraphs."""
    for node in graph.node:
        yield node
        for attribute in node.attribute:
            for body in (attribute.g, *attribute.graphs):
                yield from _nodes(body)


class Origins:
    """The nodes of a model, which are marked: their names become numbers that a session keeps."""

    def __init__(self, model: ModelProto):
        nodes = list(_nodes(model.graph))
        self.names = [node.name or next(filter(None, node.output), "") for node in nodes]
        """By number, the name of each node, or of its first tensor if it has none."""
        self._operators = [node.op_type for node in nodes]
        self._makers = {name: k for k, node in enumerate(nodes) for name in node.output if name}
        self._above = [[self._makers[name] for name in node.input if name in self._makers] for node in nodes]
        for k, node in enumerate(nodes):
            node.name = f"<{k}>"

    def readable(self, name: str) -> str:
        """The name of a session's node, with the names of the file's nodes in place of their marks."""
        return _MARK.sub(lambda mark: self.names[int(mark[1])], name)

    def by_name(self, name: str, operator: str) -> int | None:
        """The number of the node that a session's node of this name comes from; None if the name does not tell."""
        if (mark := _MARK.search(name)) is not None:
            return int(mark[1])
        maker = self._makers.get(name.removesuffix(BLOCKED_CHANNELS))
        return None if maker is None else self._working(maker, operator)

    def _working(self, last: int, operator: str) -> int:
        """Of the nodes fused into one that computes the result of `last`, the one of that operator; else `last`."""
        at = last
        for _ in range(MAX_NODES_TO_FUSED):
            if operator.endswith(self._operators[at]):
                return at
            if not self._above[at]:
                break
            at = self._above[at][0]
        return last

    def of(self, session: ModelProto) -> dict[str, int]:
        """
        The number of the node that each node of a session's graph comes from, by name: by its own name, or else the
        tensors that it computes, the node that reads them, or the one whose tensor it reads. Others are left out.
        """
        nodes = list(_nodes(session.graph))
        found: dict[str, int] = {}
        for node in nodes:
            own = self.by_name(node.name, node.op_type)
            made = (self._makers[name] for name in node.output if name in self._makers)
            if (k := next(made, None) if own is None else own) is not None:
                found[node.name] = k
        readers = {name: node.name for node in reversed(nodes) for name in node.input if name}
        makers = {name: node.name for node in nodes for name in node.output if name}
        for node in reversed(nodes):
            _take(found, node.name, [readers[name] for name in node.output if name in readers])
        for node in nodes:
            _take(found, node.name, [makers[name] for name in node.input if name in makers])
        return found


def _take(found: dict[str, int], name: str, others: list[str]) -> None:
    if name not in found and (k := next((found[one] for one in others if one in found), None)) is not None:
        found[name] = k


def attributed(origins: Origins, session: ModelProto | None, operators: Mapping[str, str]) -> dict[str, int]:
    """
    The number of the node of the file that each of a session's nodes comes from, by name. operators: of the nodes that
    ran, by name. session: the session's graph; None if it could not be written, then names alone tell.
    """
    found = {} if session is None else origins.of(session)
    for name, operator in operators.items():
        if name not in found and (k := origins.by_name(name, operator)) is not None:
            found[name] = k
    return found
