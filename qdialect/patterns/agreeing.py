"""Equivalence classes of values whose quantized types determine each other, through ops that move elements."""

from __future__ import annotations

from collections.abc import Iterable

from xdsl.ir import Block, Operation, SSAValue

from qdialect.dialects.onnx_base import OnnxOp
from qdialect.dialects.onnx_types import quantized_of
from qdialect.dialects.quant import StorageCastOp
from qdialect.promises.base import Commutes

Place = tuple[Operation | Block, int]
"""Key of a value that survives a change of its type: the op or block that defines it, and its index there."""


def place_of(value: SSAValue) -> Place:
    """The place of a value."""
    return value.owner, getattr(value, "index", 0)


class Agreement:
    """
    A union-find of the quantized values of some operations.

    An op that moves elements ties its operands to its results; one with subgraphs ties all values that cross their
    boundaries, a conservative choice; a storage cast ties its operand and result.
    """

    def __init__(self, ops: Iterable[Operation]):
        self._above: dict[Place, Place] = {}
        values: dict[Place, SSAValue] = {}
        for op in ops:
            tied = [v for v in _tied(op) if quantized_of(v.type) is not None or isinstance(op, StorageCastOp)]
            for value in tied:
                values.setdefault(place_of(value), value)
                self._above[self._root(place_of(value))] = self._root(place_of(tied[0]))
        self._sets: dict[Place, list[SSAValue]] = {}
        for place, value in values.items():
            self._sets.setdefault(self._root(place), []).append(value)

    def _root(self, place: Place) -> Place:
        path: list[Place] = []
        while (above := self._above.get(place, place)) != place:
            path.append(place)
            place = above
        self._above.update(dict.fromkeys(path, place))
        return place

    def around(self, values: Iterable[SSAValue]) -> list[list[SSAValue]]:
        """The sets of some values, without duplicates; an untied value is a set of its own."""
        roots = {self._root(place_of(value)): value for value in values}
        return [self._sets.get(root, [value]) for root, value in roots.items()]


def _tied(op: Operation) -> list[SSAValue]:
    """Values whose types an op ties to each other."""
    if op.regions and isinstance(op, OnnxOp):
        blocks = [block for region in op.regions for block in region.blocks]
        ends = [block.last_op for block in blocks]
        inner = [v for end in ends if end is not None for v in end.operands]
        return [*op.operands, *op.results, *(a for block in blocks for a in block.args), *inner]
    if isinstance(op, StorageCastOp):
        return [*op.operands, *op.results]
    promise = op.get_trait(Commutes)
    if promise is None or not isinstance(op, OnnxOp):
        return []
    return [*promise.operand_values(op), *promise.result_values(op)]
