"""
Linear layers as matrix products (im2col): result rows = patches @ weight rows, one product for each group.

A convolution sums over a window of pixels, a Gemm or MatMul over one axis. Seen as rows, all of them are the same: a
weight [groups, outputs of a group, summed elements] and patches [groups, positions, summed elements]. Rounding,
bias correction and equalization need no more than that.
"""

from __future__ import annotations

from collections.abc import Iterator, Sequence
from dataclasses import dataclass
from math import gcd, prod

import numpy as np
import numpy.typing as npt

from qdialect.dialects.onnx_base import OnnxOp
from qdialect.ir.values import static_shape
from qdialect.numerics import Array
from qdialect.promises.linear import Linear
from qdialect.promises.window import Window, WindowAttributes

Float64 = npt.NDArray[np.float64]

PATCH_BYTES = 1 << 25
"""Size in bytes of the pieces into which patches are divided."""


@dataclass(frozen=True)
class LinearLayer:
    """
    The geometry of a linear op.

    A convolution has a `window`; its weight is (outputs, inputs of a group, *kernel), transposed
    (inputs, outputs of a group, *kernel). Without one the op is a matrix product of its activation with a weight
    (..., summed, outputs), or (outputs, summed) if `output_axis` is 0; leading axes are products of their own.
    """

    weight_shape: tuple[int, ...]
    output_axis: int | None
    """The weight's axis of output channels, along which its scales run; None for a vector."""
    groups: int = 1
    window: WindowAttributes | None = None
    transposed: bool = False
    """True if the window spreads each input over several outputs (ConvTranspose)."""
    transposed_input: bool = False
    """True if the activation of a matrix product is summed over its first axis (Gemm's transA)."""
    weight_factor: float = 1.0
    """Factor of the product (Gemm's alpha)."""
    bias_factor: float = 1.0
    """Factor of the bias (Gemm's beta)."""

    @property
    def rows_shape(self) -> tuple[int, int, int]:
        """(groups, outputs of a group, summed elements)."""
        shape = self.weight_shape
        if self.window is None:
            if len(shape) == 1:
                return 1, 1, shape[0]
            outputs, summed = (shape[0], shape[1]) if self.output_axis == 0 else (shape[-1], shape[-2])
            return prod(shape[:-2]), outputs, summed
        if self.transposed:
            return self.groups, shape[1], shape[0] // self.groups * prod(shape[2:])
        return self.groups, shape[0] // self.groups, prod(shape[1:])

    def rows(self, weight: Array) -> Array:
        """The weight as [groups, outputs of a group, summed elements]: a view if the layout allows."""
        groups, outputs, summed = self.rows_shape
        if self.transposed:
            split = weight.reshape(groups, -1, outputs, prod(self.weight_shape[2:]))
            return split.transpose(0, 2, 1, 3).reshape(groups, outputs, summed)
        if self.window is None and weight.ndim > 1 and self.output_axis != 0:
            return weight.reshape(groups, summed, outputs).transpose(0, 2, 1)
        return weight.reshape(groups, outputs, summed)

    def weight(self, rows: Array) -> Array:
        """The inverse of `rows`, contiguous."""
        groups, outputs, _ = self.rows_shape
        if self.transposed:
            split = rows.reshape(groups, outputs, -1, prod(self.weight_shape[2:]))
            rows = split.transpose(0, 2, 1, 3)
        elif self.window is None and len(self.weight_shape) > 1 and self.output_axis != 0:
            rows = rows.transpose(0, 2, 1)
        return np.ascontiguousarray(rows).reshape(self.weight_shape)

    def row_parameters(self, parameters: npt.ArrayLike) -> Array:
        """
        Scales or zero points, () or (channels,) along `output_axis`, as [groups or 1, outputs of a group].

        The channels of a grouped convolution count group by group; those of a transposed one, or of a product with
        leading axes, are the same for every group.
        """
        p = np.asarray(parameters)
        groups, outputs, _ = self.rows_shape
        if p.size == 1:
            return p.reshape(1, 1)
        return p.reshape(groups if p.size == groups * outputs else 1, outputs)

    def channels(self, values: Array) -> Array:
        """
        [groups, outputs of a group] as (channels,), in the order of the result.

        The leading axes of a matrix product are no channels: values are averaged over them.
        """
        return values.reshape(-1) if self.window is not None else values.mean(axis=0)

    def patches(self, x: Array, limit: int | None = None) -> Iterator[Array]:
        """
        The patches of activation `x`, to be multiplied with the rows: arrays [groups, positions, summed elements].

        Each holds at most about `PATCH_BYTES`. With `limit`, that many positions of each sample (index of axis 0)
        are taken, evenly distributed, and the same ones for any batch size.
        """
        if self.window is None:
            yield from self._matrix_patches(x, limit)
            return
        groups, _, summed = self.rows_shape
        positions = None
        sizes = self._result_sizes(x.shape[2:])
        count = prod(sizes)
        if limit is not None and limit < count:
            positions = np.unravel_index(spread(count, limit), sizes)
            count = limit
        step = max(1, PATCH_BYTES // max(1, groups * summed * count * x.itemsize))
        for start in range(0, x.shape[0], step):
            yield self._window_patches(x[start : start + step], positions)

    def _matrix_patches(self, x: Array, limit: int | None) -> Iterator[Array]:
        groups, _, summed = self.rows_shape
        if self.transposed_input:
            x = x.T
        if x.ndim == 1:
            x = x[None]
        if groups > 1:
            yield self._batched_patches(x)
            return
        if limit is not None and x.ndim > 2:
            samples = x.reshape(x.shape[0], -1, summed)
            if limit < samples.shape[1]:
                x = samples[:, spread(samples.shape[1], limit)]
        flat = x.reshape(1, -1, summed)
        step = max(1, PATCH_BYTES // max(1, summed * x.itemsize))
        for start in range(0, flat.shape[1], step):
            yield flat[:, start : start + step]

    def _batched_patches(self, x: Array) -> Array:
        """Patches for a weight with leading axes: those longer than 1 are groups, the others positions."""
        groups, _, summed = self.rows_shape
        lead = self.weight_shape[:-2]
        shape = np.broadcast_shapes(x.shape[:-2], lead)
        full = np.broadcast_to(x, (*shape, *x.shape[-2:]))
        first = len(shape) - len(lead)
        own = [first + k for k, size in enumerate(lead) if size > 1]
        other = [k for k in range(full.ndim) if k not in own]
        return full.transpose(*own, *other).reshape(groups, -1, summed)

    def _prepared(self, x: Array) -> Array:
        """The image padded for its windows; with zeros between its pixels if transposed."""
        assert self.window is not None
        w = self.window
        sizes, rank = x.shape[2:], x.ndim - 2
        pads = w.resolved_pads(sizes, spreads=self.transposed) or ((0, 0),) * rank
        if self.transposed:
            spaced = [(size - 1) * stride + 1 for size, stride in zip(sizes, w.strides, strict=True)]
            wide = np.zeros((*x.shape[:2], *spaced), x.dtype)
            wide[(..., *(slice(None, None, s) for s in w.strides))] = x
            x = wide
            reach = [(k - 1) * d for k, d in zip(w.kernel, w.dilations, strict=True)]
            added = w.output_padding or (0,) * rank
            rows = zip(reach, pads, added, strict=True)
            pads = [(far - before, far - after + more) for far, (before, after), more in rows]
        if any(end > 0 for ends in pads for end in ends):
            x = np.pad(x, [(0, 0), (0, 0), *((max(a, 0), max(b, 0)) for a, b in pads)])
        if any(end < 0 for ends in pads for end in ends):
            cut = [
                slice(max(-a, 0), size - max(-b, 0)) for size, (a, b) in zip(x.shape[2:], pads, strict=True)
            ]
            x = x[(slice(None), slice(None), *cut)]
        return x

    def _result_sizes(self, sizes: Sequence[int]) -> tuple[int, ...]:
        assert self.window is not None
        w = self.window
        shape = self._prepared(np.zeros((1, 1, *sizes), np.bool_)).shape[2:]
        strides = (1,) * len(shape) if self.transposed else w.strides
        spans = [(k - 1) * d + 1 for k, d in zip(w.kernel, w.dilations, strict=True)]
        return tuple((n - span) // s + 1 for n, span, s in zip(shape, spans, strides, strict=True))

    def _window_patches(self, x: Array, positions: tuple[Array, ...] | None) -> Array:
        """[groups, positions, summed] of some samples; zeros where a window extends beyond the image."""
        assert self.window is not None
        w = self.window
        groups, _, summed = self.rows_shape
        rank = x.ndim - 2
        spans = tuple((k - 1) * d + 1 for k, d in zip(w.kernel, w.dilations, strict=True))
        view = np.lib.stride_tricks.sliding_window_view(
            self._prepared(x), spans, axis=tuple(range(2, 2 + rank))
        )
        strides = (1,) * rank if self.transposed else w.strides
        outer = tuple(slice(None, None, s) for s in strides)
        # A transposed kernel is applied in reverse order.
        inner = tuple(slice(None, None, d) for d in w.dilations)
        view = view[(slice(None), slice(None), *outer, *inner)]
        if self.transposed:
            view = view[(..., *(slice(None, None, -1),) * rank)]
        samples, channels = view.shape[:2]
        if positions is not None:
            taken = view[(slice(None), slice(None), *positions)]
        else:
            taken = view.reshape(samples, channels, -1, *w.kernel)
        split = taken.reshape(samples, groups, channels // groups, taken.shape[2], -1)
        return split.transpose(1, 0, 3, 2, 4).reshape(groups, -1, summed)


def known_layer(op: OnnxOp) -> LinearLayer:
    """`layer_of` a linear op. ValueError if it is None."""
    if (layer := layer_of(op)) is None:
        raise ValueError(f"{op.op_type} is no product of matrices")
    return layer


def layer_of(op: OnnxOp) -> LinearLayer | None:
    """A linear op as a matrix product; None for other ops, and for unknown or irregular weight shapes."""
    linear, shape = op.get_trait(Linear), static_shape(op.operands[1]) if len(op.operands) > 1 else None
    if linear is None or shape is None or not shape or 0 in shape:
        return None
    axis = linear.weight_axis(op)
    if linear.result_axis == 1 and len(shape) > 2:  # the axes after the channels are spatial
        return _convolution(op, shape, axis)
    factor, bias_factor = op.float_attr("alpha", 1.0), op.float_attr("beta", 1.0)
    if bias_factor == 0.0:
        bias_factor = 1.0
    transposed_input = bool(op.int_attr("transA", 0))
    return LinearLayer(
        shape, axis, transposed_input=transposed_input, weight_factor=factor, bias_factor=bias_factor
    )


def _convolution(op: OnnxOp, shape: tuple[int, ...], axis: int | None) -> LinearLayer | None:
    window = op.get_trait(Window)
    if window is None or not window.is_regular(op):
        return None
    return LinearLayer(shape, axis, window.groups(op), window.attributes(op), transposed=not window.gathers)


def spread(count: int, limit: int) -> npt.NDArray[np.int64]:
    """
    `limit` of the indices 0 to `count` - 1, in order and evenly distributed; deterministic.

    Steps of the golden section instead of equal ones, which would select the same few columns of an image.
    """
    step = max(1, round(count * 0.6180339887498949))
    while gcd(step, count) != 1:
        step += 1
    return np.sort(np.arange(limit, dtype=np.int64) * step % count)
