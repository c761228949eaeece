"""Ops that a positive factor for each channel goes through, f(x * s) = f(x) * s, or into."""

from __future__ import annotations

from dataclasses import dataclass

from qdialect.promises.base import Promise


@dataclass(frozen=True)
class Homogeneous(Promise):
    """Each channel (axis 1) of the result comes from that channel alone, and scales as it does."""

    not_negative: bool = False
    """Whether no element of the result is below zero."""


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
    """Each element of the result is a factor for its place on the last axes times something, plus a shift."""

    factor: int
    """The operand."""
    shift: int
    first_axis: int
    """The first of those axes where no attribute `axis` says another."""


SCALED: dict[tuple[str, str], Scaled] = {("", "LayerNormalization"): Scaled(1, 2, -1)}
