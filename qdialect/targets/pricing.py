"""
What a kernel is expected to cost on a target, from what was measured there (`targets/costs/`).

The model is linear in `TERMS`; `benchmarks/fit_costs.py` measures and fits the nanoseconds of each.
"""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from math import prod
from typing import TYPE_CHECKING, NamedTuple

if TYPE_CHECKING:  # the command line is read with targets alone
    from qdialect.promises.kernels import Rows

Costs = Mapping[str, Mapping[str, float]]

FLOAT, PACKED, SUM, PRODUCT = "Conv", "ConvPacked", "ConvInteger", "MatMulIntegerToFloat"
"""The kernels of a float result: a float convolution whose weight is dequantized in each run, or is a float constant,
and two of integers."""

SIGNED, QUANTIZE = "ConvIntegerSigned", "QuantizeLinear"
"""ConvInteger of i8 activations and u8 weights, and what it takes to have them: one more quantize."""

IMAGE = 4
"""Axes of a weight that is packed as a float constant: channels in blocks are a matter of images."""
FEW_WEIGHTS = 4096
"""Elements of a weight that may be a float constant, and so 12 KiB larger in the file."""
QUANTIZED, POINTWISE, ALIGNED = "QLinearConv", "QLinearConvPointwise", "QLinearConvAligned"
"""The kernels of a quantized result: QLinearConv has one for windows of one pixel, and one for symmetric weights."""

GROUPED, DEPTHWISE, VOLUME, GATHERED = (
    "QLinearConvGrouped",
    "QLinearConvDepthwise",
    "QLinearConvVolume",
    "Columns",
)
"""QLinearConv of groups of channels, each counted as an image, of one channel for each output, and of three axes; and
what it takes to have the elements of a kernel along one axis side by side as channels of bytes."""
BLOCK = 8
"""Channels that the kernel for one channel for each output takes together; what is left over it takes one by one."""

SPREADING = "ConvTranspose"
"""A transposed convolution in float; with it, what a quantize (`quantize`) and a move of a byte (`move_byte`) and of a
float (`move_float`) take for each value written."""

TERMS = ("product", "gathered", "tap", "strided", "read", "written", "pixel", "image", "node", "call")
"""Nanoseconds for a product, for a value and for a kernel element that are gathered, for the latter once more where
the window does not move by one, for a value that is read or written, for an output pixel, for an image, for a node that
gathers, and for a call."""


LIKE = {
    GATHERED: PRODUCT,
    "QGemm": POINTWISE,
    "QGemmFloat": PRODUCT,
    "DynamicQuantizeMatMul": PRODUCT,
    "QLinearSoftmax": QUANTIZED,
    "QLinearAveragePool": QUANTIZED,
}
"""Kernels that are not measured on another machine, and one that does the same work: all others do that of FLOAT."""
COUNTS = ("inputs_multiple", "outputs_multiple", "least_outputs", "least", "rows")
"""What costs have that is no time."""

WORTH = 0.85
"""The part of the time that another form may take at most: the fitted costs are not more exact than that."""


class Convolution(NamedTuple):
    """What decides how long a convolution takes."""

    inputs: int
    outputs: int
    kernel: tuple[int, ...]
    strides: tuple[int, ...]
    pixels: int
    """Output pixels of an image."""
    symmetric: bool
    """Whether every zero point of the weight is 0."""
    images: int = 1
    groups: int = 1
    """Groups of channels, each of `inputs` and `outputs` of its own."""

    @property
    def is_depthwise(self) -> bool:
        """Whether each output channel is made from one input channel of its own."""
        return self.groups > 1 and self.inputs == self.outputs == 1

    @property
    def is_pointwise(self) -> bool:
        """Whether each output pixel is made from one input pixel, and from each one."""
        return prod(self.kernel) == 1 and prod(self.strides) == 1


def counts(shape: Convolution) -> list[float]:
    """What there is of each of `TERMS`."""
    taps = prod(shape.kernel)
    gathered = 0 if shape.is_pointwise else taps
    pixel = [
        shape.inputs * shape.outputs * taps,
        shape.inputs * gathered,
        gathered,
        0 if prod(shape.strides) == 1 else gathered,
        shape.inputs * prod(shape.strides),
        shape.outputs,
        1,
    ]
    nodes = 0 if shape.is_pointwise else sum(shape.kernel)
    return [*(shape.images * shape.pixels * count for count in pixel), shape.images, nodes, 1]


def cost(costs: Costs, kernel: str, shape: Convolution) -> float:
    """Nanoseconds that `kernel` takes."""
    entry = costs[kernel]
    return sum(entry[term] * count for term, count in zip(TERMS, counts(shape), strict=True))


