"""Activation functions of LSTM, GRU and RNN as ONNX ops; the list is that of the operators' definitions."""

from __future__ import annotations

from collections.abc import Callable, Sequence
from typing import Any, NamedTuple

import numpy as np
from xdsl.dialects.builtin import ArrayAttr, DenseArrayBase, StringAttr
from xdsl.ir import SSAValue

from qdialect.dialects.onnx_attributes import float_attr, numbers
from qdialect.dialects.onnx_base import OnnxOp
from qdialect.forms.builder import Builder
from qdialect.promises.clamping import CLIP_WITH_INPUTS
from qdialect.reasons import Blocked


class Activation(NamedTuple):
    """An activation function by name, with its parameters."""

    name: str
    alpha: float | None = None
    beta: float | None = None

    def apply(self, build: Builder, x: SSAValue, role: str) -> SSAValue:
        """The activation of `x`."""
        return FUNCTIONS[self.name].write(self, build, x, role)


class Function(NamedTuple):
    """An activation function: its builder, and the defaults of its parameters."""

    write: Callable[[Activation, Builder, SSAValue, str], SSAValue]
    alpha: float | None = None
    beta: float | None = None


def _op(self: Activation, build: Builder, x: SSAValue, role: str) -> SSAValue:
    """The op of that name, with the parameters that it has."""
    parameters = {"alpha": self.alpha, "beta": self.beta}
    attributes: dict[str, Any] = {k: float_attr(v) for k, v in parameters.items() if v is not None}
    return build.one(self.name, [x], role=role, **attributes)


def _affine(self: Activation, build: Builder, x: SSAValue, role: str) -> SSAValue:
    scaled = build.one("Mul", [x, build.constant(np.array(self.alpha, np.float32))])
    return build.one("Add", [scaled, build.constant(np.array(self.beta, np.float32))], role=role)


def _scaled_tanh(self: Activation, build: Builder, x: SSAValue, role: str) -> SSAValue:
    inner = build.one("Mul", [x, build.constant(np.array(self.beta, np.float32))])
    return build.one(
        "Mul", [build.one("Tanh", [inner]), build.constant(np.array(self.alpha, np.float32))], role=role
    )


FUNCTIONS: dict[str, Function] = {
    **{name: Function(_op) for name in ("Relu", "Tanh", "Sigmoid", "Softsign", "Softplus")},
    "LeakyRelu": Function(_op, 0.01),
    "ThresholdedRelu": Function(_op, 1.0),
    "Elu": Function(_op, 1.0),
    "HardSigmoid": Function(_op, 0.2, 0.5),
    "Affine": Function(_affine, 1.0, 0.0),
    "ScaledTanh": Function(_scaled_tanh, 1.0, 1.0),
}
BY_LOWER = {name.lower(): name for name in FUNCTIONS}
"""Names by their lower case: onnxruntime ignores case."""


def _floats(op: OnnxOp, name: str) -> list[float]:
    value = op.properties.get(name)
    return [float(v) for v in numbers(value)] if isinstance(value, DenseArrayBase) else []


def activations_of(op: OnnxOp, defaults: Sequence[str], directions: int) -> list[list[Activation]] | Blocked:
    """
    The functions of each direction. Parameters are given in one list each, to the functions that take them, in order.
    """
    listed = op.properties.get("activations")
    names = [a.data for a in listed if isinstance(a, StringAttr)] if isinstance(listed, ArrayAttr) else []
    names = names or [*defaults] * directions
    if len(names) != len(defaults) * directions:
        return Blocked(
            "recurrent-form",
            f"{len(names)} activation functions are given, {len(defaults) * directions} are required",
        )
    alphas, betas = _floats(op, "activation_alpha"), _floats(op, "activation_beta")
    activations: list[Activation] = []
    for name in names:
        known = BY_LOWER.get(name.lower())
        if known is None:
            return Blocked(
                "recurrent-form", f"'{name}' is not an activation function of ONNX", "check the model"
            )
        function = FUNCTIONS[known]
        alpha = alphas.pop(0) if alphas and function.alpha is not None else function.alpha
        beta = betas.pop(0) if betas and function.beta is not None else function.beta
        activations.append(Activation(known, alpha, beta))
    count = len(defaults)
    return [activations[k : k + count] for k in range(0, len(activations), count)]


def clipped(build: Builder, x: SSAValue, bound: float) -> SSAValue:
    """`x` clipped to [-bound, bound]; `x` itself if `bound` is 0."""
    if not bound:
        return x
    if build.opset < CLIP_WITH_INPUTS:
        return build.one("Clip", [x], min=float_attr(-bound), max=float_attr(bound))
    bounds = [build.constant(np.array(sign * bound, np.float32)) for sign in (-1, 1)]
    return build.one("Clip", [x, *bounds])
