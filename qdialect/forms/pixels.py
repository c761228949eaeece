"""
Ops on images of stored integers in channels-last layout, where onnxruntime's 8-bit kernels are up to thirty times
faster; the Transposes around them cancel with those of convolutions.
"""

from __future__ import annotations

from collections.abc import Sequence
from math import prod

import numpy as np
from xdsl.ir import SSAValue

from qdialect.dialects.onnx_base import OnnxOp, onnx_opset
from qdialect.dialects.onnx_types import DYNAMIC, shape_of
from qdialect.dialects.quant import UniformType
from qdialect.dialects.snapshot import MICROSOFT
from qdialect.forms.geometry import TO_FIRST, TO_LAST, nearest, reduced_axes
from qdialect.forms.nodes import Nodes
from qdialect.forms.storage import Built, StorageForm, stored_result
from qdialect.reasons import UNKNOWN_RANK, Blocked, required, unblocked

MAX_SMALL_IMAGE_BYTES = 4096
"""Size of an image in bytes up to which one kernel is faster than several calls."""
POOLED = (3, 4, 5)
"""Ranks of rows, images and volumes with channels."""
NO_IMAGE = Blocked("no-kernel", "channels last needs an image of known sizes that is not small")


def _sizes(x: SSAValue) -> tuple[int, int, int] | None:
    """Channels, height and width of images above `MAX_SMALL_IMAGE_BYTES`, batch of any size; None for others."""
    shape = shape_of(x.type)
    if shape is None or len(shape) != 4 or DYNAMIC in shape[1:] or prod(shape[1:]) < MAX_SMALL_IMAGE_BYTES:
        return None
    return shape[1], shape[2], shape[3]


def _max_pool(op: OnnxOp, x: SSAValue, type: UniformType) -> Built | Blocked:
    before, after = shape_of(x.type), shape_of(op.results[0].type)
    if before is None or after is None or len(before) not in POOLED or op.results[1:]:
        return Blocked(
            "no-kernel", "only rows, images and volumes are pooled with channels last, without indices"
        )
    attributes = {k: v for k, v in op.onnx_attributes.items() if k != "storage_order"}
    nodes, rank = Nodes(), len(before)
    last = nodes.transpose(x, [0, *range(2, rank), 1])
    pooled = [after[0], *after[2:], after[1]]
    pool = nodes.add("NhwcMaxPool", [last], pooled, attributes, domain=MICROSOFT)
    nodes.transpose(pool, [0, rank - 1, *range(1, rank - 1)])
    return Built(nodes.ops, "NhwcMaxPool")


def _largest(x: SSAValue, op: OnnxOp) -> Built | Blocked:
    """Global maximum of each channel, as a MaxPool over the whole image."""
    shape = shape_of(x.type)
    if (
        shape is None
        or len(shape) not in (3, 4)
        or DYNAMIC in shape[1:]
        or prod(shape[1:]) < MAX_SMALL_IMAGE_BYTES
    ):
        return NO_IMAGE
    rank, channels, pixels = len(shape), shape[1], prod(shape[2:])
    nodes = Nodes()
    row = nodes.transpose(x, [0, *range(2, rank), 1])
    if rank > 3:
        row = nodes.reshape(row, [-1, pixels, channels], (shape[0], pixels, channels))
    kernel = {"kernel_shape": (pixels,)}
    pool = nodes.add("NhwcMaxPool", [row], (shape[0], 1, channels), kernel, domain=MICROSOFT)
    keeps = op.op_type.startswith("Global") or op.int_attr("keepdims", 1)
    if rank == 3 and keeps:
        nodes.transpose(pool, [0, 2, 1])
    else:
        sizes = (channels, *[1] * (rank - 2 if keeps else 0))
        nodes.reshape(pool, [-1, *sizes], (shape[0], *sizes))
    return Built(nodes.ops, "NhwcMaxPool")


def _reduce_max(op: OnnxOp, x: SSAValue, type: UniformType) -> Built | Blocked:
    shape = shape_of(x.type)
    axes = unblocked(NO_IMAGE if shape is None else reduced_axes(op))
    return _largest(x, op) if axes == list(range(2, len(shape or ()))) else NO_IMAGE


