"""Sizes as numbers or symbols: the elements of lists of sizes, and the shapes of tensors, op by op."""

from __future__ import annotations

from collections.abc import Sequence
from math import prod

from xdsl.dialects.builtin import ModuleOp, i1, i32, i64
from xdsl.dialects.func import ReturnOp
from xdsl.ir import Block, SSAValue

from qdialect.dialects.onnx_base import ConstantOp, OnnxOp
from qdialect.dialects.onnx_types import DYNAMIC, element_of, shape_of
from qdialect.ir.symbols import size_names
from qdialect.ir.values import constant_array, static_shape
from qdialect.ir.walking import operations
from qdialect.promises.shapes import Shaped
from qdialect.promises.sizes import Counts, Element, Elements, Symbol, TakesShape

MAX_LIST_ELEMENTS = 1024
"""Greatest number of elements of lists that are analysed."""
INTEGERS = (i1, i32, i64)


def is_small(value: SSAValue) -> bool:
    shape = static_shape(value)
    return element_of(value.type) in INTEGERS and shape is not None and prod(shape) <= MAX_LIST_ELEMENTS


def _is_only_stated(value: SSAValue) -> bool:
    """
    True if the sizes of a result of the model may be those of one run: the model states them, and has inputs of open
    sizes. onnxruntime warns of a result of another shape, and gives it.
    """
    if not any(isinstance(use.operation, ReturnOp) for use in value.uses):
        return False
    block = value.owner if isinstance(value.owner, Block) else value.owner.parent
    return block is not None and any(DYNAMIC in (shape_of(a.type) or (DYNAMIC,)) for a in block.args)


class Sizes:
    """The elements of lists of sizes, derived op by op in the order of the module."""

    def __init__(self) -> None:
        self._elements: dict[SSAValue, Elements] = {}
        self._sizes: dict[SSAValue, Sequence[Element]] = {}

    def sizes(self, value: SSAValue) -> Elements | None:
        """The shape of a tensor, with symbols for unknown sizes; None if the rank is unknown."""
        shape = shape_of(value.type)
        if shape is None:
            return None
        names, followed = size_names(value), self._sizes.get(value, (None,) * len(shape))
        sizes: list[Element] = []
        for k, size in enumerate(shape):
            name = names[k] if k < len(names) else ""
            symbol = Symbol(name) if name else followed[k]
            sizes.append(size if size != DYNAMIC else Symbol((value, k)) if symbol is None else symbol)
        return tuple(sizes)

    def elements(self, value: SSAValue) -> Elements | None:
        """The elements of a small tensor of integers, flat; None for other values."""
        known = self._elements.get(value)
        if known is not None or not is_small(value):
            return known
        array = constant_array(value)
        if array is None:
            return (None,) * prod(static_shape(value) or ())
        self._elements[value] = elements = tuple(int(v) for v in array.reshape(-1))
        return elements

    def visit(self, op: OnnxOp) -> Elements | None:
        """Derive the sizes and the elements of the op's result; its operands must have been visited."""
        self.follow(op)
        promise = op.get_trait(Counts)
        if promise is None or len(op.results) != 1 or not is_small(op.results[0]):
            return None
        elements = promise.elements(op, self)
        if elements is None or len(elements) != prod(static_shape(op.results[0]) or ()):
            return None
        self._elements[op.results[0]] = elements
        return elements

    def follow(self, op: OnnxOp) -> None:
        """Derive the sizes of the op's first result, which may be a new value since its type was inferred."""
        promise = op.get_trait(Shaped)
        shape = shape_of(op.results[0].type) if promise is not None and op.results else None
        if promise is None or shape is None or DYNAMIC not in shape:
            return
        sizes = promise.sizes(op, self)
        if sizes is not None and len(sizes) == len(shape):
            self._sizes[op.results[0]] = sizes

    def listed(self, op: OnnxOp, promise: TakesShape) -> tuple[int, ...] | None:
        """
        The constant list equivalent to the computed shape operand of `op`; None if there is none.

        At most one size is -1, and only beside non-zero sizes: otherwise it could not be inferred.
        """
        elements, before = self.elements(op.operands[promise.place]), self.sizes(op.operands[0])
        zeros = bool(op.int_attr("allowzero", 0))
        if elements is None or (zeros and 0 in elements):
            return None
        after = self.sizes(op.results[0]) or ()
        if len(after) != len(elements) or _is_only_stated(op.results[0]):
            after = (None,) * len(elements)
        sizes: list[int | None] = []
        for k, element in enumerate(elements):
            is_kept = isinstance(element, Symbol) and before is not None and before[k : k + 1] == (element,)
            if is_kept and not zeros:
                sizes.append(promise.keeps)
            elif isinstance(element, int) and element != -1:
                sizes.append(element)
            else:
                size = after[k] if isinstance(after[k], int) else element
                sizes.append(size if isinstance(size, int) else None)
        if None not in sizes:
            return tuple(size for size in sizes if size is not None)
        return self._inferred(sizes, elements) if promise.infers else None

    def stated(self, op: OnnxOp, promise: TakesShape) -> tuple[int, ...] | None:
        """The sizes of the result that the computed shape operand of `op` says; None if it says no rank."""
        elements, before = self.elements(op.operands[promise.place]), shape_of(op.operands[0].type) or ()
        if elements is None or not promise.says:
            return None
        if promise.keeps is not None and not op.int_attr("allowzero", 0):
            kept = (*before, *[None] * len(elements))
            elements = [kept[k] if e == promise.keeps else e for k, e in enumerate(elements)]
        return tuple(e if isinstance(e, int) and e > 0 else DYNAMIC for e in elements)

    @staticmethod
    def _inferred(sizes: list[int | None], elements: Elements) -> tuple[int, ...] | None:
        unknown = [e if isinstance(e, int) and e != 0 else None for e in elements]
        if unknown.count(None) != 1 or -1 in elements:
            return None
        return tuple(-1 if e is None else e for e in unknown)


def sizes_of(module: ModuleOp) -> Sizes:
    """The sizes of all tensors of a module, as far as they follow from those of its inputs."""
    sizes = Sizes()
    for op in operations(module):
        if isinstance(op, OnnxOp) and not isinstance(op, ConstantOp):
            sizes.visit(op)
    return sizes
