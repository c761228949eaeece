"""
Types that a model states of tensors inside its graph, against those that its nodes compute.

A graph that was edited after its export, for another batch or size, often states what held before. onnx's inference
keeps a stated type that contradicts a computed one; onnxruntime warns and takes the computed one, as here.
"""

from __future__ import annotations

from collections.abc import Callable, Collection, Generator, Iterable, Iterator, Mapping
from contextlib import contextmanager
from typing import TYPE_CHECKING

from qdialect.onnx_io import parts as onnx_parts

if TYPE_CHECKING:
    from onnx import GraphProto, TensorShapeProto, TypeProto, ValueInfoProto

INVENTED = "unk__"
"""What onnx's shape inference names an unknown size, followed by a counter."""
OPEN = "open__"
"""What an open size of an input without a name is called during inference, followed by a counter."""

Infers = Callable[[bytes, bool, bool, bool], bytes]
"""onnx's shape inference on a serialized model; flags: check_type, strict_mode, data_prop."""

CONTRADICTS = "nferred shape and existing shape differ"
"""In strict mode, what onnx's error says of a stated shape that is not the computed one."""


def typed_bytes(model: bytes, infer: Infers) -> bytes:
    """A serialized model with inferred types; those of inner tensors that contradict computed ones are replaced."""
    try:
        typed = infer(model, False, True, True)
    except Exception as error:  # a C++ exception of onnx's, whose class is not importable here
        if CONTRADICTS not in str(error):
            return infer(model, False, False, True)
    else:
        if not _may_state_one_run(model):
            return typed
    return infer(_without_contradictions(model, infer), False, False, True)


def _may_state_one_run(raw: bytes) -> bool:
    """True if a model with open inputs states inner tensors: inference keeps a number where a size is open."""
    graph = onnx_parts.messages().ModelProto.FromString(raw).graph
    stored = {tensor.name for tensor in graph.initializer}
    sizes = (d for i in graph.input if i.name not in stored for d in i.type.tensor_type.shape.dim)
    return any(size.dim_param for size in sizes) and any(graph.value_info for graph in _graphs(graph))


def _without_contradictions(raw: bytes, infer: Infers) -> bytes:
    """
    The model without the stated types that differ from what its nodes alone compute.

    A number is stated of one run where the size is that of an open input; then no size inside is believed, since
    those of a convolution's windows have no name to compare.
    """
    read = onnx_parts.messages().ModelProto.FromString
    bare, model = read(raw), read(raw)
    for graph in _graphs(bare.graph):
        del graph.value_info[:]
    opened = {d.dim_param for i in bare.graph.input for d in i.type.tensor_type.shape.dim if d.dim_param}
    computed = read(infer(bare.SerializeToString(), False, False, True))
    pairs = [*zip(_graphs(model.graph), map(_types, _graphs(computed.graph)), strict=True)]
    one_run = opened and _states_one_run(pairs, opened)
    for graph, known in pairs:
        wrong = (
            one_run or (i.name in known and _contradict(i.type, known[i.name])) for i in graph.value_info
        )
        for place in reversed([k for k, is_wrong in enumerate(wrong) if is_wrong]):
            del graph.value_info[place]
    return model.SerializeToString()


def _types(graph: GraphProto) -> Mapping[str, TypeProto]:
    return {info.name: info.type for info in graph.value_info}


def _states_one_run(
    pairs: Iterable[tuple[GraphProto, Mapping[str, TypeProto]]], opened: Collection[str]
) -> bool:
    """
    True if a size that has the name of an input's is stated as a number, or all sizes are that nodes leave open:
    a model that was exported with open inputs states some of them open.
    """
    infos = [(i.type.tensor_type, known.get(i.name)) for graph, known in pairs for i in graph.value_info]
    sizes = [
        (said.HasField("dim_value"), size.dim_param)
        for tensor, type in infos
        if type is not None
        for said, size in zip(tensor.shape.dim, type.tensor_type.shape.dim, strict=False)
        if not size.HasField("dim_value")
    ]
    is_number = [number for number, _ in sizes]
    return any(number and name in opened for number, name in sizes) or (bool(sizes) and all(is_number))


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


