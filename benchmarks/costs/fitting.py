"""Fit costs to what was measured."""

from collections.abc import Sequence

import numpy as np


def fitted(counts: Sequence[Sequence[float]], times: Sequence[float], least: float = 0.0) -> list[float]:
    """
    Nanoseconds for each thing that is counted, none negative, of the least squared error relative to `times`.

    What takes less than `least` nanoseconds weighs as much as that.
    """
    taken = np.maximum(np.array(times), least)
    a, b = np.array(counts) / taken[:, None], np.array(times) / taken
    used = list(range(a.shape[1]))
    while True:
        costs = np.linalg.lstsq(a[:, used], b, rcond=None)[0]
        if (costs >= 0).all():
            return [float(costs[used.index(k)]) if k in used else 0.0 for k in range(a.shape[1])]
        used.remove(used[int(np.argmin(costs))])
