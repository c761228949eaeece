"""Quantized types that are short to write, and what promises make of them."""

from __future__ import annotations

import numpy as np
from guard_cases import last_op

from qdialect.dialects.quant import Storage, UniformType
from qdialect.promises.base import Commutes
from qdialect.reasons import Blocked

I8, U8 = Storage.of("i8"), Storage.of("u8")


def rows(*scales: float, axis: int = 0, zeros: tuple[int, ...] | None = None) -> UniformType:
    """An i8 type of these scales along an axis, with zero points 1, 2, .. unless others are stated."""
    points = range(1, len(scales) + 1) if zeros is None else zeros
    return UniformType.per_axis(I8, axis, np.array(scales, np.float32), np.array(points))


def flat(scale: float, storage: str = "i8", zero: int = 0) -> UniformType:
    return UniformType.per_tensor(Storage.of(storage), np.float32(scale), zero)


def reason(outcome: object) -> str | None:
    return outcome.id if isinstance(outcome, Blocked) else None


def after(body: str, type: UniformType, *, hoists: bool = False) -> UniformType | Blocked:
    """The type of an op's result for that of its first operand, or the other way."""
    op = last_op(body)
    promise = op.get_trait(Commutes)
    assert promise is not None
    types = (promise.backward if hoists else promise.forward)(op, [type])
    return types if isinstance(types, Blocked) else types[0]
