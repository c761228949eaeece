"""`LinalgSite`, the builder of linalg forms: `linalg.generic` with a body, reshapes, pads, slices."""

from __future__ import annotations

from collections.abc import Callable, Sequence
from dataclasses import dataclass
from math import prod
from typing import Any, ClassVar, NamedTuple, cast

import numpy as np
import numpy.typing as npt
from xdsl.dialects import arith, tensor
from xdsl.dialects.builtin import (
    AffineMapAttr,
    AnyFloat,
    ArrayAttr,
    DenseArrayBase,
    DenseIntOrFPElementsAttr,
    FloatAttr,
    IndexType,
    IntegerAttr,
    IntegerType,
    f32,
    i1,
    i64,
)
from xdsl.dialects.linalg.attrs import IteratorType, IteratorTypeAttr
from xdsl.dialects.linalg.ops import GenericOp, YieldOp
from xdsl.ir import Attribute, Block, Operation, Region, SSAValue
from xdsl.ir.affine import AffineExpr, AffineMap

from qdialect.dialects.onnx_types import known_element, known_shape, tensor_type
from qdialect.ir.values import real_constant
from qdialect.upstream.site import Site, UpstreamForm, dense

Axes = Sequence[AffineExpr]
"""Indexing map of an operand: an affine expression of the loop indices for each of its axes."""


@dataclass(frozen=True)
class LinalgForm(UpstreamForm):
    """The form of an op in linalg."""


class Body:
    """Builder of the body of a `linalg.generic`."""

    def __init__(self) -> None:
        self.ops: list[Operation] = []

    def do(self, op: Operation) -> SSAValue:
        """Append an operation; its first result."""
        self.ops.append(op)
        return op.results[0]

    def give(self, value: SSAValue) -> None:
        """End the body: yield `value`."""
        self.ops.append(YieldOp(value))

    def number(self, value: float, type: Attribute) -> SSAValue:
        """A constant of an integer or float type."""
        whole = isinstance(type, IntegerType | IndexType)
        attribute: Any = IntegerAttr(int(value), type) if whole else FloatAttr(value, cast("AnyFloat", type))
        return self.do(arith.ConstantOp(attribute))


Compute = Callable[[Body, Sequence[SSAValue]], SSAValue]
"""Builds the element of the result from those of the operands and, last, the accumulator."""


class Operand(NamedTuple):
    """An operand of a generic op: a tensor and its indexing map."""

    value: SSAValue
    axes: Axes


def by_op(kind: type[Operation]) -> Compute:
    """The element that operation `kind` computes from those of the operands."""
    return lambda body, args: body.do(kind(*args[:-1]))


def loop(place: int) -> AffineExpr:
    """The index of loop `place`."""
    return AffineExpr.dimension(place)


def loops(count: int, first: int = 0) -> list[AffineExpr]:
    """Indices of `count` consecutive loops from `first` on."""
    return [loop(k) for k in range(first, first + count)]


