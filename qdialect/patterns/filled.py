"""Tensors all of whose elements are one number, whatever their sizes."""

from __future__ import annotations

from xdsl.ir import OpResult, SSAValue

from qdialect.dialects.onnx_base import OnnxOp
from qdialect.ir.values import real_constant
from qdialect.promises.base import Commutes
from qdialect.promises.sizes import Fills

MOST = 1 << 20
"""Elements of a constant that are compared."""


def filled_with(value: SSAValue) -> float | None:
    """The one number that `value` holds everywhere, as it is or moved; None if it may hold others."""
    while isinstance(value, OpResult) and isinstance(value.op, OnnxOp) and value.op.operands:
        op = value.op
        if (fills := op.get_trait(Fills)) is not None:
            return fills.number(op)
        promise = op.get_trait(Commutes)
        if promise is None or not promise.moves_storage or list(promise.operands(op)) != [0]:
            return None
        value = op.operands[0]
    array = real_constant(value)
    if array is None or not 0 < array.size <= MOST or array.dtype.kind not in "fiu":
        return None
    first = array.reshape(-1)[0]
    return float(first) if (array == first).all() else None
