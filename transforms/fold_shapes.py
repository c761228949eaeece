"""
Fold shape computations, also with some sizes unknown until run time.

    Shape(x), Size(x)                        ->  constant        where the sizes are known
    Gather(Shape(x), k), Concat(..), a * b   ->  constant        where the selected sizes are known
    Reshape(x, Concat(Shape(x)[0], c, d))    ->  Reshape(x, [0, c, d]), likewise [-1, c, d], [.., 1] of Expand
    Resize(x, _, _, Concat(Shape(x)[0], c))  ->  Resize(x, _, [1, c / size])   if that gives c again

Exact: lists of sizes are evaluated element by element, unknown sizes as symbols, which follow through the ops that keep
them (`qdialect/promises/shapes.py`). Newly inferred shapes are used at once by the ops that follow; a list that then
depends on constants alone is computed where a shape depends on it.
"""

from collections.abc import Sequence
from math import prod

import numpy as np
from xdsl.context import Context
from xdsl.dialects.builtin import ModuleOp, i1, i32, i64
from xdsl.dialects.func import ReturnOp
from xdsl.ir import Block, Operation, SSAValue

from qdialect.dialects.onnx_base import ConstantOp, OnnxOp
from qdialect.dialects.onnx_tensor import from_array
from qdialect.dialects.onnx_types import (
    BY_ATTRIBUTE,
    DYNAMIC,
    element_of,
    known_element,
    known_shape,
    shape_of,
)
from qdialect.exactness import Exactness
from qdialect.ir.names import location, node_name, tensor_name
from qdialect.ir.symbols import size_names
from qdialect.ir.values import constant, constant_array, static_shape
from qdialect.ir.walking import operations
from qdialect.onnx_io.shapes import Cast, infer, is_list, learn_sizes
from qdialect.patterns.computing import Computation
from qdialect.promises.layout import SizesOnly
from qdialect.promises.shapes import Shaped
from qdialect.promises.sizes import Counts, Element, Elements, Symbol, TakesShape, TakesSizes
from qdialect.rewriting.driver import Rewriter, refresh_signatures
from qdialect.rewriting.passes import RewritePass

MOST = 1024
"""Greatest number of elements of lists that are analysed."""
INTEGERS = (i1, i32, i64)


def _is_small(value: SSAValue) -> bool:
    shape = static_shape(value)
    return element_of(value.type) in INTEGERS and shape is not None and prod(shape) <= MOST


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
        if known is not None or not _is_small(value):
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
        if promise is None or len(op.results) != 1 or not _is_small(op.results[0]):
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
        if elements is None or not promise.infers:
            return None
        if not op.int_attr("allowzero", 0):
            kept = (*before, *[None] * len(elements))
            elements = [kept[k] if e == promise.keeps else e for k, e in enumerate(elements)]
        return tuple(e if isinstance(e, int) and e > 0 else DYNAMIC for e in elements)

    @staticmethod
    def _inferred(sizes: list[int | None], elements: Elements) -> tuple[int, ...] | None:
        unknown = [e if isinstance(e, int) and e != 0 else None for e in elements]
        if unknown.count(None) != 1 or -1 in elements:
            return None
        return tuple(-1 if e is None else e for e in unknown)


class _Sweep:
    """One sweep over a module, operands first."""

    def __init__(self, module: ModuleOp, name: str, *, learns: bool):
        self.sizes, self.rewriter, self.learns = Sizes(), Rewriter(module, name), learns
        self._computation = Computation(module)
        self.learnt: set[SSAValue] = set()

    def visit(self, op: OnnxOp) -> None:
        """Infer the op's types if its operands' have changed, and fold the op or its list of sizes."""
        self._learn(op)
        elements = self.sizes.visit(op)
        if elements is not None and all(isinstance(e, int) for e in elements):
            self._replace(op, elements)
            return
        resized = op.get_trait(TakesSizes)
        if resized is not None:
            self._scale(op, resized)
        promise = op.get_trait(TakesShape)
        if promise is None or len(op.operands) <= promise.place:
            return
        if constant(op.operands[promise.place]) is not None:
            return
        listed = self.sizes.listed(op, promise)
        if listed is not None:
            sizes = ConstantOp.of(from_array(np.array(listed, np.int64)))
            self.rewriter.insert_before(op, [sizes])
            self.rewriter.set_operand(op, promise.place, sizes.results[0])
            self.learnt.add(sizes.results[0])
            self._learn(op)
            self.sizes.follow(op)
        elif self.learns and (stated := self.sizes.stated(op, promise)) is not None:
            self.learnt.update(learn_sizes(op, stated))
            self.sizes.follow(op)

    def _scale(self, op: OnnxOp, promise: TakesSizes) -> None:
        """Factors that are constant for sizes that are computed."""
        sizes = op.input(promise.place)
        if sizes is None or constant(sizes) is not None or op.ints_attr("axes") is not None:
            return
        if op.str_attr("keep_aspect_ratio_policy", "stretch") != "stretch":
            return
        factors = promise.factors(op, self.sizes)
        if factors is None:
            return
        scales = ConstantOp.of(from_array(np.array(factors, np.float32)))
        inputs = [*op.inputs[: promise.scales], scales.results[0]]
        new = type(op).build(inputs, [r.type for r in op.results], op.onnx_attributes)
        self.rewriter.replace(op, [scales, new])

    def _learn(self, op: OnnxOp) -> None:
        if not self.learns or all(static_shape(r) is not None for r in op.results):
            return
        lists = [o for o in op.operands if self._computation.is_waiting(o) and is_list(o)]
        self.learnt.update(self._computation.compute(lists))
        if not self.learnt.isdisjoint(op.operands):
            self.learnt.update(infer(op))

    def show(self, op: Operation) -> None:
        """Register an op that stays, whose results may be a list that a later shape depends on."""
        self._computation.show(op)

    def _replace(self, op: OnnxOp, elements: Elements) -> None:
        element, shape = BY_ATTRIBUTE[known_element(op.results[0].type)], known_shape(op.results[0].type)
        new = ConstantOp.of(from_array(np.array(elements, element.dtype).reshape(shape)))
        new.location = location(node_name(op), [tensor_name(op)])
        self.rewriter.replace(op, [new])
        self.learnt.add(new.results[0])
        self.show(new)


class FoldShapesPass(RewritePass):
    name = "fold-shapes"
    exactness = Exactness.EXACT
    rewrite = "Reshape(x, [Shape(x)[0], c]) -> Reshape(x, [0, c]): sizes are followed as symbols"

    def apply(self, ctx: Context, op: ModuleOp) -> None:
        ops: list[Operation] = operations(op)
        if not any(one.get_trait(SizesOnly) is not None for one in ops):
            return
        sweep = _Sweep(op, self.name, learns=not any(isinstance(one, Cast) for one in ops))
        for one in ops:
            if isinstance(one, OnnxOp) and not isinstance(one, ConstantOp) and one.parent is not None:
                sweep.visit(one)
            if one.parent is not None:
                sweep.show(one)
        if sweep.rewriter.rewrites or sweep.learnt:
            refresh_signatures(op)
