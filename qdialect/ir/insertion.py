"""Positions in a block: the block of an operation, its neighbours, the terminator; and insertion."""

from __future__ import annotations

from collections.abc import Sequence
from typing import TypeVar

from xdsl.ir import Block, Operation, SSAValue

from qdialect.dialects.onnx_base import ConstantOp, OnnxOp

OpT = TypeVar("OpT", bound=Operation)


def block_of(op: Operation) -> Block:
    """The block of an operation. ValueError if it is in none."""
    if op.parent is None:
        raise ValueError(f"{op.name} is in no block")
    return op.parent


def insert_before(anchor: Operation, *ops: Operation) -> None:
    """Insert operations before `anchor`, in order. ValueError if it is in no block."""
    block_of(anchor).insert_ops_before(list(ops), anchor)


def remove(op: Operation) -> None:
    """Take an operation without users out of its block and erase it."""
    op.detach()
    op.erase()


def discard(drafts: Sequence[Operation]) -> None:
    """Erase operations that were never inserted: else the values that they read would keep a use by them."""
    for op in reversed(drafts):
        op.erase()


def put_constant(op: Operation, place: int, constant: ConstantOp) -> None:
    """Insert a constant before `op` as its operand `place`; the former operand is erased if it becomes unused."""
    old = op.operands[place].owner
    insert_before(op, constant)
    op.operands[place] = constant.results[0]
    if isinstance(old, ConstantOp) and old.results[0].first_use is None:
        remove(old)


def first_of(block: Block) -> Operation:
    """The first operation of a block. ValueError if it has none."""
    if block.first_op is None:
        raise ValueError("the block is empty")
    return block.first_op


def next_of(op: Operation) -> Operation:
    """The operation after `op`. ValueError if it is the last one of its block."""
    if op.next_op is None:
        raise ValueError(f"nothing stands behind {op.name}")
    return op.next_op


def behind(value: SSAValue) -> Operation:
    """The operation after the one that defines `value`, or the first of the block that it is an argument of."""
    return first_of(value.owner) if isinstance(value.owner, Block) else next_of(value.owner)


def end_of(block: Block, kind: type[OpT]) -> OpT:
    """The terminator of a block, of class `kind`. TypeError if it is of another class."""
    if not isinstance(block.last_op, kind):
        raise TypeError(f"the block does not end with {kind.name}")
    return block.last_op


def onnx_op(op: Operation | Block) -> OnnxOp:
    """`op` as an ONNX operation. TypeError if it is something else."""
    if not isinstance(op, OnnxOp):
        raise TypeError(f"{op.name if isinstance(op, Operation) else 'a block'} is no ONNX operator")
    return op
