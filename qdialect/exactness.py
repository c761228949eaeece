"""How far a rewrite may move numbers: three classes, said once for passes, options and the command line."""

from enum import Enum


class Exactness(Enum):
    """How far a rewrite may move numbers, judged per op against the oracle form."""

    EXACT = "exact"
    """No element differs."""
    CLOSE = "close"
    """Integers by at most one step, floats by at most 1e-4 of the largest magnitude."""
    LOSSY = "lossy"
    """The meaning changes, on purpose."""

    def within(self, level: "Exactness") -> bool:
        """Whether a rewrite of this class may run at `level`."""
        order = list(Exactness)
        return order.index(self) <= order.index(level)
