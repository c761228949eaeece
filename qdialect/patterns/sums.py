"""The pattern that writes a linear op as an integer sum with explicit scaling."""

from __future__ import annotations

from typing import Any

import numpy as np
import numpy.typing as npt
from xdsl.dialects.builtin import Float32Type
from xdsl.ir import Operation, SSAValue

from qdialect import numerics
from qdialect.dialects.onnx_base import OnnxOp
from qdialect.dialects.onnx_types import BY_NUMPY, DYNAMIC, quantized_of, shape_of, with_element
from qdialect.dialects.quant import QuantizeOp, StorageCastOp, UniformType
from qdialect.forms.casts import Parameters, stored
from qdialect.forms.nodes import Nodes
from qdialect.ir.insertion import discard
from qdialect.ir.names import location, node_name, wish
from qdialect.ir.values import constant_array, rank_of, real_constant, under
from qdialect.numerics import Array
from qdialect.numerics.sums import weight_scale
from qdialect.patterns.target_pattern import ForTarget
from qdialect.promises.linear import EMPTY_SUM, IntegerSum, Linear, bias_matches
from qdialect.promises.window import Geometry, Window
from qdialect.reasons import FLOAT_BIAS, UNKNOWN_RANK, Blocked, unblocked
from qdialect.rewriting.driver import Rewriter
from qdialect.rewriting.matching import OnTrait
from qdialect.targets import Target
from qdialect.targets.pricing import (
    MAX_TIME_RATIO,
    QUANTIZE,
    SIGNED,
    SUM,
    Costs,
    by_group,
    cost,
    priced,
    quantized_cost,
)

FLOAT = Float32Type()
INT32 = BY_NUMPY["int32"].attribute
SCALING_OPS = 3
"""Number of elementwise ops that scale a sum: Cast, Mul, Add of a bias."""


class LowerToSum(OnTrait[IntegerSum], ForTarget):
    """A linear op on quantized operands as an integer sum."""

    def __init__(self, target: Target):
        super().__init__(target)
        self._parameters = Parameters()

    def match(self, op: OnnxOp, promise: IntegerSum, rewriter: Rewriter, /) -> None:
        x, w = quantized_of(op.operands[0].type), quantized_of(op.operands[1].type)
        linear = op.get_trait(Linear)
        if x is None or w is None or linear is None:
            return
        unblocked(promise.guard(op) or self._guard(op, promise, linear, x, w))
        self._build(op, promise, x, w, rewriter)

    def _guard(
        self, op: OnnxOp, form: IntegerSum, linear: Linear, x: UniformType, w: UniformType
    ) -> Blocked | None:
        if not isinstance(x.expressed, Float32Type):
            return Blocked("expressed-type", f"the scales are in {x.expressed}, not in f32")
        if 0 in (shape_of(op.operands[1].type) or ()):
            return EMPTY_SUM
        if not x.is_per_tensor or w.blocks or (w.axis is not None and w.axis != linear.weight_axis(op)):
            return Blocked("activation-per-axis", "the activation has more than one scale")
        if _wants_one_zero_point(op, form) and np.unique(w.zero_points).size > 1:
            return Blocked("zero-point", "the channels of the weight have different zero points")
        bias = op.input(2)
        if bias is not None:
            b = quantized_of(bias.type)
            if b is not None and not bias_matches(x, w, b):
                return FLOAT_BIAS
        if rank_of(op.results[0]) is None:
            return Blocked("unknown-shape", "the result's rank is not known")
        if rank_of(op.operands[0]) is None:
            return UNKNOWN_RANK  # nor would that of the sums be when the model is read again
        if not self._target.has_kernel(form.op_type, [x.storage.name, w.storage.name], "i32"):
            names = f"{x.storage.name}, {w.storage.name}"
            return Blocked("no-kernel", f"{self._target.name} has no {form.op_type} for {names}")
        return None

    def _build(
        self, op: OnnxOp, form: IntegerSum, x: UniformType, w: UniformType, rewriter: Rewriter
    ) -> None:
        nodes, integers = Nodes(op), list[SSAValue]()
        for operand in op.operands[:2]:
            plain, reads = stored(operand)
            nodes.ops += reads
            integers.append(plain)
        if form.turned(op):
            integers[1] = _turned(integers[1], nodes)
        zero_x = self._parameters.of(x, op, op.operands[0])[1]
        single = w if w.is_per_tensor or not _wants_one_zero_point(op, form) else _one_zero_point(w)
        zero_w = self._parameters.of(single, op, op.operands[1])[1]
        shape = op.results[0].type
        sums, reals = with_element(shape, INT32), with_element(shape, FLOAT)
        value = nodes.add(form.op_type, [*integers, zero_x, zero_w], sums, form.attributes(op))
        if (slower := slower_remark(op, form, self._target.costs)) is not None:
            rewriter.note(nodes.ops[-1], slower)
        nodes.ops[-1].location = location(node_name(op))
        bias = op.input(2)
        if bias is not None and quantized_of(bias.type) is not None:
            plain, reads = stored(bias)
            nodes.ops += reads
            value = nodes.add("Add", [value, self._per_channel(op, plain, form, nodes)], sums)
        value = nodes.add("Cast", [value], reals, {"to": BY_NUMPY["float32"].number})
        scale = _beside_channels(op, _as_read(integers[0], x, w), form)
        factor = nodes.constant(scale, name=f"{wish(op.operands[1])}_product_scale")
        value = nodes.add("Mul", [value, factor], reals)
        if bias is not None and quantized_of(bias.type) is None:
            value = nodes.add("Add", [value, self._per_channel(op, bias, form, nodes)], reals)
        result = quantized_of(shape)
        if result is not None:
            nodes.append(QuantizeOp(value, result))
        rewriter.replace(op, nodes.ops)

    def _per_channel(self, op: OnnxOp, bias: SSAValue, form: IntegerSum, nodes: Nodes) -> SSAValue:
        """A bias of one value per channel, shaped to broadcast along the channels."""
        if form.channel_axis == -1:
            return bias
        rank, sizes = rank_of(op.results[0]), shape_of(bias.type)
        assert rank is not None
        if (known := real_constant(bias)) is not None:
            return _instead(bias, known.reshape(1, -1, *[1] * (rank - 2)), nodes)
        ones = [1] * (rank - 2)
        return nodes.reshape(bias, [1, -1, *ones], [1, sizes[-1] if sizes else DYNAMIC, *ones])


