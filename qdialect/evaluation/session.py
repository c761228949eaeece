"""
onnxruntime sessions with every optimization off: the reference of every pass, and the evaluator of constants.
"""

from __future__ import annotations

import tempfile
from collections.abc import Collection, Generator, Iterator, Mapping, Sequence
from contextlib import contextmanager
from contextvars import ContextVar
from functools import cache
from math import prod
from pathlib import Path
from typing import TYPE_CHECKING, Any

import numpy as np
from xdsl.dialects.builtin import ArrayAttr, DictionaryAttr, IntegerAttr, ModuleOp, StringAttr, TensorType
from xdsl.dialects.func import FuncOp, ReturnOp
from xdsl.ir import Attribute, Block, Operation, Region, SSAValue

from qdialect.dialects.onnx_base import ConstantOp, FunctionOp, OnnxOp
from qdialect.dialects.onnx_tensor import TensorAttr, TensorData, from_array
from qdialect.dialects.onnx_types import (
    BY_ATTRIBUTE,
    BY_NUMPY,
    StringType,
    element_of,
    onnx_element,
    stored_type,
    with_element,
)
from qdialect.errors import UserError
from qdialect.evaluation.data import one_line
from qdialect.ir.values import constant
from qdialect.numerics import Array
from qdialect.onnx_io.exporter import export_model
from qdialect.promises.base import Commutes
from qdialect.promises.typed import stand_in, type_alone

if TYPE_CHECKING:
    from onnx import ModelProto, NodeProto

    InferenceSession = Any


BYTE = BY_NUMPY["uint8"].attribute
MAX_MEMORY_BYTES = 2 << 30
"""Greatest memory, in bytes, of computing constants: an untrusted model may ask for any."""


@cache
def _bound_memory() -> None:
    """Register, once per process, a bounded allocator that bounded sessions share."""
    import onnxruntime as ort

    device = ort.OrtMemoryInfo("Cpu", ort.OrtAllocatorType.ORT_ARENA_ALLOCATOR, 0, ort.OrtMemType.DEFAULT)
    # -1 is onnxruntime's default; 1 allocates the requested size, not the next power of two.
    ort.create_and_register_allocator(device, ort.OrtArenaCfg(MAX_MEMORY_BYTES, 1, -1, -1))


@contextmanager
def blamed(what: str) -> Generator[None]:
    """Context for onnxruntime: its exceptions become UserErrors with `what` and their message."""
    try:
        yield
    except Exception as error:  # onnxruntime's exceptions share no base class
        if "INVALID_PROTOBUF" in str(error):
            raise UserError(
                f"{what}: it is not an ONNX model, or is truncated", "export the model again"
            ) from None
        raise UserError(f"{what}: {one_line(error)}") from None


def _options(optimize: bool, threads: int) -> Any:
    """Session options, with all optimizations or with none."""
    import onnxruntime as ort

    options = ort.SessionOptions()
    options.log_severity_level, options.intra_op_num_threads = 4, threads
    if not optimize:
        # A prepacked weight is multiplied in another order than a computed one.
        options.add_session_config_entry("session.disable_prepacking", "1")
        options.enable_mem_pattern = False  # a block for all would add to the first run's memory
    levels = ort.GraphOptimizationLevel
    options.graph_optimization_level = levels.ORT_ENABLE_ALL if optimize else levels.ORT_DISABLE_ALL
    return options


def session(
    model: ModelProto | bytes | str,
    optimize: bool = False,
    threads: int = 1,
    *,
    bounded: bool = False,
    name: str = "",
    folder: Path | None = None,
    profile: str = "",
    write: Path | None = None,
) -> InferenceSession:
    """
    An onnxruntime session on the CPU, by default without any optimization; with 0 threads it takes all cores.

    A `bounded` one takes no more than `MAX_MEMORY_BYTES`; `name` is the model's name in errors, `folder` where the
    external data of a model in memory is, `profile` the beginning of the path of a file that times each node, `write`
    the path of a file with the graph that it runs.

    Raises UserError if onnxruntime refuses the model.
    """
    import onnxruntime as ort

    options = _options(optimize, threads)
    if bounded:
        _bound_memory()
        options.add_session_config_entry("session.use_env_allocators", "1")
    if folder is not None:
        options.add_session_config_entry("session.model_external_initializers_file_folder_path", str(folder))
    if profile:
        options.enable_profiling, options.profile_file_prefix = True, profile
    if write is not None:
        options.optimized_model_filepath = str(write)
    with blamed(f"onnxruntime refuses '{name}'" if name else "onnxruntime refuses the model"):
        source = model if isinstance(model, bytes | str) else model.SerializeToString()
        return ort.InferenceSession(source, options, providers=["CPUExecutionProvider"])


