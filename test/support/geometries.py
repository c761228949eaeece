"""Convolutions as geometries, and prices of kernels: for tests of the forms that convolutions get."""

from __future__ import annotations

from types import SimpleNamespace
from typing import Any, cast

from qdialect.promises.window import Geometry
from qdialect.targets import Target
from qdialect.targets.pricing import (
    TERMS,
)

SPACE = Geometry(
    images=2, inputs=3, outputs=4, groups=1, kernel=(2, 3, 5), strides=(1, 2, 1), dilations=(1, 2, 3),
    pads=((1, 0), (2, 1), (3, 2)), sizes=(7, 9, 8), results=(6, 4, 4),
)  # fmt: skip


ROW = Geometry(
    images=2, inputs=6, outputs=8, groups=1, kernel=(3, 3), strides=(1, 2), dilations=(1, 1), pads=((0, 0),) * 2,
    sizes=(7, 9), results=(5, 4),
)  # fmt: skip


FREE: dict[str, float] = dict.fromkeys(TERMS, 0.0)


def costs(**kernels: float) -> dict[str, dict[str, float]]:
    """What a call of each kernel costs, whatever its sizes."""
    return {name: FREE | {"call": call} for name, call in kernels.items()}


def runtime(prices: dict[str, Any], **others: Any) -> Target:
    return cast(Target, SimpleNamespace(costs=prices, **others))
