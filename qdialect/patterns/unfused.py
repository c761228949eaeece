"""
What keeps a session from making a kernel that it then refuses, or that is slower than what it stands for.

A session of onnxruntime fuses an op between casts of integers of one type into the op's integer kernel, without looking
at the scales; but for the weight of a convolution or of a product a kernel takes one scale, and the model is refused
(1.31: measured). Some kernels overflow at some scales, also where a session makes all integers u8 first; some
cost more than the float kernel and its casts. Of one operand a Sum is the identity: behind it, the cast is the op's no
more. What a session makes of two float ops the target's file says, and what it does not recognize in the first's place.
"""
# Around the driver: the casts are written and no op changes its type: a Sum of one operand is put in between.

from __future__ import annotations

from collections.abc import Mapping
from math import prod

from xdsl.dialects.builtin import ModuleOp
from xdsl.ir import OpResult, SSAValue

from qdialect.dialects.onnx_base import ConstantOp, OnnxOp
from qdialect.dialects.onnx_types import element_of, shape_of
from qdialect.ir.names import location, wish
from qdialect.ir.values import constant_array, is_constant
from qdialect.ir.walking import operations
from qdialect.ops.generated import op_named
from qdialect.patterns.rows import is_faster_in_float
from qdialect.promises.casts import DequantizeForm, QuantizeForm
from qdialect.promises.kernels import Kernels
from qdialect.promises.linear import Linear
from qdialect.targets import Target


def keep_unfused(module: ModuleOp, target: Target) -> None:
    """
    Write a Sum between an op and its quantize, where its integer kernel takes not all of the scales or is slower, and
    in the place of an op that `target` says is fused with the op below it.
    """
    for op in operations(module):
        if not isinstance(op, OnnxOp):
            continue
        if op.get_trait(QuantizeForm) is not None:
            _keep_float(op, target)
        elif spelled := target.unfused.get(op.op_type):
            _spell(op, spelled)


def _keep_float(op: OnnxOp, target: Target) -> None:
    """Keep an op and the quantize `op` behind it apart."""
    real = op.operands[0]
    if not isinstance(real, OpResult) or not real.has_one_use() or not isinstance(real.op, OnnxOp):
        return
    kernels, casts = real.op.get_trait(Kernels), _casts(real.op)
    if kernels is None or not casts:
        return
    is_one_type = element_of(casts[0].operands[0].type) == element_of(op.results[0].type)
    is_refused = is_one_type and any(map(_has_scales, (op, *casts)))
    is_slower = is_one_type and is_faster_in_float(real.op, kernels, target.costs)
    if is_refused or is_slower or _overflows(real.op, kernels, op.operands[1]):
        copy = op_named("", "Sum").build([real], [real.type])
        copy.location = location(f"{wish(op.results[0])}_Sum", [f"{wish(op.results[0])}_sum"])
        assert op.parent is not None
        op.parent.insert_op_before(copy, op)
        op.operands[0] = copy.results[0]


def _spell(op: OnnxOp, spelled: Mapping[str, str]) -> None:
    """Write what makes the first operand of `op` as another op of two computed operands of equal shape."""
    value = op.operands[0]
    above = value.op if isinstance(value, OpResult) else None
    if not isinstance(above, OnnxOp) or above.domain != "" or above.op_type not in spelled:
        return
    if len({shape_of(v.type) for v in above.operands}) > 1 or any(map(is_constant, above.operands)):
        return
    other = op_named("", spelled[above.op_type]).build(list(above.operands), [value.type])
    other.location = above.location
    assert above.parent is not None
    above.parent.insert_op_before(other, above)
    value.replace_all_uses_with(other.results[0])
    above.detach()
    above.erase()


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
