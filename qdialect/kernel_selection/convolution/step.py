"""`Spec`, a convolution as the search sees it, and `ConvolutionStep`, the base class of its forms."""

from __future__ import annotations

from abc import ABC, abstractmethod
from collections.abc import Sequence
from dataclasses import dataclass, replace
from typing import Any

import numpy.typing as npt
from xdsl.ir import SSAValue

from qdialect.dialects.onnx_types import DYNAMIC, known_shape
from qdialect.forms.nodes import Nodes
from qdialect.promises.window import Geometry
from qdialect.reasons import Blocked
from qdialect.targets.pricing import FLOAT, MAX_TIME_RATIO, PACKED, PRODUCT, SUM, Convolution, priced

ASSUMED_MOVES_NS = 1500
"""Nanoseconds assumed for Transposes and Reshapes before a convolution, and as many after it."""
BYTE_SLICES_OPSET = 11
"""The first opset in which Slice and Pad take 8-bit elements, and bounds as operands."""
OLD_SLICES = Blocked("opset", f"Slice and Pad take computed bounds from opset {BYTE_SLICES_OPSET} on")
TO_THE_END = 2**63 - 1

UNKNOWN_CHANNELS = Blocked(
    "unknown-shape", "the number of channels of the operand or the result is not known"
)


def most(now: float, saves: float) -> float:
    """Cost in nanoseconds at which another form pays, for a convolution that costs `now`."""
    return min(MAX_TIME_RATIO * now, now - saves)


@dataclass(frozen=True)
class Spec:
    """A gathering convolution of u8 activations and i8 weights: the properties that determine its forms and cost."""

    geometry: Geometry
    images: int
    """
    Batch size to price: if the batch is unknown, a form of a quantized result must pay for a single image, one of a
    float result, whose kernels differ by batch, for `SOME_IMAGES`.
    """
    symmetric: bool
    """True if every zero point of the weight is 0."""
    is_float: bool
    """True if the result is float."""
    opset: int
    kernels: tuple[str, ...] = (FLOAT, PACKED, SUM, PRODUCT)
    """The kernels that a float result may come from."""
    reads_last: bool = False
    """True if a kernel that runs channels last makes the operand, or reads it too, and it has several channels."""
    makes_last: bool = False
    """Likewise, if such a kernel reads the float result, quantized."""
    saved: tuple[float, float] = (0.0, 0.0)
    """
    Nanoseconds for each value of a float result that the op behind takes less as a part of the float kernel: with a
    dequantized weight, and with a float constant.
    """

    @property
    def can_be_product(self) -> bool:
        """True if a float result may come from a matrix product of gathered elements."""
        return PRODUCT in self.kernels and (self.opset >= BYTE_SLICES_OPSET or self.geometry.is_pointwise)

    @property
    def priced(self) -> Convolution:
        """The sizes that determine the cost; unknown ones are assumed."""
        return priced(self.geometry, self.images, symmetric=self.symmetric)

    def of(self, geometry: Geometry, images: int | None = None) -> Spec:
        """This convolution with another geometry and, unless None, batch of `images`."""
        return replace(self, geometry=geometry, images=self.images if images is None else images)


@dataclass(frozen=True)
class ConvolutionStep(ABC):
    """
    One form of a convolution: conv(x, w, b) -> result(conv(operand(x), weight(w), b repeated `copies` times)).

    Exact on integers: every product is kept, and added ones have a weight at its zero point as a factor.
    """

    after: Spec
    """The remaining convolution."""
    cost: float = 0.0
    """Nanoseconds for moving values in addition."""
    moves: float = 0.0
    """Further nanoseconds, unless the remaining convolution is between Transposes in any case."""
    saves: float = 0.0
    """Nanoseconds that the step must save at least, for overhead that the fitted costs do not model."""
    copies: int = 1
    """Number of copies of each output channel; all channels of a copy are adjacent."""
    size: tuple[int, ...] = ()
    """Parameters that distinguish the step from others of the same form."""
    unusual: bool = False
    """True if few shapes like that of the remaining convolution were measured."""
    blocked: Blocked | None = None
    """Reason why the step cannot be applied although the sizes allow it."""

    @abstractmethod
    def weight(self, weight: npt.NDArray[Any], zeros: npt.NDArray[Any]) -> npt.NDArray[Any]:
        """The weight of the remaining convolution. zeros: (outputs,), each output's zero point."""

    def operand(self, nodes: ImageNodes, x: SSAValue) -> SSAValue:
        """The operand of the remaining convolution."""
        return x

    def result(self, nodes: ImageNodes, y: SSAValue) -> SSAValue:
        """The result of the convolution, from that of the remaining one."""
        return y


class ImageNodes(Nodes):
    """New operations around a convolution with operand (N, C, sizes)."""

    def channels_last(self, x: SSAValue) -> SSAValue:
        """(N, C, sizes) as (N, sizes, C)."""
        rank = len(known_shape(x.type))
        return self.transpose(x, [0, *range(2, rank), 1])

    def channels_first(self, x: SSAValue) -> SSAValue:
        """(N, sizes, C) as (N, C, sizes)."""
        rank = len(known_shape(x.type))
        return self.transpose(x, [0, rank - 1, *range(1, rank - 1)])

    def padded(
        self, x: SSAValue, pads: Sequence[tuple[int, int]], zero_point: SSAValue | None = None
    ) -> SSAValue:
        """(N, sizes, C) with elements around its pixels: the zero point of integers, or real zeros."""
        images, *sizes, channels = known_shape(x.type)
        ends = self.ints((0, *(p[0] for p in pads), 0, 0, *(p[1] for p in pads), 0), "pads")
        wide = (s if s == DYNAMIC else s + sum(pad) for s, pad in zip(sizes, pads, strict=True))
        inputs = [x, ends] if zero_point is None else [x, ends, zero_point]
        return self.add("Pad", inputs, (images, *wide, channels))

    def reshaped(self, x: SSAValue, shape: Sequence[int], sizes: Sequence[int] | None = None) -> SSAValue:
        """Reshape of `x` to `shape`. sizes: the operand of Reshape, by default with -1 for an unknown size."""
        told = [-1 if size == DYNAMIC else size for size in shape] if sizes is None else sizes
        return self.add("Reshape", [x, self.ints(told, "shape")], shape)
