"""Measure what convolutions of u8 into u8 cost in groups of channels and along three axes, and what a gather costs."""

from math import prod
from typing import Any

import numpy as np
import numpy.typing as npt
from onnx import NodeProto, TensorProto, helper

from qdialect.measuring.kernels import Grouped, least_time, session, taken_in_groups
from qdialect.targets.pricing import (
    DEPTHWISE,
    DEPTHWISE_ALIGNED,
    DEPTHWISE_BLOCK_CHANNELS,
    GATHERED,
    GROUPED,
    VOLUME,
    Convolution,
    by_block,
    by_group,
)

Array = npt.NDArray[Any]


GROUPS = [
    Grouped(1, 8, 8, (28, 28), 3, 2),
    Grouped(1, 32, 32, (28, 28), 3, 4),
    Grouped(1, 128, 128, (14, 14), 3, 32),
    Grouped(1, 64, 64, (28, 28), 3, 2),
    Grouped(1, 64, 64, (28, 28), 3, 8),
    Grouped(1, 64, 64, (28, 28), 3, 32),
    Grouped(1, 16, 32, (28, 28), 3, 16),
    Grouped(1, 4, 8, (28, 28), 3, 4),
    Grouped(1, 256, 256, (14, 14), 3, 4),
    Grouped(1, 64, 64, (28, 28), 1, 4),
    Grouped(1, 64, 64, (28, 28), 1, 16),
    Grouped(1, 240, 240, (14, 14), 1, 3),
    Grouped(1, 32, 32, (28, 28), 5, 4),
    Grouped(1, 32, 32, (28, 28), 3, 4, 2),
    Grouped(4, 32, 32, (14, 14), 3, 4),
    Grouped(1, 24, 48, (7, 7), 3, 24),
    Grouped(1, 32, 32, (1024,), 3, 4),
    Grouped(1, 64, 64, (256,), 9, 16),
    Grouped(1, 48, 48, (4, 4), 3, 4),
    Grouped(1, 24, 24, (8, 8), 3, 12),
    Grouped(1, 128, 128, (3,), 9, 4),
    Grouped(1, 64, 64, (4, 4), 1, 4),
    Grouped(1, 512, 512, (7, 7), 3, 32),
]
BLOCKS = [
    Grouped(batch, groups, groups, (size, size), kernel, groups, stride)
    for batch, groups, size, kernel, stride in (
        (1, 8, 28, 3, 1),
        (1, 16, 28, 3, 1),
        (1, 32, 28, 3, 1),
        (1, 64, 28, 3, 1),
        (1, 240, 14, 3, 1),
        (1, 16, 28, 5, 1),
        (1, 32, 56, 3, 2),
        (4, 24, 7, 3, 1),
        (1, 16, 28, 7, 1),
        (1, 24, 4, 3, 1),
        (1, 48, 8, 3, 2),
        (1, 48, 8, 3, 1),
        (1, 256, 7, 3, 1),
        (1, 512, 7, 5, 1),
        (1, 128, 3, 3, 2),
        (1, 8, 6, 5, 1),
        (1, 72, 24, 5, 1),
        (1, 72, 48, 3, 2),
        (1, 120, 12, 5, 1),
        (1, 40, 28, 3, 1),
        (1, 8, 56, 3, 1),
        (1, 200, 7, 3, 1),
        (1, 144, 24, 3, 1),
        (1, 96, 24, 5, 2),
        (1, 480, 6, 3, 1),
    )
] + [Grouped(1, 128, 128, (2,), 15, 128), Grouped(1, 128, 128, (24,), 5, 128)]
MULTIPLE = 16
"""Channels in multiples of which a depthwise kernel of its own takes symmetric weights: read off a sweep."""
RESTS = [Grouped(1, groups, groups, (28, 28), 3, groups) for groups in (2, 3, 4, 12, 15, 17, 20, 30)]
VOLUMES = [
    Grouped(1, 3, 16, (8, 32, 32), 3),
    Grouped(1, 1, 8, (16, 16, 16), 3),
    Grouped(1, 8, 16, (8, 16, 16), 3),
    Grouped(1, 16, 32, (8, 28, 28), 3),
    Grouped(1, 32, 32, (8, 14, 14), 3),
    Grouped(1, 64, 64, (4, 14, 14), 3),
    Grouped(1, 16, 32, (8, 28, 28), 3, 1, 2),
    Grouped(2, 4, 4, (4, 8, 8), 3),
    Grouped(1, 128, 128, (4, 7, 7), 3),
    Grouped(1, 4, 8, (8, 16, 16), 5),
    Grouped(1, 4, 4, (2, 4, 4), 3),
    Grouped(1, 2, 8, (3, 3, 3), 3, 1, 2),
]
GATHERS = [
    Grouped(1, 3, 0, (8, 32, 32), 3),
    Grouped(1, 2, 0, (16, 16, 16), 3),
    Grouped(1, 8, 0, (8, 16, 16), 3),
    Grouped(1, 16, 0, (8, 28, 28), 3),
    Grouped(1, 32, 0, (8, 28, 28), 3),
    Grouped(1, 64, 0, (4, 28, 28), 3),
    Grouped(1, 16, 0, (8, 28, 28), 3, 1, 2),
    Grouped(1, 4, 0, (8, 16, 16), 5),
    Grouped(2, 4, 0, (4, 8, 8), 3),
    Grouped(1, 128, 0, (8, 14, 14), 3),
]


