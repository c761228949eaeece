"""linalg forms of convolutions: one generic op over all loops, rank 4 with channels last."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import replace
from typing import Any

import numpy as np
import numpy.typing as npt
from xdsl.dialects.builtin import f32, i32
from xdsl.ir import SSAValue
from xdsl.ir.affine import AffineExpr

from qdialect.dialects.onnx_base import OnnxOp
from qdialect.dialects.onnx_types import known_element, known_shape, quantized_of, uniform_of
from qdialect.ir.values import constant_array
from qdialect.promises.window import OTHER_SHAPE, UNRESOLVED_PADS, WINDOWS, Geometry
from qdialect.reasons import COMPUTED_WEIGHT, Blocked, required, unblocked
from qdialect.upstream.linalg.site import LinalgForm, LinalgSite, Operand, loop
from qdialect.upstream.linalg.sums import (
    Sum,
    above_zero,
    addends,
    centred_weight,
    factor,
    finished,
    is_integer,
    narrow,
    product,
    start,
)

IMAGE_RANK = 4
"""The rank of images, whose channels go last."""
NEGATIVE_PADS = Blocked("pad-form", "negative pads leave windows without a pixel")


class Loops:
    """Loops of a convolution by name (n, g, o, c, p0, k0, ...); an axis of one channel or group has none."""

    def __init__(self, geometry: Geometry, *, last: bool):
        self.geometry, self.last = geometry, last
        inner = ["g"] * (geometry.groups > 1) + ["o"] * (geometry.outputs > 1 or geometry.groups == 1)
        pixels = [f"p{k}" for k in range(geometry.axes)]
        self.results = ["n", *pixels, *inner] if last else ["n", *inner, *pixels]
        window = [f"k{k}" for k in range(geometry.axes)]
        self.reduced = [*window, *(["c"] * (geometry.inputs > 1 or geometry.groups == 1))]
        names = [*self.results, *self.reduced]
        self.loop: dict[str, AffineExpr] = {name: loop(k) for k, name in enumerate(names)}

    def sizes(self, batch: int) -> dict[str, int]:
        """Trip counts of the loops over the result."""
        g = self.geometry
        pixels = {f"p{k}": size for k, size in enumerate(g.results)}
        return {"n": batch, "g": g.groups, "o": g.outputs, **pixels}

    def pixel(self, k: int) -> AffineExpr:
        """Index of the input pixel along spatial axis k."""
        stride, dilation = self.geometry.strides[k], self.geometry.dilations[k]
        at, tap = self.loop[f"p{k}"], self.loop[f"k{k}"]
        return (at * stride if stride > 1 else at) + (tap * dilation if dilation > 1 else tap)

    def x(self) -> list[AffineExpr]:
        """Indexing map of the activation."""
        channels = [self.loop[name] for name in "gc" if name in self.loop]
        pixels = [self.pixel(k) for k in range(self.geometry.axes)]
        return [self.loop["n"], *pixels, *channels] if self.last else [self.loop["n"], *channels, *pixels]

    def w(self) -> list[AffineExpr]:
        """Indexing map of the weight, in the layout of `laid_out`."""
        taps = [self.loop[f"k{k}"] for k in range(self.geometry.axes)]
        g, o, c = ([self.loop[name]] if name in self.loop else [] for name in "goc")
        return [*taps, *g, *c, *o] if self.last else [*g, *o, *c, *taps]

    def laid_out(self, weight: npt.NDArray[Any]) -> npt.NDArray[Any]:
        """A weight (groups, outputs, inputs, kernel) in the layout of `w`."""
        taps = tuple(range(3, weight.ndim))
        kept = [("g", 0), ("c", 2), ("o", 1)] if self.last else [("g", 0), ("o", 1), ("c", 2)]
        inner = tuple(axis for name, axis in kept if name in self.loop)
        gone = tuple(axis for name, axis in kept if name not in self.loop)
        order = (*taps, *inner, *gone) if self.last else (*inner, *taps, *gone)
        laid = np.transpose(weight, order)
        return np.ascontiguousarray(laid.reshape(laid.shape[: weight.ndim - len(gone)]))


def _split(shape: tuple[int, ...], loops: Loops, channels: tuple[int, ...]) -> list[int]:
    """A shape with its channel axis split into groups and channels per group."""
    return [*shape[:-1], *channels] if loops.last else [shape[0], *channels, *shape[2:]]


def slid(
    op: OnnxOp, site: LinalgSite, x: SSAValue, weight: npt.NDArray[Any], g: Geometry, *, last: bool
) -> SSAValue | Blocked:
    """The convolution of a padded operand; weight: real or stored values, (groups, outputs, inputs, kernel)."""
    sums = (
        weight.sum(axis=tuple(range(2, weight.ndim)), dtype=np.int64).reshape(-1) if is_integer(op) else None
    )
    parts = unblocked(addends(op, sums))
    scale, count = parts.scale, g.groups * g.outputs
    if scale is not None and 1 < scale.size < count:
        scale = np.tile(scale, g.groups)
    sum = gathered(site, x, weight, g, parts.added, last=last)
    channel = len(known_shape(sum.type)) - 1 if last else 1
    return finished(op, site, Sum(sum, scale, parts.real, channel))


def gathered(
    site: LinalgSite,
    x: SSAValue,
    weight: npt.NDArray[Any],
    g: Geometry,
    added: npt.NDArray[Any] | None,
    *,
    last: bool,
) -> SSAValue:
    """The sums of a convolution, i32 for integers, f32 for floats. added: a number for each output channel."""
    loops, integer, shape = Loops(g, last=last), weight.dtype.kind != "f", known_shape(x.type)
    count = g.groups * g.outputs
    channels = tuple(size for name, size in (("g", g.groups), ("c", g.inputs)) if name in loops.loop)
    x = site.reshape(x, _split(shape, loops, channels))
    sizes = loops.sizes(shape[0])
    target = [sizes[name] for name in loops.results]
    flat = [shape[0], *g.results, count] if last else [shape[0], count, *g.results]
    element = i32 if integer else f32
    init = site.reshape(start(site, flat, len(flat) - 1 if last else 1, element, added), target)
    operands = [Operand(x, loops.x()), Operand(site.constant(loops.laid_out(weight)), loops.w())]
    sum = site.generic(operands, target, element, product(integer), over=len(loops.reduced), init=init)
    return site.reshape(sum, flat)


def _weight(op: OnnxOp, site: LinalgSite, axis: int) -> npt.NDArray[Any] | Blocked:
    """The weight of a convolution: integers minus their zero points, or real values."""
    array, type = constant_array(op.operands[1]), quantized_of(op.operands[1].type)
    if array is not None and type is not None and is_integer(op):
        return centred_weight(array, type, axis)
    return required(site.real(op.operands[1]), COMPUTED_WEIGHT)


def _padding(op: OnnxOp) -> float:
    """The stored padding element that represents real zero."""
    return int(uniform_of(op.operands[0].type).zero_point) if is_integer(op) else 0.0


def split_weight(weight: npt.NDArray[Any], g: Geometry) -> npt.NDArray[Any]:
    """ONNX's weight of a convolution as (groups, outputs, inputs, kernel)."""
    return weight.reshape(g.groups, g.outputs, g.inputs, *g.kernel)


