"""
Rounding in other ways than to nearest, ties to even: of constants, or as a quantize of numbers that are moved.

Down is to nearest half a step below. The move is less than half a step by a few units in the last place of the largest
number, so that multiples of the step, which would be ties, stay where they are; a number that is closer than this to
the next multiple becomes that one.
"""

from __future__ import annotations

from collections.abc import Callable
from typing import NamedTuple

import numpy as np
import numpy.typing as npt

from qdialect.numerics import Array

UNITS = 4
"""Distance of moved multiples from ties, in units in the last place of the largest number."""


class Move(NamedTuple):
    """How numbers are moved in front of a quantize."""

    steps: float
    """Steps that are added."""
    turn: int
    """Whether the move is a few units more, 1, or less, -1, so that ties are no ties; 0 to leave them."""


class Rounding(NamedTuple):
    """One way to round."""

    function: Callable[[Array], Array]
    unsigned: Move
    """For numbers of zero and more."""
    signed: Move | None
    """For numbers of both signs; None if no move serves both."""


def _away(x: Array) -> Array:
    return np.copysign(np.ceil(np.abs(x)), x)


def _half_away(x: Array) -> Array:
    return np.copysign(np.floor(np.abs(x) + x.dtype.type(0.5)), x)


def _half_to_zero(x: Array) -> Array:
    return np.copysign(np.ceil(np.abs(x) - x.dtype.type(0.5)), x)


DOWN, UP, STAY = Move(-0.5, 1), Move(0.5, -1), Move(0.0, 0)
ROUNDINGS = {
    "FLOOR": Rounding(np.floor, DOWN, DOWN),
    "CEIL": Rounding(np.ceil, UP, UP),
    "DOWN": Rounding(np.trunc, DOWN, None),
    "ROUND_TO_ZERO": Rounding(np.trunc, DOWN, None),
    "UP": Rounding(_away, UP, None),
    "HALF_UP": Rounding(_half_away, Move(0.0, 1), STAY),
    "HALF_DOWN": Rounding(_half_to_zero, Move(0.0, -1), STAY),
}
"""By QONNX's names. Up is away from zero, down is to zero; a half is rounded up or down likewise."""


def rounded(
    array: Array, scale: Array, zero_point: float, low: int, high: int, rounding: Rounding
) -> npt.NDArray[np.int64]:
    """rounding(clip(array / scale + zero_point, low, high)), computed in float32."""
    with np.errstate(over="ignore"):
        numbers = array.astype(np.float32) / scale.astype(np.float32) + np.float32(zero_point)
    return rounding.function(np.clip(numbers, low, high)).astype(np.int64)


def moved(move: Move, scale: Array, largest: int) -> npt.NDArray[np.float32]:
    """What is added to numbers in front of a quantize with `scale`, whose integers are `largest` at most."""
    unit = float(np.spacing(np.float32(2 * largest)))
    return (scale.astype(np.float64) * (move.steps + UNITS * move.turn * unit)).astype(np.float32)
