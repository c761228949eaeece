"""The pattern that folds affine ops behind a normalization into its own factor and shift."""

from __future__ import annotations

import numpy as np
from xdsl.ir import Operation, SSAValue

from qdialect.dialects.onnx_base import OnnxOp
from qdialect.dialects.onnx_types import quantized_of
from qdialect.ir.names import location, node_name, tensor_names
from qdialect.ir.values import normal_axis, rank_of, real_constant
from qdialect.numerics import Array
from qdialect.patterns.affine import OTHER_AXIS, SECOND_CONSUMER, movable_map, new_constant
from qdialect.promises.affine import Affine, AffineMap
from qdialect.promises.homogeneous import Scaled
from qdialect.reasons import COMPUTED_WEIGHT, Blocked, unblocked
from qdialect.rewriting.driver import Rewriter
from qdialect.rewriting.matching import OnTrait


class FoldIntoNormalization(OnTrait[Scaled]):
    """affine(norm(x, gamma, beta))  ->  norm(x, gamma * factor, beta * factor + shift)     for all that read it"""

    def match(self, op: OnnxOp, promise: Scaled, rewriter: Rewriter, /) -> Blocked | None:
        users = [use.operation for use in op.results[0].uses]
        maps = [_map_of(user, op.results[0]) for user in users]
        first = next((one for one in maps if one is not None), None)
        if first is None:
            return None
        if not all(one is not None and _equal(one, first) for one in maps):
            return SECOND_CONSUMER
        if any(quantized_of(one.results[0].type) is not None for one in (op, *users)):
            return Blocked(
                "quantizer-between", "a quantize in between rounds, and folding would drop that rounding"
            )
        built = unblocked(_folded(op, promise, first))
        # Its result holds the numbers of the affine ops' results.
        named = [*tensor_names(users[0]), ""][:1]
        built[-1].location = location(node_name(op), [*named, *tensor_names(op)[1:]])
        rewriter.insert_before(op, built)
        for user in users:
            if user.parent is not None:
                rewriter.replace(user, [], [built[-1].results[0]])
        if op.parent is not None:
            rewriter.replace(op, [], built[-1].results, is_same=False)
        return None


def _map_of(user: Operation, value: SSAValue) -> AffineMap | None:
    """The affine map of `user` on `value`; None if it is not affine."""
    if not isinstance(user, OnnxOp) or user.get_trait(Affine) is None:
        return None
    map = movable_map(user.results[0])
    is_of_value = isinstance(map, AffineMap) and user.operands[map.place] is value
    return map if is_of_value and isinstance(map, AffineMap) else None


def _equal(a: AffineMap, b: AffineMap) -> bool:
    return a.axis == b.axis and np.array_equal(a.factor, b.factor) and np.array_equal(a.shift, b.shift)


def _folded(op: OnnxOp, promise: Scaled, map: AffineMap) -> list[Operation] | Blocked:
    """The normalization with another factor and shift, the last of new operations."""
    rank, old_shift = rank_of(op.operands[0]), op.input(promise.shift)
    gamma, beta = real_constant(op.input(promise.factor)), real_constant(old_shift)
    if gamma is None or rank is None or (beta is None and old_shift is not None):
        return COMPUTED_WEIGHT
    first = normal_axis(op.int_attr("axis", promise.first_axis), rank)
    is_one = map.factor.size == map.shift.size == 1
    if not is_one and (first != rank - 1 or map.axis != first or gamma.shape != map.factor.shape):
        return OTHER_AXIS
    arrays: dict[int, Array] = {promise.factor: gamma.astype(np.float64) * map.factor}
    if beta is not None or not map.is_scale:
        shift = map.shift + (0 if beta is None else beta.astype(np.float64) * map.factor)
        arrays[promise.shift] = np.broadcast_to(shift, gamma.shape)
    constants = {k: new_constant(a.astype(gamma.dtype), op.input(k)) for k, a in arrays.items()}
    inputs: list[SSAValue | None] = [*op.inputs, *[None] * (max(constants) + 1 - len(op.inputs))]
    for place, constant in constants.items():
        inputs[place] = constant.results[0]
    new = op.__class__.build(inputs, list(op.result_types), op.onnx_attributes)
    return [*constants.values(), new]