def _gathered(shape: Grouped, runs: int) -> tuple[Convolution, float]:
    """Least nanoseconds to have what is under the kernel along the first axis side by side."""
    node, kernel, names = helper.make_node, shape.kernel, list[str]()
    rows = (shape.sizes[0] - 1) // shape.stride + 1
    pads = np.array([0, kernel // 2, 0, 0, 0] * 2)
    c: dict[str, Array] = {"pads": pads, "zx": np.array(7, np.uint8), "axis": np.array([1])}
    c["step"] = np.array([shape.stride])
    nodes: list[NodeProto] = [node("Pad", ["x", "pads", "zx"], ["p"])]
    for at in range(kernel):
        c |= {f"from{at}": np.array([at]), f"to{at}": np.array([at + (rows - 1) * shape.stride + 1])}
        names.append(f"s{at}")
        nodes.append(node("Slice", ["p", f"from{at}", f"to{at}", "axis", "step"], [names[-1]]))
    nodes.append(node("Concat", names, ["y"], axis=4))
    one = session(nodes, c, TensorProto.UINT8, rank=5)
    x = np.ones((shape.batch, *shape.sizes, shape.inputs), np.uint8)
    pixels = rows * prod(shape.sizes[1:])
    counted = Convolution(shape.inputs, 0, (kernel,), (shape.stride,), pixels, True, shape.batch)
    return counted, least_time(one, x, runs)


def _depthwise(runs: int, least: float) -> dict[str, list[tuple[Convolution, float]]]:
    measured: dict[str, list[tuple[Convolution, float]]] = {DEPTHWISE: [], DEPTHWISE_ALIGNED: []}
    for shape in BLOCKS:
        name = DEPTHWISE if shape.groups % MULTIPLE else DEPTHWISE_ALIGNED
        measured[name].append((by_block(shape.counted), taken_in_groups(shape, runs) - least))
    return measured


def rows(runs: int, least: float) -> dict[str, list[tuple[Convolution, float]]]:
    """By kernel, what is counted of each shape and its nanoseconds without those of a call."""
    return {
        GROUPED: [(by_group(s.counted), taken_in_groups(s, runs) - least) for s in GROUPS],
        **_depthwise(runs, least),
        VOLUME: [(s.counted, taken_in_groups(s, runs) - least) for s in VOLUMES],
        GATHERED: [(s, t - least) for s, t in (_gathered(v, runs) for v in GATHERS)],
    }


def rest(whole: list[float], counted: Any, runs: int, least: float) -> float:
    """Nanoseconds of a kernel element of a channel that is in no whole block, `whole` what the others cost."""
    times: list[float] = []
    for shape in RESTS:
        expected = float(np.dot(whole, counted(by_block(shape.counted))))
        elements = shape.groups % DEPTHWISE_BLOCK_CHANNELS * shape.kernel**2 * shape.counted.pixels
        times.append(max(taken_in_groups(shape, runs) - least - expected, 0.0) / elements)
    return float(np.median(times))
