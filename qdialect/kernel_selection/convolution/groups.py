"""
Grouped convolutions with groups merged, if a group has too few channels for a fast kernel.

    conv(x, w, b), g groups  ->  conv(x, w', b), g / m groups,   w' = w, and zeros between the channels of m groups

No value moves: w' has m times the inputs, and zeros where an output does not see one. An integer kernel of groups
gathers the elements under the window for each group by itself, which takes longer than few products.
"""

from __future__ import annotations

from collections.abc import Iterator
from dataclasses import dataclass, replace
from math import prod
from typing import Any

import numpy as np
import numpy.typing as npt

from qdialect.kernel_selection.convolution.step import ASSUMED_MOVES_NS, ConvolutionStep, Spec
from qdialect.targets.pricing import GROUPED, Costs

MAX_WEIGHT_ELEMENTS = 1 << 18
"""Greatest number of elements of a weight with its zeros: 256 KiB."""


@dataclass(frozen=True)
class MergeGroups(ConvolutionStep):
    """`merged` groups in one."""

    groups: int = 1
    merged: int = 1

    def weight(self, weight: npt.NDArray[Any], zeros: npt.NDArray[Any]) -> npt.NDArray[Any]:
        """(outputs, inputs of a group, kernel) to (outputs, merged * inputs of a group, kernel)."""
        outputs, inputs, *kernel = weight.shape
        shape = (
            self.groups // self.merged,
            self.merged,
            outputs // self.groups,
            self.merged,
            inputs,
            *kernel,
        )
        result = np.array(np.broadcast_to(zeros.reshape(*shape[:3], *[1] * (len(shape) - 3)), shape))
        parts = weight.reshape(*shape[:3], inputs, *kernel)
        for k in range(self.merged):
            result[:, k, :, k] = parts[:, k]
        return result.reshape(outputs, self.merged * inputs, *kernel)


def merged_groups(spec: Spec, costs: Costs, now: float) -> Iterator[ConvolutionStep]:
    """A step for each number of groups that can be merged within `MAX_WEIGHT_ELEMENTS`."""
    g = spec.geometry
    if spec.is_float or GROUPED not in costs or g.groups == 1:
        return
    most = MAX_WEIGHT_ELEMENTS // (g.outputs * g.groups * g.inputs * prod(g.kernel))
    for merged in range(2, min(g.groups, most) + 1):
        if g.groups % merged == 0:
            wider = replace(
                g, inputs=g.inputs * merged, outputs=g.outputs * merged, groups=g.groups // merged
            )
            yield MergeGroups(
                spec.of(wider), saves=ASSUMED_MOVES_NS, size=(merged,), groups=g.groups, merged=merged
            )
