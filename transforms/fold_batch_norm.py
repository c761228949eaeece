"""
Fold affine ops (BatchNormalization, Mul, Add, ...) into the adjacent linear op.

    affine(linear(x, w, b))         ->  linear(x, w * factor, b * factor + shift)
    affine(move(linear(x, w, b)))   ->  move(affine(linear(x, w, b)))                move: Transpose, Squeeze, Reshape
    linear(affine(x), w, b)         ->  linear(x + shift / factor, w * factor, b)    float weight, x padded
                                    ->  linear(x, w * factor, b + w * shift)         float weight, nothing padded
    affine(norm(x, gamma, beta))    ->  norm(x, gamma * factor, beta * factor + shift)
    gemm(x, w, b), alpha, beta      ->  gemm(x, w * alpha, b * beta)                 quantized weight
    qcast(affine(dcast(q)))         ->  qcast(depthwise(dcast(q), +-127, shift))     alone: depthwise
    qcast(affine(x)) : s, z         ->  scast(qcast(x)) : s / factor, z + shift / s  only if lossy

A factor of a product of computed values is not folded: it may belong to a function such as Gelu, which a session fuses.

Close: the factor is folded into the weight's scales, rounded to float32 once, and stored integers change only in sign
(a negative factor) or where a factor is zero. An integer that cannot be negated (-128) changes its channel's zero
point. If zero points must be 0 (`symmetric`), the op is kept, or, if `lossy`, the integer is clamped. Only `lossy`
drops roundings.
"""

from collections.abc import Sequence
from dataclasses import dataclass

import numpy as np
from xdsl.ir import OpResult, SSAValue

from qdialect.dialects.onnx_base import OnnxOp
from qdialect.dialects.onnx_types import (
    BY_ATTRIBUTE,
    expressed_of,
    quantized_of,
    shape_of,
)
from qdialect.dialects.quant import DequantizeOp, QuantizeOp, Storage, UniformType
from qdialect.exactness import Exactness
from qdialect.forms.nodes import Nodes
from qdialect.ir.build import constant_op, read_as
from qdialect.ir.insertion import onnx_op
from qdialect.ir.names import location, node_name, tensor_name
from qdialect.ir.values import (
    byte_type,
    constant,
    normal_axis,
    rank_of,
    real_constant,
    static_shape,
    under,
    under_dequantize,
)
from qdialect.numerics import folding
from qdialect.patterns.affine import (
    COMPUTED_WEIGHT,
    OTHER_AXIS,
    QUANTIZER_BETWEEN,
    SECOND_CONSUMER,
    Array,
    Chain,
    FoldIntoNormalization,
    LinearTarget,
    chain_to,
    ends_function,
    flat_bias,
    folded_bias,
    folded_weight,
    linear_of,
    movable_map,
    new_constant,
    replace_linear,
)
from qdialect.patterns.lift_affine import LiftAffine
from qdialect.promises.affine import Affine, AffineMap, affine_map
from qdialect.promises.kernels import Kernels
from qdialect.promises.linear import Linear
from qdialect.reasons import NOT_QUANTIZED, Blocked, required, unblocked
from qdialect.rewriting.driver import Pattern, Rewriter
from qdialect.rewriting.matching import OnOp, OnTrait
from qdialect.rewriting.passes import RewritePass, Role
from qdialect.rewriting.uses import is_quantized_next


@dataclass(frozen=True)
class FoldBehind(OnTrait[Affine]):
    """An affine op behind a linear one."""

    symmetric: bool
    lossy: bool

    def match(self, op: OnnxOp, promise: Affine, rewriter: Rewriter, /) -> Blocked | None:
        map = affine_map(op.results[0])
        if map is None or isinstance(map, Blocked):
            return map
        chain = chain_to(op, map)
        value = self._linear_result(chain.source)
        if value is None or isinstance(value, Blocked):
            return value
        target = self._target(value, chain, op)
        if target is None or isinstance(target, Blocked):
            return target
        bias = unblocked(folded_bias(target, chain.map))
        weight = unblocked(
            folded_weight(target, chain.map.factor, symmetric=self.symmetric, lossy=self.lossy)
        )
        replace_linear(op, target, weight, bias, rewriter)
        return None

    def _linear_result(self, value: SSAValue) -> SSAValue | Blocked | None:
        """The result of the linear op below `value`, through a rounding if that may be dropped."""
        if linear_of(value) is not None:
            if quantized_of(value.type) is not None and not self.lossy:
                return QUANTIZER_BETWEEN
            return value if value.has_one_use() else SECOND_CONSUMER
        cast = under(value, DequantizeOp)
        source = None if cast is None else under(cast, QuantizeOp)
        if cast is None or source is None or linear_of(source) is None:
            return None
        if not self.lossy:
            return QUANTIZER_BETWEEN
        return source if all(v.has_one_use() for v in (value, cast, source)) else SECOND_CONSUMER

    def _target(self, value: SSAValue, chain: Chain, op: OnnxOp) -> LinearTarget | Blocked | None:
        linear = linear_of(value)
        if linear is None:
            return None
        above = onnx_op(value.owner)
        if above.parent is not op.parent:
            return Blocked("sides-differ", "the linear op stands outside of the subgraph")
        if not linear.has_bias and chain.map.is_shift and chain.length == 1:
            return None  # as it is after folding
        if not linear.has_bias and not chain.map.is_scale and rank_of(above.operands[0]) == 1:
            return Blocked(
                "made-by-session", "onnxruntime does not load a vector's product followed by an Add"
            )
        shape, channels = static_shape(above.operands[1]), linear.output_channels(above)
        if shape is None or channels is None or len(shape) < 2:
            return COMPUTED_WEIGHT
        rank = rank_of(value)
        axis = linear.result_axis if rank is None else normal_axis(linear.result_axis, rank)
        if chain.map.factor.size != 1 and (chain.map.axis != axis or chain.map.factor.size != channels):
            return OTHER_AXIS
        return LinearTarget(above, linear, channels)


