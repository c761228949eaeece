"""
Calibration of kernel costs to this machine: one factor for each kernel, the median over a few probes of measured time
over the target's cost.

A factor shifts a kernel relative to others, which affects the choice of forms; the growth of its time with sizes stays
as fitted.
"""

from __future__ import annotations

import platform
from collections.abc import Callable, Mapping, Sequence
from dataclasses import dataclass
from statistics import median

from qdialect.measuring.kernels import Grouped, Shape, measure, overhead, taken_in_groups
from qdialect.targets.pricing import (
    ALIGNED,
    DEPTHWISE,
    DEPTHWISE_ALIGNED,
    FLOAT,
    GROUPED,
    PACKED,
    POINTWISE,
    PRODUCT,
    QUANTIZED,
    SIGNED,
    SUM,
    VOLUME,
    Convolution,
    Costs,
    cost,
    quantized_cost,
    quantized_kernel,
)

RUNS_PER_KERNEL = 31
PROBES = (
    Shape(1, 16, 16, 16, 3),
    Shape(1, 64, 64, 14, 3),
    Shape(1, 3, 16, 48, 3, 2),
    Shape(1, 32, 96, 28, 1),
    Shape(4, 24, 12, 16, 3),
    Shape(1, 12, 20, 20, 1),
)
"""Convolutions, every form of which is measured; they cover each kernel of QLinearConv."""
IN_GROUPS = (
    Grouped(1, 64, 64, (28, 28), 3, 8),
    Grouped(1, 32, 32, (28, 28), 3, 4, 2),
    Grouped(1, 64, 64, (28, 28), 3, 64),
    Grouped(1, 240, 240, (14, 14), 3, 240),
    Grouped(1, 72, 72, (14, 14), 3, 72),
    Grouped(1, 8, 16, (8, 16, 16), 3),
)
MEASURED = (
    *(FLOAT, PACKED, SUM, SIGNED, PRODUCT, QUANTIZED, POINTWISE, ALIGNED),
    *(GROUPED, DEPTHWISE, DEPTHWISE_ALIGNED, VOLUME),
)


@dataclass(frozen=True)
class Calibrated:
    """Factors of kernel times on one machine relative to a target's costs."""

    target: str
    factors: Mapping[str, float]
    """Factor by measured kernel."""

    def text(self) -> str:
        """The factors as a target file, for `--costs`."""
        about = f"{platform.machine()}, {platform.processor() or platform.system()}"
        return "\n".join(
            (
                f"# What kernels of {self.target} take on one machine ({about}) of what its costs say, as",
                "# `qdialect targets --calibrate` measured it. A kernel that is not here is like one that is.",
                f'like = "{self.target}"',
                f'summary = "{self.target}, by what its kernels take on one machine"',
                "",
                "[factors]",
                *(f"{name} = {factor:.4f}" for name, factor in self.factors.items()),
                "",
            )
        )


def calibrate(
    target: str,
    costs: Costs,
    runs: int = RUNS_PER_KERNEL,
    *,
    probes: Sequence[Shape] = PROBES,
    in_groups: Sequence[Grouped] = IN_GROUPS,
    show: Callable[[str], None] = lambda text: None,
) -> Calibrated:
    """
    Measure the kernels of a target, whose costs are `costs`, on this machine.

    runs: number of runs of each probe, of which the fastest counts.
    """
    least = overhead()
    ratios: dict[str, list[float]] = {}
    for shape in probes:
        show(f"measuring {shape.inputs} to {shape.outputs} channels, kernel {shape.kernel}")
        for name, taken in measure(shape, runs).items():
            kernel = quantized_kernel(costs, shape.counted) if name == QUANTIZED else name
            ratios.setdefault(kernel, []).append((taken - least) / cost(costs, kernel, shape.counted))
    for grouped in in_groups:
        show(f"measuring {grouped.inputs} channels in {grouped.groups} groups")
        counted: Convolution = grouped.counted
        ratio = (taken_in_groups(grouped, runs) - least) / quantized_cost(costs, counted)
        ratios.setdefault(quantized_kernel(costs, counted), []).append(ratio)
    return Calibrated(target, {name: max(median(ratios[name]), 0.01) for name in MEASURED if name in ratios})
