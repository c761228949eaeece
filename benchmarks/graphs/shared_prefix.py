"""
Several pipelines on one graph: the passes that they begin with are run, and judged, once.

What a pass does, and whether it is within its class, hangs on the module and the pass alone. So where two pipelines
begin with equal passes, the later one goes on with a copy of what the earlier one had there.
"""

from __future__ import annotations

from collections.abc import Callable, Mapping, Sequence
from functools import cache
from typing import NamedTuple

from xdsl.dialects.builtin import ModuleOp
from xdsl.passes import ModulePass

from qdialect.checking.numerics_check import NumericsCheck
from qdialect.compiler.conditions import Claim, Condition, ConditionCheck
from qdialect.compiler.options import Options
from qdialect.compiler.pipeline import claims, phases
from qdialect.evaluation.session import Array
from qdialect.rewriting.copying import copied
from qdialect.rewriting.manager import PassManager

Feeds = Mapping[str, Array]


class Step(NamedTuple):
    """A pass, and what has to hold behind it."""

    one: ModulePass
    holds: tuple[tuple[str, Condition], ...]


class Point(NamedTuple):
    """A module between two passes, and what judges the next; None to judge none."""

    module: ModuleOp
    check: NumericsCheck | None

    def copied(self) -> Point:
        """The same for another pipeline."""
        copy = copied(self.module)
        return Point(copy.module, None if self.check is None else self.check.copied(copy))


class Pipeline:
    """The passes of `options`, with the postconditions of their phases."""

    def __init__(self, options: Options):
        parts = phases(options)
        self.claims: list[Claim] = claims(parts)
        passes = [stage.step for phase in parts for stage in phase.stages]
        self.steps = [
            Step(one, tuple((c.phase, c.broken) for c in self.claims if c.behind is one)) for one in passes
        ]

    def run(self, point: Point, begin: int, end: int) -> None:
        """
        Run passes `begin` to `end` on a module in place, each verified and judged if the point has a check.

        Raises UserError for the first that is beyond its class.
        """
        hooks = () if point.check is None else (point.check, ConditionCheck(self.claims))
        PassManager(*hooks).run([step.one for step in self.steps[begin:end]], point.module)

    def common(self, other: Pipeline) -> int:
        """How many passes both begin with."""
        both = zip(self.steps, other.steps, strict=False)
        return next((k for k, (a, b) in enumerate(both) if a != b), min(len(self.steps), len(other.steps)))


_pipeline = cache(Pipeline)
"""Passes keep nothing from one module to the next."""


class Together:
    """The modules that pipelines make of one graph; they are run in their order."""

    def __init__(self, start: Callable[[], ModuleOp], pipelines: Sequence[Options], feeds: Feeds | None):
        """start: makes the module; feeds: verify and judge each pass on these inputs."""
        self._start, self._feeds = start, feeds
        self._pipelines = [_pipeline(options) for options in pipelines]
        self._points: dict[int, tuple[int, Point]] = {}
        """By pipeline: how many of its passes an earlier one has run for it, and what they made."""

    def run(self, k: int) -> ModuleOp:
        """What the pipeline `k` makes of the graph. Raises UserError for the first pass that is beyond its class."""
        pipeline = self._pipelines[k]
        done, point = self._points.pop(k, (0, None))
        point = self._begun() if point is None else point
        later = [(pipeline.common(self._pipelines[j]), j) for j in range(k + 1, len(self._pipelines))]
        for common, j in sorted(later):
            if common >= done and (j not in self._points or common > self._points[j][0]):
                pipeline.run(point, done, common)
                done, self._points[j] = common, (common, point.copied())
        pipeline.run(point, done, len(pipeline.steps))
        return point.module

    def _begun(self) -> Point:
        module = self._start()
        return Point(
            module, None if self._feeds is None else NumericsCheck(module, [self._feeds], verify=True)
        )
