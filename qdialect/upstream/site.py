"""
`Site`, the base of builders in upstream MLIR: signless integer and float tensors, static shapes, two layouts.

A tensor of rank 4 may have its channels last, (N, H, W, C), where ONNX has (N, C, H, W): the form of an op chooses
the layout, and a transpose is built where two forms disagree. So no transposes are built between forms that agree, and
ONNX's own transposes between the two layouts build nothing.
"""

from __future__ import annotations

from abc import ABC, abstractmethod
from collections.abc import Callable, Sequence
from dataclasses import dataclass, field
from typing import Any, ClassVar, NamedTuple

import numpy as np
import numpy.typing as npt
from xdsl.dialects.builtin import BytesAttr, DenseIntOrFPElementsAttr, IntegerType, TensorType
from xdsl.ir import Attribute, Operation, SSAValue

from qdialect.dialects.onnx_base import OnnxOp
from qdialect.dialects.onnx_types import (
    BY_ATTRIBUTE,
    BY_NUMPY,
    DYNAMIC,
    element_of,
    known_shape,
    quantized_of,
    shape_of,
    stored_type,
    tensor_type,
)
from qdialect.dialects.quant import UniformType
from qdialect.forms.base import Form
from qdialect.forms.geometry import TO_FIRST, TO_LAST
from qdialect.ir.values import constant, normal_axis
from qdialect.reasons import ACTIVATION_PER_AXIS, Blocked

MAX_MERGED_ELEMENTS = 64
"""Greatest number of elements of constants that are merged if equal."""
DYNAMIC_SHAPE = Blocked(
    "open-size", "a size is not known", "state it: --batch N, or --sizes NAME=N for others"
)
ELEMENT_TYPE = Blocked("expressed-type", "upstream MLIR has no tensors of this element type")
OTHER_TYPE = Blocked("other-type", "the quantized types of result and operand differ", "requantize it")
COMPARED_TYPE = Blocked(
    "other-type", "the quantized types of result and compared operand differ", "requantize it"
)
STATISTICS_USED = Blocked("training-mode", "the mean or the deviation is used")

_KINDS = {"float32": "f32", "float64": "f64", "float16": "f16"}
_INTEGERS = frozenset("bool int2 int4 int8 int16 int32 int64 uint4 uint8 uint16 uint32 uint64".split())


def upstream_element(element: Attribute) -> Attribute | None:
    """The upstream element type of an ONNX element type: integers signless, 8 bits at least; None if there is none."""
    known = BY_ATTRIBUTE.get(element)
    if known is None or (known.numpy not in _KINDS and known.numpy not in _INTEGERS):
        return None
    if known.numpy in _KINDS or known.numpy == "bool":
        return element
    return IntegerType(max(known.bits, 8))


def upstream_type(type: Attribute) -> TensorType[Attribute] | Blocked:
    """The upstream tensor type of a value, quantized ones as stored; or `Blocked`."""
    shape, stored = shape_of(type), element_of(stored_type(type))
    element = None if stored is None else upstream_element(stored)
    if element is None:
        return ELEMENT_TYPE
    return DYNAMIC_SHAPE if shape is None or DYNAMIC in shape else tensor_type(element, shape)


def dense(array: npt.NDArray[Any]) -> DenseIntOrFPElementsAttr[Any]:
    """An array as a dense attribute with the same bytes, integers signless. Not for bool: upstream packs it."""
    element = upstream_element(BY_NUMPY[array.dtype.name].attribute)
    type: Any = tensor_type(element or BY_NUMPY[array.dtype.name].attribute, array.shape)
    return DenseIntOrFPElementsAttr(type, BytesAttr(np.ascontiguousarray(array).tobytes()))


class Lowered(NamedTuple):
    """The upstream tensor of a value, and its layout."""

    value: SSAValue
    last: bool = False
    """True if channels are last, False for ONNX's order of axes."""


