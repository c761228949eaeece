"""
GPTQ: rounding of a weight such that the errors of its elements cancel in the layer's result.

Frantar et al. 2022 (arXiv 2210.17323) quantize one column after the other and distribute the error of each over the
remaining ones, by a row of the upper Cholesky factor of the inverse Hessian. The lower factor of the Hessian itself
gives the same codes, last column first: with H = L L^T the result's error of a row is |(w - q) L|^2, whose component j
depends on q_j and later columns, so the best q_j is the integer next to

    w_j + sum_{k > j} (w_k - q_k) L_kj / L_jj

(Babai's nearest plane; arXiv 2507.18553). That takes no inverse: a third of the time, and better conditioned.
"""

from __future__ import annotations

from dataclasses import dataclass
from typing import Any

import numpy as np
import numpy.typing as npt

from qdialect import numerics
from qdialect.quantizer.rounding.hessian import Hessian, divided, joined
from qdialect.quantizer.rounding.layers import Array, Float64, LinearLayer

COLUMNS_AT_ONCE = 128
"""Number of columns that are updated one by one; earlier ones are updated by one product."""
DAMPING = 0.01
"""Fraction of the mean diagonal that is added to a Hessian's diagonal, as in the paper."""


@dataclass(frozen=True)
class Grid:
    """Quantization grid of a weight: scales, zero points, and bounds of the integers."""

    scales: Array
    """float32, () or (channels,)."""
    zero_points: Array
    """Integers, () or (channels,)."""
    low: int
    high: int
    dtype: npt.DTypeLike

    def quantize(self, layer: LinearLayer, rows: Array) -> Array:
        """Round [groups, outputs, ...] to nearest."""
        scales, zero_points = self.parameters(layer, rows.ndim)
        return numerics.quantize(rows, scales, zero_points, self.low, self.high, self.dtype)

    def dequantize(self, layer: LinearLayer, codes: Array) -> Array:
        """The real values, float32, of integers [groups, outputs, ...]."""
        scales, zero_points = self.parameters(layer, codes.ndim)
        return numerics.dequantize(codes, scales, zero_points)

    def parameters(self, layer: LinearLayer, rank: int) -> tuple[Array, Array]:
        """Scales and zero points of [groups, outputs, ...], an array of `rank` axes."""
        extra = (1,) * (rank - 2)
        scales, zero_points = layer.row_parameters(self.scales), layer.row_parameters(self.zero_points)
        return scales.reshape(*scales.shape, *extra), zero_points.reshape(*zero_points.shape, *extra)


@dataclass(frozen=True)
class Rounded:
    """A rounded weight, and the error of the layer's result with it."""

    stored: Array
    """In the weight's shape."""
    nearest_error: float
    """Mean squared error of the result, summed over outputs, with integers rounded to nearest."""
    error: float
    """The same with `stored`; both on held-out patches if there are any."""
    moved: float
    """Fraction of the integers that are not the nearest ones."""


def weight_grid(layer: LinearLayer, weight: Array, low: int, high: int, *, per_channel: bool) -> Grid:
    """Symmetric scales of i8, for each output channel or for all: `numerics.symmetric_scales`, zero point 0."""
    axes = None
    if per_channel and layer.output_axis is not None:
        axes = tuple(k for k in range(weight.ndim) if k != layer.output_axis % weight.ndim)
    scales = numerics.symmetric_scales(np.abs(weight).max(axis=axes, initial=0.0), high)
    return Grid(scales, np.zeros(scales.shape, np.int32), low, high, np.int8)


def result_error(layer: LinearLayer, weight: Array, grid: Grid, codes: Array, hessian: Float64) -> Float64:
    """tr(E H E^T) for each output, [groups, outputs]; codes as rows, the Hessian whole or in parts."""
    rows = layer.rows(weight).astype(np.float64) - grid.dequantize(layer, codes)
    parts = hessian.shape[0] // rows.shape[0]
    error = divided(rows, parts)
    return np.einsum("gnk,gnk->gn", error @ hessian, error).reshape(-1, parts, rows.shape[1]).sum(axis=1)


def round_weight(
    layer: LinearLayer, weight: Array, grid: Grid, hessian: Hessian, held_out: Hessian | None = None
) -> Rounded:
    """
    The integers of `weight` (float, the weight's shape) on `grid` by GPTQ, or to nearest if that is no worse.

    `hessian` is of the patches that steer the rounding, `held_out` of those that decide between the two; without it the
    first decides.
    """
    rows = layer.rows(weight)
    nearest = grid.quantize(layer, rows)
    matrix = hessian.matrix()
    judge = matrix if held_out is None or not held_out.count else held_out.matrix()
    nearest_error = float(result_error(layer, weight, grid, nearest, judge).sum())
    codes = gptq(layer, weight, grid, matrix)
    error = float(result_error(layer, weight, grid, codes, judge).sum())
    if not error < nearest_error:
        return Rounded(layer.weight(nearest), nearest_error, nearest_error, 0.0)
    return Rounded(layer.weight(codes), nearest_error, error, float(np.mean(codes != nearest)))


