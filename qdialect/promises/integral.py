"""Which float values hold integers: so a threshold of them stands for all numbers down to the next integer."""

from __future__ import annotations

import numpy as np
from xdsl.dialects.builtin import IntegerType
from xdsl.ir import OpResult, SSAValue

from qdialect.dialects.onnx_base import OnnxOp
from qdialect.dialects.onnx_types import element_of, quantized_of
from qdialect.dialects.quant import DequantizeOp
from qdialect.ir.values import constant_array
from qdialect.numerics import Array
from qdialect.promises.arithmetic import Converts, Rounds
from qdialect.promises.base import Commutes
from qdialect.promises.elementwise import Joins
from qdialect.promises.fake_quantize import FakeQuantizes
from qdialect.promises.linear import Linear
from qdialect.reasons import Blocked, answer

MAX_FOLLOWED_OPS = 64
"""Greatest number of ops above a value that are asked."""


def is_integral(array: Array) -> bool:
    """True if every element is an integer."""
    with np.errstate(invalid="ignore"):
        return bool(np.all(np.isfinite(array) & (array == np.rint(array))))


def holds_integers(value: SSAValue) -> bool:
    """True if every element of a float value is an integer, whatever the inputs are."""
    todo, seen = [value], {value}
    while todo:
        read = todo.pop()
        operands = _of_integers(read)
        if operands is None or len(seen) > MAX_FOLLOWED_OPS:
            return False
        todo += [one for one in operands if one not in seen]
        seen.update(operands)
    return True


def _of_integers(value: SSAValue) -> list[SSAValue] | None:
    """The values that must hold integers so that `value` does; None if it may hold others."""
    op = value.op if isinstance(value, OpResult) else None
    if isinstance(op, DequantizeOp):
        type = quantized_of(op.operands[0].type)
        return [] if type is not None and is_integral(type.scales) else None
    if not isinstance(op, OnnxOp):
        return None
    if (array := constant_array(value)) is not None:
        return [] if is_integral(array) else None
    if (moves := op.get_trait(Commutes)) is not None:
        return moves.operand_values(op)
    if op.get_trait(Rounds) is not None:
        return []
    if op.get_trait(Converts) is not None:
        return [] if isinstance(element_of(op.operands[0].type), IntegerType) else None
    if (quantizes := op.get_trait(FakeQuantizes)) is not None:
        stated = answer(quantizes.parameters, op)
        return [] if not isinstance(stated, Blocked) and is_integral(stated.stands_for) else None
    scales = [op.float_attr(name, 1.0) for name in ("alpha", "beta")]
    is_sum = op.get_trait(Linear) is not None and all(scale == int(scale) for scale in scales)
    return list(op.operands) if is_sum or op.get_trait(Joins) is not None else None
