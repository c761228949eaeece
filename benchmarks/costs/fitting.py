"""Fit costs to what was measured."""

from collections.abc import Sequence

import numpy as np

LEAST = 1000.0
"""Nanoseconds: the clock and the session vary by about as much, so what takes less weighs as if it took this."""


def fitted(counts: Sequence[Sequence[float]], times: Sequence[float]) -> list[float]:
    """Nanoseconds for each thing that is counted, none negative, of the least squared error relative to `times`."""
    taken = np.maximum(np.array(times), LEAST)
    a, b = np.array(counts) / taken[:, None], np.array(times) / taken
    used = list(range(a.shape[1]))
    while True:
        costs = np.linalg.lstsq(a[:, used], b, rcond=None)[0]
        if (costs >= 0).all():
            return [float(costs[used.index(k)]) if k in used else 0.0 for k in range(a.shape[1])]
        used.remove(used[int(np.argmin(costs))])
