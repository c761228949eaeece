"""
Inference of unknown types and sizes of values from the operations that define them.

One op at a time, by onnx's own inference of a node, where it has one. A QOperator node has the shape of the op that it
computes and the element type of its zero point; other ops of com.microsoft the types of the ops that they stand for.
The iterations of a Loop may change a shape; if operand, argument and yielded value agree, they do not.
"""

from __future__ import annotations

from collections.abc import Callable, Iterator, Mapping, Sequence
from collections.abc import Set as AbstractSet
from math import prod
from typing import TYPE_CHECKING, Any

from xdsl.dialects.builtin import DYNAMIC_INDEX, Float32Type, TensorType, UnrankedTensorType, i1, i32, i64
from xdsl.ir import Attribute, Block, Operation, OpResult, SSAValue
from xdsl.rewriter import Rewriter as PlainRewriter

from qdialect.dialects.onnx_base import ConstantOp, CustomOp, OnnxOp, onnx_opset
from qdialect.dialects.onnx_tensor import MAX_RANK, TensorAttr
from qdialect.dialects.onnx_types import (
    ANY,
    DYNAMIC,
    element_of,
    expressed_of,
    known_element,
    quantized_of,
    shape_of,
    tensor_type,
    with_element,
)
from qdialect.dialects.quant import DequantizeOp, QuantizeOp, StorageCastOp, UniformType
from qdialect.forms.contrib_ops import StandsFor
from qdialect.forms.table import form_of
from qdialect.ir.symbols import name_sizes, size_names
from qdialect.ir.values import constant, static_shape
from qdialect.onnx_io.export_attributes import write_attribute, write_raw, write_type
from qdialect.onnx_io.import_attributes import symbols, value_type
from qdialect.onnx_io.import_scopes import INVENTED
from qdialect.onnx_io.inference_fixes import drop_empty_axes, infer_node, later_opset
from qdialect.onnx_io.region_types import infer_arguments, is_known, is_stacked, says_more, types_outside
from qdialect.ops.generated import op_named
from qdialect.promises.casts import DequantizeForm, QuantizeForm
from qdialect.promises.elementwise import Elementwise
from qdialect.promises.fake_quantize import FakeQuantizes
from qdialect.promises.qoperator import QOperator, read_attributes, reading, result_element
from qdialect.promises.shapes import Doubtful, HiddenStates, KeepsType
from qdialect.promises.weight_only import Columns
from qdialect.reasons import Blocked, answer
from qdialect.rewriting.driver import Rewriter

if TYPE_CHECKING:
    from onnx import TensorProto, TypeProto

CASTS_OPSET = 21
"""The opset whose casts are inferred in place of com.microsoft's: they take 16 bits."""
Cast = QuantizeOp | DequantizeOp | StorageCastOp
MAX_READ_ELEMENTS = 1024
"""Greatest number of elements of constants that inference reads as shapes, axes or repeats."""

Lists = Callable[[SSAValue], "TensorAttr | None"]
"""The value of an operand that is no constant, but whose elements are known: a list of sizes that is computed."""
Typed = tuple["list[Attribute | None]", list[tuple[str, ...]]]
"""Types of results, None where inference fails, and the names of their symbolic sizes."""


def is_complete(op: Operation) -> bool:
    """True if the types of all results are known, with all sizes."""
    return all(static_shape(result) is not None and is_known(result) for result in op.results)


def is_typed(op: Operation) -> bool:
    """True if the element types and ranks of all results are known."""
    return all(map(is_known, op.results))


def is_list(value: SSAValue) -> bool:
    """True if a value is a short list of integers, which may be a shape, axes or repeats."""
    shape = static_shape(value)
    if shape is None or len(shape) > 1 or prod(shape) > MAX_READ_ELEMENTS:
        return False
    return element_of(value.type) in (i32, i64)


def has_size_of_operand(op: Operation) -> bool:
    """
    True if an operand says a size that is unknown in the result, to which it is broadcast: a constant with a number for
    each channel, which a pass wrote where scales alone said how many there are.
    """
    if op.get_trait(Elementwise) is None:
        return False
    known = [(shape_of(operand.type) or ())[::-1] for operand in op.operands]
    sizes = (shape_of(op.results[0].type) or ())[::-1]
    return any(
        size == DYNAMIC and any(shape[k : k + 1] > (1,) for shape in known) for k, size in enumerate(sizes)
    )


def is_left_open(op: Operation) -> bool:
    """True if a node of another domain, which onnx's inference leaves out, has operands of known sizes."""
    return (
        isinstance(op, OnnxOp) and bool(op.domain) and all(static_shape(o) is not None for o in op.operands)
    )


