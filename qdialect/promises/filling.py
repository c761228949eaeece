"""
Ops that move elements and fill the rest with the real number 0: on stored integers that is the zero point.

    DQ(f(q, fill z)) = f(DQ(q), fill 0)       Q(f(x, fill 0)) = f(Q(x), fill z)

since each type stores 0 as its zero point, for any scale.
"""

from __future__ import annotations

from collections.abc import Sequence

import numpy as np

from qdialect.dialects.onnx_base import OnnxOp
from qdialect.dialects.quant import UniformType
from qdialect.ir.values import constant_ints, static_shape
from qdialect.promises.axes import NOT_CONSTANT, follow, same
from qdialect.promises.base import Commutes
from qdialect.promises.monotone import batch_or_channel
from qdialect.reasons import UNKNOWN_RANK, Blocked, required


def diagonal_of(op: OnnxOp) -> int | None:
    """The diagonal at which a Trilu begins or ends: columns beside the main one; None if it is computed."""
    listed = constant_ints(op.input(1)) if op.input(1) is not None else [0]
    return listed[0] if listed is not None and len(listed) == 1 else None


def triangle(op: OnnxOp) -> np.ndarray | Blocked:
    """Mask of the elements that a Trilu keeps: booleans of the sizes of the last two axes."""
    shape = required(static_shape(op.operands[0]), UNKNOWN_RANK)
    k = required(diagonal_of(op), NOT_CONSTANT)
    places = np.ones(shape[-2:], bool)
    return np.triu(places, k) if op.int_attr("upper", 1) else np.tril(places, k)


def _nearest(op: OnnxOp, types: Sequence[UniformType]) -> Sequence[UniformType] | Blocked:
    if op.str_attr("mode", "linear") != "nearest":
        return Blocked("interpolates", f"{op.op_type} computes new elements between the old ones")
    return follow(batch_or_channel)(op, types)


FILLING: dict[tuple[str, str], Commutes] = {
    ("", "Trilu"): Commutes(follow(same), follow(same), moves_storage=False),
    ("", "MaxUnpool"): Commutes(follow(batch_or_channel), follow(batch_or_channel), moves_storage=False),
    ("", "GridSample"): Commutes(_nearest, _nearest, moves_storage=False),
}
