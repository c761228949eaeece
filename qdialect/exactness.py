"""Classes of numeric exactness of a rewrite, exact, close and lossy, for passes, options and the command line."""

from enum import Enum


class Exactness(Enum):
    """How far a rewrite may change results, measured per op against the oracle form."""

    EXACT = "exact"
    """Bit-identical."""
    CLOSE = "close"
    """Integers differ by one step at most, floats by 1e-4 of the largest magnitude, or a step of half precision."""
    LOSSY = "lossy"
    """Results change by design."""

    def within(self, level: "Exactness") -> bool:
        """True if a rewrite of this class may run at `level`."""
        order = list(Exactness)
        return order.index(self) <= order.index(level)