def reads_list(op: Operation) -> bool:
    """
    True if an op takes a constant list, which may have been an input that a caller could set, or have been computed,
    when the sizes of the op were inferred.
    """
    return any(is_list(operand) and constant(operand) is not None for operand in op.operands)


def fits(value: SSAValue, op: OnnxOp, *, retyped: bool = False) -> bool:
    """
    True if `value` can replace the op's first result: equal types, except for sizes unknown in `value`. retyped: True
    if a cast of `value` replaces it, to the element type of the result.
    """
    known, result = value.type, op.results[0].type
    if known == result:
        return True
    if not isinstance(result, TensorType) or (not retyped and element_of(known) != element_of(result)):
        return False
    block = value.owner if isinstance(value.owner, Block) else value.owner.parent
    stated = isinstance(value.owner, OnnxOp | QuantizeOp) or is_stacked(op.results[0])
    if not retyped and block is op.parent and not stated:
        return False  # a graph that yields it would state a less precise result
    if isinstance(known, UnrankedTensorType):
        return True
    if not isinstance(known, TensorType) or known.get_num_dims() != result.get_num_dims():
        return False
    return all(a in (b, DYNAMIC_INDEX) for a, b in zip(known.get_shape(), result.get_shape(), strict=True))


def _maker(value: SSAValue) -> SSAValue:
    """The value below any casts."""
    while isinstance(value, OpResult) and isinstance(value.op, Cast):
        value = value.op.operands[0]
    return value


def _can_learn(value: SSAValue, op: OnnxOp) -> bool:
    """True if the result type of `op` may be set on `value`: an op in the same block defines it."""
    maker = _maker(value).owner
    return isinstance(maker, OnnxOp) and maker.parent is op.parent


def fitted(value: SSAValue, op: OnnxOp, rewriter: Rewriter) -> SSAValue:
    """`value`, with the sizes of the op's first result, which it replaces; not those of a branch, which may not run."""
    result = op.results[0].type
    if value.type == result:
        return value
    if not _can_learn(value, op) or is_stacked(op.results[0]):
        _resize_casts(op.results[0], value.type, rewriter)
        return value
    place = op.operands.index(value)
    _resize(_maker(value), result, rewriter)
    return op.operands[place]


def _resize(value: SSAValue, like: Attribute, rewriter: Rewriter) -> None:
    """Give `value`, and the results of casts of it, the sizes of type `like`."""
    _resize_casts(rewriter.retype(value, with_element(like, known_element(value.type))), like, rewriter)


def _resize_casts(value: SSAValue, like: Attribute, rewriter: Rewriter) -> None:
    """Give the results of casts of `value` the sizes of type `like`: a cast preserves the shape."""
    for use in list(value.uses):
        if isinstance(use.operation, Cast):
            _resize(use.operation.results[0], like, rewriter)


def inside_first(op: Operation) -> Iterator[Operation | Block]:
    """All operations in `op` in post-order: subgraphs before their op, `op` last. Each block comes before its ops."""
    for region in op.regions:
        for block in region.blocks:
            yield block
            for inner in block.ops:
                yield from inside_first(inner)
    yield op


def infer_unknown(module: Operation, newer: AbstractSet[Operation] = frozenset()) -> None:
    """
    Infer all unknown result types, in the order of the ops, and the sizes that follow from them. newer: ops of another
    form than that whose sizes were inferred.
    """
    learnt: set[SSAValue] = set()
    for op in list(inside_first(module)):
        if isinstance(op, Block):
            learnt.update(infer_arguments(op))
            continue
        if is_typed(op) and (is_complete(op) or (op not in newer and learnt.isdisjoint(op.operands))):
            continue
        learnt.update(infer(op))


def infer(op: Operation) -> list[SSAValue]:
    """Infer the types of an op's results from its operands; returns the results whose types became more precise."""
    before = [result.type for result in op.results]
    _set(op.results, *inferred_types(op))
    return [r for r, type in zip(op.results, before, strict=True) if r.type != type]


def inferred_types(op: Operation, lists: Lists | None = None) -> Typed:
    """
    The types of an op's results, and the names of their sizes, that follow from its operands; None where none does.

    lists: the elements of an operand that computes a list of sizes.
    """
    if isinstance(op, Cast):
        element = element_of(op.results[0].type)
        return [None if element is None else with_element(op.operands[0].type, element)], [()]
    if op.get_trait(FakeQuantizes) is not None or op.get_trait(KeepsType) is not None:
        return [op.operands[0].type], [_named_sizes(op.operands[0])]
    if isinstance(op, CustomOp) and (op.get_trait(QuantizeForm) or op.get_trait(DequantizeForm)):
        return [_cast_result(op)], [_named_sizes(op.operands[0])]
    if isinstance(op, OnnxOp) and op.SCHEMA is not None:
        return _of_schema(op, lists)
    return [None] * len(op.results), [()] * len(op.results)


