"""Why a rewrite did not fire: a table beside the IR, printed by `--remarks` and `qdialect explain`."""

from __future__ import annotations

from dataclasses import dataclass, field
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


@dataclass
class RemarkTable:
    """The remarks of one module, in the order in which they arose, each once."""

    remarks: dict[Remark, None] = field(default_factory=dict[Remark, None])

    def add(self, pass_name: str, op: Operation, blocked: Blocked) -> None:
        """Note that `pass_name` left `op` alone."""
        self.remarks[Remark(pass_name, op.name, called(op), blocked, op.location)] = None

    def __iter__(self):
        return iter(self.remarks)

    def __len__(self) -> int:
        return len(self.remarks)


_TABLES: WeakKeyDictionary[ModuleOp, RemarkTable] = WeakKeyDictionary()


def remarks_of(module: ModuleOp) -> RemarkTable:
    """The remark table of `module`; it lives as long as the module does."""
    return _TABLES.setdefault(module, RemarkTable())
