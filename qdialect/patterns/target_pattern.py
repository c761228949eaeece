"""Bases of the patterns and passes that rewrite for one target."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass

from qdialect.rewriting.driver import Pattern
from qdialect.rewriting.passes import RewritePass
from qdialect.targets import Target, target


class ForTarget(Pattern):
    """A pattern for one target, beside `OnTrait`, `OnForm` or `OnOp`: `class P(OnTrait[Linear], ForTarget)`."""

    def __init__(self, target: Target):
        self._target = target


@dataclass(frozen=True)
class TargetPass(RewritePass):
    """A pass for one target; its `pattern_types` are built with it."""

    target: str = "onnxruntime"
    """The target: a name, or the path of its file."""

    @property
    def runtime(self) -> Target:
        """The target by its name. Raises UserError if there is none."""
        return target(self.target)

    def patterns(self) -> Sequence[Pattern]:
        return [one(self.runtime) for one in self.pattern_types]
