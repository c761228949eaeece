"""
Requantize the bias of an integer op to int32 with scale x_scale * w_scale, that of its accumulator.

    linear(x, w, b)  ->  linear(x, w, rint(b / (x_scale * w_scale)) : i32)
    linear(x, w, b)  ->  linear(x, w', rint(b / (x_scale * w_scale')) : i32)    b too large: w requantized, wider
    linear(x, w, b)  ->  linear(x, w', rint(b / (x_scale * w_scale')) : i32)    w of few bits, or 0: of a finer scale
    linear(x, w, b)  ->  linear(x, w', b)              unless `quantize`: so that a session can quantize the bias
    linear(x, w) + b ->  linear(x, w') + b             likewise, only with a finer scale

Close: the bias changes by at most half an accumulator step, and by at most a quarter of a step of the result;
otherwise, or if the result is float and the change would matter, it stays float. A weight with free bits gets the
finest scale, the same numbers times a power of two, wherever a bias is not a whole number of steps: with few bits each
step of a layer is a large part of its range. A channel whose weights are all 0 takes any scale: one with which its bias
fits. A bias is never clipped: a channel whose bias does not fit in int32
together with its sums gets a wider weight scale, if its bias outweighs the precision that its weights lose. An op whose
sums could wrap with any bias is not changed.
"""

from collections.abc import Sequence
from dataclasses import dataclass
from typing import Any, NamedTuple

import numpy as np
import numpy.typing as npt
from xdsl.dialects.builtin import Float32Type
from xdsl.ir import SSAValue

from qdialect import numerics
from qdialect.dialects.onnx_base import ConstantOp, OnnxOp
from qdialect.dialects.onnx_tensor import from_array
from qdialect.dialects.onnx_types import quantized_of, tensor_type, uniform_of
from qdialect.dialects.quant import DequantizeOp, Storage, UniformType
from qdialect.exactness import Exactness
from qdialect.ir.build import constant_op
from qdialect.ir.names import location, value_name
from qdialect.ir.values import (
    constant,
    constant_array,
    known_array,
    rank_of,
    real_constant,
    under_dequantize,
)
from qdialect.numerics import folding, sums
from qdialect.promises.arithmetic import along, shift, single_user
from qdialect.promises.kernels import Kernels
from qdialect.promises.linear import Linear, largest_sums
from qdialect.promises.window import Window
from qdialect.reasons import COMPUTED_BIAS, Blocked, required, unblocked
from qdialect.rewriting.driver import Pattern, Rewriter
from qdialect.rewriting.matching import OnTrait
from qdialect.rewriting.passes import RewritePass, Role

MAX_RELATIVE_CHANGE = 1e-4
"""
Bound of class `close`: greatest change of a channel's sums, relative to its bias, by requantized weights; and of a
float result, relative to the largest bias, by rounding of the bias.
"""

MAX_CHANGE_STEPS = 0.5
"""
Greatest change of a quantized result by rounding of the bias, in its steps: numbers less than a step
apart round at most one apart, and the other half step allows for float32 sums.
"""

KERNEL_BITS = 8
"""Bits of the weights that kernels take: fewer, packed, would take more memory in finer steps."""

FLOAT_RESULT = Blocked(
    "float-result", "the result is float, so rounding this bias by half an accumulator step matters"
)
NO_KERNEL = Blocked("no-kernel", "no integer kernel returns this result, so the bias stays in float")
COARSE = Blocked(
    "bias-range",
    "an accumulator step is too coarse for the bias: rounding it would change the result",
    "quantize the weight with a finer scale",
)


class _Counted(NamedTuple):
    """A bias in accumulator steps."""

    stored: npt.NDArray[np.int32]
    scales: npt.NDArray[np.float32]
    """Scales of the weight with which the bias fits."""
    weight: ConstantOp | None
    """The new weight if it had to change, for this op alone; None otherwise."""


