"""
Cost model of kernels, in nanoseconds, fitted to measurements on a target (`targets/costs/`).

The model is linear in `TERMS`; `benchmarks/fit_costs.py` measures and fits the nanoseconds of each.
"""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from math import prod
from typing import TYPE_CHECKING, NamedTuple

if TYPE_CHECKING:  # parsing the command line imports targets alone
    from qdialect.promises.kernels import Rows
    from qdialect.promises.window import Geometry

Costs = Mapping[str, Mapping[str, float]]

FLOAT, PACKED, SUM, PRODUCT = "Conv", "ConvPacked", "ConvInteger", "MatMulIntegerToFloat"
"""Kernels with a float result: the float convolution, its weight dequantized in each run (`FLOAT`) or a float constant
that is packed once (`PACKED`); the integer sum (`SUM`) and the integer matrix product (`PRODUCT`)."""

BLOCKED = "ConvBlocked"
"""The float convolution of images between two others: nothing is reordered."""

SIGNED, QUANTIZE = "ConvIntegerSigned", "QuantizeLinear"
"""ConvInteger of i8 activations and u8 weights, and its additional quantize."""

SIGNED_PRODUCT = "MatMulIntegerSigned"
"""What MatMulInteger of i8 activations takes longer than that of u8."""

IMAGE_RANK = 4
"""Rank of weights that are packed as float constants: blocked channels are for images only."""
MAX_FLOAT_WEIGHT_ELEMENTS = 4096
"""Greatest number of elements of a weight stored as float constant, 12 KiB larger in the file."""
QUANTIZED, POINTWISE, ALIGNED = "QLinearConv", "QLinearConvPointwise", "QLinearConvAligned"
"""Kernels of QLinearConv: general, for 1x1 windows, and for symmetric weights."""

GROUPED, DEPTHWISE, DEPTHWISE_ALIGNED, VOLUME, GATHERED = (
    "QLinearConvGrouped",
    "QLinearConvDepthwise",
    "QLinearConvDepthwiseAligned",
    "QLinearConvVolume",
    "Columns",
)
"""QLinearConv with groups, each priced as an image; depthwise, in general and for symmetric weights whose channels come
in whole blocks; along three axes. Last, gathering a kernel's elements along one axis as channels of bytes (im2col)."""
DEPTHWISE_BLOCK_CHANNELS = 8
"""Channels that the general depthwise kernel processes together; a remainder is processed one by one."""

SPREADING = "ConvTranspose"
"""A transposed convolution in float; its costs include those of a quantize (`quantize`) and of moving a byte
(`move_byte`) and a float (`move_float`), for each value written."""

TERMS = ("product", "gathered", "tap", "strided", "read", "written", "pixel", "image", "node", "call")
"""Terms of a cost, in nanoseconds each: a product, a gathered value, a gathered kernel element, the same at strides
other than 1, a value read, a value written, an output pixel, an image, a gathering node, a call."""


LIKE = {
    GATHERED: PRODUCT,
    "QGemm": POINTWISE,
    "QGemmFloat": PRODUCT,
    "DynamicQuantizeMatMul": PRODUCT,
    "QLinearSoftmax": QUANTIZED,
    "QLinearAveragePool": QUANTIZED,
    BLOCKED: PACKED,
    DEPTHWISE_ALIGNED: DEPTHWISE,
}
"""Kernel not measured on other machines -> measured kernel with similar work; for all others that is FLOAT."""
COUNTS = ("inputs_multiple", "outputs_multiple", "least_outputs", "least", "rows", "cache")
"""Keys of cost tables that are no times."""

MAX_TIME_RATIO = 0.85
"""Greatest fraction of the time at which another form pays, given the accuracy of the fitted costs."""

SOME_SIZE = 14
"""Size assumed for an unknown spatial axis."""
SOME_IMAGES = 4
"""Size assumed for an unknown batch: a model with an open batch is sometimes run with more than one image."""


