"""
Compute what depends on constants alone.

    qcast(constant)           ->  quantized constant
    op(constant, constant..)  ->  constant

Exact: a quantize is `numerics.quantize`, every other op is run by onnxruntime without optimization. A dequantize of a
constant stays: folding it would undo the quantization. So does what would grow: a result of more bytes than
`MAX_GROWTH` times the operands and more than `SMALL_RESULT`.
"""

from collections.abc import Sequence
from dataclasses import dataclass
from math import prod
from typing import ClassVar

from xdsl.context import Context
from xdsl.dialects.builtin import ModuleOp
from xdsl.ir import Operation, OpResult, SSAValue
from xdsl.traits import Pure

from qdialect.dialects.onnx_base import ConstantOp, OnnxOp
from qdialect.dialects.onnx_tensor import TensorAttr, from_array
from qdialect.dialects.onnx_types import BY_ATTRIBUTE, quantized_of, storage_element, tensor_type
from qdialect.dialects.quant import QuantizeOp, StorageCastOp, UniformType
from qdialect.errors import UserError
from qdialect.ir.names import called, location, node_name, tensor_name
from qdialect.ir.values import constant, static_shape
from qdialect.ir.walking import operations
from qdialect.onnx_io.external import tensor_bytes
from qdialect.onnx_io.shapes import learn_sizes
from qdialect.oracle.session import evaluate
from qdialect.promises.base import Commutes
from qdialect.promises.casts import DequantizeForm, QuantizeForm, quantize_type
from qdialect.reasons import Blocked
from qdialect.rewriting.driver import Pattern, Rewriter, refresh_signatures
from qdialect.rewriting.passes import Exactness, RewritePass
from qdialect.rewriting.remarks import remarks_of

MAX_GROWTH = 2
SMALL_RESULT = 1 << 16
"""Bytes."""
SMALL_MODEL = 1 << 26
"""Bytes that all results may take together, besides `MAX_GROWTH` times the model's constants."""
LONGEST_LIST = 1 << 16
"""Elements."""


TOGETHER = Blocked("results-grow", "what constants give would take too much memory, all together")


class QuantizeConstant(Pattern):
    """A quantize of a float constant."""

    def accepts(self, op_class: type[Operation]) -> bool:
        return op_class is QuantizeOp

    def rewrite(self, op: Operation, rewriter: Rewriter) -> Blocked | None:
        assert isinstance(op, QuantizeOp)
        tensor = constant(op.operands[0])
        if tensor is None:
            return None
        rewriter.replace(op, [ConstantOp.of(_quantize(tensor, op.element_type), op.results[0].type)])
        return None


def _quantize(tensor: TensorAttr, type: UniformType) -> TensorAttr:
    """The integers that stand for a constant of floats."""
    dtype = BY_ATTRIBUTE[storage_element(type)].dtype
    return from_array(type.quantize(tensor.array()).astype(dtype, copy=False))


class ReadConstant(Pattern):
    """A storage cast of a constant: the same bytes under another type."""

    def accepts(self, op_class: type[Operation]) -> bool:
        return op_class is StorageCastOp

    def rewrite(self, op: Operation, rewriter: Rewriter) -> Blocked | None:
        source = op.operands[0]
        tensor = constant(source)
        if tensor is None or static_shape(op.results[0]) is None:
            return None
        new = ConstantOp.of(tensor, op.results[0].type)
        assert isinstance(source, OpResult)
        new.location = location("", [tensor_name(source.op) or tensor_name(op)])
        rewriter.replace(op, [new])
        return None


def _bytes(value: SSAValue) -> int | None:
    shape = static_shape(value)
    if shape is None:
        return None
    type = quantized_of(value.type)
    element = BY_ATTRIBUTE.get(storage_element(type) if type else value.type.element_type)  # pyright: ignore
    return None if element is None else prod(shape) * max(element.bits, 8) // 8


def _foldable(op: Operation, known: set[SSAValue]) -> bool | Blocked:
    """Whether an op can be computed from `known` values alone."""
    if not isinstance(op, OnnxOp) or isinstance(op, ConstantOp) or op.SCHEMA is None:
        return False
    if not op.operands or op.regions or any(o not in known for o in op.operands):
        return False
    if not op.has_trait(Pure) or op.get_trait(DequantizeForm):
        return False
    promise = op.get_trait(Commutes)
    if any(quantized_of(v.type) for v in (*op.operands, *op.results)) and not (
        promise and promise.moves_storage
    ):
        return False
    sizes = [_bytes(r) for r in op.results]
    if any(s is None for s in sizes):
        return Blocked("result-size", "the size of the result is not known, so it is not computed in advance")
    limit = max(SMALL_RESULT, MAX_GROWTH * sum(_bytes(o) or 0 for o in op.operands))
    if sum(s or 0 for s in sizes) > limit:
        return Blocked("result-grows", f"the result would take more than {limit} bytes")
    return True


def _long_list(op: OnnxOp) -> bool:
    """
    Whether an op computes a long list from what is computed itself. onnxruntime takes every list for a shape and
    carries its elements along one by one, before it runs anything.
    """
    if all(constant(o) is not None for o in op.operands):
        return False
    shapes = [static_shape(r) for r in op.results]
    return any(shape is not None and len(shape) == 1 and shape[0] > LONGEST_LIST for shape in shapes)


