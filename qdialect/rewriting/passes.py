"""What every pass of ours is: a list of patterns, a class of exactness, and a sentence in rewrite notation."""

from __future__ import annotations

from abc import abstractmethod
from collections.abc import Sequence
from dataclasses import dataclass, fields
from enum import Enum
from typing import ClassVar

from xdsl.context import Context
from xdsl.dialects.builtin import ModuleOp
from xdsl.passes import ModulePass

from qdialect.rewriting.driver import Pattern, apply_patterns


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

    @property
    def level(self) -> Exactness:
        """How far this application may move numbers: a pass with exact and close rewrites can keep to the former."""
        return Exactness.EXACT if getattr(self, "exact", False) else self.exactness

    @abstractmethod
    def patterns(self) -> Sequence[Pattern]:
        """The patterns of one application."""

    def apply(self, ctx: Context, op: ModuleOp) -> None:
        apply_patterns(op, self.name, self.patterns())


def classes_of(pass_type: type[ModulePass]) -> str:
    """The classes of exactness of a pass, in words: `exact or close` has rewrites of both and an option to choose."""
    # xDSL's own passes say nothing: they move and merge ops, and never change a number.
    own = getattr(pass_type, "exactness", Exactness.EXACT)
    assert isinstance(own, Exactness)
    chooses = any(field.name == "exact" for field in fields(pass_type))
    return f"{Exactness.EXACT.value} or {own.value}" if chooses else own.value


def exactness_of(module_pass: ModulePass | type[ModulePass]) -> Exactness:
    """The class of exactness of a pass, or of one application of it."""
    if isinstance(module_pass, RewritePass):
        return module_pass.level
    found = getattr(module_pass, "exactness", Exactness.EXACT)
    assert isinstance(found, Exactness)
    return found
