"""Optional operands whose default is zero."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass

from qdialect.promises.base import Promise


@dataclass(frozen=True)
class ZeroByDefault(Promise):
    """The op uses zeros for an omitted operand."""

    places: Sequence[int]


DEFAULTS: dict[tuple[str, str], ZeroByDefault] = {
    ("", "LSTM"): ZeroByDefault((5, 6)),
    ("", "GRU"): ZeroByDefault((5,)),
    ("", "RNN"): ZeroByDefault((5,)),
    ("com.microsoft", "DynamicQuantizeLSTM"): ZeroByDefault((5, 6)),
}