def scaled(costs: Costs, factors: Mapping[str, float]) -> dict[str, dict[str, float]]:
    """The costs on another machine: each kernel's times by its factor, or by that of a kernel that is like it."""
    prices: dict[str, dict[str, float]] = {}
    for name, terms in costs.items():
        factor = factors.get(name, factors.get(LIKE.get(name, FLOAT), 1.0))
        prices[name] = {term: value * (1.0 if term in COUNTS else factor) for term, value in terms.items()}
    return prices


def cheapest(costs: Costs, kernels: Sequence[str], shape: Convolution) -> tuple[str, float]:
    """The kernel of several that takes the least time, and its nanoseconds; the first if they are equal."""
    return min(((name, cost(costs, name, shape)) for name in kernels), key=lambda priced: priced[1])


def row_cost(costs: Costs, kernel: str, rows: Rows) -> float:
    """Nanoseconds that `kernel` takes for so many rows of so many elements, what it needs around it included."""
    return sum(costs[kernel][term] * count for term, count in row_terms(rows).items())


def row_terms(rows: Rows) -> dict[str, int]:
    """What a kernel of rows is priced by: elements under windows, elements of the operand, rows, calls."""
    return {"element": rows.number * rows.size, "read": rows.operand, "row": rows.number, "call": 1}


def float_kernels(weight: tuple[int, ...]) -> tuple[str, ...]:
    """The kernels of a float result for a weight of that shape."""
    packed = len(weight) == IMAGE and prod(weight) <= FEW_WEIGHTS
    return (FLOAT, PACKED, SUM, PRODUCT) if packed else (FLOAT, SUM, PRODUCT)


def quantized_kernel(costs: Costs, shape: Convolution) -> str:
    """Which of its kernels QLinearConv takes for u8 activations and i8 weights, channels last."""
    need = costs[ALIGNED]
    if len(shape.kernel) > 2 and not shape.is_pointwise:
        return VOLUME
    if shape.groups > 1:
        return DEPTHWISE if shape.is_depthwise else GROUPED
    if (
        shape.symmetric
        and shape.outputs >= need["least_outputs"]
        and shape.inputs % need["inputs_multiple"] == 0
        and shape.outputs % need["outputs_multiple"] == 0
    ):
        return ALIGNED
    return POINTWISE if shape.is_pointwise else QUANTIZED


def quantized_cost(costs: Costs, shape: Convolution) -> float:
    """Nanoseconds that QLinearConv takes for u8 activations and i8 weights, channels last, in one or more groups."""
    name = quantized_kernel(costs, shape)
    if shape.is_depthwise and name == VOLUME:
        return cost(costs, name, shape._replace(outputs=shape.groups, groups=1))
    if name == DEPTHWISE:
        rest = shape.groups % BLOCK * prod(shape.kernel) * shape.pixels * shape.images
        return cost(costs, name, by_block(shape)) + rest * costs[name]["rest"]
    return cost(costs, name, by_group(shape))


def joined_cost(costs: Costs, shape: Convolution) -> float:
    """
    Nanoseconds that a convolution along three axes takes as one along two: along the first and the others as one where
    the kernel sees one pixel of these, else along the last two, what is under the kernel along the first side by side.
    """
    depth, *kernel = shape.kernel
    if prod((*kernel, *shape.strides[1:])) == 1:
        return quantized_cost(costs, shape._replace(kernel=(depth, 1), strides=(shape.strides[0], 1)))
    flat = shape._replace(inputs=shape.inputs * depth, kernel=(*kernel,), strides=shape.strides[1:])
    if depth == 1:
        return quantized_cost(costs, flat)
    pixels = shape.pixels * prod(shape.strides[1:])
    columns = Convolution(
        shape.inputs * shape.groups, 0, (depth,), shape.strides[:1], pixels, True, shape.images
    )
    return quantized_cost(costs, flat) + cost(costs, GATHERED, columns)


def best_cost(costs: Costs, shape: Convolution) -> float:
    """Nanoseconds that QLinearConv takes, along two axes where it can be written so."""
    plain = quantized_cost(costs, shape)
    if len(shape.kernel) != 3 or (shape.groups > 1 and shape.kernel[0] > 1):
        return plain
    return min(plain, joined_cost(costs, shape))


def by_group(shape: Convolution) -> Convolution:
    """Each group of an image counted as an image of its own."""
    return shape._replace(images=shape.images * shape.groups, groups=1)


def by_block(shape: Convolution) -> Convolution:
    """A convolution of one channel for each output, counted as one from the first of them to all whole blocks."""
    return shape._replace(outputs=shape.groups - shape.groups % BLOCK, groups=1)


def least_cost(costs: Costs, kernels: Sequence[str], shape: Convolution) -> float:
    """A bound from below for what the same products take in any of several kernels, however they are arranged."""
    product, written = (min(costs[name][term] for name in kernels) for term in ("product", "written"))
    return (
        (product * shape.inputs * prod(shape.kernel) + written) * shape.outputs * shape.pixels * shape.images
    )
