"""
Values of a module as the oracle form computes them: all, or those of some operations from known operands.
"""

from __future__ import annotations

from collections.abc import Collection, Iterator, Mapping, Sequence
from dataclasses import dataclass

import numpy as np
from xdsl.dialects.builtin import ModuleOp, StringAttr
from xdsl.dialects.func import ReturnOp
from xdsl.ir import Attribute, Operation, OpResult, SSAValue

from qdialect import numerics
from qdialect.dialects.onnx_base import RANDOM, ConstantOp, CustomOp, OnnxOp
from qdialect.dialects.onnx_types import (
    BY_ATTRIBUTE,
    DYNAMIC,
    element_of,
    onnx_element,
    quantized_of,
    stored_type,
    tensor_type,
)
from qdialect.dialects.quant import UniformType
from qdialect.evaluation.oracle_form import is_visible, oracle_form
from qdialect.evaluation.session import run
from qdialect.ir.insertion import end_of
from qdialect.ir.interface import interface_names, main_of
from qdialect.ir.names import tensor_name
from qdialect.numerics import Array
from qdialect.onnx_io.exporter import export_model

OUTPUT = "output "
"""Prefix of a graph output's label."""


@dataclass(frozen=True)
class Seen:
    """A value as the oracle form computed it."""

    stored: Array
    """Elements; the stored integers for quantized types."""
    type: UniformType | None
    computed: bool
    """True for the result of an op, False for a constant."""


def names_of(module: ModuleOp) -> dict[SSAValue, list[str]]:
    """ONNX tensor names of the results of the graph's ops; graph outputs are also labelled `output NAME`."""
    func = main_of(module)
    names: dict[SSAValue, list[str]] = {}
    for op in func.body.block.ops:
        for k, result in enumerate(op.results):
            if name := tensor_name(op, k):
                names.setdefault(result, []).append(name)
    end = end_of(func.body.block, ReturnOp)
    rows = func.res_attrs.data if func.res_attrs is not None else ()
    for k, value in enumerate(end.operands):
        onnx_name = rows[k].data.get("onnx.name") if k < len(rows) else None
        if isinstance(value, OpResult):
            names.setdefault(value, []).append(
                f"{OUTPUT}{onnx_name.data if isinstance(onnx_name, StringAttr) else k}"
            )
    return names


def input_names(module: ModuleOp) -> list[str]:
    """ONNX names of the graph's inputs."""
    func = main_of(module)
    return interface_names(func.arg_attrs, len(func.body.block.args), "input")


def observe(module: ModuleOp, feeds: Mapping[str, Array]) -> dict[SSAValue, Seen]:
    """
    The values of every tensor of the graph by the oracle form of `module`, and of its constants.

    `feeds` is keyed by graph input name. Raises UserError if onnxruntime cannot run the oracle form.
    """
    held = {
        op.results[0]: Seen(op.value.array(), quantized_of(op.results[0].type), False)
        for op in main_of(module).body.block.ops
        if isinstance(op, ConstantOp) and op.value is not None and is_visible(op.results[0])
    }
    arrays = computed(module, feeds, {})
    return held | {v: Seen(a, quantized_of(v.type), True) for v, a in arrays.items()}


def computed(
    module: ModuleOp,
    feeds: Mapping[str, Array],
    known: Mapping[SSAValue, Array],
    ops: Collection[Operation] | None = None,
) -> dict[SSAValue, Array]:
    """
    The values that the oracle form of `module` computes, or only those needed for `ops` of the graph. Users of `known`
    values take them as given; they are computed all the same if their op is one of `ops`.

    Raises UserError if onnxruntime cannot run the oracle form.
    """
    if ops is not None and not ops:
        return {}
    only = None if ops is None else with_sources(ops, known)
    used = None if only is None else {value for op in only for value in taken(op)}

    def outside(value: SSAValue) -> Attribute | None:
        if (array := known.get(value)) is None or (used is not None and value not in used):
            return None
        return _type_of(value, array, array.shape)

    form = oracle_form(module, outside, only)
    inputs = {f"c{k}": known[v] for k, v in enumerate(form.cuts)}
    for k, name in enumerate(input_names(module)):
        if name in feeds:
            inputs[f"i{k}"] = feeds[name]
    if not form.outputs:
        return {}
    results = run(export_model(form.module), inputs)
    return {v: a for v, a in zip(form.outputs, results, strict=True)}


def open_type(value: SSAValue, array: Array) -> Attribute:
    """The type with which a value becomes an input that takes arrays of any size, `array` among them."""
    return _type_of(value, array, (DYNAMIC,) * array.ndim)


def _type_of(value: SSAValue, array: Array, shape: Sequence[int]) -> Attribute:
    element = element_of(stored_type(value.type))
    if element not in BY_ATTRIBUTE:
        element = next(a for a, e in BY_ATTRIBUTE.items() if e.dtype == array.dtype)
    return tensor_type(element, tuple(shape))


def taken(op: Operation) -> Iterator[SSAValue]:
    """The operands of an op and of all ops in its subgraphs."""
    for one in op.walk():
        yield from one.operands


def with_sources(ops: Collection[Operation], known: Mapping[SSAValue, Array]) -> set[Operation]:
    """`ops` and the ops that define their operands, up to known values."""
    needed: set[Operation] = set()
    stack = list(ops)
    block = stack[0].parent
    while stack:
        op = stack.pop()
        if op in needed:
            continue
        needed.add(op)
        sources = [v.op for v in taken(op) if isinstance(v, OpResult) and v not in known]
        stack += [source for source in sources if source.parent is block]
    return needed


def is_random(value: SSAValue) -> bool:
    op = value.owner
    return isinstance(op, CustomOp) or (isinstance(op, OnnxOp) and op.op_type in RANDOM)


def as_stored(seen: Seen, type: Attribute) -> Array | None:
    """A seen value as `type` would store it; None if the two element types are not comparable."""
    now = quantized_of(type)
    element = onnx_element(stored_type(type))
    if now is None or seen.type is None or now == seen.type:
        known = element is None or element.dtype == seen.stored.dtype
        return seen.stored if known and (now is None or seen.type is None or now == seen.type) else None
    then = seen.type
    if now.blocks or then.blocks or now.axis != then.axis or not np.array_equal(now.scales, then.scales):
        return None
    return _moved(seen.stored, then, now)


def in_steps(seen: Seen, type: Attribute) -> Array | None:
    """A seen value as `type` stores the same number of steps, at any scale; None unless both are quantized."""
    now = quantized_of(type)
    return None if now is None or seen.type is None else _moved(seen.stored, seen.type, now)


def _moved(stored: Array, then: UniformType, now: UniformType) -> Array | None:
    """Integers moved to another zero point; None if one leaves the storage range, or parameters are blocked."""
    if now.blocks or then.blocks:
        return None
    zeros = [
        numerics.expand_parameters(one.zero_points, stored.shape, one.axis).astype(np.int64)
        for one in (then, now)
    ]
    moved = np.asarray(
        stored.astype(np.int64) - zeros[0] + zeros[1]
    )  # numpy makes numbers of arrays of rank 0
    return moved.astype(now.storage.dtype) if _within(moved, now) else None


def _within(stored: Array, type: UniformType) -> bool:
    return bool(np.all((stored >= type.storage.low) & (stored <= type.storage.high)))
