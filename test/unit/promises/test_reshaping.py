"""Reshape: the scales run along the axis of the result that has them, if there is one: checked on every element."""

from __future__ import annotations

import itertools
from math import prod

import numpy as np
import pytest
from promised_types import after, reason, rows
from xdsl.dialects.builtin import f32, i64
from xdsl.utils.test_value import create_ssa_value

from qdialect.dialects.onnx_types import DYNAMIC, tensor_type
from qdialect.dialects.quant import Storage, UniformType
from qdialect.numerics import Array
from qdialect.ops.generated import op_named
from qdialect.promises.base import Commutes
from qdialect.promises.reshaping import MAX_REPEATED_SCALES
from qdialect.reasons import Blocked

Shape = tuple[int, ...]
SHAPES: list[Shape] = [
    shape for rank in (1, 2, 3) for shape in itertools.product((1, 2, 3, 4, 6, 12), repeat=rank) if prod(shape) == 12
]  # fmt: skip


def spread(values: Array, shape: Shape, axis: int) -> Array:
    """One value for each index along an axis, for each element in row-major order."""
    return np.broadcast_to(values.reshape(-1, *[1] * (len(shape) - axis - 1)), shape).reshape(-1)


def moved(scales: Array, source: Shape, axis: int, target: Shape, *, backward: bool) -> UniformType | Blocked:
    """What the promise says of scales along an axis of `source`."""
    shapes = (target, source) if backward else (source, target)
    x, sizes = (create_ssa_value(tensor_type(e, s)) for e, s in ((f32, shapes[0]), (i64, (len(shapes[1]),))))
    op = op_named("", "Reshape").build([x, sizes], [tensor_type(f32, shapes[1])])
    promise = op.get_trait(Commutes)
    assert promise is not None
    type = UniformType.per_axis(Storage.of("i8"), axis, scales, np.zeros(scales.size, np.int8))
    types = (promise.backward if backward else promise.forward)(op, [type])
    return types if isinstance(types, Blocked) else types[0]


def suits(each: Array, shape: Shape) -> bool:
    """Whether along some axis all elements of an index have one scale."""
    rows = (
        np.moveaxis(each.reshape(shape), k, 0).reshape(size, -1) for k, size in enumerate(shape) if size > 1
    )
    return any((row == row[:, :1]).all() for row in rows)


@pytest.mark.parametrize("source", SHAPES, ids=str)
def test_each_element_keeps_its_scale(source: Shape):
    draw = np.random.default_rng(0)
    for axis, target in itertools.product(range(len(source)), SHAPES):
        count = source[axis]
        if count == 1:
            continue
        columns = [k for k in range(1, count) if count % k == 0]
        unlike = np.arange(1, count + 1, dtype=np.float32)
        parts = [
            unlike,
            *(np.repeat(unlike[: count // k], k) for k in columns),
            *(np.tile(unlike[:k], count // k) for k in columns),
        ]
        for scales in parts:
            each = spread(scales, source, axis)
            type = moved(scales, source, axis, target, backward=bool(draw.integers(2)))
            assert isinstance(type, Blocked) != suits(each, target), (axis, target, scales)
            if isinstance(type, UniformType) and type.axis is not None:
                assert (spread(type.scales, target, type.axis) == each).all(), (axis, target, scales)


@pytest.mark.parametrize("place", [0, -1])
def test_an_unknown_size_is_no_obstacle_where_the_others_say_enough(place: int):
    scales = np.array([1, 1, 2, 2], np.float32)
    source, target = (
        ((DYNAMIC, 4, 3), (DYNAMIC, 2, 2, 3)) if not place else ((3, 4, DYNAMIC), (3, 2, 2, DYNAMIC))
    )
    type = moved(scales, source, 1, target, backward=False)
    assert isinstance(type, UniformType)
    assert (type.axis, type.scales.tolist()) == (1, [1, 2])


@pytest.mark.parametrize(
    ("size", "is_repeated"), [(MAX_REPEATED_SCALES, False), (MAX_REPEATED_SCALES + 2, True)]
)
def test_a_merged_axis_repeats_each_scale_so_often(size: int, is_repeated: bool):
    body = f"x: 2x{size // 2}xf32\ns = [{size}] : 1xi64\ny = Reshape(x, s) : {size}xf32"
    moved = after(body, rows(0.5, 0.25))
    if is_repeated:
        assert reason(moved) == "too-large"
    else:
        half = size // 2
        assert moved == rows(*[0.5] * half, *[0.25] * half, zeros=(1,) * half + (2,) * half)
