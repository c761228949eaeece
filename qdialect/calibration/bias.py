"""
Bias correction: the mean error of a layer's result by rounding its weight, compensated in the bias.

Nagel et al. 2019 (arXiv 1906.04721). *Analytic*: the error of a layer's own weight times the mean of its patches, for
each layer alone. *Sequential*: the mean of the float result minus that of the quantized one, layer after layer, with
everything before already quantized and corrected.
"""

from __future__ import annotations

from dataclasses import dataclass

import numpy as np
import numpy.typing as npt

from qdialect import numerics
from qdialect.calibration.gptq import Grid
from qdialect.calibration.layers import Array, Float64, Layer

LARGEST_SHIFT = 2.0
"""Greatest shift, in standard deviations of a channel's result, that is accepted as rounding error."""


@dataclass(frozen=True)
class Corrected:
    """A corrected bias."""

    bias: npt.NDArray[np.float32]
    """(channels,)"""
    applied: npt.NDArray[np.bool_]
    """The channels that were shifted."""
    overflow: npt.NDArray[np.bool_]
    """The channels not shifted, since the shifted bias exceeds int32 in steps of x_scale * w_scale."""


def analytic_shift(layer: Layer, weight: Array, grid: Grid, stored: Array, mean: Float64) -> Float64:
    """
    The correction to add to the bias, (channels,): (W - dequantized W) E[p] * weight_factor / bias_factor.

    weight: float; stored: its integers, both in the weight's shape; mean: E[p], [groups, summed].
    """
    real = grid.dequantize(layer, layer.rows(stored))
    error = layer.rows(weight).astype(np.float64) - real
    shift = np.einsum("gnk,gk->gn", error, mean)
    return layer.channels(shift) * (layer.weight_factor / layer.bias_factor)


def confirmed(shift: Float64, held_out: Float64) -> npt.NDArray[np.bool_]:
    """
    The channels, bool, in which `shift` lowers the squared error on other data, whose own best shift is `held_out`.

    E[(e - s)^2] < E[e^2] if s lies between 0 and twice the mean of e.
    """
    return shift * (2 * held_out - shift) > 0


def correct_bias(
    bias: npt.ArrayLike,
    shift: Float64,
    x_scale: npt.ArrayLike | None = None,
    w_scale: npt.ArrayLike = 1.0,
    *,
    which: npt.NDArray[np.bool_] | None = None,
    deviation: Float64 | None = None,
) -> Corrected:
    """
    bias + shift for the channels `which` (all by default), rounded to float32 once.

    bias: real, () or (channels,). With `x_scale` the bias will be int32 in steps of x_scale * w_scale, and a channel
    that would not fit keeps its bias. deviation: (channels,), the standard deviation of the float result; a channel
    whose shift is over `LARGEST_SHIFT` of them keeps its bias too.
    """
    old = np.broadcast_to(np.asarray(bias, np.float64), shift.shape)
    applied = np.isfinite(shift) if which is None else which & np.isfinite(shift)
    if deviation is not None:
        applied = applied & (np.abs(shift) <= LARGEST_SHIFT * deviation)
    new = np.where(applied, old + np.where(applied, shift, 0.0), old)
    overflow = np.zeros(shift.shape, np.bool_)
    if x_scale is not None:
        _, beyond = numerics.quantize_bias(new, x_scale, w_scale)
        overflow = beyond & applied
        applied = applied & ~overflow
        new = np.where(overflow, old, new)
    return Corrected(new.astype(np.float32), applied, overflow)
