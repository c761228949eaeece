"""
Comparison of the weights of two models, by layer: what rounding the weights alone costs.

A weight is a constant of two or more axes; the layer that reads it has the same name in both models. Integers are
compared as the real numbers that they stand for. The compiler folds factors into weights, one for each output channel
(BatchNormalization, cross-layer equalization): with respect to these, noise is counted of b - f a, where f is the
factor with the least squares, f = sum(a b) / sum(a a).
"""

from __future__ import annotations

from collections.abc import Iterator
from dataclasses import dataclass, field
from typing import Any, NamedTuple

import numpy as np
from xdsl.ir import OpResult, SSAValue

from qdialect.dialects.onnx_base import ConstantOp, OnnxOp
from qdialect.dialects.onnx_types import quantized_of
from qdialect.dialects.quant import DequantizeOp, StorageCastOp, UniformType
from qdialect.ir.names import called, tensor_name
from qdialect.ir.walking import operations
from qdialect.measuring.layers import TensorNoise, raised
from qdialect.measuring.outputs import decibels
from qdialect.numerics import Array
from qdialect.promises.linear import Linear

MIN_FACTOR_GAIN_DB = 6.0
"""dB that factors by channel take off the noise where they count as folded into the weight."""


class Weight(NamedTuple):
    """One weight of a model."""

    name: str
    """Of its tensor; empty if it has none."""
    op: str
    """Operator of the layer."""
    numbers: Array
    type: UniformType | None
    axis: int | None
    """Axis of output channels, if the op has one."""


def _constant(value: SSAValue) -> tuple[OpResult, Array, UniformType | None] | None:
    """The constant behind casts, its real numbers, and the type they are read by; None for other values."""
    type = quantized_of(value.type)
    while isinstance(value, OpResult) and isinstance(value.op, DequantizeOp | StorageCastOp):
        value = value.op.operands[0]
        type = type or quantized_of(value.type)
    if not isinstance(value, OpResult) or not isinstance(value.op, ConstantOp) or value.op.value is None:
        return None
    stored = value.op.value.array()
    return value, stored if type is None else type.dequantize(stored), type


def _read_by(op: OnnxOp) -> Iterator[tuple[int, Weight]]:
    """The weights that an op reads, by operand."""
    linear = op.get_trait(Linear)
    for k, operand in enumerate(op.operands):
        if (constant := _constant(operand)) is None:
            continue
        value, numbers, type = constant
        if numbers.ndim > 1 and numbers.dtype.kind == "f":
            axis = linear.weight_axis(op) if linear is not None and k == 1 else None
            name = tensor_name(value.op, value.index)
            yield k, Weight(name, op.op_type, numbers.astype(np.float64), type, axis)


def weights_of(path: str) -> dict[tuple[str, int], Weight]:
    """Weights of a model file, by the layer that reads them and its operand. UserError if it cannot be read."""
    weights: dict[tuple[str, int], Weight] = {}
    for op in operations(raised(path)):
        if isinstance(op, OnnxOp) and not isinstance(op, ConstantOp):
            for k, weight in _read_by(op):
                weights.setdefault((called(op), k), weight)
    return weights


def _factors(a: Array, b: Array, axis: int) -> Array:
    """The factors f, one along an axis, for which the squares of b - f a are least; 1 where a is 0."""
    others = tuple(k for k in range(a.ndim) if k != axis)
    energy = np.square(a).sum(others, keepdims=True)
    return np.divide((a * b).sum(others, keepdims=True), energy, out=np.ones_like(energy), where=energy > 0)


@dataclass
class WeightNoise:
    """Difference of one weight."""

    layer: str
    noise: TensorNoise
    is_scaled: bool
    """True if the weight has factors by output channel, which its noise leaves out."""

    def as_json(self) -> dict[str, Any]:
        """The figures as JSON values."""
        return {"layer": self.layer, **self.noise.as_json(), "scaled_by_channel": self.is_scaled}


def _noise(layer: str, a: Weight, b: Weight) -> WeightNoise:
    name, type = a.name or b.name or layer, b.type or a.type
    plain = TensorNoise(name, op=a.op, above=())
    plain.add_reals(a.numbers, b.numbers, type)
    if a.axis is not None and plain.largest:
        scaled = TensorNoise(name, op=a.op, above=())
        scaled.add_reals(a.numbers * _factors(a.numbers, b.numbers, a.axis), b.numbers, type)
        if scaled.sqnr >= plain.sqnr + MIN_FACTOR_GAIN_DB:
            return WeightNoise(layer, scaled, True)
    return WeightNoise(layer, plain, False)


@dataclass
class Weights:
    """Differences of the weights that two models share, in the order of the first one's graph."""

    weights: list[WeightNoise] = field(default_factory=list[WeightNoise])
    reshaped: int = 0
    """How many have another shape in the other model."""
    alone: int = 0
    """How many only the first model has."""

    def verdict(self) -> str:
        """One sentence: how many differ, and the noisiest."""
        differ = [one for one in self.weights if one.noise.largest]
        parts = [f"{len(self.weights)} compared, {len(differ)} of them differ"]
        if differ:
            one = min(differ, key=lambda one: one.noise.sqnr)
            parts.append(
                f"the noisiest is '{one.noise.name}' of {one.noise.op} '{one.layer}': {decibels(one.noise.sqnr)}"
            )
        if self.reshaped:
            parts.append(f"{self.reshaped} of another shape in B")
        if self.alone:
            parts.append(f"{self.alone} that no layer of that name reads in B")
        return "; ".join(parts)

    def as_json(self) -> dict[str, Any]:
        """Each weight's figures, and the verdict."""
        return {"weights": [one.as_json() for one in self.weights], "weights_verdict": self.verdict()}


def compare_weights(reference: str, other: str) -> Weights:
    """Compare the weights of two model files by layer. UserError if a file cannot be read."""
    theirs, result = weights_of(other), Weights()
    for (layer, k), a in weights_of(reference).items():
        if (b := theirs.get((layer, k))) is None:
            result.alone += 1
        elif a.numbers.shape != b.numbers.shape:
            result.reshaped += 1
        else:
            result.weights.append(_noise(layer, a, b))
    return result
