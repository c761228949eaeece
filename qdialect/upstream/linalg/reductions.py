"""linalg forms of pools and of reductions over axes."""

from __future__ import annotations

from collections.abc import Callable, Sequence
from functools import partial
from math import prod
from typing import Any, NamedTuple

import numpy as np
from xdsl.dialects import arith, math
from xdsl.dialects.builtin import Float32Type, IntegerType, f32, i1, i32, i64
from xdsl.dialects.linalg.ops import IndexOp
from xdsl.ir import Attribute, SSAValue

from qdialect.dialects.onnx_base import OnnxOp
from qdialect.dialects.onnx_types import known_element, known_shape
from qdialect.dialects.quant import UniformType
from qdialect.forms.geometry import Pool, pool, pool_counts, reduced_axes
from qdialect.ir.values import is_float32
from qdialect.reasons import Blocked, Refused, unblocked
from qdialect.upstream.linalg.scalars import centred, dequantized, quantized, requantized
from qdialect.upstream.linalg.site import Body, Compute, LinalgForm, LinalgSite, Operand, loop, loops
from qdialect.upstream.linalg.sums import stored_element
from qdialect.upstream.site import COMPARED_TYPE, per_tensor

LOWEST_FLOAT32 = float(np.finfo(np.float32).min)
PAST_ALL_INDICES = 1 << 62
"""An index greater than any of a tensor."""
Function = Callable[[Body, SSAValue], SSAValue]
Fold = Callable[[Body, SSAValue, SSAValue], SSAValue]
OTHER_ELEMENT = Blocked("expressed-type", "the op is lowered to linalg only for signed integers and float32")


class Types(NamedTuple):
    """Quantized types of a reduction's operand and result; None for float32."""

    x: UniformType | None
    y: UniformType | None


def types_of(op: OnnxOp) -> Types:
    """The types of a reduction on quantized elements or float32. Raises Refused for others."""
    x, y = unblocked(per_tensor(op.operands[0])), unblocked(per_tensor(op.results[0]))
    for value, type in ((op.operands[0], x), (op.results[0], y)):
        if type is None and not is_float32(value):
            raise Refused(OTHER_ELEMENT)
    return Types(x, y)


def folding(fold: Fold) -> Compute:
    """Step of a reduction: `fold` of the accumulator and the element."""
    return lambda body, args: fold(body, args[-1], args[0])


def added(body: Body, a: SSAValue, b: SSAValue) -> SSAValue:
    """The sum of two floats."""
    return body.do(arith.AddfOp(a, b))


def _adding(type: UniformType | None) -> Compute:
    """Step of a sum: of floats, or of the differences of integers of `type` to the zero point."""
    if type is None:
        return folding(added)
    return folding(lambda body, total, x: body.do(arith.AddiOp(total, centred(body, x, type))))


def larger(body: Body, a: SSAValue, b: SSAValue) -> SSAValue:
    """The larger of two floats or signed integers."""
    return body.do(arith.MaximumfOp(a, b) if isinstance(a.type, Float32Type) else arith.MaxSIOp(a, b))


def smaller(body: Body, a: SSAValue, b: SSAValue) -> SSAValue:
    """The smaller of two floats or signed integers."""
    return body.do(arith.MinimumfOp(a, b) if isinstance(a.type, Float32Type) else arith.MinSIOp(a, b))


def _mul(body: Body, a: SSAValue, b: SSAValue) -> SSAValue:
    return body.do(arith.MulfOp(a, b))


def _finish(
    site: LinalgSite, total: SSAValue, types: Types, divisor: SSAValue | float, place: int = 0
) -> SSAValue:
    """A sum, divided and quantized to the result's type. divisor: a number, or a tensor from axis `place` on."""
    shape = known_shape(total.type)
    operands = [Operand(total, loops(len(shape)))]
    if isinstance(divisor, SSAValue):
        operands.append(Operand(divisor, loops(len(known_shape(divisor.type)), place)))

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
    """The upstream element type of a quantized type's storage."""
    return IntegerType(max(type.storage.width, 8))


