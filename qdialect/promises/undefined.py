"""Ops that give NaN for some finite numbers: what selects or clamps may not change places with a quantize of that."""

from __future__ import annotations

from collections.abc import Callable
from dataclasses import dataclass

import numpy as np

from qdialect.dialects.onnx_base import OnnxOp
from qdialect.ir.values import real_constant
from qdialect.promises.base import Promise, always


@dataclass(frozen=True)
class Undefined(Promise):
    """The op gives NaN for some finite operands."""

    for_some: Callable[[OnnxOp], bool] = always
    """True if it does with the constants that it has."""


def _divides_by_zero(op: OnnxOp) -> bool:
    divisor = real_constant(op.operands[1])
    return divisor is None or not divisor.all()


def _takes_roots(op: OnnxOp) -> bool:
    exponent = real_constant(op.operands[1])
    return exponent is None or bool(np.any(exponent != np.rint(exponent)))


UNDEFINED: dict[tuple[str, str], Undefined] = {
    **{("", name): Undefined() for name in "Acos Acosh Asin Atanh Log ReduceLogSum Sqrt".split()},
    ("", "Div"): Undefined(_divides_by_zero),
    ("", "Mod"): Undefined(_divides_by_zero),
    ("", "Pow"): Undefined(_takes_roots),
}