def learn_sizes(op: OnnxOp, shape: Sequence[int]) -> list[SSAValue]:
    """Give the op's first result the sizes of `shape` that are known; returns it if its type became more precise."""
    result = op.results[0]
    if (element := element_of(result.type)) is None:
        return []
    known = shape_of(result.type) or (DYNAMIC,) * len(shape)
    if len(known) != len(shape):
        return []
    sizes = [old if old != DYNAMIC else new for old, new in zip(known, shape, strict=True)]
    before = result.type
    _set([result], [tensor_type(element, tuple(sizes))])
    return [op.results[0]] if op.results[0].type != before else []


def _cast_result(op: CustomOp) -> Attribute | None:
    """The type of a cast's result: a quantize gives elements of its zero point's type, a dequantize of its scale's."""
    like = op.input(1 if op.get_trait(QuantizeForm) is None else 2)
    element = None if like is None else element_of(like.type)
    return None if element is None else with_element(op.operands[0].type, element)


def _of_schema(op: OnnxOp, lists: Lists | None) -> Typed:
    """The types of the results of an op whose schema is known."""
    unnamed: list[tuple[str, ...]] = [()] * len(op.results)
    if op.get_trait(QOperator) is not None and (computed := _computed_types(op)) is not None:
        return computed
    shape = shape_of(op.operands[0].type) if (columns := op.get_trait(Columns)) is not None else None
    if op.regions:
        return types_outside(op), unnamed
    if columns is not None and shape:
        count = op.int_attr(columns.attribute, DYNAMIC)
        return [tensor_type(known_element(op.operands[0].type), (*shape[:-1], count))], unnamed
    if (states := op.get_trait(HiddenStates)) is not None and (shapes := states.shapes(op)) is not None:
        element, kept = known_element(op.operands[0].type), zip(op.outputs, shapes, strict=False)
        return [tensor_type(element, one) for result, one in kept if result is not None], unnamed
    if not op.domain or op.get_trait(QuantizeForm) or op.get_trait(DequantizeForm):
        types, names = infer_results(op, op.outputs, opset=CASTS_OPSET if op.domain else 0, lists=lists)
        axes = doubtful_axes(op)
        return [_opened(type, axes) for type in types] if axes else types, names
    types, names = _of_parts(op)
    return [t or s for t, s in zip(types, _stated(op), strict=True)], names or unnamed


def doubtful_axes(op: Operation) -> Sequence[int]:
    """The axes of an op's results whose inferred sizes are not those that runtimes compute."""
    promise = op.get_trait(Doubtful)
    return () if promise is None or not isinstance(op, OnnxOp) else promise.axes(op)


def _opened(type: Attribute | None, axes: Sequence[int]) -> Attribute | None:
    shape = None if type is None else shape_of(type)
    if type is None or shape is None:
        return type
    sizes = tuple(DYNAMIC if axis in axes else size for axis, size in enumerate(shape))
    return tensor_type(known_element(type), sizes)


def _computed_types(op: OnnxOp) -> Typed | None:
    """The types of a QOperator node, from the op that it computes; None if it is none with these attributes."""
    known, opset = reading(op), onnx_opset(op)
    attributes = known if isinstance(known, Blocked) else read_attributes(op, known, opset)
    if isinstance(known, Blocked) or isinstance(attributes, Blocked):
        return None
    draft = op_named("", known.name).build(known.operands, [op.results[0].type], attributes)
    real = {o: with_element(o.type, Float32Type()) for o in _carriers(known)}
    types, names = infer_results(draft, op.outputs, real, opset)
    draft.erase()
    element = result_element(op, known)
    return [None if t is None or element is None else with_element(t, element) for t in types], names


def _stated(op: OnnxOp) -> list[Attribute | None]:
    """Element types of results that the schema ties to an operand's type variable; None for others."""
    version = op.SCHEMA.versions[-1] if op.SCHEMA is not None else None
    types: list[Attribute | None] = []
    for k, result in enumerate(op.outputs):
        if result is None:
            continue
        row = version.outputs[k] if version is not None and k < len(version.outputs) else None
        rows = zip(version.inputs, op.inputs, strict=False) if version is not None else ()
        same = (
            v for r, v in rows if v is not None and row is not None and r.type_variable == row.type_variable
        )
        element = next((e for v in same if (e := element_of(v.type)) not in (None, ANY)), None)
        types.append(None if element is None else UnrankedTensorType(element))
    return types


