"""
Functions of one operand as arithmetic, for targets whose own kernels of them are slow.

    Softplus(x) = log(1 + exp(-|x|)) + max(x, 0)
    Mish(x) = x * n / (n + 2), n = e * (e + 2), e = exp(x)
    Elu(x) = max(x, exp(min(x, 0)) - 1), likewise Celu, Selu
"""

from __future__ import annotations

from collections.abc import Callable

import numpy as np
from xdsl.dialects.builtin import Float32Type
from xdsl.ir import SSAValue

from qdialect.dialects.onnx_base import OnnxOp, onnx_opset
from qdialect.dialects.onnx_types import element_of
from qdialect.forms.composition import Decomposes, Parts
from qdialect.forms.exact_equivalents import BROADCASTING_MAX_OPSET
from qdialect.forms.nodes import Nodes
from qdialect.reasons import Blocked

SATURATED = 20.0
"""From here on Mish(x) is x in f32, and Exp far from infinity."""
ALPHA, GAMMA = 1.67326319217681884765625, 1.05070102214813232421875
"""Those of Selu, unless it states others."""


class _Arithmetic:
    """New ops on f32 tensors of one shape."""

    def __init__(self, op: OnnxOp):
        self.nodes, self._type = Nodes(op), op.results[0].type

    def __call__(self, name: str, *operands: SSAValue | float) -> SSAValue:
        """An operator on tensors, and on numbers."""
        values = [self.nodes.constant(v, np.float32) if not isinstance(v, SSAValue) else v for v in operands]
        return self.nodes.add(name, values, self._type)


def _softplus(op: OnnxOp, do: _Arithmetic) -> None:
    x = op.operands[0]
    tail = do("Log", do("Add", do("Exp", do("Neg", do("Abs", x))), 1.0))
    do("Add", do("Relu", x), tail)


def _mish(op: OnnxOp, do: _Arithmetic) -> None:
    x = op.operands[0]
    e = do("Exp", do("Min", x, SATURATED))
    n = do("Mul", e, do("Add", e, 2.0))
    do("Mul", x, do("Div", n, do("Add", n, 2.0)))


def _below(x: SSAValue, do: _Arithmetic, steepness: float = 1.0) -> SSAValue:
    """exp(min(x, 0) / steepness) - 1."""
    least = do("Min", x, 0.0)
    return do("Sub", do("Exp", least if steepness == 1.0 else do("Mul", least, 1 / steepness)), 1.0)


def _elu(op: OnnxOp, do: _Arithmetic) -> None:
    x, alpha = op.operands[0], op.float_attr("alpha", 1.0)
    if alpha == 1.0:
        do("Max", x, _below(x, do))
    else:
        do("Add", do("Relu", x), do("Mul", _below(x, do), alpha))


def _celu(op: OnnxOp, do: _Arithmetic) -> None:
    x, alpha = op.operands[0], op.float_attr("alpha", 1.0)
    do("Add", do("Relu", x), do("Mul", _below(x, do, alpha), alpha))


def _selu(op: OnnxOp, do: _Arithmetic) -> None:
    x, alpha, gamma = op.operands[0], op.float_attr("alpha", ALPHA), op.float_attr("gamma", GAMMA)
    do("Add", do("Mul", do("Relu", x), gamma), do("Mul", _below(x, do), gamma * alpha))


def _by(build: Callable[[OnnxOp, _Arithmetic], None]) -> Decomposes:
    def parts(op: OnnxOp) -> Parts | Blocked:
        if element_of(op.results[0].type) != Float32Type():
            return Blocked("expressed-type", f"only {op.op_type} in f32 is decomposed")
        if onnx_opset(op) < BROADCASTING_MAX_OPSET:
            return Blocked("opset", f"Min broadcasts from opset {BROADCASTING_MAX_OPSET} on")
        do = _Arithmetic(op)
        build(op, do)
        return do.nodes.ops

    return Decomposes(parts, function=True)


ELEMENTARY: dict[tuple[str, str], Decomposes] = {
    ("", "Softplus"): _by(_softplus),
    ("", "Mish"): _by(_mish),
    ("", "Elu"): _by(_elu),
    ("", "Celu"): _by(_celu),
    ("", "Selu"): _by(_selu),
}
