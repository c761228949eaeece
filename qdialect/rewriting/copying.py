"""Copies of a module with equal names, remarks and order of uses, so that passes treat them like the original."""

from __future__ import annotations

from collections.abc import Mapping
from typing import NamedTuple

from xdsl.dialects.builtin import ModuleOp
from xdsl.ir import Operation, SSAValue

from qdialect.ir.walking import operations
from qdialect.rewriting.remarks import copy_remarks


class Copy(NamedTuple):
    """A copied module, with the copy of each value and operation of the original."""

    module: ModuleOp
    values: Mapping[SSAValue, SSAValue]
    ops: Mapping[Operation, Operation]


def copied(module: ModuleOp) -> Copy:
    """A copy of `module` with its remarks, which passes rewrite as they would rewrite the module."""
    values: dict[SSAValue, SSAValue] = {}
    new = module.clone(values)
    ops = dict(zip(operations(module), operations(new), strict=True))
    for old, value in values.items():
        if old.has_more_than_one_use():
            _order_uses(old, value, ops)
    copy_remarks(module, new, ops)
    return Copy(new, values, ops)


def _order_uses(old: SSAValue, value: SSAValue, ops: Mapping[Operation, Operation]) -> None:
    """Order the uses of `value` as those of `old`: xDSL's clone has them in the order of the graph."""
    at = {(use.operation, use.index): use for use in value.uses}
    order = [at[ops[use.operation], use.index] for use in old.uses if use.operation in ops]
    for use in order:
        value.remove_use(use)
    for use in reversed(order):
        value.add_use(use)