def counted_bias(
    op: OnnxOp, x: UniformType, w: UniformType, weight: npt.NDArray[Any] | None, bias: npt.NDArray[np.float32]
) -> _Counted | Blocked:
    """
    The bias of `op` as int32 such that no sum exceeds int32, with wider weight scales where necessary.

    weight: its stored integers by type `w`; None if they are computed.
    """
    stored, overflow = numerics.quantize_bias(bias, x.scales, w.scales)
    large = overflow | (np.abs(stored.astype(np.int64)) > folding.MAX_FOLDED_BIAS)
    bound = largest_sums(op, x, w, weight, stored)
    if not overflow.any() and (bound is None or (bound <= numerics.INT32_MAX).all()):
        return _Counted(stored, w.scales, None)
    if large.any():
        counted, type = unblocked(_widen(op, x, w, bias, weight, large))
        stored, overflow = numerics.quantize_bias(bias, x.scales, type.scales)
        bound = largest_sums(op, x, type, known_array(counted.results[0]), stored)
        if not overflow.any() and (bound is None or (bound <= numerics.INT32_MAX).all()):
            return _Counted(stored, type.scales, counted)
    worst = 0 if bound is None else int(bound.max())
    return Blocked(
        "accumulator-overflow", f"sums can reach {worst}, int32 holds at most {numerics.INT32_MAX}"
    )


def _counted(
    op: OnnxOp,
    x: UniformType,
    w: UniformType,
    refined: tuple[ConstantOp, UniformType] | None,
    bias: npt.NDArray[np.float32],
) -> _Counted | Blocked:
    """`counted_bias` with the weight of `op`, of type `w`, or with the one that replaces it."""
    if refined is None:
        return counted_bias(op, x, w, constant_array(op.operands[1]), bias)
    counted = unblocked(counted_bias(op, x, refined[1], known_array(refined[0].results[0]), bias))
    return counted if counted.weight is not None else counted._replace(weight=refined[0])


def refined_weight(
    op: OnnxOp, x: UniformType, w: UniformType, bias: npt.NDArray[np.float32]
) -> tuple[ConstantOp, UniformType] | None:
    """
    The weight with finer scales, where a bias is no whole number of steps: times a power of two where it has few bits,
    any scale for channels of zeros.
    """
    linear, tensor = op.get_trait(Linear), constant(op.operands[1])
    axis = None if linear is None else linear.weight_axis(op)
    coarse = _moves(bias, x, w)
    if tensor is None or not (w.is_per_tensor or w.axis == axis) or not coarse.any():
        return None
    array, type = tensor.array(), w
    which = np.asarray(coarse.any()) if w.is_per_tensor else coarse
    finer = folding.finer_weight(array, w.scales, w.zero_points, which, w.axis, w.storage.signed)
    if w.storage.width == KERNEL_BITS and (finer.scales != w.scales).any():
        type = w.replace(storage=Storage.of("i8" if w.storage.signed else "u8"), scales=finer.scales)
        tensor = from_array(finer.stored.astype(type.storage.dtype))
    if w.axis is not None and w.scales.size == bias.size:
        other_axes = tuple(k for k in range(array.ndim) if k != w.axis)
        zeros = numerics.expand_parameters(w.zero_points, array.shape, w.axis)
        dead = _moves(bias, x, type) & (array == zeros).all(axis=other_axes)
        type = type.replace(scales=folding.scales_for_bias(bias, x.scales, type.scales, dead))
    if (type.scales == w.scales).all():
        return None
    return ConstantOp.of(tensor, tensor_type(type, array.shape)), type


def _moves(bias: npt.NDArray[np.float32], x: UniformType, w: UniformType) -> npt.NDArray[np.bool_]:
    """Where rounding to steps of x_scale * w_scale changes a bias by more than float32 does."""
    return sums.moved_bias(bias, x.scales, w.scales)[0] > np.spacing(np.abs(bias))


