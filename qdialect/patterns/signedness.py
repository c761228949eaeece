"""8-bit types of the same real numbers in the other signedness."""

from __future__ import annotations

from qdialect.dialects.quant import Storage, UniformType

HALF = 128


def signed(type: UniformType) -> UniformType | None:
    """The i8 type of the same real numbers; None if `type` is not u8."""
    return None if type.storage.signed else _flipped(type, -HALF)


def unsigned(type: UniformType) -> UniformType | None:
    """The u8 type of the same real numbers; None if `type` is not i8."""
    return _flipped(type, HALF) if type.storage.signed else None


def _flipped(type: UniformType, by: int) -> UniformType | None:
    """The type of the other signedness, its integers moved by `by`; None for one in blocks, or not of 8 bits."""
    s = type.storage
    if s.width != 8 or type.blocks:
        return None
    storage = Storage.make(8, not s.signed, s.low + by, s.high + by)
    return type.replace(storage=storage, zero_points=type.zero_points + by)


def symmetric(type: UniformType) -> UniformType | None:
    """The i8 type of the same real numbers whose zero points are 0; None if there is none."""
    moved = signed(type)
    return None if moved is None or moved.zero_points.any() else moved
