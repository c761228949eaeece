"""
TOSA form of Resize: pixel o of the result is at (o * d + offset) / n of the operand, all integers.

For linear interpolation that is ONNX's own coordinate, and the sums of four pixels are i32 in steps 1 / (n_y * n_x).
For the nearest pixel ONNX has four roundings, TOSA one, so an offset is searched that selects the same pixels.
"""

from __future__ import annotations

from math import gcd
from typing import NamedTuple

import numpy as np
from xdsl.dialects.builtin import i8, i32

from qdialect.dialects.onnx_base import OnnxOp
from qdialect.dialects.onnx_types import known_shape
from qdialect.forms.geometry import TO_LAST, nearest
from qdialect.ir.values import constant_array
from qdialect.reasons import Blocked, unblocked
from qdialect.upstream import tosa_dialect as tosa
from qdialect.upstream.site import OTHER_TYPE
from qdialect.upstream.tosa.elementwise import MAX_STORED_DISTANCE
from qdialect.upstream.tosa.layout import Rows, picked_rows
from qdialect.upstream.tosa.site import TosaForm, TosaSite, activations, takes
from qdialect.upstream.tosa_dialect.types import ResizeMode

LARGEST_NUMERATOR = 1 << 11
"""Greatest numerator of a scale that TOSA allows."""
MODE = Blocked("interpolates", "TOSA has no such interpolation, or not for these sizes")


class Line(NamedTuple):
    """Coordinates of the pixels along an axis: (o * d + offset) / n."""

    n: int
    d: int
    offset: int

    def border(self, old: int, new: int) -> int:
        return (new - 1) * self.d - (old - 1) * self.n + self.offset

    def is_legal(self, old: int, new: int) -> bool:
        """True if TOSA allows the parameters: docs/spec.md, T19."""
        border = self.border(old, new)
        return (
            0 < self.n <= LARGEST_NUMERATOR
            and self.d < 16 * self.n
            and -self.n <= self.offset < 16 * self.n
            and -16 * self.n <= border < self.n
        )

    def nearest(self, old: int, new: int) -> Rows:
        """Indices of the nearest pixels that TOSA selects."""
        at = np.arange(new) * self.d + self.offset
        below = at // self.n
        over = 2 * (at - below * self.n) >= self.n
        return np.where(over, np.minimum(below + 1, old - 1), np.maximum(below, 0))


