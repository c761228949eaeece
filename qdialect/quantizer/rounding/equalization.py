"""
Cross-layer equalization: factors between two layers, so that one weight scale suits all channels of both.

    linear2(f(linear1(x, W1, b1)), W2)  ->  linear2(f(linear1(x, W1 / s, b1 / s)), W2 s)

f commutes with positive factors. With r1 the largest |w| of a row of W1 and r2 that of the matching column of W2,
s = sqrt(r1 r2) / r2 makes both sqrt(r1 r2) (Nagel et al. 2019, arXiv 1906.04721). Pairs share layers, so it is repeated
until nothing changes. It is for targets with one scale for a whole weight: a scale for each output needs none of it.
"""

from __future__ import annotations

from dataclasses import dataclass

import numpy as np
from xdsl.dialects.builtin import ModuleOp
from xdsl.ir import OpResult, SSAValue

from qdialect.dialects.onnx_base import ConstantOp, OnnxOp
from qdialect.ir.build import constant_op
from qdialect.ir.insertion import put_constant
from qdialect.ir.interface import main_of
from qdialect.ir.names import tensor_name
from qdialect.ir.values import constant_array, known_array, rank_of
from qdialect.promises.affine import Homogeneous
from qdialect.promises.arithmetic import single_user
from qdialect.promises.linear import Linear
from qdialect.quantizer.rounding.layers import Array, Float64, LinearLayer, known_layer, layer_of
from qdialect.rewriting.journal import KEEP_FLOAT

MAX_ROUNDS = 40
MIN_FACTOR_CHANGE = 1e-4
"""Factors within this distance of 1 count as 1."""


@dataclass(frozen=True)
class Pair:
    """Two linear ops connected by ops that commute with positive factors."""

    first: OnnxOp
    second: OnnxOp


def pairs(module: ModuleOp) -> list[Pair]:
    """The pairs whose channels can be scaled, in the order of the graph."""
    equalizable: list[Pair] = []
    for op in main_of(module).body.block.ops:
        if not isinstance(op, OnnxOp) or KEEP_FLOAT in op.attributes or not _is_scalable(op):
            continue
        value: SSAValue = op.results[0]
        while (user := _only_user(value)) is not None and user.get_trait(Homogeneous) is not None:
            value = user.results[0]
        user = _only_user(value)
        if user is None or KEEP_FLOAT in user.attributes or user.operands[0] is not value:
            continue
        if _meets(op, user, value):
            equalizable.append(Pair(op, user))
    return equalizable


def equalization_factors(rows: Array, columns: Array) -> Float64:
    """s for largest magnitudes r1 of rows and r2 of columns, (channels,) each; 1 where one of them is 0."""
    alive = (rows > 0) & (columns > 0)
    s = np.ones(rows.shape)
    s[alive] = np.sqrt(rows[alive].astype(np.float64) * columns[alive]) / columns[alive]
    return s


def equalize(module: ModuleOp) -> int:
    """Equalize all pairs, in place; returns their number."""
    equalizable = pairs(module)
    for _ in range(MAX_ROUNDS if equalizable else 0):
        changes = [_equalize_pair(pair) for pair in equalizable]
        if max(changes) < MIN_FACTOR_CHANGE:
            break
    return len(equalizable)


def _only_user(value: SSAValue) -> OnnxOp | None:
    user = single_user(value)
    own = isinstance(value, OpResult) and user is not None and user.parent is value.op.parent
    return user if own else None


def _is_scalable(op: OnnxOp) -> bool:
    """True if each channel (axis 1) of a linear op's result can be scaled by its constants."""
    linear, layer = op.get_trait(Linear), layer_of(op) if len(op.operands) > 1 else None
    if linear is None or layer is None or not _is_real(op.operands[1]):
        return False
    if linear.result_axis not in (1, -1) or (linear.result_axis == -1 and rank_of(op.results[0]) != 2):
        return False
    return layer.rows_shape[0] == 1 or layer.window is not None


def _is_real(value: SSAValue) -> bool:
    array = constant_array(value)
    return array is not None and array.dtype == np.float32


def _meets(first: OnnxOp, second: OnnxOp, value: SSAValue) -> bool:
    """True if the output channels of `first` are the input channels of `second`, axis 1 of `value`."""
    one, two = layer_of(first), layer_of(second)
    linear = second.get_trait(Linear)
    if one is None or two is None or linear is None or not _is_real(second.operands[1]):
        return False
    if two.transposed_input or (two.window is None and rank_of(value) != 2):
        return False
    bias = first.input(2) if (trait := first.get_trait(Linear)) is not None and trait.has_bias else None
    channels = one.rows_shape[0] * one.rows_shape[1]
    return channels == _inputs(two) and (bias is None or _is_real(bias))


def _inputs(layer: LinearLayer) -> int:
    """Number of channels of the activation."""
    groups, _, summed = layer.rows_shape
    taps = 1 if layer.window is None else int(np.prod(layer.window.kernel))
    return groups * summed // taps


def _equalize_pair(pair: Pair) -> float:
    """Equalize one pair in place; returns the greatest distance of a factor from 1."""
    one, two = known_layer(pair.first), known_layer(pair.second)
    w1, w2 = known_array(pair.first.operands[1]), known_array(pair.second.operands[1])
    rows1, rows2 = one.rows(w1), two.rows(w2)
    groups, outputs, _ = rows2.shape
    split = rows2.reshape(groups, outputs, _inputs(two) // groups, -1)
    s = equalization_factors(
        np.abs(rows1).max(axis=2).reshape(-1), np.abs(split).max(axis=(1, 3)).reshape(-1)
    )
    change = float(np.abs(s - 1).max(initial=0.0))
    if change < MIN_FACTOR_CHANGE:
        return change
    divisor = s.astype(np.float32)
    _put(pair.first, 1, one.weight(rows1 / divisor.reshape(rows1.shape[0], rows1.shape[1], 1)))
    by_input = divisor.reshape(groups, 1, -1, 1)
    _put(pair.second, 1, two.weight((split * by_input).reshape(rows2.shape)))
    if len(pair.first.operands) > 2:
        bias = known_array(pair.first.operands[2])
        scaled = np.broadcast_to(bias, (*bias.shape[:-1], s.size)) / divisor
        _put(pair.first, 2, scaled.astype(np.float32))
    return change


def _put(op: OnnxOp, place: int, array: Array) -> None:
    old = op.operands[place].owner
    put_constant(op, place, constant_op(array, tensor_name(old) if isinstance(old, ConstantOp) else ""))
