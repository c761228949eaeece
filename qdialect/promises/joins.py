"""Where two branches meet, and what is known of a result whatever the operands are."""

from __future__ import annotations

from dataclasses import dataclass

from qdialect.promises.base import Promise


@dataclass(frozen=True)
class Adds(Promise):
    """The op is an addition."""


@dataclass(frozen=True)
class Multiplies(Promise):
    """The op is a product, element by element."""


@dataclass(frozen=True)
class Joins(Promise):
    """The op meets two branches in one result, element by element."""


@dataclass(frozen=True)
class KnownRange(Promise):
    """Every element of the result lies between two bounds, whatever the operand."""

    bounds: tuple[float, float]
    shares: bool = False
    """Whether the elements of a row add up to 1."""


ADDITIONS: dict[tuple[str, str], Promise] = {("", "Add"): Adds()}
PRODUCTS: dict[tuple[str, str], Promise] = {("", "Mul"): Multiplies()}
JOINS: dict[tuple[str, str], Promise] = {("", name): Joins() for name in ("Add", "Mul", "Sub")}
RANGES: dict[tuple[str, str], Promise] = {
    ("", "Sigmoid"): KnownRange((0.0, 1.0)),
    ("", "HardSigmoid"): KnownRange((0.0, 1.0)),
    ("", "Softmax"): KnownRange((0.0, 1.0), shares=True),
    ("", "Tanh"): KnownRange((-1.0, 1.0)),
}
