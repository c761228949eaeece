"""The content of a module's operations, to tell which of them a pass changed."""

from __future__ import annotations

from functools import cache
from typing import Any

from xdsl.dialects.builtin import ModuleOp
from xdsl.ir import Operation

from qdialect.dialects.onnx_base import OnnxOp
from qdialect.ir.walking import operations
from qdialect.onnx_io.opsets import IMPORTS, version_of

Rows = dict[Operation, tuple[Any, ...]]


def rows_of(module: ModuleOp) -> Rows:
    """The content of each op, its schema version included. Holding the operations prevents the reuse of their ids."""
    opset = version_of(module.attributes.get(IMPORTS))
    return {
        op: (
            *op.operands,
            *(result.type for result in op.results),
            *op.properties.items(),
            *op.attributes.items(),
            _version(type(op), opset) if isinstance(op, OnnxOp) else None,
        )
        for op in operations(module)
    }


@cache
def _version(op_class: type[OnnxOp], opset: int) -> object:
    """The schema version of ops of a class; None for other domains."""
    schema = op_class.SCHEMA
    return None if schema is None or schema.domain else schema.at(opset)


def changed_ops(before: Rows, now: Rows) -> set[Operation]:
    """The ops that are new or changed, and those whose regions contain them."""
    ops: set[Operation] = set()
    for op, row in now.items():
        if before.get(op) == row:
            continue
        one: Operation | None = op
        while one is not None and one not in ops:
            ops.add(one)
            one = one.parent_op()
    return ops
