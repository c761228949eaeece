"""The minimum cut, against all divisions of small graphs, and placements by costs."""

from __future__ import annotations

from itertools import product

import numpy as np
import pytest

from qdialect.calibration.cut import Cut


def brute_force(
    costs: list[tuple[int, int]], edges: list[tuple[int, int, int]]
) -> tuple[int, tuple[bool, ...]]:
    """The least cost of all divisions, and one that has it."""

    def total(sides: tuple[bool, ...]) -> int:
        own = sum(c[0] if side else c[1] for c, side in zip(costs, sides, strict=True))
        return own + sum(c for a, b, c in edges if sides[a] and not sides[b])

    best = min(product((False, True), repeat=len(costs)), key=total)
    return total(best), best


@pytest.mark.parametrize("seed", range(40))
def test_the_cut_costs_least(seed: int) -> None:
    draw = np.random.default_rng(seed)
    count = int(draw.integers(2, 8))
    costs = [(int(a), int(b)) for a, b in draw.integers(0, 20, (count, 2))]
    edges = [
        (int(a), int(b), int(draw.integers(1, 15)))
        for a, b in draw.integers(0, count, (2 * count, 2))
        if a != b
    ]
    cut = Cut()
    nodes = [cut.node() for _ in range(count)]
    for node, (first, second) in zip(nodes, costs, strict=True):
        cut.prefer(node, first, second)
    for a, b, cost in edges:
        cut.divide(nodes[a], nodes[b], cost)
    sides = cut.solve()
    chosen = tuple(sides[node] for node in nodes)
    own = sum(c[0] if side else c[1] for c, side in zip(costs, chosen, strict=True))
    cut_cost = own + sum(c for a, b, c in edges if chosen[a] and not chosen[b])
    assert cut_cost == brute_force(costs, edges)[0]


def test_a_tie_falls_on_the_second_side() -> None:
    cut = Cut()
    node = cut.node()
    cut.prefer(node, 3, 3)
    assert not cut.solve()[node]