@contextmanager
def without_stated_sizes(graph: GraphProto) -> Generator[dict[str, TensorShapeProto]]:
    """
    A graph whose outputs lack the sizes that it states, which are returned by name: inference would keep them where
    they contradict what the nodes compute, which is what a session takes. Each open size of an input has a name: a
    size with one inside the graph is open in each run, whatever number the graph states of it.
    """
    stated: dict[str, TensorShapeProto] = {}
    tensors = {o.name: o.type.tensor_type for o in graph.output if o.type.HasField("tensor_type")}
    for name, tensor in tensors.items():
        if tensor.HasField("shape"):
            stated[name] = onnx_parts.messages().TensorShapeProto()
            stated[name].CopyFrom(tensor.shape)
            tensor.ClearField("shape")
    unnamed = [d for i in graph.input for d in i.type.tensor_type.shape.dim if d.WhichOneof("value") is None]
    for k, size in enumerate(unnamed):
        size.dim_param = f"{OPEN}{k}"
    try:
        yield stated
    finally:
        for size in unnamed:
            size.ClearField("dim_param")
        for name, shape in stated.items():
            tensors[name].shape.CopyFrom(shape)


def complete_sizes(typed: GraphProto, graph: GraphProto, stated: Mapping[str, TensorShapeProto]) -> None:
    """Give the outputs of the typed `graph` the sizes that only it states, and no tensor a name that it does not."""
    inside = [*typed.output, *_inner(typed)]
    _forget_names(inside, INVENTED)
    _fill_in_sizes(typed, stated)
    _forget_names([*typed.input, *inside], OPEN)
    unnamed = {(info.name, axis) for info in _inner(graph) for axis in _open_axes(info)}
    for info in inside:
        for axis, size in enumerate(info.type.tensor_type.shape.dim):
            if (
                info.name,
                axis,
            ) in unnamed:  # as in what was compiled, where a name would appear a second time
                size.ClearField("dim_param")


def _fill_in_sizes(graph: GraphProto, stated: Mapping[str, TensorShapeProto]) -> None:
    """Give outputs the stated sizes that inference left open, and the stated names of those of inputs."""
    for output in graph.output:
        if output.name not in stated or not output.type.HasField("tensor_type"):
            continue
        tensor, shape = output.type.tensor_type, stated[output.name]
        if not tensor.HasField("shape"):
            tensor.shape.CopyFrom(shape)
        elif len(tensor.shape.dim) == len(shape.dim):
            for size, said in zip(tensor.shape.dim, shape.dim, strict=True):
                if not size.HasField("dim_value") and said.HasField(
                    "dim_param" if size.dim_param else "value"
                ):
                    size.CopyFrom(said)


def _forget_names(infos: Iterable[ValueInfoProto], prefix: str) -> None:
    """Remove names of sizes that contain a counter: those that inference invents differ from run to run."""
    for info in infos:
        for size in info.type.tensor_type.shape.dim:
            if size.dim_param.startswith(prefix):
                size.ClearField("dim_param")


def _open_axes(info: ValueInfoProto) -> Iterator[int]:
    """The axes whose sizes are stated neither by number nor by name."""
    for axis, size in enumerate(info.type.tensor_type.shape.dim):
        if size.WhichOneof("value") is None:
            yield axis


def _inner(graph: GraphProto) -> Iterator[ValueInfoProto]:
    """The stated types of all tensors but a graph's own inputs and outputs."""
    yield from graph.value_info
    for node in graph.node:
        for attribute in node.attribute:
            if attribute.HasField("g"):
                yield from (*attribute.g.input, *attribute.g.output)
                yield from _inner(attribute.g)
