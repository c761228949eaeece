"""linalg forms of Softmax, LogSoftmax, LayerNormalization, InstanceNormalization and BatchNormalization."""

from __future__ import annotations

from collections.abc import Callable, Sequence
from math import prod

import numpy as np
from xdsl.dialects import arith, math
from xdsl.dialects.builtin import f32
from xdsl.ir import Operation, SSAValue

from qdialect.dialects.onnx_base import OnnxOp
from qdialect.dialects.onnx_types import known_shape, quantized_of
from qdialect.dialects.quant import UniformType
from qdialect.forms.geometry import COMPUTED
from qdialect.ir.values import normal_axis, real_constant
from qdialect.numerics import Array
from qdialect.reasons import Blocked, required
from qdialect.upstream.linalg.reductions import (
    LOWEST_FLOAT32,
    added,
    folding,
    larger,
    reduced,
    stored_in,
    types_of,
)
from qdialect.upstream.linalg.scalars import dequantized, quantized
from qdialect.upstream.linalg.site import Body, LinalgForm, LinalgSite, Operand, by_op, loop, loops
from qdialect.upstream.linalg.sums import stored_element
from qdialect.upstream.site import STATISTICS_USED


def _real(site: LinalgSite, value: SSAValue, type: UniformType | None) -> SSAValue:
    x = site.operand(value)
    return x if type is None else site.each([x], f32, lambda body, args: dequantized(body, args[0], type))


def _give(site: LinalgSite, op: OnnxOp, value: SSAValue, type: UniformType | None) -> None:
    if type is not None:
        value = site.each([value], stored_in(type), lambda b, args: quantized(b, args[0], type))
    site.give(op.results[0], value)


def _with_rows(
    site: LinalgSite, x: SSAValue, rows: SSAValue, axes: Sequence[int], kind: type[Operation]
) -> SSAValue:
    """`kind` of each element of `x` and of the reduction of its row. rows: `x` reduced over `axes`."""
    shape = known_shape(x.type)
    kept = [loop(k) for k in range(len(shape)) if k not in axes]
    return site.generic([Operand(x, loops(len(shape))), Operand(rows, kept)], shape, f32, by_op(kind))


def _softmax(op: OnnxOp, site: LinalgSite) -> None:
    """Softmax, exp(x - max) / sum along one axis, and LogSoftmax, its logarithm."""
    types = types_of(op)
    x = _real(site, op.operands[0], types.x)
    axis = [normal_axis(op.int_attr("axis", -1), len(known_shape(x.type)))]
    top = reduced(site, x, axis, f32, LOWEST_FLOAT32, folding(larger))
    less = _with_rows(site, x, top, axis, arith.SubfOp)
    grown = site.each([less], f32, by_op(math.ExpOp))
    total = reduced(site, grown, axis, f32, 0, folding(added))
    if op.op_type == "LogSoftmax":
        logs = site.each([total], f32, by_op(math.LogOp))
        result = _with_rows(site, less, logs, axis, arith.SubfOp)
    else:
        result = _with_rows(site, grown, total, axis, arith.DivfOp)
    _give(site, op, result, types.y)


def _layer_normalization(op: OnnxOp, site: LinalgSite) -> Blocked | None:
    """(x - mean) / sqrt(variance + epsilon) over the axes from `axis` on."""
    rank = len(known_shape(op.operands[0].type))
    axes = list(range(normal_axis(op.int_attr("axis", -1), rank), rank))
    return _normalized(op, site, axes, lambda parameter: parameter)


def _instance_normalization(op: OnnxOp, site: LinalgSite) -> Blocked | None:
    """Likewise for each channel, over its pixels."""
    pixels = list(range(2, len(known_shape(op.operands[0].type))))
    return _normalized(op, site, pixels, lambda parameter: parameter.reshape(-1, *[1] * len(pixels)))


