"""Missed-rewrite remarks: a table beside the IR, printed by `--remarks` and `qdialect explain`."""

from __future__ import annotations

from collections.abc import Callable, Mapping
from dataclasses import dataclass
from weakref import WeakKeyDictionary

from xdsl.dialects.builtin import LocationAttr, ModuleOp
from xdsl.ir import Operation

from qdialect.ir.names import called
from qdialect.reasons import Blocked


@dataclass(frozen=True)
class Remark:
    """A rewrite that a pass did not apply to an operation, with the reason."""

    pass_name: str
    op: str
    """The operation's name in the IR, as `onnx.Conv`."""
    node: str
    """The ONNX node's name, or its first result's if the node has none."""
    blocked: Blocked
    location: LocationAttr
    """Location of the op: its ONNX names, or its line in a text."""

    def __str__(self) -> str:
        fix = f"; {self.blocked.fix}" if self.blocked.fix else ""
        return f"remark: {self.op} '{self.node}': {self.blocked.message}{fix} [{self.pass_name}: {self.blocked.id}]"


on_reason: Callable[[str, Blocked], None] | None = None
"""Set by tests: called with each reason and the name of the pass that gives it, to hold it against `Pass.reasons`."""


def given(pass_name: str, blocked: Blocked) -> None:
    """Called wherever a pass gives a reason of its own, whether or not it becomes a remark."""
    if on_reason is not None:
        on_reason(pass_name, blocked)


class RemarkTable:
    """
    The remarks of one module by operation, without duplicates, in the order in which they arose.

    Operations are held weakly: the remarks of an erased one are dropped, except from `iter`, which lists all.
    """

    def __init__(self) -> None:
        self._all: dict[Remark, None] = {}
        self._on: WeakKeyDictionary[Operation, dict[tuple[str, Blocked], Remark]] = WeakKeyDictionary()

    def add(self, pass_name: str, op: Operation, blocked: Blocked) -> None:
        """Record that `pass_name` did not rewrite `op`, for a reason of its own."""
        given(pass_name, blocked)
        self.record(pass_name, op, blocked)

    def record(self, pass_name: str, op: Operation, blocked: Blocked) -> None:
        """Record a reason that was `given`, or that `op` is kept in float."""
        remark = Remark(pass_name, op.name, called(op), blocked, op.location)
        self._all[remark] = None
        self._on.setdefault(op, {})[pass_name, blocked] = remark

    def moved(self, former: Operation, op: Operation) -> None:
        """Move the remarks on `former` to `op`, which replaces it."""
        remarks = self._on.pop(former, None)
        if remarks:
            self._on.setdefault(op, {}).update(remarks)

    def on(self, op: Operation) -> list[Remark]:
        """The remarks on an operation and on those that it replaced, in the order of passes."""
        return list(self._on.get(op, {}).values())

    def copied(self, ops: Mapping[Operation, Operation]) -> RemarkTable:
        """The table of a copied module, in which `ops` stand for those of this one."""
        table = RemarkTable()
        table._all.update(self._all)
        table._on.update((ops[op], dict(remarks)) for op, remarks in self._on.items() if op in ops)
        return table

    def __iter__(self):
        return iter(self._all)

    def __len__(self) -> int:
        return len(self._all)


_TABLES: WeakKeyDictionary[ModuleOp, RemarkTable] = WeakKeyDictionary()


def remarks_of(module: ModuleOp) -> RemarkTable:
    """The remark table of `module`; it lives as long as the module does."""
    return _TABLES.setdefault(module, RemarkTable())


def copy_remarks(module: ModuleOp, copy: ModuleOp, ops: Mapping[Operation, Operation]) -> None:
    """Give a copy of `module` its remarks; `ops` maps operations to their copies."""
    if (table := _TABLES.get(module)) is not None:
        _TABLES[copy] = table.copied(ops)