def _of_parts(op: OnnxOp) -> Typed:
    """Types, and names of sizes, of the results of the ops that an op stands for; None if it stands for none."""
    form = form_of(type(op), StandsFor)
    parts = None if form is None else answer(form.parts, op)
    if parts is None or isinstance(parts, Blocked) or len(parts[-1].results) != len(op.results):
        return [None] * len(op.results), []
    for part in parts:
        if not isinstance(part, ConstantOp):
            infer(part)
    types: list[Attribute | None] = [result.type for result in parts[-1].results]
    names = [size_names(result) for result in parts[-1].results]
    for part in reversed(parts):
        part.erase()
    return types, names


def _carriers(value: Any) -> Sequence[SSAValue]:
    """The operands of a QOperator node that its op takes as floats: all except a condition."""
    values = [v for (_, part), v in value.cells.items() if part == "v" and v is not None]
    return [v for v in values if element_of(v.type) != i1]


def _named_sizes(value: SSAValue) -> tuple[str, ...]:
    return size_names(_maker(value))


def _set(
    results: Sequence[OpResult], types: Sequence[Attribute | None], names: Sequence[tuple[str, ...]] = ()
) -> None:
    for result, type, row in zip(list(results), types, names or [()] * len(types), strict=True):
        if type is not None and (own := quantized_of(result.type)) is not None:
            type = (
                with_element(type, own) if _suits(own, type) else None
            )  # inference knows the op that it computes
        elif type is not None and element_of(type) == ANY and (stated := element_of(result.type)) is not None:
            type = with_element(type, stated)
        if type is not None and (says_more(type, result) or _has_other_rank(type, result)):
            result = PlainRewriter.replace_value_with_new_type(result, type)
        if row and isinstance(result, OpResult) and len(row) == len(shape_of(result.type) or ()):
            name_sizes(result, row)


def _has_other_rank(type: Attribute, value: SSAValue) -> bool:
    """True if the inferred rank is not that of the value, which a model states of a result that onnx cannot infer."""
    shape, stated = shape_of(type), shape_of(value.type)
    return shape is not None and stated is not None and len(shape) != len(stated)


def _suits(element: UniformType, type: Attribute) -> bool:
    """True if a tensor of the shape of `type` may have element `element`: the number of scales fits its axis."""
    shape = shape_of(type)
    if element.is_per_tensor or shape is None:
        return element.is_per_tensor
    return element.axis is not None and shape[element.axis] in (DYNAMIC, len(element.scales))


def _proto(type: Attribute, names: Sequence[str]) -> TypeProto:
    from onnx import TypeProto

    proto = TypeProto()
    element = expressed_of(type)
    real = type if element is None or quantized_of(type) is None else with_element(type, element)
    write_type(real, names, proto)
    return proto


def infer_results(
    op: OnnxOp,
    outputs: Sequence[SSAValue | None],
    real: Mapping[SSAValue, Attribute] | None = None,
    opset: int = 0,
    lists: Lists | None = None,
) -> Typed:
    """What inference knows of the present results; `real` overrides operand types, `lists` says computed lists."""
    from onnx import NodeProto, TensorProto

    opset = opset or onnx_opset(op)
    names = {v: f"i{k}" for k, v in enumerate(op.operands)}
    node = NodeProto(op_type=op.op_type)
    node.input.extend("" if v is None else names[v] for v in op.inputs)
    node.output.extend("" if v is None else f"o{k}" for k, v in enumerate(outputs))
    kinds = op.SCHEMA.attribute_kinds if op.SCHEMA else {}
    for name, value in op.onnx_attributes.items():
        write_attribute(name, value, kinds.get(name), node.attribute.add())
    types = {name: _proto((real or {}).get(v, v.type), size_names(v)) for v, name in names.items()}
    constants: dict[str, TensorProto] = {}
    for value, name in names.items():
        tensor = constant(value)
        if tensor is None and lists is not None:
            tensor = lists(value)
        if tensor is not None and value not in (real or {}) and tensor.data.count <= MAX_READ_ELEMENTS:
            write_raw(tensor.data, constants.setdefault(name, TensorProto()))
    present = [f"o{k}" for k, v in enumerate(outputs) if v is not None]
    try:
        drop_empty_axes(node, constants)
        inferred = infer_node(node, types, constants, later_opset(node, opset) or opset)
    except Exception:  # inference fails on operands of unknown types
        return [None] * len(present), [()] * len(present)
    protos = [inferred.get(name) for name in present]
    protos = [p if p is None or len(p.tensor_type.shape.dim) <= MAX_RANK else None for p in protos]
    typed = [None if one is None else value_type(one) for one in protos]
    return typed, [() if one is None else _names(one) for one in protos]


def _names(proto: TypeProto) -> tuple[str, ...]:
    """The names of a type's open sizes, without those that an exporter's inference invented for an input."""
    names = ["" if name.startswith(INVENTED) else name for name in symbols(proto)]
    return tuple(names) if any(names) else ()
