"""Operands that an op takes to be zero where they are left out."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass

from qdialect.promises.base import Promise


@dataclass(frozen=True)
class ZeroByDefault(Promise):
    """The op computes with zeros in the place of an operand that it does not have."""

    places: Sequence[int]


DEFAULTS: dict[tuple[str, str], ZeroByDefault] = {
    ("", "LSTM"): ZeroByDefault((5, 6)),
    ("", "GRU"): ZeroByDefault((5,)),
    ("", "RNN"): ZeroByDefault((5,)),
}
