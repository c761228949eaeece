"""
Merge consecutive ops that move elements, and drop those without effect.

    Transpose(Transpose(x, p), q)     ->  Transpose(x, p[q]), or x
    Reshape(Unsqueeze(x))             ->  Reshape(x), or x      likewise Squeeze, Flatten, and Transpose that moves
                                                                only axes of size 1
    ReduceMax(f(Transpose(x, p)), a)  ->  ReduceMax(f(x), p[a])      f elementwise, on such operands and numbers
    CenterCropPad(x, n)               ->  Pad(Slice(x, ..), ..)      n and the sizes of x known
    CenterCropPad(x, n) {axes}        ->  CenterCropPad(x, n')       if not
    Pad(x, p, c, axes)                ->  Pad(x, p', c)              axes constant; p' of all axes, from the run if p is
    Resize(x, scales) {axes}          ->  Resize(x, scales')         likewise

Exact: elements are moved, and the greatest of numbers is the same in any order. At most one size of a merged Reshape is
unknown; axes that are not reduced keep their order. Optimizing sessions of onnxruntime refuse a Pad, Resize or
CenterCropPad with `axes` past which they move a Transpose. Copies are dropped, as by `fold-identity`, and casts that
become adjacent or equal are folded, as by `fold-casts`.
"""

from collections.abc import Sequence
from typing import NamedTuple

from xdsl.ir import Attribute, Operation, OpResult, SSAValue

from qdialect.dialects.onnx_attributes import ints_attr
from qdialect.dialects.onnx_base import OnnxOp
from qdialect.dialects.onnx_types import DYNAMIC, known_element, quantized_of, shape_of, tensor_type
from qdialect.exactness import Exactness
from qdialect.forms.nodes import Nodes
from qdialect.ir.build import copied
from qdialect.ir.names import location, node_name
from qdialect.ir.values import constant
from qdialect.patterns.cleanup import cleanups, silent
from qdialect.patterns.copies import FoldCopy
from qdialect.patterns.layout_folding import FoldReshapes, FoldTransposes, SimplifyMove
from qdialect.promises.elementwise import Elementwise
from qdialect.promises.layout import Permutes
from qdialect.promises.monotone import Reduces
from qdialect.reasons import Blocked, answer
from qdialect.rewriting.driver import Pattern, Rewriter
from qdialect.rewriting.matching import OnTrait
from qdialect.rewriting.passes import RewritePass, Role

MAX_FOLLOWED_OPS = 32
"""Greatest number of elementwise ops that are followed."""


class Turned(NamedTuple):
    """Elementwise ops whose operands are transposed by one permutation, or are single numbers."""

    order: tuple[int, ...]
    ops: Sequence[OnnxOp]
    """In order; no other op uses a result of them."""
    sources: dict[SSAValue, SSAValue]
    """By turned operand, the operand of its Transpose."""


class ReduceTransposed(OnTrait[Reduces]):
    """A greatest or least element, along some axes, of elementwise ops on transposed operands."""

    def match(self, op: OnnxOp, promise: Reduces, rewriter: Rewriter, /) -> Blocked | None:
        reduced, turned = answer(promise.axes, op), turned_source(op)
        if isinstance(reduced, Blocked) or turned is None:
            return None
        axes, kept, rank = reduced
        left = [turned.order[axis] for axis in range(rank) if axis not in axes]
        if kept or len(turned.order) != rank or left != sorted(left):
            return Blocked("axes-change-places", "the axes that are not reduced would be permuted")
        nodes, of = Nodes(op), dict(turned.sources)
        for one in turned.ops:
            result = one.results[0]
            new = copied(one, [of.get(v, v) for v in one.operands], [_unturned(result, turned.order)])
            new.location = location(node_name(one))
            of[result] = nodes.append(new)
        along = sorted(turned.order[axis] for axis in axes)
        inputs: list[SSAValue | None] = [of[op.operands[0]]]
        attributes = dict(op.onnx_attributes)
        if op.input(1) is not None:
            inputs.append(nodes.ints(along, "axes"))
        elif "axes" in attributes:
            attributes["axes"] = ints_attr(tuple(along))
        rewriter.replace(op, [*nodes.ops, type(op).build(inputs, op.result_types, attributes)])
        return None


def turned_source(op: OnnxOp) -> Turned | None:
    """What operand 0 of `op` is computed from; None if that is no Transpose, or if another op uses what is between."""
    order: tuple[int, ...] | None = None
    ops: list[OnnxOp] = []
    sources: dict[SSAValue, SSAValue] = {}
    users: set[Operation] = {op}
    pending = [op.operands[0]]
    while pending:
        value = pending.pop()
        source = value.op if isinstance(value, OpResult) else None
        if value in sources or source in users or _is_number(value):
            continue
        if not isinstance(source, OnnxOp) or source.parent is not op.parent:
            return None
        permutes, type = source.get_trait(Permutes), quantized_of(value.type)
        if type is not None and (permutes is None or ops or not type.is_per_tensor):
            return None  # elementwise ops on integers are kernels, scales along an axis move with it
        if permutes is not None:
            turned = permutes.order(source)
            if turned is None or order not in (None, turned):
                return None
            order, sources[value] = turned, source.operands[0]
        elif source.has_trait(Elementwise) and len(ops) < MAX_FOLLOWED_OPS:
            users.add(source)
            ops.append(source)
            pending += source.operands
        else:
            return None
    values = [*sources, *(one.results[0] for one in ops)]
    if order is None or any(use.operation not in users for value in values for use in value.uses):
        return None
    if any(len(shape_of(value.type) or ()) != len(order) for value in values):
        return None
    return Turned(order, _in_order(ops), sources)


def _is_number(value: SSAValue) -> bool:
    """True if `value` is one constant number of rank 0 or 1, the same in every layout."""
    shape = shape_of(value.type)
    return constant(value) is not None and shape in ((), (1,))


def _in_order(ops: Sequence[OnnxOp]) -> list[OnnxOp]:
    """The ops, each behind those that define its operands."""
    left, ordered = list(ops), list[OnnxOp]()
    while left:
        waiting = {one.results[0] for one in left}
        ordered += [one for one in left if waiting.isdisjoint(one.operands)]
        left = [one for one in left if not waiting.isdisjoint(one.operands)]
    return ordered


def _unturned(value: SSAValue, order: tuple[int, ...]) -> Attribute:
    """The type of an elementwise result before the Transpose by `order`."""
    shape = [DYNAMIC] * len(order)
    for axis, size in zip(order, shape_of(value.type) or (), strict=True):
        shape[axis] = size
    return tensor_type(known_element(value.type), tuple(shape))


class FoldLayoutPass(RewritePass):
    name = "fold-layout"
    exactness = Exactness.EXACT
    role = Role.SIMPLIFYING
    reasons = "axes-change-places computed-parameter interpolates invalid-op invalid-parameters unknown-shape"
    rewrite = "Transpose(Transpose(x, p), q) -> Transpose(x, p[q]); CenterCropPad(x) -> Pad(Slice(x))"

    def patterns(self) -> Sequence[Pattern]:
        return [
            FoldTransposes(),
            FoldReshapes(),
            SimplifyMove(),
            ReduceTransposed(),
            *silent([FoldCopy()]),
            *cleanups(),
        ]
