"""
Cleanup patterns that other sets include: inverse casts, copies and quantizes of constants are folded as they arise.

A set that moves casts creates such pairs, and removing one may enable the next move. Cleanups only remove
operations or replace several by one, so a set that terminates without them terminates with them.
"""

from collections.abc import Iterable, Sequence
from contextlib import suppress
from functools import cache

from xdsl.ir import Operation

from qdialect.patterns.casts import (
    FoldRequantize,
    FoldStorageCasts,
    MergeQuantizes,
    MergeReadings,
    ReadNarrowing,
    ReadThrough,
)
from qdialect.patterns.region_casts import RequantizeBehind
from qdialect.reasons import Refused
from qdialect.rewriting.driver import Pattern, Rewriter


class _Silent(Pattern):
    """A pattern that reports no reasons, which its own pass reports."""

    def __init__(self, pattern: Pattern):
        self._pattern = pattern

    def accepts(self, op_class: type[Operation]) -> bool:
        return self._pattern.accepts(op_class)

    def rewrite(self, op: Operation, rewriter: Rewriter) -> None:
        with suppress(Refused):
            self._pattern.rewrite(op, rewriter)


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
    """`patterns` without the reasons that they return if blocked."""
    return [_silent_type(type(one).__name__)(one) for one in patterns]


@cache
def _silent_type(name: str) -> type[_Silent]:
    """`_Silent` under the name of a pattern, by which a rewrite is reported. Cached: each pass asks for several."""
    return type(name, (_Silent,), {})


def cleanups() -> Sequence[Pattern]:
    """The patterns of `fold-casts`, without reasons, to append to another set."""
    return silent(cast_patterns())
