"""Ops that commute with a positive factor per channel, f(x * s) = f(x) * s, or absorb it into an operand."""

from __future__ import annotations

from dataclasses import dataclass

from qdialect.promises.base import Promise


@dataclass(frozen=True)
class Homogeneous(Promise):
    """Each channel (axis 1) of the result depends on that channel alone and is proportional to it."""

    not_negative: bool = False
    """True if no element of the result is negative."""


HOMOGENEOUS: dict[tuple[str, str], Homogeneous] = {
    ("", "Relu"): Homogeneous(not_negative=True),
    ("", "LeakyRelu"): Homogeneous(),
    ("", "MaxPool"): Homogeneous(),
    ("", "AveragePool"): Homogeneous(),
    ("", "GlobalAveragePool"): Homogeneous(),
    ("", "GlobalMaxPool"): Homogeneous(),
}


@dataclass(frozen=True)
class Scaled(Promise):
    """The op ends with a factor and a shift for each position on its last axes, as normalizations do."""

    factor: int
    """Index of the factor's operand."""
    shift: int
    first_axis: int
    """The first of those axes unless attribute `axis` states another."""


SCALED: dict[tuple[str, str], Scaled] = {("", "LayerNormalization"): Scaled(1, 2, -1)}
