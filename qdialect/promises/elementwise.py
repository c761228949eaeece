"""
Elementwise ops: each element of the result depends on the operands' elements at the same position alone; those that
join two branches; and what is known of results: their range, or that some are NaN.
"""

from __future__ import annotations

from collections.abc import Callable
from dataclasses import dataclass
from typing import NamedTuple

import numpy as np

from qdialect.dialects.onnx_base import OnnxOp
from qdialect.dialects.snapshot import MICROSOFT
from qdialect.ir.values import real_constant
from qdialect.promises.base import Promise, always


class Elementwise(Promise):
    """The op is elementwise, with operands broadcast, and the same function at every position."""


NAMES = (
    "Abs Acos Acosh Add Asin Asinh Atan Atanh Ceil Celu Clip Cos Cosh Div Elu Erf Exp Floor Gelu HardSigmoid HardSwish "
    "LeakyRelu Log Max Min Mish Mul Neg Pow PRelu Reciprocal Relu Round Selu Sigmoid Sign Sin Sinh Softplus Softsign "
    "Sqrt Sub Swish Tan Tanh ThresholdedRelu"
)

ELEMENTWISE: dict[tuple[str, str], Elementwise] = {("", name): Elementwise() for name in NAMES.split()}


class Adds(Promise):
    """The op is an addition."""


class Multiplies(Promise):
    """The op is an elementwise product."""


class Joins(Promise):
    """The op combines two branches elementwise."""


@dataclass(frozen=True)
class KnownRange(Promise):
    """Every element of the result lies between two bounds, for any operand."""

    bounds: tuple[float, float]
    shares: bool = False
    """True if the elements of a row sum to 1."""


OPERATIONS: dict[tuple[str, str], Promise] = {("", "Add"): Adds(), ("", "Mul"): Multiplies()}
JOINS: dict[tuple[str, str], Promise] = {("", name): Joins() for name in ("Add", "Mul", "Sub")}


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


RESULTS: dict[tuple[str, str], Promise] = {
    ("", "Sigmoid"): KnownRange((0.0, 1.0)),
    ("", "HardSigmoid"): KnownRange((0.0, 1.0)),
    ("", "Softmax"): KnownRange((0.0, 1.0), shares=True),
    ("", "Tanh"): KnownRange((-1.0, 1.0)),
    **{("", name): Undefined() for name in "Acos Acosh Asin Atanh Log ReduceLogSum Sqrt".split()},
    ("", "Div"): Undefined(_divides_by_zero),
    ("", "Mod"): Undefined(_divides_by_zero),
    ("", "Pow"): Undefined(_takes_roots),
}


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
