"""What a form has built: the kinds of its ops, and constant operands."""

from __future__ import annotations

from typing import Any

from xdsl.ir import Operation

from qdialect.dialects.onnx_base import ConstantOp, OnnxOp
from qdialect.ir.values import constant_array
from qdialect.reasons import Blocked

I8 = "!quant.uniform<i8:f32, 0.5:-3>"


def names(ops: object) -> list[str]:
    """The kinds of ops that are no constants; of `Blocked`, its id; nothing of None."""
    if isinstance(ops, Blocked):
        return [ops.id]
    every: Any = ops or ()
    return [op.op_type for op in every if isinstance(op, OnnxOp) and not isinstance(op, ConstantOp)]


def numbers(op: Operation, place: int) -> list[Any]:
    """A constant operand."""
    array = constant_array(op.operands[place])
    assert array is not None
    return array.tolist()
