"""
The types of all tensors of a model that is read: what its nodes compute, and what the file states of the others.

A graph that was edited after its export, for another batch or size, often states what held before. A session warns of
such a shape and takes the computed one; so does this. Where a node's sizes are open because an input or an element of
a tensor decides them, they stay open, whatever number the file states: that is the size of one run. A statement is
believed of ops that nothing is known of, and of what depends on those.

One op at a time, in this process: the work is linear in the size of the file, up to lists of `MAX_READ_ELEMENTS`.
"""

from __future__ import annotations

from collections.abc import Sequence

import numpy as np
from xdsl.dialects.builtin import (
    ArrayAttr,
    DenseArrayBase,
    DictionaryAttr,
    FunctionType,
    ModuleOp,
    StringAttr,
    TensorType,
    UnrankedTensorType,
    i64,
)
from xdsl.dialects.func import FuncOp, ReturnOp
from xdsl.ir import Attribute, Block, BlockArgument, OpResult, SSAValue
from xdsl.rewriter import Rewriter as PlainRewriter
from xdsl.utils.exceptions import VerifyException

from qdialect.dialects.onnx_attributes import ReferenceAttr
from qdialect.dialects.onnx_base import ConstantOp, CustomOp, FunctionOp, OnnxOp, opset_of
from qdialect.dialects.onnx_tensor import TensorAttr, from_array
from qdialect.dialects.onnx_types import (
    ANY,
    BY_ATTRIBUTE,
    DYNAMIC,
    UNKNOWN,
    known_element,
    shape_of,
    tensor_type,
    with_element,
)
from qdialect.dialects.onnx_verify import Meaningless, verify_at
from qdialect.errors import UserError
from qdialect.ir.insertion import insert_before, remove
from qdialect.ir.names import tensor_names
from qdialect.ir.symbols import STATED, name_sizes
from qdialect.ir.walking import operations
from qdialect.onnx_io.region_types import infer_arguments, is_known, is_more
from qdialect.onnx_io.shapes import doubtful_axes, inferred_types, inside_first, learn_sizes
from qdialect.onnx_io.sizes import Sizes
from qdialect.promises.control import Carries
from qdialect.promises.shapes import LosesSizes
from qdialect.promises.sizes import Symbol, TakesShape, TakesSizes
from qdialect.rewriting.driver import refresh_signatures

TENSORS = (TensorType, UnrankedTensorType)


MAX_CALLED_NODES = 10_000
"""Greatest number of nodes of functions that are visited once for each call; results of further calls are unknown."""
MAX_CALL_DEPTH = 16
"""Greatest depth of calls of functions in functions that are followed."""


def infer_types(module: ModuleOp) -> None:
    """Give all values of a module that was just read their types; stated types are those of its results."""
    calls = _Calls(module)
    for func in module.ops:
        if isinstance(func, FuncOp):
            _infer_graph(func, calls)
    refresh_signatures(module)  # outputs have the names of their sizes


def _infer_graph(func: FuncOp, calls: _Calls) -> None:
    end = func.body.block.last_op
    if not isinstance(end, ReturnOp):
        return
    stated = [value.type for value in end.operands]
    sweep = _Sweep(func, calls, is_one_run=_states_one_run(func))
    sweep.run()
    arguments = [argument.type for argument in func.body.block.args]
    func.function_type = FunctionType.from_lists(arguments, list(end.operand_types))
    sweep.keep_statements(func, end, stated)


def _called(op: OnnxOp) -> tuple[str, ...]:
    """What says which function is called, of the function and of the call."""
    values = (op.properties.get(name) for name in ("domain", "op_type", "overload"))
    return tuple(value.data if isinstance(value, StringAttr) else "" for value in values)


class _Calls:
    """Types of the results of calls of the model's own functions, whose bodies state none."""

    def __init__(self, module: ModuleOp):
        functions = (op for op in module.ops if isinstance(op, FunctionOp))
        self._functions = {_called(op): op for op in functions}
        self._known: dict[object, list[Attribute]] = {}
        self._left, self._depth = MAX_CALLED_NODES, 0

    def types(self, op: OnnxOp) -> list[Attribute] | None:
        """The types of the results of a call; None for another op, and for one call too many."""
        function = self._functions.get(_called(op)) if self._functions else None
        if function is None or not isinstance(op, CustomOp):
            return None
        types = tuple(None if value is None else value.type for value in op.inputs)
        key = (function, types, op.properties.get("attrs"))
        if key not in self._known:
            count = len(operations(function))
            if count > self._left or self._depth >= MAX_CALL_DEPTH:
                return None
            self._left -= count
            self._depth += 1
            self._known[key] = self._inferred(function, op)
            self._depth -= 1
        inferred = self._known[key]
        return [t for t, v in zip(inferred, op.outputs, strict=False) if v is not None]

    def _inferred(self, function: FunctionOp, call: OnnxOp) -> list[Attribute]:
        body = function.clone()
        block = body.regions[0].block
        for argument, value in zip(list(block.args), call.inputs, strict=False):
            if value is not None and value.type != argument.type:
                PlainRewriter.replace_value_with_new_type(argument, value.type)
        defaults = function.properties.get("attribute_defaults")
        stated = dict(defaults.data) if isinstance(defaults, DictionaryAttr) else {}
        stated.update(call.onnx_attributes)
        for inner in operations(body):
            for name, value in list(inner.properties.items()):
                if isinstance(value, ReferenceAttr) and not isinstance(inner, CustomOp):
                    inner.properties.pop(name)
                    if (own := stated.get(value.attribute.data)) is not None:
                        inner.properties[name] = own
        _Sweep(body, self, is_one_run=False).run()
        end = block.last_op
        types = [] if end is None else [value.type for value in end.operands]
        body.erase()
        return types