@dataclass(frozen=True)
class FoldOwnFactors(OnTrait[Linear]):
    """A linear op on a quantized weight with factors of its own (alpha, beta), which no kernel supports."""

    symmetric: bool
    lossy: bool

    def wants(self, promise: Linear, /) -> bool:
        return promise.has_bias

    def match(self, op: OnnxOp, promise: Linear, rewriter: Rewriter, /) -> Blocked | None:
        alpha, beta = op.float_attr("alpha", 1.0), op.float_attr("beta", 1.0)
        if (alpha == 1 and beta == 1) or quantized_of(under_dequantize(op.operands[1]).type) is None:
            return None
        channels = required(promise.output_channels(op), COMPUTED_WEIGHT)
        target, one = LinearTarget(op, promise, channels), np.float64(1)
        bias = unblocked(folded_bias(target, AffineMap(0, None, np.asarray(one), np.asarray(one - 1))))
        weight = unblocked(
            folded_weight(target, np.asarray(alpha, np.float64), symmetric=self.symmetric, lossy=self.lossy)
        )
        replace_linear(op, target, weight, bias, rewriter, drops=("alpha", "beta"))
        return None


class FoldInFront(OnTrait[Linear]):
    """An affine op in front of a linear one with float weight."""

    def wants(self, promise: Linear, /) -> bool:
        return promise.has_bias

    def match(self, op: OnnxOp, promise: Linear, rewriter: Rewriter, /) -> Blocked | None:
        x = op.operands[0]
        map = movable_map(x)
        if not isinstance(map, AffineMap) or not isinstance(x.owner, OnnxOp):
            return None
        chain = chain_to(x.owner, map, functions=True)
        border = promise.sees_border(op) and not chain.map.is_scale
        if border and chain.map.is_shift and chain.length == 1:
            return None  # as it is after folding
        if not x.has_one_use():
            return SECOND_CONSUMER
        if ends_function(x):
            return Blocked("made-by-session", "the operand is a product of computed values, as in Gelu")
        weight = constant(op.operands[1])
        if weight is None or quantized_of(op.operands[1].type) is not None:
            return Blocked(
                "unfoldable-factor",
                "factors per input channel cannot be folded into scales per output channel",
            )
        channels = required(promise.output_channels(op), OTHER_AXIS)
        old = unblocked(flat_bias(op, promise, channels))
        array = weight.array()
        factors = unblocked(self._per_input(op, promise, array, chain.map))
        if border and (chain.map.factor == 0).any():
            return Blocked(
                "unfoldable-factor",
                "a channel with factor 0 equals its shift, which padding zeros would not get",
            )
        self._replace(op, promise, x.owner, chain, factors, old, border, rewriter)
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
        linear: Linear,
        above: OnnxOp,
        chain: Chain,
        factors: tuple[Array, Array],
        old: Array | None,
        border: bool,
        rewriter: Rewriter,
    ) -> None:
        array = np.asarray(real_constant(op.operands[1]))
        dtype = BY_ATTRIBUTE[expressed_of(op.results[0].type)].dtype  # pyright: ignore
        alpha, axis = op.float_attr("alpha", 1.0), linear.weight_axis(op) or 0
        scaled, gained = folding.fold_in_front(array, *factors, old, axis, alpha)
        nodes, bias = Nodes(), old if border or chain.map.is_scale else gained
        inputs = [chain.source, nodes.append(new_constant(scaled, op.operands[1]))]
        if border:
            flat = folding.shift_in_front(chain.map.factor, chain.map.shift, dtype)
            flat = flat.reshape([-1] + [1] * (array.ndim - 2)) if flat.size > 1 else flat
            inputs[0] = nodes.add("Add", [chain.source, nodes.constant(flat)], op.operands[0].type)
            nodes.ops[-1].location = location(node_name(above))  # a tensor of other numbers
        if bias is not None:
            row = np.broadcast_to(bias, (linear.output_channels(op) or 1,))  # a Conv takes no scalar
            inputs.append(nodes.append(new_constant(row.astype(dtype), op.input(2))))
        attributes = {k: v for k, v in op.onnx_attributes.items() if k != "beta"}
        nodes.append(op.__class__.build(inputs, [op.results[0].type], attributes))
        rewriter.replace(op, nodes.ops)


