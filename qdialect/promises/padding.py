"""
Pad: with edge, reflect or wrap it moves elements; with a constant it adds elements of one real value c.

    Q(Pad(x, c)) = Pad(Q(x), Q(c))          always
    DQ(Pad(q, Q(c))) = Pad(DQ(q), c)        if DQ(Q(c)) = c, as for c = 0, which is stored as the zero point
"""

from __future__ import annotations

from collections.abc import Callable, Mapping, Sequence
from dataclasses import dataclass

import numpy as np
from xdsl.ir import Attribute

from qdialect.dialects.onnx_attributes import int_attr, ints_attr, string_attr
from qdialect.dialects.onnx_base import OnnxOp
from qdialect.dialects.quant import UniformType
from qdialect.ir.values import ints_of, rank_of, real_constant
from qdialect.promises.axes import ALONG_AXIS, places_of
from qdialect.promises.base import Promise
from qdialect.promises.blocks import BLOCKED_SCALES
from qdialect.reasons import (
    COMPUTED_PAD_VALUE,
    COMPUTED_PADS,
    UNKNOWN_RANK,
    Blocked,
    answer,
    required,
    unblocked,
)

Types = Sequence[UniformType]
Pads = Mapping[int, tuple[int, int]]
"""Numbers of elements that are added before and behind each axis."""


@dataclass(frozen=True)
class AddsPadding(Promise):
    """The op adds elements around its operand."""

    spatial: Callable[[OnnxOp], tuple[int, ...] | Blocked]
    """Numbers of zeros before and after each spatial axis; `Blocked` if the op does anything else."""


@dataclass(frozen=True)
class ZeroPads(Promise):
    """The op slides a window and has pads of its own, zeros around its first operand."""

    padded: Callable[[OnnxOp, tuple[int, ...]], dict[str, Attribute] | Blocked]
    """The attributes with so many more zeros before and after each spatial axis, or `Blocked`."""


def pad_value(op: OnnxOp) -> float | None:
    """The real value that a constant Pad puts around its operand; None if it is computed."""
    if op.ints_attr("pads") is not None:  # before opset 11
        return op.float_attr("value", 0.0)
    value = op.input(2)
    if value is None:
        return 0.0
    array = real_constant(value)
    return None if array is None else float(array.reshape(-1)[0])


def pads_of(op: OnnxOp) -> Pads | Blocked:
    """The elements that a Pad adds; negative ones are removed."""
    rank = required(rank_of(op.operands[0]), UNKNOWN_RANK)
    pads, axes = required(ints_of(op, "pads", 1), COMPUTED_PADS), ints_of(op, "axes", 3)
    if axes is None and op.input(3) is not None:
        return Blocked("computed-parameter", "the padded axes are computed")
    places = unblocked(places_of(range(rank) if axes is None else axes, rank))
    if len(pads) != 2 * len(places):
        return Blocked("invalid-op", "the pads do not fit the operand's rank")
    half = len(places)
    return dict(zip(places, zip(pads[:half], pads[half:], strict=True), strict=True))


def _along(op: OnnxOp, type: UniformType) -> Blocked | None:
    if type.is_per_tensor:
        return None
    if type.axis is None:
        return BLOCKED_SCALES
    pads = answer(pads_of, op)
    if isinstance(pads, Blocked):
        return pads
    return ALONG_AXIS if any(pads.get(type.axis, ())) else None


def pad_backward(op: OnnxOp, types: Types) -> Types | Blocked:
    """Quantize above: the constant is quantized as the elements around it would be."""
    blocked = _along(op, types[0])
    if blocked is not None:
        return blocked
    if op.str_attr("mode", "constant") == "constant":
        value = pad_value(op)
        if value is None:
            return COMPUTED_PAD_VALUE
        if not types[0].is_per_tensor and value != 0:
            return Blocked("zero-point", "the value that Pad inserts is stored differently in each channel")
    return types