@dataclass
class Values:
    """The lowered values of a function, so far."""

    lowered: dict[SSAValue, Lowered] = field(default_factory=dict[SSAValue, Lowered])
    moved: dict[tuple[SSAValue, bool], SSAValue] = field(
        default_factory=dict[tuple[SSAValue, bool], SSAValue]
    )
    """Transposed tensors and constants, by value and layout (True: channels last)."""
    constants: dict[tuple[bytes, str, tuple[int, ...]], SSAValue] = field(
        default_factory=dict[tuple[bytes, str, tuple[int, ...]], SSAValue]
    )


class Site(ABC):
    """Builder of one operation's lowering: its operands as upstream tensors, the new operations, its results."""

    DIALECT: ClassVar[str]
    """Name of the dialect in remarks."""

    def __init__(self, op: Operation, values: Values):
        self.op, self._values = op, values
        self.ops: list[Operation] = []
        self.results: dict[SSAValue, Lowered] = {}
        self._new = Values()

    @abstractmethod
    def dense_constant(self, array: npt.NDArray[Any]) -> SSAValue:
        """A constant of the dialect."""

    @abstractmethod
    def transposed(self, value: SSAValue, order: Sequence[int]) -> SSAValue:
        """`value` with axis `order[k]` as its axis k."""

    @abstractmethod
    def reshape(self, value: SSAValue, shape: Sequence[int]) -> SSAValue:
        """`value` reshaped, elements in the same order."""

    @abstractmethod
    def cut(self, value: SSAValue, starts: Sequence[int], sizes: Sequence[int]) -> SSAValue:
        """A slice of `sizes` elements along each axis, starting at `starts`; `value` itself if that is all of it."""

    def emit(self, op: Operation) -> SSAValue:
        """Append an operation; its first result."""
        self.ops.append(op)
        return op.results[0]

    def constant(self, array: npt.ArrayLike, dtype: npt.DTypeLike | None = None) -> SSAValue:
        """A constant; equal small ones are merged."""
        values = np.asarray(array, dtype)
        if values.size > MAX_MERGED_ELEMENTS:
            return self.dense_constant(values)
        key = (values.tobytes(), values.dtype.name, values.shape)
        known = self._values.constants.get(key) or self._new.constants.get(key)
        if known is None:
            known = self._new.constants[key] = self.dense_constant(values)
        return known

    def transpose(self, value: SSAValue, order: Sequence[int]) -> SSAValue:
        """`value` with axis `order[k]` as its axis k; a reshape if the order of elements is unchanged."""
        shape = known_shape(value.type)
        if tuple(order) == tuple(range(len(order))):
            return value
        moved = [axis for axis in order if shape[axis] != 1]
        if moved == sorted(moved):
            return self.reshape(value, [shape[axis] for axis in order])
        return self.transposed(value, order)

    def is_last(self, value: SSAValue) -> bool:
        """True if a value's tensor has its channels last."""
        known = self._values.lowered.get(value)
        return known is not None and known.last

    def operand(self, value: SSAValue, *, last: bool = False) -> SSAValue:
        """A value's tensor in ONNX's layout, or, if of rank 4 and `last`, with channels last."""
        known = self._values.lowered.get(value)
        source = value if known is None else known.value
        if known is not None and known.last == last:
            return source
        key = (source, last)
        moved = self._values.moved.get(key) or self._new.moved.get(key)
        if moved is None:
            moved = self._new.moved[key] = self._moved(value, known, last)
        return moved

    def _moved(self, value: SSAValue, known: Lowered | None, last: bool) -> SSAValue:
        if known is not None:
            return self.transpose(known.value, TO_LAST if last else TO_FIRST)
        tensor = constant(value)
        if tensor is None:
            raise ValueError("an operand is lowered before its users")
        array = tensor.array()
        if array.dtype.name not in BY_NUMPY or BY_NUMPY[array.dtype.name].bits < 8:
            array = array.astype(np.int8)
        return self.constant(np.ascontiguousarray(array.transpose(TO_LAST)) if last else array)

    def in_own_layout(self, value: SSAValue) -> tuple[SSAValue, bool]:
        """A value's tensor in the layout that it has; True if channels are last."""
        last = self.is_last(value)
        return self.operand(value, last=last), last

    def alike(self, *values: SSAValue) -> tuple[list[SSAValue], bool]:
        """Tensors of several values in the same layout, that of most computed ones; True if channels are last."""
        full = [v for v in values if len(known_shape(v.type)) == len(TO_LAST)]
        computed = [v for v in full if constant(v) is None]
        last = len(full) == len(values) and 2 * sum(map(self.is_last, computed)) > len(computed)
        return [self.operand(v, last=last) for v in values], last

    def axis(self, axis: int, *, last: bool) -> int:
        """Index of ONNX's axis `axis` in a tensor of the layout."""
        return TO_LAST.index(axis) if last else axis

    def shape(self, value: SSAValue, *, last: bool = False) -> tuple[int, ...]:
        """The shape of a value's tensor in the layout."""
        shape = known_shape(value.type)
        return tuple(shape[axis] for axis in TO_LAST) if last else shape

    def give(self, result: SSAValue, value: SSAValue, *, last: bool = False) -> None:
        """Set the tensor of a result of the operation."""
        self.results[result] = Lowered(value, last)

    def commit(self) -> None:
        """Record that the operations built have been inserted into the function."""
        self._values.moved |= self._new.moved
        self._values.constants |= self._new.constants


