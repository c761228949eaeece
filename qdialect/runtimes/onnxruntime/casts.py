"""The casts that a session sees at an op: those that stand there, and those that it moves there."""

from __future__ import annotations

from math import prod

from xdsl.ir import Operation, OpResult, SSAValue

from qdialect.dialects.onnx_base import ConstantOp, OnnxOp
from qdialect.dialects.onnx_types import element_of, onnx_element, shape_of
from qdialect.dialects.quant import BYTE_BITS
from qdialect.promises.base import Commutes
from qdialect.promises.casts import QuantizeForm, moved_dequantize, written_dequantize
from qdialect.promises.clamping import Clamp
from qdialect.promises.kernels import Kernels
from qdialect.promises.linear import Linear
from qdialect.promises.weight_only import WeightOnly
from qdialect.targets import Target


def brought_dequantize(value: SSAValue, session: Target) -> OnnxOp | None:
    """The DequantizeLinear that stands in front of the users of `value`, or that a session moves there."""
    while isinstance(op := value.owner, OnnxOp) and op.op_type in session.moved_past:
        value = op.operands[0]
    return written_dequantize(value)


def quantizes(op: Operation) -> bool:
    """True for QuantizeLinear."""
    return op.get_trait(QuantizeForm) is not None


def is_bytes(value: SSAValue) -> bool:
    """True for a tensor of 8-bit elements."""
    element = onnx_element(value.type)
    return element is not None and element.bits == BYTE_BITS


def are_of_one_type(first: SSAValue, last: SSAValue) -> bool:
    """True if a session fuses an op between casts of these integers: of one type, or of bytes."""
    return element_of(first.type) == element_of(last.type) or (is_bytes(first) and is_bytes(last))


def is_single(cast: OnnxOp) -> bool:
    """True if a cast's scale is float32, as kernels require, though sessions do not check it for joins."""
    element = onnx_element(cast.operands[1].type)
    return element is not None and element.numpy == "float32"


def has_scales(cast: OnnxOp) -> bool:
    """True if a cast has several scales, or an unknown number."""
    shape = shape_of(cast.operands[1].type)
    return shape is None or prod(shape) != 1


def casts_of(op: OnnxOp) -> list[OnnxOp]:
    """The dequantizes of an op's operands, below moves too; not of its bias, nor of a weight that a kernel may take."""
    is_linear = op.get_trait(Linear) is not None
    casts: list[OnnxOp] = []
    for place, value in enumerate(op.operands):
        cast = moved_dequantize(value)
        in_blocks = cast is not None and cast.int_attr("block_size", 0) and op.get_trait(WeightOnly) is None
        is_weight = place > 0 and is_linear and not in_blocks
        if cast is not None and not (is_weight and isinstance(cast.operands[0].owner, ConstantOp)):
            casts.append(cast)
    return casts


def is_alike(user: Operation, quantize: OnnxOp) -> bool:
    """True if `user` is a quantize equal to `quantize`, in the same block: a session merges the two."""
    return (
        user.name == quantize.name
        and user.parent is quantize.parent
        and user.operands[1:] == quantize.operands[1:]
        and user.properties == quantize.properties
    )


def fused_with(quantize: OnnxOp) -> OnnxOp | None:
    """
    The op that defines the operand of a quantize, through clamps, if it has no other users than equal quantizes, which
    a session merges; None otherwise. Moves, in front of which a session brings the quantize, are looked through if that
    or a dequantize of the op has several scales.
    """
    real, behind = quantize.operands[0], False
    alone = all(is_alike(use.operation, quantize) for use in real.uses)
    while isinstance(real, OpResult) and isinstance(real.op, OnnxOp) and alone:
        if real.op.get_trait(Clamp) is None:
            if not _is_move(real.op):
                return real.op if not behind or any(map(has_scales, (quantize, *casts_of(real.op)))) else None
            behind = True
        real = real.op.operands[0]
        alone = real.has_one_use()
    return None


def _is_move(op: OnnxOp) -> bool:
    """True if `op` only moves the elements of its first operand, and no kernel computes it."""
    promise = op.get_trait(Commutes)
    return promise is not None and tuple(promise.operands(op)) == (0,) and op.get_trait(Kernels) is None
