"""Weights and biases of floats that are integers, around a quantize of integers: read as stored integers of scale 1."""

from __future__ import annotations

import numpy as np
from xdsl.ir import SSAValue

from qdialect.dialects.onnx_base import OnnxOp
from qdialect.dialects.quant import DequantizeOp, Storage, UniformType
from qdialect.ir.build import constant_op
from qdialect.ir.names import value_name
from qdialect.ir.values import constant_array
from qdialect.promises.arithmetic import producer, shift
from qdialect.promises.base import Commutes
from qdialect.promises.integral import is_integral
from qdialect.promises.linear import Linear
from qdialect.rewriting.driver import Rewriter

ONE = np.float32(1)


def read_integral_weights(above: SSAValue, below: SSAValue, rewriter: Rewriter) -> None:
    """Those of the linear op that computes `above`, and of all that multiply `below`, moved since perhaps."""
    read_weights_above(above, rewriter)
    waiting, seen = [below], {below}
    while waiting:
        for use in list(waiting.pop().uses):
            op = use.operation
            if not isinstance(op, OnnxOp):
                continue
            if op.get_trait(Linear) is not None and use.index == 0:
                _read(op, rewriter)
            elif op.get_trait(Commutes) is not None:
                waiting += [result for result in op.results if result not in seen]
                seen.update(op.results)


def read_weights_above(value: SSAValue, rewriter: Rewriter) -> None:
    """Those of the linear op that defines `value`, below moves and added constants."""
    op = producer(value)
    while op is not None and op.get_trait(Linear) is None:
        moves, added = op.get_trait(Commutes), shift(op)
        if moves is not None and len(moves.operands(op)) == 1:
            op = producer(moves.operand_values(op)[0])
        else:
            op = None if added is None else producer(added.value)
    if op is not None:
        _read(op, rewriter)


def _read(op: OnnxOp, rewriter: Rewriter) -> None:
    """Quantize the integral float constants of a linear op."""
    for place, storage in ((1, Storage.of("i8")), (2, Storage.of("i32"))):
        weight = op.input(place)
        array = constant_array(weight)
        if weight is None or array is None or array.dtype != np.float32 or not is_integral(array):
            continue
        if not array.size:  # a product over no elements
            continue
        if array.min() < storage.low or array.max() > storage.high - (storage.width == 32) * 127:
            continue  # float32 has no 2**31 - 1
        values = array.astype(storage.dtype)
        constant = constant_op(values, value_name(weight), UniformType.per_tensor(storage, ONE))
        real = DequantizeOp(constant.results[0])
        rewriter.insert_before(op, [constant, real])
        rewriter.set_operand(op, place, real.results[0])
