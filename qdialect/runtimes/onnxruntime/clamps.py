"""Quantizes that a session merges with others, or moves in front of ops that it then drops, or cannot run."""

from __future__ import annotations

import numpy as np

from qdialect import numerics
from qdialect.dialects.onnx_base import OnnxOp
from qdialect.dialects.quant import BYTE_BITS, UniformType
from qdialect.promises.base import Commutes
from qdialect.promises.casts import (
    DequantizeForm,
    dequantize_type,
    moved_dequantize,
    quantize_type,
    written_dequantize,
)
from qdialect.promises.clamping import Clamp, are_alike
from qdialect.reasons import SCALE_VALUE, Blocked
from qdialect.runtimes.onnxruntime.casts import brought_dequantize, quantizes
from qdialect.targets import Target

CLIP_ERROR = 2.0**-23
"""How far, in reals, a Clip may reach into the range of a quantize for which a session drops it."""


def odd_quantize(quantize: OnnxOp, session: Target) -> int | None:
    """0 for a quantize, behind an op, whose scale is zero, negative or not finite."""
    is_odd = quantizes(quantize) and quantize_type(quantize) == SCALE_VALUE
    return 0 if is_odd and isinstance(quantize.operands[0].owner, OnnxOp) else None


def merged_quantize(quantize: OnnxOp, session: Target) -> int | None:
    """0 for a quantize of what is dequantized for it alone from another type."""
    cast = written_dequantize(quantize.operands[0]) if quantizes(quantize) else None
    users = [use.operation for use in quantize.results[0].uses] if cast is not None else []
    first = None if cast is None else cast.operands[0].owner
    if cast is None or not isinstance(first, OnnxOp) or not quantizes(first):
        return None
    alone = cast.operands[0].has_one_use() and cast.results[0].has_one_use()
    if not alone or not users or any(user.get_trait(DequantizeForm) is None for user in users):
        return None
    a, b = quantize_type(first), quantize_type(quantize)
    if isinstance(a, Blocked) or isinstance(b, Blocked):
        return 0 if a == SCALE_VALUE else None
    return 0 if a.is_per_tensor and b.is_per_tensor and not are_alike(a, b) else None


def lost_clamp(quantize: OnnxOp, session: Target) -> int | None:
    """
    0 for a quantize behind a clamp that it does not imply, but for `CLIP_ERROR`, through moves.

    A session moves a quantize to less than 8 bits in front of a Relu, which it drops, or of a Clip or an op that
    selects elements, for which it has no kernel on such types.
    """
    type = quantize_type(quantize) if quantizes(quantize) else None
    if not (isinstance(type, UniformType) and type.is_per_tensor):
        return None
    op = quantize.operands[0].owner
    is_narrow = type.storage.width < BYTE_BITS
    while isinstance(op, OnnxOp):
        clamp = op.get_trait(Clamp)
        if is_narrow and (clamp is not None or _selects(op)):
            return 0
        if clamp is not None and _is_dropped(op, clamp, type) and not clamp.is_redundant(op, type):
            return 0
        if clamp is None and op.op_type not in session.moved_past:
            return None
        op = op.operands[0].owner
    return None


def _is_dropped(op: OnnxOp, clamp: Clamp, type: UniformType) -> bool:
    """True if a session would take a clamp for one that a quantize to `type` implies."""
    bounds = clamp.bounds(op)
    ends = np.array([type.storage.low, type.storage.high])
    low, high = numerics.dequantize(ends, type.scales, type.zero_points)
    return bounds is not None and max(bounds[0] - low, high - bounds[1]) <= CLIP_ERROR


def _selects(op: OnnxOp) -> bool:
    """True if `op` selects among the elements of one tensor."""
    promise = op.get_trait(Commutes)
    return promise is not None and promise.selects and len(promise.operands(op)) == 1


def odd_selection(op: OnnxOp, session: Target) -> int | None:
    """0 for an op that selects among elements dequantized by a scale that is zero, negative or not finite."""
    cast = brought_dequantize(op.operands[0], session) if _selects(op) else None
    return 0 if cast is not None and dequantize_type(cast) == SCALE_VALUE else None


def selects_among_narrow(op: OnnxOp, session: Target) -> int | None:
    """0 for an op that selects among dequantized elements of less than 8 bits: it has no kernel on these."""
    cast = moved_dequantize(op.operands[0]) if _selects(op) and op.get_trait(Clamp) is None else None
    type = None if cast is None else dequantize_type(cast)
    return 0 if isinstance(type, UniformType) and type.storage.width < BYTE_BITS else None
