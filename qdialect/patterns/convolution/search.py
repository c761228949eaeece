"""
The forms of a convolution that cost least together, by what was measured on the target.

A plan is a sequence of steps, each at most once and in one order: groups merged, axes joined, the row packed. A step
pays if the best plan behind it takes at most `WORTH` of the time that the convolution would take without, and saves
what the costs leave out. Of the plans that pay the cheapest is taken.
"""

from __future__ import annotations

from collections.abc import Callable, Iterator
from typing import NamedTuple

from qdialect.patterns.convolution.depth import joined_axes
from qdialect.patterns.convolution.groups import merged_groups
from qdialect.patterns.convolution.step import Spec, Step, most, priced
from qdialect.patterns.convolution.width import packed_widths
from qdialect.reasons import Blocked
from qdialect.targets.pricing import (
    FLOAT,
    PACKED,
    PRODUCT,
    WORTH,
    Convolution,
    Costs,
    cheapest,
    cost,
    float_kernels,
    quantized_cost,
)

FORMS: tuple[tuple[str, Callable[[Spec, Costs, float], Iterator[Step]]], ...] = (
    ("groups", merged_groups),
    ("depth", joined_axes),
    ("width", packed_widths),
)
"""By name, the steps that a gathering convolution allows, from what it is, the costs, and its nanoseconds as it is."""


MENTIONED = 0.97
"""The part of the time that a form takes at most to be worth a remark, if it does not pay."""
MUCH_FASTER = 0.9
"""The part of the integer form's time that float must not exceed: below that, the costs are not so exact."""


class Rejected(NamedTuple):
    """The cheapest plan that costs less than the convolution as it is, but not enough less."""

    form: str
    """Its first form."""
    cost: float
    """Nanoseconds."""


class Plan(NamedTuple):
    """Steps to take, and what all takes then."""

    cost: float
    """Nanoseconds."""
    steps: tuple[Step, ...] = ()
    rejected: Rejected | None = None

    @property
    def blocked(self) -> Blocked | None:
        """Why the first step that cannot be taken cannot."""
        return next((step.blocked for step in self.steps if step.blocked is not None), None)


def kernel_cost(spec: Spec, costs: Costs, moves: float = 0.0) -> float:
    """Nanoseconds of the fastest kernel; `moves`: of what stands around a kernel that wants channels first."""
    shape = spec.priced
    if not spec.is_float:
        return quantized_cost(costs, shape)
    weight = (shape.outputs, shape.inputs, *shape.kernel)
    return min(_float_cost(costs, name, shape, moves) for name in float_kernels(weight) if name in costs)


def _float_cost(costs: Costs, name: str, shape: Convolution, moves: float) -> float:
    # A matrix product stands between Transposes anyway.
    return cost(costs, name, shape) + (0.0 if name == PRODUCT else moves)


class Search:
    """Plans by convolution, each worked out once."""

    def __init__(self, costs: Costs):
        self._costs = costs
        self._plans: dict[tuple[Spec, int, float, bool], Plan] = {}

    def best(self, spec: Spec, *, blocked: bool = False) -> Plan:
        """The cheapest plan that pays; with `blocked`, of those too that have a step which cannot be taken."""
        return self._best(spec, 0, 0.0, blocked)

    def _best(self, spec: Spec, first: int, moves: float, blocked: bool) -> Plan:
        key = spec, first, moves, blocked
        if key not in self._plans:
            self._plans[key] = self._cheapest(spec, first, moves, blocked)
        return self._plans[key]

    def _cheapest(self, spec: Spec, first: int, moves: float, blocked: bool) -> Plan:
        now = kernel_cost(spec, self._costs, moves)
        best, rejected = Plan(now), Rejected("", now)
        for place, (form, steps) in enumerate(FORMS[first:], first + 1):
            for step in steps(spec, self._costs, now):
                if step.blocked is not None and not blocked:
                    continue
                behind = self._best(step.after, place, moves + step.moves, blocked)
                taken = step.cost + behind.cost
                if taken < min(best.cost * _doubt(best, step), most(now, step.saves)):
                    best = Plan(taken, (step, *behind.steps))
                elif taken < min(rejected.cost, MENTIONED * now):
                    rejected = Rejected(form, taken)
        return best if best.steps or not rejected.form else best._replace(rejected=rejected)


def _doubt(best: Plan, step: Step) -> float:
    """The part of the best plan's time that another may take: kernels of three axes were measured on few shapes."""
    joined = best.steps and best.steps[-1].after.geometry.axes < step.after.geometry.axes
    return WORTH if joined else 1.0


def float_kernel(spec: Spec, costs: Costs, *, product: bool) -> str:
    """
    The kernel for a float result: of integers, unless float takes `MUCH_FASTER` of its time.

    `product`: whether the convolution can be a matrix product.
    """
    shape = priced(spec.geometry)
    weight = (shape.outputs, shape.inputs, *shape.kernel)
    known = [name for name in float_kernels(weight) if name in costs and (product or name != PRODUCT)]
    floats = [name for name in known if name in (FLOAT, PACKED)]
    integer, least = cheapest(costs, [name for name in known if name not in floats], shape)
    in_float, other = cheapest(costs, floats, shape)
    return in_float if other < MUCH_FASTER * least else integer
