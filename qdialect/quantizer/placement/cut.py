"""
Minimum cut of a graph by Dinic's maximum-flow algorithm (1970), with integer capacities, so that ties are broken
deterministically.
"""

from __future__ import annotations

INFINITE = 1 << 60


class Cut:
    """A graph of nodes to be divided into two sides, with costs of each side and of separating two nodes."""

    def __init__(self) -> None:
        self._to: list[int] = []
        self._left: list[int] = []
        self._edges: list[list[int]] = [[], []]
        self._levels: list[int] = []

    def node(self) -> int:
        """A new node."""
        self._edges.append([])
        return len(self._edges) - 1

    def _edge(self, source: int, end: int, cost: int) -> None:
        for a, b, c in ((source, end, cost), (end, source, 0)):
            self._edges[a].append(len(self._to))
            self._to.append(b)
            self._left.append(c)

    def prefer(self, node: int, first: int, second: int) -> None:
        """Set the costs of a node on the first and on the second side."""
        least = min(first, second)
        if second > least:
            self._edge(0, node, min(second - least, INFINITE))
        if first > least:
            self._edge(node, 1, min(first - least, INFINITE))

    def divide(self, first: int, second: int, cost: int) -> None:
        """Set the cost of `first` on the first side together with `second` on the second."""
        if cost > 0 and first != second:
            self._edge(first, second, min(cost, INFINITE))

    def solve(self) -> list[bool]:
        """
        For each node, True if it is on the first side of the cheapest division, False for the second and for a tie.
        """
        while self._find_levels():
            starts = [0] * len(self._edges)
            while self._push(starts):
                pass
        return [level >= 0 for level in self._levels]

    def _find_levels(self) -> bool:
        levels = [-1] * len(self._edges)
        levels[0] = 0
        queue = [0]
        for node in queue:
            for edge in self._edges[node]:
                end = self._to[edge]
                if self._left[edge] and levels[end] < 0:
                    levels[end] = levels[node] + 1
                    queue.append(end)
        self._levels = levels
        return levels[1] >= 0

    def _push(self, starts: list[int]) -> int:
        """Push the capacity of one augmenting path; 0 if there is none."""
        path: list[int] = []
        node = 0
        while node != 1:
            edges = self._edges[node]
            while starts[node] < len(edges):
                edge = edges[starts[node]]
                if self._left[edge] and self._levels[self._to[edge]] == self._levels[node] + 1:
                    path.append(edge)
                    node = self._to[edge]
                    break
                starts[node] += 1
            else:
                if not path:
                    return 0
                node = self._to[path.pop() ^ 1]
                starts[node] += 1
        flow = min(self._left[edge] for edge in path)
        for edge in path:
            self._left[edge] -= flow
            self._left[edge ^ 1] += flow
        return flow