def _global_max(op: OnnxOp, x: SSAValue, type: UniformType) -> Built | Blocked:
    """GlobalMaxPool; as ReduceMax if the window is unknown, whose axes are an operand from opset 18 on."""
    pooled = _largest(x, op)
    if isinstance(pooled, Built):
        return pooled
    shape = required(shape_of(x.type), UNKNOWN_RANK)
    axes, nodes = range(2, len(shape)), Nodes()
    stated = onnx_opset(op) < 18
    inputs = [x] if stated else [x, nodes.constant(axes, np.int64)]
    nodes.add("ReduceMax", inputs, stored_result(op, type), {"axes": axes} if stated else None)
    return Built(nodes.ops, "ReduceMax")


def _arranged(x: SSAValue, parts: Sequence[int], perm: Sequence[int], sizes: Sequence[int]) -> Built:
    """Channels last: each pixel reshaped to `parts`, transposed by `perm`, reshaped to pixels of `sizes`."""
    batch, nodes = (shape_of(x.type) or (DYNAMIC,))[0], Nodes()
    cut = nodes.reshape(nodes.transpose(x, TO_LAST), [-1, *parts], (batch, *parts))
    turned = nodes.transpose(cut, [0, *(1 + p for p in perm)])
    nodes.transpose(nodes.reshape(turned, [-1, *sizes], (batch, *sizes)), TO_FIRST)
    return Built(nodes.ops, "Transpose")


def _depth_to_space(op: OnnxOp, x: SSAValue, type: UniformType) -> Built | Blocked:
    """ONNX's operators.md, "DepthToSpace"."""
    image = required(_sizes(x), NO_IMAGE)
    if op.str_attr("mode", "DCR") == "CRD":
        return Blocked("no-kernel", "no two bytes of a pixel move together, so one kernel is faster")
    (channels, height, width), block = image, op.int_attr("blocksize", 1)
    left, result = channels // block**2, (height * block, width * block, channels // block**2)
    return _arranged(x, (height, width, block, block, left), (0, 2, 1, 3, 4), result)


def _space_to_depth(op: OnnxOp, x: SSAValue, type: UniformType) -> Built | Blocked:
    """ONNX's operators.md, "SpaceToDepth"."""
    image = required(_sizes(x), NO_IMAGE)
    (channels, height, width), block = image, op.int_attr("blocksize", 1)
    high, wide = height // block, width // block
    return _arranged(
        x, (high, block, wide, block, channels), (0, 2, 1, 3, 4), (high, wide, channels * block**2)
    )


def _resize(op: OnnxOp, x: SSAValue, type: UniformType) -> Built | Blocked:
    """A nearest Resize by integer factors as Tile, which repeats the channels of each pixel."""
    before, result = shape_of(x.type), _sizes(op.results[0])
    if before is None or DYNAMIC in before[1:] or result is None:
        return NO_IMAGE
    batch, *image = before
    by = [new // old for old, new in zip(image, result, strict=True)]
    rows = unblocked(nearest(op))
    repeated = {2 + k: np.arange(image[1 + k]).repeat(by[1 + k]) for k in (0, 1) if by[1 + k] > 1}
    if rows.keys() != repeated.keys() or not all(np.array_equal(rows[k], repeated[k]) for k in rows):
        return Blocked("no-kernel", "not every pixel is repeated as often as its neighbour")
    (channels, height, width), nodes = image, Nodes()
    apart, times = (height, 1, width, 1, channels), (1, 1, by[1], 1, by[2], 1)
    last = nodes.reshape(nodes.transpose(x, TO_LAST), [-1, *apart], (batch, *apart))
    wide = [size * factor for size, factor in zip(apart, times[1:], strict=True)]
    tiled = nodes.add("Tile", [last, nodes.constant(times, np.int64)], (batch, *wide))
    sizes = (result[1], result[2], channels)
    nodes.transpose(nodes.reshape(tiled, [-1, *sizes], (batch, *sizes)), TO_FIRST)
    return Built(nodes.ops, "Tile")


PIXEL_FORMS: dict[tuple[str, str], StorageForm] = {
    ("", "MaxPool"): StorageForm(_max_pool, slow_in_float=True),
    ("", "GlobalMaxPool"): StorageForm(_global_max),
    ("", "ReduceMax"): StorageForm(_reduce_max),
    ("", "DepthToSpace"): StorageForm(_depth_to_space),
    ("", "SpaceToDepth"): StorageForm(_space_to_depth),
    ("", "Resize"): StorageForm(_resize),
}