class _Sweep:
    """One sweep over a graph or the body of a function, operands first."""

    def __init__(self, root: FuncOp | FunctionOp, calls: _Calls, *, is_one_run: bool):
        self._root, self._calls = root, calls
        self._sizes = Sizes()
        self._unranked: set[SSAValue] = set()
        """Values whose rank only a run tells."""
        self._lists: dict[SSAValue, TensorAttr] = {}
        self._numbers = not is_one_run

    def run(self) -> None:
        """Visit each op."""
        for one in list(inside_first(self._root)):
            if isinstance(one, Block):
                infer_arguments(one)
            elif isinstance(one, OnnxOp) and not isinstance(one, ConstantOp) and one.results:
                self._visit(one)

    def _visit(self, op: OnnxOp) -> None:
        stated = [result.type for result in op.results]
        takes = op.get_trait(TakesShape)
        listed = None
        if takes is not None and takes.place < len(op.operands):
            _retyped(
                op.results[0], UnrankedTensorType(known_element(stated[0]))
            )  # its list decides its sizes
            listed = self._sizes.listed(op, takes)
            if listed is not None:
                self._lists[op.operands[takes.place]] = from_array(np.array(listed, np.int64))
        called = self._calls.types(op)
        types, names = inferred_types(op, self._list) if called is None else (called, [])
        if listed is not None and takes is not None:
            del self._lists[op.operands[takes.place]]
        is_run_time = self._is_run_time(op, types) and not doubtful_axes(op)
        for k, computed in enumerate(types):
            self._settle(op.results[k], computed, stated[k], names[k] if k < len(names) else (), is_run_time)
        if takes is not None and listed is None and takes.place < len(op.operands):
            self._learn(op, takes)
        if (resizes := op.get_trait(TakesSizes)) is not None and (sizes := resizes.listed(op)) is not None:
            elements = self._sizes.elements(sizes) or ()
            learn_sizes(op, [e if isinstance(e, int) and e >= 0 else DYNAMIC for e in elements])
        if op.SCHEMA is not None and not isinstance(op, CustomOp):
            op = _verified(op)
        self._sizes.visit(op)

    def _learn(self, op: OnnxOp, takes: TakesShape) -> None:
        """The sizes that a partly known list says."""
        said = self._sizes.stated(op, takes)
        if said is not None:
            learn_sizes(op, said)
            self._unranked.discard(op.results[0])

    def _list(self, value: SSAValue) -> TensorAttr | None:
        """The elements of a list that is computed from sizes, if all are known."""
        if value in self._lists:
            return self._lists[value]
        shape, elements = shape_of(value.type), self._sizes.elements(value)
        if elements is None or shape is None or not all(isinstance(e, int) for e in elements):
            return None
        dtype = BY_ATTRIBUTE[known_element(value.type)].dtype
        return from_array(np.array(elements, dtype).reshape(shape))

    def _is_run_time(self, op: OnnxOp, types: Sequence[Attribute | None]) -> bool:
        """True if what is not inferred of the op's results follows from nothing but a run, for all that is known."""
        if op.domain or isinstance(op, CustomOp) or op.get_trait(LosesSizes) is not None or None in types:
            return False
        promise = op.get_trait(Carries)
        if op.regions and (promise is None or not promise.branches):
            return False
        return all(_has_rank(operand) or operand in self._unranked for operand in op.operands)

    def _settle(
        self,
        result: OpResult,
        computed: Attribute | None,
        stated: Attribute,
        names: Sequence[str],
        is_run_time: bool,
    ) -> None:
        """Give a result its computed type, with what is stated where nothing is computed."""
        type = _joined(computed, stated, None if is_run_time else self._numbers)
        if type != result.type:
            result = _retyped(result, type)
        if names and len(names) == len(shape_of(result.type) or ()):
            name_sizes(result, names)
        if is_run_time and not _has_rank(result):
            self._unranked.add(result)

    def keep_statements(self, func: FuncOp, end: ReturnOp, stated: Sequence[Attribute]) -> None:
        """Note what the file states of its outputs where the nodes leave sizes open, for when it is written."""
        if func.res_attrs is None:
            return
        rows = [dict(row.data) for row in func.res_attrs]
        for row, value, type in zip(rows, end.operands, stated, strict=False):
            if (sizes := self._said(value, type)) is not None:
                row[STATED] = DenseArrayBase.from_list(i64, sizes)
        func.res_attrs = ArrayAttr([DictionaryAttr(row) for row in rows])

    def _said(self, value: SSAValue, stated: Attribute) -> list[int] | None:
        shape, said = shape_of(value.type), shape_of(stated)
        if said is None or value.type == stated:
            return None
        if shape is None:
            return list(said)
        if len(shape) != len(said) or any(
            a != b and DYNAMIC not in (a, b) for a, b in zip(shape, said, strict=True)
        ):
            return None
        followed = self._sizes.sizes(value) or ()
        free = [a == DYNAMIC and not _is_of_input(e) for a, e in zip(shape, followed, strict=True)]
        sizes = [b if is_free else DYNAMIC for b, is_free in zip(said, free, strict=True)]
        return sizes if any(size != DYNAMIC for size in sizes) else None