def _widen(
    op: OnnxOp,
    x: UniformType,
    w: UniformType,
    bias: npt.NDArray[np.float32],
    weight: npt.NDArray[Any] | None,
    which: npt.NDArray[np.bool_],
) -> tuple[ConstantOp, UniformType] | Blocked:
    """The weight as a new constant, and its type, with a wider scale for the channels `which`."""
    linear = op.get_trait(Linear)
    axis = None if linear is None else linear.weight_axis(op)
    overflow = Blocked(
        "bias-range", f"{int(which.sum())} of {which.size} biases do not fit in int32 at x_scale * w_scale"
    )
    if weight is None or axis is None or weight.shape[axis] != bias.size or not np.isfinite(bias).all():
        return overflow
    low, high = w.storage.low, w.storage.high
    new = folding.widen_for_bias(weight, w.scales, w.zero_points, bias, x.scales, which, axis, low, high)
    reach = max(abs(x.storage.low - x.zero_point), abs(x.storage.high - x.zero_point)) * float(x.scale)
    result = quantized_of(op.results[0].type)
    steps = MAX_CHANGE_STEPS * float(result.scales.min()) if result is not None else 0.0
    if (
        not np.isfinite(new.scales).all()
        or (new.moved * reach > np.maximum(MAX_RELATIVE_CHANGE * np.abs(bias), steps)).any()
    ):
        return overflow
    zeros = np.broadcast_to(w.zero_points, bias.shape)
    type = w.replace(scales=new.scales, zero_points=zeros, axis=axis)
    return constant_op(new.stored, None, type), type


def _use_weight(op: OnnxOp, weight: ConstantOp, rewriter: Rewriter) -> None:
    weight.location = location("", [f"{value_name(op.operands[1])}_widened"])
    rewriter.insert_before(op, [weight])
    rewriter.set_operand(op, 1, weight.results[0])


def refine_for(op: OnnxOp, bias: npt.NDArray[Any] | None, rewriter: Rewriter) -> None:
    """Give the weight of `op` the finer scales that its bias needs, whoever rounds that to steps of the sums."""
    x, w, linear = quantized_of(op.operands[0].type), quantized_of(op.operands[1].type), op.get_trait(Linear)
    channels = None if linear is None else linear.output_channels(op)
    if bias is None or x is None or w is None or not x.is_per_tensor or channels is None:
        return
    if bias.size not in (1, channels) or w.scales.size not in (1, channels):
        return
    flat = np.broadcast_to(bias.reshape(-1), (channels,)).astype(np.float32)
    refined = refined_weight(op, x, w, flat)
    if refined is None:
        return
    counted = counted_bias(op, x, refined[1], known_array(refined[0].results[0]), flat)
    if isinstance(counted, _Counted) and counted.weight is None:
        _use_weight(op, refined[0], rewriter)


class RefineForAdded(OnTrait[Linear]):
    """A product between quantized operands, to which an op adds a constant: a session makes that a bias."""

    def wants(self, promise: Linear, /) -> bool:
        return not promise.has_bias

    def match(self, op: OnnxOp, promise: Linear, rewriter: Rewriter, /) -> None:
        added, rank, axis = shift(single_user(op.results[0])), rank_of(op.results[0]), promise.result_axis
        if added is not None and rank is not None:
            refine_for(op, along(added.constant, rank, axis), rewriter)


