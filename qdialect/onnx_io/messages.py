"""
ONNX models as protobuf messages: reading, limits, shape inference and function inlining by onnx's own C++.

A model is untrusted. Input that would make that code run out of stack, memory or time is refused or removed before
the call; docs/limits.md lists the limits.
"""

from __future__ import annotations

import mmap
import os
import sys
from collections.abc import Callable, Generator, Iterable, Iterator, Mapping
from contextlib import contextmanager, suppress
from pathlib import Path
from typing import TYPE_CHECKING, NamedTuple

from qdialect.dialects.snapshot import MICROSOFT
from qdialect.errors import UserError
from qdialect.files import reason
from qdialect.onnx_io import parts as onnx_parts
from qdialect.onnx_io import wire
from qdialect.onnx_io.corrected import restore, with_later, without_empty_axes
from qdialect.onnx_io.defaults import with_defaults
from qdialect.onnx_io.stated import complete_sizes, typed_bytes, without_stated_sizes

if TYPE_CHECKING:
    from onnx import FunctionProto, GraphProto, ModelProto, NodeProto

FIRST_CASTS = 10
"""The first opset with QuantizeLinear and DequantizeLinear."""
FIRST_CASTS_OF_HALVES = 19
"""The first opset in which they take half precision."""
HALVES = (10, 16)
"""ONNX's codes of f16 and bf16."""
MOST_INLINED = 1_000_000
"""Greatest number of nodes after inlining of functions: twenty functions that each call the next twice give a
million."""

MOST_SECONDS = 2
MOST_MEMORY = 1 << 30
"""
Limits of onnx's shape inference: seconds of processor time, one more for each 10,000 nodes, and bytes; it takes
0.3 s for 10,000 nodes.
"""

KEPT_FOR_INFERENCE = 1024
"""Tensors of up to this many bytes stay in the messages: shape inference reads shapes, axes and repeats from them."""

Key = tuple[str, str, str]
APART = sys.platform == "linux"
"""True if shape inference runs in a process of its own, as untrusted models need."""


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


_MAPPED: dict[Path, memoryview] = {}


def prepare_reading(path: Path) -> None:
    """
    Map a file whose model is read next, where the system can: its bytes are fetched beside other work, and not copied.

    Only for processes of our own commands, which end soon: a file that shrinks while it is mapped ends the process.
    """
    # A pipe can be opened once; on Windows, a mapped file cannot be replaced by the output.
    if not path.is_file() or not hasattr(mmap, "MADV_WILLNEED"):
        return
    with suppress(OSError, ValueError), path.open("rb") as file:  # what is wrong with it, read_model says
        mapped = mmap.mmap(file.fileno(), 0, access=mmap.ACCESS_READ)
        mapped.madvise(mmap.MADV_WILLNEED)
        _MAPPED[path] = memoryview(mapped)


def read_model(path: Path) -> Model:
    """The model in a file. Raises UserError if the file cannot be read or is no ONNX model."""
    mapped = _MAPPED.pop(path, None)
    try:
        return read_message(path.read_bytes() if mapped is None else mapped, f"'{path}'")
    except OSError as error:
        raise UserError(f"cannot read '{path}', {reason(error)}", "check the path") from None


def read_message(raw: bytes | memoryview, name: str) -> Model:
    """The model in the bytes of a message, which errors call `name`. Raises UserError if they are no ONNX model."""
    from google.protobuf.message import DecodeError

    try:
        message, large = wire.split(raw, KEPT_FOR_INFERENCE)
        model: ModelProto = onnx_parts.messages().ModelProto.FromString(message)
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
    if sum(total.get(_key(node), 1) for node in _nodes(model.graph.node)) > MOST_INLINED:
        raise UserError(f"the model's functions expand to more than {MOST_INLINED} nodes", "use fewer calls")


