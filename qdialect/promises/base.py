"""What a promise is made of: a trait on the operation, and the reason why it does not hold."""

from __future__ import annotations

from dataclasses import dataclass

from xdsl.traits import OpTrait


@dataclass(frozen=True)
class Blocked:
    """Why a rewrite does not fire."""

    id: str
    """A short name, the same wherever the reason is the same."""
    message: str
    """What stands in the way."""
    fix: str = ""
    """What the user can do about it, if anything."""


@dataclass(frozen=True)
class Promise(OpTrait):
    """What an operation states once about quantization, for every pass to ask."""
