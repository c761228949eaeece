"""
ONNX models as protobuf messages: reading, limits, function inlining by onnx's own C++.

A model is untrusted. Input that would make that code run out of stack, memory or time is refused or removed before
the call; docs/limits.md lists the limits.
"""

from __future__ import annotations

from collections.abc import Iterable, Iterator, Mapping
from pathlib import Path
from typing import TYPE_CHECKING, NamedTuple

from qdialect.errors import UserError
from qdialect.files import reason
from qdialect.onnx_io import wire
from qdialect.onnx_io.defaults import with_defaults

if TYPE_CHECKING:
    from onnx import FunctionProto, GraphProto, ModelProto, NodeProto

MAX_INLINED_NODES = 1_000_000
"""Greatest number of nodes after inlining of functions: twenty functions that each call the next twice give a
million."""

MAX_INLINE_BYTES = 1024
"""Tensors of up to this many bytes stay in the messages; others are read in place."""

Key = tuple[str, str, str]


class Model(NamedTuple):
    """A model as read from a file or message."""

    proto: ModelProto
    large: Mapping[int, memoryview]
    """Raw data of the graph's large initializers, by index; the message lacks it."""

    def whole(self) -> ModelProto:
        """A copy of the message with all data in it."""
        for place, raw in self.large.items():
            self.proto.graph.initializer[place].raw_data = bytes(raw)
        return self.proto


def read_model(path: Path) -> Model:
    """The model in a file. Raises UserError if the file cannot be read or is no ONNX model."""
    try:
        return read_message(path.read_bytes(), f"'{path}'")
    except OSError as error:
        raise UserError(f"cannot read '{path}', {reason(error)}", "check the path") from None


def read_message(raw: bytes | memoryview, name: str) -> Model:
    """The model in the bytes of a message, which errors call `name`. Raises UserError if they are no ONNX model."""
    from google.protobuf.message import DecodeError
    from onnx import ModelProto

    try:
        message, large = wire.split(raw, MAX_INLINE_BYTES)
        model = ModelProto.FromString(message)
    except DecodeError:
        raise UserError(
            f"{name} is not an ONNX model, or is truncated or nested too deeply", "export the model again"
        ) from None
    if not model.HasField("graph") or not model.ir_version:
        raise UserError(
            f"{name} is not an ONNX model: it has no graph or no IR version", "export the model again"
        )
    check_functions(model)
    return Model(model, large)


def _nodes(nodes: Iterable[NodeProto]) -> Iterator[NodeProto]:
    """The nodes and those of the graphs in them; a message nests no deeper than its reader allows."""
    for node in nodes:
        yield node
        for attribute in node.attribute:
            graphs: list[GraphProto] = [attribute.g] if attribute.HasField("g") else list(attribute.graphs)
            for graph in graphs:
                yield from _nodes(graph.node)


def _key(node: NodeProto | FunctionProto) -> Key:
    name = node.name if hasattr(node, "opset_import") else node.op_type  # pyright: ignore
    return ("" if node.domain == "ai.onnx" else node.domain, name, node.overload)


def check_functions(model: ModelProto) -> None:
    """Raises UserError if a function of the model calls itself, or inlining would make too many nodes."""
    if not model.functions:
        return
    calls: dict[Key, list[Key]] = {}
    sizes: dict[Key, int] = {}
    for function in model.functions:
        nodes = list(_nodes(function.node))
        calls[_key(function)], sizes[_key(function)] = [_key(node) for node in nodes], len(nodes)
    total: dict[Key, int] = {}
    stack = list(calls)
    open_: set[Key] = set()
    while stack:
        key = stack[-1]
        inner = [k for k in calls[key] if k in calls]
        if key not in total and (waiting := [k for k in inner if k not in total]):
            if not open_.isdisjoint(waiting) or key in waiting:
                raise UserError(
                    f"function '{key[1]}' of the model calls itself", "ONNX does not allow recursion"
                )
            open_.add(key)
            stack += waiting
            continue
        total[key] = sizes[key] + sum(total[k] for k in inner)
        open_.discard(key)
        stack.pop()
    if sum(total.get(_key(node), 1) for node in _nodes(model.graph.node)) > MAX_INLINED_NODES:
        raise UserError(
            f"the model's functions expand to more than {MAX_INLINED_NODES} nodes", "use fewer calls"
        )


def inline_functions(model: ModelProto) -> ModelProto:
    """The model with all calls of model-local functions inlined, by onnx's own inliner."""
    from onnx import inliner

    try:
        return inliner.inline_local_functions(with_defaults(model, _nodes, _key))
    except Exception as error:  # RuntimeError from a C++ assertion, InferenceError, ...
        what = str(error).strip().splitlines() or [type(error).__name__]
        raise UserError(
            f"the model's functions cannot be inlined: {what[0]}", "use --keep-functions"
        ) from None
