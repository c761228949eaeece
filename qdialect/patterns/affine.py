"""
Helpers to fold affine ops into linear ops: the chain of affine ops, the new weight, the new bias.

A factor is folded into the weight's scales, so that stored integers stay; for a float weight into its elements. And the
pattern that folds affine ops behind a normalization into its own factor and shift.
"""

from __future__ import annotations

from collections.abc import Sequence
from typing import NamedTuple

import numpy as np
from xdsl.dialects.builtin import Float32Type
from xdsl.ir import Attribute, Operation, OpResult, SSAValue

from qdialect.dialects.onnx_base import ConstantOp, OnnxOp
from qdialect.dialects.onnx_tensor import from_array
from qdialect.dialects.onnx_types import BY_ATTRIBUTE, expressed_of, quantized_of, uniform_of, with_element
from qdialect.dialects.quant import DequantizeOp
from qdialect.ir.insertion import onnx_op
from qdialect.ir.names import location, node_name, tensor_name, tensor_names
from qdialect.ir.values import constant, known_constant, normal_axis, rank_of, real_constant, under_dequantize
from qdialect.numerics import Array, folding
from qdialect.ops.generated import op_named
from qdialect.promises.affine import Affine, AffineMap, Scaled, affine_map
from qdialect.promises.arithmetic import Scales, producer
from qdialect.promises.linear import WRONG_AXIS, Linear
from qdialect.reasons import COMPUTED_BIAS, COMPUTED_WEIGHT, Blocked, required, unblocked
from qdialect.rewriting.driver import Rewriter
from qdialect.rewriting.journal import is_kept
from qdialect.rewriting.matching import OnTrait

SECOND_CONSUMER = Blocked("second-consumer", "the value in between has a second consumer")
QUANTIZER_BETWEEN = Blocked(
    "quantizer-between",
    "a quantize in between rounds, and folding would drop that rounding",
    "use --exactness lossy",
)
OTHER_AXIS = Blocked("weight-axis", "the factors do not run along the linear op's channels")


class Chain(NamedTuple):
    """A chain of affine ops, composed into one map of `source`."""

    map: AffineMap
    source: SSAValue
    length: int


def movable_map(value: SSAValue) -> AffineMap | Blocked | None:
    """`affine_map`, but None if the op that defines the value is kept in float."""
    return None if is_kept(value.owner) else affine_map(value)


def ends_function(value: SSAValue) -> bool:
    """True if `value` is a product of computed values times one number, as Gelu may be written."""
    map = movable_map(value)
    if not (isinstance(map, AffineMap) and map.is_scale and map.factor.size == 1):
        return False
    source = onnx_op(value.owner).operands[map.place]
    product = producer(source)
    if product is None or product.get_trait(Scales) is None:
        return False
    return not (source.has_one_use() and isinstance(movable_map(source), AffineMap))


def chain_to(op: OnnxOp, map: AffineMap, *, functions: bool = False) -> Chain:
    """
    The longest chain of affine ops that ends in `op`, each with the next as its only user.

    functions: True to leave out an op that ends a function, and what is in front of it.
    """
    source, length = op.operands[map.place], 1
    while source.has_one_use() and not (functions and ends_function(source)):
        above = movable_map(source)
        merged = map.after(above) if isinstance(above, AffineMap) else None
        if merged is None or not isinstance(source, OpResult):
            break
        map, source, length = merged, source.op.operands[merged.place], length + 1
    return Chain(map, source, length)


def new_constant(array: Array, like: SSAValue | None) -> ConstantOp:
    """A constant named after the one that it replaces."""
    new = ConstantOp.of(from_array(array))
    name_after(new, like)
    return new


def name_after(new: ConstantOp, like: SSAValue | None) -> None:
    owner = like.owner if like is not None else None
    if isinstance(owner, DequantizeOp):
        owner = owner.operands[0].owner
    if isinstance(owner, Operation):
        new.location = location("", [tensor_name(owner)])


class LinearTarget(NamedTuple):
    """A linear op, its promise, and the output channels of its result."""

    op: OnnxOp
    linear: Linear
    channels: int


def linear_of(value: SSAValue) -> Linear | None:
    op = producer(value)
    return None if op is None else op.get_trait(Linear)


def folded_weight(
    target: LinearTarget, factor: Array, *, symmetric: bool, lossy: bool
) -> list[Operation] | Blocked:
    """
    The weight with the factor, () or (channels,), folded in: the last of new operations.

    `symmetric`: zero points of 0 stay; `lossy`: integers without a negative may then be clamped.
    """
    op, linear, _ = target
    w = op.operands[1]
    source = under_dequantize(w)
    tensor, type, axis = constant(source), quantized_of(source.type), linear.weight_axis(op)
    if tensor is None or axis is None:
        return COMPUTED_WEIGHT
    if factor.size and (factor == factor.flat[0]).all():  # one scale stays one
        factor = factor.reshape(-1)[0]
    groups = linear.sharing_groups(op) if factor.size > 1 else 1
    rows = factor.reshape(groups, -1) if factor.size > 1 else factor.reshape(())
    if type is None:
        return [new_constant(scaled_weight(tensor.array(), rows, axis), w)]
    if not type.is_per_tensor and type.axis != axis:
        return WRONG_AXIS
    if not isinstance(type.expressed, Float32Type):
        return Blocked("expressed-type", f"the scales are {type.expressed}, folding needs f32")
    if groups > 1 and (rows != rows[0]).any():
        return Blocked("unfoldable-factor", "all groups share the scales, but the factors differ by group")
    shared = rows[0] if factor.size > 1 else rows
    return _rescaled(w, shared, axis, symmetric=symmetric, lossy=lossy)


