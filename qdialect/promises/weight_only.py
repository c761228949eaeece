"""Weight-only quantization: a matrix product of floats with a weight that a kernel dequantizes as it goes."""

from __future__ import annotations

from collections.abc import Callable
from dataclasses import dataclass
from math import gcd
from typing import Any, NamedTuple

import numpy as np
import numpy.typing as npt

from qdialect.dialects.onnx_base import OnnxOp
from qdialect.dialects.onnx_types import BY_NUMPY
from qdialect.dialects.quant import UniformType
from qdialect.dialects.snapshot import MICROSOFT
from qdialect.promises.base import Promise, unguarded
from qdialect.reasons import GEMM_FORM, Blocked, unblocked

SMALLEST_BLOCK, LARGEST_BLOCK = 16, 128
"""Block sizes into which a weight without blocks is divided."""


def _gemm_guard(op: OnnxOp) -> Blocked | None:
    if op.int_attr("transA", 0) or op.float_attr("alpha", 1.0) != 1.0 or op.float_attr("beta", 1.0) != 1.0:
        return GEMM_FORM
    return None


@dataclass(frozen=True)
class WeightOnly(Promise):
    """The op is activation @ weight (+ bias), the weight of rank 2, as MatMulNBits computes it."""

    guard: Callable[[OnnxOp], Blocked | None] = unguarded


WEIGHT_ONLY: dict[tuple[str, str], WeightOnly] = {
    ("", "MatMul"): WeightOnly(),
    ("", "Gemm"): WeightOnly(_gemm_guard),
}


@dataclass(frozen=True)
class Columns(Promise):
    """The product sums over the last axis of the first operand; an attribute gives the number of result columns."""

    attribute: str


COLUMNS: dict[tuple[str, str], Columns] = {(MICROSOFT, "MatMulNBits"): Columns("N")}


@dataclass(frozen=True)
class AddsRow(Promise):
    """The op is a matrix product of floats that adds one of its operands, one float for each column of the result."""

    place: int


ADDS_ROW: dict[tuple[str, str], AddsRow] = {
    (MICROSOFT, "MatMulNBits"): AddsRow(5),
    (MICROSOFT, "DynamicQuantizeMatMul"): AddsRow(4),
}


class PackedWeight(NamedTuple):
    """A weight in the layout of MatMulNBits: unsigned, the blocks of each output contiguous."""

    stored: npt.NDArray[np.uint8]
    """(N, blocks, block * bits / 8), the lower bits first."""
    scales: npt.NDArray[Any]
    """(N * blocks,)"""
    zero_points: npt.NDArray[np.uint8] | None
    """(N * ceil(blocks * bits / 8),); None if all are 2**(bits - 1)."""
    block: int
    bits: int


