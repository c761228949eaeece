"""Measure what convolutions of u8 into u8 cost in groups of channels and along three axes, and what a gather costs."""

import time
from math import prod
from typing import Any, NamedTuple

import numpy as np
import numpy.typing as npt
from onnx import NodeProto, TensorProto, helper

from costs.elements import session
from qdialect.targets.pricing import (
    BLOCK,
    DEPTHWISE,
    GATHERED,
    GROUPED,
    VOLUME,
    Convolution,
    by_block,
    by_group,
)

Array = npt.NDArray[Any]


class Grouped(NamedTuple):
    """A convolution: batch, channels in and out, input sizes, kernel size, groups, stride."""

    batch: int
    inputs: int
    outputs: int
    sizes: tuple[int, ...]
    kernel: int
    groups: int = 1
    stride: int = 1

    @property
    def counted(self) -> Convolution:
        """What the costs are fitted to, in all its groups."""
        pixels = prod((size - 1) // self.stride + 1 for size in self.sizes)
        rank = len(self.sizes)
        return Convolution(
            self.inputs // self.groups,
            self.outputs // self.groups,
            (self.kernel,) * rank,
            (self.stride,) * rank,
            pixels,
            True,
            self.batch,
            self.groups,
        )


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
    )
] + [Grouped(1, 128, 128, (2,), 15, 128), Grouped(1, 128, 128, (24,), 5, 128)]
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


def _least(one: Any, x: Array, runs: int) -> float:
    times: list[int] = []
    for _ in range(runs + 2):
        start = time.perf_counter_ns()
        one.run(None, {"x": x})
        times.append(time.perf_counter_ns() - start)
    return min(times)


def _taken(shape: Grouped, runs: int) -> float:
    """Least nanoseconds of QLinearConv, channels last."""
    rng, rank = np.random.default_rng(3), len(shape.sizes)
    kernel = (shape.kernel,) * rank
    weight = rng.integers(-127, 128, (shape.outputs, shape.inputs // shape.groups, *kernel)).astype(np.int8)
    c: dict[str, Array] = {
        "sx": np.array(0.02, np.float32),
        "zx": np.array(120, np.uint8),
        "w": weight,
        "s": rng.uniform(0.01, 0.02, shape.outputs).astype(np.float32),
        "z": np.zeros(shape.outputs, np.int8),
        "sy": np.array(0.5, np.float32),
        "zy": np.array(128, np.uint8),
        "b": np.zeros(shape.outputs, np.int32),
    }
    attributes: dict[str, Any] = {
        "pads": [shape.kernel // 2] * 2 * rank,
        "strides": [shape.stride] * rank,
        "group": shape.groups,
        "channels_last": 1,
    }
    node = helper.make_node("QLinearConv", ["x", *c], ["y"], domain="com.microsoft", **attributes)
    one = session([node], c, TensorProto.UINT8, rank=rank + 2)
    x = rng.integers(0, 256, (shape.batch, *shape.sizes, shape.inputs)).astype(np.uint8)
    return _least(one, x, runs)


def _gathered(shape: Grouped, runs: int) -> tuple[Convolution, float]:
    """Least nanoseconds to have what is under the kernel along the first axis side by side."""
    node, kernel, names = helper.make_node, shape.kernel, list[str]()
    made = (shape.sizes[0] - 1) // shape.stride + 1
    pads = np.array([0, kernel // 2, 0, 0, 0] * 2)
    c: dict[str, Array] = {"pads": pads, "zx": np.array(7, np.uint8), "axis": np.array([1])}
    c["step"] = np.array([shape.stride])
    nodes: list[NodeProto] = [node("Pad", ["x", "pads", "zx"], ["p"])]
    for at in range(kernel):
        c |= {f"from{at}": np.array([at]), f"to{at}": np.array([at + (made - 1) * shape.stride + 1])}
        names.append(f"s{at}")
        nodes.append(node("Slice", ["p", f"from{at}", f"to{at}", "axis", "step"], [names[-1]]))
    nodes.append(node("Concat", names, ["y"], axis=4))
    one = session(nodes, c, TensorProto.UINT8, rank=5)
    x = np.ones((shape.batch, *shape.sizes, shape.inputs), np.uint8)
    pixels = made * prod(shape.sizes[1:])
    counted = Convolution(shape.inputs, 0, (kernel,), (shape.stride,), pixels, True, shape.batch)
    return counted, _least(one, x, runs)


def rows(runs: int, least: float) -> dict[str, list[tuple[Convolution, float]]]:
    """By kernel, what is counted of each shape and its nanoseconds without those of a call."""
    return {
        GROUPED: [(by_group(s.counted), _taken(s, runs) - least) for s in GROUPS],
        DEPTHWISE: [(by_block(s.counted), _taken(s, runs) - least) for s in BLOCKS],
        VOLUME: [(s.counted, _taken(s, runs) - least) for s in VOLUMES],
        GATHERED: [(s, t - least) for s, t in (_gathered(v, runs) for v in GATHERS)],
    }


def rest(whole: list[float], counted: Any, runs: int, least: float) -> float:
    """Nanoseconds of a kernel element of a channel that is in no whole block, `whole` what the others cost."""
    found: list[float] = []
    for shape in RESTS:
        expected = float(np.dot(whole, counted(by_block(shape.counted))))
        elements = shape.groups % BLOCK * shape.kernel**2 * shape.counted.pixels
        found.append(max(_taken(shape, runs) - least - expected, 0.0) / elements)
    return float(np.median(found))