def _pooled(
    op: OnnxOp,
    site: LinalgSite,
    window: Pool,
    filling: float,
    step: Compute,
    start: tuple[Attribute, float],
    beside: SSAValue | None = None,
) -> tuple[SSAValue, bool]:
    """Each window reduced by `step` from `start`; True if the result's channels are last."""
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
    more = [] if beside is None else [Operand(beside, loops(len(result)))]
    out = site.generic([Operand(x, axes), taps, *more], result, element, step, over=count, init=init)
    return out, last


def _max_pool(op: OnnxOp, site: LinalgSite) -> Blocked | None:
    types, window = types_of(op), pool(op)
    if types.x != types.y:
        return COMPARED_TYPE
    if len(op.results) > 1 and op.int_attr("storage_order", 0):
        return Blocked("equal-elements", "MaxPool returns column-major indices")
    if types.x is not None and not types.x.storage.signed:
        return OTHER_ELEMENT
    least = LOWEST_FLOAT32 if types.x is None else types.x.storage.low
    out, last = _pooled(op, site, window, least, folding(larger), (stored_element(op.operands[0]), least))
    site.give(op.results[0], out, last=last)
    if len(op.results) > 1:
        site.give(op.results[1], _indices(op, site, window, out, least, last=last), last=last)
    return None


def _indices(
    op: OnnxOp, site: LinalgSite, window: Pool, largest: SSAValue, filling: float, *, last: bool
) -> SSAValue:
    """Flat index in the operand of the first of the largest elements under each window."""
    shape = known_shape(op.operands[0].type)
    count, first, channel = len(window.kernel), 1 if last else 2, site.axis(1, last=last)

    def step(body: Body, args: Sequence[SSAValue]) -> SSAValue:
        def index(place: int) -> SSAValue:
            return body.do(arith.IndexCastOp(body.do(IndexOp(place)), i64))

        at = body.do(
            arith.AddiOp(body.do(arith.MuliOp(index(0), body.number(shape[1], i64))), index(channel))
        )
        inside = body.number(1, i1)
        for k in range(count):
            place = body.do(arith.MuliOp(index(first + k), body.number(window.strides[k], i64)))
            tap = body.do(arith.MuliOp(index(len(shape) + k), body.number(window.dilations[k], i64)))
            place = body.do(arith.AddiOp(place, tap))
            place = body.do(arith.SubiOp(place, body.number(window.pads[k][0], i64)))
            size = body.number(shape[2 + k], i64)
            inside = body.do(arith.AndIOp(inside, body.do(arith.CmpiOp(place, size, "ult"))))
            at = body.do(arith.AddiOp(body.do(arith.MuliOp(at, size)), place))
        equal: Any = (
            arith.CmpfOp(args[0], args[2], "oeq") if types_are_float else arith.CmpiOp(args[0], args[2], "eq")
        )
        chosen = body.do(arith.AndIOp(inside, body.do(equal)))
        far = body.number(PAST_ALL_INDICES, i64)
        return body.do(arith.MinSIOp(args[-1], body.do(arith.SelectOp(chosen, at, far))))

    types_are_float = isinstance(known_element(largest.type), Float32Type)
    result, _ = _pooled(op, site, window, filling, step, (i64, PAST_ALL_INDICES), largest)
    return result


def _average_pool(op: OnnxOp, site: LinalgSite) -> None:
    types, window = types_of(op), pool(op)
    filling = 0 if types.x is None else int(types.x.zero_point)
    start = (f32 if types.x is None else i32, 0.0)
    total, last = _pooled(op, site, window, filling, _adding(types.x), start)
    counts = pool_counts(op, window)
    if len(set(counts.reshape(-1).tolist())) == 1:
        divisor: SSAValue | float = float(counts.reshape(-1)[0])
    else:
        divisor = site.constant(counts, np.float32)
    site.give(op.results[0], _finish(site, total, types, divisor, 1 if last else 2), last=last)


def reduced(
    site: LinalgSite, x: SSAValue, axes: Sequence[int], element: Attribute, first: float, step: Compute
) -> SSAValue:
    """A tensor reduced over `axes` by `step` from `first`; the axes are removed."""
    shape = known_shape(x.type)
    kept = [k for k in range(len(shape)) if k not in axes]
    order = [*kept, *axes]
    result = [shape[k] for k in kept]
    read = Operand(x, [loop(order.index(k)) for k in range(len(shape))])
    init = site.filled(result, element, first)
    return site.generic([read], result, element, step, over=len(axes), init=init)


