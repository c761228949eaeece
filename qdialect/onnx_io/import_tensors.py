"""
Import of ONNX tensors as handles on their bytes.

A tensor's bytes are not copied: they stay in one buffer taken from the message, or in the external file, which is
mapped only on access. Nothing outside the model's folder is read.
"""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from math import prod
from pathlib import Path
from typing import TYPE_CHECKING, Any

import numpy as np

from qdialect.dialects.onnx_tensor import MAX_RANK, FileSlice, TensorData, byte_size
from qdialect.dialects.onnx_types import BY_NUMBER, ElementType, tensor_type
from qdialect.errors import UserError
from qdialect.files import inside
from qdialect.onnx_io.messages import MAX_INLINE_BYTES

if TYPE_CHECKING:
    from onnx import FunctionProto, GraphProto, ModelProto, NodeProto, TensorProto


def external_slice(tensor: TensorProto, folder: Path | None, length: int) -> FileSlice:
    """
    The location of a tensor's external data.

    Raises UserError if `inside` refuses the path, or if the file does not hold the bytes.
    """
    entries = {e.key: e.value for e in tensor.external_data}
    place = entries.get("location", "")
    what = f"tensor '{tensor.name}': external data '{place}'"
    if folder is None:
        raise UserError(f"{what} is external, but the model has no folder", "load the model by its path")
    try:
        path = inside(folder, place)
    except UserError as error:
        raise UserError(f"tensor '{tensor.name}': external data {error}") from None
    try:
        offset, stated = int(entries.get("offset", 0)), int(entries.get("length", length))
    except ValueError:
        raise UserError(f"{what} has an offset or length that is not a number") from None
    if offset < 0 or stated < length or offset + length > path.stat().st_size:
        raise UserError(f"{what} does not hold {length} bytes at offset {offset}")
    return FileSlice.of(path, offset, length)


def _typed_field(tensor: TensorProto, element: ElementType) -> bytes:
    """The raw data of a tensor whose elements are in one of the fields for numbers."""
    name = element.spelling
    if name in ("float", "complex64"):
        return np.array(tensor.float_data, np.float32).tobytes()
    if name in ("double", "complex128"):
        return np.array(tensor.double_data, np.float64).tobytes()
    if name == "int64":
        return np.array(tensor.int64_data, np.int64).tobytes()
    if name in ("uint64", "uint32"):
        return np.array(tensor.uint64_data, np.uint64).astype(element.dtype).tobytes()
    numbers = np.array(tensor.int32_data, np.int32)
    if element.bits < 8:  # already packed, one byte per number
        return numbers.astype(np.uint8).tobytes()
    width = {8: np.uint8, 16: np.uint16, 32: np.int32}[element.bits]
    return numbers.astype(width).tobytes()


def tensor_data(tensor: TensorProto, folder: Path | None, raw: memoryview | None = None) -> TensorData:
    """
    A handle on a tensor's value; `raw` is its raw data if it is not in the message.

    Raises UserError for an element type that ONNX does not define, a negative size, or another number of bytes than
    type and sizes say.
    """
    what = f"tensor '{tensor.name}'"
    element = BY_NUMBER.get(tensor.data_type)
    if element is None:
        raise UserError(f"{what} has element type {tensor.data_type}, which ONNX does not define")
    shape = tuple(tensor.dims)
    if any(size < 0 for size in shape):
        raise UserError(f"{what} has a negative size: {list(shape)}")
    if len(shape) > MAX_RANK:
        raise UserError(f"{what} has {len(shape)} dimensions; up to {MAX_RANK} can be read")
    if tensor.HasField("segment"):
        raise UserError(f"{what} is stored in segments, which no reader of ONNX supports")
    type, count = tensor_type(element.attribute, shape), prod(shape)
    length = byte_size(element, count)
    if element.spelling == "string":
        strings = tuple(tensor.string_data)
        if len(strings) != count:
            raise UserError(f"{what} has {len(strings)} strings for {list(shape)}")
        return TensorData(type, strings=strings)
    if tensor.data_location == 1:
        return TensorData(type, external_slice(tensor, folder, length))
    data = raw
    if data is None:
        data = tensor.raw_data if tensor.HasField("raw_data") else _typed_field(tensor, element)
    if len(data) != length:
        raise UserError(
            f"{what} has {len(data)} bytes for {list(shape)} of {element.spelling}, which takes {length}"
        )
    return TensorData(type, data)


def _release(tensor: TensorProto, data: TensorData) -> None:
    """Remove a large tensor's bytes from the message: the handle has them."""
    if data.strings is None and data.nbytes > MAX_INLINE_BYTES:
        for field in ("raw_data", "float_data", "int32_data", "int64_data", "double_data", "uint64_data"):
            tensor.ClearField(field)


