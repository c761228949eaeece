"""
Rules about the sessions of a runtime: what one does wrongly, refuses, or makes slower as it loads a model, each with
the guard that prevents it.

A guard changes no number. It stands in the written nodes; what a rule finds is their place.
"""

from __future__ import annotations

from collections.abc import Callable, Container
from dataclasses import dataclass

from xdsl.dialects.builtin import ModuleOp

from qdialect.dialects.onnx_base import OnnxOp
from qdialect.ir.walking import operations
from qdialect.runtimes.guards import part, part_from_all
from qdialect.targets import Target


@dataclass(frozen=True)
class Rule:
    """One thing that a session does, and the guard against it. One of `finds`, `writes` and `sweeps` is given."""

    name: str
    does: str
    """What a session does, and to what."""
    guard: str
    """What prevents it, and where that stands."""
    finds: Callable[[OnnxOp, Target], int | None] | None = None
    """Index of the operand of an op in front of which a Sum belongs; None if the rule is not about this op."""
    from_all: bool = False
    """True if all users of that operand read the Sum."""
    writes: Callable[[OnnxOp, Target], bool] | None = None
    """Replaces an op; True if it did."""
    sweeps: Callable[[ModuleOp, Target], None] | None = None
    """Guards a whole module."""
    is_for_speed: bool = False
    """True if what a session does is right, but slower."""
    versions: tuple[str, ...] = ()
    """Versions of the runtime in which it was seen to be needed; by default those of the table."""
    issue: str = ""
    """Where it is reported upstream."""

    def guards(self, op: OnnxOp, session: Target) -> bool:
        """True if the rule is about `op`, which is guarded then."""
        if self.writes is not None:
            return self.writes(op, session)
        place = self.finds(op, session) if self.finds is not None else None
        if place is None:
            return False
        if self.from_all:
            part_from_all(op)
        else:
            part(op, place)
        return True


@dataclass(frozen=True)
class SessionRules:
    """The rules of one runtime."""

    runtime: str
    """As `session` of a target's file names it."""
    versions: tuple[str, ...]
    """Versions of the runtime in which each rule was seen to be needed, unless it says others."""
    sweeps: tuple[tuple[Rule, ...], ...]
    """The rules in the order in which they are applied, by sweeps over the module: one rule of a sweep guards an op."""

    @property
    def rules(self) -> tuple[Rule, ...]:
        """Each rule once."""
        return tuple(dict.fromkeys(rule for sweep in self.sweeps for rule in sweep))

    def guard(self, module: ModuleOp, session: Target, rules: Container[Rule] | None = None) -> None:
        """
        Guard a module of nodes against what a session does.

        session: the target that states its kernels. rules: those that are applied, by default all.
        """
        for sweep in self.sweeps:
            used = [rule for rule in sweep if rules is None or rule in rules]
            for rule in used:
                if rule.sweeps is not None:
                    rule.sweeps(module, session)
            of_ops = [rule for rule in used if rule.sweeps is None]
            for op in operations(module) if of_ops else ():
                if isinstance(op, OnnxOp):
                    next((rule for rule in of_ops if rule.guards(op, session)), None)
