"""
Transposed convolutions as a convolution whose result pixels are interleaved (sub-pixel convolution).

    conv_transpose(x, w, b), strides s1, s2  ->  spread(conv(x', w', b')),   conv: N, s1 * s2 * C, H', W'
    spread: N, H', W', s1, s2 * C -> N, H', s1, W', s2 * C = N, H' * s1, W' * s2, C, cropped by the pads

Each block of s1 * s2 results depends on the same inputs: they are channels of one pixel, and w' has for each the
elements of w that reach it, and zeros. x' is x; of g groups it is x for each result of a block, s1 * s2 * g groups, so
that the channels of a result are adjacent as without groups. There is no integer kernel of a transposed convolution.
Channels are last, so that interleaving copies whole runs of channels: by Slices and a Concat if these are short.
"""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass
from itertools import product
from math import prod
from typing import Any, NamedTuple

import numpy as np
import numpy.typing as npt
from xdsl.ir import SSAValue

from qdialect.dialects.onnx_types import DYNAMIC, known_shape
from qdialect.kernel_selection.convolution.step import (
    ASSUMED_MOVES_NS,
    BYTE_SLICES_OPSET,
    TO_THE_END,
    ConvolutionStep,
    ImageNodes,
    Spec,
)
from qdialect.promises.window import OTHER_SHAPE, Geometry
from qdialect.reasons import GROUPED, Blocked
from qdialect.targets.pricing import SOME_SIZE, SPREADING, Convolution, Costs, by_group, cost

LARGEST_WINDOW = 1 << 16
"""Greatest product of kernel size, stride and pads along an axis that is considered."""
MAX_SLICED_BYTES = 128
"""Greatest number of bytes of a run that Slices move faster than a Transpose: 32 in half the time, 256 slower."""
FLOAT_BYTES = 4
"""Bytes of a float."""


class Phases(NamedTuple):
    """A transposed convolution along one axis: each block of `stride` results depends on the same pixels."""

    stride: int
    taps: int
    """Number of pixels that a block depends on."""
    places: tuple[tuple[int, int, int], ...]
    """For each kernel element: its index, the result in the block that it adds to, the pixel that it multiplies."""
    before: int
    """Zeros before the operand, and `behind` it."""
    behind: int
    more: int
    """Number of blocks of the result minus pixels of the operand."""
    first: int
    """Results cropped at the start, and `last` at the end."""
    last: int

    def sizes(self, size: int) -> tuple[int, int]:
        """Sizes of the convolution and of the result for an operand's size; DYNAMIC if that is."""
        if size == DYNAMIC:
            return DYNAMIC, DYNAMIC
        return size + self.more, (size + self.more) * self.stride - self.first - self.last