class TensorTable:
    """
    The tensors of a model by their position. Large ones are removed from the messages.
    """

    def __init__(self, model: ModelProto, folder: Path | None, large: Mapping[int, memoryview]):
        self._folder = folder
        self._large: dict[tuple[Any, ...], TensorData] = {}
        self._broken: dict[tuple[Any, ...], UserError] = {}
        self._walk(model.graph, (), large)
        for k, function in enumerate(model.functions):
            self._walk_nodes(function.node, ("function", k))

    def _take(self, tensor: TensorProto, key: tuple[Any, ...], raw: memoryview | None = None) -> None:
        data = tensor_data(tensor, self._folder, raw)
        self._large[key] = data
        _release(tensor, data)

    def _walk(self, graph: GraphProto, path: tuple[Any, ...], large: Mapping[int, memoryview]) -> None:
        for k, tensor in enumerate(graph.initializer):
            key = (*path, "initializer", k)
            try:
                self._take(tensor, key, large.get(k))
            except UserError as error:  # an exporter's leftover, if nothing reads it
                self._broken[key] = error
        self._walk_nodes(graph.node, path)

    def _walk_nodes(self, nodes: Any, path: tuple[Any, ...]) -> None:
        for n, node in enumerate(nodes):
            for attribute in node.attribute:
                if attribute.HasField("t"):
                    self._take(attribute.t, (*path, n, attribute.name))
                elif attribute.HasField("g"):
                    self._walk(attribute.g, (*path, n, attribute.name), {})
                for g, graph in enumerate(attribute.graphs):
                    self._walk(graph, (*path, n, attribute.name, g), {})

    def initializer(self, path: tuple[Any, ...], index: int) -> TensorData:
        """The value of a graph's initializer. Raises UserError if it cannot be read."""
        key = (*path, "initializer", index)
        if key in self._broken:
            raise self._broken[key]
        return self._large[key]

    def is_broken(self, path: tuple[Any, ...], index: int) -> bool:
        """True if a graph's initializer cannot be read."""
        return (*path, "initializer", index) in self._broken

    def attribute(self, path: tuple[Any, ...], node: int, name: str) -> TensorData:
        """The value of a node's tensor attribute."""
        return self._large[(*path, node, name)]


def _names_taken(node: NodeProto) -> set[str]:
    """Names of a node's inputs, including those that graphs in its attributes capture."""
    names = set(node.input)
    for attribute in node.attribute:
        for graph in [attribute.g] if attribute.HasField("g") else attribute.graphs:
            inner = {output.name for output in graph.output}.union(*map(_names_taken, graph.node))
            # A name that the graph defines shadows the one outside.
            inner.difference_update(value.name for value in graph.input)
            inner.difference_update(tensor.name for tensor in graph.initializer)
            inner.difference_update(tensor.values.name for tensor in graph.sparse_initializer)
            inner.difference_update(*(n.output for n in graph.node))
            names |= inner
    return names


def is_read(name: str, graph: GraphProto) -> bool:
    """True if a node of a graph, or of a graph in it, reads tensor `name`, or the graph gives it."""
    return any(o.name == name for o in graph.output) or any(name in _names_taken(n) for n in graph.node)


def repeated_constants(graph: GraphProto | FunctionProto) -> tuple[set[str], set[int]]:
    """
    The names of a graph's Constant nodes, and the places of those that do not count: of several of one name, and of an
    initializer of that name, onnxruntime takes the last Constant.
    """
    last = {node.output[0]: k for k, node in enumerate(graph.node) if _is_constant(node)}
    places = {k for k, node in enumerate(graph.node) if _is_constant(node) and last[node.output[0]] != k}
    return set(last), places


def _is_constant(node: NodeProto) -> bool:
    return node.op_type == "Constant" and node.domain in ("", "ai.onnx") and len(node.output) == 1


def in_order(nodes: Sequence[NodeProto]) -> list[tuple[int, NodeProto]]:
    """
    The nodes with their indices in topological order.

    ONNX asks for that order, but onnxruntime reads graphs that break it. Raises UserError for a cycle.
    """
    makers = {name: k for k, node in enumerate(nodes) for name in node.output if name}
    needs = [{makers[name] for name in _names_taken(node) if name in makers} for node in nodes]
    if all(k > max(need, default=-1) for k, need in enumerate(needs)):
        return list(enumerate(nodes))
    order: list[int] = []
    state = [0] * len(nodes)  # 0 not visited, 1 in progress, 2 done
    for start in range(len(nodes)):
        stack = [start]
        while stack:
            k = stack[-1]
            if state[k] == 0:
                state[k] = 1
                waiting = sorted((need for need in needs[k] if state[need] != 2), reverse=True)
                if any(state[need] == 1 for need in waiting):
                    name = nodes[k].name or nodes[k].op_type
                    raise UserError(f"node '{name}' is part of a cycle", "export the model again")
                stack += waiting
                continue
            stack.pop()
            if state[k] == 1:
                state[k] = 2
                order.append(k)
    return [(k, nodes[k]) for k in order]
