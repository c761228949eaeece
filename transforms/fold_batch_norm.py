"""
Fold a factor and a shift for each channel (BatchNormalization, Mul, Add, ...) into the linear op beside them.

    affine(linear(x, w, b))         ->  linear(x, w * factor, b * factor + shift)
    linear(affine(x), w, b)         ->  linear(x + shift / factor, w * factor, b)    float weight, x padded
                                    ->  linear(x, w * factor, b + w * shift)         float weight, nothing padded
    qcast(affine(dcast(q)))         ->  qcast(depthwise(dcast(q), +-127, shift))     alone: depthwise
    qcast(affine(x)) : s, z         ->  scast(qcast(x)) : s / factor, z + shift / s  only if lossy

Close: the factor goes into the weight's scales, once rounded to float32, and stored integers change only by their sign (a
negative factor) or where a factor is zero. An integer that has no negative moves its channel's zero point; where the target
wants none (`symmetric`) the op stays, or is clamped if `lossy`, as is a rounding between the two ops.
"""

from collections.abc import Sequence
from dataclasses import dataclass
from typing import Any, ClassVar, NamedTuple

import numpy as np
import numpy.typing as npt
from xdsl.dialects.builtin import Float32Type
from xdsl.ir import Attribute, Operation, OpResult, SSAValue

from qdialect import numerics
from qdialect.constants import constant, normal_axis, real_constant, static_shape
from qdialect.dialects.onnx_ops import ConstantOp, OnnxOp, op_named
from qdialect.dialects.onnx_tensor import from_array
from qdialect.dialects.onnx_types import (
    BY_ATTRIBUTE,
    expressed_of,
    quantized_of,
    storage_element,
    tensor_type,
    with_element,
)
from qdialect.dialects.quant import DequantizeOp, QuantizeOp, Storage, StorageCastOp, UniformType
from qdialect.importer_attributes import int_attr
from qdialect.names import location, node_name, tensor_name, tensor_names
from qdialect.passes import Exactness, RewritePass
from qdialect.promises.affine import Affine, AffineMap, affine_map
from qdialect.promises.base import Blocked, Commutes
from qdialect.promises.linear import WRONG_AXIS, Linear
from qdialect.rewriting import Pattern, Rewriter
from qdialect.transforms.hoist_quantize import quantized_uses

Array = npt.NDArray[Any]

SECOND_CONSUMER = Blocked("second-consumer", "the value between has a second consumer")
COMPUTED_WEIGHT = Blocked("computed-weight", "the weight is computed at run time")
COMPUTED_BIAS = Blocked("computed-bias", "the bias is computed at run time")
QUANTIZER_BETWEEN = Blocked(
    "quantizer-between", "a quantize between rounds, and folding would drop that", "use --exactness lossy"
)
OTHER_AXIS = Blocked("other-axis", "the factors do not run along the linear op's channels")


class _Chain(NamedTuple):
    """Affine ops one behind the other, as one map of `source`."""

    map: AffineMap
    source: SSAValue
    length: int


def _chain(op: OnnxOp, found: AffineMap) -> _Chain:
    """The affine ops that end in `op`, each needed by the next alone."""
    source, length = op.operands[found.place], 1
    while source.has_one_use():
        above = affine_map(source)
        merged = found.after(above) if isinstance(above, AffineMap) else None
        if merged is None or not isinstance(source, OpResult):
            break
        found, source, length = merged, source.op.operands[merged.place], length + 1
    return _Chain(found, source, length)


def _map_of(op: Operation) -> AffineMap | Blocked | None:
    promise = op.get_trait(Affine)
    assert isinstance(op, OnnxOp)
    assert promise is not None
    return promise.map(op)


def _new_constant(array: Array, like: SSAValue | None, type: Attribute | None = None) -> ConstantOp:
    """A constant named after the one that it stands for."""
    new = ConstantOp.of(from_array(array), type)
    _name_after(new, like)
    return new


def _name_after(new: ConstantOp, like: SSAValue | None) -> None:
    owner = like.owner if like is not None else None
    if isinstance(owner, DequantizeOp):
        owner = owner.operands[0].owner
    if isinstance(owner, Operation):
        new.location = location("", [tensor_name(owner)])


class _Target(NamedTuple):
    """A linear op and what its result is multiplied with."""

    op: OnnxOp
    linear: Linear
    channels: int


def _linear_of(value: SSAValue) -> Linear | None:
    return (
        value.op.get_trait(Linear) if isinstance(value, OpResult) and isinstance(value.op, OnnxOp) else None
    )