def _geometry(op: OnnxOp) -> tuple[Geometry, Sequence[tuple[int, int]]]:
    """The static sizes of a gathering convolution, and its pads. Raises Refused if these are not known."""
    geometry = unblocked(WINDOWS[op.domain, op.op_type].geometry(op))
    required(geometry.states_channels or None, OTHER_SHAPE)
    return geometry, required(geometry.pads, UNRESOLVED_PADS)


def _with_pads(
    site: LinalgSite, x: SSAValue, pads: Sequence[tuple[int, int]], filling: float, *, last: bool
) -> SSAValue:
    return site.padded(x, [(0, 0), *pads, (0, 0)] if last else [(0, 0), (0, 0), *pads], filling)


def _convolution(op: OnnxOp, site: LinalgSite) -> None:
    (geometry, pads), integer = _geometry(op), is_integer(op)
    weight = unblocked(_weight(op, site, 0))
    last = weight.ndim == IMAGE_RANK
    x = unblocked(factor(site, op.operands[0], integer=integer, last=last))
    x = _with_pads(site, x, pads, _padding(op), last=last)
    result = unblocked(slid(op, site, x, split_weight(weight, geometry), geometry, last=last))
    site.give(op.results[0], result, last=last)


def _dropped(g: Geometry) -> list[tuple[int, int]]:
    """Result pixels that ONNX's ConvTranspose drops before and after each axis, minus its output_padding."""
    rows = zip(
        g.sizes, g.strides, g.kernel, g.dilations, g.results, g.pads or ((0, 0),) * g.axes, strict=True
    )
    whole = [((size - 1) * s + (k - 1) * d + 1 - result, first) for size, s, k, d, result, (first, _) in rows]
    return [(first, total - first) for total, first in whole]


