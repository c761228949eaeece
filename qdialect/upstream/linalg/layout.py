"""linalg forms of ops that move elements: slices, joins, gathers, pads, reshapes and transposes of stored elements."""

from __future__ import annotations

from collections.abc import Sequence

import numpy as np
import numpy.typing as npt
from xdsl.dialects import arith, tensor
from xdsl.dialects.builtin import IndexType, i64
from xdsl.dialects.linalg.ops import IndexOp
from xdsl.ir import SSAValue

from qdialect.dialects.onnx_base import OnnxOp
from qdialect.dialects.onnx_types import known_element, known_shape, quantized_of
from qdialect.forms.geometry import TO_LAST, nearest, repeated, tiled
from qdialect.ir.values import constant_array, normal_axis, static_shape
from qdialect.promises.layout import slices_of
from qdialect.promises.padding import pad_value, pads_of
from qdialect.reasons import COMPUTED_PAD_VALUE, Blocked, required, unblocked
from qdialect.upstream.linalg.scalars import dequantized, quantized
from qdialect.upstream.linalg.site import Body, LinalgForm, LinalgSite, Operand, loop, loops
from qdialect.upstream.site import OTHER_TYPE, in_blocks, kept, per_tensor, permuted, split


def _moves(op: OnnxOp) -> Blocked | None:
    """`Blocked` if the stored elements cannot be moved unchanged: operand and result differ in type."""
    a, b = quantized_of(op.operands[0].type), quantized_of(op.results[0].type)
    if (a is None) != (b is None) or (a is not None and b is not None and a.is_per_tensor and a != b):
        return OTHER_TYPE
    return None


def _reshape(op: OnnxOp, site: LinalgSite) -> None:
    value, shape = op.operands[0], site.shape(op.results[0])
    if site.is_last(value) and site.shape(value) == shape:
        site.give(op.results[0], site.operand(value, last=True), last=True)
    else:
        site.give(op.results[0], site.reshape(site.operand(value), shape))


def requantized_to(site: LinalgSite, value: SSAValue, result: SSAValue, *, last: bool) -> SSAValue | Blocked:
    """The stored elements of a value, requantized to the type of `result`."""
    source, target = per_tensor(value), per_tensor(result)
    if isinstance(source, Blocked) or isinstance(target, Blocked):
        return OTHER_TYPE
    tensor = site.operand(value, last=last)
    if source == target:
        return tensor
    if source is None or target is None:
        return OTHER_TYPE

    def compute(body: Body, args: Sequence[SSAValue]) -> SSAValue:
        return quantized(body, dequantized(body, args[0], source), target)

    return site.each([tensor], known_element(tensor.type), compute)


def _concat(op: OnnxOp, site: LinalgSite) -> None:
    shape = site.shape(op.results[0])
    _, last = site.alike(*op.operands)
    parts = [unblocked(requantized_to(site, value, op.results[0], last=last)) for value in op.operands]
    axis = site.axis(normal_axis(op.int_attr("axis", 0), len(shape)), last=last)
    whole = site.shape(op.results[0], last=last)
    result, start = site.empty(whole, known_element(parts[0].type)), 0
    for part in (one for one in parts if 0 not in known_shape(one.type)):
        offsets = [0] * len(whole)
        offsets[axis] = start
        start += known_shape(part.type)[axis]
        result = site.put(part, result, offsets, [1] * len(whole))
    site.give(op.results[0], result, last=last)


def _slice(op: OnnxOp, site: LinalgSite) -> None:
    cuts, shape = unblocked(slices_of(op)), known_shape(op.operands[0].type)
    taken = [cuts.get(axis, slice(None)).indices(size) for axis, size in enumerate(shape)]
    if any(step < 0 for _, _, step in taken):
        _picked(op, site, {k: np.arange(shape[k])[cut] for k, cut in cuts.items()})
        return
    x, last = site.in_own_layout(op.operands[0])
    order = TO_LAST if last else range(len(shape))
    sizes = site.shape(op.results[0], last=last)
    result = site.cut(x, [taken[k][0] for k in order], sizes, [taken[k][2] for k in order])
    site.give(op.results[0], result, last=last)


def _picked(op: OnnxOp, site: LinalgSite, rows: dict[int, npt.NDArray[np.int64]]) -> None:
    """The operand's elements at constant indices along axes. rows: indices, by axis."""
    x, last = site.in_own_layout(op.operands[0])
    shape = site.shape(op.results[0], last=last)
    at = {site.axis(k, last=last): site.constant(v, np.int64) for k, v in rows.items()}
    operands = [Operand(value, [loop(axis)]) for axis, value in at.items()]
    places = list(at)

    def compute(body: Body, args: Sequence[SSAValue]) -> SSAValue:
        index = [
            body.do(arith.IndexCastOp(args[places.index(k)], IndexType())) if k in at else body.do(IndexOp(k))
            for k in range(len(shape))
        ]
        return body.do(tensor.ExtractOp(x, index, known_element(x.type)))

    site.give(op.results[0], site.generic(operands, shape, known_element(x.type), compute), last=last)


