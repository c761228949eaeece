"""Why a rewrite does not fire: what every guard of every pass returns, and the reasons that many of them share."""

from __future__ import annotations

from dataclasses import dataclass


@dataclass(frozen=True)
class Blocked:
    """Why a rewrite does not fire."""

    id: str
    """A short name, the same wherever the reason is the same."""
    message: str
    """What stands in the way."""
    fix: str = ""
    """What the user can do about it, if anything."""


UNKNOWN_RANK = Blocked(
    "unknown-rank", "the operand's rank is not known", "run ONNX shape inference on the model"
)
