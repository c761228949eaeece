"""What the forms of a convolution share: what is searched over, and what a form does to operand, weight and result."""

from __future__ import annotations

from abc import ABC, abstractmethod
from collections.abc import Sequence
from dataclasses import dataclass, replace
from math import prod
from typing import Any

import numpy.typing as npt
from xdsl.ir import SSAValue

from qdialect.dialects.onnx_types import DYNAMIC, known_shape
from qdialect.forms.nodes import Nodes
from qdialect.promises.window import Geometry
from qdialect.reasons import Blocked
from qdialect.targets.pricing import WORTH, Convolution

MOVES = 1500
"""Nanoseconds that Transposes and Reshapes in front of a convolution may take, and as many behind it."""
SOME_SIZE = 14
"""Pixels along an axis of an image whose size is not known."""
SOME_IMAGES = 4
"""A batch whose size is not known: few, but a file that leaves it open means more than one at times."""
SLICES = 11
"""The first opset in which Slice and Pad take bytes and their bounds as operands."""
TO_THE_END = 2**63 - 1

UNKNOWN_CHANNELS = Blocked(
    "unknown-channels", "the number of channels of the operand or the result is not known"
)


def most(now: float, saves: float) -> float:
    """The nanoseconds below which another form pays for one that takes `now`."""
    return min(WORTH * now, now - saves)


@dataclass(frozen=True)
class Spec:
    """A gathering convolution of u8 activations and i8 weights, as far as its form and its cost depend on it."""

    geometry: Geometry
    images: int
    """The batch that is priced: a form must pay for one image alone if their number is not known."""
    symmetric: bool
    """Whether every zero point of the weight is 0."""
    is_float: bool
    """Whether the result is float."""
    opset: int

    @property
    def priced(self) -> Convolution:
        """What the cost depends on; sizes that are not known are assumed."""
        return priced(self.geometry, self.images, symmetric=self.symmetric)

    def of(self, geometry: Geometry, images: int | None = None) -> Spec:
        """This convolution with another geometry, and with `images` in a batch if given; types stay."""
        return replace(self, geometry=geometry, images=self.images if images is None else images)


def priced(geometry: Geometry, images: int | None = None, *, symmetric: bool = False) -> Convolution:
    """What the cost of a convolution depends on; `images` are assumed if the batch is not known."""
    if images is None:
        images = SOME_IMAGES if geometry.images == DYNAMIC else geometry.images
    pixels = prod(SOME_SIZE if size == DYNAMIC else size for size in geometry.results)
    g = geometry
    return Convolution(g.inputs, g.outputs, g.kernel, g.strides, pixels, symmetric, images, g.groups)


@dataclass(frozen=True)
class Step(ABC):
    """
    One form of a convolution: conv(x, w, b) -> result(conv(operand(x), weight(w), b repeated `copies` times)).

    Exact on integers: every product stays, and what is added has the weight's zero point as its factor.
    """

    after: Spec
    """The convolution that is left."""
    cost: float = 0.0
    """Nanoseconds that moving values takes besides."""
    moves: float = 0.0
    """Nanoseconds besides, unless the convolution that is left stands between Transposes anyway."""
    saves: float = 0.0
    """Nanoseconds that it must save at least, for what the fitted costs leave out."""
    copies: int = 1
    """How many outputs are made from each output channel; the copies of all channels stand together."""
    size: tuple[int, ...] = ()
    """What tells it from other steps of the same form."""
    blocked: Blocked | None = None
    """Why the step cannot be taken although the sizes allow it."""

    @abstractmethod
    def weight(self, weight: npt.NDArray[Any], zeros: npt.NDArray[Any]) -> npt.NDArray[Any]:
        """The weight of the convolution that is left; `zeros`: (outputs,), each output's zero point."""

    def operand(self, nodes: ImageNodes, x: SSAValue) -> SSAValue:
        """The operand of the convolution that is left."""
        return x

    def result(self, nodes: ImageNodes, y: SSAValue) -> SSAValue:
        """The result of the convolution from that of the one which is left."""
        return y


class ImageNodes(Nodes):
    """New operations around a convolution, whose operand has (N, C, sizes)."""

    def channels_last(self, x: SSAValue) -> SSAValue:
        """(N, C, sizes) as (N, sizes, C)."""
        rank = len(known_shape(x.type))
        return self.transpose(x, [0, *range(2, rank), 1])

    def channels_first(self, x: SSAValue) -> SSAValue:
        """(N, sizes, C) as (N, C, sizes)."""
        rank = len(known_shape(x.type))
        return self.transpose(x, [0, rank - 1, *range(1, rank - 1)])

    def reshaped(self, x: SSAValue, shape: Sequence[int], sizes: Sequence[int] | None = None) -> SSAValue:
        """`x` in that shape; `sizes` is what Reshape is told, by default -1 for the one size that is not known."""
        told = [-1 if size == DYNAMIC else size for size in shape] if sizes is None else sizes
        return self.add("Reshape", [x, self.ints(told, "shape")], shape)
