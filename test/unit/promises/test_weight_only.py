"""`promises.weight_only`: the last case on one side of each bound, the first on the other."""

from __future__ import annotations

import numpy as np
import pytest
from guard_cases import Case, parsed, text
from promised_types import flat, reason

from qdialect.dialects.onnx_base import OnnxOp
from qdialect.dialects.onnx_types import uniform_of
from qdialect.dialects.quant import Storage, UniformType
from qdialect.promises.weight_only import (
    block_of,
    packed_weight,
    unpacked_weight,
)
from qdialect.reasons import Blocked, answer


def nibbles(axis: int | None) -> UniformType:
    if axis is None:
        return UniformType.per_tensor(Storage.of("i4"), np.float32(0.5))
    scales = np.array([0.5, 0.25], np.float32)
    return UniformType.per_axis(Storage.of("i4"), axis, scales, np.zeros(2, np.int64))


@pytest.mark.parametrize(
    ("axis", "rows", "expected"),
    [
        (None, 64, 64),
        (None, 32, 32),
        (None, 48, 16),
        (None, 8, 16),
        (None, 128, 128),
        (None, 512, 128),
        (1, 64, 64),
        (0, 64, None),
    ],
)
def test_blocks_of_a_weight_without_blocks(axis: int | None, rows: int, expected: int | None):
    """The greatest power of two that divides the rows, from 16 on; along the inputs, axis 0 here."""
    block = block_of(nibbles(axis), rows, 0)
    if expected is None:
        assert isinstance(block, Blocked)
    else:
        assert block == expected


@pytest.mark.parametrize(
    ("blocks", "expected"),
    [
        ("{0:8}", None),
        ("{0:16}", 16),
        ("{0:32}", 32),
        ("{0:48}", None),
        ("{0:16, 1:1}", 16),
        ("{0:16, 1:2}", None),
        ("{1:16}", None),
    ],
)
def test_the_kernel_takes_blocks_of_powers_of_two_along_the_inputs(blocks: str, expected: int | None):
    mine = f"!mine = !quant.uniform<i4:f32:{blocks}, {{{{0.5, 0.25}}, {{0.5, 0.25}}}}>\n"
    _, module = parsed(mine + text(Case("", "", "w: ?x?x!mine\ny = Identity(w) : ?x?x!mine")))
    (op,) = (one for one in module.walk() if isinstance(one, OnnxOp))
    block = block_of(uniform_of(op.operands[0].type), 96, 0)
    if expected is None:
        assert isinstance(block, Blocked)
    else:
        assert block == expected


def test_a_weight_of_scales_along_its_inputs_is_not_packed():
    type = UniformType.per_axis(Storage.of("i8"), 0, np.ones(32, np.float32), np.zeros(32, np.int64))
    assert reason(answer(packed_weight, np.zeros((32, 5), np.int8), type, 0)) == "weight-axis"
    assert not isinstance(packed_weight(np.zeros((5, 32), np.int8).T, flat(0.5), 0), Blocked)


@pytest.mark.parametrize("inputs", [0, 1])
@pytest.mark.parametrize(
    ("storage", "rows_", "zero"), [("i8", 20, 0), ("u8", 32, 7), ("i4", 20, 0), ("u4", 48, 3), ("i4", 16, -2)]
)
def test_a_packed_weight_is_unpacked(storage: str, rows_: int, zero: int, inputs: int):
    kind = Storage.of(storage)
    stored = np.random.default_rng(3).integers(kind.low, kind.high + 1, (rows_, 5))
    type = UniformType.per_axis(kind, 1 - inputs, np.array([1, 2, 3, 4, 5], np.float32), np.full(5, zero))
    packed = packed_weight(stored if inputs == 0 else stored.T, type, inputs)
    assert not isinstance(packed, Blocked)
    block = {20: 16, 32: 32, 48: 16, 16: 16}[rows_]
    count = -(-rows_ // block)
    assert (packed.block, packed.bits, packed.stored.shape) == (
        block,
        kind.width,
        (5, count, block * kind.width // 8),
    )
    offset = 1 << (kind.width - 1) if kind.signed else 0
    assert (packed.zero_points is None) == (zero + offset == 1 << (kind.width - 1))
    back = unpacked_weight(packed.stored, packed.scales, packed.zero_points, rows_, 5, kind.width, block)
    assert not isinstance(back, Blocked)
    assert (back.stored.astype(int) - offset).tolist() == stored.tolist()
    assert back.scales.tolist() == [[1, 2, 3, 4, 5]] * count
    assert (back.zero_points.astype(int) == zero + offset).all()
    for wrong in (
        (packed.stored[:4], packed.scales, packed.zero_points),
        (packed.stored, packed.scales[:4], packed.zero_points),
        (packed.stored, packed.scales, np.zeros(3, np.uint8)),
        (packed.stored.astype(np.int8), packed.scales, packed.zero_points),
    ):
        assert reason(unpacked_weight(*wrong, rows_, 5, kind.width, block)) == "block-size"
    halves = packed.scales.astype(np.float16)
    assert (
        reason(unpacked_weight(packed.stored, halves, packed.zero_points, rows_, 5, kind.width, block))
        == "expressed-type"
    )


@pytest.mark.parametrize(
    ("bits", "block", "blocked"), [(8, 1, False), (4, 2, False), (8, 0, True), (8, -1, True), (2, 16, False)]
)
def test_blocks_of_a_packed_weight_have_an_element(bits: int, block: int, blocked: bool):
    count = -(-3 // block) if block > 0 else 3
    packed = np.arange(2 * count * max(block, 1) * bits // 8, dtype=np.uint8)
    scales = np.arange(1, 2 * count + 1, dtype=np.float32)
    weight = unpacked_weight(packed, scales, None, 3, 2, bits, block)
    if blocked:
        assert reason(weight) == "storage-type"
    else:
        assert not isinstance(weight, Blocked)
        assert weight.stored.shape == (3, 2)
        assert weight.scales.tolist() == scales.reshape(2, -1).T.tolist()
        assert (weight.zero_points == 1 << (bits - 1)).all()
