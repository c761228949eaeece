"""
Fold per-channel scales of an activation into the weights on both sides of it.

    qcast(f(linear(x, w, b))) : s[c], z     ->  qcast(f(linear(x, w / s, b / s))) : 1, z
    depthwise(dcast(q : s[c], z), w, b)     ->  depthwise(dcast(q : 1, z), w * s, b)     alone: below
    qcast(Clip(x, 0, 6)) : s[c], 0          ->  qcast(Relu(x)) : s[c], 0     if no channel's range exceeds 6

Close: both weights' scales are rounded once to float32, stored integers stay. f is a chain of ops that commute with
positive factors. `below` folds into the depthwise ops alone, whatever computes the activation: its quantize keeps the
scales. Channels with different zero points get a common one if no value is negative: all start at the lowest
integer, and a Min keeps each channel's maximum. A clamp that the storage range of every channel implies is dropped.
"""

from collections.abc import Sequence
from dataclasses import dataclass
from typing import NamedTuple

import numpy as np
from xdsl.dialects.builtin import Float32Type
from xdsl.ir import Operation, OpResult, SSAValue

from qdialect.dialects.onnx_base import OnnxOp, onnx_opset, promise_of
from qdialect.dialects.onnx_types import with_element
from qdialect.dialects.quant import DequantizeOp, QuantizeOp, UniformType
from qdialect.exactness import Exactness
from qdialect.ir.build import constant_op, read_as
from qdialect.ir.names import location, node_name, tensor_name
from qdialect.ir.values import rank_of, static_shape
from qdialect.ops.generated import op_named
from qdialect.patterns.affine import (
    SECOND_CONSUMER,
    Array,
    LinearTarget,
    folded_bias,
    folded_weight,
    linear_of,
    new_constant,
    with_parts,
)
from qdialect.patterns.lift_affine import move_of
from qdialect.promises.affine import AffineMap, Homogeneous, affine_map
from qdialect.promises.arithmetic import producer
from qdialect.promises.base import Commutes
from qdialect.promises.clamping import Clamp
from qdialect.promises.linear import Linear
from qdialect.promises.monotone import stored_bounds
from qdialect.reasons import NOT_QUANTIZED, OTHER_REGION, Blocked, unblocked
from qdialect.rewriting.driver import Pattern, Rewriter
from qdialect.rewriting.matching import OnOp, OnTrait
from qdialect.rewriting.passes import RewritePass, Role
from qdialect.rewriting.uses import is_quantized_next

INTEGER_MIN_OPSET = 12
"""The opset from which Min takes 8-bit integers."""
MAX_BOUND_BYTES = 2**16
"""Greatest size in bytes of a bound that is repeated along a row."""


class Above(NamedTuple):
    """The linear op above a quantize, and the ops between, starting at the linear op."""

    target: LinearTarget
    between: list[OnnxOp]


class DropImpliedBound(OnOp[QuantizeOp]):
    """A clamp in front of a per-axis quantize whose storage range implies it."""

    def match(self, op: QuantizeOp, rewriter: Rewriter, /) -> Blocked | None:
        type, value = op.element_type, op.operands[0]
        above = producer(value)
        clamp = None if above is None else above.get_trait(Clamp)
        if type.axis is None or above is None or clamp is None:
            return None
        bounds = clamp.bounds(above)
        if bounds is None or above.get_trait(Homogeneous) is not None:
            return None
        low, high = stored_bounds(bounds, type)
        if (high != type.storage.high).any():
            return Blocked("value-rounds", f"a channel exceeds the upper bound {bounds[1]:g} of the clamp")
        is_low = bool((low == type.storage.low).all())
        if not is_low and bounds[0] != 0:
            return Blocked("value-rounds", f"a channel goes below the lower bound {bounds[0]:g} of the clamp")
        if not value.has_one_use():
            return SECOND_CONSUMER
        if is_low:
            if above.operands[0].type != value.type:
                return Blocked(
                    "invalid-op", "the result of the clamp has known sizes that its operand does not have"
                )
            rewriter.replace(above, [], [above.operands[0]], is_same=False)
            return None
        relu = op_named("", "Relu").build([above.operands[0]], [value.type])
        rewriter.replace(above, [relu], is_same=False)
        return None


