"""linalg forms of DynamicQuantizeLinear and OneHot."""

from __future__ import annotations

from collections.abc import Sequence

from xdsl.dialects import arith, math
from xdsl.dialects.builtin import IndexType, IntegerType, f32, i8, i32
from xdsl.dialects.linalg.ops import IndexOp
from xdsl.ir import SSAValue

from qdialect.dialects.onnx_base import OnnxOp
from qdialect.dialects.onnx_types import known_element, known_shape
from qdialect.ir.values import normal_axis
from qdialect.reasons import Blocked
from qdialect.upstream.linalg.reductions import folding, larger, reduced, smaller
from qdialect.upstream.linalg.site import Body, LinalgForm, LinalgSite, Operand, loop, loops

U8_STEPS = 255.0
"""Number of steps of u8."""


def _byte(body: Body, steps: SSAValue, zero: SSAValue | None) -> SSAValue:
    """saturate(rint(steps) + zero) as u8; zero: f32, a whole number."""
    low, high = body.number(0, f32), body.number(U8_STEPS, f32)
    whole = body.do(math.RoundEvenOp(steps))
    moved = whole if zero is None else body.do(arith.AddfOp(whole, zero))
    inside = body.do(arith.MinnumfOp(body.do(arith.MaxnumfOp(moved, low)), high))
    return body.do(arith.TruncIOp(body.do(arith.FPToSIOp(inside, i32)), i8))


def _dynamic_quantize(op: OnnxOp, site: LinalgSite) -> None:
    """
    ONNX's DynamicQuantizeLinear: the operand's range, extended to 0, in 255 steps.

    A tensor of zeros has scale 1 in onnxruntime, to avoid a division by zero.
    """
    x, last = site.in_own_layout(op.operands[0])
    shape = known_shape(x.type)
    axes = range(len(shape))
    low = reduced(site, x, axes, f32, 0, folding(smaller))
    high = reduced(site, x, axes, f32, 0, folding(larger))

    def step(body: Body, args: Sequence[SSAValue]) -> SSAValue:
        size = body.do(arith.DivfOp(body.do(arith.SubfOp(args[1], args[0])), body.number(U8_STEPS, f32)))
        flat = body.do(arith.CmpfOp(args[1], args[0], "oeq"))
        return body.do(arith.SelectOp(flat, body.number(1, f32), size))

    scale = site.each([low, high], f32, step)
    zero = site.each(
        [low, scale],
        i8,
        lambda body, args: _byte(body, body.do(arith.DivfOp(body.do(arith.NegfOp(args[0])), args[1])), None),
    )

    def quantize(body: Body, args: Sequence[SSAValue]) -> SSAValue:
        above = body.do(arith.UIToFPOp(args[2], f32))
        return _byte(body, body.do(arith.DivfOp(args[0], args[1])), above)

    operands = [Operand(x, loops(len(shape))), Operand(scale, []), Operand(zero, [])]
    site.give(op.results[0], site.generic(operands, shape, i8, quantize), last=last)
    site.give(op.results[1], scale)
    site.give(op.results[2], zero)


def _one_hot(op: OnnxOp, site: LinalgSite) -> Blocked | None:
    """OneHot: the second value at the index along the new axis, else the first; indices may be negative."""
    kind = known_element(op.operands[0].type)
    if not isinstance(kind, IntegerType):
        return Blocked("expressed-type", "the indices are not integers")
    indices, values = site.operand(op.operands[0]), site.operand(op.operands[2])
    shape = site.shape(op.results[0])
    axis = normal_axis(op.int_attr("axis", -1), len(shape))
    ends = [site.reshape(site.cut(values, [k], [1]), []) for k in range(2)]

    def compute(body: Body, args: Sequence[SSAValue]) -> SSAValue:
        at = body.do(arith.IndexCastOp(args[0], IndexType()))
        below = body.do(arith.CmpiOp(at, body.number(0, IndexType()), "slt"))
        over = body.do(arith.AddiOp(at, body.number(shape[axis], IndexType())))
        at = body.do(arith.SelectOp(below, over, at))
        hot = body.do(arith.CmpiOp(at, body.do(IndexOp(axis)), "eq"))
        return body.do(arith.SelectOp(hot, args[2], args[1]))

    operands = [Operand(indices, [loop(k) for k in range(len(shape)) if k != axis])]
    operands += [Operand(end, []) for end in ends]
    site.give(op.results[0], site.generic(operands, shape, known_element(values.type), compute))
    return None


DYNAMIC_FORMS: dict[tuple[str, str], LinalgForm] = {
    ("", "DynamicQuantizeLinear"): LinalgForm(_dynamic_quantize),
    ("", "OneHot"): LinalgForm(_one_hot),
}
