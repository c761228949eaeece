"""
Merge convolutions of one tensor that are added into one, by adding their weights.

    add(conv(x, v, b), conv(x, w, c))    ->  conv(x, v + w, b + c)                 both placed in the wider window
    add(conv(x, w, b), affine(x))        ->  conv(x, w + factor, b + shift)        the factor at x's own pixel

Close: weights are added before they are multiplied, so floats are rounded differently. Networks trained with parallel
branches (RepVGG, MobileOne, ACNet) get the form in which they are deployed. Only if one window that covers both has
no more products than the two, and if 8 bits per output channel represent the summed weights about as well as each
summand.
"""

from __future__ import annotations

from dataclasses import replace
from math import prod
from typing import NamedTuple

import numpy as np
from xdsl.ir import Operation, OpResult, SSAValue

from qdialect import numerics
from qdialect.dialects.onnx_base import OnnxOp
from qdialect.dialects.onnx_types import quantized_of
from qdialect.exactness import Exactness
from qdialect.ir.insertion import onnx_op
from qdialect.ir.names import location, node_name, tensor_names
from qdialect.ir.values import constant, known_array
from qdialect.numerics import Array, folding
from qdialect.patterns.affine import SECOND_CONSUMER, chain_to, flat_bias, movable_map, new_constant
from qdialect.promises.affine import AffineMap
from qdialect.promises.elementwise import Adds
from qdialect.promises.linear import Linear
from qdialect.promises.window import UNRESOLVED_PADS, Geometry, Window, window_attributes
from qdialect.reasons import COMPUTED_WEIGHT, Blocked, unblocked
from qdialect.rewriting.driver import Rewriter
from qdialect.rewriting.journal import is_kept
from qdialect.rewriting.matching import OnTrait
from qdialect.rewriting.passes import RewritePass, Role

OTHER_WINDOW = Blocked(
    "window-form", "the convolutions differ in strides, groups or the pixels under their windows"
)
MIN_SNR_DB = 34.0
"""Least signal to noise in dB of a summed weight in 8 bits; that of a single convolution is around 42."""
MORE_PRODUCTS = Blocked(
    "does-not-pay", "one window that covers both convolutions needs more products than the two"
)


class Branch(NamedTuple):
    """A branch: a convolution, or an affine op as one."""

    op: OnnxOp
    weight: Array
    """(outputs, inputs of a group, kernel), float64."""
    bias: Array | None
    """() or (outputs,), float64."""
    geometry: Geometry


class AddWeights(OnTrait[Adds]):
    """A sum of two branches."""

    def match(self, op: OnnxOp, promise: Adds, rewriter: Rewriter, /) -> Blocked | None:
        linear = [k for k in (0, 1) if is_convolution(op.operands[k], op)]
        if not linear:
            return None
        first, other = op.operands[linear[0]], op.operands[1 - linear[0]]
        source = onnx_op(first.owner).operands[0]
        affine = _affine_of(other, source)
        if affine is None and (len(linear) < 2 or onnx_op(other.owner).operands[0] is not source):
            return None
        if not (first.has_one_use() and other.has_one_use()):
            return SECOND_CONSUMER
        one = unblocked(_convolution(onnx_op(first.owner)))
        two = unblocked(_convolution(onnx_op(other.owner)) if affine is None else _alone(other, affine, one))
        over = unblocked(window_over(one.geometry, two.geometry))
        geometry, firsts = over
        total = folding.sum_of_kernels([one.weight, two.weight], firsts, geometry.kernel)
        ratio = numerics.rounding_ratio(total)
        if ratio < MIN_SNR_DB:
            return Blocked(
                "does-not-pay",
                f"in 8 bits the summed weight has only {ratio:.0f} dB: the weights of one convolution are much larger",
            )
        _replace(op, one, two, geometry, total, rewriter)
        return None


def is_convolution(value: SSAValue, user: OnnxOp) -> bool:
    """True if `value` is a gathering float convolution in the block of `user` that is not kept in float."""
    op = value.owner
    if not isinstance(op, OnnxOp) or op.parent is not user.parent or is_kept(op):
        return False
    if quantized_of(value.type) is not None:
        return False
    window, linear = op.get_trait(Window), op.get_trait(Linear)
    return window is not None and window.gathers and linear is not None and linear.has_bias


def _affine_of(value: SSAValue, source: SSAValue) -> AffineMap | None:
    """The affine map by which `value` is computed from `source`; None if there is none along axis 1 or per tensor."""
    map = movable_map(value)
    if not isinstance(map, AffineMap) or not isinstance(value, OpResult):
        return None
    chain = chain_to(onnx_op(value.op), map)
    return chain.map if chain.source is source and chain.map.axis in (None, 1) else None