def _transposed(op: OnnxOp, site: LinalgSite) -> Blocked | None:
    """A transposed convolution as a convolution of the operand, zeros between its pixels, with the flipped weight."""
    g = unblocked(WINDOWS[op.domain, op.op_type].geometry(op))
    integer, weight = is_integer(op), unblocked(_weight(op, site, 1))
    reach = [(k - 1) * d for k, d in zip(g.kernel, g.dilations, strict=True)]
    pads = [(r - a, r - b) for r, (a, b) in zip(reach, _dropped(g), strict=True)]
    if min(map(min, pads)) < 0:
        return NEGATIVE_PADS
    last = weight.ndim == IMAGE_RANK
    x = unblocked(factor(site, op.operands[0], integer=integer, last=last))
    spread = [(s - 1) * t + 1 + sum(p) for s, t, p in zip(g.sizes, g.strides, pads, strict=True)]
    lows, steps = [low for low, _ in pads], list(g.strides)
    shape, channels = known_shape(x.type), known_shape(op.operands[0].type)[1]
    full = [shape[0], *spread, channels] if last else [shape[0], channels, *spread]
    offsets = [0, *lows, 0] if last else [0, 0, *lows]
    strides = [1, *steps, 1] if last else [1, 1, *steps]
    if full != list(shape):
        x = site.put(x, site.filled(full, known_element(x.type), _padding(op)), offsets, strides)
    split = weight.reshape(g.groups, g.inputs, g.outputs, *g.kernel)
    turned = np.flip(np.swapaxes(split, 1, 2), tuple(range(3, split.ndim)))
    result = unblocked(slid(op, site, x, turned, replace(g, strides=(1,) * g.axes), last=last))
    site.give(op.results[0], result, last=last)
    return None


def _integer_convolution(op: OnnxOp, site: LinalgSite) -> Blocked | None:
    """ConvInteger: sums of products of integers minus zero points, which may be computed."""
    (geometry, pads), zero = _geometry(op), op.input(3)
    weight = constant_array(op.operands[1])
    above = np.int16(0) if zero is None else constant_array(zero)
    if weight is None or above is None:
        return COMPUTED_WEIGHT
    last = weight.ndim == IMAGE_RANK
    zeros = above.astype(np.int16).reshape(-1, *[1] * (weight.ndim - 1))
    centred = narrow(weight.astype(np.int16) - zeros)
    x = above_zero(site, op.operands[0], op.input(2), last=last)
    x = _with_pads(site, x, pads, 0, last=last)
    sum = gathered(site, x, split_weight(centred, geometry), geometry, None, last=last)
    site.give(op.results[0], sum, last=last)
    return None


WINDOW_FORMS: dict[tuple[str, str], LinalgForm] = {
    ("", "Conv"): LinalgForm(_convolution),
    ("", "ConvInteger"): LinalgForm(_integer_convolution),
    ("", "ConvTranspose"): LinalgForm(_transposed),
}
