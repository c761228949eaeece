"""`promises.blocks`: the last case on one side of each bound, the first on the other."""

from __future__ import annotations

import numpy as np
import numpy.typing as npt
from promised_types import I8, flat

from qdialect.dialects.quant import UniformType
from qdialect.promises import blocks
from qdialect.promises.blocks import BLOCK_CUT, BLOCKED_SCALES


def blocked(scales: npt.ArrayLike, *sizes: tuple[int, int]) -> UniformType:
    """An i8 type of these scales, (axis, size) blocks, and zero points 1, 2, .."""
    array = np.array(scales, np.float32)
    return UniformType.sub_channel(I8, sizes, array, np.arange(1, array.size + 1).reshape(array.shape))


EIGHT = [[[0.5, 0.25], [1.0, 2.0]]]


def test_axes_of_blocked_types_come_and_go():
    type = blocked(EIGHT, (0, 1), (2, 4))
    wider = blocks.with_axes(type, [1, 3])
    assert wider.blocks == ((0, 1), (1, 1), (3, 1), (4, 4))
    assert wider.scales.shape == (1, 1, 2, 1, 2)
    back = blocks.without_axes(wider, [1, 3])
    assert back == type
    assert blocks.without_axes(type, [0]) == blocked(EIGHT[0], (1, 4))
    one = blocks.without_axes(blocked([[0.5]], (0, 1), (1, 1)), [0, 1])
    assert one == flat(0.5, zero=1)


def test_blocked_types_are_cut_between_blocks():
    type = blocked([[0.5, 0.25, 1.0]], (1, 4))
    assert blocks.cut(type, 1, 0, 12, 12) == type
    part = blocks.cut(type, 1, 4, 8, 12)
    assert isinstance(part, UniformType)
    assert (part.scales.tolist(), part.zero_points.tolist(), part.blocks) == ([[0.25]], [[2]], ((1, 4),))
    for start, stop in ((1, 8), (4, 7), (4, 4), (8, 4)):
        assert blocks.cut(type, 1, start, stop, 12) == BLOCK_CUT
    assert blocks.cut(type, 0, 0, 3, 3) == type  # an axis of one block
    assert blocks.cut(type, 0, 0, 2, 3) == BLOCK_CUT


def test_blocked_types_are_joined_if_they_are_alike():
    a, b = blocked([[0.5, 0.25]], (1, 4)), blocked([[1.0]], (1, 4))
    whole = blocks.joined([a, b], 1)
    assert isinstance(whole, UniformType)
    assert (whole.scales.tolist(), whole.zero_points.tolist(), whole.blocks) == (
        [[0.5, 0.25, 1.0]], [[1, 2, 1]], ((1, 4),),
    )  # fmt: skip
    assert blocks.joined([a, a], 0) == BLOCKED_SCALES  # an axis of one block
    assert blocks.joined([a, blocked([[1.0]], (1, 8))], 1) == BLOCKED_SCALES