@dataclass(frozen=True)
class FoldBehind(Pattern):
    """An affine op behind a linear one."""

    symmetric: bool
    lossy: bool

    def accepts(self, op_class: type[Operation]) -> bool:
        return op_class.get_trait(Affine) is not None

    def rewrite(self, op: Operation, rewriter: Rewriter) -> Blocked | None:
        assert isinstance(op, OnnxOp)
        found = _map_of(op)
        if found is None or isinstance(found, Blocked):
            return found
        chain = _chain(op, found)
        value = self._linear_result(chain.source)
        if value is None or isinstance(value, Blocked):
            return value
        target = self._target(value, chain, op)
        if target is None or isinstance(target, Blocked):
            return target
        bias = _bias(target, chain.map)
        if isinstance(bias, Blocked):
            return bias
        weight = self._weight(target, chain.map.factor)
        if isinstance(weight, Blocked):
            return weight
        _replace_behind(op, target, weight, bias, rewriter)
        return None

    def _linear_result(self, value: SSAValue) -> SSAValue | Blocked | None:
        """The result of the linear op that `value` comes from, by way of a rounding if that may go."""
        if _linear_of(value) is not None:
            return value if value.has_one_use() else SECOND_CONSUMER
        if not (isinstance(value, OpResult) and isinstance(value.op, DequantizeOp)):
            return None
        cast = value.op.operands[0]
        if not (isinstance(cast, OpResult) and isinstance(cast.op, QuantizeOp)):
            return None
        source = cast.op.operands[0]
        if _linear_of(source) is None:
            return None
        if not self.lossy:
            return QUANTIZER_BETWEEN
        return source if all(v.has_one_use() for v in (value, cast, source)) else SECOND_CONSUMER

    def _target(self, value: SSAValue, chain: _Chain, op: OnnxOp) -> _Target | Blocked | None:
        above, linear = value.owner, _linear_of(value)
        assert isinstance(above, OnnxOp)
        assert linear is not None
        if above.parent is not op.parent:
            return Blocked("other-region", "the linear op stands outside of the subgraph")
        if not linear.has_bias and chain.map.is_shift and chain.length == 1:
            return None  # as it is after folding
        shape, channels = static_shape(above.operands[1]), linear.output_channels(above)
        if shape is None or channels is None or len(shape) < 2:
            return COMPUTED_WEIGHT
        axis = normal_axis(linear.result_axis, len(static_shape(value) or shape))
        if chain.map.factor.size != 1 and (chain.map.axis != axis or chain.map.factor.size != channels):
            return OTHER_AXIS
        return _Target(above, linear, channels)

    def _weight(self, target: _Target, factor: Array) -> list[Operation] | Blocked:
        """The weight with the factor folded in, the last of new operations."""
        op, linear, _ = target
        w = op.operands[1]
        source = w.op.operands[0] if isinstance(w, OpResult) and isinstance(w.op, DequantizeOp) else w
        tensor, type, axis = constant(source), quantized_of(source.type), linear.weight_axis(op)
        if tensor is None or axis is None:
            return COMPUTED_WEIGHT
        groups = op.int_attr("group", 1) if linear.groups_share_axis and factor.size > 1 else 1
        rows = factor.reshape(groups, -1) if factor.size > 1 else factor.reshape(())
        if type is None:
            return [_new_constant(_scaled(tensor.array(), rows, axis), w)]
        if not type.is_per_tensor and type.axis != axis:
            return WRONG_AXIS
        if not isinstance(type.expressed, Float32Type):
            return Blocked("expressed-type", f"the scales are {type.expressed}, folding needs f32")
        if groups > 1 and (rows != rows[0]).any():
            return Blocked(
                "groups-differ", "groups share their scales, the factors differ from group to group"
            )
        shared = rows[0] if factor.size > 1 else rows
        stored = tensor.array()
        low, high = type.storage.low, type.storage.high
        new = numerics.fold_affine_weight(
            stored, type.scales, type.zero_points, shared, axis, low, high, keep_zero_points=self.symmetric
        )
        if not np.isfinite(new.scales).all():
            return Blocked("scale-overflow", "a scale times its factor is beyond float32")
        if new.clamped.any() and not self.lossy:
            return Blocked(
                "no-negative",
                f"{int(new.clamped.sum())} channels with a negative factor hold {low}, which has no negative",
                "quantize weights to a narrow range, or use --exactness lossy",
            )
        element = _typed(type, axis, new)
        attribute = tensor if new.stored is stored else from_array(new.stored)
        made = ConstantOp.of(attribute, with_element(source.type, element))
        _name_after(made, source)
        return [made] if source is w else [made, DequantizeOp(made.results[0])]


