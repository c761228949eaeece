"""linalg forms of elementwise ops: dequantize, function and quantize in the body of one `linalg.generic`."""

from __future__ import annotations

from collections.abc import Callable, Sequence
from functools import partial
from typing import cast

import numpy as np
from xdsl.dialects import arith, math
from xdsl.dialects.builtin import AnyFloat, Float32Type, IntegerType, f32, i1
from xdsl.ir import SSAValue

from qdialect.dialects.onnx_base import OnnxOp
from qdialect.dialects.onnx_types import BY_ATTRIBUTE, known_element, quantized_of
from qdialect.dialects.quant import DequantizeOp, QuantizeOp
from qdialect.ir.values import constant_array, is_float32, real_constant
from qdialect.reasons import COMPUTED_BOUND, Blocked, required, unblocked
from qdialect.upstream.linalg.scalars import dequantized, quantized
from qdialect.upstream.linalg.site import Body, LinalgForm, LinalgSite, Operand, by_op, loop, loops
from qdialect.upstream.linalg.sums import stored_element
from qdialect.upstream.site import kept, per_tensor

Function = Callable[[Body, Sequence[SSAValue], OnnxOp], SSAValue]
Cast = Callable[..., SSAValue]
"""Builds a cast of an element from the body, the element, its type and, if there are several, scale and zero point."""
BLOCK_SCALES = Blocked("block-scales", "the type has a scale for each block")
OTHER_ELEMENT = Blocked("expressed-type", "the op is lowered to linalg only in float32")


def _read(site: LinalgSite, value: SSAValue, shape: Sequence[int], *, last: bool) -> Operand:
    """An operand that is broadcast to a result of `shape`, in ONNX's order of axes."""
    if last and site.shape(value) == tuple(shape):
        return Operand(site.operand(value, last=True), loops(len(shape)))
    return site.broadcast(site.operand(value), shape, last=last)


def _joined(op: OnnxOp, site: LinalgSite, function: Function, places: Sequence[int]) -> None:
    """`function` of the operands at `places`, broadcast, in the layout of those that have the result's shape."""
    values = [op.operands[place] for place in places]
    kinds = [unblocked(per_tensor(value)) for value in (*values, op.results[0])]
    shape = site.shape(op.results[0])
    whole = [v for v in values if site.shape(v) == shape]
    last = bool(whole) and len(shape) == 4 and site.alike(*whole)[1]
    operands = [_read(site, value, shape, last=last) for value in values]

    def compute(body: Body, args: Sequence[SSAValue]) -> SSAValue:
        real = [
            arg if type is None else dequantized(body, arg, type)
            for arg, type in zip(args[:-1], kinds[:-1], strict=True)
        ]
        result = function(body, real, op)
        return result if kinds[-1] is None else quantized(body, result, kinds[-1])

    target = site.shape(op.results[0], last=last)
    site.give(
        op.results[0], site.generic(operands, target, stored_element(op.results[0]), compute), last=last
    )


def _is_float(value: SSAValue) -> bool:
    return quantized_of(value.type) is not None or is_float32(value)


def _of_reals(function: Function, count: int | None, op: OnnxOp, site: LinalgSite) -> Blocked | None:
    operands = op.operands[:count]
    if not all(map(_is_float, (*operands, op.results[0]))):
        return OTHER_ELEMENT
    return _joined(op, site, function, range(len(operands)))


def of_reals(function: Function, count: int | None = None) -> LinalgForm:
    """The form of a function of the real values of the first `count` operands, or of all."""
    return LinalgForm(partial(_of_reals, function, count))


def _f(body: Body, value: float) -> SSAValue:
    return body.number(float(np.float32(value)), f32)


def _op(kind: type) -> Function:
    return lambda body, args, op: body.do(kind(*args))


def _sum_of(kind: type) -> Function:
    def function(body: Body, args: Sequence[SSAValue], op: OnnxOp) -> SSAValue:
        result = args[0]
        for one in args[1:]:
            result = body.do(kind(result, one))
        return result

    return function


def _if_positive(body: Body, x: SSAValue, below: SSAValue) -> SSAValue:
    """x from zero on, else `below`."""
    return body.do(arith.SelectOp(body.do(arith.CmpfOp(x, _f(body, 0), "oge")), x, below))