class Convolution(NamedTuple):
    """The properties of a convolution that determine its cost."""

    inputs: int
    outputs: int
    kernel: tuple[int, ...]
    strides: tuple[int, ...]
    pixels: int
    """Output pixels per image."""
    symmetric: bool
    """True if every zero point of the weight is 0."""
    images: int = 1
    groups: int = 1
    """Number of groups, each with `inputs` and `outputs` channels."""

    @property
    def is_depthwise(self) -> bool:
        """True if each group has one input and one output channel."""
        return self.groups > 1 and self.inputs == self.outputs == 1

    @property
    def is_pointwise(self) -> bool:
        """True for a 1x1 kernel with stride 1."""
        return prod(self.kernel) == 1 and prod(self.strides) == 1


def priced(geometry: Geometry, images: int | None = None, *, symmetric: bool = False) -> Convolution:
    """
    The sizes that determine the cost of a convolution, assumed where unknown (negative). images: the batch to price, by
    default that of `geometry`.
    """
    if images is None:
        images = SOME_IMAGES if geometry.images < 0 else geometry.images
    pixels = prod(SOME_SIZE if size < 0 else size for size in geometry.results)
    g = geometry
    return Convolution(g.inputs, g.outputs, g.kernel, g.strides, pixels, symmetric, images, g.groups)


def counts(shape: Convolution) -> list[float]:
    """Number of occurrences of each of `TERMS`."""
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
    """Nanoseconds of a convolution by `kernel`."""
    entry = costs[kernel]
    return sum(entry[term] * count for term, count in zip(TERMS, counts(shape), strict=True))


def signed_sum_cost(costs: Costs, shape: Convolution) -> float:
    """Nanoseconds of an integer sum of i8 activations, including the additional quantize to i8."""
    read = shape.images * shape.pixels * shape.inputs * prod(shape.strides)
    return cost(costs, SIGNED, shape) + read * costs[QUANTIZE]["read"] + costs[QUANTIZE]["call"]


def float_cost(costs: Costs, shape: Convolution) -> float:
    """
    Nanoseconds of a float convolution, not depthwise on images. Images are in blocks of channels, and results padded to
    whole ones; along three axes, and in groups along one, the kernel gathers its elements first.
    """
    is_image = len(shape.kernel) == IMAGE_RANK - 2
    gathers = shape.groups > 1 if len(shape.kernel) < IMAGE_RANK - 2 else not shape.is_pointwise
    if gathers and not is_image:
        return cost(costs, FLOAT, by_group(shape))
    if shape.groups > 1:
        return cost(costs, PACKED, by_group(shape))
    if not is_image:
        return cost(costs, PACKED, shape)
    if BLOCKED in costs and (shape.inputs >= costs[BLOCKED]["outputs_multiple"] or not shape.is_pointwise):
        return _blocked_cost(costs[BLOCKED], shape)
    return cost(costs, PACKED, _in_blocks(shape, int(costs[PACKED].get("outputs_multiple", 1))))


