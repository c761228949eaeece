"""Why a rewrite did not fire: a table beside the IR, printed by `--remarks` and `qdialect explain`."""

from __future__ import annotations

from dataclasses import dataclass
from weakref import WeakKeyDictionary

from xdsl.dialects.builtin import LocationAttr, ModuleOp
from xdsl.ir import Operation

from qdialect.ir.names import called
from qdialect.reasons import Blocked


@dataclass(frozen=True)
class Remark:
    """One rewrite that one pass would have made, and what stood in the way."""

    pass_name: str
    op: str
    """The operation's name in the IR, as `onnx.Conv`."""
    node: str
    """The ONNX node, or the tensor it makes if the node has no name."""
    blocked: Blocked
    location: LocationAttr
    """Where the op came from: its ONNX names, or its line in a text."""

    def __str__(self) -> str:
        fix = f"; {self.blocked.fix}" if self.blocked.fix else ""
        return f"remark: {self.op} '{self.node}': {self.blocked.message}{fix} [{self.pass_name}: {self.blocked.id}]"


class RemarkTable:
    """
    The remarks of one module by the operation that they are on, each once, in the order in which they arose.

    Operations are held weakly: those that are erased take their remarks with them, but for `iter`, which lists all.
    """

    def __init__(self) -> None:
        self._all: dict[Remark, None] = {}
        self._on: WeakKeyDictionary[Operation, dict[tuple[str, Blocked], Remark]] = WeakKeyDictionary()

    def add(self, pass_name: str, op: Operation, blocked: Blocked) -> None:
        """Note that `pass_name` left `op` alone."""
        remark = Remark(pass_name, op.name, called(op), blocked, op.location)
        self._all[remark] = None
        self._on.setdefault(op, {})[pass_name, blocked] = remark

    def moved(self, former: Operation, op: Operation) -> None:
        """Let the remarks on `former` be on `op`, which comes in its place."""
        remarks = self._on.pop(former, None)
        if remarks:
            self._on.setdefault(op, {}).update(remarks)

    def on(self, op: Operation) -> list[Remark]:
        """The remarks on an operation, and on those that it came in the place of; the last pass's last."""
        return list(self._on.get(op, {}).values())

    def __iter__(self):
        return iter(self._all)

    def __len__(self) -> int:
        return len(self._all)


_TABLES: WeakKeyDictionary[ModuleOp, RemarkTable] = WeakKeyDictionary()


def remarks_of(module: ModuleOp) -> RemarkTable:
    """The remark table of `module`; it lives as long as the module does."""
    return _TABLES.setdefault(module, RemarkTable())
