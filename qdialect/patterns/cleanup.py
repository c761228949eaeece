"""
Patterns that sets of others take along: casts that undo each other, copies and quantized constants go as they arise.

A set that moves casts makes such pairs, and one less cast may be what lets the next one move. They only ever remove
operations or put one in place of several, so a set ends with them if it ends without.
"""

from collections.abc import Iterable, Sequence

from xdsl.ir import Operation

from qdialect.patterns.boundaries import RequantizeBehind
from qdialect.patterns.casts import (
    FoldRequantize,
    FoldStorageCasts,
    MergeQuantizes,
    MergeReadings,
    ReadNarrowing,
    ReadThrough,
)
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
    return [
        FoldRequantize(),
        ReadThrough(),
        MergeQuantizes(),
        MergeReadings(),
        FoldStorageCasts(),
        RequantizeBehind(),
        ReadNarrowing(),
    ]


def silent(patterns: Iterable[Pattern]) -> list[Pattern]:
    """`patterns`, each of which rewrites as before and gives no reason when it does not fire."""
    # each under the name of its pattern, by which a rewrite that went wrong is called
    return [type(type(one).__name__, (_Silent,), {})(one) for one in patterns]


def cleanups() -> Sequence[Pattern]:
    """The patterns of `fold-casts`, to follow those of another set; why one does not fire is not said."""
    return silent(cast_patterns())
