"""
Convolutions along three axes as convolutions along two, for which integer kernels are optimized.

    conv(x, w, b), x: N, C, D, H, W   ->  split(conv(join(x), w', b)),   elements under w along D as channels,
                                          join: N, k * C, D', H, W -> N * D', k * C, H, W
                                          or, where w has one row of one pixel, join: N, C, D, H, W -> N, C, D, H * W

An integer kernel for three axes gathers each kernel element of each pixel by itself, one for two axes in whole
rows. Channels are last, so that pixels are gathered as rows of channels, and joining axes moves no byte.
"""

from __future__ import annotations

from collections.abc import Iterator
from dataclasses import dataclass, field, replace
from math import prod
from typing import Any

import numpy as np
import numpy.typing as npt
from xdsl.ir import SSAValue

from qdialect.dialects.onnx_types import DYNAMIC, known_shape
from qdialect.kernel_selection.convolution.columns import gathered
from qdialect.kernel_selection.convolution.step import (
    ASSUMED_MOVES_NS,
    BYTE_SLICES_OPSET,
    OLD_SLICES,
    UNKNOWN_CHANNELS,
    ConvolutionStep,
    ImageNodes,
    Spec,
)
from qdialect.promises.window import UNRESOLVED_PADS, Geometry
from qdialect.reasons import Blocked
from qdialect.targets.pricing import GATHERED, SOME_SIZE, VOLUME, Convolution, Costs, cost

MAX_SLICES = 32
"""Greatest number of slices that become channels: each is a node."""


def _joined(one: int, other: int) -> int:
    return DYNAMIC if DYNAMIC in (one, other) else one * other


@dataclass(frozen=True)
class JoinAxes(ConvolutionStep):
    """Two of the axes N, D, H, W as one, channels last: N and D, or H and W if `rows`."""

    before: Geometry = field(kw_only=True)
    rows: bool = False

    def weight(self, weight: npt.NDArray[Any], zeros: npt.NDArray[Any]) -> npt.NDArray[Any]:
        """(outputs, inputs, depth, height, width) to (outputs, depth * inputs, height, width) or with one column."""
        if self.rows:
            return weight.reshape(*weight.shape[:3], 1)
        return np.ascontiguousarray(weight.swapaxes(1, 2).reshape(weight.shape[0], -1, *weight.shape[3:]))

    def operand(self, nodes: ImageNodes, x: SSAValue) -> SSAValue:
        """(N, C, D, H, W) with two axes as one."""
        last = nodes.channels_last(x)
        if not self.rows and not self.before.sees_one_pixel(0):
            last = gathered(nodes, last, self.before, None, axes=1)
        g, after = self.before, self.after.geometry
        batch = g.images if self.rows else _joined(g.images, g.results[0])
        return nodes.channels_first(nodes.reshaped(last, (batch, *after.sizes, known_shape(last.type)[-1])))

    def result(self, nodes: ImageNodes, y: SSAValue) -> SSAValue:
        """(N, C, D, H, W) from the result with two axes as one."""
        last = nodes.channels_last(y)
        apart = nodes.reshaped(last, (self.before.images, *self.before.results, known_shape(y.type)[1]))
        return nodes.channels_first(apart)


def joined_axes(spec: Spec, costs: Costs, now: float) -> Iterator[ConvolutionStep]:
    """Steps that join H and W, if the kernel has size 1 along them, or else N and D."""
    g = spec.geometry
    if spec.is_float or VOLUME not in costs or g.axes != 3:
        return
    if g.sees_one_pixel(1) and g.sees_one_pixel(2):
        yield joined_rows(spec)
    elif g.groups == 1 or g.kernel[0] == 1:
        yield joined_slices(spec, costs)
    else:
        grouped = Blocked(
            "float-result", "the convolution has groups, whose channels would not stay together"
        )
        yield replace(joined_slices(spec, costs), blocked=grouped)


def joined_rows(spec: Spec) -> JoinAxes:
    g = spec.geometry
    after = replace(
        g,
        kernel=(g.kernel[0], 1),
        strides=(g.strides[0], 1),
        dilations=(g.dilations[0], 1),
        pads=None if g.pads is None else (g.pads[0], (0, 0)),
        sizes=(g.sizes[0], _joined(*g.sizes[1:])),
        results=(g.results[0], _joined(*g.results[1:])),
    )
    known = (g.sizes[0], g.sizes[2], g.results[0], g.results[2])
    blocked = _guard(g, known, (g.images, g.results[1]))
    return JoinAxes(spec.of(after), saves=2 * ASSUMED_MOVES_NS, blocked=blocked, before=g, rows=True)


def joined_slices(spec: Spec, costs: Costs) -> JoinAxes:
    g, depth = spec.geometry, spec.geometry.kernel[0]
    after = replace(
        g,
        images=_joined(g.images, g.results[0]),
        inputs=g.inputs * depth,
        kernel=g.kernel[1:],
        strides=g.strides[1:],
        dilations=g.dilations[1:],
        pads=None if g.pads is None else g.pads[1:],
        sizes=g.sizes[1:],
        results=g.results[1:],
    )
    images = spec.images * (SOME_SIZE if g.results[0] == DYNAMIC else g.results[0])
    taken = 0.0
    if depth > 1:
        pixels = spec.priced.pixels * prod(g.strides[1:])
        columns = Convolution(g.inputs * g.groups, 0, (depth,), g.strides[:1], pixels, True, spec.images)
        taken = cost(costs, GATHERED, columns)
    blocked = _guard(g, (*g.sizes[1:], *g.results[1:]), (g.images, g.results[0]))
    if depth > MAX_SLICES:
        blocked = Blocked("window-form", f"more than {MAX_SLICES} slices would be concatenated")
    elif blocked is None and spec.opset < BYTE_SLICES_OPSET:
        blocked = OLD_SLICES
    return JoinAxes(spec.of(after, images), cost=taken, saves=2 * ASSUMED_MOVES_NS, blocked=blocked, before=g)


def _guard(g: Geometry, known: tuple[int, ...], joined: tuple[int, ...]) -> Blocked | None:
    if g.pads is None:
        return UNRESOLVED_PADS
    if not g.states_channels:
        return UNKNOWN_CHANNELS
    if DYNAMIC in known or joined.count(DYNAMIC) > 1:
        return Blocked(
            "unknown-shape", "more than one size is unknown, so no Reshape can split the joined axes again"
        )
    return None
