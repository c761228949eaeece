"""Patterns that fold inverse casts and merge equal ones."""

from __future__ import annotations

from collections.abc import Iterable
from functools import cache

import numpy as np
from xdsl.dialects.builtin import Float16Type, UnrankedTensorType
from xdsl.ir import Operation, OpResult, SSAValue

from qdialect import numerics
from qdialect.dialects.onnx_base import ConstantOp, onnx_opset
from qdialect.dialects.onnx_types import quantized_of
from qdialect.dialects.quant import DequantizeOp, QuantizeOp, Storage, StorageCastOp, UniformType
from qdialect.forms.storage import clip_between
from qdialect.ir.build import read_as
from qdialect.ir.insertion import discard
from qdialect.ir.names import location, node_name, tensor_names
from qdialect.ir.values import under, under_dequantize
from qdialect.promises.clamping import CLIP_WITH_INPUTS, MAX_TESTED_VALUES, OLD_CLIP, are_alike
from qdialect.reasons import NO_ROUND_TRIP, Blocked
from qdialect.rewriting.driver import Rewriter
from qdialect.rewriting.matching import OnOp


def _repeats(type: UniformType, other: UniformType) -> bool:
    """True if `other` repeats the one scale and zero point of `type` along an axis: integers mean the same numbers."""
    if (
        not type.is_per_tensor
        or other.blocks
        or (type.storage, type.expressed) != (other.storage, other.expressed)
    ):
        return False
    return bool((other.scales == type.scales).all() and (other.zero_points == type.zero_points).all())


def _requantized_alike(q: SSAValue, type: UniformType) -> QuantizeOp | None:
    """The requantize that defines `q`, to the steps of `type`, if one user alone requantizes it to that."""
    first = q.owner
    if not isinstance(first, QuantizeOp) or not isinstance(first.operands[0].owner, DequantizeOp):
        return None
    only = q.has_one_use() and all(use.operation.results[0].has_one_use() for use in q.uses)
    return first if only and type.round_trips and are_alike(first.element_type, type) else None


class FoldRequantize(OnOp[QuantizeOp]):
    """qcast of a dcast."""

    def match(self, op: QuantizeOp, rewriter: Rewriter, /) -> Blocked | None:
        cast = op.operands[0].owner
        if not isinstance(cast, DequantizeOp):
            return None
        q, type = cast.operands[0], op.element_type
        if (first := _requantized_alike(q, type)) is not None:
            once = QuantizeOp(first.operands[0], type)
            once.location = first.location  # whose name the file has
            rewriter.replace(op, [once])
            return None
        if q.type != op.results[0].type and not _repeats(cast.element_type, type):
            return Blocked("other-parameters", "a pair of casts with other parameters rounds a second time")
        if not type.round_trips:
            return NO_ROUND_TRIP
        if q.type == op.results[0].type:
            rewriter.replace(op, [], [q])
            return None
        rewriter.replace(op, read_as(q, op.results[0].type))
        return None


@cache
def settles(type: UniformType) -> bool:
    """
    True if each number that `type` expresses stays the same number when it is quantized and dequantized again.

    The stored integer may become another one of the same number. All integers are tried if not all of them survive.
    """
    if type.round_trips:
        return True
    low, high = type.storage.low, type.storage.high
    if (
        type.blocks
        or not isinstance(type.expressed, Float16Type)
        or (high - low) * type.scales.size > MAX_TESTED_VALUES
    ):
        return False
    stored = np.arange(low, high + 1)
    for scale, zero in zip(type.scales.reshape(-1), type.zero_points.reshape(-1), strict=True):
        first = numerics.dequantize(stored, scale, zero, np.float16)
        again = numerics.quantize(first, scale, zero, low, high, type.storage.dtype)
        if not np.array_equal(first, numerics.dequantize(again, scale, zero, np.float16)):
            return False
    return True


class ReadThrough(OnOp[DequantizeOp]):
    """dcast of a qcast of a dcast of one type: the same real number, though possibly of another stored integer."""

    def match(self, op: DequantizeOp, rewriter: Rewriter, /) -> None:
        real = under(op.operands[0], QuantizeOp)
        read = None if real is None else real.owner
        if real is None or not isinstance(read, DequantizeOp):
            return
        if (
            read.element_type == op.element_type
            and real.type == op.results[0].type
            and settles(op.element_type)
        ):
            if op.operands[0].has_one_use():
                rewriter.pass_name_on(op.operands[0], read.operands[0])
            rewriter.replace(op, [], [real])


