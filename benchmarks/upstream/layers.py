"""
Each op of graphs in linalg against the oracle: many functions in one shared object, every tensor a result.

An op is judged on what its operands are in linalg, so that differences do not add up: the oracle form of the graph as
it is right before `lower-to-linalg` computes every op of these, in onnxruntime without optimizations.
"""

from __future__ import annotations

import ctypes
from collections.abc import Callable, Mapping, Sequence
from dataclasses import dataclass
from io import StringIO
from pathlib import Path
from typing import Any, NamedTuple

import numpy as np
from xdsl.dialects.builtin import ModuleOp, StringAttr, f32
from xdsl.dialects.func import FuncOp, ReturnOp
from xdsl.ir import Operation, SSAValue

from qdialect.checking.judging import beyond, step_of
from qdialect.compiler.options import Options
from qdialect.compiler.pipeline import pipeline
from qdialect.dialects.onnx_base import ConstantOp
from qdialect.dialects.onnx_types import (
    BY_ATTRIBUTE,
    element_of,
    known_element,
    known_shape,
    quantized_of,
    stored_type,
)
from qdialect.dialects.quant import DequantizeOp
from qdialect.evaluation.observing import computed, input_names
from qdialect.evaluation.oracle_form import is_visible
from qdialect.exactness import Exactness
from qdialect.ir.interface import main_of
from qdialect.ir.names import called
from qdialect.reasons import Blocked
from qdialect.rewriting.manager import PassManager
from qdialect.rewriting.remarks import remarks_of
from qdialect.text.upstream import refused, write_upstream
from qdialect.upstream.binaries import write_binary
from qdialect.upstream.site import upstream_type
from upstream.models import Array, Feeds

LAST = "lower-to-linalg"


class Different(NamedTuple):
    """An op that is beyond its class."""

    op: str
    name: str
    detail: str


@dataclass
class Exposed:
    """A graph right before it is lowered, and the same in linalg with every tensor a result."""

    before: ModuleOp
    outputs: int
    """How many results are the graph's; `values` are the others, in order."""
    values: list[SSAValue]
    function: FuncOp

    @property
    def is_integer(self) -> bool:
        """Whether no op but a dequantize makes real numbers."""
        ops = [op for op in main_of(self.before).body.block.ops if not isinstance(op, DequantizeOp)]
        results = [v for op in ops if not isinstance(op, ConstantOp) for v in op.results]
        return not any(quantized_of(v.type) is None and element_of(v.type) == f32 for v in results)


def _computed(module: ModuleOp) -> list[SSAValue]:
    """The tensors that ops make, as far as upstream has such and the oracle gives them."""
    return [
        value
        for op in main_of(module).body.block.ops
        if not isinstance(op, ConstantOp | ReturnOp)
        for value in op.results
        if is_visible(value) and value.first_use and not isinstance(upstream_type(value.type), Blocked)
    ]


def exposed(module: ModuleOp, *, whole: bool = True) -> Exposed | list[str]:
    """
    A module compiled for linalg, changed in place; or what stays, each with its reason. whole: all passes, else the
    lowering alone.

    Raises UserError if a pass cannot do its work.
    """
    *passes, lowering = pipeline(Options("linalg", batch=1))
    assert lowering.name == LAST
    PassManager().run(passes if whole else (), module)
    before = module.clone()
    end = main_of(module).body.block.last_op
    assert isinstance(end, ReturnOp)
    outputs, func = len(end.operands), main_of(module)
    values = _computed(module)
    end.operands = [*end.operands, *values]
    func.update_function_type()
    func.properties.pop("res_attrs", None)
    PassManager().run([lowering], module)
    if left := [op for op in refused(module) if "unrealized" not in op.name]:
        return [_why(module, op) for op in left]
    func.update_function_type()
    return Exposed(before, outputs, _computed(before), func)


def _why(module: ModuleOp, op: Operation) -> str:
    remarks = remarks_of(module).on(op)
    return f"{op.name.partition('.')[2]}: {remarks[-1].blocked.message if remarks else '?'}"


def library(graphs: Mapping[str, Exposed], path: Path, level: int = 3) -> ctypes.CDLL:
    """A shared object with a function of each name. Raises UserError if a tool refuses the text."""
    together = ModuleOp([])
    for name, graph in graphs.items():
        graph.function.detach()
        graph.function.properties["sym_name"] = StringAttr(name)
        together.body.block.add_op(graph.function)
    text = StringIO()
    write_upstream(together, text)
    write_binary(text.getvalue(), path, level)
    return ctypes.CDLL(str(path))


def _empty(value: SSAValue) -> Array:
    """An array for a tensor of the graph, of ONNX's type."""
    return np.zeros(known_shape(value.type), BY_ATTRIBUTE[known_element(stored_type(value.type))].dtype)


def results(graph: Exposed, function: Callable[..., Any], feeds: Feeds) -> tuple[list[Array], list[Array]]:
    """What a graph's function gives: the graph's outputs, and each tensor of it."""
    end = main_of(graph.before).body.block.last_op
    assert end is not None
    inputs = [np.ascontiguousarray(feeds[name]) for name in input_names(graph.before)]
    outs = [_empty(value) for value in (*end.operands, *graph.values)]
    function(*(a.ctypes.data_as(ctypes.c_void_p) for a in (*inputs, *outs)))
    return outs[: graph.outputs], outs[graph.outputs :]


def differences(graph: Exposed, feeds: Feeds, tensors: Sequence[Array]) -> list[Different]:
    """The ops that give what is beyond `close`. Raises UserError if onnxruntime cannot run the oracle form."""
    got = dict(zip(graph.values, tensors, strict=True))
    ops = [op for op in main_of(graph.before).body.block.ops if not isinstance(op, ReturnOp)]
    wanted = computed(graph.before, feeds, got, ops)
    different: list[Different] = []
    for value, array in got.items():
        op = value.owner
        assert isinstance(op, Operation)
        step = step_of(op, wanted[value]) if isinstance(op, DequantizeOp) else None
        if (detail := beyond(wanted[value], array, Exactness.CLOSE, step)) is not None:
            different.append(Different(op.name, called(op), detail))
    return different