def _convolution(op: OnnxOp) -> Branch | Blocked:
    window, linear, weight = op.get_trait(Window), op.get_trait(Linear), constant(op.operands[1])
    if window is None or linear is None or weight is None or quantized_of(op.operands[1].type) is not None:
        return COMPUTED_WEIGHT
    geometry = unblocked(window.geometry(op))
    if geometry.pads is None:
        return UNRESOLVED_PADS
    bias = unblocked(flat_bias(op, linear, geometry.outputs * geometry.groups))
    return Branch(op, weight.array().astype(np.float64), bias, geometry)


def _alone(value: SSAValue, map: AffineMap, beside: Branch) -> Branch | Blocked:
    """An affine map as a convolution of each channel by itself, in the groups of the branch beside it."""
    g, channels = beside.geometry, beside.weight.shape[0]
    if g.inputs != g.outputs or map.factor.size not in (1, channels):
        return OTHER_WINDOW
    ones = (1,) * g.axes
    weight = folding.channels_by_themselves(map.factor, channels, g.groups).reshape(channels, -1, *ones)
    pixel = replace(g, kernel=ones, strides=ones, dilations=ones, pads=((0, 0),) * g.axes)
    return Branch(onnx_op(value.owner), weight, map.shift, pixel)


def window_over(one: Geometry, two: Geometry) -> tuple[Geometry, list[tuple[int, ...]]] | Blocked:
    """The least window that contains both, and the offset of each kernel's first element in it, by spatial axis."""
    common, other = ((g.groups, g.inputs, g.outputs, g.strides) for g in (one, two))
    if common != other:
        return OTHER_WINDOW
    axes: list[tuple[int, int, tuple[int, int]]] = []
    firsts: list[tuple[int, int]] = []
    for axis in range(one.axes):
        kernels = [g.kernel[axis] for g in (one, two)]
        (before, behind), (other_before, other_behind) = ((g.pads or ())[axis] for g in (one, two))
        steps = {g.dilations[axis] for g in (one, two) if g.kernel[axis] > 1} or {1}
        step, first = min(steps), max(before, other_before)
        starts = [first - before, first - other_before]
        last, other_last = ((k - 1) * step + start for k, start in zip(kernels, starts, strict=True))
        # Result sizes are equal if the space after the last element is: floor((size - last + behind) / stride).
        if len(steps) > 1 or any(start % step for start in starts):
            return OTHER_WINDOW
        if last - behind != other_last - other_behind:
            return OTHER_WINDOW
        axes.append((max(last, other_last) // step + 1, step, (first, max(behind, other_behind))))
        firsts.append((starts[0] // step, starts[1] // step))
    sizes, dilations, pads = zip(*axes, strict=True)
    if prod(sizes) > prod(one.kernel) + prod(two.kernel):
        return MORE_PRODUCTS
    return replace(one, kernel=sizes, dilations=dilations, pads=pads), list(zip(*firsts, strict=True))


def _summed_bias(one: Branch, two: Branch) -> Array | None:
    """(outputs,), float64; None if there is none."""
    channels = (one.weight.shape[0],)
    biases = [np.broadcast_to(b.bias, channels) for b in (one, two) if b.bias is not None]
    return np.sum(biases, axis=0) if biases else None


def _replace(op: OnnxOp, one: Branch, two: Branch, over: Geometry, weight: Array, rewriter: Rewriter) -> None:
    old, bias = one.op.operands[1], _summed_bias(one, two)
    dtype = known_array(old).dtype
    ops: list[Operation] = [new_constant(weight.astype(dtype), old)]
    if bias is not None:
        ops.append(new_constant(bias.astype(dtype), one.op.input(2)))
    inputs = [one.op.operands[0], *(new.results[0] for new in ops)]
    new = one.op.__class__.build(inputs, [op.results[0].type], window_attributes(one.op, over))
    new.location = location(node_name(one.op), tensor_names(op))
    rewriter.replace(op, [*ops, new])


class FoldBranchesPass(RewritePass):
    name = "fold-branches"
    exactness = Exactness.CLOSE
    role = Role.SIMPLIFYING
    reasons = "computed-parameter does-not-pay invalid-op second-consumer unknown-shape window-form"
    rewrite = "add(conv(x, v, b), conv(x, w, c)) -> conv(x, v + w, b + c): weights are added before they are multiplied"
    pattern_types = (AddWeights,)
