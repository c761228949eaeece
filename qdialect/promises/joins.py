"""Ops that join two branches elementwise, and ops whose results have a known range."""

from __future__ import annotations

from dataclasses import dataclass

from qdialect.promises.base import Promise


@dataclass(frozen=True)
class Adds(Promise):
    """The op is an addition."""


@dataclass(frozen=True)
class Multiplies(Promise):
    """The op is an elementwise product."""


@dataclass(frozen=True)
class Joins(Promise):
    """The op combines two branches elementwise."""


@dataclass(frozen=True)
class KnownRange(Promise):
    """Every element of the result lies between two bounds, for any operand."""

    bounds: tuple[float, float]
    shares: bool = False
    """True if the elements of a row sum to 1."""


ADDITIONS: dict[tuple[str, str], Promise] = {("", "Add"): Adds()}
PRODUCTS: dict[tuple[str, str], Promise] = {("", "Mul"): Multiplies()}
JOINS: dict[tuple[str, str], Promise] = {("", name): Joins() for name in ("Add", "Mul", "Sub")}
RANGES: dict[tuple[str, str], Promise] = {
    ("", "Sigmoid"): KnownRange((0.0, 1.0)),
    ("", "HardSigmoid"): KnownRange((0.0, 1.0)),
    ("", "Softmax"): KnownRange((0.0, 1.0), shares=True),
    ("", "Tanh"): KnownRange((-1.0, 1.0)),
}
