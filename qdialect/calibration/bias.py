"""
Bias correction: the mean error of a layer's result by rounding its weight, compensated in the bias.

Nagel et al. 2019 (arXiv 1906.04721): the error of a layer's own weight times the mean of its patches.
"""

from __future__ import annotations

import numpy as np
import numpy.typing as npt

from qdialect.calibration.gptq import Grid
from qdialect.calibration.layers import Array, Float64, Layer


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
