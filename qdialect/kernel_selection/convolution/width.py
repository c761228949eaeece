"""
Space-to-depth along rows: adjacent pixels as channels of one, if a convolution has too few channels for a fast kernel.

    conv(x, w, b)  ->  unpack(conv(pack(x), w', b')),   pack: N, C, H, W -> N, g * C, H, W / g

With channels last both are a Reshape: no byte moves. A pixel of the packed convolution makes f outputs in a row from g
inputs in a row; w' holds w once for each of the f, and zeros where an output does not depend on an input. Where a whole
row of results is one pixel, w' leaves out the zeros beside the operand's row. Integer kernels gather and pack channels
in blocks, so that twice the products in half the pixels can take half the time.

In front of a matrix product, which needs an explicit Pad anyway, the operand is padded first: the pads of a row then
need no packed pixel of their own.
"""

from __future__ import annotations

from collections.abc import Iterator
from dataclasses import dataclass, field, replace
from math import prod
from typing import Any, NamedTuple

import numpy as np
import numpy.typing as npt
from xdsl.ir import SSAValue

from qdialect.dialects.onnx_types import DYNAMIC, known_shape
from qdialect.kernel_selection.convolution.step import (
    ASSUMED_MOVES_NS,
    UNKNOWN_CHANNELS,
    ConvolutionStep,
    ImageNodes,
    Spec,
    most,
)
from qdialect.promises.window import UNRESOLVED_PADS, Geometry
from qdialect.reasons import Blocked
from qdialect.targets.pricing import (
    ALIGNED,
    POINTWISE,
    PRODUCT,
    QUANTIZED,
    SOME_SIZE,
    SPREADING,
    VOLUME,
    Costs,
    float_kernels,
    least_cost,
    quantized_kernel,
)

MAX_PACKED_PIXELS = 16
"""Greatest number of pixels that are packed into one."""


class Row(NamedTuple):
    """A convolution along the last axis."""

    width: int
    """Pixels in a row of the operand; `result`: in a row of the result."""
    result: int
    kernel: int
    stride: int
    dilation: int
    before: int
    """Zeros before the row."""


class Packing(NamedTuple):
    """Numbers of operand and result pixels that are packed into one, and the packed convolution along the row."""

    inputs: int
    outputs: int
    kernel: int
    stride: int
    before: int
    """Zeros before the row of packed pixels, and `behind` it."""
    behind: int


def row_of(geometry: Geometry) -> Row:
    """The last axis of a convolution; unknown sizes are assumed."""
    g, before = geometry, geometry.pads[-1][0] if geometry.pads else 0
    width, result = g.sizes[-1], g.results[-1]
    if DYNAMIC in (width, result):
        width, result = SOME_SIZE * g.strides[-1], SOME_SIZE
    return Row(width, result, g.kernel[-1], g.strides[-1], g.dilations[-1], before)


