"""Types of values that enter and leave subgraphs: which of them say more, and what follows from one for the others."""

from __future__ import annotations

from collections.abc import Collection, Sequence

from xdsl.dialects.builtin import DYNAMIC_INDEX, TensorType, UnrankedTensorType
from xdsl.ir import Attribute, Block, Region, SSAValue
from xdsl.rewriter import Rewriter as PlainRewriter

from qdialect.dialects.onnx_base import OnnxOp, YieldOp
from qdialect.dialects.onnx_types import (
    ANY,
    DYNAMIC,
    OptionalType,
    SequenceType,
    element_of,
    known_element,
    shape_of,
    tensor_type,
)
from qdialect.promises.control import Carries, Slot, argument, yields


def is_known(value: SSAValue) -> bool:
    return not (isinstance(value.type, UnrankedTensorType) or element_of(value.type) == ANY)


def says_more(type: Attribute, value: SSAValue) -> bool:
    """True if `type` refines the type of `value`: that is unknown, or lacks sizes."""
    return not is_known(value) or is_more(type, value.type)


def is_more(type: Attribute, old: Attribute) -> bool:
    """True if a type refines the other: it has sizes or a rank that the other lacks."""
    if isinstance(old, SequenceType | OptionalType):
        if not isinstance(type, SequenceType | OptionalType) or type.__class__ is not old.__class__:
            return False
        return is_more(type.element, old.element)
    if isinstance(old, UnrankedTensorType):
        return isinstance(type, TensorType) and type.element_type == old.element_type
    if not (isinstance(old, TensorType) and isinstance(type, TensorType)) or old == type:
        return False
    if old.element_type != type.element_type or old.get_num_dims() != type.get_num_dims():
        return False
    pairs = zip(old.get_shape(), type.get_shape(), strict=True)
    return all(a in (b, DYNAMIC_INDEX) for a, b in pairs)


def infer_arguments(block: Block) -> list[SSAValue]:
    """Infer the types of a subgraph's arguments from the op's operands; returns those that became more precise."""
    op = block.parent_op()
    promise = None if op is None else op.get_trait(Carries)
    learnt: list[SSAValue] = []
    if promise is None or not isinstance(op, OnnxOp):
        return learnt
    for slot in promise.slots(op):
        if (inside := argument(op, slot)) is None or slot.operand is None:
            continue
        type = op.operands[slot.operand].type if slot.stacked or promise.keeps_shapes else None
        if slot.stacked and isinstance(type, TensorType):
            sizes = list(type.get_shape())
            if -len(sizes) <= slot.axis < len(sizes):
                del sizes[slot.axis]
            type = tensor_type(type.element_type, tuple(sizes))
        if isinstance(type, TensorType) and says_more(type, inside):
            learnt.append(PlainRewriter.replace_value_with_new_type(inside, type))
    return learnt


def types_outside(op: OnnxOp) -> list[Attribute | None]:
    """Result types that follow from subgraphs: common to all branches; kept or stacked over iterations."""
    types: list[Attribute | None] = [None] * len(op.results)
    promise = op.get_trait(Carries)
    slots = [] if promise is None else promise.slots(op)
    rounds = _rounds(op, slots)
    for slot in slots:
        alternatives = {value.type for _, _, value in yields(op, slot)}
        if slot.operand is not None and (inside := argument(op, slot)) is not None:
            alternatives |= {op.operands[slot.operand].type, inside.type}  # else the shape may change
        if slot.result is None:
            continue
        if promise is not None and promise.branches:
            types[slot.result] = _common(alternatives)
            continue
        if len(alternatives) != 1:
            types[slot.result] = _of_any_shape(alternatives)
            continue
        type = alternatives.pop()
        if not slot.stacked:
            types[slot.result] = type
        elif isinstance(type, TensorType) and rounds is not None:
            types[slot.result] = tensor_type(type.element_type, (rounds, *type.get_shape()))
    return types


def _of_any_shape(types: Collection[Attribute]) -> Attribute | None:
    """The type of a tensor whose shape iterations may change: its elements are those of all; None if they disagree."""
    elements = {element_of(type) for type in types}
    element = elements.pop() if len(elements) == 1 else None
    return None if element is None or element == ANY else UnrankedTensorType(element)


def _common(types: Collection[Attribute]) -> Attribute | None:
    """The type of a tensor that has one of several types: the sizes that are the same in all; None if they disagree."""
    first = next(iter(types), None)
    if len(types) < 2:
        return first
    if not all(isinstance(type, TensorType | UnrankedTensorType) for type in types):
        return None
    elements, shapes = {known_element(type) for type in types}, [shape_of(type) for type in types]
    if len(elements) != 1:
        return None
    ranked = [shape for shape in shapes if shape is not None]
    if len(ranked) < len(shapes) or len({len(shape) for shape in ranked}) != 1:
        return UnrankedTensorType(elements.pop())
    sizes = (column[0] if len(set(column)) == 1 else DYNAMIC for column in zip(*ranked, strict=True))
    return tensor_type(elements.pop(), tuple(sizes))


def yielded_types(op: OnnxOp, region: Region) -> list[Attribute]:
    """
    The types that a subgraph yields, refined by the result types of its op: a session that runs no iteration takes the
    sizes of an empty stack from them.
    """
    end = region.block.last_op
    types: list[Attribute] = [] if end is None else [value.type for value in end.operands]
    promise = op.get_trait(Carries)
    if promise is None:
        return types
    for slot in promise.slots(op):
        if slot.result is None or slot.yielded is None or not (slot.stacked or promise.branches):
            continue  # the shape of a state may change
        result, type = op.results[slot.result].type, types[slot.yielded]
        if slot.stacked:
            shape = shape_of(result) if _stacks_first(op) else None
            result = tensor_type(known_element(result), shape[1:]) if shape else type
        types[slot.yielded] = result if is_more(result, type) else type
    return types


def is_stacked(value: SSAValue) -> bool:
    """True if the one use of a value is to be stacked: the op around the subgraph states its sizes."""
    use = next(iter(value.uses), None)
    if use is None or not value.has_one_use() or not isinstance(use.operation, YieldOp):
        return False
    op = use.operation.parent_op()
    promise = None if op is None else op.get_trait(Carries)
    if not isinstance(op, OnnxOp) or promise is None or not _stacks_first(op):
        return False
    return any(slot.stacked and slot.yielded == use.index for slot in promise.slots(op))


def _stacks_first(op: OnnxOp) -> bool:
    """True if the iterations of a Loop or Scan are along axis 0 of what they read and write."""
    return not any(any(axes or ()) for axes in map(op.ints_attr, ("scan_input_axes", "scan_output_axes")))


def _rounds(op: OnnxOp, slots: Sequence[Slot]) -> int | None:
    """Number of iterations of a Scan from its sliced inputs, DYNAMIC if unknown; None if not sliced along axis 0."""
    if not _stacks_first(op):
        return None
    shapes = [shape_of(op.operands[s.operand].type) for s in slots if s.stacked and s.operand is not None]
    sizes = {shape[0] for shape in shapes if shape} - {DYNAMIC}
    return sizes.pop() if len(sizes) == 1 else DYNAMIC
