"""Optional operands whose default is zero, and results whose number is a mode of the op."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass

from qdialect.promises.base import Promise


@dataclass(frozen=True)
class ZeroByDefault(Promise):
    """The op uses zeros for an omitted operand."""

    places: Sequence[int]


@dataclass(frozen=True)
class AllResults(Promise):
    """The op computes something else, or is invalid, if a result that nobody reads is left out."""


ALL_RESULTS: dict[tuple[str, str], AllResults] = {("", "BatchNormalization"): AllResults()}

DEFAULTS: dict[tuple[str, str], ZeroByDefault] = {
    ("", "LSTM"): ZeroByDefault((5, 6)),
    ("", "GRU"): ZeroByDefault((5,)),
    ("", "RNN"): ZeroByDefault((5,)),
    ("com.microsoft", "DynamicQuantizeLSTM"): ZeroByDefault((5, 6)),
}
