"""
Hessians of linear layers for rounding: second moments of their input patches, summed exactly.

With an error E in the weight rows, the squared error of the result is tr(E H E^T) with H = E[p^T p] over patches p.
"""

from __future__ import annotations

from math import frexp
from typing import Any

import numpy as np
import numpy.typing as npt

from qdialect.quantizer.rounding.layers import Float64, LinearLayer

GRID_BITS = 14
"""An activation is rounded to this many bits of its largest magnitude before its products are summed."""
PATCHES_PER_ELEMENT = 4
"""Number of patches for each summed element that a Hessian needs; more improve it little."""
MIN_PATCHES = 4000
MAX_PATCHES_AT_ONCE = 1024
"""Greatest number of patches that are multiplied at once."""
MAX_SUMMED = 6144
"""A Hessian has at most the square of this number of elements in each group: 302 MB."""


def grid_step(largest: float) -> float:
    """The power of two in which an activation of at most this magnitude has `GRID_BITS` bits; 1.0 if it is 0."""
    return 1.0 if largest == 0.0 else 2.0 ** (frexp(largest)[1] - GRID_BITS)


def rows_per_sample(layer: LinearLayer, samples: int) -> int:
    """Number of patches to take from each of `samples` samples for a Hessian of the layer."""
    wanted = max(PATCHES_PER_ELEMENT * layer.rows_shape[2], MIN_PATCHES)
    return max(1, -(-wanted // max(samples, 1)))


def parts_of(summed: int) -> int:
    """
    Number of equal parts of a row of summed elements, as few as keep a Hessian within `MAX_SUMMED`.

    What elements of different parts have in common is left out: the Hessian is taken as block diagonal.
    """
    least = max(1, -(-summed * summed // MAX_SUMMED**2))
    return next((parts for parts in range(least, summed) if summed % parts == 0), max(summed, 1))


def divided(rows: npt.NDArray[Any], parts: int) -> npt.NDArray[Any]:
    """Rows [groups, count, summed] as [groups * parts, count, summed / parts]."""
    groups, count, summed = rows.shape
    each = rows.reshape(groups, count, parts, summed // parts).transpose(0, 2, 1, 3)
    return each.reshape(groups * parts, count, summed // parts)


def joined(rows: npt.NDArray[Any], parts: int) -> npt.NDArray[Any]:
    """The inverse of `divided`."""
    groups, count, size = rows.shape
    return (
        rows.reshape(groups // parts, parts, count, size)
        .transpose(0, 2, 1, 3)
        .reshape(-1, count, parts * size)
    )


def on_grid(patches: npt.NDArray[Any], step: float) -> Float64:
    """Patches in units of `step`, rounded to integers, whose products are summed exactly."""
    return np.rint(patches.astype(np.float64) / step)


def hessian_bytes(layer: LinearLayer) -> int:
    """Memory of one `Hessian` of the layer, in bytes."""
    groups, _, summed = layer.rows_shape
    return 8 * groups * summed * (summed // parts_of(summed) + 1)


class Hessian:
    """
    Second moments and means of a layer's patches, [groups * parts, summed / parts, summed / parts] and
    [groups, summed]; parts is 1 but for very long patches, see `parts_of`.

    Elements are rounded to multiples of `step`, a power of two. The sums are then integers below 2^53, which float64
    adds without rounding: the same to the last bit for every batch size and order, and a merge is an addition.
    """

    def __init__(self, layer: LinearLayer, step: float, limit: int | None = None):
        groups, _, summed = layer.rows_shape
        self.layer = layer
        self.step = step
        self.limit = limit
        """Patches of each sample that are summed; None for all."""
        self.count = 0
        """Patches so far, in each group."""
        self.parts = parts_of(summed)
        self.size = summed // self.parts
        """Summed elements of a part."""
        self._products = np.zeros((groups * self.parts, self.size, self.size))
        self._totals = np.zeros((groups, summed))
        self._pending: list[Float64] = []
        self._waiting = 0

    def update(self, x: npt.NDArray[Any]) -> None:
        """Add the patches of an activation, float or dequantized, samples along axis 0."""
        for patches in self.layer.patches(x, self.limit):
            grid = on_grid(patches, self.step)
            self.count += grid.shape[1]
            self._waiting += grid.shape[1]
            self._pending.append(grid)
            if self._waiting >= min(MAX_PATCHES_AT_ONCE, grid.shape[2]):
                self._flush()

    def _flush(self) -> None:
        """Add the pending patches: a product of few rows would mostly move the sums."""
        if not self._pending:
            return
        grid = np.concatenate(self._pending, axis=1)
        self._pending, self._waiting = [], 0
        self._totals += grid.sum(axis=1)
        rows = divided(grid, self.parts)
        if rows.shape[0] == 1:  # numpy does half the work for a matrix times its own transpose
            self._products[0] += rows[0].T @ rows[0]
        else:
            self._products += rows.transpose(0, 2, 1) @ rows

    def merge(self, other: Hessian) -> None:
        """Add the sums of another Hessian of the same layer and step."""
        if other.step != self.step or other.layer != self.layer:
            raise ValueError("Hessians of another layer or step cannot be added")
        self._flush()
        other._flush()
        self._products += other._products
        self._totals += other._totals
        self.count += other.count

    def mean(self) -> Float64:
        """E[p], [groups, summed]."""
        self._flush()
        return self._totals * (self.step / max(self.count, 1))

    def matrix(self) -> Float64:
        """E[p^T p], [groups * parts, summed / parts, summed / parts]."""
        self._flush()
        return self._products * (self.step * self.step / max(self.count, 1))


class CrossMoments:
    """
    E[p^T p'] of a layer's patches p of an activation and p' of another one at the same place, [groups * parts,
    summed / parts, summed / parts]; summed as exactly as a `Hessian`, which it equals if both activations are the same.
    """

    def __init__(self, layer: LinearLayer, step: float, limit: int | None = None):
        groups, _, summed = layer.rows_shape
        self.layer = layer
        self.step = step
        self.limit = limit
        """Patches of each sample that are summed; None for all."""
        self.count = 0
        """Patches so far, in each group."""
        self.parts = parts_of(summed)
        size = summed // self.parts
        self._products = np.zeros((groups * self.parts, size, size))

    def update(self, x: npt.NDArray[Any], other: npt.NDArray[Any]) -> None:
        """Add the patches of both activations, of one shape, float or dequantized, samples along axis 0."""
        for one, two in zip(
            self.layer.patches(x, self.limit), self.layer.patches(other, self.limit), strict=True
        ):
            self.count += one.shape[1]
            left, right = (divided(on_grid(patches, self.step), self.parts) for patches in (one, two))
            self._products += left.transpose(0, 2, 1) @ right

    def merge(self, other: CrossMoments) -> None:
        """Add the sums of the moments of other samples, of the same layer and step."""
        if other.step != self.step or other.layer != self.layer:
            raise ValueError("moments of another layer or step cannot be added")
        self._products += other._products
        self.count += other.count

    def matrix(self) -> Float64:
        """E[p^T p']."""
        return self._products * (self.step * self.step / max(self.count, 1))