def _from_0_to_1(body: Body, x: SSAValue, alpha: float, beta: float) -> SSAValue:
    """alpha * x + beta, clamped to [0, 1]."""
    line = body.do(arith.AddfOp(body.do(arith.MulfOp(x, _f(body, alpha))), _f(body, beta)))
    return body.do(arith.MaximumfOp(body.do(arith.MinimumfOp(line, _f(body, 1))), _f(body, 0)))


def _relu(body: Body, args: Sequence[SSAValue], op: OnnxOp) -> SSAValue:
    return body.do(arith.MaximumfOp(args[0], _f(body, 0)))


def _leaky(slope: Callable[[OnnxOp], float]) -> Function:
    def function(body: Body, args: Sequence[SSAValue], op: OnnxOp) -> SSAValue:
        return _if_positive(body, args[0], body.do(arith.MulfOp(args[0], _f(body, slope(op)))))

    return function


def _prelu(body: Body, args: Sequence[SSAValue], op: OnnxOp) -> SSAValue:
    return _if_positive(body, args[0], body.do(arith.MulfOp(args[0], args[1])))


def sigmoid(body: Body, x: SSAValue) -> SSAValue:
    """1 / (1 + exp(-x))."""
    below = body.do(math.ExpOp(body.do(arith.NegfOp(x))))
    return body.do(arith.DivfOp(_f(body, 1), body.do(arith.AddfOp(below, _f(body, 1)))))


def _reciprocal(body: Body, args: Sequence[SSAValue], op: OnnxOp) -> SSAValue:
    return body.do(arith.DivfOp(_f(body, 1), args[0]))


def _hard_sigmoid(body: Body, args: Sequence[SSAValue], op: OnnxOp) -> SSAValue:
    return _from_0_to_1(body, args[0], op.float_attr("alpha", 0.2), op.float_attr("beta", 0.5))


def _hard_swish(body: Body, args: Sequence[SSAValue], op: OnnxOp) -> SSAValue:
    return body.do(arith.MulfOp(args[0], _from_0_to_1(body, args[0], 1 / 6, 0.5)))


def _softplus(body: Body, args: Sequence[SSAValue], op: OnnxOp) -> SSAValue:
    """max(x, 0) + log1p(exp(-|x|)), which no x overflows."""
    far = body.do(math.ExpOp(body.do(arith.NegfOp(body.do(math.AbsFOp(args[0]))))))
    over = body.do(arith.MaximumfOp(args[0], _f(body, 0)))
    return body.do(arith.AddfOp(over, body.do(math.Log1pOp(far))))


def _gelu(body: Body, args: Sequence[SSAValue], op: OnnxOp) -> SSAValue:
    inner = body.do(math.ErfOp(body.do(arith.MulfOp(args[0], _f(body, 0.5**0.5)))))
    half = body.do(arith.MulfOp(args[0], _f(body, 0.5)))
    return body.do(arith.MulfOp(half, body.do(arith.AddfOp(inner, _f(body, 1)))))


def _elu(body: Body, args: Sequence[SSAValue], op: OnnxOp) -> SSAValue:
    less = body.do(arith.SubfOp(body.do(math.ExpOp(args[0])), _f(body, 1)))
    return _if_positive(body, args[0], body.do(arith.MulfOp(less, _f(body, op.float_attr("alpha", 1.0)))))


def _clip(op: OnnxOp, site: LinalgSite) -> Blocked | None:
    if not all(map(_is_float, (op.operands[0], op.results[0]))):
        return OTHER_ELEMENT
    ends = [unblocked(_bound(op, name, place)) for name, place in (("min", 1), ("max", 2))]

    def function(body: Body, args: Sequence[SSAValue], _: OnnxOp) -> SSAValue:
        result = args[0]
        for end, kind in zip(ends, (arith.MaximumfOp, arith.MinimumfOp), strict=True):
            if end is not None:
                result = body.do(kind(result, _f(body, end)))
        return result

    return _joined(op, site, function, [0])


def _bound(op: OnnxOp, name: str, place: int) -> float | Blocked | None:
    if name in op.properties:
        return op.float_attr(name, 0.0)
    value = op.input(place)
    if value is None:
        return None
    known = real_constant(value)
    return COMPUTED_BOUND if known is None else float(known.reshape(-1)[0])


def _is_unsigned(value: SSAValue) -> bool:
    """True for unsigned integers; in linalg their type is signless."""
    return BY_ATTRIBUTE[known_element(value.type)].numpy.startswith("u")


