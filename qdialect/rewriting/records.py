"""Records of rewrites, for counting them and for attributing a numeric difference to one."""

from __future__ import annotations

from collections.abc import Generator, Sequence
from contextlib import contextmanager
from contextvars import ContextVar
from typing import NamedTuple

from xdsl.dialects.builtin import LocationAttr
from xdsl.ir import Operation, OpResult, SSAValue

from qdialect.dialects.quant import StorageCastOp
from qdialect.ir.names import names_in


class Rewritten(NamedTuple):
    """One rewrite: its pass, its pattern, and the operation around which it happened."""

    pass_name: str
    pattern: str
    op: str
    """Name of the operation in messages."""
    names: frozenset[str]
    """Names of its node and tensors, and of adjacent ones."""


class Laid(NamedTuple):
    """A value that is held by a tensor of another dialect, and its layout."""

    value: SSAValue
    last: bool
    """True if the tensor has its channels last, False for ONNX's order of axes."""


class Records(list[Rewritten]):
    """The rewrites of a `recording`."""

    def __init__(self, named: bool = True):
        super().__init__()
        self.named = named
        self.stands_for: dict[SSAValue, SSAValue] = {}
        """Replaced value, by its replacement; quantized value, by the stored integers that it reads."""
        self.in_steps: dict[SSAValue, SSAValue] = {}
        """Replaced quantized value, by the one that holds as many steps at another scale."""
        self.lowered: dict[SSAValue, Laid] = {}
        """Lowered values, by the tensor of another dialect that holds them."""

    def replaced(self, old: SSAValue, new: SSAValue) -> None:
        """Record that `new` has replaced `old`."""
        self.stands_for.setdefault(new, old)
        if isinstance(new.owner, StorageCastOp) and new.owner.operands:
            self.stands_for.setdefault(new.owner.operands[0], new)


_RECORDS: ContextVar[tuple[Records, ...]] = ContextVar("records", default=())
"""The open recordings of this thread."""


@contextmanager
def recording(*, named: bool = True) -> Generator[Records]:
    """Context that collects the rewrites inside it. named: also their names, which take time."""
    records = Records(named)
    _RECORDS.set((*_RECORDS.get(), records))
    try:
        yield records
    finally:
        _RECORDS.set(tuple(one for one in _RECORDS.get() if one is not records))


class Around(NamedTuple):
    """An operation and those beside it, as they are before a rewrite: their names are read if there is one."""

    op: str
    """The operator's name."""
    locations: Sequence[LocationAttr]
    """That of the operation first; none if no `recording` collects names."""

    def names(self) -> tuple[str, frozenset[str]]:
        """Name and adjacent names of the operation for its record."""
        if not self.locations:
            return "", frozenset()
        own = [*names_in(self.locations[0]), "", ""]
        return own[0] or own[1] or self.op, frozenset(n for one in self.locations for n in names_in(one) if n)


_UNNAMED = Around("", ())


def around(op: Operation) -> Around:
    """What `record` needs to name an operation that is about to be rewritten."""
    for one in _RECORDS.get():  # a loop, as this is asked before each attempt of a rewrite
        if one.named:
            return Around(op.name, _locations_around(op))
    return _UNNAMED


def _locations_around(op: Operation) -> list[LocationAttr]:
    locations = [op.location, *(o.op.location for o in op.operands if isinstance(o, OpResult))]
    for result in op.results:
        locations += [use.operation.location for use in result.uses]
    return locations


def record(
    pass_name: str,
    pattern: str,
    beside: Around,
    replaced: Sequence[tuple[SSAValue, SSAValue]],
    in_steps: Sequence[tuple[SSAValue, SSAValue]] = (),
    lowered: Sequence[tuple[SSAValue, Laid]] = (),
) -> None:
    """
    Record one rewrite: the operation around which it happened, and pairs (old, new) of replaced values; of `in_steps`
    the new value holds as many steps at another scale; of `lowered` it is a tensor of another dialect.
    """
    names = beside.names()
    for records in _RECORDS.get():
        records.in_steps.update((new, old) for old, new in in_steps)
        for tensor, laid in lowered:
            records.lowered.setdefault(tensor, laid)
        for old, new in replaced:
            records.replaced(old, new)
        records.append(Rewritten(pass_name, pattern, *names))
