"""Geometry of ops for lowering: windows of pools, axes of reductions, source pixels of a resize."""

from __future__ import annotations

from typing import Any, NamedTuple

import numpy as np
import numpy.typing as npt

from qdialect.dialects.onnx_base import OnnxOp
from qdialect.dialects.onnx_types import known_shape
from qdialect.ir.values import ints_of, normal_axis
from qdialect.numerics.pixels import nearest_pixels
from qdialect.promises.resizing import scaling
from qdialect.promises.window import halved
from qdialect.reasons import Blocked

TO_LAST, TO_FIRST = (0, 2, 3, 1), (0, 3, 1, 2)
"""Permutations between the layouts: channels last, and channels first as in ONNX."""
COMPUTED = Blocked("computed-parameter", "a parameter is computed at run time")


class Pool(NamedTuple):
    """A window that slides over images without a weight."""

    kernel: tuple[int, ...]
    strides: tuple[int, ...]
    dilations: tuple[int, ...]
    pads: tuple[tuple[int, int], ...]
    """Padding before and after each axis, the latter up to the end of the last window."""
    stated: tuple[tuple[int, int], ...]
    """Padding as stated in the model."""


def pool(op: OnnxOp) -> Pool:
    """The window of a pool: ONNX's operators.md, "MaxPool" and "AveragePool"."""
    shape, result = known_shape(op.operands[0].type), known_shape(op.results[0].type)
    count = len(shape) - 2
    kernel = op.ints_attr("kernel_shape") or ()  # the verifier asks for one
    strides = op.ints_attr("strides") or (1,) * count
    dilations = op.ints_attr("dilations") or (1,) * count
    mode, stated = op.str_attr("auto_pad", "NOTSET"), op.ints_attr("pads") or (0,) * (2 * count)
    before: list[tuple[int, int]] = []
    pads: list[tuple[int, int]] = []
    for k in range(count):
        missing = (result[2 + k] - 1) * strides[k] + (kernel[k] - 1) * dilations[k] + 1 - shape[2 + k]
        if mode in ("SAME_UPPER", "SAME_LOWER"):
            before.append(halved(max(missing, 0), mode))
        else:
            before.append((0, 0) if mode == "VALID" else (stated[k], stated[count + k]))
        first = before[-1][0]
        pads.append((first, max(missing - first, 0)))
    return Pool(kernel, strides, dilations, tuple(pads), tuple(before))


def pool_counts(op: OnnxOp, window: Pool) -> npt.NDArray[np.float32]:
    """Number of elements under the window at each position, f32, broadcasting to the result: the mean's divisor."""
    shape, result = known_shape(op.operands[0].type)[2:], known_shape(op.results[0].type)[2:]
    every = bool(op.int_attr("count_include_pad", 0))
    counts = np.ones((), np.float32)
    for k, size in enumerate(shape):
        low, high = window.stated[k] if every else (0, 0)
        at = np.arange(result[k])[:, None] * window.strides[k] - window.pads[k][0]
        at = at + np.arange(window.kernel[k])[None, :] * window.dilations[k]
        inside = ((at >= -low) & (at < size + high)).sum(axis=1)
        counts = np.multiply.outer(counts, inside.astype(np.float32))
    return counts


def reduced_axes(op: OnnxOp) -> list[int] | Blocked:
    """The reduced axes, non-negative; an op that keeps its operand where no axes are given reduces none."""
    rank = len(known_shape(op.operands[0].type))
    if op.op_type.startswith("Global"):
        return list(range(2, rank))
    axes = ints_of(op, "axes", 1)
    if axes is None and op.input(1) is not None:
        return COMPUTED
    every = not axes and not op.int_attr("noop_with_empty_axes", 0)
    return list(range(rank)) if every else sorted(normal_axis(a, rank) for a in axes or ())


def repeated(size: int, pad: tuple[int, int], mode: str) -> npt.NDArray[np.int64]:
    """Source indices along an axis of a Pad in a mode that repeats elements; negative pads remove some."""
    (before, behind), places = pad, np.arange(size)
    inside = places[max(-before, 0) : size - max(-behind, 0)]
    style: Any = mode  # edge, reflect and wrap have the same names in numpy and ONNX
    return np.pad(inside, (max(before, 0), max(behind, 0)), style)


def tiled(op: OnnxOp) -> dict[int, npt.NDArray[np.int64]]:
    """Source index of each element of a Tile, by axis that it repeats."""
    sizes = zip(known_shape(op.operands[0].type), known_shape(op.results[0].type), strict=True)
    return {axis: np.arange(new) % old for axis, (old, new) in enumerate(sizes) if old != new}


def nearest(op: OnnxOp) -> dict[int, npt.NDArray[np.int64]] | Blocked:
    """Source index of each pixel of a nearest Resize, by axis: ONNX's operators.md, "Resize"."""
    shape, result = known_shape(op.operands[0].type), known_shape(op.results[0].type)
    axes, scales, mode, rounding = scaling(op, len(shape))
    rows: dict[int, npt.NDArray[np.int64]] = {}
    for k, (old, new) in enumerate(zip(shape, result, strict=True)):
        if old == new:
            continue
        scale = new / old if scales is None else float(scales[axes.index(k)])
        try:
            rows[k] = nearest_pixels(old, new, scale, mode, rounding)
        except KeyError:
            return Blocked("interpolates", f"Resize has the coordinate transformation {mode}")
    return rows
