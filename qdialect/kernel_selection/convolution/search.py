"""
Search for the combination of convolution forms of least cost on the target.

A plan is a sequence of steps: groups merged, axes joined, the row packed, in any order and until none pays, so that no
step pays for what a plan leaves. Each step leaves fewer groups, axes or pixels of a row. A step pays if the best plan
behind it takes at most `MAX_TIME_RATIO` of the convolution's time without it, and saves the step's overhead that the
costs do not model. Of the plans that pay, the cheapest is chosen; one that takes a step twice has to be cheaper by the
doubt of the fitted costs.
"""

from __future__ import annotations

from collections.abc import Callable, Iterator
from math import prod
from operator import itemgetter
from typing import NamedTuple

from qdialect.dialects.onnx_types import DYNAMIC
from qdialect.kernel_selection.convolution.depth import joined_axes
from qdialect.kernel_selection.convolution.groups import merged_groups
from qdialect.kernel_selection.convolution.step import ConvolutionStep, Spec, most
from qdialect.kernel_selection.convolution.width import packed_widths
from qdialect.reasons import Blocked, Times
from qdialect.targets.pricing import (
    FLOAT,
    MAX_TIME_RATIO,
    PACKED,
    PRODUCT,
    SPREADING,
    Costs,
    cost,
    float_kernels,
    quantized_cost,
)

FORMS: tuple[tuple[str, Callable[[Spec, Costs, float], Iterator[ConvolutionStep]]], ...] = (
    ("groups", merged_groups),
    ("depth", joined_axes),
    ("width", packed_widths),
)
"""By form, a function that lists the steps of a gathering convolution, from its spec, the costs and its own cost."""


MENTIONED = 0.97
"""Greatest fraction of the time for which a form that does not pay is worth a remark."""


class Rejected(NamedTuple):
    """The cheapest plan that costs less than the convolution as it is, but does not pay."""

    form: str
    """Name of its first form."""
    cost: float
    """Nanoseconds."""


class Plan(NamedTuple):
    """A sequence of steps and its total cost."""

    cost: float
    """Nanoseconds."""
    steps: tuple[ConvolutionStep, ...] = ()
    rejected: Rejected | None = None

    @property
    def blocked(self) -> Blocked | None:
        """The reason of the first step that cannot be applied; None if all can."""
        return next((step.blocked for step in self.steps if step.blocked is not None), None)


def kernel_cost(spec: Spec, costs: Costs, moves: float = 0.0) -> float:
    """Nanoseconds of the fastest kernel. moves: nanoseconds of Transposes around a channels-first kernel."""
    shape = spec.priced
    if not spec.is_float:
        return quantized_cost(costs, shape)
    return min(taken for _, taken in _float_costs(spec, costs, moves))


def _float_costs(spec: Spec, costs: Costs, moves: float = 0.0) -> list[tuple[str, float]]:
    """The kernels with a float result, and the nanoseconds of each."""
    shape = spec.priced
    known = float_kernels((shape.outputs, shape.inputs, *shape.kernel))
    saved: dict[str, float] = dict(zip((FLOAT, PACKED), spec.saved, strict=True))
    values = shape.outputs * shape.pixels * shape.images
    moves += moves_around(spec, costs)
    # A matrix product is between Transposes in any case.
    return [
        (name, cost(costs, name, shape) - values * saved.get(name, 0.0) + (0.0 if name == PRODUCT else moves))
        for name in known
        if name in spec.kernels and name in costs
    ]


def moves_around(spec: Spec, costs: Costs) -> float:
    """Nanoseconds of Transposes of an operand, and of a result, that other kernels read or make channels last."""
    if not (spec.reads_last or spec.makes_last):
        return 0.0
    shape, by_value = spec.priced, costs[SPREADING]
    read = shape.inputs * prod(shape.strides) * by_value["move_byte"] * spec.reads_last
    made = shape.outputs * by_value["move_float"] * spec.makes_last
    return (read + made) * shape.pixels * shape.images


class Search:
    """Plans by convolution, memoized."""

    def __init__(self, costs: Costs):
        self._costs = costs
        self._plans: dict[tuple[Spec, float, bool], Plan] = {}

    def best(self, spec: Spec, *, blocked: bool = False) -> Plan:
        """The cheapest plan that pays; with `blocked`, also among those with steps that cannot be applied."""
        return self._best(spec, 0.0, blocked)

    def _best(self, spec: Spec, moves: float, blocked: bool) -> Plan:
        key = spec, moves, blocked
        if key not in self._plans:
            self._plans[key] = self._cheapest(spec, moves, blocked)
        return self._plans[key]

    def _cheapest(self, spec: Spec, moves: float, blocked: bool) -> Plan:
        now = kernel_cost(spec, self._costs, moves)
        best, rejected = Plan(now), Rejected("", now)
        rank = now
        for form, steps in FORMS:
            for step in steps(spec, self._costs, now):
                if step.blocked is not None and not blocked:
                    continue
                behind = self._best(step.after, moves + step.moves, blocked)
                taken, plan = step.cost + behind.cost, (step, *behind.steps)
                doubtful = taken / MAX_TIME_RATIO if len(set(map(type, plan))) < len(plan) else taken
                if taken < most(now, step.saves) and doubtful < rank * _doubt(best, step):
                    best, rank = Plan(taken, plan), doubtful
                elif taken < min(rejected.cost, MENTIONED * now):
                    rejected = Rejected(form, taken)
        return best if best.steps or not rejected.form else best._replace(rejected=rejected)


def _doubt(best: Plan, step: ConvolutionStep) -> float:
    """
    Margin for `step` relative to the best plan's time: kernels for three axes, and on whole rows, were measured on few
    shapes.
    """
    joined = best.steps and best.steps[-1].after.geometry.axes < step.after.geometry.axes
    return MAX_TIME_RATIO if joined or (best.steps and step.unusual) else 1.0


def float_kernel(spec: Spec, costs: Costs) -> tuple[str, Times]:
    """
    The kernel for a float result: an integer kernel, unless the float one takes at most `MAX_TIME_RATIO` of its
    time; and the times of both.
    """
    floats = [priced for priced in _float_costs(spec, costs) if priced[0] in (FLOAT, PACKED)]
    integers = [priced for priced in _float_costs(spec, costs) if priced not in floats]
    integer, least = min(integers, key=itemgetter(1))
    in_float, other = min(floats, key=itemgetter(1), default=(integer, least))
    batch = spec.images if spec.geometry.images == DYNAMIC else 1
    return in_float if other < MAX_TIME_RATIO * least else integer, Times(other, least, batch)
