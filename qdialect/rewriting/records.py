"""Records of rewrites, for counting them and for attributing a numeric difference to one."""

from __future__ import annotations

from collections.abc import Generator, Sequence
from contextlib import contextmanager
from typing import NamedTuple

from xdsl.ir import Operation, OpResult, SSAValue

from qdialect.dialects.quant import StorageCastOp
from qdialect.ir.names import called, node_name, tensor_names


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


_RECORDS: list[Records] = []


@contextmanager
def recording(*, named: bool = True) -> Generator[Records]:
    """Context that collects the rewrites inside it. named: also their names, which take time."""
    records = Records(named)
    _RECORDS.append(records)
    try:
        yield records
    finally:
        _RECORDS[:] = [one for one in _RECORDS if one is not records]


def named(op: Operation) -> tuple[str, frozenset[str]]:
    """Name and adjacent names of an operation for its record; empty if no `recording` collects them."""
    return (called(op), _names_around(op)) if any(one.named for one in _RECORDS) else ("", frozenset())


def _names_around(op: Operation) -> frozenset[str]:
    around = [op, *(o.op for o in op.operands if isinstance(o, OpResult))]
    around += [use.operation for result in op.results for use in result.uses]
    return frozenset(name for one in around for name in (node_name(one), *tensor_names(one)) if name)


def record(
    pass_name: str,
    pattern: str,
    names: tuple[str, frozenset[str]],
    replaced: Sequence[tuple[SSAValue, SSAValue]],
    in_steps: Sequence[tuple[SSAValue, SSAValue]] = (),
    lowered: Sequence[tuple[SSAValue, Laid]] = (),
) -> None:
    """
    Record one rewrite: the names of its operation, and pairs (old, new) of replaced values; of `in_steps` the new value
    holds as many steps at another scale; of `lowered` it is a tensor of another dialect.
    """
    for records in _RECORDS:
        records.in_steps.update((new, old) for old, new in in_steps)
        for tensor, laid in lowered:
            records.lowered.setdefault(tensor, laid)
        for old, new in replaced:
            records.replaced(old, new)
        records.append(Rewritten(pass_name, pattern, *names))
