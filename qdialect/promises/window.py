"""The interface of convolutions: a window slides over the spatial axes and sums products with a weight."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass
from math import prod

from xdsl.ir import Attribute

from qdialect.dialects.onnx_attributes import int_attr, ints_attr
from qdialect.dialects.onnx_base import OnnxOp
from qdialect.dialects.onnx_types import DYNAMIC, shape_of
from qdialect.ir.values import static_shape
from qdialect.promises.base import Promise
from qdialect.reasons import Blocked

MAX_WINDOW_ATTRIBUTE = 1 << 12
"""Greatest stride, dilation or pad that rewrites consider."""
MIN_WINDOW_ATTRIBUTES = {"strides": 1, "dilations": 1, "pads": 0, "output_padding": 0}
"""The smallest value of each attribute of a window."""

UNKNOWN_WEIGHT = Blocked("invalid-op", "the weight's shape is not known, or it has no spatial axis")
IRREGULAR = Blocked(
    "invalid-op", "an attribute of the window is out of range, or of another rank than the weight"
)
OTHER_RANK = Blocked("invalid-op", "the operand or the result is not of the weight's rank")
OTHER_SHAPE = Blocked("invalid-op", "the stated shape of the result is not the one that the op computes")
UNRESOLVED_PADS = Blocked(
    "unknown-shape", "auto_pad computes the pads from an unknown size", "give the model static sizes"
)


def halved(total: int, mode: str) -> tuple[int, int]:
    """
    Zeros before and behind an axis that auto_pad, or `output_shape`, asks for: alike, an odd one behind for SAME_UPPER,
    before in any other mode: ONNX's operators.md, "Conv", "ConvTranspose" and pools.
    """
    less, more = total // 2, total - total // 2
    return (less, more) if mode == "SAME_UPPER" else (more, less)


@dataclass(frozen=True)
class WindowAttributes:
    """The attributes of a convolution that say where its windows lie, an entry for each spatial axis."""

    kernel: tuple[int, ...]
    strides: tuple[int, ...]
    dilations: tuple[int, ...]
    pads: tuple[int, ...]
    """Zeros as stated: before each axis, then behind each."""
    auto_pad: str = "NOTSET"
    output_padding: tuple[int, ...] = ()
    """Of an op that spreads, results that are added behind each axis."""
    output_shape: tuple[int, ...] | None = None
    """Of an op that spreads, the result's sizes, from which the pads follow."""

    def resolved_pads(
        self, sizes: Sequence[int] | None, *, spreads: bool
    ) -> tuple[tuple[int, int], ...] | None:
        """
        Zeros before and after each axis of an image of `sizes`, auto_pad and `output_shape` resolved: ONNX's
        operators.md, "Conv" and "ConvTranspose". SAME makes ceil(size / stride) results, and size * stride where the
        op spreads, whatever the size is.

        None if they follow from an unknown size, or if an op that spreads has fewer results without pads.
        """
        count, same = len(self.kernel), self.auto_pad.startswith("SAME")
        by_result = spreads and (same or self.output_shape is not None)
        if not by_result and self.auto_pad == "VALID":
            return ((0, 0),) * count
        if not by_result and not same:
            return tuple(zip(self.pads[:count], self.pads[count:], strict=True))
        if by_result and self.output_shape is None:
            sizes = (1,) * count
        if sizes is None or len(sizes) != count or DYNAMIC in sizes:
            return None
        reach = [(k - 1) * d + 1 for k, d in zip(self.kernel, self.dilations, strict=True)]
        if not by_result:
            rows = zip(sizes, self.strides, reach, strict=True)
            totals = [max((-(-size // stride) - 1) * stride + far - size, 0) for size, stride, far in rows]
            return tuple(halved(total, self.auto_pad) for total in totals)
        results, added = self.output_shape or self.strides, self.output_padding or (0,) * count
        if not len(results) == len(added) == count:
            return None
        rows = zip(sizes, self.strides, added, reach, results, strict=True)
        totals = [(size - 1) * stride + add + far - result for size, stride, add, far, result in rows]
        return None if min(totals) < 0 else tuple(halved(total, self.auto_pad) for total in totals)


@dataclass(frozen=True)
class Geometry:
    """The sizes of a convolution, one value for each spatial axis; DYNAMIC where a size is not known."""

    images: int
    """Batch size."""
    inputs: int
    """Channels per group of the operand, and `outputs` of the result."""
    outputs: int
    groups: int
    kernel: tuple[int, ...]
    strides: tuple[int, ...]
    dilations: tuple[int, ...]
    pads: tuple[tuple[int, int], ...] | None
    """Zeros before and after each axis, auto_pad resolved; None if that needs an unknown size."""
    sizes: tuple[int, ...]
    """Spatial sizes of the operand, and `results` of the result."""
    results: tuple[int, ...]
    states_channels: bool = True
    """True if the types of the operand and the result state these channels."""

    @property
    def axes(self) -> int:
        """Number of spatial axes."""
        return len(self.kernel)

    @property
    def is_pointwise(self) -> bool:
        """True for a 1x1 kernel with stride 1 and no pads: each result pixel depends on one pixel."""
        return prod(self.kernel) == prod(self.strides) == 1 and not self.has_pads

    @property
    def has_pads(self) -> bool:
        """True if the operand may be padded."""
        return self.pads is None or any(map(any, self.pads))

    @property
    def makes_its_results(self) -> bool:
        """True if the known sizes of the result's type are those that a gathering op computes."""
        if self.pads is None:
            return True
        rows = zip(
            self.sizes, self.results, self.kernel, self.strides, self.dilations, self.pads, strict=True
        )
        return all(
            DYNAMIC in (size, result) or result == (size + sum(pads) - (k - 1) * dilation - 1) // stride + 1
            for size, result, k, stride, dilation, pads in rows
        )

    def sees_one_pixel(self, axis: int) -> bool:
        """True if along `axis` the kernel and the stride are 1 and there is no padding."""
        return (
            self.kernel[axis] == self.strides[axis] == 1
            and self.pads is not None
            and not any(self.pads[axis])
        )


def window_attributes(op: OnnxOp, geometry: Geometry) -> dict[str, Attribute]:
    """The attributes of a convolution of `geometry`; auto_pad is kept if the pads are unknown."""
    attributes: dict[str, Attribute] = {"kernel_shape": ints_attr(geometry.kernel)}
    if geometry.groups > 1:
        attributes["group"] = int_attr(geometry.groups)
    for name, values in (("strides", geometry.strides), ("dilations", geometry.dilations)):
        if any(value != 1 for value in values):
            attributes[name] = ints_attr(values)
    if geometry.pads is None:
        attributes["auto_pad"] = op.onnx_attributes["auto_pad"]
    elif geometry.has_pads:
        attributes["pads"] = ints_attr((*(p[0] for p in geometry.pads), *(p[1] for p in geometry.pads)))
    return attributes


@dataclass(frozen=True)
class Window(Promise):
    """
    The op slides a window over operand 0, (N, C, sizes), and sums products with its weight, operand 1.

    A gathering op's weight is (outputs, inputs of a group, kernel); that of an op which spreads each input over a
    window of outputs is (inputs, outputs of a group, kernel).
    """

    gathering: str | None = None
    """Name of the gathering op for a spreading op; None for a gathering op."""

    @property
    def gathers(self) -> bool:
        """True if each result sums the pixels under a window; False if each pixel is spread over a window."""
        return self.gathering is None

    def kernel(self, op: OnnxOp) -> tuple[int, ...]:
        """Size of the window along each spatial axis; empty if the weight's shape is unknown."""
        return (static_shape(op.operands[1]) or ())[2:]

    def strides(self, op: OnnxOp) -> tuple[int, ...]:
        """Stride along each spatial axis."""
        return op.ints_attr("strides") or (1,) * len(self.kernel(op))

    def dilations(self, op: OnnxOp) -> tuple[int, ...]:
        """Dilation along each spatial axis."""
        return op.ints_attr("dilations") or (1,) * len(self.kernel(op))

    def groups(self, op: OnnxOp) -> int:
        """Number of groups of channels."""
        return op.int_attr("group", 1)

    def is_regular(self, op: OnnxOp) -> bool:
        """True if the attributes match the weight's rank and are in range, which a model need not ensure."""
        kernel, weight = self.kernel(op), static_shape(op.operands[1])
        if weight is None or not kernel or min(weight) < 1:
            return False
        for name, least in MIN_WINDOW_ATTRIBUTES.items():
            stated = op.ints_attr(name)
            count = len(kernel) * (2 if name == "pads" else 1)
            if stated is not None and not (
                len(stated) == count and least <= min(stated) <= max(stated) <= MAX_WINDOW_ATTRIBUTE
            ):
                return False
        groups = self.groups(op)
        return op.ints_attr("kernel_shape") in (None, kernel) and groups > 0 and weight[0] % groups == 0

    def attributes(self, op: OnnxOp) -> WindowAttributes:
        """The attributes of `op` that say where its windows lie."""
        kernel = self.kernel(op)
        return WindowAttributes(
            kernel,
            self.strides(op),
            self.dilations(op),
            op.ints_attr("pads") or (0,) * (2 * len(kernel)),
            op.str_attr("auto_pad", "NOTSET"),
            op.ints_attr("output_padding") or (0,) * len(kernel),
            op.ints_attr("output_shape"),
        )

    def pads(self, op: OnnxOp) -> tuple[tuple[int, int], ...] | None:
        """Zeros before and after each axis; None as `WindowAttributes.resolved_pads`."""
        shape = shape_of(op.operands[0].type)
        return self.attributes(op).resolved_pads(shape and shape[2:], spreads=not self.gathers)

    def geometry(self, op: OnnxOp) -> Geometry | Blocked:
        """All sizes of `op`, DYNAMIC for tensors of unknown rank; `Blocked` for irregular attributes."""
        weight = static_shape(op.operands[1])
        if weight is None or len(weight) < 3:
            return UNKNOWN_WEIGHT
        if not self.is_regular(op):
            return IRREGULAR
        unknown = (DYNAMIC,) * len(weight)
        x, y = (shape_of(v.type) or unknown for v in (op.operands[0], op.results[0]))
        if not len(x) == len(y) == len(weight):
            return OTHER_RANK
        groups, first, second, pads = self.groups(op), weight[0], weight[1], self.pads(op)
        inputs, outputs = (second, first // groups) if self.gathering is None else (first // groups, second)
        geometry = Geometry(
            x[0],
            inputs,
            outputs,
            groups,
            weight[2:],
            self.strides(op),
            self.dilations(op),
            pads,
            x[2:],
            y[2:],
            (x[1], y[1]) == (inputs * groups, outputs * groups),
        )
        return geometry if self.gathering is not None or geometry.makes_its_results else OTHER_SHAPE


WINDOWS: dict[tuple[str, str], Window] = {
    ("", "Conv"): Window(),
    ("", "ConvInteger"): Window(),
    ("", "ConvTranspose"): Window("Conv"),
}