def _compared(predicate: str, integers: str) -> LinalgForm:
    """The form of a comparison. integers: the predicate of signed ones."""

    def build(op: OnnxOp, site: LinalgSite) -> Blocked | None:
        kind = known_element(op.operands[0].type)
        whole = quantized_of(op.operands[0].type) is None and isinstance(kind, IntegerType)
        if not whole and not all(map(_is_float, op.operands)):
            return OTHER_ELEMENT
        order = integers.replace("s", "u") if whole and _is_unsigned(op.operands[0]) else integers

        def compared(body: Body, args: Sequence[SSAValue], _: OnnxOp) -> SSAValue:
            a, b = args
            return body.do(arith.CmpiOp(a, b, order) if whole else arith.CmpfOp(a, b, predicate))

        return _joined(op, site, compared, [0, 1])

    return LinalgForm(build)


_UNSIGNED: dict[type, type] = {
    arith.DivSIOp: arith.DivUIOp,
    arith.MaxSIOp: arith.MaxUIOp,
    arith.MinSIOp: arith.MinUIOp,
}


def _arithmetic(float_kind: type, integer_kind: type) -> LinalgForm:
    """The form of an arithmetic op on real values, or on plain integers as in shape computations."""

    def build(op: OnnxOp, site: LinalgSite) -> Blocked | None:
        places = range(len(op.operands))
        if all(map(_is_float, (*op.operands, op.results[0]))):
            return _joined(op, site, _sum_of(float_kind), places)
        if any(quantized_of(v.type) is not None for v in op.operands):
            return OTHER_ELEMENT
        if not isinstance(stored_element(op.results[0]), IntegerType):
            return OTHER_ELEMENT
        unsigned = _is_unsigned(op.results[0])
        kind = _UNSIGNED.get(integer_kind, integer_kind) if unsigned else integer_kind
        return _joined(op, site, _sum_of(kind), places)

    return LinalgForm(build)


def _where(op: OnnxOp, site: LinalgSite) -> Blocked | None:
    """Where on stored integers of one type, or on plain elements of any type."""
    types = {quantized_of(v.type) for v in (*op.operands[1:], op.results[0])}
    if len(types) > 1:
        return _joined(op, site, lambda body, args, _: body.do(arith.SelectOp(*args)), [0, 1, 2])
    shape, element = site.shape(op.results[0]), stored_element(op.results[0])
    operands = [site.broadcast(site.operand(value), shape) for value in op.operands]
    site.give(op.results[0], site.generic(operands, shape, element, by_op(arith.SelectOp)))
    return None


def _cast(op: OnnxOp, site: LinalgSite) -> Blocked | None:
    source, target = known_element(op.operands[0].type), known_element(op.results[0].type)
    if quantized_of(op.operands[0].type) is not None or quantized_of(op.results[0].type) is not None:
        return Blocked("expressed-type", "a Cast of quantized numbers")
    (tensor,), last = site.alike(op.operands[0])
    a, b = (BY_ATTRIBUTE[element] for element in (source, target))
    element = stored_element(op.results[0])

    def compute(body: Body, args: Sequence[SSAValue]) -> SSAValue:
        x, signed = args[0], not a.numpy.startswith("u") and a.numpy != "bool"
        if isinstance(x.type, IntegerType) and isinstance(element, IntegerType):
            if element == i1:
                return body.do(arith.CmpiOp(x, body.number(0, x.type), "ne"))
            if element.width.data == x.type.width.data:
                return x
            if element.width.data < x.type.width.data:
                return body.do(arith.TruncIOp(x, element))
            return body.do((arith.ExtSIOp if signed else arith.ExtUIOp)(x, element))
        if isinstance(x.type, IntegerType):
            return body.do((arith.SIToFPOp if signed else arith.UIToFPOp)(x, cast("AnyFloat", element)))
        if element == i1:
            return body.do(arith.CmpfOp(x, body.number(0, x.type), "une"))
        if isinstance(element, IntegerType):
            return body.do((arith.FPToUIOp if b.numpy.startswith("u") else arith.FPToSIOp)(x, element))
        if a.bits == b.bits:
            return x
        return body.do((arith.ExtFOp if a.bits < b.bits else arith.TruncFOp)(x, cast("AnyFloat", element)))

    site.give(op.results[0], site.each([tensor], element, compute), last=last)
    return None