class LinalgSite(Site):
    """Builder of one operation's lowering to linalg."""

    DIALECT: ClassVar[str] = "linalg"

    def dense_constant(self, array: npt.NDArray[Any]) -> SSAValue:
        if array.dtype != np.bool_:
            return self.emit(arith.ConstantOp(dense(array)))
        bytes_ = self.emit(arith.ConstantOp(dense(array.astype(np.int8))))
        return self.each([bytes_], i1, lambda body, args: body.do(arith.TruncIOp(args[0], i1)))

    def real(self, value: SSAValue) -> npt.NDArray[np.float32] | None:
        """The real values of a constant, or of a value that is lowered to one, such as a dequantized constant."""
        if (known := real_constant(value)) is not None:
            return np.asarray(known, np.float32)
        lowered = self._values.lowered.get(value)
        maker = None if lowered is None or lowered.last else lowered.value.owner
        held = maker.value if isinstance(maker, arith.ConstantOp) else None
        if not isinstance(held, DenseIntOrFPElementsAttr) or held.get_element_type() != f32:
            return None
        return np.frombuffer(held.data.data, np.float32).reshape(held.get_shape())

    def empty(self, shape: Sequence[int], element: Attribute) -> SSAValue:
        """A `tensor.empty`."""
        return self.emit(tensor.EmptyOp([], tensor_type(element, tuple(shape))))

    def generic(
        self,
        operands: Sequence[Operand],
        shape: Sequence[int],
        element: Attribute,
        compute: Compute,
        *,
        over: int = 0,
        init: SSAValue | None = None,
        axes: Axes | None = None,
    ) -> SSAValue:
        """
        A `linalg.generic` with a result of `shape`.

        over: number of reduction loops, after those of the result's axes; `init` is the initial value.
        axes: indexing map of the result, by default the first loops, in order.
        """
        count = len(shape) + over
        out = loops(len(shape)) if axes is None else list(axes)
        target = self.empty(shape, element) if init is None else init
        block = Block(arg_types=[known_element(o.value.type) for o in operands] + [element])
        body = Body()
        body.give(compute(body, block.args))
        block.add_ops(body.ops)
        maps = [AffineMapAttr(AffineMap(count, 0, tuple(o.axes))) for o in operands]
        maps.append(AffineMapAttr(AffineMap(count, 0, tuple(out))))
        reduced = [k for k in range(count) if loop(k) not in out]
        kinds = [IteratorType.REDUCTION if k in reduced else IteratorType.PARALLEL for k in range(count)]
        return self.emit(
            GenericOp(
                [o.value for o in operands],
                [target],
                Region(block),
                maps,
                ArrayAttr([IteratorTypeAttr(kind) for kind in kinds]),
                [tensor_type(element, tuple(shape))],
            )
        )

    def each(self, values: Sequence[SSAValue], element: Attribute, compute: Compute) -> SSAValue:
        """Elementwise `compute` on tensors of one shape."""
        shape = known_shape(values[0].type)
        return self.generic([Operand(v, loops(len(shape))) for v in values], shape, element, compute)

    def filled(self, shape: Sequence[int], element: Attribute, value: float) -> SSAValue:
        """A tensor of equal elements, of `value`."""
        return self.generic([], shape, element, lambda body, args: body.number(value, element))

    def spread(self, value: SSAValue, shape: Sequence[int]) -> SSAValue:
        """A tensor broadcast to `shape`."""
        return self._copied(self.broadcast(value, shape), shape)

    def _copied(self, operand: Operand, shape: Sequence[int]) -> SSAValue:
        """A tensor of `shape` whose elements are those of an operand, unchanged."""
        return self.generic([operand], shape, known_element(operand.value.type), lambda body, args: args[0])

    def broadcast(self, value: SSAValue, shape: Sequence[int], *, last: bool = False) -> Operand:
        """
        A tensor as an operand that is broadcast to `shape`: its axes of size 1 are removed. last: the result has its
        channels last, though `shape` is in ONNX's order.
        """
        own = known_shape(value.type)
        first = len(shape) - len(own)
        kept = [k for k, size in enumerate(own) if size == shape[first + k]]
        if len(kept) < len(own):
            value = self.reshape(value, [own[k] for k in kept])
        return Operand(value, [loop(self.axis(first + k, last=last)) for k in kept])

    def transposed(self, value: SSAValue, order: Sequence[int]) -> SSAValue:
        shape = known_shape(value.type)
        axes = [loop(tuple(order).index(k)) for k in range(len(shape))]
        return self._copied(Operand(value, axes), [shape[axis] for axis in order])

    def reshape(self, value: SSAValue, shape: Sequence[int]) -> SSAValue:
        old, new = known_shape(value.type), tuple(shape)
        if old == new:
            return value
        if not old or not new:  # xDSL rejects an empty reassociation
            return self._copied(Operand(value, [AffineExpr.constant(0)] * len(old)), new)
        groups = _groups(old, new)
        middle = tuple(prod(old[k] for k in first) for first, _ in groups)
        if middle != old:
            value = self._regrouped(tensor.CollapseShapeOp, value, middle, [first for first, _ in groups])
        if middle == new:
            return value
        sizes = DenseArrayBase.from_list(i64, new)
        behind = [second for _, second in groups]
        return self._regrouped(tensor.ExpandShapeOp, value, new, behind, static_output_shape=sizes)

    def _regrouped(
        self,
        kind: type[Operation],
        value: SSAValue,
        shape: tuple[int, ...],
        groups: Sequence[Sequence[int]],
        **sizes: Attribute,
    ) -> SSAValue:
        """Each of `groups` of axes collapsed into one, or expanded from one."""
        listed = ArrayAttr([ArrayAttr([IntegerAttr(k, i64) for k in group]) for group in groups])
        type = tensor_type(known_element(value.type), shape)
        properties = {"reassociation": listed, **sizes}
        return self.emit(kind.create(operands=[value], result_types=[type], properties=properties))

    def padded(self, value: SSAValue, pads: Sequence[tuple[int, int]], filling: float) -> SSAValue:
        """A tensor padded with `filling`. pads: (before, after) of each axis."""
        if not any(map(any, pads)):
            return value
        shape, element = known_shape(value.type), known_element(value.type)
        block = Block(arg_types=[IndexType()] * len(shape))
        body = Body()
        end = tensor.YieldOp(body.number(filling, element))
        block.add_ops([*body.ops, end])
        low, high = [low for low, _ in pads], [high for _, high in pads]
        new = [size + sum(pad) for size, pad in zip(shape, pads, strict=True)]
        type: Any = tensor_type(element, tuple(new))
        return self.emit(tensor.PadOp(value, [], [], Region(block), low, high, type))

    def cut(
        self,
        value: SSAValue,
        starts: Sequence[int],
        sizes: Sequence[int],
        strides: Sequence[int] | None = None,
    ) -> SSAValue:
        """A slice of every `strides`-th element: `tensor.extract_slice`."""
        strides = strides or [1] * len(sizes)
        if tuple(sizes) == known_shape(value.type):
            return value
        return self.emit(tensor.ExtractSliceOp.from_static_parameters(value, starts, sizes, strides))

    def put(
        self, value: SSAValue, into: SSAValue, offsets: Sequence[int], strides: Sequence[int]
    ) -> SSAValue:
        """`into` with `value` inserted: `tensor.insert_slice`."""
        return self.emit(
            tensor.InsertSliceOp.from_static_parameters(
                value, into, offsets, known_shape(value.type), strides
            )
        )


def _groups(old: Sequence[int], new: Sequence[int]) -> list[tuple[list[int], list[int]]]:
    """The finest groups of adjacent axes of two shapes with equal numbers of elements, for a reassociation."""
    if 0 in old:
        return [([*range(len(old))], [*range(len(new))])]
    groups: list[tuple[list[int], list[int]]] = []
    i = j = 0
    while i < len(old) and j < len(new):
        first, second, left, right = [i], [j], old[i], new[j]
        i, j = i + 1, j + 1
        while left != right:
            if left < right:
                left, first, i = left * old[i], [*first, i], i + 1
            else:
                right, second, j = right * new[j], [*second, j], j + 1
        groups.append((first, second))
    if groups:  # trailing axes of size 1 remain
        groups[-1][0].extend(range(i, len(old)))
        groups[-1][1].extend(range(j, len(new)))
    return groups
