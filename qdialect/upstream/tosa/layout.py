"""TOSA forms of ops that move elements: slices, joins, reshapes and transposes; casts at graph inputs and outputs."""

from __future__ import annotations

from itertools import pairwise
from math import prod
from typing import Any

import numpy as np
import numpy.typing as npt
from xdsl.dialects.builtin import i8
from xdsl.dialects.func import ReturnOp
from xdsl.ir import BlockArgument, SSAValue

from qdialect.dialects.onnx_base import OnnxOp
from qdialect.dialects.onnx_types import known_shape, quantized_of, uniform_of
from qdialect.dialects.quant import DequantizeOp, QuantizeOp, StorageCastOp, UniformType
from qdialect.forms.geometry import TO_FIRST, TO_LAST, repeated, tiled
from qdialect.ir.values import constant_array, normal_axis
from qdialect.promises.layout import slices_of
from qdialect.promises.padding import pad_value, pads_of
from qdialect.reasons import COMPUTED_PAD_VALUE, Blocked, required, unblocked
from qdialect.upstream import tosa_dialect as tosa
from qdialect.upstream.site import OTHER_TYPE, in_blocks, kept, permuted, split
from qdialect.upstream.tosa.elementwise import MAX_STORED_DISTANCE, is_bytes, looked_up
from qdialect.upstream.tosa.site import (
    EMPTY,
    FLOAT,
    TosaForm,
    TosaSite,
    activations,
    other_storage,
    takes,
)

MAX_SLICES = 64
"""Greatest number of slices for one op."""
PIECES = Blocked("too-large", f"the elements come from more than {MAX_SLICES} pieces of the operand")
REPEATS = ("edge", "reflect", "wrap")
"""Modes of Pad that repeat elements of the operand."""
FLOAT_END = "--integer-io lets the graph take and give integers"
FLOAT_INSIDE = "quantize what is computed in float between these integers"

Rows = npt.NDArray[np.int64]


def _moves(op: OnnxOp) -> Blocked | None:
    """`Blocked` unless operand and result are 8-bit tensors of one quantized type, and not empty."""
    a, b = (required(quantized_of(v.type), FLOAT) for v in (op.operands[0], op.results[0]))
    if any(0 in known_shape(value.type) for value in (op.operands[0], *op.results)):
        return EMPTY
    if a.storage.width != 8:
        return other_storage(a)
    return None if a == b else OTHER_TYPE


def _reshaped(op: OnnxOp, site: TosaSite) -> None:
    site.give(op.results[0], site.reshape(site.operand(op.operands[0]), known_shape(op.results[0].type)))


def _same(op: OnnxOp, site: TosaSite) -> Blocked | None:
    """A cast between quantized types as a rescale; operand or result may be unsigned."""
    x, y = (required(quantized_of(v.type), FLOAT) for v in (op.operands[0], op.results[0]))
    if 0 in known_shape(op.operands[0].type):
        return EMPTY
    value, last = site.in_own_layout(op.operands[0])
    if x != y:
        known = (x.storage.width, y.storage.width, x.is_per_tensor, y.is_per_tensor) == (8, 8, True, True)
        if not known or not (x.storage.signed or y.storage.signed):
            return Blocked(
                "storage-type", f"the profile has no rescale from {x.storage.name} to {y.storage.name}"
            )
        ratio = np.float32(x.scale) / np.float32(y.scale)
        unblocked(takes(ratio, MAX_STORED_DISTANCE))
        value = _converted(site, value, x, y, ratio)
    site.give(op.results[0], value, last=last)
    return None


def _converted(
    site: TosaSite, value: SSAValue, x: UniformType, y: UniformType, ratio: np.float32
) -> SSAValue:
    unsigned = not x.storage.signed, not y.storage.signed
    zeros = [int(np.array(t.zero_point).astype(np.uint8).view(np.int8)) for t in (x, y)]
    result = site.rescaled(value, ratio, (zeros[0], zeros[1]), i8, unsigned)
    return result if unsigned[1] else site.within(result, y)


def _joined(op: OnnxOp, site: TosaSite) -> None:
    *inputs, y = activations(*op.operands, op.results[0])
    tensors, last = site.alike(*op.operands)
    for x in inputs:
        unblocked(takes(np.float32(x.scale) / np.float32(y.scale), MAX_STORED_DISTANCE))
    parts = [site.requantized(v, x, y) for v, x in zip(tensors, inputs, strict=True)]
    axis = normal_axis(op.int_attr("axis", 0), len(known_shape(op.results[0].type)))
    site.give(op.results[0], site.joined(parts, site.axis(axis, last=last)), last=last)