def _each(op: DequantizeOp | QuantizeOp, site: LinalgSite, cast: Cast) -> None:
    """A cast of each element, by the scale and the zero point of its channel if there are several."""
    value, type, element = op.operands[0], op.element_type, stored_element(op.results[0])
    tensor, last = site.in_own_layout(value)
    shape, parameters = site.shape(value, last=last), list[Operand]()
    if not type.is_per_tensor:
        axis = [loop(site.axis(required(type.axis, BLOCK_SCALES), last=last))]
        scales = site.constant(type.scales.reshape(-1), np.float32)
        parameters = [
            Operand(scales, axis),
            Operand(site.constant(type.zero_points.reshape(-1), np.int32), axis),
        ]
    operands = [Operand(tensor, loops(len(shape))), *parameters]

    def compute(body: Body, args: Sequence[SSAValue]) -> SSAValue:
        return cast(body, args[0], type, *args[1:-1])

    site.give(op.results[0], site.generic(operands, shape, element, compute), last=last)


def _dcast(op: DequantizeOp, site: LinalgSite) -> Blocked | None:
    value, type = op.operands[0], op.element_type
    if not isinstance(type.expressed, Float32Type):
        return OTHER_ELEMENT
    real = real_constant(op.results[0]) if constant_array(value) is not None else None
    if real is not None:
        site.give(op.results[0], site.constant(real, np.float32))
        return None

    return _each(op, site, dequantized)


def _qcast(op: QuantizeOp, site: LinalgSite) -> Blocked | None:
    type = op.element_type
    if not isinstance(type.expressed, Float32Type):
        return OTHER_ELEMENT
    if type.storage.width > 16:
        return Blocked("storage-type", "float32 does not hold the bounds of 32-bit integers")

    return _each(op, site, quantized)


UNARY: dict[str, Function] = {
    "Abs": _op(math.AbsFOp), "Ceil": _op(math.CeilOp), "Cos": _op(math.CosOp), "Elu": _elu, "Erf": _op(math.ErfOp),
    "Exp": _op(math.ExpOp), "Floor": _op(math.FloorOp), "HardSigmoid": _hard_sigmoid, "HardSwish": _hard_swish,
    "LeakyRelu": _leaky(lambda op: op.float_attr("alpha", 0.01)), "Log": _op(math.LogOp), "Neg": _op(arith.NegfOp),
    "Reciprocal": _reciprocal, "Relu": _relu, "Round": _op(math.RoundEvenOp), "Sin": _op(math.SinOp),
    "Sigmoid": lambda body, args, op: sigmoid(body, args[0]), "Softplus": _softplus, "Sqrt": _op(math.SqrtOp),
    "Tanh": _op(math.TanhOp), "Gelu": _gelu,
}  # fmt: skip
"""Unary functions, by op."""

ELEMENTWISE_FORMS: dict[tuple[str, str], LinalgForm] = {
    **{("", name): of_reals(function, 1) for name, function in UNARY.items()},
    ("", "Add"): _arithmetic(arith.AddfOp, arith.AddiOp),
    ("", "Sub"): _arithmetic(arith.SubfOp, arith.SubiOp),
    ("", "Mul"): _arithmetic(arith.MulfOp, arith.MuliOp),
    ("", "Div"): _arithmetic(arith.DivfOp, arith.DivSIOp),
    ("", "Max"): _arithmetic(arith.MaximumfOp, arith.MaxSIOp),
    ("", "Min"): _arithmetic(arith.MinimumfOp, arith.MinSIOp),
    ("", "Sum"): _arithmetic(arith.AddfOp, arith.AddiOp),
    ("", "Pow"): of_reals(_op(math.PowFOp)),
    ("", "PRelu"): of_reals(_prelu),
    ("", "Clip"): LinalgForm(_clip),
    ("", "Where"): LinalgForm(_where),
    ("", "Cast"): LinalgForm(_cast),
    ("", "Equal"): _compared("oeq", "eq"),
    ("", "Greater"): _compared("ogt", "sgt"),
    ("", "Less"): _compared("olt", "slt"),
    ("", "GreaterOrEqual"): _compared("oge", "sge"),
    ("", "LessOrEqual"): _compared("ole", "sle"),
    ("quant", "qcast"): LinalgForm(_qcast),
    ("quant", "dcast"): LinalgForm(_dcast),
    ("quant", "scast"): LinalgForm(kept),
}
