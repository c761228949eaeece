"""Elementwise ops: each element of the result depends on the operands' elements at the same position alone."""

from __future__ import annotations

from dataclasses import dataclass
from typing import NamedTuple

from qdialect.dialects.snapshot import MICROSOFT
from qdialect.promises.base import Promise


@dataclass(frozen=True)
class Elementwise(Promise):
    """The op is elementwise, with operands broadcast, and the same function at every position."""


NAMES = (
    "Abs Acos Acosh Add Asin Asinh Atan Atanh Ceil Celu Clip Cos Cosh Div Elu Erf Exp Floor Gelu HardSigmoid HardSwish "
    "LeakyRelu Log Max Min Mish Mul Neg Pow PRelu Reciprocal Relu Round Selu Sigmoid Sign Sin Sinh Softplus Softsign "
    "Sqrt Sub Swish Tan Tanh ThresholdedRelu"
)

ELEMENTWISE: dict[tuple[str, str], Elementwise] = {("", name): Elementwise() for name in NAMES.split()}


class Function(NamedTuple):
    """An op of one operand."""

    domain: str
    name: str
    opset: int
    """First ai.onnx opset with which the op is available."""
    attributes: tuple[tuple[str, float], ...] = ()
    """Names and values of its attributes."""


FUNCTIONS = (
    Function(MICROSOFT, "Gelu", 7),
    Function("", "HardSwish", 14),
    Function(MICROSOFT, "QuickGelu", 7, (("alpha", 1.0),)),
)
"""Functions that exporters decompose for opsets or runtimes without the op."""
