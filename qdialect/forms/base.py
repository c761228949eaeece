"""What a form is."""

from __future__ import annotations

from dataclasses import dataclass


@dataclass(frozen=True)
class Form:
    """One way in which an operation is written with others."""