def _rescaled(
    w: SSAValue, factor: Array, axis: int, *, symmetric: bool, lossy: bool
) -> list[Operation] | Blocked:
    """A quantized constant times a factor, () or (channels,) along `axis`, in its scales and zero points."""
    source = under_dequantize(w)
    tensor, type = known_constant(source), uniform_of(source.type)
    stored = tensor.array()
    low, high = type.storage.low, type.storage.high
    new = folding.fold_affine_weight(
        stored, type.scales, type.zero_points, factor, axis, low, high, keep_zero_points=symmetric
    )
    if not np.isfinite(new.scales).all():
        return Blocked("scale-value", "a scale times its factor is beyond float32")
    if new.clamped.any() and not lossy:
        return Blocked(
            "unfoldable-factor",
            f"{int(new.clamped.sum())} channels with a negative factor hold {low}, which cannot be negated",
            "quantize weights to a narrow range, or use --exactness lossy",
        )
    element = type.replace(scales=new.scales, zero_points=new.zero_points, axis=axis)
    attribute = tensor if new.stored is stored else from_array(new.stored)
    constant = ConstantOp.of(attribute, with_element(source.type, element))
    name_after(constant, source)
    return [constant] if source is w else [constant, DequantizeOp(constant.results[0])]


def scaled_weight(weight: Array, rows: Array, axis: int) -> Array:
    """A float weight times factors: () for all, or (groups, channels) along `axis`, groups along axis 0."""
    real = weight.astype(np.float64)
    if rows.ndim == 0:
        return (real * rows).astype(weight.dtype)
    groups = rows.shape[0]
    split = real.reshape(groups, real.shape[0] // groups, *real.shape[1:])
    shape = [groups] + [1] * real.ndim
    shape[axis + 1] = -1
    return (split * rows.reshape(shape)).reshape(real.shape).astype(weight.dtype)


def flat_bias(op: OnnxOp, linear: Linear, channels: int) -> Array | Blocked | None:
    """The bias in float64, () or (channels,); None if there is none."""
    bias = op.input(2) if linear.has_bias else None
    if bias is None:
        return None
    real = required(real_constant(bias), COMPUTED_BIAS)
    if real.size != 1 and (real.size != channels or real.shape[-1] != channels):
        return Blocked("bias-shape", f"the bias has shape {list(real.shape)}, not one value for each channel")
    return real.reshape(-1 if real.size > 1 else ()).astype(np.float64) * op.float_attr("beta", 1.0)


def folded_bias(target: LinearTarget, map: AffineMap) -> Array | Blocked | None:
    """The new bias, (channels,), in the type of the result; None if it is zero and there was none."""
    old = unblocked(flat_bias(target.op, target.linear, target.channels))
    if old is None and map.is_scale:
        return None
    new = folding.fold_affine_bias(map.factor, map.shift, 0.0 if old is None else old)
    element = expressed_of(target.op.results[0].type)
    dtype = BY_ATTRIBUTE[element].dtype if element in BY_ATTRIBUTE else np.float32
    return np.array(np.broadcast_to(new, (target.channels,))).astype(dtype)


def _same_constant(op: OnnxOp, array: Array) -> SSAValue | None:
    """The operand of `op` that already is the constant `array`, of rank 1; None if none is."""
    return next(
        (v for v in op.operands if (c := constant(v)) is not None and _is_same(c.array(), array)), None
    )


def _is_same(a: Array, b: Array) -> bool:
    return a.dtype == b.dtype and a.size == b.size and np.array_equal(a.reshape(-1), b)


def replace_linear(
    op: OnnxOp,
    target: LinearTarget,
    weight: list[Operation],
    bias: Array | None,
    rewriter: Rewriter,
    drops: Sequence[str] = ("beta",),
) -> None:
    """Replace `op` by the linear op with its new weight and bias, followed by an Add if it has no bias operand."""
    above, linear, _ = target
    shift: ConstantOp | None = None
    if bias is not None:
        old = above.input(2) if linear.has_bias else None
        old = _same_constant(op, bias) if old is None else old
        shift = new_constant(bias, old)
        if old is None:
            shift.location = location("", [f"{tensor_name(op)}_bias"])
    ops = with_parts(target, weight, shift, op.results[0].type, drops)
    ops[-1].location = location(node_name(above), tensor_names(op))
    if shift is not None and not linear.has_bias:
        # Its numbers differ from those of the tensor of that name.
        ops[-1].location = location(node_name(above))
        ops.append(op_named("", "Add").build([ops[-1].results[0], shift.results[0]], [op.results[0].type]))
    rewriter.replace(op, ops)


def with_parts(
    target: LinearTarget,
    weight: Sequence[Operation],
    bias: ConstantOp | None,
    type: Attribute,
    drops: Sequence[str] = ("beta",),
) -> list[Operation]:
    """
    New operations, the last of which is the linear op with a new weight, and a bias if it takes one. drops:
    attributes to remove.
    """
    op = target.op
    inputs: list[SSAValue | None] = [op.operands[0], weight[-1].results[0]]
    if bias is not None and target.linear.has_bias:
        inputs.append(bias.results[0])
    attributes = {k: v for k, v in op.onnx_attributes.items() if k not in drops}
    new = op.__class__.build(inputs, [type], attributes)
    return [*weight, *([] if bias is None else [bias]), new]


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
    for place, one in constants.items():
        inputs[place] = one.results[0]
    new = op.__class__.build(inputs, list(op.result_types), op.onnx_attributes)
    return [*constants.values(), new]
