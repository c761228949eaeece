"""Ops that a kernel fuses into their producer: a bias, a clamp."""

from __future__ import annotations

from collections.abc import Collection

from xdsl.ir import Operation, OpResult

from qdialect.dialects.onnx_base import OnnxOp
from qdialect.dialects.quant import DequantizeOp
from qdialect.forms.composition import TakesBias
from qdialect.forms.table import form_of
from qdialect.ir.insertion import discard
from qdialect.ir.values import constant
from qdialect.promises.arithmetic import single_user
from qdialect.promises.base import Commutes
from qdialect.promises.clamping import Clamp
from qdialect.promises.elementwise import Adds
from qdialect.quantizer.placement.existing_quantization import is_quantized
from qdialect.reasons import Blocked


def bias_behind(op: Operation) -> OnnxOp | None:
    """The addition of a constant that an integer kernel fuses into `op`; None if there is none."""
    if form_of(type(op), TakesBias) is None:
        return None
    user = single_user(op.results[0])
    return user if user is not None and is_bias(user) is op else None


def is_bias(op: OnnxOp) -> OnnxOp | None:
    """The linear op to whose result `op` adds a bias; None if it adds none."""
    if op.get_trait(Adds) is None:
        return None
    for k in (0, 1):
        value, other = op.operands[k], op.operands[1 - k]
        above = value.owner
        if not isinstance(above, OnnxOp) or constant(other) is None or not value.has_one_use():
            continue
        promise = form_of(type(above), TakesBias)
        if promise is not None and constant(above.operands[1]) is not None:
            whole = promise.whole(above, other)
            if not isinstance(whole, Blocked):
                discard([whole])
                return above
    return None


def is_fused(value: OpResult, takes: Collection[Operation], *, kernels: bool, hoists: bool) -> bool:
    """
    True if the producer of `value` and its only user are one kernel. hoists: True if they may become one by moving a
    quantize.
    """
    user = single_user(value)
    if user is None or user not in takes:
        return False
    return _is_clamped(value, takes, hoists=hoists) or (kernels and bias_behind(value.op) is user)


def _is_clamped(value: OpResult, takes: Collection[Operation], *, hoists: bool) -> bool:
    """
    True if an op computes `value` and its only user is a clamp, so that quantizing after the clamp also clamps. With
    `hoists`, ops that move elements may stand between, on both sides of `value`.
    """
    below: OnnxOp | None = single_user(value)
    while below is not None and below in takes and below.get_trait(Clamp) is None:
        below = single_user(below.results[0]) if hoists and _moves_one(below) else None
    if below is None or below not in takes:
        return False
    above = value.op
    while hoists and isinstance(above, OnnxOp) and _moves_one(above) and above in takes:
        source = above.operands[0]
        if not isinstance(source, OpResult) or not source.has_one_use():
            return False
        above = source.op
    return not isinstance(above, OnnxOp) or above.get_trait(Commutes) is None


def _moves_one(op: OnnxOp) -> bool:
    """True if all that the op does is to move elements of its first operand to its only result."""
    promise = op.get_trait(Commutes)
    if promise is None or op.get_trait(Clamp) is not None or len(op.results) != 1:
        return False
    return tuple(promise.operand_values(op)) == (op.operands[0],) and bool(promise.result_values(op))


def clamps_in_front(takes: Collection[Operation], makes: Collection[Operation]) -> set[Operation]:
    """
    The clamps that are the only users of their operands: quantizing the result instead also clamps, and spends no
    steps on values that the clamp removes.
    """
    return {op for op in makes if op.get_trait(Clamp) is not None and _begins(op, takes, makes)}


def _begins(op: Operation, takes: Collection[Operation], makes: Collection[Operation]) -> bool:
    value = op.operands[0]
    if is_quantized(value) or isinstance(value.owner, DequantizeOp) or value.owner in makes:
        return False
    return not any(use.operation in takes for use in value.uses if use.operation is not op)
