"""Pools, and reductions over axes."""

from __future__ import annotations

from collections.abc import Callable, Sequence
from functools import partial
from math import prod
from typing import NamedTuple

import numpy as np
from xdsl.dialects import arith
from xdsl.dialects.builtin import Float32Type, IntegerType, f32, i32
from xdsl.ir import Attribute, SSAValue

from qdialect.dialects.onnx_base import OnnxOp
from qdialect.dialects.onnx_types import element_of, known_element, known_shape
from qdialect.dialects.quant import UniformType
from qdialect.forms.geometry import Pool, pool, pool_counts, reduced_axes
from qdialect.forms.linalg.scalars import centred, quantized, requantized
from qdialect.forms.linalg.site import Body, Compute, LinalgForm, LinalgSite, Operand, loop, loops
from qdialect.forms.upstream import per_tensor, upstream_type
from qdialect.reasons import Blocked

LEAST = float(np.finfo(np.float32).min)
Fold = Callable[[Body, SSAValue, SSAValue], SSAValue]
OTHER_ELEMENT = Blocked("element-type", "the op is written in linalg for quantized numbers and float32 alone")
OTHER_TYPE = Blocked("other-type", "the result is of another quantized type than what is compared")


def stored_element(value: SSAValue) -> Attribute:
    """The upstream element of a value, which is known to have one."""
    type = upstream_type(value.type)
    assert not isinstance(type, Blocked)  # the sweep has asked
    return type.element_type


class Types(NamedTuple):
    """Of an op that reduces: the operand's and the result's quantized type."""

    x: UniformType | None
    y: UniformType | None


def types_of(op: OnnxOp) -> Types | Blocked:
    """The types of an op of quantized numbers or float32, or why it is none."""
    x, y = per_tensor(op.operands[0]), per_tensor(op.results[0])
    if isinstance(x, Blocked):
        return x
    if isinstance(y, Blocked):
        return y
    for value, type in ((op.operands[0], x), (op.results[0], y)):
        if type is None and not isinstance(element_of(value.type), Float32Type):
            return OTHER_ELEMENT
    return Types(x, y)


def _step(types: Types, fold: Fold | None) -> Compute:
    """One element more: of floats by `fold`, of integers their sum above the zero point."""

    def step(body: Body, args: Sequence[SSAValue]) -> SSAValue:
        if fold is not None:
            return fold(body, args[-1], args[0])
        if types.x is None:
            return body.do(arith.AddfOp(args[-1], args[0]))
        return body.do(arith.AddiOp(args[-1], centred(body, args[0], types.x)))

    return step


def larger(body: Body, a: SSAValue, b: SSAValue) -> SSAValue:
    """The larger of two floats or signed integers."""
    return body.do(arith.MaximumfOp(a, b) if isinstance(a.type, Float32Type) else arith.MaxSIOp(a, b))


def _min(body: Body, a: SSAValue, b: SSAValue) -> SSAValue:
    return body.do(arith.MinimumfOp(a, b) if isinstance(a.type, Float32Type) else arith.MinSIOp(a, b))


def _mul(body: Body, a: SSAValue, b: SSAValue) -> SSAValue:
    return body.do(arith.MulfOp(a, b))


def _finish(
    site: LinalgSite, total: SSAValue, types: Types, divisor: SSAValue | float, place: int | None = None
) -> SSAValue:
    """A sum as the result: divided, in its steps. divisor: a number, or a tensor whose first axis is axis `place`."""
    shape = known_shape(total.type)
    operands = [Operand(total, loops(len(shape)))]
    if isinstance(divisor, SSAValue):
        first = place or 0
        operands.append(Operand(divisor, loops(len(known_shape(divisor.type)), first)))

    def compute(body: Body, args: Sequence[SSAValue]) -> SSAValue:
        count = args[1] if isinstance(divisor, SSAValue) else body.number(divisor, f32)
        if types.x is None:
            mean = body.do(arith.DivfOp(args[0], count))
            return mean if types.y is None else quantized(body, mean, types.y)
        own = body.number(float(np.float32(types.x.scale)), f32)
        if types.y is None:
            real = body.do(arith.MulfOp(body.do(arith.SIToFPOp(args[0], f32)), own))
            return body.do(arith.DivfOp(real, count))
        steps = body.do(arith.MulfOp(body.number(float(np.float32(types.y.scale)), f32), count))
        return requantized(body, args[0], body.do(arith.DivfOp(own, steps)), types.y)

    element = f32 if types.y is None else stored_in(types.y)
    return site.generic(operands, shape, element, compute)


def stored_in(type: UniformType) -> Attribute:
    """The upstream element that a quantized one is stored in."""
    return IntegerType(max(type.storage.width, 8))


def _pooled(
    op: OnnxOp,
    site: LinalgSite,
    window: Pool,
    filling: float,
    step: Compute,
    start: tuple[Attribute, float],
) -> tuple[SSAValue, bool]:
    """Every window's elements, taken together by `step` from `start`; whether channels are last."""
    shape = known_shape(op.operands[0].type)
    last = len(shape) == 4
    pads = [*window.pads, (0, 0)] if last else [(0, 0), *window.pads]
    x = site.padded(site.operand(op.operands[0], last=last), [(0, 0), *pads], filling)
    result = site.shape(op.results[0], last=last)
    first = 1 if last else 2
    axes = loops(len(result))
    for k, (stride, dilation) in enumerate(zip(window.strides, window.dilations, strict=True)):
        tap = loop(len(result) + k)
        axes[first + k] = axes[first + k] * stride + tap * dilation
    count = len(window.kernel)
    taps = Operand(site.empty(window.kernel, known_element(x.type)), loops(count, len(result)))
    element, value = start
    init = site.filled(result, element, value)
    out = site.generic([Operand(x, axes), taps], result, element, step, over=count, init=init)
    return out, last