class FoldScales(OnOp[QuantizeOp]):
    """A per-axis quantize between a linear op and depthwise ones."""

    def match(self, op: QuantizeOp, rewriter: Rewriter, /) -> Blocked | None:
        type = op.element_type
        if type.axis != 1 or not isinstance(type.expressed, Float32Type):
            return None
        above = unblocked(_above(op))
        if above is None:
            return None
        users = unblocked(_depthwise_users(op, type.scales.size))
        ceiling = unblocked(ceiling_of(op, type, above))
        scaled = unblocked(_scaled(above.target, 1 / type.scales.astype(np.float64)))
        below: list[list[Operation]] = []
        for user in users:
            scales = np.repeat(type.scales.astype(np.float64), user.channels // type.scales.size)
            weight = unblocked(folded_weight(user, scales, symmetric=True, lossy=False))
            below.append(weight)
        _replace(op, above, scaled, ceiling, rewriter)
        for user, weight in zip(users, below, strict=True):
            rewriter.insert_before(user.op, weight)
            rewriter.set_operand(user.op, 1, weight[-1].results[0])
        return None


def _above(op: QuantizeOp) -> Above | Blocked | None:
    value, between = op.operands[0], list[OnnxOp]()
    while True:
        if not isinstance(value, OpResult) or not isinstance(value.op, OnnxOp):
            return None
        if not value.has_one_use():
            return SECOND_CONSUMER
        if value.op.parent is not op.parent:
            return OTHER_REGION
        linear = linear_of(value)
        if linear is not None:
            break
        if value.op.get_trait(Homogeneous) is None:
            return Blocked(
                "unfoldable-factor", f"{value.op.op_type} does not commute with a factor for each channel"
            )
        between.insert(0, value.op)
        value = value.op.operands[0]
    channels, rank = linear.output_channels(value.op), rank_of(value)
    if (
        channels is None
        or channels != op.element_type.scales.size
        or rank is None
        or linear.result_axis not in (1, 1 - rank)
    ):
        return Blocked("weight-axis", "the scales do not run along the linear op's channels")
    return Above(LinearTarget(value.op, linear, channels), between)


def _depthwise_users(op: QuantizeOp, channels: int) -> list[LinearTarget] | Blocked:
    """The users of the quantized value, if all are depthwise linear ops; else `Blocked`."""
    targets: list[LinearTarget] = []
    for cast in [use.operation for use in op.results[0].uses]:
        if not isinstance(cast, DequantizeOp):
            return Blocked("integers-used", "the integers themselves are used")
        for use in cast.results[0].uses:
            user = use.operation
            linear = user.get_trait(Linear)
            if linear is None or not isinstance(user, OnnxOp) or use.index != 0:
                return Blocked("unfoldable-factor", "the consumer mixes channels or is not linear")
            outputs = linear.output_channels(user)
            if outputs is None or not linear.is_depthwise(user, channels):
                return Blocked("unfoldable-factor", "the consumer sums over channels")
            targets.append(LinearTarget(user, linear, outputs))
    return targets


def ceiling_of(op: QuantizeOp, type: UniformType, above: Above) -> Array | Blocked | None:
    """The maximum of each channel, in steps; None if all channels have one zero point."""
    if np.unique(type.zero_points).size == 1:
        return None
    last = above.between[-1].get_trait(Homogeneous) if above.between else None
    if last is None or not last.not_negative:
        return Blocked("zero-point", "the channels have different zero points, and may be below zero")
    rank = rank_of(op.operands[0])
    if rank is None or onnx_opset(op) < INTEGER_MIN_OPSET:
        return Blocked("opset", "the channels have different zero points, and Min takes no integers yet")
    bound = (type.storage.high - type.zero_points).astype(np.float32).reshape(1, -1, *[1] * (rank - 2))
    shape = static_shape(op.operands[0])
    if shape is None or rank < 3 or shape[-1] * bound.size > MAX_BOUND_BYTES:
        return bound
    # With channels last, one value per channel is a loop per pixel; a row of values is a loop per row.
    return np.repeat(bound, shape[-1], axis=-1)


def _scaled(target: LinearTarget, factor: Array) -> list[Operation] | Blocked:
    """The linear op with its result multiplied by a factor, the last of new operations."""
    op = target.op
    weight = unblocked(folded_weight(target, factor, symmetric=True, lossy=False))
    bias = unblocked(folded_bias(target, AffineMap(0, 1, factor, np.zeros_like(factor))))
    shift = None if bias is None else new_constant(bias, op.input(2))
    return with_parts(target, weight, shift, op.results[0].type)


def _replace(
    op: QuantizeOp, above: Above, scaled: list[Operation], ceiling: Array | None, rewriter: Rewriter
) -> None:
    type = op.element_type
    rewriter.replace(above.target.op, scaled, is_same=False)
    for between in above.between:
        rewriter.rescaled(between)
    value, zero, ops = op.operands[0], int(type.zero_points[0]), list[Operation]()
    if ceiling is not None:
        zero = type.storage.low
        bound = constant_op(ceiling, f"{tensor_name(value.owner)}_ceiling")  # pyright: ignore[reportArgumentType]
        lower = op_named("", "Min").build([value, bound.results[0]], [value.type])
        lower.location = location(f"{node_name(value.owner)}_ceiling")  # pyright: ignore[reportArgumentType]
        ops, value = [bound, lower], lower.results[0]
    cast = QuantizeOp(value, type.replace(scales=np.float32(1), zero_points=zero))
    cast.location = op.location
    reads = [use.operation for use in op.results[0].uses]
    rewriter.insert_before(op, [*ops, cast])
    rewriter.same_steps(op.results[0], cast.results[0])
    for read in reads:
        rewriter.replace(read, [DequantizeOp(cast.results[0])], is_same=False)
    if op.parent is not None:
        rewriter.erase(op)


class FoldBelow(OnTrait[Linear]):
    """A depthwise op on a per-axis activation, whatever computes that."""

    def match(self, op: OnnxOp, promise: Linear, rewriter: Rewriter, /) -> Blocked | None:
        cast = op.operands[0].owner
        if not isinstance(cast, DequantizeOp):
            return None
        stored, type, outputs = cast.operands[0], cast.element_type, promise.output_channels(op)
        if type.axis != 1 or type.blocks or not isinstance(type.expressed, Float32Type):
            return None
        if outputs is None or not promise.is_depthwise(op, type.scales.size):
            return None  # it sums over channels of different scales
        if np.unique(type.zero_points).size > 1:
            return Blocked("zero-point", "the channels have different zero points, and kernels take one")
        if not is_quantized_next(op.results[0]):
            return NOT_QUANTIZED
        scales = np.repeat(type.scales.astype(np.float64), outputs // type.scales.size)
        target = LinearTarget(op, promise, outputs)
        weight = unblocked(folded_weight(target, scales, symmetric=True, lossy=False))
        one = type.replace(scales=np.float32(1), zero_points=int(type.zero_points[0]))
        steps = read_as(stored, with_element(stored.type, one))
        real = DequantizeOp(steps[-1].results[0])
        rewriter.insert_before(op, [*steps, real, *weight])
        rewriter.set_operand(op, 0, real.results[0])
        rewriter.set_operand(op, 1, weight[-1].results[0])
        _divide(stored, rewriter)
        return None


def _folds_later(value: SSAValue) -> bool:
    """
    True if a division of `value` would fold: of what is affine in integers into a convolution of its own, of what is
    moved from a linear op into that. A second compilation would write another form then.
    """
    is_moved = False
    while isinstance(value, OpResult):
        map, move = affine_map(value), move_of(value)
        if isinstance(map, AffineMap):
            value = value.op.operands[map.place]
        elif move is not None:
            value, is_moved = move.operands[0], True
        else:
            break
    return isinstance(value.owner, DequantizeOp) or (is_moved and linear_of(value) is not None)


def _divide(value: SSAValue, rewriter: Rewriter) -> None:
    """
    Divide by the scales in front of the quantize that `value` comes from, which is then per tensor: of channels last,
    as a session lays them out, a QuantizeLinear along an axis takes each element by itself.
    """
    while isinstance(value, OpResult) and value.op.operands and promise_of(value.op, Commutes) is not None:
        value = value.op.operands[0]
    op = value.owner
    if not isinstance(op, QuantizeOp) or op.element_type.axis != 1:
        return
    x, type, rank = op.operands[0], op.element_type, rank_of(op.operands[0])
    if np.unique(type.zero_points).size > 1 or rank is None or _folds_later(x):
        return
    steps = constant_op(type.scales.reshape(-1, *[1] * (rank - 2)), f"{tensor_name(op)}_steps")
    divided = op_named("", "Div").build([x, steps.results[0]], [x.type])
    cast = QuantizeOp(
        divided.results[0], type.replace(scales=np.float32(1), zero_points=int(type.zero_points[0]))
    )
    cast.location = op.location
    rewriter.replace(op, [steps, divided, cast, *read_as(cast.results[0], value.type)])


@dataclass(frozen=True)
class FoldScalesPass(RewritePass):
    name = "fold-scales"
    exactness = Exactness.CLOSE
    role = Role.SIMPLIFYING
    reasons = (
        "integers-used invalid-op not-quantized opset second-consumer sides-differ unfoldable-factor "
        "value-rounds weight-axis zero-point"
    )
    rewrite = "depthwise(qcast(linear(x, w)) : s[c], v) -> depthwise(qcast(linear(x, w / s)) : 1, v * s): scales round"

    below: bool = False
    """True to fold into depthwise ops alone, where the scales do not fold into what computes the activation."""

    def patterns(self) -> Sequence[Pattern]:
        return [DropImpliedBound(), FoldBelow() if self.below else FoldScales()]