def session_for(model: ModelProto, outputs: Collection[str]) -> InferenceSession:
    """
    A session without optimization, for some of a model's outputs: nodes that these do not need are not run.

    onnxruntime frees intermediate tensors after their last use, but no graph output, fetched or not.

    Raises UserError if onnxruntime refuses the model.
    """
    graph = model.graph
    every, nodes = list(graph.output), list(graph.node)
    del graph.output[:], graph.node[:]
    graph.output.extend(one for one in every if one.name in outputs)
    graph.node.extend(_needed(nodes, set(outputs)))
    try:
        return session(model.SerializeToString(deterministic=True))
    finally:
        del graph.output[:], graph.node[:]
        graph.output.extend(every)
        graph.node.extend(nodes)


def _needed(nodes: Sequence[NodeProto], names: set[str]) -> list[NodeProto]:
    """The nodes, in order, that `names` depend on; adds the names that these read, in bodies too."""
    needed: list[NodeProto] = []
    for node in reversed(nodes):
        if not names.isdisjoint(node.output):
            needed.append(node)
            names.update(_read(node))
    return needed[::-1]


def _read(node: NodeProto) -> Iterator[str]:
    """The names that a node reads, those defined in its bodies included."""
    yield from node.input
    for attribute in node.attribute:
        for body in (attribute.g, *attribute.graphs):
            yield from (output.name for output in body.output)
            for inner in body.node:
                yield from _read(inner)


def fused_nodes(model: bytes) -> int:
    """Number of nodes that onnxruntime runs, after its own fusions; the model's own if a default session refuses it."""
    import onnx
    import onnxruntime as ort

    with tempfile.TemporaryDirectory() as folder:
        path = f"{folder}/fused.onnx"
        options = ort.SessionOptions()
        options.log_severity_level = 4
        options.intra_op_num_threads = 1
        options.graph_optimization_level = ort.GraphOptimizationLevel.ORT_ENABLE_EXTENDED
        options.optimized_model_filepath = path
        try:
            with blamed("onnxruntime refuses the model"):
                ort.InferenceSession(model, options, providers=["CPUExecutionProvider"])
        except UserError:
            return len(onnx.load_from_string(model).graph.node)
        return len(onnx.load(path, load_external_data=False).graph.node)


def run(
    model: ModelProto | bytes | str,
    feeds: Mapping[str, Array],
    *,
    optimize: bool = False,
    bounded: bool = False,
) -> list[Array]:
    """The model's outputs in order. Raises UserError if onnxruntime refuses the model or the inputs."""
    source = model if isinstance(model, bytes | str) else model.SerializeToString()
    remembers = _REMEMBERED.get()
    known, content = ({}, None) if remembers is None else (remembers, _content(feeds))
    key = None if content is None or isinstance(source, str) else (source, optimize, bounded, content)
    if key in known:
        return list(known[key])
    runner = session(source, optimize=optimize, bounded=bounded)
    with blamed("onnxruntime cannot run the model"):
        outputs = list(runner.run(None, dict(feeds)))
    if key is not None:
        for output in outputs:
            if isinstance(output, np.ndarray):
                output.flags.writeable = False  # it is handed out again
        known[key] = tuple(outputs)
    return outputs


_REMEMBERED: ContextVar[dict[tuple[object, ...], tuple[Array, ...]] | None] = ContextVar(
    "remembered", default=None
)
"""Outputs by model and inputs, of this thread and of those that `parallel_map` runs for it."""


@contextmanager
def remembered() -> Generator[None]:
    """Context in which a model in memory that has run on the same inputs is not run again: its outputs are kept."""
    former = _REMEMBERED.get()
    _REMEMBERED.set({})
    try:
        yield
    finally:
        _REMEMBERED.set(former)


def _content(feeds: Mapping[str, Any]) -> tuple[object, ...] | None:
    """The inputs, comparable by their bytes; None if one is no tensor of numbers."""
    if not all(isinstance(a, np.ndarray) and a.dtype.kind != "O" for a in feeds.values()):
        return None
    return tuple((name, array.dtype.str, array.shape, array.tobytes()) for name, array in feeds.items())


BITS = (np.dtype(np.uint8), np.dtype(np.uint16))
"""onnxruntime's result for element types that numpy lacks: int4, float8, bfloat16 and others."""


