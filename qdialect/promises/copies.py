"""Ops that return an operand unchanged, always or for some values of their other operands and attributes."""

from __future__ import annotations

from collections.abc import Callable
from dataclasses import dataclass

import numpy as np
from xdsl.ir import SSAValue

from qdialect.dialects.onnx_base import OnnxOp
from qdialect.dialects.onnx_types import DYNAMIC, element_of, shape_of
from qdialect.ir.values import (
    constant_array,
    constant_ints,
    ints_of,
    is_constant,
    rank_of,
    real_constant,
    static_shape,
)
from qdialect.promises.base import Promise
from qdialect.promises.elementwise import Elementwise
from qdialect.promises.layout import diagonal_of, slices_of, training
from qdialect.reasons import Blocked, answer

MAX_FOLLOWED_OPS = 16
"""Greatest number of elementwise ops that are followed."""


def _first(op: OnnxOp) -> int | None:
    return 0


@dataclass(frozen=True)
class Copies(Promise):
    """The op's first result is one of its operands."""

    place: Callable[[OnnxOp], int | None] = _first
    """Index of the copied operand; None if this op copies none."""
    blocked: Callable[[OnnxOp], Blocked | None] = lambda op: None
    """Reason why an op for which `place` has an index may still be no copy; None if it is one."""


def _same_sizes(op: OnnxOp) -> bool:
    """True if operand and result have one shape: at most one size is unknown, and the others determine it."""
    before, after = shape_of(op.operands[0].type), shape_of(op.results[0].type)
    return before is not None and before == after and before.count(DYNAMIC) <= 1


def _reshape(op: OnnxOp) -> int | None:
    listed = constant_ints(op.input(1))
    every = rank_of(op.operands[0])
    copied = (
        listed is not None and every == len(listed) and not any(listed) and not op.int_attr("allowzero", 0)
    )
    return 0 if copied or _same_sizes(op) else None


def _sized(op: OnnxOp) -> int | None:
    return 0 if _same_sizes(op) else None


def _transpose(op: OnnxOp) -> int | None:
    perm = op.ints_attr("perm")
    return 0 if perm is not None and perm == tuple(range(len(perm))) else None


def _cast(op: OnnxOp) -> int | None:
    known = element_of(op.operands[0].type)
    return 0 if known is not None and known == element_of(op.results[0].type) else None


def _slice(op: OnnxOp) -> int | None:
    """0 if the Slice takes every axis whole: from start to end, or with as many elements after as before."""
    taken = answer(slices_of, op)
    before, after = shape_of(op.operands[0].type), shape_of(op.results[0].type)
    if isinstance(taken, Blocked) or before is None or after is None or len(before) != len(after):
        return None
    for axis, part in taken.items():
        whole = part.start == 0 and (part.stop or 0) >= np.iinfo(np.int32).max
        if part.step != 1 or not (whole or before[axis] == after[axis] != DYNAMIC):
            return None
    return 0


def _pad(op: OnnxOp) -> int | None:
    pads = ints_of(op, "pads", 1)
    return 0 if pads is not None and not any(pads) else None


def _expand(op: OnnxOp) -> int | None:
    before, after = shape_of(op.operands[0].type), shape_of(op.results[0].type)
    listed = constant_ints(op.input(1))
    if listed is not None and before is not None and len(listed) <= len(before) and set(listed) <= {1}:
        return 0
    return 0 if before is not None and before == after and DYNAMIC not in before else None


def _tile(op: OnnxOp) -> int | None:
    repeats = constant_ints(op.input(1))
    return 0 if repeats is not None and set(repeats) <= {1} else None


def _trilu(op: OnnxOp) -> int | None:
    """0 if no element lies beyond the diagonal: the last one on that side, in the corner, is kept."""
    shape, diagonal = shape_of(op.operands[0].type), diagonal_of(op)
    if shape is None or diagonal is None or DYNAMIC in shape[-2:]:
        return None
    rows, columns = shape[-2:]
    keeps = diagonal <= 1 - rows if op.int_attr("upper", 1) else diagonal >= columns - 1
    return 0 if keeps else None


def _alone(op: OnnxOp) -> int | None:
    """Concat or Sum of one tensor, Split into one."""
    return 0 if len(op.operands) == 1 == len(op.results) else None


def _where(op: OnnxOp) -> int | None:
    """The operand that a condition of one constant value selects, if the others do not repeat it along an axis."""
    condition = constant_array(op.operands[0])
    if condition is None or not condition.size or condition.any() != condition.all():
        return None
    place = 1 if condition.all() else 2
    own = shape_of(op.operands[place].type)
    for other in (0, 3 - place):
        beside = shape_of(op.operands[other].type)
        if own is None or beside is None or len(beside) > len(own):
            return None
        aligned = zip(own[len(own) - len(beside) :], beside, strict=True)
        if any(b != 1 and (b == DYNAMIC or a != b) for a, b in aligned):
            if not _is_computed_from(op.operands[place], op.operands[other]):
                return None
    return place


def _is_computed_from(value: SSAValue, source: SSAValue) -> bool:
    """True if elementwise ops on `source` and single numbers give `value`, so that both have one shape."""
    for _ in range(MAX_FOLLOWED_OPS):
        op = value.owner
        if value is source or not isinstance(op, OnnxOp) or op.get_trait(Elementwise) is None:
            break
        varying = [v for v in op.operands if not (is_constant(v) and static_shape(v) in ((), (1,)))]
        if len(varying) != 1:
            break
        value = varying[0]
    return value is source


def _is_number(value: SSAValue, number: float) -> bool:
    """True if a value is the constant `number`, as () or (1,): runtimes fuse a longer one as a bias or a gain."""
    if static_shape(value) not in ((), (1,)) or not is_constant(value):
        return False
    array = real_constant(value)
    return array is not None and bool((array == number).all())


def _neutral(number: float, places: tuple[int, ...]) -> Copies:
    """The operand beside a constant at one of `places` that is `number`."""

    def place(op: OnnxOp) -> int | None:
        for at in places:
            if rank_of(op.operands[1 - at]) and _is_number(op.operands[at], number):
                return 1 - at
        return None

    return Copies(place)


COPIES: dict[tuple[str, str], Copies] = {
    ("", "Identity"): Copies(),
    ("", "Dropout"): Copies(blocked=training),
    ("", "Reshape"): Copies(_reshape),
    ("", "Flatten"): Copies(_sized),
    ("", "CenterCropPad"): Copies(_sized),
    ("", "Transpose"): Copies(_transpose),
    **{("", name): Copies(_cast) for name in ("Cast", "CastLike", "OptionalGetElement")},
    ("", "Slice"): Copies(_slice),
    ("", "Pad"): Copies(_pad),
    ("", "Expand"): Copies(_expand),
    ("", "Tile"): Copies(_tile),
    ("", "Trilu"): Copies(_trilu),
    ("", "Concat"): Copies(_alone),
    ("", "Split"): Copies(_alone),
    ("", "Sum"): Copies(_alone),
    ("", "Where"): Copies(_where),
    ("", "Add"): _neutral(0, (0, 1)),
    ("", "Sub"): _neutral(0, (1,)),
    ("", "Mul"): _neutral(1, (0, 1)),
    ("", "Div"): _neutral(1, (1,)),
}
