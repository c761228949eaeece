"""What every pass of ours is: a list of patterns, a class of exactness, and a sentence in rewrite notation."""

from __future__ import annotations

from abc import abstractmethod
from collections.abc import Sequence
from dataclasses import dataclass
from enum import Enum
from typing import ClassVar

from xdsl.context import Context
from xdsl.dialects.builtin import ModuleOp
from xdsl.passes import ModulePass

from qdialect.rewriting import Pattern, apply_patterns


class Exactness(Enum):
    """How far a rewrite may move numbers, judged per op against the oracle form."""

    EXACT = "exact"
    """No element differs."""
    CLOSE = "close"
    """Integers by at most one step, floats by at most 1e-4 of the largest magnitude."""
    LOSSY = "lossy"
    """The meaning changes, on purpose."""

    def within(self, level: Exactness) -> bool:
        """Whether a rewrite of this class may run at `level`."""
        order = list(Exactness)
        return order.index(self) <= order.index(level)


@dataclass(frozen=True)
class RewritePass(ModulePass):
    """A pass that is one greedy set of patterns."""

    exactness: ClassVar[Exactness]
    rewrite: ClassVar[str]
    """The pass in one sentence of rewrite notation, with its licence."""

    @abstractmethod
    def patterns(self) -> Sequence[Pattern]:
        """The patterns of one application."""

    def apply(self, ctx: Context, op: ModuleOp) -> None:
        apply_patterns(op, self.name, self.patterns())
