"""
Symbolic shape arithmetic: integer ops evaluated on lists of sizes, element by element, some of them unknown.

An unknown size is a symbol, equal symbols for equal sizes; ops that only move elements propagate it.
"""

from __future__ import annotations

from collections.abc import Callable
from dataclasses import dataclass
from math import prod
from operator import add, mul, sub
from typing import Any, NamedTuple, Protocol

import numpy as np
import numpy.typing as npt
from xdsl.dialects.builtin import i1
from xdsl.ir import OpResult, SSAValue

from qdialect.dialects.onnx_base import OnnxOp
from qdialect.dialects.onnx_tensor import TensorAttr
from qdialect.dialects.onnx_types import element_of
from qdialect.ir.values import rank_of, real_constant, static_shape
from qdialect.numerics.pixels import size_factor
from qdialect.promises.base import Commutes, Promise
from qdialect.promises.layout import slices_of
from qdialect.reasons import Blocked, answer

Array = npt.NDArray[Any]


class Symbol(NamedTuple):
    """An unknown size; symbols of equal keys are equal sizes."""

    key: object


Element = int | Symbol | None
"""An element of a list of sizes; None is an unknown integer, which may be negative."""
Elements = tuple[Element, ...]


class Known(Protocol):
    """Facts about values that the analysis has derived so far."""

    def elements(self, value: SSAValue) -> Elements | None:
        """The elements of a small tensor of integers, in order; None of any other."""
        ...

    def sizes(self, value: SSAValue) -> Elements | None:
        """The shape of a tensor; None if its rank is not known."""
        ...


@dataclass(frozen=True)
class Counts(Promise):
    """The op computes integers from the elements or the shapes of its operands."""

    elements: Callable[[OnnxOp, Known], Elements | None]


@dataclass(frozen=True)
class TakesShape(Promise):
    """An operand lists the sizes of the result."""

    place: int
    keeps: int | None
    """Entry of the list that copies the size of the first operand at the same index; None if none does."""
    infers: bool
    """True if -1 stands for the size that the number of elements implies."""
    says: bool = True
    """True if any other number in the list is a size of the result, not one that it is broadcast to."""


@dataclass(frozen=True)
class TakesSizes(Promise):
    """The last operand lists the sizes of the result; another, in its place, factors of those of the first operand."""

    place: int
    scales: int

    def listed(self, op: OnnxOp) -> SSAValue | None:
        """The operand that lists a size for each axis of the result; None if the op has none, or bounds sizes by it."""
        if (
            op.ints_attr("axes") is not None
            or op.str_attr("keep_aspect_ratio_policy", "stretch") != "stretch"
        ):
            return None
        return op.input(self.place)

    def factors(self, op: OnnxOp, known: Known) -> tuple[float, ...] | None:
        """
        The float32 factors that stand for the sizes that `op` computes; None if there are none.

        Sizes are rounded down: a factor that is not exact may be too small for the size that it comes from.
        """
        sizes, before = self.listed(op), known.sizes(op.operands[0])
        after = None if sizes is None else known.elements(sizes)
        if after is None or before is None or len(after) != len(before):
            return None
        factors: list[float] = []
        for old, new in zip(before, after, strict=True):
            if isinstance(old, int) and isinstance(new, int) and old > 0:
                if (factor := size_factor(old, new)) is None:
                    return None
                factors.append(factor)
            elif isinstance(old, Symbol) and old == new:
                factors.append(1.0)
            else:
                return None
        return tuple(factors)


@dataclass(frozen=True)
class Fills(Promise):
    """All elements of the result are one number."""

    number: Callable[[OnnxOp], float]


MAX_EXAMINED_ELEMENTS = 1 << 20
"""Greatest number of elements of constants that are examined."""


