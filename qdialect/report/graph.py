"""Snapshots of a model's graph for reports: nodes, tensors and edges as plain values."""

from __future__ import annotations

from collections.abc import Iterator, Sequence
from dataclasses import dataclass
from functools import cache
from math import prod
from typing import NamedTuple

from xdsl.dialects.builtin import ModuleOp
from xdsl.dialects.func import FuncOp
from xdsl.ir import Attribute, Operation, SSAValue

from qdialect.dialects.onnx_base import ConstantOp, FunctionOp, OnnxOp, YieldOp
from qdialect.dialects.onnx_types import DYNAMIC, onnx_element, quantized_of, shape_of, stored_type
from qdialect.dialects.quant import UniformType
from qdialect.ir.names import stated_names, wish
from qdialect.ir.values import constant
from qdialect.ir.walking import operations

NO_NODE = (ConstantOp, FunctionOp, YieldOp)
FLOAT_BYTES = {"bfloat16": 2, "float16": 2, "float32": 4, "float64": 8}
"""Bytes of an element, by ONNX's name of its type."""


class Tensor(NamedTuple):
    """One input or output of a node."""

    name: str
    shape: tuple[int | None, ...] | None
    """None for an unknown size; None for all if the rank is unknown."""
    element: str
    """ONNX's name of the storage type, as `uint8`; empty if unknown."""
    scale: str = ""
    """`0.02:128`, or in words where there are several scales; empty if it is not quantized."""
    is_constant: bool = False

    @property
    def float_bytes(self) -> int:
        """Bytes of a constant of floats; 0 for other tensors."""
        width = FLOAT_BYTES.get(self.element, 0) if self.is_constant else 0
        return width * prod(size or 0 for size in self.shape or ())


@cache
def scale_text(type: UniformType) -> str:
    """Scale and zero point in the syntax of types; of several scales their range."""
    if type.is_per_tensor:
        return f"{float(type.scale):.6g}:{type.zero_point}"
    low, high = float(type.scales.min()), float(type.scales.max())
    along = f"along axis {type.axis}" if type.blocks is None else "in blocks"
    zeros = sorted({int(type.zero_points.min()), int(type.zero_points.max())})
    return f"{type.scales.size} scales {along}, {low:.4g} to {high:.4g}:{' to '.join(map(str, zeros))}"


def _described(type: Attribute) -> tuple[tuple[int | None, ...] | None, str, str]:
    """The shape, the storage type and the scale of a value of a type, as in `Tensor`."""
    quantized, shape = quantized_of(type), shape_of(type)
    known = onnx_element(stored_type(type))
    return (
        None if shape is None else tuple(None if size == DYNAMIC else size for size in shape),
        known.numpy if known is not None else "",
        "" if quantized is None else scale_text(quantized),
    )


def tensor_of(value: SSAValue) -> Tensor:
    """The description of a value for a report."""
    return Tensor(wish(value), *_described(value.type), constant(value) is not None)


def tensors_of(ops: Sequence[Operation]) -> dict[SSAValue, Tensor]:
    """The descriptions of the operands and results of `ops`, each made once, and so what follows from a type."""
    values = dict.fromkeys(value for op in ops for value in (*op.operands, *op.results))
    types = {id(value.type): value.type for value in values}
    described = {key: _described(type) for key, type in types.items()}
    return {v: Tensor(wish(v), *described[id(v.type)], constant(v) is not None) for v in values}


def constant_bytes(op: Operation) -> int:
    """Bytes of an op's constant operands."""
    tensors = (constant(value) for value in op.operands)
    return sum(t.data.nbytes for t in tensors if t is not None)


def nodes_of(module: ModuleOp) -> list[OnnxOp]:
    """The ops that are nodes of the ONNX model, including those in subgraphs, in order."""
    return [op for op in operations(module) if type(op) not in NO_NODE and isinstance(op, OnnxOp)]


@dataclass(frozen=True)
class End:
    """An input or output of a graph."""

    tensor: Tensor
    nodes: tuple[int, ...]
    """The nodes that use an input, or the one that defines an output; empty if an input is an output."""


@dataclass(frozen=True)
class Links:
    """The edges of a graph; nodes are indices into a list."""

    edges: tuple[tuple[int, int], ...]
    """(producer, user) pairs of nodes, without duplicates."""
    inputs: tuple[End, ...]
    outputs: tuple[End, ...]


def _yielded(op: Operation) -> Iterator[SSAValue]:
    """The values that the subgraphs of an operation yield."""
    for block in (block for region in op.regions for block in region.blocks):
        yield from () if block.last_op is None else block.last_op.operands


def links_of(module: ModuleOp, nodes: Sequence[OnnxOp]) -> Links:
    """
    The links between `nodes`, including those in subgraphs: a node with a subgraph uses the values that it yields, and
    inputs of subgraphs have no links.
    """
    places: dict[Operation, int] = {op: k for k, op in enumerate(nodes)}
    makers: dict[SSAValue, int] = {result: k for op, k in places.items() for result in op.results}
    edges: dict[tuple[int, int], None] = {}
    takers: dict[SSAValue, dict[int, None]] = {}
    for op, k in places.items():
        for value in (*op.operands, *_yielded(op)):
            if value in makers:
                edges[makers[value], k] = None
            else:
                takers.setdefault(value, {})[k] = None
    inputs: list[End] = []
    outputs: list[End] = []
    for graph in (op for op in module.ops if isinstance(op, FuncOp)):
        inputs += [End(tensor_of(v), tuple(takers.get(v, ()))) for v in graph.body.block.args]
        for value, name in zip(_yielded(graph), stated_names(graph.res_attrs), strict=False):
            source = (makers[value],) if value in makers else ()
            outputs.append(End(tensor_of(value)._replace(name=name), source))
    return Links(tuple(edges), tuple(inputs), tuple(outputs))