class FoldStorageCasts(OnOp[StorageCastOp]):
    """scast of a scast."""

    def match(self, op: StorageCastOp, rewriter: Rewriter, /) -> None:
        q, wanted = under(op.operands[0], StorageCastOp), op.results[0].type
        if q is None:
            return
        same = quantized_of(wanted) is not None and quantized_of(wanted) == quantized_of(q.type)
        if q.type == wanted or (same and isinstance(wanted, UnrankedTensorType)):  # q's shape is more precise
            rewriter.replace(op, [], [q])


class MergeReadings(OnOp[StorageCastOp]):
    """Merge equal storage casts, so that requantizes are recognized as equal, and the readers of integers as all."""

    def match(self, op: StorageCastOp, rewriter: Rewriter, /) -> None:
        source = op.operands[0]
        _merge(op, source, [use.operation for use in source.uses], rewriter)


class MergeQuantizes(OnOp[QuantizeOp]):
    """Equal quantizes of one value, or of its dequantized values, are merged; the lowering writes pairs as required."""

    def match(self, op: QuantizeOp, rewriter: Rewriter, /) -> None:
        source, root = op.operands[0], under_dequantize(op.operands[0])
        users = [use.operation for use in root.uses]
        if root is not source:
            users = [u.operation for d in users if isinstance(d, DequantizeOp) for u in d.results[0].uses]
        _merge(op, root, users, rewriter)


def _merge(op: Operation, root: SSAValue, users: Iterable[Operation], rewriter: Rewriter) -> None:
    """Replace the casts that equal `op`, in its block, of those that read `root`, by one in place of the first."""
    block = op.parent
    same = dict.fromkeys(u for u in users if type(u) is type(op) and u.parent is block and _alike(u, op))
    if len(same) < 2 or block is None:
        return
    above = root.op if isinstance(root, OpResult) and root.op.parent is block else None
    first = block.first_op if above is None else above.next_op
    while first is not None and first not in same:
        first = first.next_op
    assert first is not None
    # Of the real numbers of the first, which keep their name.
    one = type(op).create(operands=first.operands, result_types=op.result_types)
    one.location = op.location
    rewriter.insert_before(first, [one])
    for cast in same:
        rewriter.replace(cast, [], one.results)


class ReadNarrowing(OnOp[QuantizeOp]):
    """
    A quantize to narrower storage bounds than the storage's, read as a clamp of a quantize to the full range.

    Such a quantize is written as a clamp, so that this is the form that survives a round trip.
    """

    def match(self, op: QuantizeOp, rewriter: Rewriter, /) -> Blocked | None:
        type, users = op.element_type, [use.operation for use in op.results[0].uses]
        if type.storage.is_full_range or isinstance(op.operands[0].owner, ConstantOp):
            return None
        if onnx_opset(op) < CLIP_WITH_INPUTS:
            return OLD_CLIP
        if not all(isinstance(u, DequantizeOp | StorageCastOp) for u in users):
            return Blocked("does-not-pay", "another consumer has a kernel for the narrower type")
        wide = type.replace(storage=Storage.make(type.storage.width, type.storage.signed))
        cast = QuantizeOp(op.operands[0], wide)
        built = clip_between(type.storage.low, type.storage.high, op, cast.results[0], wide)
        if isinstance(built, Blocked):
            discard([cast])
            return built
        name, node, above = [*tensor_names(op), "", "", ""][:3]
        cast.location = location(node_name(op), [above])  # the tensor's name belongs to the clamp
        clip = built.ops[-1]
        clip.location = location(node, [name])
        rewriter.insert_before(op, [cast, *built.ops])
        for user in users:
            new = (
                DequantizeOp(clip)
                if isinstance(user, DequantizeOp)
                else StorageCastOp(clip, user.results[0].type)
            )
            rewriter.replace(user, [new])
        return None


def _alike(a: Operation, b: Operation) -> bool:
    return a.results[0].type == b.results[0].type