def filled_with(value: SSAValue) -> float | None:
    """The number that all elements of `value` equal, through ops that move elements; None if unknown."""
    while isinstance(value, OpResult) and isinstance(value.op, OnnxOp) and value.op.operands:
        op = value.op
        if (fills := op.get_trait(Fills)) is not None:
            return fills.number(op)
        promise = op.get_trait(Commutes)
        if promise is None or not promise.moves_storage or list(promise.operands(op)) != [0]:
            return None
        value = op.operands[0]
    array = real_constant(value)
    if array is None or not 0 < array.size <= MAX_EXAMINED_ELEMENTS or array.dtype.kind not in "fiu":
        return None
    first = array.reshape(-1)[0]
    return float(first) if (array == first).all() else None


def _shape(op: OnnxOp, known: Known) -> Elements | None:
    sizes = known.sizes(op.operands[0])
    if sizes is None:
        return None
    return sizes[op.int_attr("start", 0) : op.int_attr("end", len(sizes))]


def _size(op: OnnxOp, known: Known) -> Elements | None:
    sizes = known.sizes(op.operands[0]) or (None,)
    numbers = [size for size in sizes if isinstance(size, int)]
    return (prod(numbers),) if len(numbers) == len(sizes) else (None,)


def _same(op: OnnxOp, known: Known) -> Elements | None:
    return known.elements(op.operands[0])


def _cast(op: OnnxOp, known: Known) -> Elements | None:
    elements = known.elements(op.operands[0])
    if elements is None:
        return None
    if element_of(op.results[0].type) == i1:
        return tuple(int(e != 0) if isinstance(e, int) else None for e in elements)
    return tuple(None if isinstance(e, int) and abs(e) >= 1 << 31 else e for e in elements)


def _gather(op: OnnxOp, known: Known) -> Elements | None:
    data, indices = (known.elements(value) for value in op.operands)
    if data is None or indices is None or rank_of(op.operands[0]) != 1:
        return None
    inside = [k if isinstance(k, int) and -len(data) <= k < len(data) else None for k in indices]
    return tuple(None if k is None else data[k] for k in inside)


def _slice(op: OnnxOp, known: Known) -> Elements | None:
    taken = answer(slices_of, op)
    if isinstance(taken, Blocked):
        return None
    return _moved(op, known, lambda at: at[tuple(taken.get(k, slice(None)) for k in range(at.ndim))])


def _transpose(op: OnnxOp, known: Known) -> Elements | None:
    return _moved(op, known, lambda places: places.transpose(op.ints_attr("perm")))


def _moved(op: OnnxOp, known: Known, move: Callable[[Array], Array]) -> Elements | None:
    """The elements of operand 0 where `move` moves the array of their places."""
    data, shape = known.elements(op.operands[0]), static_shape(op.operands[0])
    if data is None or shape is None or len(data) != prod(shape):
        return None
    return tuple(data[place] for place in move(np.arange(len(data)).reshape(shape)).reshape(-1))


def _concat(op: OnnxOp, known: Known) -> Elements | None:
    parts = [known.elements(value) for value in op.operands]
    if any(rank_of(value) != 1 for value in op.operands):
        return None
    return None if None in parts else tuple(e for part in parts for e in part or ())


def _pairs(op: OnnxOp, known: Known) -> list[tuple[Element, Element]] | None:
    """The elements of both operands in pairs, a single element broadcast."""
    a, b = (known.elements(value) for value in op.operands)
    if a is None or b is None or any((rank_of(value) or 0) > 1 for value in op.operands):
        return None
    count = max(len(a), len(b)) if a and b else 0
    if len(a) not in (1, count) or len(b) not in (1, count):
        return None
    return [(a[k % len(a)], b[k % len(b)]) for k in range(count)]


def _quotient(a: int, b: int) -> int | None:
    """a / b rounded towards zero, as ONNX divides integers; None for a division by 0."""
    if not b:
        return None
    quotient = a // b
    return quotient + (quotient < 0 and quotient * b != a)


def _remainder(a: int, b: int) -> int | None:
    return a % b if b else None


def _equal(a: Element, b: Element) -> Element:
    if isinstance(a, Symbol) and a == b:
        return 1
    number = a if isinstance(a, int) else b
    is_size = isinstance(a, Symbol) or isinstance(b, Symbol)
    return 0 if is_size and isinstance(number, int) and number < 0 else None