def picked(site: TosaSite, x: SSAValue, axis: int, rows: Rows) -> SSAValue | Blocked:
    """Entries `rows` of an axis: one slice, every s-th, each k times, all k times, or few pieces joined."""
    shape, count = list(known_shape(x.type)), len(rows)
    size = shape[axis]
    outer, inner = prod(shape[:axis]), prod(shape[axis + 1 :])
    result = [*shape[:axis], count, *shape[axis + 1 :]]

    def cut(start: int, length: int) -> SSAValue:
        starts, counts = [0] * len(shape), list(shape)
        starts[axis], counts[axis] = start, length
        return site.cut(x, starts, counts)

    if np.array_equal(rows, np.arange(count) + rows[0]):
        return cut(int(rows[0]), count)
    if count % size == 0 and np.array_equal(rows, np.repeat(np.arange(size), count // size)):
        column = site.reshape(x, (outer * size, 1, inner))
        return site.reshape(site.joined([column] * (count // size), 1), result)
    if count % size == 0 and np.array_equal(rows, np.tile(np.arange(size), count // size)):
        return site.joined([x] * (count // size), axis)
    step = int(rows[1] - rows[0])
    if (
        step > 1
        and np.array_equal(rows, rows[0] + step * np.arange(count))
        and rows[0] + step * count <= size
    ):
        groups = site.reshape(cut(int(rows[0]), step * count), (outer, count, step, inner))
        return site.reshape(site.cut(groups, [0] * 4, (outer, count, 1, inner)), result)
    ends = [0, *(k + 1 for k in range(count - 1) if rows[k + 1] != rows[k] + 1), count]
    parts = list(pairwise(ends))
    if len(parts) > MAX_SLICES:
        return PIECES
    return site.joined([cut(int(rows[a]), b - a) for a, b in parts], axis)


def picked_rows(site: TosaSite, value: SSAValue, rows: dict[int, Rows], *, last: bool) -> SSAValue | Blocked:
    """The entries `rows` of each of ONNX's axes of `value`, one axis after another."""
    for axis, places in rows.items():
        value = unblocked(picked(site, value, site.axis(axis, last=last), places))
    return value


def _picked(op: OnnxOp, site: TosaSite, rows: dict[int, Rows]) -> None:
    """The operand's elements at constant indices along axes. rows: indices, by axis."""
    tensor, last = site.in_own_layout(op.operands[0])
    value = unblocked(picked_rows(site, tensor, rows, last=last))
    same_rank = len(known_shape(op.results[0].type)) == len(known_shape(value.type))
    if last and not same_rank:
        value, last = site.transpose(value, TO_FIRST), False
    site.give(
        op.results[0], value if last else site.reshape(value, known_shape(op.results[0].type)), last=last
    )


def _slice(op: OnnxOp, site: TosaSite) -> Blocked | None:
    cuts, shape = unblocked(slices_of(op)), known_shape(op.operands[0].type)
    return _picked(op, site, {k: np.arange(shape[k])[cut] for k, cut in cuts.items()})


def _gather(op: OnnxOp, site: TosaSite) -> Blocked | None:
    """Gather by constant indices; or from a table of 256 entries by 8-bit indices."""
    listed, shape = constant_array(op.operands[1]), known_shape(op.operands[0].type)
    if listed is None:
        return looked_up(op, site)
    unblocked(_moves(op))
    axis = normal_axis(op.int_attr("axis", 0), len(shape))
    rows = np.where(listed < 0, listed + shape[axis], listed).reshape(-1).astype(np.int64)
    return _picked(op, site, {axis: rows})


def _tile(op: OnnxOp, site: TosaSite) -> Blocked | None:
    return _picked(op, site, tiled(op))


def _expand(op: OnnxOp, site: TosaSite) -> None:
    shape, result = known_shape(op.operands[0].type), known_shape(op.results[0].type)
    shape = (1,) * (len(result) - len(shape)) + shape
    value = site.reshape(site.operand(op.operands[0]), shape)
    for axis, (old, new) in enumerate(zip(shape, result, strict=True)):
        value = site.joined([value] * new, axis) if old == 1 else value
    site.give(op.results[0], value)


def _pad(op: OnnxOp, site: TosaSite) -> Blocked | None:
    shape, type = known_shape(op.operands[0].type), uniform_of(op.results[0].type)
    mode, each = op.str_attr("mode", "constant"), unblocked(pads_of(op))
    if mode != "constant":
        if mode not in REPEATS or any(n < 0 for ends in each.values() for n in ends):
            return Blocked("pad-form", f"Pad has the mode {mode}, or also removes elements")
        return _picked(op, site, {k: repeated(shape[k], ends, mode) for k, ends in each.items()})
    value = required(pad_value(op), COMPUTED_PAD_VALUE)
    stored = type.quantize(np.array([value], np.float32))
    x, last = site.in_own_layout(op.operands[0])
    ends = [each.get(k, (0, 0)) for k in (TO_LAST if last else range(len(shape)))]
    whole = site.shape(op.operands[0], last=last)
    kept = [n + min(a, 0) + min(b, 0) for n, (a, b) in zip(whole, ends, strict=True)]
    if min(kept) < 1:
        return Blocked("pad-form", "Pad removes all elements")
    x = site.cut(x, [max(-a, 0) for a, _ in ends], kept)
    for axis, (before, behind) in enumerate(ends):
        x = _padded(site, x, axis, (max(before, 0), max(behind, 0)), stored)
    site.give(op.results[0], x, last=last)
    return None


def _padded(
    site: TosaSite, x: SSAValue, axis: int, amounts: tuple[int, int], value: npt.NDArray[Any]
) -> SSAValue:
    """`x` with elements `value` at both ends of an axis, as one of rank 3: LLVM 22 takes 6 amounts at most."""
    shape = list(known_shape(x.type))
    if not any(amounts):
        return x
    flat = site.reshape(x, (prod(shape[:axis]), shape[axis], prod(shape[axis + 1 :])))
    shape[axis] += sum(amounts)
    operands = [flat, site.sizes([0, 0, *amounts, 0, 0]), site.constant(value, np.int8)]
    size = known_shape(flat.type)
    return site.reshape(site.make(tosa.PadOp, operands, (size[0], shape[axis], size[2]), i8), shape)


def _wide_storage(op: StorageCastOp) -> Blocked | None:
    return None if op.element_type.storage.width == 8 else other_storage(op.element_type)


def _index(op: OnnxOp, site: TosaSite) -> Blocked | None:
    """A cast of 8-bit values to table indices: the table takes the 8-bit values themselves."""
    readers = [use.operation for use in op.results[0].uses]
    indexes = all(
        isinstance(r, OnnxOp) and r.op_type == "Gather" and r.operands[1] is op.results[0] for r in readers
    )
    if not indexes or not is_bytes(site.operand(op.operands[0])):
        return Blocked("no-form", "only 8-bit values are cast, to indices of a table")
    return kept(op, site)


def _enters(op: QuantizeOp, site: TosaSite) -> Blocked:
    fix = FLOAT_END if isinstance(op.input, BlockArgument) else FLOAT_INSIDE
    return Blocked("float-interface", "this op quantizes a float, and the integer profile has no floats", fix)


def _leaves(op: DequantizeOp, site: TosaSite) -> Blocked:
    at_end = all(isinstance(use.operation, ReturnOp) for use in op.result.uses)
    fix = FLOAT_END if at_end else FLOAT_INSIDE
    return Blocked("float-interface", "this op returns a float, and the integer profile has no floats", fix)


_RESHAPE = TosaForm(_reshaped, _moves)
MOVE_FORMS: dict[tuple[str, str], TosaForm] = {
    ("quant", "scast"): TosaForm(kept, _wide_storage),
    ("quant", "qcast"): TosaForm(_enters),
    ("quant", "dcast"): TosaForm(_leaves),
    ("", "Cast"): TosaForm(_index),
    ("", "Identity"): TosaForm(_same),
    ("", "Transpose"): TosaForm(permuted, _moves),
    ("", "Reshape"): _RESHAPE,
    ("", "Flatten"): _RESHAPE,
    ("", "Squeeze"): _RESHAPE,
    ("", "Unsqueeze"): _RESHAPE,
    ("", "Concat"): TosaForm(_joined),
    ("", "Split"): TosaForm(split, _moves),
    ("", "Slice"): TosaForm(_slice, _moves),
    ("", "Gather"): TosaForm(_gather),
    ("", "Tile"): TosaForm(_tile, _moves),
    ("", "Expand"): TosaForm(_expand, _moves),
    ("", "Pad"): TosaForm(_pad, _moves),
    ("", "DepthToSpace"): TosaForm(in_blocks, _moves),
    ("", "SpaceToDepth"): TosaForm(in_blocks, _moves),
}