def _computable(module: ModuleOp, remarks: dict[Operation, Blocked]) -> list[OnnxOp]:
    """Ops that depend on constants alone, operands first; why others are left goes to `remarks`."""
    known: set[SSAValue] = set()
    found: list[OnnxOp] = []
    # Each op may double what it takes; together they may not, or forty in a row fill all memory.
    budget: int | None = None
    for op in operations(module):
        if isinstance(op, ConstantOp):
            if op.value is not None:
                known.update(op.results)
            continue
        match _foldable(op, known):
            case Blocked() as blocked:
                remarks[op] = blocked
            case True:
                assert isinstance(op, OnnxOp)
                if budget is None:
                    budget = SMALL_MODEL + MAX_GROWTH * tensor_bytes(module)
                budget -= sum(_bytes(r) or 0 for r in op.results)
                if budget < 0 or _long_list(op):
                    remarks[op] = TOGETHER
                    continue
                known.update(op.results)
                found.append(op)
            case _:
                pass
    return found


def _renamed(op: OnnxOp) -> bool:
    """Replace an op that only gives a constant a new shape or name; no bytes are touched."""
    tensor = constant(op.operands[0])
    promise = op.get_trait(Commutes)
    shape = static_shape(op.results[0])
    if tensor is None or promise is None or not promise.keeps_order or shape is None:
        return False
    if prod(shape) != tensor.data.count:  # a model may say of a shape what is not so
        return False
    data = tensor.data.with_type(tensor_type(tensor.type.element_type, shape))
    _substitute(op, [ConstantOp.of(type(tensor)(data), op.results[0].type)])
    return True


def _quantized(op: OnnxOp) -> bool:
    """Replace a QuantizeLinear of a constant, without onnxruntime's copies of what may be large weights."""
    if op.get_trait(QuantizeForm) is None or (tensor := constant(op.operands[0])) is None:
        return False
    type = quantize_type(op)
    if isinstance(type, Blocked) or op.results[0].type != tensor_type(
        storage_element(type), tensor.data.shape
    ):
        return False
    _substitute(op, [ConstantOp.of(_quantize(tensor, type), op.results[0].type)])
    return True


def _substitute(op: OnnxOp, constants: Sequence[ConstantOp]) -> None:
    block = op.parent
    assert block is not None
    for k, (old, new) in enumerate(zip(op.results, constants, strict=True)):
        new.location = location(node_name(op), [tensor_name(op, k)])
        block.insert_op_before(new, op)
        old.replace_all_uses_with(new.results[0])
    _erase(op)


def _erase(op: Operation) -> None:
    """Erase an op and the constants that it alone needed."""
    sources = {o.op: None for o in op.operands if isinstance(o, OpResult) and isinstance(o.op, ConstantOp)}
    op.detach()
    op.erase()
    for source in sources:
        if not source.results[0].first_use:
            source.detach()
            source.erase()


def _called(value: SSAValue) -> str:
    return f"what '{called(value.op)}' makes" if isinstance(value, OpResult) else "a value"


def fold_computable(module: ModuleOp) -> dict[Operation, Blocked]:
    """Replace ops that depend on constants alone by their results; why others are left is returned."""
    remarks: dict[Operation, Blocked] = {}
    rest = [op for op in _computable(module, remarks) if not (_renamed(op) or _quantized(op))]
    if not rest:
        return remarks
    inside = set(rest)
    needed = [op for op in rest if any(u.operation not in inside for r in op.results for u in r.uses)]
    values = _values(rest, needed, remarks)
    for op in needed:
        if all(r in values for r in op.results):
            _substitute(op, [ConstantOp.of(values[r], r.type) for r in op.results])
    for op in reversed(rest):
        if op.parent is not None and not any(r.first_use for r in op.results):
            _erase(op)
    return remarks


def _made(module: ModuleOp) -> list[SSAValue]:
    """Fold what can be, and list the constants that this made."""
    before = {op for op in operations(module) if isinstance(op, ConstantOp)}
    fold_computable(module)
    new = (op for op in operations(module) if isinstance(op, ConstantOp) and op not in before)
    return [op.results[0] for op in new]


def _values(
    ops: Sequence[OnnxOp], needed: Sequence[OnnxOp], remarks: dict[Operation, Blocked]
) -> dict[SSAValue, TensorAttr]:
    """The results of `needed`, all at once; one by one if that fails, so that one op does not spoil the others."""
    try:
        values = evaluate(ops, [r for op in needed for r in op.results])
        for result, value in values.items():
            if value.type.get_shape() != static_shape(result):
                raise UserError(f"{_called(result)} has another shape than the model says")
        return values
    except UserError as error:
        if len(needed) == 1:
            remarks[needed[0]] = Blocked("not-computable", str(error))
            return {}
    found: dict[SSAValue, TensorAttr] = {}
    for op in needed:
        found |= _values(_ancestry(op, ops), [op], remarks)
    return found


def _ancestry(op: OnnxOp, ops: Sequence[OnnxOp]) -> list[OnnxOp]:
    """Those of `ops` that `op` depends on, and itself, operands first."""
    wanted: set[Operation] = {op}
    for one in reversed(ops):
        if one in wanted:
            wanted.update(o.op for o in one.operands if isinstance(o, OpResult))
    return [one for one in ops if one in wanted]


@dataclass(frozen=True)
class FoldConstantsPass(RewritePass):
    """What depends on constants alone is computed."""

    name = "fold-constants"
    exactness: ClassVar[Exactness] = Exactness.EXACT
    rewrite: ClassVar[str] = (
        "op(constants) -> constant, qcast(constant) -> quantized constant: computed as the op would"
    )

    def patterns(self) -> Sequence[Pattern]:
        return [QuantizeConstant(), ReadConstant()]

    def apply(self, ctx: Context, op: ModuleOp) -> None:
        while learn_sizes(op, _made(op)):
            pass
        super().apply(ctx, op)
        for left, blocked in fold_computable(op).items():  # what was left before may be gone by now
            remarks_of(op).add(self.name, left, blocked)
        refresh_signatures(op)
