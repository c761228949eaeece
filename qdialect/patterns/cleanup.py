"""
Casts that undo each other go as soon as they meet: the patterns of `fold-casts`, for other sets to take along.

A set that moves casts makes such pairs, and one less cast may be what lets the next one move. They only ever remove
casts or put one in place of several, so a set ends with them if it ends without.
"""

from collections.abc import Sequence

from xdsl.ir import Operation

from qdialect.patterns.boundaries import RequantizeBehind
from qdialect.patterns.casts import FoldRequantize, FoldStorageCasts, MergeQuantizes, ReadNarrowing
from qdialect.reasons import Blocked
from qdialect.rewriting.driver import Pattern, Rewriter


class _Silent(Pattern):
    """A pattern whose reasons are for its own pass to give."""

    def __init__(self, pattern: Pattern):
        self._pattern = pattern

    def accepts(self, op_class: type[Operation]) -> bool:
        return self._pattern.accepts(op_class)

    def rewrite(self, op: Operation, rewriter: Rewriter) -> Blocked | None:
        self._pattern.rewrite(op, rewriter)
        return None


def cast_patterns() -> Sequence[Pattern]:
    """The patterns of `fold-casts`."""
    return [FoldRequantize(), MergeQuantizes(), FoldStorageCasts(), RequantizeBehind(), ReadNarrowing()]


def cleanups() -> Sequence[Pattern]:
    """The same, to follow the patterns of another set; why one does not fire is not said."""
    # each under the name of its pattern, by which a rewrite that went wrong is called
    return [type(type(one).__name__, (_Silent,), {})(one) for one in cast_patterns()]
