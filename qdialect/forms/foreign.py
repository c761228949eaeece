"""com.microsoft nodes that are ONNX's own ops in another layout of their operands."""

from __future__ import annotations

from collections.abc import Callable, Sequence
from dataclasses import dataclass

import numpy as np
from xdsl.dialects.builtin import DenseArrayBase, Float32Type, i64
from xdsl.ir import Operation, SSAValue

from qdialect.dialects.onnx_attributes import int_attr
from qdialect.dialects.onnx_base import ConstantOp, OnnxOp, opset_of
from qdialect.dialects.onnx_tensor import from_array
from qdialect.dialects.onnx_types import BY_NUMPY, DYNAMIC, element_of, shape_of, tensor_type
from qdialect.forms.base import Form
from qdialect.ir.values import constant_array
from qdialect.ops.generated import op_named
from qdialect.promises.weight_only import unpacked_weight
from qdialect.reasons import Blocked

FIRST_WITH_BLOCKS = 21
"""The first opset whose DequantizeLinear knows blocks and 4 bits."""
FIRST_INTEGER_POOL = 12
"""The first opset whose MaxPool takes integers."""
FLOAT_SUMS = (0, 1)
"""accuracy_level: the activations are not rounded. 0 leaves that to onnxruntime, which does round some."""
TRANSPOSE = op_named("", "Transpose")
TO_FIRST, TO_LAST = (0, 3, 1, 2), (0, 2, 3, 1)


@dataclass(frozen=True)
class StandsFor(Form):
    """The node can be written as ONNX's own ops, the last of which makes its result."""

    parts: Callable[[OnnxOp], Sequence[Operation] | Blocked]
    """If the last of them turns its operand's axes, a user that turns them back can take that operand."""
    written: bool
    """Whether lowering to QOperator form writes the node again from these ops."""


def _turn(value: SSAValue, perm: Sequence[int]) -> OnnxOp:
    shape, element = shape_of(value.type) or (DYNAMIC,) * 4, element_of(value.type)
    assert element is not None
    turned = tensor_type(element, tuple(shape[p] for p in perm))
    return op_named("", "Transpose").build([value], [turned], {"perm": DenseArrayBase.from_list(i64, perm)})


def perm_of(op: Operation) -> tuple[int, ...] | None:
    """How an op turns the axes of its operand; None if that is not what it does, or it does not say how."""
    if not isinstance(op, TRANSPOSE):
        return None
    given = op.ints_attr("perm")
    return None if given is None else tuple(given)


def _max_pool_parts(op: OnnxOp) -> Sequence[Operation] | Blocked:
    """NhwcMaxPool: MaxPool of images, channels last."""
    if (opset_of(op, "") or FIRST_INTEGER_POOL) < FIRST_INTEGER_POOL:
        return Blocked("opset", f"MaxPool takes integers from opset {FIRST_INTEGER_POOL} on")
    element = element_of(op.operands[0].type)
    if element is None:
        return Blocked("storage-type", "the type of the integers is not known")
    source = op.operands[0].owner
    if isinstance(source, TRANSPOSE) and perm_of(source) == TO_LAST and source.parent is op.parent:
        turned, x = [], source.operands[0]
    else:
        turned = [_turn(op.operands[0], TO_FIRST)]
        x = turned[0].results[0]
    made = shape_of(op.results[0].type) or (DYNAMIC,) * 4
    first = tensor_type(element, tuple(made[p] for p in TO_FIRST))
    pool = op_named("", "MaxPool").build([x], [first], op.onnx_attributes)
    after = _turn(pool.results[0], TO_LAST)
    after.results[0]._type = op.results[0].type  # pyright: ignore[reportPrivateUsage]
    return [*turned, pool, after]


def _product_parts(op: OnnxOp) -> Sequence[Operation] | Blocked:
    """MatMulNBits: MatMul with a weight dequantized block by block."""
    if (opset_of(op, "") or 0) < FIRST_WITH_BLOCKS:
        return Blocked(
            "opset", f"a weight in blocks needs opset {FIRST_WITH_BLOCKS}", "raise the model's opset"
        )
    if op.int_attr("accuracy_level", 0) not in FLOAT_SUMS:
        return Blocked("accuracy-level", "the node rounds its activations, which no ONNX op does")
    if op.input(4) is not None:
        return Blocked("more-inputs", "the node reorders its groups")
    if element_of(op.operands[0].type) != Float32Type():
        return Blocked("expressed-type", "the activation is not f32")
    arrays = [constant_array(op.input(k)) for k in range(1, 4)]
    packed, scales, zeros = arrays
    if packed is None or scales is None or (zeros is None and op.input(3) is not None):
        return Blocked("run-time-scale", "weight, scale or zero point is computed at run time")
    sizes = (op.int_attr("K", 0), op.int_attr("N", 0), op.int_attr("bits", 4), op.int_attr("block_size", 0))
    weight = unpacked_weight(packed, scales, zeros, *sizes)
    if isinstance(weight, Blocked):
        return weight
    operands = [ConstantOp.of(from_array(np.ascontiguousarray(a))) for a in weight]
    float32 = BY_NUMPY["float32"].attribute
    attributes = {"axis": int_attr(0), "block_size": int_attr(sizes[3])}
    real = op_named("", "DequantizeLinear").build(
        [o.results[0] for o in operands], [tensor_type(float32, weight[0].shape)], attributes
    )
    product = op_named("", "MatMul").build([op.operands[0], real.results[0]], [op.results[0].type])
    parts: list[Operation] = [*operands, real, product]
    if (bias := op.input(5)) is not None:
        parts.append(op_named("", "Add").build([product.results[0], bias], [op.results[0].type]))
    return parts


FOREIGN: dict[tuple[str, str], StandsFor] = {
    ("com.microsoft", "NhwcMaxPool"): StandsFor(_max_pool_parts, written=True),
    ("com.microsoft", "MatMulNBits"): StandsFor(_product_parts, written=False),
}