def _in_blocks(shape: Convolution, block: int) -> Convolution:
    return shape._replace(outputs=-(-shape.outputs // block) * block)


def _blocked_cost(terms: Mapping[str, float], shape: Convolution) -> float:
    """
    Nanoseconds of a float convolution between others: nothing is reordered, and channels are in whole blocks. Fewer
    input channels than a block are read as they are.
    """
    block = int(terms["outputs_multiple"])
    is_narrow = shape.inputs < block
    outputs, whole = (-(-channels // block) * block for channels in (shape.outputs, shape.inputs))
    inputs, values = shape.inputs if is_narrow else whole, shape.images * shape.pixels * outputs
    each = terms["product"] + (
        terms["narrow"] if is_narrow else terms["one_block"] if outputs == block else 0.0
    )
    return terms["call"] + values * (terms["written"] + inputs * prod(shape.kernel) * each)


def scaled(costs: Costs, factors: Mapping[str, float]) -> dict[str, dict[str, float]]:
    """The costs on another machine: each kernel's times multiplied by its own factor, or by that of `LIKE`."""
    prices: dict[str, dict[str, float]] = {}
    for name, terms in costs.items():
        factor = factors.get(name, factors.get(LIKE.get(name, FLOAT), 1.0))
        prices[name] = {term: value * (1.0 if term in COUNTS else factor) for term, value in terms.items()}
    return prices


def cheapest(costs: Costs, kernels: Sequence[str], shape: Convolution) -> tuple[str, float]:
    """The fastest of several kernels, the first in a tie, and its nanoseconds."""
    return min(((name, cost(costs, name, shape)) for name in kernels), key=lambda priced: priced[1])


def row_cost(costs: Costs, kernel: str, rows: Rows) -> float:
    """Nanoseconds of `kernel` on rows of elements, its surrounding ops included."""
    return sum(costs[kernel][term] * count for term, count in row_terms(rows).items())


def row_terms(rows: Rows) -> dict[str, int]:
    """Terms of the cost of a kernel on rows: elements under windows, elements of the operand, rows, calls."""
    return {"element": rows.number * rows.size, "read": rows.operand, "row": rows.number, "call": 1}


def float_kernels(weight: tuple[int, ...]) -> tuple[str, ...]:
    """The kernels with a float result for a weight of that shape."""
    packed = len(weight) == IMAGE_RANK and prod(weight) <= MAX_FLOAT_WEIGHT_ELEMENTS
    return (FLOAT, PACKED, SUM, PRODUCT) if packed else (FLOAT, SUM, PRODUCT)


def quantized_kernel(costs: Costs, shape: Convolution) -> str:
    """The kernel that QLinearConv selects for u8 activations and i8 weights, channels last."""
    need = costs[ALIGNED]
    if len(shape.kernel) > 2 and not shape.is_pointwise:
        return VOLUME
    if shape.is_depthwise:
        whole = shape.symmetric and shape.groups % costs[DEPTHWISE_ALIGNED]["outputs_multiple"] == 0
        return DEPTHWISE_ALIGNED if whole else DEPTHWISE
    if shape.groups > 1:
        return GROUPED
    if (
        shape.symmetric
        and shape.outputs >= need["least_outputs"]
        and shape.inputs % need["inputs_multiple"] == 0
        and shape.outputs % need["outputs_multiple"] == 0
    ):
        return ALIGNED
    return POINTWISE if shape.is_pointwise else QUANTIZED


def quantized_cost(costs: Costs, shape: Convolution) -> float:
    """Nanoseconds of QLinearConv for u8 activations and i8 weights, channels last, in one or more groups."""
    name = quantized_kernel(costs, shape)
    if shape.is_depthwise and name == VOLUME:
        return cost(costs, name, shape._replace(outputs=shape.groups, groups=1))
    if name == DEPTHWISE_ALIGNED:
        return cost(costs, name, by_block(shape))
    if name == DEPTHWISE:
        remainder = shape.groups % DEPTHWISE_BLOCK_CHANNELS * prod(shape.kernel) * shape.pixels * shape.images
        return cost(costs, name, by_block(shape)) + remainder * costs[name]["rest"]
    return cost(costs, name, by_group(shape))


def joined_cost(costs: Costs, shape: Convolution) -> float:
    """
    Nanoseconds of a convolution along three axes as one along two: along the first and the other two joined, if the
    kernel has size 1 along these, else along the last two, with the elements under the kernel along the first gathered.
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
    """Nanoseconds of QLinearConv, along two axes if it can be written so."""
    plain = quantized_cost(costs, shape)
    if len(shape.kernel) != 3 or (shape.groups > 1 and shape.kernel[0] > 1):
        return plain
    return min(plain, joined_cost(costs, shape))


def by_group(shape: Convolution) -> Convolution:
    """A grouped convolution with each group counted as an image of its own."""
    return shape._replace(images=shape.images * shape.groups, groups=1)


def by_block(shape: Convolution) -> Convolution:
    """A depthwise convolution, counted as a dense one from one channel to as many as the whole blocks have."""
    return shape._replace(outputs=shape.groups - shape.groups % DEPTHWISE_BLOCK_CHANNELS, groups=1)


def least_cost(costs: Costs, kernels: Sequence[str], shape: Convolution) -> float:
    """Lower bound of the nanoseconds of the same products in any of several kernels and arrangements."""
    product, written = (min(costs[name][term] for name in kernels) for term in ("product", "written"))
    return (
        (product * shape.inputs * prod(shape.kernel) + written) * shape.outputs * shape.pixels * shape.images
    )