class FoldAlone(OnTrait[Affine]):
    """An affine op between a dequantize and a quantize, as a depthwise 1x1 convolution."""

    def match(self, op: OnnxOp, promise: Affine, rewriter: Rewriter, /) -> Blocked | None:
        map = affine_map(op.results[0])
        if not isinstance(map, AffineMap) or map.axis is None:
            return None
        chain = chain_to(op, map)
        source = under(chain.source, DequantizeOp)
        if source is None:
            return None
        if op.get_trait(Kernels) is not None and all(isinstance(o.owner, DequantizeOp) for o in op.operands):
            return None  # it has an integer kernel of its own
        shape = shape_of(op.results[0].type)
        if byte_type(source) is None:
            return Blocked("activation-per-axis", "the operand is not quantized per tensor in 8 bits")
        if (
            shape is None
            or len(shape) not in (3, 4)
            or chain.map.axis != 1
            or shape[1] != chain.map.factor.size
            or 0 in shape
        ):
            return Blocked("unfoldable-factor", "no convolution of rank 3 or 4 has these channels")
        if not is_quantized_next(op.results[0]):
            return NOT_QUANTIZED
        self._replace(op, chain, shape, rewriter)
        return None

    def _replace(self, op: OnnxOp, chain: Chain, shape: tuple[int, ...], rewriter: Rewriter) -> None:
        channels, ones = shape[1], (1,) * (len(shape) - 2)
        stored, scales = folding.channel_as_weight(np.broadcast_to(chain.map.factor, (channels,)))
        type = UniformType.along(Storage.of("i8"), 0, scales, np.zeros(channels, np.int32))
        nodes, name = Nodes(), tensor_name(op)
        weight = nodes.append(constant_op(stored.reshape(channels, 1, *ones), f"{name}_factor", type))
        real = nodes.append(DequantizeOp(weight))
        shift = np.broadcast_to(chain.map.shift, (channels,)).astype(np.float32)
        bias = nodes.append(constant_op(shift, f"{name}_shift"))
        nodes.add("Conv", [chain.source, real, bias], op.results[0].type, {"group": channels})
        rewriter.replace(op, nodes.ops)


class FoldIntoQuantize(OnOp[QuantizeOp]):
    """An affine op in front of a quantize, folded into the quantize's scales."""

    def match(self, op: QuantizeOp, rewriter: Rewriter, /) -> Blocked | None:
        x, type = op.operands[0], op.element_type
        affine = affine_map(x)
        if not isinstance(affine, AffineMap) or not isinstance(x, OpResult) or not type.is_per_tensor:
            return None
        if not x.has_one_use():
            return SECOND_CONSUMER
        map, source, _ = chain_to(onnx_op(x.op), affine)
        if map.is_shift and linear_of(source) is not None:
            return None  # a bias, which a zero point would round
        if not (map.factor > 0).all():
            return Blocked("unfoldable-factor", "a factor is not positive, so no scale can absorb it")
        scales = folding.divided_scales(type.scales, map.factor)
        zeros = folding.shifted_zero_points(type.zero_points, map.shift, type.scales)
        if (zeros < type.storage.low).any() or (zeros > type.storage.high).any():
            return Blocked("bound-outside", "a shift is larger than the storage range")
        if not np.isfinite(scales).all() or not (scales > 0).all():
            return Blocked("scale-value", "a scale divided by its factor is beyond float32")
        moved = type.replace(scales=scales, zero_points=zeros.astype(np.int32), axis=map.axis)
        cast = QuantizeOp(source, moved)
        cast.location = op.location
        rewriter.replace(op, [cast, *read_as(cast.results[0], op.results[0].type)])
        return None


@dataclass(frozen=True)
class FoldBatchNormPass(RewritePass):
    name = "fold-batch-norm"
    exactness = Exactness.CLOSE
    role = Role.SIMPLIFYING
    reasons = (
        "activation-per-axis bias-shape bound-outside computed-parameter expressed-type "
        "invalid-parameters made-by-session not-quantized quantizer-between scale-value second-consumer "
        "sides-differ training-mode unfoldable-factor unknown-shape weight-axis"
    )
    rewrite = "affine(linear(x, w, b)) -> linear(x, w * factor, b * factor + shift): scales are rounded, integers stay"

    symmetric: bool = False
    """True if zero points of weights must not change."""
    depthwise: bool = True
    """True to write an affine op without an adjacent linear op as a depthwise convolution."""
    lossy: bool = False
    """True to drop a rounding between the two ops, and to clamp integers that have no negative."""

    def patterns(self) -> Sequence[Pattern]:
        behind = (
            LiftAffine(),
            FoldBehind(self.symmetric, self.lossy),
            FoldOwnFactors(self.symmetric, self.lossy),
        )
        alone = [FoldAlone()] if self.depthwise else []
        quantized = [FoldIntoQuantize()] if self.lossy else []
        return [*behind, FoldInFront(), FoldIntoNormalization(), *alone, *quantized]
