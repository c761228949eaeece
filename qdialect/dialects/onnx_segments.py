"""
Segment sizes: one 0 or 1 per place for omitted inputs and outputs of a node; absent when none is omitted. `NodeOp`, an
operation with inputs and outputs by place, as its printer and its verifier need it.
"""

from __future__ import annotations

from collections.abc import Sequence
from typing import ClassVar, Protocol

from xdsl.dialects.builtin import DenseArrayBase, i32
from xdsl.ir import Attribute, Region, SSAValue

from qdialect.dialects.schemas import Schema

SEGMENTS = "operandSegmentSizes"
RESULT_SEGMENTS = "resultSegmentSizes"


def present(places: Sequence[object | None]) -> DenseArrayBase | None:
    """Segment sizes for inputs or outputs of which some are None; None if only trailing ones are omitted."""
    flags = [p is not None for p in places]
    while flags and not flags[-1]:
        flags.pop()
    return None if all(flags) else DenseArrayBase.from_list(i32, [int(g) for g in flags])


def placed(values: Sequence[SSAValue], sizes: Attribute | None) -> list[SSAValue | None]:
    """The inputs or outputs by place, None where their segment size is 0."""
    if sizes is None or not isinstance(sizes, DenseArrayBase):
        return list(values)
    places: list[SSAValue | None] = []
    remaining = iter(values)
    for size in sizes.iter_values():
        places += [next(remaining, None) for _ in range(int(size))] if size else [None]
    return places


class NodeOp(Protocol):
    """The interface of an ONNX operation that its printer and its verifier need."""

    SCHEMA: ClassVar[Schema | None]
    ANY_RESULT: ClassVar[bool]
    properties: dict[str, Attribute]
    attributes: dict[str, Attribute]

    @property
    def op_type(self) -> str: ...
    @property
    def inputs(self) -> list[SSAValue | None]: ...
    @property
    def outputs(self) -> list[SSAValue | None]: ...
    @property
    def onnx_attributes(self) -> dict[str, Attribute]: ...
    @property
    def regions(self) -> Sequence[Region]: ...
    @property
    def region_names(self) -> Sequence[str]: ...
    @property
    def operand_types(self) -> Sequence[Attribute]: ...
    @property
    def result_types(self) -> Sequence[Attribute]: ...
