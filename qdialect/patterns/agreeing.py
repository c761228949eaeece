"""Which values have to be of one quantized type, or of types that follow from it: ops move one into the other."""

from __future__ import annotations

from collections.abc import Iterable

from xdsl.ir import Block, Operation, SSAValue

from qdialect.dialects.onnx_base import OnnxOp
from qdialect.dialects.onnx_types import quantized_of
from qdialect.dialects.quant import StorageCastOp
from qdialect.promises.base import Commutes

Place = tuple[Operation | Block, int]
"""Where a value is made, which stays when the value is given another type: of which op or block, the how manieth."""


def place_of(value: SSAValue) -> Place:
    """Where a value is made."""
    return value.owner, getattr(value, "index", 0)


class Agreement:
    """
    The quantized values of some operations, in sets.

    An op that moves elements ties what it takes to what it gives; one with subgraphs ties all that enters and leaves
    them, which may be more than it has to; integers that are read as another type tie both.
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
        """The sets that some values are in, each once; a value that nothing ties is one of its own."""
        roots = {self._root(place_of(value)): value for value in values}
        return [self._sets.get(root, [value]) for root, value in roots.items()]


def _tied(op: Operation) -> list[SSAValue]:
    """Values that have to agree because of an op."""
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