def _verified(op: OnnxOp) -> OnnxOp:
    """
    The op, or `onnx.Custom` in its place if no opset has it on operands of these types: onnxruntime accepts some.
    Raises UserError if it means nothing in any opset.
    """
    try:
        verify_at(op, opset_of(op, op.domain))
    except Meaningless as error:
        raise UserError(f"{op.op_type} with outputs {tensor_names(op)}: {error}") from error
    except VerifyException:
        return _as_custom(op)
    return op


def _as_custom(op: OnnxOp) -> OnnxOp:
    properties: dict[str, Attribute] = {"domain": StringAttr(op.domain), "op_type": StringAttr(op.op_type)}
    if op.onnx_attributes:
        properties["attrs"] = DictionaryAttr(op.onnx_attributes)
    if op.regions:
        properties["region_names"] = ArrayAttr([StringAttr(name) for name in op.region_names])
    regions = [op.detach_region(region) for region in list(op.regions)]
    types = [None if value is None else value.type for value in op.outputs]
    custom = CustomOp.build(op.inputs, types, properties, regions)
    custom.attributes, custom.location = op.attributes, op.location
    insert_before(op, custom)
    for old, new in zip(op.results, custom.results, strict=True):
        old.replace_all_uses_with(new)
    remove(op)
    return custom


def _has_rank(value: SSAValue) -> bool:
    """True for a tensor of known rank, and for what is no tensor."""
    return is_known(value) or isinstance(value.type, TensorType)


def _is_of_input(size: object) -> bool:
    """True for the symbol of an open size of an input, in all runs the same as another's."""
    if not isinstance(size, Symbol):
        return False
    return isinstance(size.key, str) or (
        isinstance(size.key, tuple) and isinstance(size.key[0], BlockArgument)
    )


def _retyped(result: OpResult, type: Attribute) -> OpResult:
    op, place = result.op, result.index
    PlainRewriter.replace_value_with_new_type(result, type)
    return op.results[place]


def _joined(computed: Attribute | None, stated: Attribute, numbers: bool | None) -> Attribute:
    """
    The type of a value of which one type is computed and another stated. numbers: whether stated sizes are believed
    where none is computed; None: nor is a rank.
    """
    if computed is None:
        return stated if numbers or not isinstance(stated, TensorType) else _with_sizes(stated, None, numbers)
    if not (isinstance(computed, TENSORS) and isinstance(stated, TENSORS)):  # a sequence or an optional value
        return computed if stated == UNKNOWN or is_more(computed, stated) else stated
    element = known_element(computed)
    element = known_element(stated) if element == ANY else element
    return _with_sizes(with_element(stated, element), shape_of(computed), numbers)


def _with_sizes(stated: Attribute, shape: Sequence[int] | None, numbers: bool | None) -> Attribute:
    """The stated type with the computed `shape`, and stated sizes where that is open, if they are believed."""
    element, said = known_element(stated), shape_of(stated)
    if shape is None:
        if numbers is None or said is None:
            return UnrankedTensorType(element)
        shape = (DYNAMIC,) * len(said)
    if numbers and said is not None and len(said) == len(shape):
        shape = [b if a == DYNAMIC else a for a, b in zip(shape, said, strict=True)]
    return tensor_type(element, tuple(shape))


def _states_one_run(func: FuncOp) -> bool:
    """
    True if the file states a number for each size of each tensor although inputs have open sizes: then these numbers
    are those of one run. A model that was exported with open inputs states some of them open.
    """
    if all(DYNAMIC not in (shape_of(argument.type) or (DYNAMIC,)) for argument in func.body.block.args):
        return False
    nodes = (op for op in operations(func) if isinstance(op, OnnxOp) and not isinstance(op, ConstantOp))
    shapes = [shape for op in nodes for result in op.results if (shape := shape_of(result.type)) is not None]
    return all(DYNAMIC not in shape for shape in shapes)