def packed_weight(stored: npt.NDArray[Any], type: UniformType, inputs: int) -> PackedWeight | Blocked:
    """
    A stored (K, N) weight, `inputs` 0, or (N, K), `inputs` 1, in blocks along K.

    A short last block is filled with zero points, which are multiplied with no activation.
    """
    bits, rows = type.storage.width, stored.shape[inputs]
    block = unblocked(block_of(type, rows, inputs))
    offset = 1 << (bits - 1) if type.storage.signed else 0
    by_output = np.moveaxis(stored, inputs, 1).astype(np.int64) + offset
    count = -(-rows // block)
    scales, zeros = (
        _per_block(a, type, stored.shape, inputs, count) for a in (type.scales, type.zero_points + offset)
    )
    full = np.zeros((len(by_output), count * block), np.uint8)
    full[:, :rows] = by_output
    same = bool(np.all(zeros == 1 << (bits - 1)))
    return PackedWeight(
        _nibbles(full, bits).reshape(len(full), count, block * bits // 8),
        np.ascontiguousarray(scales).reshape(-1),
        None if same else _nibbles(zeros.astype(np.uint8), bits).reshape(-1),
        block,
        bits,
    )


def block_of(type: UniformType, rows: int, inputs: int) -> int | Blocked:
    if type.blocks is None:
        if type.axis == inputs:
            return Blocked("weight-axis", "the weight's scales run along the axis that the product sums over")
        return min(LARGEST_BLOCK, max(SMALLEST_BLOCK, gcd(rows, LARGEST_BLOCK)))
    sizes = dict(type.blocks)
    block = sizes.get(inputs, 0)
    if sizes.get(1 - inputs, 1) != 1 or block < SMALLEST_BLOCK or block & (block - 1):
        return Blocked("block-size", "the kernel takes only blocks of 16, 32, 64, ... along the inputs")
    return block


def _per_block(
    values: npt.NDArray[Any], type: UniformType, shape: tuple[int, ...], inputs: int, count: int
) -> npt.NDArray[Any]:
    """Parameters as (N, blocks)."""
    outputs = shape[1 - inputs]
    if type.blocks is not None:
        return np.moveaxis(values, inputs, 1)
    return np.broadcast_to(values.reshape(-1, 1), (outputs, count))


def _nibbles(values: npt.NDArray[np.uint8], bits: int) -> npt.NDArray[np.uint8]:
    """Rows of values packed into bytes: 8-bit ones unchanged, 4-bit ones two per byte, the first in the lower half."""
    if bits == 8:
        return values
    even = np.pad(values, ((0, 0), (0, values.shape[1] % 2)))
    return (even[:, 0::2] | even[:, 1::2] << 4).astype(np.uint8)


class BlockedWeight(NamedTuple):
    """A weight in the layout of DequantizeLinear: (K, N), blocks along axis 0."""

    stored: npt.NDArray[Any]
    scales: npt.NDArray[Any]
    """(blocks, N)"""
    zero_points: npt.NDArray[Any]
    """(blocks, N)"""


UNSIGNED = {2: BY_NUMPY["uint4"], 4: BY_NUMPY["uint4"], 8: BY_NUMPY["uint8"]}
"""Element type of the stored values of a packed weight, by their bits: blocks came with types of 4 bits."""


def unpacked_weight(
    packed: npt.NDArray[Any],
    scales: npt.NDArray[Any],
    zero_points: npt.NDArray[Any] | None,
    inputs: int,
    outputs: int,
    bits: int,
    block: int,
) -> BlockedWeight | Blocked:
    """The inverse of `packed_weight`: the operands of a MatMulNBits as a weight of (inputs, outputs), or `Blocked`."""
    if bits not in UNSIGNED or block < 1:
        return Blocked("storage-type", f"no type stores {bits} bits in blocks of {block}")
    count = -(-inputs // block)
    sizes = {packed.size: outputs * count * block * bits // 8, scales.size: outputs * count}
    if zero_points is not None:
        sizes[zero_points.size] = outputs * -(-count * bits // 8)
    if packed.dtype != np.uint8 or any(size != wanted for size, wanted in sizes.items()):
        return Blocked("block-size", "the weight's shape does not match the node's attributes")
    if scales.dtype != np.float32 or (zero_points is not None and zero_points.dtype != np.uint8):
        return Blocked("expressed-type", "scales or zero points of the weight are of another type")
    stored = _spread(packed.reshape(outputs, -1), bits)[:, :inputs]
    if zero_points is None:
        zeros = np.full((outputs, count), 1 << (bits - 1), np.uint8)
    else:
        zeros = _spread(zero_points.reshape(outputs, -1), bits)[:, :count]
    dtype = UNSIGNED[bits].dtype
    return BlockedWeight(
        stored.T.astype(dtype), scales.reshape(outputs, count).T.astype(np.float32), zeros.T.astype(dtype)
    )


def _spread(rows: npt.NDArray[np.uint8], bits: int) -> npt.NDArray[np.uint8]:
    """The inverse of `_nibbles`: one value per byte."""
    if bits == 8:
        return rows
    parts = [rows >> shift & (1 << bits) - 1 for shift in range(0, 8, bits)]
    return np.stack(parts, axis=-1).reshape(len(rows), -1).astype(np.uint8)