def _typed(type: UniformType, axis: int, new: numerics.FoldedWeight) -> UniformType:
    if new.scales.ndim:
        return UniformType.per_axis(type.storage, axis, new.scales, new.zero_points, type.expressed)
    return UniformType.per_tensor(type.storage, new.scales, new.zero_points, type.expressed)


def _scaled(weight: Array, rows: Array, axis: int) -> Array:
    """A float weight times factors: () for all, or (groups, channels) along `axis`, groups along axis 0."""
    real = weight.astype(np.float64)
    if rows.ndim == 0:
        return (real * rows).astype(weight.dtype)
    groups = rows.shape[0]
    split = real.reshape(groups, -1, *real.shape[1:]) if groups > 1 else real[None]
    shape = [groups] + [1] * real.ndim
    shape[axis + 1] = -1
    return (split * rows.reshape(shape)).reshape(real.shape).astype(weight.dtype)


def _flat_bias(op: OnnxOp, linear: Linear, channels: int) -> Array | Blocked | None:
    """The bias in float64, () or (channels,); None if there is none."""
    bias = op.input(2) if linear.has_bias else None
    if bias is None:
        return None
    real = real_constant(bias)
    if real is None:
        return COMPUTED_BIAS
    if real.size not in (1, channels) or real.shape[-1:] not in ((), (1,), (channels,)):
        return Blocked("bias-shape", f"the bias has shape {list(real.shape)}, not one value for each channel")
    return real.reshape(-1 if real.size > 1 else ()).astype(np.float64) * op.float_attr("beta", 1.0)


def _bias(target: _Target, map: AffineMap) -> Array | Blocked | None:
    """The new bias, (channels,), in the type of the result; None if it is zero and there was none."""
    old = _flat_bias(target.op, target.linear, target.channels)
    if isinstance(old, Blocked):
        return old
    if old is None and map.is_scale:
        return None
    new = numerics.fold_affine_bias(map.factor, map.shift, 0.0 if old is None else old)
    element = expressed_of(target.op.results[0].type)
    dtype = BY_ATTRIBUTE[element].dtype if element in BY_ATTRIBUTE else np.float32
    return np.array(np.broadcast_to(new, (target.channels,))).astype(dtype)


def _replace_behind(
    op: OnnxOp, target: _Target, weight: list[Operation], bias: Array | None, rewriter: Rewriter
) -> None:
    above, linear, _ = target
    attributes = {k: v for k, v in above.onnx_attributes.items() if k != "beta"}
    inputs: list[SSAValue | None] = [above.operands[0], weight[-1].results[0]]
    ops = list(weight)
    shift: ConstantOp | None = None
    if bias is not None:
        shift = _new_constant(bias, above.input(2) if linear.has_bias else None)
        if linear.has_bias and above.input(2) is None or not linear.has_bias:
            shift.location = location("", [f"{tensor_name(op)}_bias"])
        ops.append(shift)
        inputs += [shift.results[0]] if linear.has_bias else []
    new = above.__class__.build(inputs, [op.results[0].type], attributes)
    new.location = location(node_name(above), tensor_names(op))
    ops.append(new)
    if shift is not None and not linear.has_bias:
        new.location = above.location
        ops.append(op_named("", "Add").build([new.results[0], shift.results[0]], [op.results[0].type]))
    rewriter.replace(op, ops)