def packings(row: Row) -> Iterator[Packing]:
    """The packings that a row allows, without the trivial one."""
    for outputs in range(1, min(row.result, MAX_PACKED_PIXELS) + 1):
        if row.result % outputs:
            continue
        step = row.stride * outputs
        for inputs in range(1, min(step, MAX_PACKED_PIXELS) + 1):
            if step % inputs or row.width % inputs or inputs * outputs == 1:
                continue
            first = -row.before // inputs
            last = ((outputs - 1) * row.stride + (row.kernel - 1) * row.dilation - row.before) // inputs
            if outputs == row.result:  # whole rows; beside them are only zeros
                first, last = max(first, 0), min(last, row.width // inputs - 1)
            kernel, stride = last - first + 1, step // inputs
            behind = (row.result // outputs - 1) * stride + kernel - row.width // inputs + first
            if behind > -stride:  # less would add a pixel
                yield Packing(inputs, outputs, kernel, stride, -first, max(behind, 0))


@dataclass(frozen=True)
class PackWidth(ConvolutionStep):
    """Pack `packing.inputs` pixels of the operand into one, and `packing.outputs` of the result."""

    row: Row = field(kw_only=True)
    packing: Packing = field(kw_only=True)
    pads: tuple[tuple[int, int], ...] = ()
    """Zeros that are put around the operand first, so that those of the row need not fill a packed pixel."""

    def weight(self, weight: npt.NDArray[Any], zeros: npt.NDArray[Any]) -> npt.NDArray[Any]:
        """(outputs, inputs, ..., kernel), both channel axes repeated in the order of Reshape: pixel, then channel."""
        outputs, inputs, *middle, kernel = weight.shape
        row, to = self.row, self.packing
        shape = (to.outputs, outputs, to.inputs, inputs, *middle, to.kernel)
        result = np.array(np.broadcast_to(zeros.reshape(-1, *[1] * (len(shape) - 2)), shape))
        for i in range(to.outputs):
            for t in range(kernel):
                pixel = i * row.stride + t * row.dilation - row.before
                place = pixel // to.inputs + to.before
                if 0 <= place < to.kernel:
                    result[i, :, pixel % to.inputs, ..., place] = weight[..., t]
        return result.reshape(to.outputs * outputs, to.inputs * inputs, *middle, to.kernel)

    def operand(self, nodes: ImageNodes, x: SSAValue) -> SSAValue:
        """Adjacent pixels as channels of one."""
        if self.pads:
            x = nodes.channels_first(nodes.padded(nodes.channels_last(x), self.pads))
        by, shape = self.packing.inputs, known_shape(x.type)
        return _regrouped(nodes, x, shape[1] * by, shape[-1] // by) if by > 1 else x

    def result(self, nodes: ImageNodes, y: SSAValue) -> SSAValue:
        """Channels of one pixel as adjacent pixels."""
        by, shape = self.packing.outputs, known_shape(y.type)
        return _regrouped(nodes, y, shape[1] // by, shape[-1] * by) if by > 1 else y


def _regrouped(nodes: ImageNodes, x: SSAValue, channels: int, width: int) -> SSAValue:
    """(N, C, ..., W) as (N, channels, ..., width), each row's pixels read in order."""
    last = nodes.channels_last(x)
    shape = (*known_shape(last.type)[:-2], width, channels)
    return nodes.channels_first(nodes.reshaped(last, shape, (*[0] * (len(shape) - 2), width, channels)))


def packed_widths(spec: Spec, costs: Costs, now: float) -> Iterator[ConvolutionStep]:
    """A step for each packing of a row; none if no kernel of the same products can pay compared with `now`."""
    g, plain = spec.geometry, spec.priced
    if ALIGNED not in costs or g.groups > 1:
        return
    kernels = float_kernels(()) if spec.is_float else (QUANTIZED, POINTWISE, ALIGNED)
    if not spec.is_float and quantized_kernel(costs, plain) == ALIGNED:
        kernels = (ALIGNED,)  # as is every packing of it
    elif not spec.is_float and g.axes > 2:
        kernels = (POINTWISE, VOLUME)
    saves = ASSUMED_MOVES_NS if g.inputs == 1 else 2 * ASSUMED_MOVES_NS  # one channel: both layouts are equal
    if least_cost(costs, kernels, plain) > most(now, saves):
        return
    blocked = _guard(g)
    for pads in _explicit_pads(spec):
        padded = replace(spec.of(_without_pads(g)), kernels=(PRODUCT,)) if pads else spec
        row = row_of(padded.geometry)
        for packing in packings(row):
            after = packed_spec(padded, row, packing)
            moves = moves_of_packing(costs, after, packing) if spec.is_float else 0.0
            yield PackWidth(
                after,
                moves=moves,
                saves=saves,
                copies=packing.outputs,
                size=packing[:2],
                unusual=packing.outputs == row.result,
                blocked=blocked,
                row=row,
                packing=packing,
                pads=pads,
            )


def _explicit_pads(spec: Spec) -> Iterator[tuple[tuple[int, int], ...]]:
    """None first; then those of the convolution where they cost nothing: a product has them put around anyway."""
    yield ()
    pads = spec.geometry.pads
    if spec.is_float and pads and any(pads[-1]) and spec.can_be_product:
        yield pads


def _without_pads(g: Geometry) -> Geometry:
    """The convolution of an operand that has its zeros around it."""
    pads = g.pads or ()
    sizes = tuple(s if s == DYNAMIC else s + sum(pad) for s, pad in zip(g.sizes, pads, strict=True))
    return replace(g, sizes=sizes, pads=((0, 0),) * g.axes)


def packed_spec(spec: Spec, row: Row, packing: Packing) -> Spec:
    g = spec.geometry
    after = replace(
        g,
        inputs=g.inputs * packing.inputs,
        outputs=g.outputs * packing.outputs,
        kernel=(*g.kernel[:-1], packing.kernel),
        strides=(*g.strides[:-1], packing.stride),
        dilations=(*g.dilations[:-1], 1),
        pads=None if g.pads is None else (*g.pads[:-1], (packing.before, packing.behind)),
        sizes=(*g.sizes[:-1], row.width // packing.inputs),
        results=(*g.results[:-1], row.result // packing.outputs),
    )
    return spec.of(after)


def _guard(g: Geometry) -> Blocked | None:
    if DYNAMIC in (g.sizes[-1], g.results[-1]):
        return Blocked("unknown-shape", "the width is not known, and packing pixels into channels divides it")
    if g.pads is None:
        return UNRESOLVED_PADS
    return None if g.states_channels else UNKNOWN_CHANNELS


def moves_of_packing(costs: Costs, after: Spec, packing: Packing) -> float:
    """Nanoseconds of Transposes around a channels-first kernel, there and back."""
    by_value, shape = costs[SPREADING], after.priced
    pixels = shape.pixels * shape.images
    turns = 1 < packing.inputs < shape.inputs and not after.reads_last
    read = shape.inputs * prod(shape.strides) * pixels if turns else 0
    turns = 1 < packing.outputs < shape.outputs and not after.makes_last
    written = shape.outputs * pixels if turns else 0
    return 2 * (read * by_value["move_byte"] + written * by_value["move_float"])