class _Inference:
    """
    onnx's shape inference in a child process limited to `MOST_MEMORY` and some seconds. Forked while this process is
    small, it costs half. Its C++ code must be independent of this process's threads.
    """

    _forked = False
    """Whether this process has had such a child."""

    def __init__(self, meanwhile: Callable[[], None] | None = None) -> None:
        """meanwhile: what this process does while the other infers, instead of waiting."""
        import warnings

        self._meanwhile = meanwhile
        self._infer = onnx_parts.infer_shapes()  # loaded before the fork: not anew in each child
        if (
            _Inference._forked
        ):  # not before the first, which loads them beside this process: a command has one
            onnx_parts.load_schemas()
        _Inference._forked = True
        asked, self._ask = os.pipe()
        self._answer, answered = os.pipe()
        with warnings.catch_warnings():
            warnings.simplefilter("ignore", DeprecationWarning)  # of forking beside threads: see above
            self._child = os.fork()
        if self._child == 0:
            try:
                os.close(self._ask)
                os.close(self._answer)
                self._work(asked, answered)
                os._exit(0)
            finally:
                os._exit(1)
        os.close(asked)
        os.close(answered)

    def _work(self, asked: int, answered: int) -> None:
        import resource

        with open(asked, "rb", closefd=False) as file:
            seconds = int.from_bytes(file.read(8), "little")
            model = file.read()
        if not model:  # the other process ended without asking
            return
        hard = resource.getrlimit(resource.RLIMIT_AS)[1]
        most = _address_space() + MOST_MEMORY
        most = most if hard == resource.RLIM_INFINITY else min(most, hard)
        resource.setrlimit(resource.RLIMIT_AS, (most, hard))
        resource.setrlimit(resource.RLIMIT_CPU, (seconds, seconds))
        resource.setrlimit(resource.RLIMIT_CORE, (0, 0))
        with open(answered, "wb", closefd=False) as file:
            file.write(typed_bytes(model, self._infer))

    def of(self, model: bytes, seconds: int) -> bytes:
        """The typed model; b"" if inference exceeds a limit, fails or crashes."""
        with suppress(BrokenPipeError), open(self._ask, "wb") as file:
            file.write(seconds.to_bytes(8, "little"))
            file.write(model)
        if self._meanwhile is not None:
            self._meanwhile()
        with open(self._answer, "rb") as file:
            result = file.read()
        _, status = os.waitpid(self._child, 0)
        return result if status == 0 else b""


_PREPARED: list[_Inference] = []


def prepare_inference(meanwhile: Callable[[], None] | None = None) -> None:
    """
    Fork the process for the next shape inference now, if the system has one to spare.

    meanwhile: called while that process infers.
    """
    if APART:
        with suppress(OSError):
            _PREPARED.append(_Inference(meanwhile))


def _address_space() -> int:
    with open("/proc/self/statm", "rb") as file:
        return int(file.read().split()[0]) * os.sysconf("SC_PAGE_SIZE")


def _halves(graph: GraphProto) -> set[str]:
    """The names of a graph's constants of half precision."""
    constants = [(t.name, t.data_type) for t in graph.initializer]
    constants += [
        (n.output[0], a.t.data_type) for n in graph.node for a in n.attribute if n.op_type == "Constant"
    ]
    return {name for name, number in constants if number in HALVES}


@contextmanager
def _own_casts(model: ModelProto) -> Generator[list[int]]:
    """
    Context in which casts of the domain com.microsoft are ONNX's own; yields their indices.

    Shape inference stops at nodes of other domains. ONNX's own DequantizeLinear gave f32 alone before it took scales of
    half precision: one with such scales stays.
    """
    casts = ("QuantizeLinear", "DequantizeLinear")
    opset = max((o.version for o in model.opset_import if o.domain in ("", "ai.onnx")), default=0)
    casts = casts if opset >= FIRST_CASTS else ()
    halves = _halves(model.graph) if opset < FIRST_CASTS_OF_HALVES else set[str]()
    places = [
        k
        for k, n in enumerate(model.graph.node)
        if n.domain == MICROSOFT and n.op_type in casts and halves.isdisjoint(n.input[1:2])
    ]
    for k in places:
        model.graph.node[k].domain = ""
    try:
        yield places
    finally:
        for k in places:
            model.graph.node[k].domain = MICROSOFT


def inferred(model: ModelProto) -> ModelProto:
    """
    The model with the types that onnx's shape inference infers; unchanged if inference fails.

    Inference propagates elements of shapes, lists whose length a model controls, hence the limits.
    """
    try:
        bare = without_empty_axes(model, _nodes(model.graph.node))
        with _own_casts(model) as places, without_stated_sizes(model.graph) as stated, bare:
            serialized = with_later(model, _nodes).SerializeToString()
        if APART:
            seconds = MOST_SECONDS + sum(1 for _ in _nodes(model.graph.node)) // 10_000
            child = _PREPARED.pop() if _PREPARED else _Inference()
            raw = child.of(serialized, seconds)
        else:
            raw = typed_bytes(serialized, onnx_parts.infer_shapes())
        typed: ModelProto = onnx_parts.messages().ModelProto.FromString(raw)
        if not typed.HasField("graph"):
            return model
        restore(typed, model, _nodes)
        for k in places:
            typed.graph.node[k].domain = MICROSOFT
        complete_sizes(typed.graph, model.graph, stated)
        return typed
    except Exception:  # RuntimeError, ValueError and onnx's own; the model is readable without inference
        return model


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