class FoldInFront(Pattern):
    """An affine op in front of a linear one with float weight."""

    def accepts(self, op_class: type[Operation]) -> bool:
        linear = op_class.get_trait(Linear)
        return linear is not None and linear.has_bias

    def rewrite(self, op: Operation, rewriter: Rewriter) -> Blocked | None:
        assert isinstance(op, OnnxOp)
        linear, x = op.get_trait(Linear), op.operands[0]
        found = affine_map(x)
        if linear is None or not isinstance(found, AffineMap) or not isinstance(x, OpResult):
            return None
        assert isinstance(x.op, OnnxOp)
        chain = _chain(x.op, found)
        border = linear.sees_border(op) and not chain.map.is_scale
        if border and chain.map.is_shift and chain.length == 1:
            return None  # as it is after folding
        if not x.has_one_use():
            return SECOND_CONSUMER
        weight = constant(op.operands[1])
        if weight is None or quantized_of(op.operands[1].type) is not None:
            return Blocked(
                "weight-quantized", "factors for each input channel do not fit into scales for each output"
            )
        channels = linear.output_channels(op)
        old = _flat_bias(op, linear, channels or 0)
        if isinstance(old, Blocked):
            return old
        array = weight.array()
        factors = self._per_input(op, linear, array, chain.map)
        if isinstance(factors, Blocked):
            return factors
        if border and (chain.map.factor == 0).any():
            return Blocked(
                "zero-factor", "a channel is only its shift, which the zeros around it do not have"
            )
        self._replace(op, x, chain, factors, old, border, rewriter)
        return None

    def _per_input(
        self, op: OnnxOp, linear: Linear, weight: Array, map: AffineMap
    ) -> tuple[Array, Array] | Blocked:
        """Factor and shift as arrays that broadcast against the weight."""
        axis, group = linear.input_axis(op, weight.ndim), op.int_attr("group", 1)
        if axis is None or weight.ndim < 2:
            return OTHER_AXIS
        if map.factor.size == 1:
            return map.factor.reshape(()), map.shift.reshape(())
        if map.axis != 1 or map.factor.size != weight.shape[axis] * group:
            return OTHER_AXIS
        shape = [1] * weight.ndim
        shape[axis] = -1
        if group == 1:
            return map.factor.reshape(shape), map.shift.reshape(shape)
        rows = [
            np.repeat(a.reshape(group, -1), weight.shape[0] // group, axis=0) for a in (map.factor, map.shift)
        ]
        full = [*rows[0].shape, *shape[2:]]
        return rows[0].reshape(full), rows[1].reshape(full)

    def _replace(
        self,
        op: OnnxOp,
        x: OpResult,
        chain: _Chain,
        factors: tuple[Array, Array],
        old: Array | None,
        border: bool,
        rewriter: Rewriter,
    ) -> None:
        linear = op.get_trait(Linear)
        assert linear is not None
        array, dtype = real_constant(op.operands[1]), BY_ATTRIBUTE[expressed_of(op.results[0].type)].dtype  # pyright: ignore
        assert array is not None
        weight = _new_constant((array.astype(np.float64) * factors[0]).astype(array.dtype), op.operands[1])
        source, ops, bias = chain.source, [weight], old
        inputs: list[SSAValue | None] = [source, weight.results[0]]
        if border:
            shift = chain.map.shift / chain.map.factor
            flat = shift.reshape([-1] + [1] * (array.ndim - 2)) if shift.size > 1 else shift
            added = _new_constant(flat.astype(dtype), None)
            add = op_named("", "Add").build([source, added.results[0]], [x.type])
            add.location = x.op.location
            ops += [added, add]
            inputs[0] = add.results[0]
        elif not chain.map.is_scale:
            axis = linear.weight_axis(op)
            others = tuple(k for k in range(array.ndim) if k != axis)
            bias = (array.astype(np.float64) * factors[1]).sum(axis=others) * op.float_attr("alpha", 1.0)
            bias = bias if old is None else bias + old
        if bias is not None:
            constant = _new_constant(np.asarray(bias, dtype), op.input(2))
            ops.append(constant)
            inputs.append(constant.results[0])
        attributes = {k: v for k, v in op.onnx_attributes.items() if k != "beta"}
        new = op.__class__.build(inputs, [op.results[0].type], attributes)
        rewriter.replace(op, [*ops, new])


class FoldAlone(Pattern):
    """An affine op between a dequantize and a quantize, as a 1x1 convolution of each channel by itself."""

    def accepts(self, op_class: type[Operation]) -> bool:
        return op_class.get_trait(Affine) is not None

    def rewrite(self, op: Operation, rewriter: Rewriter) -> Blocked | None:
        assert isinstance(op, OnnxOp)
        found = _map_of(op)
        if not isinstance(found, AffineMap) or found.axis is None:
            return None
        chain = _chain(op, found)
        source = chain.source.owner
        if not isinstance(source, DequantizeOp):
            return None
        if any(isinstance(o.owner, DequantizeOp) for o in op.operands if o is not chain.source):
            return None  # an op on quantized types by itself
        type, shape = source.element_type, static_shape(op.results[0])
        if not type.is_per_tensor or type.storage.width != 8 or not isinstance(type.expressed, Float32Type):
            return Blocked("not-per-tensor", "the operand is not quantized per tensor in 8 bits")
        if (
            shape is None
            or len(shape) not in (3, 4)
            or chain.map.axis != 1
            or shape[1] != chain.map.factor.size
        ):
            return Blocked("no-convolution", "no convolution of rank 3 or 4 has these channels")
        if not _is_quantized_next(op.results[0]):
            return Blocked("not-quantized", "no quantize follows", "quantize the result")
        self._replace(op, chain, rewriter)
        return None

    def _replace(self, op: OnnxOp, chain: _Chain, rewriter: Rewriter) -> None:
        shape = static_shape(op.results[0])
        assert shape is not None
        channels, ones = shape[1], (1,) * (len(shape) - 2)
        stored, scales = numerics.channel_as_weight(np.broadcast_to(chain.map.factor, (channels,)))
        type = UniformType.per_axis(Storage.of("i8"), 0, scales, np.zeros(channels, np.int32))
        weight = from_array(stored.reshape(channels, 1, *ones))
        typed = ConstantOp.of(weight, tensor_type(type, weight.type.get_shape()))
        typed.location = location("", [f"{tensor_name(op)}_factor"])
        real = DequantizeOp(typed.results[0])
        bias = ConstantOp.of(from_array(np.broadcast_to(chain.map.shift, (channels,)).astype(np.float32)))
        bias.location = location("", [f"{tensor_name(op)}_shift"])
        inputs = [chain.source, real.results[0], bias.results[0]]
        new = op_named("", "Conv").build(inputs, [op.results[0].type], {"group": int_attr(channels)})
        rewriter.replace(op, [typed, real, bias, new])


def _is_quantized_next(value: SSAValue) -> bool:
    """Whether all that becomes of `value` is moved, clamped and then quantized, per tensor."""
    type = quantized_uses(value)
    if isinstance(type, UniformType):
        return type.is_per_tensor
    if type is not None or not value.has_one_use():
        return False
    user = next(iter(value.uses)).operation
    promise = user.get_trait(Commutes) if isinstance(user, OnnxOp) else None
    return promise is not None and len(user.results) == 1 and _is_quantized_next(user.results[0])


class FoldIntoQuantize(Pattern):
    """An affine op in front of a quantize, into the quantize's own scales."""

    def accepts(self, op_class: type[Operation]) -> bool:
        return op_class is QuantizeOp

    def rewrite(self, op: Operation, rewriter: Rewriter) -> Blocked | None:
        assert isinstance(op, QuantizeOp)
        x, type = op.operands[0], op.element_type
        found = affine_map(x)
        if not isinstance(found, AffineMap) or not isinstance(x, OpResult) or not type.is_per_tensor:
            return None
        if not x.has_one_use():
            return SECOND_CONSUMER
        assert isinstance(x.op, OnnxOp)
        map, source, _ = _chain(x.op, found)
        if not (map.factor > 0).all():
            return Blocked("negative-factor", "a factor is not positive, so no scale carries it")
        scales = (type.scales / map.factor).astype(np.float32)
        zeros = type.zero_points + np.rint(map.shift / type.scales)
        if (zeros < type.storage.low).any() or (zeros > type.storage.high).any():
            return Blocked("shift-beyond-storage", "a shift is larger than the storage range")
        if not np.isfinite(scales).all() or not (scales > 0).all():
            return Blocked("scale-overflow", "a scale divided by its factor is beyond float32")
        if map.axis is None:
            moved = UniformType.per_tensor(type.storage, scales, zeros.astype(np.int32), type.expressed)
        else:
            moved = UniformType.per_axis(
                type.storage, map.axis, scales, zeros.astype(np.int32), type.expressed
            )
        cast = QuantizeOp(source, moved)
        cast.location = op.location
        stored = StorageCastOp(cast.results[0], with_element(op.results[0].type, storage_element(type)))
        rewriter.replace(op, [cast, stored, StorageCastOp(stored.results[0], op.results[0].type)])
        return None


@dataclass(frozen=True)
class FoldBatchNormPass(RewritePass):
    """Factors and shifts for each channel go into the linear op beside them."""

    name = "fold-batch-norm"
    exactness: ClassVar[Exactness] = Exactness.CLOSE
    rewrite: ClassVar[str] = (
        "affine(linear(x, w, b)) -> linear(x, w * factor, b * factor + shift): float32 rounding of scales, integers stay"
    )

    symmetric: bool = False
    """Whether zero points of weights must stay what they are."""
    depthwise: bool = True
    """Whether an affine op alone becomes a convolution of each channel by itself."""
    lossy: bool = False
    """Whether to drop a rounding between the two ops, and to clamp integers that have no negative."""

    def patterns(self) -> Sequence[Pattern]:
        found: list[Pattern] = [FoldBehind(self.symmetric, self.lossy), FoldInFront()]
        if self.depthwise:
            found.append(FoldAlone())
        if self.lossy:
            found.append(FoldIntoQuantize())
        return found