def _max_pool(op: OnnxOp, site: LinalgSite) -> Blocked | None:
    types, window = types_of(op), pool(op)
    if isinstance(types, Blocked):
        return types
    if isinstance(window, Blocked):
        return window
    if types.x != types.y:
        return OTHER_TYPE
    if any(result.first_use is not None for result in op.results[1:]):
        return Blocked("indices-used", "MaxPool's indices are read")
    if types.x is not None and not types.x.storage.signed:
        return OTHER_ELEMENT
    least = LEAST if types.x is None else types.x.storage.low
    out, last = _pooled(
        op,
        site,
        window,
        least,
        lambda body, args: larger(body, args[-1], args[0]),
        (stored_element(op.operands[0]), least),
    )
    site.give(op.results[0], out, last=last)
    for other in op.results[1:]:
        site.give(other, site.filled(known_shape(other.type), stored_element(other), 0))
    return None


def _average_pool(op: OnnxOp, site: LinalgSite) -> Blocked | None:
    types, window = types_of(op), pool(op)
    if isinstance(types, Blocked):
        return types
    if isinstance(window, Blocked):
        return window
    filling = 0 if types.x is None else int(types.x.zero_point)
    start = (f32 if types.x is None else i32, 0.0)
    total, last = _pooled(op, site, window, filling, _step(types, None), start)
    counts = pool_counts(op, window)
    if len(set(counts.reshape(-1).tolist())) == 1:
        divisor: SSAValue | float = float(counts.reshape(-1)[0])
    else:
        divisor = site.constant(counts, np.float32)
    site.give(op.results[0], _finish(site, total, types, divisor, 1 if last else 2), last=last)
    return None


def reduced(
    site: LinalgSite, x: SSAValue, axes: Sequence[int], element: Attribute, first: float, step: Compute
) -> SSAValue:
    """A tensor without `axes`, whose elements `step` takes together."""
    shape = known_shape(x.type)
    kept = [k for k in range(len(shape)) if k not in axes]
    order = [*kept, *axes]
    result = [shape[k] for k in kept]
    read = Operand(x, [loop(order.index(k)) for k in range(len(shape))])
    init = site.filled(result, element, first)
    return site.generic([read], result, element, step, over=len(axes), init=init)


def _mean(is_mean: bool, op: OnnxOp, site: LinalgSite) -> Blocked | None:
    types, axes = types_of(op), reduced_axes(op)
    if isinstance(types, Blocked):
        return types
    if isinstance(axes, Blocked):
        return axes
    value = op.operands[0]
    last, shape = site.is_last(value), known_shape(value.type)
    x = site.operand(value, last=last)
    element = f32 if types.x is None else i32
    total = reduced(site, x, [site.axis(k, last=last) for k in axes], element, 0, _step(types, None))
    count = float(prod(shape[k] for k in axes)) if is_mean else 1.0
    result = _finish(site, total, types, count) if is_mean or types != (None, None) else total
    site.give(op.results[0], _in_shape(op, site, result, axes, last=last))
    return None


def _in_shape(op: OnnxOp, site: LinalgSite, value: SSAValue, axes: Sequence[int], *, last: bool) -> SSAValue:
    """What is left of a reduction, in ONNX's order of axes and with those of one element that it keeps."""
    rank = len(known_shape(op.operands[0].type))
    if last:
        physical = [k for k in (0, 2, 3, 1) if k not in axes]
        value = site.transpose(value, [physical.index(k) for k in sorted(physical)])
    assert rank >= len(axes)
    return site.reshape(value, site.shape(op.results[0]))


def _folded(fold: Fold, first: float, op: OnnxOp, site: LinalgSite) -> Blocked | None:
    """ReduceMax and its like: of floats, or of stored integers of one type."""
    types, axes = types_of(op), reduced_axes(op)
    if isinstance(types, Blocked):
        return types
    if isinstance(axes, Blocked):
        return axes
    if types.x is not None and (types.x != types.y or not types.x.storage.signed or fold is _mul):
        return OTHER_TYPE
    if types.x is not None:
        first = types.x.storage.low if first < 0 else types.x.storage.high
    x = site.operand(op.operands[0])
    step: Compute = _step(types, fold)
    result = reduced(site, x, axes, known_element(x.type), first, step)
    site.give(op.results[0], site.reshape(result, site.shape(op.results[0])))
    return None


REDUCING_FORMS: dict[tuple[str, str], LinalgForm] = {
    ("", "MaxPool"): LinalgForm(_max_pool),
    ("", "AveragePool"): LinalgForm(_average_pool),
    ("", "GlobalAveragePool"): LinalgForm(partial(_mean, True)),
    ("", "ReduceMean"): LinalgForm(partial(_mean, True)),
    ("", "ReduceSum"): LinalgForm(partial(_mean, False)),
    ("", "ReduceMax"): LinalgForm(partial(_folded, larger, LEAST)),
    ("", "GlobalMaxPool"): LinalgForm(partial(_folded, larger, LEAST)),
    ("", "ReduceMin"): LinalgForm(partial(_folded, _min, -LEAST)),
    ("", "ReduceProd"): LinalgForm(partial(_folded, _mul, 1.0)),
}