def only_adds(op: OnnxOp) -> bool:
    """True if no pad is negative."""
    pads = ints_of(op, "pads", 1)
    return pads is not None and min(pads, default=0) >= 0


def pad_forward(op: OnnxOp, types: Types) -> Types | Blocked:
    """Dequantize below: the constant must come out of the type as it went in."""
    moved = pad_backward(op, types)
    if isinstance(moved, Blocked) or op.str_attr("mode", "constant") != "constant":
        return moved
    value, type = pad_value(op), types[0]
    if value is None or value == 0:
        return moved
    if type.dequantize(type.quantize(np.float32(value))) != np.float32(value):
        return Blocked("value-rounds", f"Pad inserts {value:g}, which the type cannot represent")
    return moved


def _pads(pad: OnnxOp) -> tuple[int, ...] | Blocked:
    if pad.str_attr("mode", "constant") != "constant":
        return Blocked(
            "pad-form", f"Pad repeats elements ({pad.str_attr('mode', '')}) instead of adding zeros"
        )
    value = required(pad_value(pad), COMPUTED_PAD_VALUE)
    if value != 0:
        return Blocked("pad-form", f"Pad inserts {value:g}, a window pads with zero")
    pads = unblocked(pads_of(pad))
    if any(min(pair) < 0 for pair in pads.values()):
        return Blocked("pad-form", "Pad has negative pads, which remove elements")
    return _spatial(pads, rank_of(pad.operands[0]))


def _spatial(pads: Pads, rank: int | None) -> tuple[int, ...] | Blocked:
    """The pads of the spatial axes, first those before them; `Blocked` if batch or channels are padded."""
    if rank is None or rank < 3 or any(any(pads.get(axis, ())) for axis in (0, 1)):
        return Blocked("pad-form", "Pad adds zeros along the batch or channel axis")
    each = [pads.get(axis, (0, 0)) for axis in range(2, rank)]
    return (*(before for before, _ in each), *(behind for _, behind in each))


def _more_pads(op: OnnxOp, added: tuple[int, ...]) -> dict[str, Attribute] | Blocked:
    if op.str_attr("auto_pad", "NOTSET") not in ("NOTSET", "VALID"):
        return Blocked("unknown-shape", "auto_pad computes the pads of the window")
    own = (op.ints_attr("pads") if op.str_attr("auto_pad", "NOTSET") == "NOTSET" else None) or (0,) * len(
        added
    )
    attributes: dict[str, Attribute] = {
        "pads": ints_attr(tuple(a + b for a, b in zip(own, added, strict=True)))
    }
    if "auto_pad" in op.properties:
        attributes["auto_pad"] = string_attr(b"NOTSET")
    return attributes


def _pads_that_count(op: OnnxOp, added: tuple[int, ...]) -> dict[str, Attribute] | Blocked:
    """An average counts the zeros of a Pad; its own pads only with `count_include_pad`."""
    if op.int_attr("ceil_mode", 0):
        return Blocked("pad-form", "a partial window at the edge counts fewer elements")
    if any(op.ints_attr("pads") or ()) and not op.int_attr("count_include_pad", 0):
        return Blocked("pad-form", "the average excludes its own pads, but includes a Pad's zeros")
    attributes = unblocked(_more_pads(op, added))
    own, sizes = op.ints_attr("pads") or (0,) * len(added), (op.ints_attr("kernel_shape") or ()) * 2
    if any(a + b >= size for a, b, size in zip(own, added, sizes, strict=True)):
        return Blocked("pad-form", "a window would cover padding only, which pools do not allow")
    return {**attributes, "count_include_pad": int_attr(1)}


PADDING: dict[tuple[str, str], Promise] = {
    ("", "Pad"): AddsPadding(_pads),
    ("", "Conv"): ZeroPads(_more_pads),
    ("", "AveragePool"): ZeroPads(_pads_that_count),
}
