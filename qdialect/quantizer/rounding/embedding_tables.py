"""
8-bit embedding tables: float constants from which rows are gathered at run time; smaller files at equal speed.

    f(table, indices)  ->  f(dcast(qcast(table)), indices)     per-column scales if that cast moves past f, else one

The compiler moves the cast behind the gather, so that only gathered rows are dequantized. A scale for each column and
not for each row: in a transformer's table a few columns are far larger than others, and no type states which rows are
taken.
"""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass
from math import prod

import numpy as np
from xdsl.dialects.builtin import ModuleOp
from xdsl.ir import SSAValue

from qdialect.dialects.onnx_base import ConstantOp, OnnxOp, onnx_opset, promise_of
from qdialect.dialects.onnx_tensor import from_array
from qdialect.dialects.onnx_types import with_element
from qdialect.dialects.quant import DequantizeOp, UniformType
from qdialect.ir.insertion import behind, insert_before
from qdialect.ir.interface import main_of
from qdialect.ir.names import QUANTIZED, location, tensor_name
from qdialect.ir.values import constant, is_float32, known_array, static_shape
from qdialect.numerics import Array
from qdialect.promises.base import Commutes
from qdialect.quantizer.rounding.rounding import STORAGE, round_to_nearest
from qdialect.reasons import Blocked
from qdialect.rewriting.journal import KEEP_FLOAT
from qdialect.targets import Target

MIN_SAVED_BYTES = 1 << 20
"""Least saving in bytes for a table: the compiler stores smaller ones as floats again."""
LARGEST_CODE = 127
"""Greatest magnitude of the integers of a table."""


@dataclass(frozen=True)
class Table:
    """A constant table, and the ops that gather rows from it."""

    value: SSAValue
    takers: Sequence[OnnxOp]

    @property
    def saved(self) -> int:
        """Bytes saved: 3 per element."""
        return 3 * known_array(self.value).size


def tables_of(module: ModuleOp, target: Target) -> list[Table]:
    """The large constants of a graph that are only gathered from at run time, by ops that also move integers."""
    result: list[Table] = []
    for op in main_of(module).body.block.ops:
        if not isinstance(op, ConstantOp) or not is_float32(op.results[0]):
            continue
        value = op.results[0]
        users = {use.operation for use in value.uses if use.index == 0 and _looks_up(use.operation, target)}
        if len(users) == len(list(value.uses)) > 0 and _is_table(value):
            result.append(Table(value, [one for one in users if isinstance(one, OnnxOp)]))
    return result


def _is_table(value: SSAValue) -> bool:
    shape = static_shape(value)
    if shape is None or len(shape) < 2 or 3 * prod(shape) < MIN_SAVED_BYTES:
        return False
    return bool(np.isfinite(known_array(value)).all())


def _looks_up(op: object, target: Target) -> bool:
    """True if an op gathers elements of its first operand by computed indices, and supports integers."""
    promise = promise_of(op, Commutes)
    if promise is None or not isinstance(op, OnnxOp) or promise.selects or not promise.moves_storage:
        return False
    if list(promise.operands(op)) != [0] or KEEP_FLOAT in op.attributes:
        return False
    if all(constant(value) is not None for value in op.operands):
        return False
    name = op.SCHEMA.name if op.SCHEMA is not None else ""
    return target.runs_on_storage(name, STORAGE.name, onnx_opset(op))


def quantize_tables(tables: Sequence[Table]) -> None:
    """Quantize tables, in place. The bytes of the floats are dropped when unused."""
    for table in tables:
        stored, type = _quantized(table)
        name = tensor_name(table.value.owner) if isinstance(table.value.owner, ConstantOp) else ""
        integers = ConstantOp.of(from_array(stored), with_element(table.value.type, type))
        integers.location = location("", [f"{name}{QUANTIZED}" if name else ""])
        real = DequantizeOp(integers.results[0])
        insert_before(behind(table.value), integers, real)
        for op in table.takers:
            op.operands[0] = real.results[0]


def _quantized(table: Table) -> tuple[Array, UniformType]:
    """The stored integers and their type, rounded to nearest, symmetric."""
    array = known_array(table.value)
    stored, type = round_to_nearest(array, array.ndim - 1, LARGEST_CODE)
    return (
        (stored, type)
        if all(_moves_past(op, type) for op in table.takers)
        else round_to_nearest(array, None, LARGEST_CODE)
    )


def _moves_past(op: OnnxOp, type: UniformType) -> bool:
    promise = op.get_trait(Commutes)
    return promise is not None and not isinstance(promise.forward(op, [type]), Blocked)