class RescaleBias(OnTrait[Linear]):
    """The bias of a linear op between quantized activation and weight."""

    def __init__(self, quantize: bool = True):
        self._quantize = quantize

    def wants(self, promise: Linear, /) -> bool:
        return promise.has_bias

    def match(self, op: OnnxOp, promise: Linear, rewriter: Rewriter, /) -> Blocked | None:
        bias = op.input(2)
        x, w = quantized_of(op.operands[0].type), quantized_of(op.operands[1].type)
        if bias is None or x is None or w is None or quantized_of(bias.type) is not None:
            return None
        if not isinstance(x.expressed, Float32Type):
            return Blocked("expressed-type", f"the kernels compute in f32, not in {x.expressed}")
        if not x.is_per_tensor:
            return Blocked("activation-per-axis", "the activation has a scale for each channel")
        counts, result = self._quantize and self._has_kernel(op), quantized_of(op.results[0].type)
        if not counts and (result is None or isinstance(bias.owner, DequantizeOp)):
            if not self._quantize and not isinstance(bias.owner, DequantizeOp):
                refine_for(op, constant_array(bias), rewriter)
            if op.get_trait(Window) is not None and result is None:
                return None  # convolutions with a float result have no such bias
            return NO_KERNEL if self._quantize else None  # no session quantizes that bias
        real = required(real_constant(bias), COMPUTED_BIAS)
        channels = promise.output_channels(op)
        if (
            channels is None
            or real.size not in (1, channels)
            or (real.size > 1 and real.shape[-1:] != (channels,))
        ):
            return Blocked(
                "bias-shape", f"the bias has shape {list(real.shape)}, not one value for each channel"
            )
        if w.scales.size not in (1, channels):
            return Blocked(
                "weight-axis", "the scales are shared by all groups, the bias needs one for each channel"
            )
        return self._rescale(op, bias, np.broadcast_to(real.reshape(-1), (channels,)), counts, rewriter)

    def _rescale(
        self, op: OnnxOp, bias: SSAValue, real: npt.NDArray[Any], counts: bool, rewriter: Rewriter
    ) -> Blocked | None:
        x, w = uniform_of(op.operands[0].type), uniform_of(op.operands[1].type)
        flat = real.astype(np.float32)
        result = quantized_of(op.results[0].type)
        allowed = MAX_RELATIVE_CHANGE * float(np.abs(flat).max(initial=0))
        if result is not None:
            allowed = MAX_CHANGE_STEPS * float(result.scales.min())
        refined = refined_weight(op, x, w, flat)
        counted = unblocked(_counted(op, x, w, refined, flat))
        if not counts and refined is not None and counted.weight is not refined[0]:
            counted = unblocked(_counted(op, x, w, None, flat))  # too fine at once: else it would have no end
        step = numerics.bias_scale(x.scales, counted.scales)
        moved = np.abs(counted.stored * step.astype(np.float64) - flat)
        if counts and (moved > allowed).any():
            return COARSE if result is not None else FLOAT_RESULT
        if counted.weight is not None:
            _use_weight(op, counted.weight, rewriter)
        if counts:
            self._replace(op, bias, counted.stored, step, rewriter)
        return NO_KERNEL if self._quantize and not counts and counted.weight is None else None

    def _has_kernel(self, op: OnnxOp) -> bool:
        kernels, result = op.get_trait(Kernels), quantized_of(op.results[0].type)
        if kernels is None or (
            result is not None and not (result.is_per_tensor and result.storage.width == 8)
        ):
            return False  # a wider result may have finer steps than the sums
        return any(k.float_result == (result is None) and "2v" in k.inputs for k in kernels.forms)

    def _replace(
        self,
        op: OnnxOp,
        bias: SSAValue,
        stored: npt.NDArray[Any],
        scale: npt.NDArray[Any],
        rewriter: Rewriter,
    ) -> None:
        name = value_name(under_dequantize(bias))  # of integers read as reals: they keep the name
        name = name.removesuffix("_real") if name.endswith("_real") else f"{name}_quantized"
        new = constant_op(stored, name, UniformType.along(Storage.of("i32"), 0, scale))
        rewriter.insert_before(op, [new])
        rewriter.set_operand(op, 2, new.results[0])


@dataclass(frozen=True)
class RescaleBiasPass(RewritePass):
    name = "rescale-bias"
    exactness = Exactness.CLOSE
    role = Role.CHOOSING
    reasons = (
        "accumulator-overflow activation-per-axis bias-range bias-shape computed-parameter "
        "expressed-type float-result no-kernel weight-axis"
    )
    rewrite = "linear(x, w, b) -> linear(x, w, rint(b / (x_scale * w_scale)) : i32): within half an accumulator step"

    quantize: bool = True
    """True to requantize biases; otherwise only weights with which a session would lose or clip its own bias change."""

    def patterns(self) -> Sequence[Pattern]:
        return [RescaleBias(self.quantize), *([] if self.quantize else [RefineForAdded()])]
