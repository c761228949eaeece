"""
Ranges of tensors as attributes of the operations that define them: `qdialect.range = array<f64: low, high>`, two
numbers for each result.
"""

from __future__ import annotations

from collections.abc import Mapping, Sequence

import numpy as np
from xdsl.dialects.builtin import ArrayAttr, DenseArrayBase, DictionaryAttr, ModuleOp, f64, i64
from xdsl.dialects.func import FuncOp
from xdsl.ir import Attribute, BlockArgument, Operation, OpResult, SSAValue

from qdialect.dialects.onnx_base import OnnxOp, promise_of
from qdialect.ir.interface import attributes_of_inputs, main_of
from qdialect.ir.values import constant, constant_array, is_float32
from qdialect.promises.base import Commutes
from qdialect.quantizer.statistics.loop_ranges import inner_range
from qdialect.quantizer.statistics.observer import value_names

RANGE = "qdialect.range"
"""Least and greatest real of each result that quantized types are to cover; NaN for a result without."""
ELEMENTS = "qdialect.elements"
"""Number of elements of each result for one sample."""
MIN_UNLIKE_RATIO = 16
"""Ratio of ranges that leaves four bits of eight to the smaller: a detector may join boxes and scores so."""


def annotate(
    module: ModuleOp, ranges: Mapping[str, tuple[float, float]], elements: Mapping[str, int]
) -> None:
    """
    Attach ranges and numbers of elements, by tensor name, to the operations that define the tensors; no range to a
    result that takes elements from a constant with infinities, even if none was taken so far.
    """
    func = main_of(module)
    names = value_names(module)
    rows = attributes_of_inputs(func)
    for k, arg in enumerate(func.body.block.args):
        name = names.get(arg, "")
        if name in ranges:
            rows[k] = DictionaryAttr({**rows[k].data, **_pair([ranges[name]], [elements.get(name, 0)])})
    func.arg_attrs = ArrayAttr(rows)
    for op in func.body.block.ops:
        known = [names.get(result, "") for result in op.results]
        if any(name in ranges for name in known) and not _selects_infinity(op):
            pairs = [ranges.get(name, (np.nan, np.nan)) for name in known]
            op.attributes.update(_pair(pairs, [elements.get(name, 0) for name in known]))


def _selects_infinity(op: Operation) -> bool:
    promise = promise_of(op, Commutes)
    if promise is None or not isinstance(op, OnnxOp):
        return False
    arrays = (constant_array(value) for value in promise.operand_values(op) if is_float32(value))
    return any(array is not None and not np.isfinite(array).all() for array in arrays)


def _pair(ranges: list[tuple[float, float]], elements: list[int]) -> dict[str, Attribute]:
    return {
        RANGE: DenseArrayBase.from_list(f64, [float(v) for pair in ranges for v in pair]),
        ELEMENTS: DenseArrayBase.from_list(i64, elements),
    }


def clear(module: ModuleOp) -> None:
    """Remove all annotations."""
    for op in module.walk():
        op.attributes.pop(RANGE, None)
        op.attributes.pop(ELEMENTS, None)
        if isinstance(op, FuncOp) and op.arg_attrs is not None:
            op.arg_attrs = ArrayAttr(
                DictionaryAttr({k: v for k, v in row.data.items() if k not in (RANGE, ELEMENTS)})
                for row in op.arg_attrs.data
            )


def _row(value: SSAValue, name: str) -> tuple[tuple[float, ...], int] | None:
    if isinstance(value, OpResult):
        entries, index = value.op.attributes.get(name), value.index
    elif isinstance(value, BlockArgument):
        func = value.block.parent_op()
        rows = getattr(func, "arg_attrs", None)
        entries, index = (rows.data[value.index].data.get(name) if rows is not None else None), 0
    else:
        return None
    return (tuple(entries.get_values()), index) if isinstance(entries, DenseArrayBase) else None


def range_of(value: SSAValue) -> tuple[float, float] | None:
    """The range annotated on the operation that defines `value`; None if there is none."""
    row = _row(value, RANGE)
    if row is None or len(row[0]) < 2 * row[1] + 2:
        bounds = _inside(value)
    else:
        bounds = row[0][2 * row[1]], row[0][2 * row[1] + 1]
    return None if bounds is None or np.isnan(bounds).any() else (min(bounds[0], 0.0), max(bounds[1], 0.0))


def _inside(value: SSAValue) -> tuple[float, float] | None:
    """The range of a value in the body of a loop, derived from values outside; None if it does not follow."""
    block = value.block if isinstance(value, BlockArgument) else value.owner.parent
    return None if block is None or isinstance(block.parent_op(), FuncOp) else inner_range(value, range_of)


def counted(value: SSAValue) -> int | None:
    """Number of elements of `value` for one sample; None if not counted."""
    row = _row(value, ELEMENTS)
    return int(row[0][row[1]]) or None if row is not None and row[1] < len(row[0]) else None


def are_unlike(values: Sequence[SSAValue]) -> bool:
    """True if the ranges of values that share a scale differ by more than a factor of `MIN_UNLIKE_RATIO`."""
    ranges = [known for value in values if constant(value) is None and (known := range_of(value)) is not None]
    sizes = [size for low, high in ranges if (size := max(-low, high)) > 0]
    return len(sizes) > 1 and max(sizes) > MIN_UNLIKE_RATIO * min(sizes)
