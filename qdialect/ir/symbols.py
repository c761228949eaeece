"""Names of symbolic sizes: attribute `onnx.dims`, one list for each result of an op, input or output of a graph."""

from __future__ import annotations

from collections.abc import Sequence
from itertools import zip_longest

from xdsl.dialects.builtin import ArrayAttr, StringAttr
from xdsl.dialects.func import FuncOp
from xdsl.ir import Attribute, BlockArgument, OpResult, SSAValue

from qdialect.dialects.onnx_types import shape_of

DIMS = "onnx.dims"
"""Attribute with the names of symbolic sizes, one list per result."""


STATED = "onnx.sizes"
"""Attribute of a graph's output: the sizes that its file states where nodes leave them open, `DYNAMIC` for others."""


def symbol_names(value: Attribute | None, type: Attribute) -> tuple[str, ...]:
    """
    The names of symbolic sizes that an `onnx.dims` attribute holds for a value of `type`, empty for unnamed ones; () if
    they are of another rank.
    """
    if not isinstance(value, ArrayAttr) or len(value) != len(shape_of(type) or ()):
        return ()
    return tuple(name.data if isinstance(name, StringAttr) else "" for name in value.data)


def size_names(value: SSAValue) -> tuple[str, ...]:
    """Names of the dimensions of a tensor, empty for unnamed ones; () if the model names none."""
    if isinstance(value, OpResult) and isinstance(rows := value.op.attributes.get(DIMS), ArrayAttr):
        return symbol_names(rows.data[value.index], value.type) if value.index < len(rows.data) else ()
    if isinstance(value, BlockArgument) and isinstance(func := value.block.parent_op(), FuncOp):
        attributes = () if func.arg_attrs is None else func.arg_attrs.data
        row = attributes[value.index].data if value.index < len(attributes) else {}
        return symbol_names(row.get(DIMS), value.type)
    return ()


def name_sizes(value: OpResult, names: Sequence[str]) -> None:
    """Name dimensions of an op's result that have no name yet."""
    rows = [size_names(result) for result in value.op.results]
    rows[value.index] = tuple(own or new for own, new in zip_longest(rows[value.index], names, fillvalue=""))
    value.op.attributes[DIMS] = ArrayAttr([names_attr(row) for row in rows])


def names_attr(names: Sequence[str]) -> ArrayAttr[StringAttr]:
    """What `onnx.dims` holds for one value."""
    return ArrayAttr([StringAttr(name) for name in names])
