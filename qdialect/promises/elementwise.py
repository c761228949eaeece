"""Ops that make each element from the elements at the same place, and from nothing else."""

from __future__ import annotations

from dataclasses import dataclass
from typing import NamedTuple

from qdialect.dialects.snapshot import MICROSOFT
from qdialect.promises.base import Promise


@dataclass(frozen=True)
class Elementwise(Promise):
    """Operands broadcast, and equal operands give equal results wherever they stand."""


NAMES = (
    "Abs Acos Acosh Add Asin Asinh Atan Atanh Ceil Celu Clip Cos Cosh Div Elu Erf Exp Floor Gelu HardSigmoid HardSwish "
    "LeakyRelu Log Max Min Mish Mul Neg Pow PRelu Reciprocal Relu Round Selu Sigmoid Sign Sin Sinh Softplus Softsign "
    "Sqrt Sub Swish Tan Tanh ThresholdedRelu"
)

ELEMENTWISE: dict[tuple[str, str], Elementwise] = {("", name): Elementwise() for name in NAMES.split()}


class Function(NamedTuple):
    """An op of one operand, without attributes."""

    domain: str
    name: str
    opset: int
    """The first opset of ONNX beside which it is there."""


FUNCTIONS = (Function(MICROSOFT, "Gelu", 7), Function("", "HardSwish", 14))
"""What exporters write with several ops, of opsets that have no such op or for runtimes that have none."""