def _as_read(integers: SSAValue, x: UniformType, w: UniformType) -> Array:
    """
    The scale of the sum. Integers that were quantized by another scale than `x` has are read again by that one, from
    which the scale of the weight follows: rounded here as it is there.
    """
    source, scale = under(integers, StorageCastOp), numerics.sum_scale(x.scales, w.scales)
    known = None if source is None else quantized_of(source.type)
    if known is None or not known.is_per_tensor or known.scale == x.scale:
        return scale
    return numerics.sum_scale(known.scale, weight_scale(scale, known.scale))


def slower_remark(op: OnnxOp, form: IntegerSum, costs: Costs) -> Blocked | None:
    """Remark with the least factor by which a convolution with a quantized result is slower as a scaled sum."""
    window = op.get_trait(Window)
    geometry = None if window is None or not window.gathers else window.geometry(op)
    if not isinstance(geometry, Geometry) or quantized_of(op.results[0].type) is None or SUM not in costs:
        return None
    shape = priced(geometry)
    elements = geometry.groups * shape.outputs * shape.pixels * shape.images
    behind = elements * (costs[QUANTIZE]["read"] + SCALING_OPS * costs["Elementwise"]["Mul"])
    now = min(cost(costs, kernel, by_group(shape)) for kernel in (SUM, SIGNED)) + behind
    times = now / quantized_cost(costs, shape)
    if times * MAX_TIME_RATIO < 1:
        return None
    return Blocked(
        "slower-form",
        f"{form.op_type}, with the ops that scale its sums, takes at least {times:.1f} times as long as a kernel"
        " with a quantized result",
        "compile with --form qoperator",
    )


def _turned(weight: SSAValue, nodes: Nodes) -> SSAValue:
    """A constant matrix, transposed."""
    return _instead(weight, np.ascontiguousarray(np.asarray(constant_array(weight)).T), nodes)


def _instead(old: SSAValue, array: npt.NDArray[Any], nodes: Nodes) -> SSAValue:
    """A constant with the name of `old`, which is dropped if it is one of the new nodes."""
    if isinstance(old.owner, Operation) and old.owner in nodes.ops:
        nodes.ops.remove(old.owner)
        discard([old.owner])
    return nodes.constant(array, name=wish(old))


def _wants_one_zero_point(op: OnnxOp, form: IntegerSum) -> bool:
    """True if the weight must have a single zero point, as batches of matrices must."""
    return form.one_zero_point or rank_of(op.operands[1]) != 2


def _one_zero_point(w: UniformType) -> UniformType:
    return UniformType.per_tensor(
        w.storage, float(w.scales.reshape(-1)[0]), int(w.zero_points.reshape(-1)[0])
    )


def _beside_channels(op: OnnxOp, scale: np.ndarray[Any, Any], form: IntegerSum) -> np.ndarray[Any, Any]:
    rank = rank_of(op.results[0])
    if scale.ndim == 0 or form.channel_axis == -1 or rank is None:
        return scale
    return scale.reshape(1, -1, *[1] * (rank - 2))