def gptq(
    layer: LinearLayer,
    weight: Array,
    grid: Grid,
    hessian: Float64,
    *,
    block: int = COLUMNS_AT_ONCE,
    act_order: bool = True,
) -> Array:
    """
    Codes [groups, outputs, summed] of `weight` on `grid`; hessian: [groups * parts, summed / parts, summed / parts].

    Columns are rounded by falling diagonal, each part in its own order; if `act_order` is False, in storage order, the
    first one first. Weights of inputs that were always 0 are rounded to nearest, and all if the Hessian is not finite.
    """
    rows = layer.rows(weight)
    if not np.isfinite(hessian).all():
        return grid.quantize(layer, rows)
    order = _order(hessian, act_order=act_order)
    factor = _feedback(hessian, order)
    # [groups, summed, outputs]: a column of the weight is contiguous.
    parts = len(hessian) // len(rows)
    columns = divided(rows, parts).transpose(0, 2, 1).astype(np.float64)
    columns = np.take_along_axis(columns, order[:, :, None], axis=1)
    errors, codes = np.empty_like(columns), np.empty(columns.shape, grid.dtype)
    summed = columns.shape[1]
    scales, zero_points = _in_parts(grid, layer, parts)
    for end in range(summed, 0, -block):
        start = max(0, end - block)
        target = columns[:, start:end].copy()
        if end < summed:
            target += factor[:, end:, start:end].transpose(0, 2, 1) @ errors[:, end:]
        for k in range(end - 1, start - 1, -1):
            q = numerics.quantize(target[:, k - start], scales, zero_points, grid.low, grid.high, grid.dtype)
            e = columns[:, k] - numerics.dequantize(q, scales, zero_points)
            codes[:, k], errors[:, k] = q, e
            target[:, : k - start] += factor[:, k, start:k, None] * e[:, None, :]
    result = np.empty_like(codes)
    np.put_along_axis(result, order[:, :, None], codes, axis=1)
    return joined(result.transpose(0, 2, 1), parts)


def _in_parts(grid: Grid, layer: LinearLayer, parts: int) -> list[Array]:
    """Scales and zero points, [groups * parts, outputs] or with sizes of 1."""
    return [np.repeat(a, parts, axis=0) if len(a) > 1 else a for a in grid.parameters(layer, 2)]


def _order(hessian: Float64, *, act_order: bool) -> npt.NDArray[np.int64]:
    """Order of the columns, [groups, summed]; the last one is rounded first."""
    groups, summed, _ = hessian.shape
    if not act_order:
        return np.broadcast_to(np.arange(summed - 1, -1, -1), (groups, summed))
    diagonal = np.diagonal(hessian, axis1=1, axis2=2)
    return np.argsort(-diagonal, axis=1, kind="stable")[:, ::-1]


def _feedback(hessian: Float64, order: npt.NDArray[np.int64]) -> Float64:
    """L_kj / L_jj of the damped and ordered Hessian; more damping until it has a Cholesky factor."""
    summed = hessian.shape[1]
    h = np.empty_like(hessian)
    for one, own_order, ordered in zip(hessian, order, h, strict=True):
        ordered[:] = one.take(own_order, axis=0).take(own_order, axis=1)
    diagonal = np.arange(summed)
    own = h[:, diagonal, diagonal]
    dead = own <= 0
    mean = own.mean(axis=1, keepdims=True)
    for factor in (1.0, 10.0, 100.0, 1000.0):
        h[:, diagonal, diagonal] = np.where(dead, 1.0, own + DAMPING * factor * mean)
        try:
            lower = np.linalg.cholesky(h).astype(np.float64, copy=False)
        except np.linalg.LinAlgError:
            continue
        lower /= lower[:, diagonal, diagonal][:, None, :]
        return lower
    return np.broadcast_to(np.eye(summed, dtype=np.float64), h.shape).astype(np.float64, copy=False)


def blocked_codes(
    rows: Array, hessian: Float64, size: int, low: int, high: int, dtype: Any
) -> tuple[Array, Array]:
    """
    Codes and scales of a weight [outputs, summed] in blocks of `size` summed elements, symmetric, by GPTQ.

    The first block is rounded first. A block's scale, max |w| / high, is that of the weights updated by the rounding
    so far, which compensate its errors. hessian: [parts, summed / parts, summed / parts], parts of whole blocks.
    Returns [outputs, summed] and float32 [outputs, blocks].
    """
    parts = [
        _blocked_codes(part, own, size, low, high, dtype)
        for part, own in zip(divided(rows[None], len(hessian)), hessian, strict=True)
    ]
    codes, scales = zip(*parts, strict=True)
    return np.concatenate(codes, axis=1), np.concatenate(scales, axis=1)


def _blocked_codes(
    rows: Array, hessian: Float64, size: int, low: int, high: int, dtype: Any
) -> tuple[Array, Array]:
    outputs, summed = rows.shape
    order = _order(hessian[None], act_order=False)
    factor = _feedback(hessian[None], order)[0]
    columns = rows[:, ::-1].T.astype(np.float64)
    errors, codes = np.empty_like(columns), np.empty(columns.shape, dtype)
    scales = np.empty((outputs, -(-summed // size)), np.float32)
    for b in range(scales.shape[1]):
        end, start = summed - b * size, max(0, summed - (b + 1) * size)
        target = columns[start:end] + factor[end:, start:end].T @ errors[end:]
        # The block's weights that would compensate the errors exactly: (w - q) L = 0 in its components.
        within = np.tril(factor[start:end, start:end])
        free = columns[start:end] + np.linalg.solve(within.T, target - columns[start:end])
        largest = np.abs(free).max(axis=0)
        scale = np.where(largest > 0, largest / high, 1.0).astype(np.float32)
        scales[:, b] = scale
        for k in range(end - 1, start - 1, -1):
            q = numerics.quantize(target[k - start], scale, 0, low, high, dtype)
            e = columns[k] - numerics.dequantize(q, scale, 0)
            codes[k], errors[k] = q, e
            target[: k - start] += factor[k, start:k, None] * e
    return np.ascontiguousarray(codes[::-1].T), scales