def _gather(op: OnnxOp, site: LinalgSite) -> None:
    """Gather: a slice of the operand for each index; negative indices count from the end."""
    x, indices = site.operand(op.operands[0]), site.operand(op.operands[1])
    shape, wide = known_shape(x.type), known_shape(indices.type)
    axis, result = normal_axis(op.int_attr("axis", 0), len(shape)), site.shape(op.results[0])
    element, kind = known_element(x.type), known_element(indices.type)
    listed = constant_array(op.operands[1])
    if listed is not None:
        indices, kind = site.constant(np.where(listed < 0, listed + shape[axis], listed), np.int64), i64

    def compute(body: Body, args: Sequence[SSAValue]) -> SSAValue:
        at = args[0]
        if listed is None:
            below = body.do(arith.CmpiOp(at, body.number(0, kind), "slt"))
            over = body.do(arith.AddiOp(at, body.number(shape[axis], kind)))
            at = body.do(arith.SelectOp(below, over, at))
        place = body.do(arith.IndexCastOp(at, IndexType()))
        before = [body.do(IndexOp(k)) for k in range(axis)]
        behind = [body.do(IndexOp(k)) for k in range(axis + len(wide), len(result))]
        return body.do(tensor.ExtractOp(x, [*before, place, *behind], element))

    read = Operand(indices, loops(len(wide), axis))
    site.give(op.results[0], site.generic([read], result, element, compute))


def _pad(op: OnnxOp, site: LinalgSite) -> None:
    shape, mode = known_shape(op.operands[0].type), op.str_attr("mode", "constant")
    each = unblocked(pads_of(op))
    if mode != "constant":
        _picked(op, site, {k: repeated(shape[k], pad, mode) for k, pad in each.items() if any(pad)})
        return
    filling = unblocked(_filling(op))
    x, last = site.in_own_layout(op.operands[0])
    order = TO_LAST if last else range(len(shape))
    rows = [each.get(k, (0, 0)) for k in order]
    sizes = [shape[k] + min(a, 0) + min(b, 0) for k, (a, b) in zip(order, rows, strict=True)]
    x = site.cut(x, [max(-a, 0) for a, _ in rows], sizes)
    x = site.padded(x, [(max(a, 0), max(b, 0)) for a, b in rows], filling)
    site.give(op.results[0], x, last=last)


def _filling(op: OnnxOp) -> float | Blocked:
    """The stored element that a constant Pad adds."""
    value, type = required(pad_value(op), COMPUTED_PAD_VALUE), quantized_of(op.results[0].type)
    return value if type is None else float(type.quantize(np.float32(value)))


def _expand(op: OnnxOp, site: LinalgSite) -> None:
    value = op.operands[0]
    if static_shape(op.results[0]) == static_shape(value):
        site.give(op.results[0], site.operand(value))
    else:
        site.give(op.results[0], site.spread(site.operand(value), site.shape(op.results[0])))


def _tile(op: OnnxOp, site: LinalgSite) -> None:
    _picked(op, site, tiled(op))


def _resize(op: OnnxOp, site: LinalgSite) -> Blocked | None:
    if op.str_attr("mode", "nearest") != "nearest":
        return Blocked("interpolates", "Resize computes new pixels from several")
    return _picked(op, site, unblocked(nearest(op)))


_RESHAPE = LinalgForm(_reshape, _moves)
MOVING_FORMS: dict[tuple[str, str], LinalgForm] = {
    ("", "Transpose"): LinalgForm(permuted),
    ("", "Reshape"): _RESHAPE,
    ("", "Flatten"): _RESHAPE,
    ("", "Squeeze"): _RESHAPE,
    ("", "Unsqueeze"): _RESHAPE,
    ("", "Identity"): LinalgForm(kept, _moves),
    ("", "Concat"): LinalgForm(_concat),
    ("", "Split"): LinalgForm(split, _moves),
    ("", "Slice"): LinalgForm(_slice, _moves),
    ("", "Gather"): LinalgForm(_gather, _moves),
    ("", "Pad"): LinalgForm(_pad, _moves),
    ("", "Expand"): LinalgForm(_expand, _moves),
    ("", "Tile"): LinalgForm(_tile, _moves),
    ("", "DepthToSpace"): LinalgForm(in_blocks, _moves),
    ("", "SpaceToDepth"): LinalgForm(in_blocks, _moves),
    ("", "Resize"): LinalgForm(_resize, _moves),
    ("", "Upsample"): LinalgForm(_resize, _moves),
}
