"""Analysis of tensors whose elements are all equal, of known or unknown sizes."""

from __future__ import annotations

from xdsl.ir import OpResult, SSAValue

from qdialect.dialects.onnx_base import OnnxOp
from qdialect.ir.values import real_constant
from qdialect.promises.base import Commutes
from qdialect.promises.sizes import Fills

MOST = 1 << 20
"""Greatest number of elements of constants that are examined."""


def filled_with(value: SSAValue) -> float | None:
    """The number that all elements of `value` equal, through ops that move elements; None if unknown."""
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
