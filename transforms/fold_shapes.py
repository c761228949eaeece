"""
Fold shape computations, also with some sizes unknown until run time.

    Shape(x), Size(x)                        ->  constant        where the sizes are known
    Gather(Shape(x), k), Concat(..), a * b   ->  constant        where the selected sizes are known
    Reshape(x, Concat(Shape(x)[0], c, d))    ->  Reshape(x, [0, c, d]), likewise [-1, c, d], [.., 1] of Expand
    Resize(x, _, _, Concat(Shape(x)[0], c))  ->  Resize(x, _, [1, c / size])   if that gives c again
    DequantizeLinear(q, 0, z)                ->  Expand(0, Shape(q))

Exact: lists of sizes are evaluated element by element, unknown sizes as symbols, which follow through the ops that keep
them (`qdialect/promises/shapes.py`). Newly inferred shapes are used at once by the ops that follow; a list that then
depends on constants alone is computed where a shape depends on it.
"""

import numpy as np
from xdsl.context import Context
from xdsl.dialects.builtin import ModuleOp
from xdsl.ir import Operation, SSAValue

from qdialect.dialects.onnx_base import ConstantOp, OnnxOp
from qdialect.dialects.onnx_tensor import from_array
from qdialect.dialects.onnx_types import (
    BY_ATTRIBUTE,
    known_element,
    known_shape,
)
from qdialect.exactness import Exactness
from qdialect.ir.names import location, node_name, tensor_name
from qdialect.ir.values import constant, static_shape
from qdialect.ir.walking import operations
from qdialect.onnx_io.shapes import Cast, infer, is_list, learn_sizes
from qdialect.onnx_io.sizes import Sizes
from qdialect.patterns.constant_folding import Computation
from qdialect.patterns.odd_scales import ZeroOfAnyIntegers
from qdialect.promises.casts import DequantizeForm
from qdialect.promises.sizes import Elements, TakesShape, TakesSizes
from qdialect.promises.typed import SizesOnly
from qdialect.rewriting.driver import Rewriter, apply_patterns, refresh_signatures
from qdialect.rewriting.passes import RewritePass, Role


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
        sizes = promise.listed(op)
        if sizes is None or constant(sizes) is not None:
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
    role = Role.SIMPLIFYING
    rewrite = "Reshape(x, [Shape(x)[0], c]) -> Reshape(x, [0, c]): sizes are followed as symbols"

    def apply(self, ctx: Context, op: ModuleOp) -> None:
        ops: list[Operation] = operations(op)
        if any(one.get_trait(DequantizeForm) is not None for one in ops):
            if apply_patterns(op, self.name, [ZeroOfAnyIntegers()]):
                ops = operations(op)
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