def line_of(old: int, new: int, mode: str) -> Line | None:
    """The line of ONNX's coordinates: operators.md, "Resize", coordinate_transformation_mode."""
    if mode == "align_corners":
        factor = gcd(max(old - 1, 1), max(new - 1, 1))
        return Line(max(new - 1, 1) // factor, max(old - 1, 1) // factor if new > 1 else 1, 0)
    factor = gcd(old, new)
    n, d = new // factor, old // factor
    if mode == "asymmetric":
        return Line(n, d, 0)
    if mode == "half_pixel" or (mode == "pytorch_half_pixel" and new > 1):
        return Line(2 * n, 2 * d, d - n)
    return None


def _states_its_sizes(op: OnnxOp) -> bool:
    """True if the scales, if stated, equal the ratios of the sizes: otherwise coordinates follow the scales."""
    stated = constant_array(op.input(2))
    if stated is None or not stated.size or op.ints_attr("axes") is not None:
        return op.ints_attr("axes") is None and (op.input(3) is not None or stated is not None)
    old, new = known_shape(op.operands[0].type), known_shape(op.results[0].type)
    return all(abs(float(s) * a - b) < 1e-4 for s, a, b in zip(stated, old, new, strict=True))


def _linear(op: OnnxOp, site: TosaSite) -> Blocked | None:
    x, y = activations(op.operands[0], op.results[0])
    old, new = known_shape(op.operands[0].type), known_shape(op.results[0].type)
    if (
        len(old) != len(TO_LAST)
        or old[:2] != new[:2]
        or not _states_its_sizes(op)
        or op.int_attr("antialias", 0)
    ):
        return MODE
    mode = op.str_attr("coordinate_transformation_mode", "half_pixel")
    lines = [line_of(a, b, mode) for a, b in zip(old[2:], new[2:], strict=True)]
    y_line, x_line = lines
    if y_line is None or x_line is None:
        return MODE
    if not (y_line.is_legal(old[2], new[2]) and x_line.is_legal(old[3], new[3])):
        return MODE
    parts = y_line.n * x_line.n
    ratio = np.float32(x.scale) / np.float32(y.scale) / np.float32(parts)
    # TOSA's Resize has no zero point: the weights of the four pixels sum to `parts`, so it is subtracted afterwards.
    unblocked(takes(ratio, (MAX_STORED_DISTANCE + 1) * parts))
    sums = _resized(site, op, (y_line, x_line), ResizeMode.BILINEAR)
    if x.zero_point:
        taken = site.constant(np.full((1, 1, 1, 1), x.zero_point * parts), np.int32)
        sums = site.binary(tosa.SubOp, sums, taken)
    site.give(op.results[0], site.quantized(sums, ratio, y), last=True)
    return None


def _resized(site: TosaSite, op: OnnxOp, lines: tuple[Line, Line], mode: ResizeMode):
    old, new = known_shape(op.operands[0].type)[2:], known_shape(op.results[0].type)[2:]
    operands = [
        site.operand(op.operands[0], last=True),
        site.sizes([number for line in lines for number in (line.n, line.d)]),
        site.sizes([line.offset for line in lines]),
        site.sizes([line.border(a, b) for line, a, b in zip(lines, old, new, strict=True)]),
    ]
    element = i32 if mode is ResizeMode.BILINEAR else i8
    result = site.shape(op.results[0], last=True)
    return site.make(tosa.ResizeOp, operands, result, element, mode=tosa.ResizeModeAttr(mode))


def line_through(rows: Rows | None, old: int, new: int) -> Line | None:
    """A line whose nearest pixels are `rows`."""
    wanted = np.arange(old) if rows is None else rows
    factor = gcd(old, new)
    n, d = 2 * new // factor, 2 * old // factor
    for offset in (d // 2 - n // 2, d // 2 - n // 2 - 1, -(n // 2), 0, -1, n // 2 - 1):
        line = Line(n, d, offset)
        if line.is_legal(old, new) and np.array_equal(line.nearest(old, new), wanted):
            return line
    return None


def _nearest(op: OnnxOp, site: TosaSite) -> Blocked | None:
    (x, y), rows = activations(op.operands[0], op.results[0]), unblocked(nearest(op))
    if x != y:
        return OTHER_TYPE
    old, new = known_shape(op.operands[0].type), known_shape(op.results[0].type)
    repeats = all(
        new[k] % old[k] == 0 and np.array_equal(places, np.repeat(np.arange(old[k]), new[k] // old[k]))
        for k, places in rows.items()
    )
    if len(old) == len(TO_LAST) and set(rows) <= {2, 3} and not repeats:
        lines = [line_through(rows.get(k), old[k], new[k]) for k in (2, 3)]
        if lines[0] is not None and lines[1] is not None:
            pixels = _resized(site, op, (lines[0], lines[1]), ResizeMode.NEAREST_NEIGHBOR)
            site.give(op.results[0], pixels, last=True)
            return None
    last = len(old) == len(TO_LAST)
    value = unblocked(picked_rows(site, site.operand(op.operands[0], last=last), rows, last=last))
    site.give(op.results[0], value, last=last)
    return None


def _resize(op: OnnxOp, site: TosaSite) -> Blocked | None:
    mode = op.str_attr("mode", "nearest")
    if mode == "nearest":
        return _nearest(op, site)
    return _linear(op, site) if mode == "linear" and op.op_type == "Resize" else MODE


IMAGE_FORMS: dict[tuple[str, str], TosaForm] = {
    ("", "Resize"): TosaForm(_resize),
    ("", "Upsample"): TosaForm(_resize),
}
