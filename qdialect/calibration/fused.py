"""Ops that a kernel fuses into their producer: a bias, a clamp."""

from __future__ import annotations

from collections.abc import Collection

from xdsl.ir import Operation, OpResult

from qdialect.dialects.onnx_base import OnnxOp
from qdialect.forms.composition import TakesBias
from qdialect.forms.table import form_of
from qdialect.ir.values import constant
from qdialect.promises.base import Commutes
from qdialect.promises.clamping import Clamp
from qdialect.promises.joins import Adds
from qdialect.reasons import Blocked


def bias_behind(op: Operation) -> OnnxOp | None:
    """The addition of a constant that an integer kernel fuses into `op`; None if there is none."""
    promise = form_of(type(op), TakesBias) if isinstance(op, OnnxOp) else None
    if promise is None or not op.results[0].has_one_use():
        return None
    user = next(iter(op.results[0].uses)).operation
    return user if isinstance(user, OnnxOp) and is_bias(user) is op else None


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
            if not isinstance(promise.whole(above, other), Blocked):
                return above
    return None


def is_fused(value: OpResult, takes: Collection[Operation], *, kernels: bool) -> bool:
    """True if the producer of `value` and its only user are one kernel."""
    if not value.has_one_use():
        return False
    user = next(iter(value.uses)).operation
    if user not in takes or not isinstance(user, OnnxOp):
        return False
    if user.get_trait(Clamp) is not None:
        return not isinstance(value.op, OnnxOp) or value.op.get_trait(Commutes) is None
    return kernels and bias_behind(value.op) is user
