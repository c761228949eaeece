"""
One rewrite as a transaction: what it did to the IR, in order, so that all of it can be taken back.

A rewrite finds out late that an operation is in its way which was asked to stay in float: when it erases the last user
of it, or when it has given one of its operands another type. So every change is noted with its inverse, and each kept
operation that a change came near with its signature; at the end the signatures must be what they were. Only a module
that has kept operations is rewritten with a journal.
"""

from __future__ import annotations

from collections.abc import Callable, Sequence

from xdsl.ir import Attribute, Block, BlockArgument, Operation, OpResult, SSAValue
from xdsl.irdl import SSAValues

from qdialect.dialects.onnx_base import YieldOp
from qdialect.dialects.quant import element_type_of

KEEP_FLOAT = "qdialect.keep_float"
"""The attribute of an operation that no rewrite may change: `--keep-float`."""


class Kept(Exception):
    """A rewrite would change an operation that was asked to stay in float."""


def is_kept(op: object) -> bool:
    """Whether an operation was asked to stay in float. A pattern asks only where it chooses how far it reaches."""
    return isinstance(op, Operation) and KEEP_FLOAT in op.attributes


def _signature(op: Operation) -> tuple[Attribute, ...]:
    """The element types that an operation computes on and makes."""
    return tuple(element_type_of(v.type) for v in (*op.operands, *op.results))


class Journal:
    """The changes of one rewrite, and the kept operations around them."""

    def __init__(self) -> None:
        self._undo: list[Callable[[], None]] = []
        self._signatures: dict[Operation, tuple[Attribute, ...]] = {}
        self._erased: list[Operation] = []

    def touch(self, op: Operation | None) -> None:
        """An operation is about to change, or to be erased. Raises Kept if it was asked to stay."""
        if isinstance(op, YieldOp):  # what a subgraph yields, the operation around it makes
            op = op.parent_op()
        if is_kept(op):
            raise Kept

    def watch(self, value: SSAValue) -> None:
        """What makes `value` and what reads it must keep its signature."""
        for op in (value.owner, *(use.operation for use in value.uses)):
            one = op.parent_op() if isinstance(op, Block | YieldOp) else op
            if one is not None and is_kept(one):
                self._signatures.setdefault(one, _signature(one))

    def on_undo(self, action: Callable[[], None]) -> None:
        """Note how the change that comes next is taken back."""
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
        """Detach an operation, which can be put back until `commit`."""
        block, behind = op.parent, op.next_op
        operands = [(one, tuple(one.operands)) for one in op.walk()]

        def undo() -> None:
            for one, values in operands:
                one.operands = values
            if block is not None and behind is not None:
                block.insert_op_before(op, behind)
            elif block is not None:
                block.add_op(op)

        self._undo.append(undo)
        self._erased.append(op)
        op.detach()
        for one, _ in operands:
            one.operands = ()

    def check(self) -> None:
        """Raises Kept if an operation that was asked to stay computes on other types than before."""
        for op, signature in self._signatures.items():
            if _signature(op) != signature:
                raise Kept

    def commit(self) -> None:
        """Let go of what was erased."""
        for op in self._erased:
            op.drop_all_references()

    def rollback(self) -> None:
        """Take every change back, the last first."""
        for action in reversed(self._undo):
            action()