def _is_narrow(type: Attribute) -> bool:
    """True if elements have less than 8 bits: numpy lacks such types, and onnxruntime returns none."""
    element = onnx_element(stored_type(type))
    return element is not None and 0 < element.bits < 8


def _only_moved(ops: Sequence[OnnxOp]) -> bool:
    """True if `ops` only move elements of less than 8 bits."""
    for op in ops:
        promise = op.get_trait(Commutes)
        if promise is None or not promise.moves_storage:
            if any(_is_narrow(v.type) for v in (*op.operands, *op.results)):
                return False
    return True


def _module_of(op: Operation) -> ModuleOp | FunctionOp:
    scope: Operation | None = op
    while not isinstance(scope, ModuleOp | FunctionOp):
        if scope is None:
            raise ValueError(f"{op.name} is in no module")
        scope = scope.parent_op()
    return scope


def _blank(type: TensorType[Attribute]) -> TensorAttr:
    """A tensor of a type, of zeros or empty strings."""
    if isinstance(type.element_type, StringType):
        return TensorAttr(TensorData(type, strings=(b"",) * prod(type.get_shape())))
    return from_array(np.zeros(type.get_shape(), BY_ATTRIBUTE[type.element_type].dtype))


def _operands(op: OnnxOp, copies: Mapping[SSAValue, SSAValue], block: Block) -> list[SSAValue]:
    """The operands of a copy of `op`; tensors of zeros, added to `block`, where no element is read."""
    operands: list[SSAValue] = []
    for place, operand in enumerate(op.operands):
        if operand in copies or place not in type_alone(op):
            operands.append(copies[operand])
            continue
        zeros = ConstantOp.of(_blank(stand_in(op, place)))
        block.add_op(zeros)
        operands.append(zeros.results[0])
    return operands


def isolated(ops: Sequence[OnnxOp], outputs: Sequence[SSAValue]) -> ModuleOp:
    """
    A separate module of `ops`, which depend on constants and on types of values alone. Quantized types become their
    storage types.

    Elements of less than a byte that are only moved become bytes. Its outputs are called `o0`, `o1`, ... in the order
    of `outputs`.
    """
    scope = _module_of(ops[0])
    copies: dict[SSAValue, SSAValue] = {}
    block = Block()
    widens = _only_moved(ops)

    def moved(type: Attribute) -> Attribute:
        return with_element(type, BYTE) if widens and _is_narrow(type) else stored_type(type)

    for op in ops:
        for operand in op.operands:
            if operand not in copies and (tensor := constant(operand)) is not None:
                if widens and _is_narrow(tensor.type):
                    tensor = from_array(tensor.array().view(np.uint8))
                copy = ConstantOp.of(tensor)
                block.add_op(copy)
                copies[operand] = copy.results[0]
        new = op.__class__.create(
            operands=_operands(op, copies, block),
            result_types=[moved(t) for t in op.result_types],
            properties=op.properties,
        )
        block.add_op(new)
        copies.update(zip(op.results, new.results, strict=True))
    results = [copies[o] for o in outputs]
    block.add_op(ReturnOp(*results))
    names = ArrayAttr([DictionaryAttr({"onnx.name": StringAttr(f"o{k}")}) for k in range(len(outputs))])
    func = FuncOp("main", ([], [r.type for r in results]), Region(block), res_attrs=names)
    imports = scope.attributes.get("onnx.opset_import") or scope.properties.get("onnx.opset_import")
    attributes: dict[str, Attribute] = {"onnx.ir_version": IntegerAttr(10, 64)}
    if imports is not None:
        attributes["onnx.opset_import"] = imports
    return ModuleOp([func], attributes)


def evaluate(ops: Sequence[OnnxOp], outputs: Sequence[SSAValue]) -> dict[SSAValue, TensorAttr]:
    """The values of `outputs`, computed by `ops` from constants. Raises UserError if onnxruntime cannot."""
    values = run(export_model(isolated(ops, outputs)), {}, bounded=True)
    tensors: dict[SSAValue, TensorAttr] = {}
    for output, value in zip(outputs, values, strict=True):
        stored, array = element_of(stored_type(output.type)), np.asarray(value)
        wanted = BY_ATTRIBUTE[stored].dtype if stored in BY_ATTRIBUTE else array.dtype
        if array.dtype in BITS and wanted.itemsize == array.dtype.itemsize:
            array = array.view(wanted)
        tensors[output] = from_array(array)
    return tensors
