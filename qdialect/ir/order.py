"""Verifier of dominance: each operand is defined before its use, which xDSL does not check in parsed text."""

from __future__ import annotations

from xdsl.ir import Block, Operation
from xdsl.utils.exceptions import VerifyException

from qdialect.ir.walking import operations

NOT_THERE = "takes a value that is not there yet where it stands"


def misplaced(root: Operation) -> Operation | None:
    """The first operation in `root` with an operand that does not dominate it; None if there is none."""
    place: dict[Operation, int] = {op: k for k, op in enumerate(operations(root))}
    for user in place:
        for value in user.operands:
            owner = value.owner
            block = owner if isinstance(owner, Block) else owner.parent
            around: Operation | None = user
            while around is not None and around.parent is not block:
                around = around.parent_op()
            if around is None or (isinstance(owner, Operation) and place[owner] >= place[around]):  # O14
                return user
    return None


def verify_order(root: Operation) -> None:
    """Raise VerifyException if an operand is defined after its use, or in a subgraph."""
    pair = misplaced(root)
    if pair is not None:
        raise VerifyException(f"{pair.name} {NOT_THERE}")
