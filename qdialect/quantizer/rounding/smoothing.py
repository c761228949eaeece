"""
SmoothQuant: factors moved from an activation's channels into the weights, so that one scale suits all channels.

    linear(x, w)  ->  linear(x / s, s w)        s_j = max |x_j|^a / max |w_j|^(1 - a), scaled to a median of 1

Xiao et al. 2022 (arXiv 2211.10438). The factors are folded into the normalization that computes x for these layers
alone, else into a Mul by a constant in front of them. For each activation the exponent with the least expected noise is
chosen, of rounding x in steps of its range and w in steps of each output's.
"""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from dataclasses import dataclass
from math import inf, log10

import numpy as np
from xdsl.dialects.builtin import ModuleOp
from xdsl.ir import OpResult, SSAValue

from qdialect.dialects.onnx_base import ConstantOp, OnnxOp, promise_of
from qdialect.ir.build import constant_op
from qdialect.ir.insertion import behind, insert_before, onnx_op, put_constant
from qdialect.ir.interface import main_of
from qdialect.ir.names import called, location, tensor_name
from qdialect.ir.values import constant_array, known_array, rank_of
from qdialect.ops.generated import op_named
from qdialect.promises.affine import Scaled
from qdialect.quantizer.rounding.layers import Array, Float64, known_layer, layer_of

EXPONENTS = (0.3, 0.4, 0.5, 0.6, 0.7, 0.8, 0.9)
"""The paper's 0.5 and its neighbours."""
MIN_FREE_GAIN_DB, MIN_GAIN_DB = 0.5, 2.0
"""Least gain in dB of expected noise for smoothing an activation: without an added Mul, and with one."""
ACTIVATION_STEPS = 255
WEIGHT_STEPS = 127


@dataclass(frozen=True)
class ChannelSummary:
    """Statistics of the channels (last axis) of an activation: each (channels,)."""

    low: Float64
    high: Float64
    mean_square: Float64

    @property
    def largest(self) -> Float64:
        """max |x_j|"""
        return np.maximum(np.abs(self.low), np.abs(self.high))


@dataclass(frozen=True)
class Group:
    """An activation and the linear ops that use it."""

    value: SSAValue
    layers: tuple[OnnxOp, ...]

    def weights(self) -> Float64:
        """The weights' rows concatenated: [outputs of all, channels]."""
        rows = [_rows(op) for op in self.layers]
        return np.concatenate([r for r in rows if r is not None]).astype(np.float64)


@dataclass(frozen=True)
class Smoothed:
    """The smoothing of one activation."""

    value: SSAValue
    layers: tuple[str, ...]
    exponent: float
    gain: float
    """Expected reduction of the layers' noise, in dB."""
    folded: bool
    """True if the factors were folded into a normalization, so that no op was added."""


def _rows(op: OnnxOp) -> Array | None:
    """The weight of a plain matrix product as [outputs, summed]; None for other ops and computed weights."""
    layer, weight = layer_of(op), constant_array(op.operands[1])
    if layer is None or weight is None or layer.window is not None or layer.transposed_input:
        return None
    if layer.rows_shape[0] != 1 or weight.ndim != 2 or weight.dtype != np.float32:
        return None
    return layer.rows(weight)[0]


def groups(module: ModuleOp) -> list[Group]:
    """The activations of matrix products with constant weights, in the order of the graph."""
    readers: dict[SSAValue, list[OnnxOp]] = {}
    for op in main_of(module).body.block.ops:
        if isinstance(op, OnnxOp) and len(op.operands) > 1 and _rows(op) is not None:
            readers.setdefault(op.operands[0], []).append(op)
    return [Group(value, tuple(ops)) for value, ops in readers.items()]


def factors(channels: ChannelSummary, weights: Float64) -> tuple[Float64, float, float]:
    """
    The factors (channels,) with the least expected noise, their exponent, and the gain in dB; 0 dB if none is better.

    weights: [outputs, channels].
    """
    plain = np.ones(channels.low.size)
    before = expected_noise(channels, weights, plain)
    best, exponent, least = plain, 0.0, before
    x, w = channels.largest, np.abs(weights).max(axis=0, initial=0.0)
    alive = (x > 0) & (w > 0)
    for a in EXPONENTS if alive.any() else ():
        s = plain.copy()
        s[alive] = x[alive] ** a / w[alive] ** (1 - a)
        s[alive] /= np.median(s[alive])
        noise = expected_noise(channels, weights, s)
        if noise < least:
            best, exponent, least = s, a, noise
    gain = 10 * log10(before / least) if least > 0 else inf if before > 0 else 0.0
    return best, exponent, gain


