"""
What keeps a session from making an integer kernel that it then refuses.

A session of onnxruntime fuses an op between casts of integers of one type into the op's integer kernel, without looking
at the scales; but for the weight of a convolution or of a product a kernel takes one scale, and the model is refused
(1.31: measured). Some kernels overflow at some scales, also where a session makes all integers u8 first. Of one operand
a Sum is the identity: behind it, the cast is the op's no more.
"""

from __future__ import annotations

from math import prod

from xdsl.dialects.builtin import ModuleOp
from xdsl.ir import OpResult, SSAValue

from qdialect.dialects.onnx_base import ConstantOp, OnnxOp
from qdialect.dialects.onnx_types import element_of, shape_of
from qdialect.ir.names import location, wish
from qdialect.ir.values import constant_array
from qdialect.ir.walking import operations
from qdialect.ops.generated import op_named
from qdialect.promises.casts import DequantizeForm, QuantizeForm
from qdialect.promises.kernels import Kernels
from qdialect.promises.linear import Linear


def keep_unfused(module: ModuleOp) -> None:
    """Write a Sum between an op and its quantize, where its integer kernel takes not all of the scales."""
    for op in operations(module):
        real = op.operands[0] if isinstance(op, OnnxOp) and op.get_trait(QuantizeForm) is not None else None
        if not isinstance(op, OnnxOp) or not isinstance(real, OpResult) or not real.has_one_use():
            continue
        kernels = real.op.get_trait(Kernels) if isinstance(real.op, OnnxOp) else None
        if not isinstance(real.op, OnnxOp) or kernels is None:
            continue
        casts = _casts(real.op)
        is_one_type = bool(casts) and element_of(casts[0].operands[0].type) == element_of(op.results[0].type)
        is_refused = is_one_type and any(map(_has_scales, (op, *casts)))
        if is_refused or (casts and _overflows(real.op, kernels, op.operands[1])):
            copy = op_named("", "Sum").build([real], [real.type])
            copy.location = location(f"{wish(op.results[0])}_Sum", [f"{wish(op.results[0])}_sum"])
            assert op.parent is not None
            op.parent.insert_op_before(copy, op)
            op.operands[0] = copy.results[0]


def _overflows(op: OnnxOp, kernels: Kernels, scale: SSAValue) -> bool:
    array = constant_array(scale)
    if array is None or array.size != 1:
        return False
    return any(kernel.overflows(op, float(array.reshape(()))) for kernel in kernels.forms)


def _casts(op: OnnxOp) -> list[OnnxOp]:
    """The dequantizes of an op's operands, but of its bias and of a weight that has no scales within a channel."""
    is_linear = op.get_trait(Linear) is not None
    casts: list[OnnxOp] = []
    for place, value in enumerate(op.operands):
        cast = value.owner
        if not isinstance(cast, OnnxOp) or cast.get_trait(DequantizeForm) is None:
            continue
        is_weight = place > 0 and is_linear and isinstance(cast.operands[0].owner, ConstantOp)
        if not is_weight or _in_blocks(cast):
            casts.append(cast)
    return casts


def _in_blocks(cast: OnnxOp) -> bool:
    return bool(cast.int_attr("block_size", 0))


def _has_scales(cast: OnnxOp) -> bool:
    """Whether a cast has several scales, or as many as nobody knows."""
    shape = shape_of(cast.operands[1].type)
    return shape is None or prod(shape) != 1
