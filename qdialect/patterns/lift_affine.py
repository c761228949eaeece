"""The pattern that takes affine ops above ops that move elements, to the linear op they can be folded into."""

from __future__ import annotations

import numpy as np
from xdsl.ir import Operation, SSAValue

from qdialect.dialects.onnx_base import OnnxOp
from qdialect.dialects.onnx_types import quantized_of
from qdialect.dialects.quant import Storage, UniformType
from qdialect.ir.build import copied
from qdialect.ir.names import location, node_name, tensor_names
from qdialect.ir.values import is_constant, rank_of, real_constant
from qdialect.patterns.affine import OTHER_AXIS, SECOND_CONSUMER, linear_of, movable_map, new_constant
from qdialect.promises.affine import Affine, AffineMap
from qdialect.promises.arithmetic import producer
from qdialect.promises.axes import Moved
from qdialect.promises.base import Commutes
from qdialect.promises.layout import Permutes
from qdialect.reasons import UNKNOWN_RANK, Blocked, unblocked
from qdialect.rewriting.driver import Rewriter
from qdialect.rewriting.matching import OnTrait


class LiftAffine(OnTrait[Affine]):
    """affine(move(linear(x)))  ->  move(affine(linear(x)))     move: Transpose, Squeeze, Reshape, .."""

    def match(self, op: OnnxOp, promise: Affine, rewriter: Rewriter, /) -> Blocked | None:
        map = movable_map(op.results[0])
        if not isinstance(map, AffineMap):
            return None
        value = op.operands[map.place]
        move = move_of(value)
        if move is None or not _is_of_linear(move.operands[0], op):
            return None
        source = move.operands[0]
        if not (value.has_one_use() and source.has_one_use()):
            return SECOND_CONSUMER
        built = unblocked(_lifted(op, map, move, unblocked(_above(move, map))))
        turned = copied(move, [built[-1].results[0], *move.operands[1:]], [op.results[0].type])
        turned.location = location(node_name(move), tensor_names(op))
        rewriter.replace(op, [*built, turned])
        return None


def move_of(value: SSAValue) -> OnnxOp | None:
    """The op that gives `value` if it transposes or reshapes its first operand."""
    op = producer(value)
    commutes = None if op is None else op.get_trait(Commutes)
    if op is None or commutes is None or len(op.results) > 1 or quantized_of(value.type) is not None:
        return None
    return op if commutes.keeps_order or op.get_trait(Permutes) is not None else None


def _is_of_linear(value: SSAValue, user: OnnxOp) -> bool:
    """True if `value` is the float result of an op with a constant weight, in the block of `user`, or moved from it."""
    while (move := move_of(value)) is not None:
        value = move.operands[0]
    op = producer(value)
    if op is None or op.parent is not user.parent or linear_of(value) is None:
        return False
    if rank_of(op.operands[0]) == 1:
        return False  # onnxruntime refuses some sums behind a vector's product
    return quantized_of(value.type) is None and is_constant(op.operands[1])


def _above(move: OnnxOp, map: AffineMap) -> Moved | Blocked:
    """The numbers of an affine op above a move: along the axis, entry k is entry `indices[k]` of those below."""
    commutes, count = move.get_trait(Commutes), map.factor.size
    if map.axis is None or count == 1 or commutes is None:
        return Moved(None, np.zeros((), np.intp))
    numbered = UniformType.along(
        Storage.of("i8"), map.axis, np.arange(1.0, count + 1), np.zeros(count, np.int32)
    )
    [moved] = unblocked(commutes.backward(move, [numbered]))
    return Moved(moved.axis, moved.scales.astype(np.intp) - 1)


def _lifted(op: OnnxOp, map: AffineMap, move: OnnxOp, above: Moved) -> list[Operation] | Blocked:
    """`op` on the operand of `move`, the last of new operations."""
    source, inputs, new = move.operands[0], list(op.operands), list[Operation]()
    rank, (axis, entries) = rank_of(source), above
    inputs[map.place] = source
    if len(inputs) == 2:
        other = op.operands[1 - map.place]
        array = real_constant(other)
        if array is None or rank is None:
            return UNKNOWN_RANK
        sizes = () if axis is None else (-1, *[1] * (rank - 1 - axis))
        new.append(new_constant(array.reshape(-1)[entries].reshape(sizes), other))
        inputs[1 - map.place] = new[0].results[0]
    elif axis != map.axis or entries.size != map.factor.size:
        return OTHER_AXIS
    lifted = copied(op, inputs, [source.type])
    lifted.location = location(node_name(op))
    return [*new, lifted]