def per_tensor(value: SSAValue) -> UniformType | Blocked | None:
    """The quantized type of a value, None if it is not quantized; `Blocked` unless per tensor."""
    type = quantized_of(value.type)
    if type is not None and not type.is_per_tensor:
        return ACTIVATION_PER_AXIS
    return type


def permuted(op: OnnxOp, site: Site) -> None:
    """A Transpose; one between the layouts is the operand in the other layout."""
    value = op.operands[0]
    order = op.ints_attr("perm") or tuple(reversed(range(len(known_shape(value.type)))))
    if site.is_last(value) and order == TO_LAST:
        site.give(op.results[0], site.operand(value, last=True))
    elif not site.is_last(value) and order == TO_FIRST:
        site.give(op.results[0], site.operand(value), last=True)
    else:
        site.give(op.results[0], site.transpose(site.operand(value), order))


def split(op: OnnxOp, site: Site) -> None:
    """A Split: slices, one behind the other."""
    (x, last), shape = site.in_own_layout(op.operands[0]), known_shape(op.operands[0].type)
    axis, start = normal_axis(op.int_attr("axis", 0), len(shape)), 0
    for result in op.results:
        starts = [0] * len(shape)
        starts[site.axis(axis, last=last)] = start
        site.give(result, site.cut(x, starts, site.shape(result, last=last)), last=last)
        start += known_shape(result.type)[axis]


def in_blocks(op: OnnxOp, site: Site) -> None:
    """A DepthToSpace or SpaceToDepth: ONNX's operators.md, as Reshape, Transpose, Reshape."""
    (n, c, h, w), b = known_shape(op.operands[0].type), op.int_attr("blocksize", 1)
    if op.op_type == "SpaceToDepth":
        parts, order = (n, c, h // b, b, w // b, b), (0, 3, 5, 1, 2, 4)
    elif op.str_attr("mode", "DCR") == "DCR":
        parts, order = (n, b, b, c // (b * b), h, w), (0, 3, 4, 1, 5, 2)
    else:
        parts, order = (n, c // (b * b), b, b, h, w), (0, 1, 4, 2, 5, 3)
    turned = site.transpose(site.reshape(site.operand(op.operands[0]), parts), order)
    site.give(op.results[0], site.reshape(turned, site.shape(op.results[0])))


def kept(op: Operation, site: Site) -> None:
    """The operand's tensor as it lies."""
    tensor, last = site.in_own_layout(op.operands[0])
    site.give(op.results[0], tensor, last=last)


Build = Callable[[Any, Any], Blocked | None]


@dataclass(frozen=True)
class UpstreamForm(Form):
    """The form of an op in a dialect of upstream MLIR. `build(op, site)`: guards, then operations, then `site.give`."""

    build: Build
    guard: Callable[[Any], Blocked | None] = lambda op: None
    """The reason why an op has no such form; None if `build` may be asked."""
