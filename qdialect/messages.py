"""
ONNX models as messages, before the IR: reading, and what onnx's own C++ does to them.

A model is untrusted. What would make that code run out of stack, memory or time is refused or left out before it
is called; docs/limits.md has the numbers.
"""

from __future__ import annotations

from collections.abc import Generator, Iterable, Iterator
from contextlib import contextmanager
from pathlib import Path
from typing import TYPE_CHECKING

from qdialect.errors import UserError

if TYPE_CHECKING:
    from onnx import FunctionProto, GraphProto, ModelProto, NodeProto

MICROSOFT = "com.microsoft"
FIRST_CASTS = 10
"""The first opset with QuantizeLinear and DequantizeLinear."""
MOST_INLINED = 1_000_000
"""Nodes, after functions are put in the place of their calls: twenty functions that each call the next twice are
a million."""

LONGEST_SHAPE = 1024
"""Elements; what is longer is no shape, and its tensor is not in the message when types are inferred."""

MOST_PROPAGATED = 1_000_000
"""Elements; forty Concats, each of the last one's result with itself, would fill all memory."""

Key = tuple[str, str, str]


def read_model(path: Path) -> ModelProto:
    """The message in a file. Raises UserError if the file cannot be read or is no ONNX model."""
    from google.protobuf.message import DecodeError
    from onnx import ModelProto

    try:
        raw = path.read_bytes()
    except OSError as error:
        raise UserError(f"cannot read {path}: {error.strerror}") from None
    try:
        model = ModelProto.FromString(raw)
    except DecodeError:
        raise UserError(
            f"{path} is no ONNX model, or is cut short or nested too deeply", "export the model again"
        ) from None
    if not model.HasField("graph") or not model.ir_version:
        raise UserError(
            f"{path} is no ONNX model: it has no graph or no IR version", "export the model again"
        )
    check_functions(model)
    return model


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
                raise UserError(f"function '{key[1]}' of the model calls itself", "ONNX has no recursion")
            open_.add(key)
            stack += waiting
            continue
        total[key] = sizes[key] + sum(total[k] for k in inner)
        open_.discard(key)
        stack.pop()
    if sum(total.get(_key(node), 1) for node in _nodes(model.graph.node)) > MOST_INLINED:
        raise UserError(f"the model's functions stand for more than {MOST_INLINED} nodes", "use fewer calls")


@contextmanager
def _own_casts(model: ModelProto) -> Generator[list[int]]:
    """
    Casts of the domain com.microsoft as ONNX's own, for as long as it lasts; gives their places.

    Shape inference knows nothing of other domains and of all that comes behind.
    """
    casts = ("QuantizeLinear", "DequantizeLinear")
    if max((o.version for o in model.opset_import if o.domain in ("", "ai.onnx")), default=0) < FIRST_CASTS:
        casts = ()
    places = [k for k, n in enumerate(model.graph.node) if n.domain == MICROSOFT and n.op_type in casts]
    for k in places:
        model.graph.node[k].domain = ""
    try:
        yield places
    finally:
        for k in places:
            model.graph.node[k].domain = MICROSOFT


def _propagates_much(nodes: Iterable[NodeProto], sizes: dict[str, int]) -> bool:
    """Whether onnx, carrying the values of shapes along, might come to lists of more than `MOST_PROPAGATED`."""
    for node in nodes:
        taken = [sizes.get(name, LONGEST_SHAPE) for name in node.input] or [1]
        size = sum(taken) if node.op_type == "Concat" else max(taken)
        if size > MOST_PROPAGATED:
            return True
        sizes.update((name, size) for name in node.output)
        for attribute in node.attribute:
            graphs = [attribute.g] if attribute.HasField("g") else attribute.graphs
            if any(_propagates_much(graph.node, sizes) for graph in graphs):
                return True
    return False


def inferred(model: ModelProto) -> ModelProto:
    """The model with the types that onnx's shape inference finds; as it is if inference gives up."""
    from onnx import shape_inference

    graph = model.graph
    sizes = {t.name: t.dims[0] if len(t.dims) == 1 else 1 for t in graph.initializer}
    sizes = {name: size if 0 <= size <= LONGEST_SHAPE else 1 for name, size in sizes.items()}
    much = _propagates_much(graph.node, sizes) or any(_propagates_much(f.node, {}) for f in model.functions)
    try:
        with _own_casts(model) as places:
            found = shape_inference.infer_shapes(model, data_prop=not much)
        for k in places:
            found.graph.node[k].domain = MICROSOFT
        return found
    except Exception:  # RuntimeError, ValueError and its own; none of them makes the model unreadable
        return model


def inline_functions(model: ModelProto) -> ModelProto:
    """The model with each model-local function put in the place of its calls, by onnx's own inliner."""
    from onnx import inliner

    try:
        return inliner.inline_local_functions(model)
    except Exception as error:  # RuntimeError from a C++ assertion, InferenceError, ...
        what = str(error).strip().splitlines() or [type(error).__name__]
        raise UserError(
            f"the model's functions cannot be inlined: {what[0]}", "use --keep-functions"
        ) from None