def _elementwise(
    of: Callable[[int, int], int | None], otherwise: Callable[[Element, Element], Element]
) -> Counts:
    """Counts by `of` where both numbers are known, else by `otherwise`."""

    def elements(op: OnnxOp, known: Known) -> Elements | None:
        pairs = _pairs(op, known)
        return None if pairs is None else tuple(of_both(a, b) for a, b in pairs)

    def of_both(a: Element, b: Element) -> Element:
        return of(a, b) if isinstance(a, int) and isinstance(b, int) else otherwise(a, b)

    return Counts(elements)


def _not(op: OnnxOp, known: Known) -> Elements | None:
    elements = known.elements(op.operands[0])
    return elements and tuple(1 - e if isinstance(e, int) else None for e in elements)


def _where(op: OnnxOp, known: Known) -> Elements | None:
    parts = [known.elements(value) for value in op.operands]
    count = max(len(part or ()) for part in parts)
    if any(part is None or len(part) not in (1, count) for part in parts):
        return None
    if any((rank_of(value) or 0) > 1 for value in op.operands):
        return None
    rows = [[(part or ())[k % len(part or ())] for part in parts] for k in range(count)]
    return tuple((a if c else b) if isinstance(c, int) else (a if a == b else None) for c, a, b in rows)


def _product(op: OnnxOp, known: Known) -> Elements | None:
    elements = known.elements(op.operands[0])
    if elements is None or rank_of(op.operands[0]) != 1 or op.int_attr("noop_with_empty_axes", 0):
        return None
    numbers = [e for e in elements if isinstance(e, int)]
    return (prod(numbers),) if len(numbers) == len(elements) else (None,)


def _number(op: OnnxOp) -> float:
    value = op.properties.get("value")
    return float(value.array().flat[0]) if isinstance(value, TensorAttr) else 0.0


def _filled(op: OnnxOp, known: Known) -> Elements | None:
    shape, value = static_shape(op.results[0]), op.properties.get("value")
    if shape is None or len(shape) > 1 or not isinstance(value, TensorAttr):
        return None
    return (int(value.array().flat[0]),) * prod(shape)


COUNTS: dict[tuple[str, str], Counts] = {
    ("", "Shape"): Counts(_shape),
    ("", "Size"): Counts(_size),
    **{("", name): Counts(_same) for name in ("Identity", "Reshape", "Flatten", "Squeeze", "Unsqueeze")},
    **{("", name): Counts(_cast) for name in ("Cast", "CastLike")},
    ("", "Gather"): Counts(_gather),
    ("", "Slice"): Counts(_slice),
    ("", "Transpose"): Counts(_transpose),
    ("", "Concat"): Counts(_concat),
    ("", "Add"): _elementwise(add, lambda a, b: b if a == 0 else a if b == 0 else None),
    ("", "Sub"): _elementwise(sub, lambda a, b: a if b == 0 else None),
    ("", "Mul"): _elementwise(mul, lambda a, b: 0 if 0 in (a, b) else b if a == 1 else a if b == 1 else None),
    ("", "Div"): _elementwise(_quotient, lambda a, b: a if b == 1 else None),
    ("", "Mod"): _elementwise(_remainder, lambda a, b: 0 if b == 1 else None),
    ("", "Equal"): _elementwise(lambda a, b: int(a == b), _equal),
    ("", "Not"): Counts(_not),
    ("", "Where"): Counts(_where),
    ("", "ReduceProd"): Counts(_product),
    ("", "ConstantOfShape"): Counts(_filled),
}
SHAPES: dict[tuple[str, str], Promise] = {
    ("", "Reshape"): TakesShape(1, keeps=0, infers=True),
    ("", "Expand"): TakesShape(1, keeps=1, infers=False, says=False),
    ("", "ConstantOfShape"): TakesShape(0, keeps=None, infers=False),
    ("", "Resize"): TakesSizes(3, scales=2),
}
FILLED: dict[tuple[str, str], Fills] = {("", "ConstantOfShape"): Fills(_number)}