def phases(kernel: int, stride: int, dilation: int, pads: tuple[int, int], padding: int) -> Phases:
    """
    The phases of an axis of a transposed convolution with the fewest taps, then with the least cropping.

    Result o = j * stride + r - first and kernel element t take pixel i where o + pads[0] = i * stride + t * dilation.
    """
    options: list[Phases] = []
    for first in range(pads[0] + 1):
        steps = [
            (t, r, (r - first + pads[0] - t * dilation) // stride)
            for t in range(kernel)
            for r in range(stride)
            if (r - first + pads[0] - t * dilation) % stride == 0
        ]
        low, high = (pick(step for _, _, step in steps) for pick in (min, max))
        whole = first + (kernel - 1) * dilation + 1 - sum(pads) + padding - stride
        more = max(-(-whole // stride), -high)
        if low <= 0:
            places = tuple((t, r, step - low) for t, r, step in steps)
            cut = more * stride - whole
            options.append(Phases(stride, high - low + 1, places, -low, more + high, more, first, cut))
    return min(options, key=lambda one: (one.taps, one.first + one.last))


@dataclass(frozen=True)
class SpreadPhases(ConvolutionStep):
    """Compute each block of results as channels of one pixel, then interleave them."""

    along: tuple[Phases, ...] = ()
    groups: int = 1
    """Groups of the transposed convolution."""

    def weight(self, weight: npt.NDArray[Any], zeros: npt.NDArray[Any]) -> npt.NDArray[Any]:
        """(groups * inputs, outputs, kernel) to (strides * groups * outputs, inputs, taps), filled with zero points."""
        split = weight.reshape(self.groups, -1, *weight.shape[1:]).swapaxes(1, 2)
        groups, outputs, inputs = split.shape[:3]
        strides, taps = [axis.stride for axis in self.along], [axis.taps for axis in self.along]
        filled = zeros.reshape(groups, outputs, 1, *[1] * len(self.along))
        result = np.array(np.broadcast_to(filled, (*strides, groups, outputs, inputs, *taps)))
        for places in product(*(axis.places for axis in self.along)):
            element, reached, taken = zip(*places, strict=True)
            result[(*reached, ..., *taken)] = split[(..., *element)]
        return result.reshape(-1, inputs, *taps)

    def operand(self, nodes: ImageNodes, x: SSAValue) -> SSAValue:
        """The groups for each result of a block."""
        if self.groups == 1 or self.copies == 1:
            return x
        images, channels, *sizes = known_shape(x.type)
        channels *= 1 if channels == DYNAMIC else self.copies
        return nodes.add("Concat", [x] * self.copies, (images, channels, *sizes), {"axis": 1})

    def result(self, nodes: ImageNodes, y: SSAValue) -> SSAValue:
        """The channels of each pixel as a block of results, cropped."""
        along, strides = self.along, [axis.stride for axis in self.along]
        cut = [k for k, axis in enumerate(along) if axis.first or axis.last]
        if prod(strides) == 1 and not cut:
            return y
        last = nodes.channels_last(y)
        batch, *sizes, channels = known_shape(last.type)
        channels //= prod(strides)
        if len(along) == 2 and strides[0] > 1:
            last = self.rows_of_runs(nodes, last, strides[0], strides[1] * channels)
        whole = [size if size == DYNAMIC else size * by for size, by in zip(sizes, strides, strict=True)]
        if prod(strides) > 1:
            told = (0, *[-1] * (len(along) - 1), whole[-1], channels)
            last = nodes.reshaped(last, (batch, *whole, channels), told)
        if cut:
            for k in cut:
                whole[k] -= 0 if whole[k] == DYNAMIC else along[k].first + along[k].last
            bounds = (
                [along[k].first for k in cut],
                [-along[k].last or TO_THE_END for k in cut],
                [k + 1 for k in cut],
            )
            inputs = [last, *(nodes.ints(values, "part") for values in bounds)]
            last = nodes.add("Slice", inputs, (batch, *whole, channels))
        return nodes.channels_first(last)

    def rows_of_runs(self, nodes: ImageNodes, last: SSAValue, by: int, run: int) -> SSAValue:
        """(N, H, W, by * run) with each row as `by` rows of runs, one after another."""
        batch, height, width, _ = known_shape(last.type)
        wide = DYNAMIC if width == DYNAMIC else width * by
        run_bytes = run * (FLOAT_BYTES if self.after.is_float else 1)
        if run_bytes <= MAX_SLICED_BYTES and self.after.opset >= BYTE_SLICES_OPSET:
            parts: list[SSAValue] = []
            for at in range(0, by * run, run):
                bounds = [nodes.ints([value], "part") for value in (at, at + run, 3)]
                parts.append(nodes.add("Slice", [last, *bounds], (batch, height, width, run)))
            return nodes.add("Concat", parts, (batch, height, wide, run), {"axis": 2})
        last = nodes.reshaped(last, (batch, height, width, by, run), (0, 0, width, by, run))
        return nodes.transpose(last, (0, 1, 3, 2, 4))


def spread_phases(spec: Spec, costs: Costs, padding: Sequence[int]) -> ConvolutionStep | Blocked:
    """The step from `spec.geometry`, of a spreading op, to a gathering one. padding: output_padding."""
    g = spec.geometry
    if g.axes > 2:
        return Blocked(
            "window-form", "a transposed convolution is rewritten only over one or two spatial axes"
        )
    if g.sizes[-1] == DYNAMIC:
        return Blocked("unknown-shape", "the width is not known")
    if g.groups > 1 and spec.is_float:
        return GROUPED
    if g.pads is None:
        return Blocked(
            "unknown-shape", "the pads of the transposed convolution follow from its sizes (auto_pad)"
        )
    if max(g.kernel) * max(g.strides) * (max(map(max, g.pads)) + 1) > LARGEST_WINDOW:
        return Blocked("window-form", "the window is larger than this rewrite considers")
    rows = zip(g.kernel, g.strides, g.dilations, g.pads, padding, strict=True)
    along = tuple(phases(*row) for row in rows)
    for axis, size, stated in zip(along, g.sizes, g.results, strict=True):
        result = axis.sizes(size)[1]
        if DYNAMIC not in (result, stated) and result != stated:
            return OTHER_SHAPE
    if any(axis.first or axis.last for axis in along) and spec.opset < BYTE_SLICES_OPSET:
        return Blocked("opset", f"Slice takes computed bounds of bytes from opset {BYTE_SLICES_OPSET} on")
    after, times = _spread(spec, along), prod(g.strides)
    moves = (times > 1) + any(axis.first or axis.last for axis in along)
    by_value = costs[SPREADING]["move_float" if spec.is_float else "move_byte"]
    taken = _written(after) * moves * by_value
    if g.groups > 1:
        taken += _read(after) * by_value
    return SpreadPhases(
        after, cost=taken, saves=2 * ASSUMED_MOVES_NS, copies=times, along=along, groups=g.groups
    )


def spreading_cost(spec: Spec, step: ConvolutionStep, costs: Costs) -> float:
    """Nanoseconds of the float transposed convolution, with a quantize of its result unless that is float."""
    g = spec.geometry
    sizes = [SOME_SIZE if size == DYNAMIC else size for size in g.sizes]
    ones, outputs = (1,) * g.axes, g.outputs * prod(g.kernel)
    shape = Convolution(g.inputs, outputs, ones, ones, prod(sizes), spec.symmetric, spec.images, g.groups)
    quantized = 0.0 if spec.is_float else _written(step.after) * costs[SPREADING]["quantize"]
    return cost(costs, SPREADING, by_group(shape)) + quantized


def _written(after: Spec) -> int:
    shape = after.priced
    return shape.outputs * shape.groups * shape.pixels * shape.images


def _read(after: Spec) -> int:
    shape = after.priced
    return shape.inputs * shape.groups * shape.pixels * shape.images


def _spread(spec: Spec, along: tuple[Phases, ...]) -> Spec:
    g, ones = spec.geometry, (1,) * len(along)
    times = prod(axis.stride for axis in along)
    outputs, groups = (g.outputs * times, 1) if g.groups == 1 else (g.outputs, g.groups * times)
    after = Geometry(
        g.images,
        g.inputs,
        outputs,
        groups,
        tuple(axis.taps for axis in along),
        ones,
        ones,
        tuple((axis.before, axis.behind) for axis in along),
        g.sizes,
        tuple(axis.sizes(size)[0] for axis, size in zip(along, g.sizes, strict=True)),
        g.states_channels,
    )
    return spec.of(after)