def expected_noise(channels: ChannelSummary, weights: Float64, s: Float64) -> float:
    """
    Mean squared error, summed over outputs, of x / s and s w rounded to 8 bits: steps^2 / 12 times the other factor.
    """
    span = max((channels.high / s).max(), 0.0) - min((channels.low / s).min(), 0.0)
    step = span / ACTIVATION_STEPS
    scaled = weights * s
    steps = np.abs(scaled).max(axis=1, initial=0.0) / WEIGHT_STEPS
    of_activation = step**2 / 12 * np.square(scaled).sum()
    of_weights = np.square(steps).sum() / 12 * (channels.mean_square / s**2).sum()
    return float(of_activation + of_weights)


def smooth(module: ModuleOp, channels: Mapping[SSAValue, ChannelSummary]) -> list[Smoothed]:
    """Insert factors between activations and their weights where that lowers the expected noise, in place."""
    done: list[Smoothed] = []
    for group in groups(module):
        seen = channels.get(group.value)
        weights = group.weights()
        if seen is None or seen.low.size != weights.shape[1]:
            continue
        s, exponent, gain = factors(seen, weights)
        places = _places(group, s.size)
        if gain < (MIN_FREE_GAIN_DB if places else MIN_GAIN_DB):
            continue
        divisor = s.astype(np.float32)
        for op in group.layers:
            _scale_weight(op, divisor)
        if places:
            _fold(group.value, places, divisor)
        else:
            _divide(group, divisor)
        names = tuple(called(op) for op in group.layers)
        done.append(Smoothed(group.value, names, exponent, gain, bool(places)))
    return done


def _constant(array: Array, like: SSAValue) -> ConstantOp:
    name = tensor_name(like.owner, like.index) if isinstance(like, OpResult) else ""
    return constant_op(array, f"{name}_smoothed" if name else "")


def _scale_weight(op: OnnxOp, s: Array) -> None:
    if (rows := _rows(op)) is None:
        raise ValueError(f"the weight of {op.op_type} is no constant matrix")
    put_constant(op, 1, _constant(known_layer(op).weight((rows * s)[None]), op.operands[1]))


def _places(group: Group, count: int) -> tuple[int, ...]:
    """Operands of the activation's producer that can absorb the factor for these layers alone; empty if none can."""
    op = group.value.owner
    promise = promise_of(op, Scaled)
    users = {use.operation for use in group.value.uses}
    if promise is None or not isinstance(op, OnnxOp) or users != set(group.layers):
        return ()
    axis, rank = op.int_attr("axis", promise.first_axis), rank_of(group.value)
    places = tuple(k for k in (promise.factor, promise.shift) if op.input(k) is not None)
    arrays = [constant_array(op.operands[k]) for k in places]
    fits = all(a is not None and a.dtype == np.float32 and a.size in (1, count) for a in arrays)
    return places if fits and axis in (-1, (rank or 0) - 1) else ()


def _fold(value: SSAValue, places: Sequence[int], s: Array) -> None:
    op = onnx_op(value.owner)
    for place in places:
        array = known_array(op.operands[place])
        put_constant(op, place, _constant(array.reshape(-1) / s, op.operands[place]))


def _divide(group: Group, s: Array) -> None:
    """Insert a Mul in front of the layers."""
    first = behind(group.value)
    factor = _constant(np.float32(1) / s, group.value)
    product = op_named("", "Mul").build([group.value, factor.results[0]], [group.value.type])
    name = tensor_name(group.value.op, group.value.index) if isinstance(group.value, OpResult) else ""
    product.location = location(f"{name}_smoothing", [f"{name}_smoothed_values"])
    insert_before(first, factor, product)
    for op in group.layers:
        op.operands[0] = product.results[0]


class ChannelStatistics:
    """Accumulates statistics of the channels (last axis) of an activation, sample by sample."""

    def __init__(self) -> None:
        self._low = self._high = self._squares = np.zeros(0)
        self._count = 0

    def update(self, array: Array) -> None:
        """Add one sample."""
        if array.ndim == 0 or array.size == 0:
            return
        rows = array.reshape(-1, array.shape[-1]).astype(np.float64)
        low, high, squares = rows.min(axis=0), rows.max(axis=0), np.square(rows).sum(axis=0)
        if self._count and low.size == self._low.size:
            low, high = np.minimum(low, self._low), np.maximum(high, self._high)
            squares = squares + self._squares
        self._low, self._high, self._squares = low, high, squares
        self._count += rows.shape[0]

    @property
    def channels(self) -> ChannelSummary | None:
        """The statistics of all samples; None if there was none."""
        if not self._count:
            return None
        return ChannelSummary(self._low, self._high, self._squares / self._count)
