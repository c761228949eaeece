"""
Tables of floats from which rows are taken at run time (embeddings), in 8 bits: the file shrinks, the model is as fast.

    f(table, indices)  ->  f(dcast(qcast(table)), indices)     a scale for each column where that moves past f, else one

The compiler moves the cast behind what takes the rows, so that only these are dequantized. A scale for each column and
not for each row: of a transformer's table a few columns are far larger than the others, and no type says which rows are
taken.
"""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass
from math import prod

import numpy as np
from xdsl.dialects.builtin import ModuleOp
from xdsl.ir import SSAValue

from qdialect import numerics
from qdialect.dialects.onnx_base import ConstantOp, OnnxOp, opset_of
from qdialect.dialects.onnx_tensor import from_array
from qdialect.dialects.onnx_types import with_element
from qdialect.dialects.quant import DequantizeOp, Storage, UniformType
from qdialect.ir.names import location, tensor_name
from qdialect.ir.place import behind, insert_before
from qdialect.ir.values import constant, is_float32, known_array, static_shape
from qdialect.numerics import Array
from qdialect.oracle.form import main_of
from qdialect.promises.base import Commutes
from qdialect.reasons import Blocked
from qdialect.rewriting.journal import KEEP_FLOAT
from qdialect.targets import Target

LEAST_SAVED = 1 << 20
"""Bytes by which the file must shrink for a table: what is smaller, the compiler gives back as floats."""
LEVELS = 127
STORAGE = "i8"


@dataclass(frozen=True)
class Table:
    """A constant, and the ops that take rows of it."""

    value: SSAValue
    takers: Sequence[OnnxOp]

    @property
    def saved(self) -> int:
        """Bytes: a float is 4, an integer 1."""
        return 3 * known_array(self.value).size


def tables_of(module: ModuleOp, target: Target) -> list[Table]:
    """The large tables of a graph of which nothing is read but what is taken at run time, by ops that move integers."""
    result: list[Table] = []
    for op in main_of(module).body.block.ops:
        if not isinstance(op, ConstantOp) or not is_float32(op.results[0]):
            continue
        value = op.results[0]
        users = {use.operation for use in value.uses if use.index == 0 and _takes(use.operation, target)}
        if len(users) == len(list(value.uses)) > 0 and _is_table(value):
            result.append(Table(value, [one for one in users if isinstance(one, OnnxOp)]))
    return result


def _is_table(value: SSAValue) -> bool:
    shape = static_shape(value)
    if shape is None or len(shape) < 2 or 3 * prod(shape) < LEAST_SAVED:
        return False
    return bool(np.isfinite(known_array(value)).all())


def _takes(op: object, target: Target) -> bool:
    """Whether an op takes elements of its first operand by computed indices, and does so to integers too."""
    promise = op.get_trait(Commutes) if isinstance(op, OnnxOp) else None
    if promise is None or not isinstance(op, OnnxOp) or promise.selects or not promise.moves_storage:
        return False
    if list(promise.operands(op)) != [0] or KEEP_FLOAT in op.attributes:
        return False
    if all(constant(value) is not None for value in op.operands):
        return False
    name = op.SCHEMA.name if op.SCHEMA is not None else ""
    return target.runs_on_storage(name, STORAGE, opset_of(op, "") or 13)


def quantize_tables(module: ModuleOp, tables: Sequence[Table]) -> None:
    """Let the ops read integers, in place. The bytes of the floats are dropped when nobody reads them any more."""
    for table in tables:
        stored, type = _quantized(table)
        name = tensor_name(table.value.owner) if isinstance(table.value.owner, ConstantOp) else ""
        integers = ConstantOp.of(from_array(stored), with_element(table.value.type, type))
        integers.location = location("", [f"{name}_quantized" if name else ""])
        real = DequantizeOp(integers.results[0])
        insert_before(behind(table.value), integers, real)
        for op in table.takers:
            op.operands[0] = real.results[0]


def _quantized(table: Table) -> tuple[Array, UniformType]:
    """The stored integers and their type, rounded to nearest, symmetric."""
    array, storage = known_array(table.value), Storage.of(STORAGE)
    by_column = tuple(range(array.ndim - 1))
    scales = numerics.symmetric_scales(np.abs(array).max(axis=by_column), LEVELS)
    type = UniformType.along(storage, array.ndim - 1, scales, np.zeros(scales.shape, np.int32))
    if not all(_moves_past(op, type) for op in table.takers):
        type = UniformType.per_tensor(storage, float(numerics.symmetric_scales(np.abs(array).max(), LEVELS)))
    stored = numerics.quantize(
        array, type.scales, type.zero_points, -LEVELS, LEVELS, storage.dtype, axis=type.axis
    )
    return stored, type


def _moves_past(op: OnnxOp, type: UniformType) -> bool:
    promise = op.get_trait(Commutes)
    return promise is not None and not isinstance(promise.forward(op, [type]), Blocked)
