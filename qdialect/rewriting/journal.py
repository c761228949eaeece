"""
Journal of one rewrite as a transaction: its changes of the IR in order, so that they can be rolled back.

A rewrite may detect late that it affects an operation that is kept in float: when it erases the last user of it, or
after it has given one of its operands another type. So every change is recorded with its inverse, and each kept
operation next to a change with its signature; at the end the signatures must be unchanged. A journal is used only for
modules that have kept operations.
"""

from __future__ import annotations

from collections.abc import Callable, Sequence
from dataclasses import replace

from xdsl.dialects.builtin import ArrayAttr, StringAttr, UnitAttr
from xdsl.ir import Attribute, Block, BlockArgument, Operation, OpResult, SSAValue
from xdsl.irdl import SSAValues

from qdialect.dialects.onnx_base import YieldOp
from qdialect.dialects.quant import element_type_of
from qdialect.reasons import Blocked

KEEP_FLOAT = "qdialect.keep_float"
"""The attribute of an operation that no rewrite may change: `--keep-float`, or what `keep-half` marks."""
KEPT = Blocked("kept-float", "--keep-float excludes it")
HALF_PRECISION = Blocked(
    "inexact-arithmetic",
    "whether onnxruntime rounds to half precision between two ops depends on these, so the op is not rewritten",
    "allow --exactness close",
)


class Kept(Exception):
    """A rewrite would change an operation that is kept in float."""

    def __init__(self, reason: Blocked):
        super().__init__(reason.message)
        self.reason = reason


def kept_because(op: Operation) -> Blocked:
    """The reason why an operation is kept in float."""
    said = op.attributes[KEEP_FLOAT]
    if isinstance(said, ArrayAttr):
        id_, message, fix = (one.data for one in said.data if isinstance(one, StringAttr))
        return replace(KEPT, id=id_, message=message, fix=fix)
    return KEPT if isinstance(said, UnitAttr) else HALF_PRECISION


def keep(op: Operation, because: Blocked = KEPT) -> None:
    """Let no rewrite change an operation."""
    texts = because.id, because.message, because.fix
    op.attributes[KEEP_FLOAT] = UnitAttr() if because == KEPT else ArrayAttr(map(StringAttr, texts))


def is_kept(op: object) -> bool:
    """True if an operation is kept in float. A pattern calls it only to choose how far it reaches."""
    return isinstance(op, Operation) and KEEP_FLOAT in op.attributes


def _signature(op: Operation) -> tuple[Attribute, ...]:
    """The element types of an operation's operands and results."""
    return tuple(element_type_of(v.type) for v in (*op.operands, *op.results))


def _own_parts(op: Operation) -> None:
    """Make regions, blocks and operations in `op` know again what they are in, which `drop_all_references` undid."""
    for region in op.regions:
        region.parent = op
        for block in region.blocks:
            block.parent = region
            for inner in block.ops:
                inner.parent = block


class Journal:
    """The changes of one rewrite, and the kept operations around them."""

    def __init__(self) -> None:
        self._undo: list[Callable[[], None]] = []
        self._signatures: dict[Operation, tuple[Attribute, ...]] = {}

    def touch(self, op: Operation | None) -> None:
        """Record that `op` is about to be changed or erased. Raises Kept if it is kept in float."""
        if isinstance(op, YieldOp):  # its operands are results of the parent operation
            op = op.parent_op()
        if op is not None and is_kept(op):
            raise Kept(kept_because(op))

    def watch(self, value: SSAValue) -> None:
        """The operations that define and use `value`, if kept, must keep their signatures."""
        for op in (value.owner, *(use.operation for use in value.uses)):
            one = op.parent_op() if isinstance(op, Block | YieldOp) else op
            if one is not None and is_kept(one):
                self._signatures.setdefault(one, _signature(one))

    def on_undo(self, action: Callable[[], None]) -> None:
        """Record the inverse of the next change."""
        self._undo.append(action)

    def inserted(self, ops: Sequence[Operation]) -> None:
        """Note operations that were inserted."""

        def undo() -> None:
            for op in reversed(ops):
                op.detach()
                op.drop_all_references()

        self._undo.append(undo)

    def operand(self, op: Operation, index: int) -> None:
        """Note the operand that is about to be replaced."""
        former = op.operands[index]

        def undo() -> None:
            op.operands[index] = former

        self._undo.append(undo)

    def uses(self, value: SSAValue) -> None:
        """Note the users of `value`, which are about to take another."""
        for use in value.uses:
            self.operand(use.operation, use.index)

    def retyped(self, value: SSAValue) -> None:
        """Note a value that is about to be replaced, where it is made, by one of another type."""
        owner = value.owner

        def undo() -> None:
            if isinstance(value, OpResult):
                value.op.results = SSAValues(value if r.index == value.index else r for r in value.op.results)
            elif isinstance(owner, Block) and isinstance(value, BlockArgument):
                args = owner.args
                owner._args = (*args[: value.index], value, *args[value.index + 1 :])  # pyright: ignore[reportPrivateUsage]

        self._undo.append(undo)
        self.uses(value)

    def erase(self, op: Operation) -> None:
        """Detach an operation; its operands stay readable, but have no use by it."""
        block, behind = op.parent, op.next_op
        operands = [(one, tuple(one.operands)) for one in op.walk()]

        def undo() -> None:
            for one, values in operands:
                one.operands = values
                _own_parts(one)
            if block is not None and behind is not None:
                block.insert_op_before(op, behind)
            elif block is not None:
                block.add_op(op)

        self._undo.append(undo)
        op.detach()
        op.drop_all_references()

    def check(self) -> None:
        """Raises Kept if a kept operation computes on other types than before."""
        for op, signature in self._signatures.items():
            if _signature(op) != signature:
                raise Kept(kept_because(op))

    def rollback(self) -> None:
        """Undo all changes, the last first."""
        for action in reversed(self._undo):
            action()