def _mean(is_mean: bool, op: OnnxOp, site: LinalgSite) -> None:
    types, axes = types_of(op), unblocked(reduced_axes(op))
    (x, last), shape = site.in_own_layout(op.operands[0]), known_shape(op.operands[0].type)
    element = f32 if types.x is None else i32
    total = reduced(site, x, [site.axis(k, last=last) for k in axes], element, 0, _adding(types.x))
    count = float(prod(shape[k] for k in axes)) if is_mean else 1.0
    result = _finish(site, total, types, count) if is_mean or types != (None, None) else total
    site.give(op.results[0], _in_shape(op, site, result, axes, last=last))


def _in_shape(op: OnnxOp, site: LinalgSite, value: SSAValue, axes: Sequence[int], *, last: bool) -> SSAValue:
    """The result of a reduction in ONNX's order of axes, with axes of size 1 if keepdims says so."""
    if last:
        physical = [k for k in (0, 2, 3, 1) if k not in axes]
        value = site.transpose(value, [physical.index(k) for k in sorted(physical)])
    return site.reshape(value, site.shape(op.results[0]))


def _folded(fold: Fold, first: float, op: OnnxOp, site: LinalgSite) -> Blocked | None:
    """ReduceMax and ReduceMin of floats, or of stored integers of one type."""
    types, axes = types_of(op), unblocked(reduced_axes(op))
    if types.x is not None:
        if types.x != types.y:
            return COMPARED_TYPE
        if not types.x.storage.signed or fold is _mul:
            return OTHER_ELEMENT
        first = types.x.storage.low if fold is larger else types.x.storage.high
    x = site.operand(op.operands[0])
    result = reduced(site, x, axes, known_element(x.type), first, folding(fold))
    site.give(op.results[0], site.reshape(result, site.shape(op.results[0])))
    return None


def _plain(body: Body, a: SSAValue) -> SSAValue:
    return a


def _square(body: Body, a: SSAValue) -> SSAValue:
    return body.do(arith.MulfOp(a, a))


def _op(kind: type) -> Function:
    return lambda body, a: body.do(kind(a))


def _norm(before: Function, after: Function, op: OnnxOp, site: LinalgSite) -> None:
    """after(sum of before(x)) on real values, as ReduceL2 and the like."""
    types, axes = types_of(op), unblocked(reduced_axes(op))

    def step(body: Body, args: Sequence[SSAValue]) -> SSAValue:
        real = args[0] if types.x is None else dequantized(body, args[0], types.x)
        return body.do(arith.AddfOp(args[1], before(body, real)))

    def end(body: Body, args: Sequence[SSAValue]) -> SSAValue:
        result = after(body, args[0])
        return result if types.y is None else quantized(body, result, types.y)

    total = reduced(site, site.operand(op.operands[0]), axes, f32, 0, step)
    result = site.each([total], stored_element(op.results[0]), end)
    site.give(op.results[0], site.reshape(result, site.shape(op.results[0])))


REDUCING_FORMS: dict[tuple[str, str], LinalgForm] = {
    ("", "MaxPool"): LinalgForm(_max_pool),
    ("", "AveragePool"): LinalgForm(_average_pool),
    ("", "GlobalAveragePool"): LinalgForm(partial(_mean, True)),
    ("", "ReduceMean"): LinalgForm(partial(_mean, True)),
    ("", "ReduceSum"): LinalgForm(partial(_mean, False)),
    ("", "ReduceMax"): LinalgForm(partial(_folded, larger, LOWEST_FLOAT32)),
    ("", "GlobalMaxPool"): LinalgForm(partial(_folded, larger, LOWEST_FLOAT32)),
    ("", "ReduceMin"): LinalgForm(partial(_folded, smaller, -LOWEST_FLOAT32)),
    ("", "ReduceL1"): LinalgForm(partial(_norm, _op(math.AbsFOp), _plain)),
    ("", "ReduceL2"): LinalgForm(partial(_norm, _square, _op(math.SqrtOp))),
    ("", "ReduceSumSquare"): LinalgForm(partial(_norm, _square, _plain)),
    ("", "ReduceLogSum"): LinalgForm(partial(_norm, _plain, _op(math.LogOp))),
    ("", "ReduceProd"): LinalgForm(partial(_folded, _mul, 1.0)),
}
