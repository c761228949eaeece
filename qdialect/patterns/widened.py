"""The pattern that reads a product of integers of 8 bits in 32 as the integer sum that it is."""

import numpy as np
from xdsl.ir import SSAValue

from qdialect.dialects.onnx_base import OnnxOp, onnx_opset
from qdialect.dialects.onnx_types import BY_NUMPY, element_of
from qdialect.forms.nodes import Nodes
from qdialect.ir.names import location, node_name, wish
from qdialect.ir.values import constant_array, rank_of
from qdialect.numerics import Array
from qdialect.ops.generated import op_named
from qdialect.promises.arithmetic import unwidened
from qdialect.promises.integer import IntegerSum
from qdialect.rewriting.driver import Rewriter
from qdialect.rewriting.matching import OnTrait

I32 = BY_NUMPY["int32"].attribute
BYTES = {BY_NUMPY[name].attribute: name for name in ("int8", "uint8")}
FIRST_OPSET = 10
"""The first opset that has sums of 8-bit integers."""


class SumOfBytes(OnTrait[IntegerSum]):
    """A product of int32 whose operands are 8-bit integers, less a zero point perhaps, or constants of that size."""

    def match(self, op: OnnxOp, promise: IntegerSum, rewriter: Rewriter, /) -> None:
        if element_of(op.results[0].type) != I32 or onnx_opset(op) < FIRST_OPSET:
            return
        if promise.guard(op) is not None or promise.turned(op) or op.input(2) is not None:
            return
        nodes = Nodes(op)
        x, w = (_bytes(value, nodes) for value in op.operands[:2])
        if x is None or w is None or 1 in (rank_of(value) for value in op.operands[:2]):
            return
        zeros = [x[1], w[1]] if x[1].any() or w[1].any() else []
        inputs = [
            x[0],
            w[0],
            *(
                nodes.constant(zero, name=f"{wish(op.operands[k])}_zero_point")
                for k, zero in enumerate(zeros)
            ),
        ]
        new = op_named("", promise.op_type).build(inputs, op.result_types, promise.attributes(op))
        new.location = location(node_name(op))
        nodes.append(new)
        rewriter.replace(op, nodes.ops)


def _bytes(value: SSAValue, nodes: Nodes) -> tuple[SSAValue, Array] | None:
    """The 8-bit integers that a value of int32 is, and the zero point that it lacks; None if there are none."""
    array = constant_array(value)
    if array is not None:
        for name in BYTES.values():
            if array.size and np.array_equal(array.astype(name), array):
                return nodes.constant(array.astype(name), name=wish(value)), np.zeros((), name)
        return None
    integers, zero = unwidened(value)
    element = element_of(integers.type)
    name = None if element is None else BYTES.get(element)
    if name is None or zero.size != 1 or not np.array_equal(zero.astype(name), zero):
        return None
    return integers, zero.astype(name).reshape(())
