"""Rules by which blocked scales follow a layout op: a block size for each axis, scales of the tensor's rank."""

from __future__ import annotations

from collections.abc import Callable, Sequence

import numpy as np

from qdialect.dialects.onnx_base import OnnxOp
from qdialect.dialects.quant import UniformType
from qdialect.reasons import Blocked

BLOCKED_SCALES = Blocked("block-size", "scales per block cannot move through this op")
BLOCK_CUT = Blocked("block-size", "the op would split a block")

BlockRule = Callable[["OnnxOp", UniformType], "UniformType | Blocked"]
"""Maps an op and its operand's blocked type to the type of its result, or `Blocked`."""


def lost(op: OnnxOp, type: UniformType) -> Blocked:
    """The op preserves no blocks."""
    return BLOCKED_SCALES


def kept(op: OnnxOp, type: UniformType) -> UniformType:
    """The op keeps all axes."""
    return type


def _in_blocks(type: UniformType, sizes: Sequence[int | None], scales: np.ndarray, zeros: np.ndarray):
    blocks = tuple((axis, size) for axis, size in enumerate(sizes) if size is not None)
    return UniformType.sub_channel(type.storage, blocks, scales, zeros, type.expressed)


def _sizes(type: UniformType) -> list[int | None]:
    """The block size of each axis; None where the axis is one block."""
    sizes = dict(type.blocks or ())
    return [sizes.get(axis) for axis in range(type.scales.ndim)]


def permuted(type: UniformType, perm: Sequence[int]) -> UniformType:
    """The type after a transpose: axis k is old axis `perm[k]`."""
    sizes = _sizes(type)
    return _in_blocks(
        type, [sizes[p] for p in perm], type.scales.transpose(perm), type.zero_points.transpose(perm)
    )


def with_axes(type: UniformType, inserted: Sequence[int]) -> UniformType:
    """The type with axes of size 1 inserted at indices `inserted` of the result, in order."""
    sizes: list[int | None] = _sizes(type)
    for axis in inserted:
        sizes.insert(axis, 1)
    places = tuple(inserted)
    return _in_blocks(
        type, sizes, np.expand_dims(type.scales, places), np.expand_dims(type.zero_points, places)
    )


def without_axes(type: UniformType, removed: Sequence[int]) -> UniformType:
    """The type without axes `removed`, each of size 1."""
    sizes = [size for axis, size in enumerate(_sizes(type)) if axis not in removed]
    places = tuple(removed)
    if not sizes:
        return UniformType.per_tensor(
            type.storage, type.scales.item(), type.zero_points.item(), type.expressed
        )
    return _in_blocks(type, sizes, type.scales.squeeze(places), type.zero_points.squeeze(places))


def joined(types: Sequence[UniformType], axis: int) -> UniformType | Blocked:
    """The type of a concatenation along `axis` of tensors of one block size."""
    head, sizes = types[0], _sizes(types[0])
    alike = all(
        t.blocks == head.blocks and t.storage == head.storage and t.expressed == head.expressed for t in types
    )
    if not alike or sizes[axis] is None:
        return BLOCKED_SCALES
    scales = np.concatenate([t.scales for t in types], axis)
    return _in_blocks(head, sizes, scales, np.concatenate([t.zero_points for t in types], axis))


def cut(type: UniformType, axis: int, start: int, stop: int, size: int) -> UniformType | Blocked:
    """The type of the slice [start, stop) of an axis of `size` elements."""
    sizes = _sizes(type)
    block = sizes[axis] or size
    if start % block or stop % block or start >= stop:
        return BLOCK_CUT
    at = (slice(None),) * axis + (slice(start // block, stop // block),)
    return _in_blocks(type, sizes, type.scales[at], type.zero_points[at])