def _normalized(
    op: OnnxOp, site: LinalgSite, axes: Sequence[int], aligned: Callable[[Array], Array]
) -> Blocked | None:
    """aligned: a factor or shift in a shape that broadcasts to the result's."""
    types = types_of(op)
    if any(result.first_use is not None for result in op.results[1:]):
        return STATISTICS_USED
    shape = known_shape(op.operands[0].type)
    x = _real(site, op.operands[0], types.x)
    result = _standardized(site, x, axes, np.float32(op.float_attr("epsilon", 1e-5)))
    for place, kind in ((1, arith.MulfOp), (2, arith.AddfOp)):
        value = op.input(place)
        if value is None:
            continue
        real = required(real_constant(value), COMPUTED)
        more = site.broadcast(site.constant(aligned(real), np.float32), shape)
        operands = [Operand(result, loops(len(shape))), more]
        result = site.generic(operands, shape, f32, by_op(kind))
    _give(site, op, result, types.y)
    for other in op.results[1:]:
        site.give(other, site.empty(known_shape(other.type), f32))
    return None


def _standardized(site: LinalgSite, x: SSAValue, axes: Sequence[int], epsilon: np.float32) -> SSAValue:
    """(x - mean) / sqrt(variance + epsilon), mean and variance over `axes`."""
    count = float(prod(known_shape(x.type)[k] for k in axes))
    total = reduced(site, x, axes, f32, 0, folding(added))
    mean = site.each([total], f32, lambda b, args: b.do(arith.DivfOp(args[0], b.number(count, f32))))
    less = _with_rows(site, x, mean, axes, arith.SubfOp)

    def squares(body: Body, args: Sequence[SSAValue]) -> SSAValue:
        return added(body, args[-1], body.do(arith.MulfOp(args[0], args[0])))

    def deviation(body: Body, args: Sequence[SSAValue]) -> SSAValue:
        variance = body.do(arith.DivfOp(args[0], body.number(count, f32)))
        return body.do(math.SqrtOp(added(body, variance, body.number(float(epsilon), f32))))

    spread = site.each([reduced(site, less, axes, f32, 0, squares)], f32, deviation)
    return _with_rows(site, less, spread, axes, arith.DivfOp)


def _batch_normalization(op: OnnxOp, site: LinalgSite) -> Blocked | None:
    """x * factor + shift for each channel."""
    types = types_of(op)
    if len(op.results) > 1:
        return COMPUTED
    epsilon = np.float32(op.float_attr("epsilon", 1e-5))
    x, last = site.in_own_layout(op.operands[0])
    channel = [loop(site.axis(1, last=last))]
    shape = known_shape(x.type)
    known = [real_constant(one) for one in op.operands[1:]]
    if all(one is not None for one in known):  # constants: folded here
        scale, shift, mean, variance = (np.asarray(one, np.float32) for one in known)
        factor = scale / np.sqrt(variance + epsilon)
        more = [site.constant(one, np.float32) for one in (factor, shift - mean * factor)]
    else:
        more = [_real(site, one, quantized_of(one.type)) for one in op.operands[1:]]
    operands = [Operand(x, loops(len(shape))), *(Operand(one, channel) for one in more)]

    def compute(body: Body, args: Sequence[SSAValue]) -> SSAValue:
        real = args[0] if types.x is None else dequantized(body, args[0], types.x)
        factor, shift = args[1], args[2]
        if len(more) == 4:
            spread = body.do(math.SqrtOp(added(body, args[4], body.number(float(epsilon), f32))))
            real, factor = body.do(arith.SubfOp(real, args[3])), body.do(arith.DivfOp(factor, spread))
        result = added(body, body.do(arith.MulfOp(real, factor)), shift)
        return result if types.y is None else quantized(body, result, types.y)

    site.give(op.results[0], site.generic(operands, shape, stored_element(op.results[0]), compute), last=last)
    return None


NORMALIZING_FORMS: dict[tuple[str, str], LinalgForm] = {
    ("", "Softmax"): LinalgForm(_softmax),
    ("", "LogSoftmax"): LinalgForm(_softmax),
    ("", "LayerNormalization"): LinalgForm(_layer_normalization),
    ("", "InstanceNormalization"): LinalgForm(_instance_normalization),
    ("", "BatchNormalization"): LinalgForm(_batch_normalization),
}
