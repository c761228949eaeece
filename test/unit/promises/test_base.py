"""`promises.base`: the last case on one side of each bound, the first on the other."""

from __future__ import annotations

import numpy as np
import pytest

from qdialect.dialects.onnx_types import DYNAMIC, quantized_of, shape_of, tensor_type
from qdialect.dialects.quant import Storage, UniformType
from qdialect.promises.base import with_axis_size


def nibbles(axis: int | None) -> UniformType:
    if axis is None:
        return UniformType.per_tensor(Storage.of("i4"), np.float32(0.5))
    scales = np.array([0.5, 0.25], np.float32)
    return UniformType.per_axis(Storage.of("i4"), axis, scales, np.zeros(2, np.int64))


@pytest.mark.parametrize(
    ("axis", "shape", "expected"),
    [
        (0, (DYNAMIC, 4), (2, 4)),
        (1, (3, DYNAMIC), (3, 2)),
        (1, (DYNAMIC, DYNAMIC), (DYNAMIC, 2)),
        (0, (2, 4), (2, 4)),
        (0, (DYNAMIC,), (2,)),
        (1, (DYNAMIC,), (DYNAMIC,)),  # of another rank
        (None, (DYNAMIC, 4), (DYNAMIC, 4)),
    ],
)
def test_an_axis_is_as_long_as_its_scales_are_many(
    axis: int | None, shape: tuple[int, ...], expected: tuple[int, ...]
):
    type = tensor_type(nibbles(axis), shape)
    assert shape_of(with_axis_size(type)) == expected
    assert quantized_of(with_axis_size(type)) == quantized_of(type)
