"""8-bit types of the same real numbers in the other signedness."""

from __future__ import annotations

from qdialect.dialects.quant import Storage, UniformType

HALF = 128


def signed(type: UniformType) -> UniformType | None:
    """The i8 type of the same real numbers; None if `type` is not u8."""
    s = type.storage
    if s.width != 8 or s.signed or type.blocks:
        return None
    storage = Storage.make(8, True, s.low - HALF, s.high - HALF)
    return type.replace(storage=storage, zero_points=type.zero_points - HALF)


def unsigned(type: UniformType) -> UniformType | None:
    """The u8 type of the same real numbers; None if `type` is not i8."""
    s = type.storage
    if s.width != 8 or not s.signed or type.blocks:
        return None
    storage = Storage.make(8, False, s.low + HALF, s.high + HALF)
    return type.replace(storage=storage, zero_points=type.zero_points + HALF)


def symmetric(type: UniformType) -> UniformType | None:
    """The i8 type of the same real numbers whose zero points are 0; None if there is none."""
    moved = signed(type)
    return None if moved is None or moved.zero_points.any() else moved
