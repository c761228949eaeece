"""
Constant folding: ops that depend on constants and on types of values alone, evaluated by onnxruntime without
optimization.

Not folded: a result of more bytes than `MAX_GROWTH` times the operands and more than `FREE_RESULT_BYTES`. A result
whose size is not known before, as of NonZero, is computed of operands of at most `FREE_RESULT_BYTES`.
"""
# Around the driver: constants take over the names of folded ops; no op that computes at run time changes.

from collections.abc import Container, Iterable, Sequence
from math import prod
from typing import Literal, TypeGuard

from xdsl.dialects.builtin import ModuleOp
from xdsl.ir import Attribute, Block, Operation, OpResult, SSAValue
from xdsl.traits import Pure

from qdialect.dialects.onnx_base import ConstantOp, OnnxOp, YieldOp
from qdialect.dialects.onnx_tensor import TensorAttr, from_array
from qdialect.dialects.onnx_types import (
    BY_ATTRIBUTE,
    SequenceType,
    onnx_element,
    quantized_of,
    storage_element,
    stored_type,
    tensor_type,
)
from qdialect.dialects.quant import Half, UniformType
from qdialect.errors import UserError
from qdialect.evaluation import session
from qdialect.ir.insertion import insert_before, remove
from qdialect.ir.names import called, location, node_name, tensor_name
from qdialect.ir.values import constant, static_shape
from qdialect.ir.walking import operations
from qdialect.numerics import Array
from qdialect.onnx_io.external import tensor_bytes
from qdialect.onnx_io.region_types import infer_arguments
from qdialect.onnx_io.shapes import (
    Cast,
    has_size_of_operand,
    infer,
    inside_first,
    is_complete,
    is_left_open,
    is_list,
    is_typed,
    reads_list,
)
from qdialect.promises.base import Commutes
from qdialect.promises.casts import DequantizeForm, QuantizeForm, division_type, quantize_type
from qdialect.promises.copies import Copies
from qdialect.promises.typed import type_alone
from qdialect.reasons import Blocked
from qdialect.rewriting.driver import refresh_signatures
from qdialect.rewriting.journal import is_kept, kept_because

MAX_GROWTH = 2
FLOAT_BYTES = 4
"""Bytes of an element that is dequantized, of which a byte or less is stored."""
FREE_RESULT_BYTES = 1 << 16
"""Bytes."""
FREE_GROWTH_BYTES = 1 << 26
"""Bytes that all results together may take in addition to `MAX_GROWTH` times the model's constants."""
MAX_LIST_ELEMENTS = 1 << 16
"""Elements."""


UNSIZED = Blocked("too-large", "the size of the result is not known, so the result is not folded")
TOGETHER = Blocked("too-large", "all folded results together would take too much memory")


def quantized_constant(tensor: TensorAttr, type: UniformType) -> TensorAttr:
    """The stored integers of a constant of floats."""
    stored = type.quantize(tensor.array())
    return from_array(stored.astype(BY_ATTRIBUTE[storage_element(type)].dtype, copy=False))


def _is_sequence(value: SSAValue) -> bool:
    """True for a sequence of tensors: it is no constant, but known where the tensors that it is made of are."""
    return isinstance(value.type, SequenceType)


def _bytes(value: SSAValue) -> int | None:
    if _is_sequence(value):
        return 0  # of tensors that are counted where they come from
    shape = static_shape(value)
    if shape is None:
        return None
    element = onnx_element(stored_type(value.type))
    return None if element is None else prod(shape) * max(element.bits, 8) // 8


def _computable(op: Operation, known: Container[SSAValue]) -> TypeGuard[OnnxOp]:
    """True if onnxruntime can compute an op from `known` values, and from the types of others."""
    if type(op) is ConstantOp or not isinstance(op, OnnxOp) or op.SCHEMA is None:
        return False
    if op.regions or (not op.operands and not any(map(_is_sequence, op.results))):
        return False
    if any(o not in known for o in op.operands):
        typed = type_alone(op)
        if not typed or any(o not in known for k, o in enumerate(op.operands) if k not in typed):
            return False
    promise = op.get_trait(Commutes)
    quantized = any(quantized_of(v.type) for v in (*op.operands, *op.results))
    return op.has_trait(Pure) and (not quantized or bool(promise and promise.moves_storage))


def _is_written_copy(op: OnnxOp) -> bool:
    """True for the copy by which a branch yields a constant from outside: it is no constant of its own."""
    copies = op.get_trait(Copies)
    if copies is None or len(op.operands) != 1 or copies.place(op) is None:
        return False
    source = op.operands[0].owner
    if not isinstance(source, ConstantOp) or source.parent is op.parent:
        return False
    return all(isinstance(use.operation, YieldOp) for use in op.results[0].uses)


def foldable(op: OnnxOp, growth: int) -> Literal[True] | Blocked:
    """
    True if an op that can be computed from constants may become one; `Blocked` if it must not. growth: bytes of the
    results per byte of the operands, at most, where the results have more than `FREE_RESULT_BYTES`.
    """
    if is_kept(op):
        return kept_because(op)
    sizes = [_bytes(r) for r in op.results]
    if any(s is None for s in sizes):
        return UNSIZED
    read = (o for k, o in enumerate(op.operands) if k not in type_alone(op))
    limit = max(FREE_RESULT_BYTES, growth * sum(_bytes(o) or 0 for o in read))
    if sum(s or 0 for s in sizes) > limit:
        return Blocked("too-large", f"the result would take more than {limit} bytes")
    return True


def is_long_list(op: OnnxOp) -> bool:
    """
    True if an op computes a long list from computed operands. onnxruntime treats every list as a possible shape and
    propagates its elements one by one when it loads the model.
    """
    if all(constant(o) is not None for o in op.operands):
        return False
    shapes = [static_shape(r) for r in op.results]
    return any(shape is not None and len(shape) == 1 and shape[0] > MAX_LIST_ELEMENTS for shape in shapes)


def _renamed(op: OnnxOp) -> list[ConstantOp]:
    """The constant for an op that only changes a constant's shape or name, sharing its bytes. Empty for other ops."""
    tensor = constant(op.input(0))
    promise = op.get_trait(Commutes)
    shape = static_shape(op.results[0])
    if tensor is None or promise is None or not promise.keeps_order or shape is None:
        return []
    if prod(shape) != tensor.data.count:  # an invalid model may state a wrong shape
        return []
    data = tensor.data.with_type(tensor_type(tensor.type.element_type, shape))
    return [ConstantOp.of(type(tensor)(data), op.results[0].type)]


def computed_quantize(op: OnnxOp) -> list[ConstantOp]:
    """The constant for a QuantizeLinear of one, without onnxruntime's copies of large weights. Empty for other ops."""
    if op.get_trait(QuantizeForm) is None or (tensor := constant(op.operands[0])) is None:
        return []
    type = quantize_type(op)
    if isinstance(type, Blocked) or op.results[0].type != tensor_type(
        storage_element(type), tensor.data.shape
    ):
        return []
    if isinstance(division_type(op, type.expressed), Half):  # rounds the quotient, which a cast does not
        return []
    return [ConstantOp.of(quantized_constant(tensor, type), op.results[0].type)]


def _infer_casts(values: Iterable[SSAValue]) -> list[SSAValue]:
    """Infer the results of casts of values whose sizes have become known, which have the same; those that changed."""
    pending, changed = list(values), list[SSAValue]()
    while pending:
        for use in list(pending.pop().uses):
            if isinstance(use.operation, Cast):
                more = infer(use.operation)
                pending += more
                changed += more
    return changed


def _of_sizes(tensor: TensorAttr, type: Attribute) -> ConstantOp | None:
    """The constant of type `type`, with the sizes that were computed; None if its scales do not fit them."""
    element, shape = quantized_of(type), tensor.data.shape
    if element is None:
        return ConstantOp.of(tensor)
    fits = element.is_per_tensor or (element.axis is not None and shape[element.axis] == len(element.scales))
    return ConstantOp.of(tensor, tensor_type(element, shape)) if fits else None


def _substitute(op: OnnxOp, constants: Sequence[ConstantOp]) -> list[SSAValue]:
    """Replace an op by constants; their values."""
    for k, (old, new) in enumerate(zip(op.results, constants, strict=True)):
        new.location = location(node_name(op), [tensor_name(op, k)])
        insert_before(op, new)
        old.replace_all_uses_with(new.results[0])
    _erase(op)
    return [new.results[0] for new in constants]


def _erase(op: Operation) -> None:
    """Erase an op and constants that become unused."""
    sources = {o.op: None for o in op.operands if isinstance(o, OpResult) and isinstance(o.op, ConstantOp)}
    remove(op)
    for source in sources:
        if not source.results[0].first_use:
            remove(source)


def _called(value: SSAValue) -> str:
    return f"what '{called(value.op)}' makes" if isinstance(value, OpResult) else "a value"


def _values(
    ops: Sequence[OnnxOp], needed: Sequence[OnnxOp], remarks: dict[Operation, Blocked]
) -> dict[SSAValue, TensorAttr]:
    """The results of `needed`, in one run; if that fails, one by one, so that a failing op does not affect others."""
    try:
        values = session.evaluate(ops, [r for op in needed for r in op.results])
        for result, value in values.items():
            if value.type.get_shape() != static_shape(result):
                raise UserError(f"the computed shape of {_called(result)} differs from the stated one")
        return values
    except UserError as error:
        if len(needed) == 1:
            remarks[needed[0]] = Blocked("not-computable", str(error))
            return {}
    tensors: dict[SSAValue, TensorAttr] = {}
    for op in needed:
        tensors |= _values(_ancestry(op, ops), [op], remarks)
    return tensors


def _ancestry(op: OnnxOp, ops: Sequence[OnnxOp]) -> list[OnnxOp]:
    """`op` and those of `ops` that it depends on, operands first."""
    wanted: set[Operation] = {op}
    for one in reversed(ops):
        if one in wanted:
            wanted.update(o.op for o in one.operands if isinstance(o, OpResult))
    return [one for one in ops if one in wanted]


class Computation:
    """
    The ops of a module that depend on constants alone; ops are registered by `show`, operands first.

    left: reason why an op with known operands is not computed.
    """

    def __init__(self, module: ModuleOp):
        self._module = module
        self._known: set[SSAValue] = set()
        self._waiting: dict[OnnxOp, int] = {}
        """Ops that can be computed and have not been yet, with their index in the order of operations."""
        self._dequantized: set[Operation] = set()
        """Those of them that dequantize a constant or depend on one that does: they stay, but for a QuantizeLinear."""
        # Each op may double its operands; together they may not, or a chain of forty fills all memory.
        self._budget: int | None = None
        self.left: dict[Operation, Blocked] = {}
        self.learnt: set[SSAValue] = set()
        """Values whose types became more precise."""

    def show(self, op: Operation) -> None:
        """Register `op`, if it can be computed from known values."""
        if type(op) is ConstantOp:
            if op.value is not None:
                self._known.update(op.results)
            return
        if op.get_trait(QuantizeForm) is not None or op.get_trait(DequantizeForm) is not None:
            self._dequantized.difference_update(parameter.owner for parameter in op.operands[1:])
        if not _computable(op, self._known) or _is_written_copy(op):
            return
        if any(static_shape(r) is None for r in op.results):  # as of what a branch yields, folded since
            self.learnt.update(infer(op))
        dequantizes = op.get_trait(DequantizeForm) is not None
        stays = dequantizes or (op.get_trait(QuantizeForm) is None and self._is_dequantized(op))
        can = foldable(op, MAX_GROWTH * (FLOAT_BYTES if dequantizes else 1))
        if stays:
            if can is True:
                self._dequantized.add(op)
        elif can is not True:
            if can is not UNSIZED or not self._measures(op):
                self.left[op] = can
        elif not self._affords(op) or is_long_list(op):
            self.left[op] = can = TOGETHER
        if can is True:
            self._known.update(op.results)
            self._waiting[op] = len(self._known)

    def _is_dequantized(self, op: OnnxOp) -> bool:
        return any(operand.owner in self._dequantized for operand in op.operands)

    def _affords(self, op: OnnxOp) -> bool:
        """Take the results of `op` off the bytes that all results may have; True if they fit."""
        if self._budget is None:
            self._budget = FREE_GROWTH_BYTES + MAX_GROWTH * tensor_bytes(self._module)
        self._budget -= sum(_bytes(r) or 0 for r in op.results)
        return self._budget >= 0

    def _measures(self, op: OnnxOp) -> bool:
        """Compute at once an op of small constants whose result has a size that only its elements say."""
        ops = self._made_of(op)
        tensors = dict.fromkeys(o for one in ops for o in one.operands if not _is_sequence(o))
        sizes = [_bytes(o) for o in tensors if o in self._known]
        if any(size is None for size in sizes) or sum(size or 0 for size in sizes) > FREE_RESULT_BYTES:
            return False
        self.compute([o for o in tensors if self.is_waiting(o)])
        if not all(
            constant(o) is not None or _is_sequence(o) or k in type_alone(one)
            for one in ops
            for k, o in enumerate(one.operands)
        ):
            return False
        try:
            values = session.evaluate(ops, op.results)
        except UserError:
            return False
        if sum(value.data.nbytes for value in values.values()) > FREE_RESULT_BYTES:
            return False
        constants = [_of_sizes(values[r], r.type) for r in op.results]
        if any(one is None for one in constants):
            return False
        new = _substitute(op, [one for one in constants if one is not None])
        self._known.update(new)
        self.learnt.update(new, _infer_casts(new))
        return True

    def _made_of(self, op: OnnxOp) -> list[OnnxOp]:
        """`op`, and in front of it the ops that make the sequences that it reads."""
        ops: dict[OnnxOp, None] = {op: None}
        pending = [op]
        while pending:
            for operand in pending.pop().operands:
                maker = operand.owner
                if _is_sequence(operand) and isinstance(maker, OnnxOp) and operand in self._known:
                    ops.pop(maker, None)
                    ops[maker] = None
                    pending.append(maker)
        return list(ops)[::-1]

    def is_waiting(self, value: SSAValue) -> bool:
        """True if a value can be computed and has not been yet."""
        return value.owner in self._waiting and value.owner not in self._dequantized

    def compute_all(self) -> None:
        """Replace every op that can be computed by constants."""
        self.compute([r for op in self._waiting if op not in self._dequantized for r in op.results])

    def compute(self, values: Iterable[SSAValue]) -> list[SSAValue]:
        """Replace `values`, which are waiting, and the values that they depend on, by constants; the new constants."""
        wanted: dict[OnnxOp, int] = {}
        stack = [value.op for value in values if isinstance(value, OpResult)]
        while stack:
            op = stack.pop()
            if isinstance(op, OnnxOp) and op in self._waiting and op not in wanted:
                wanted[op] = self._waiting[op]
                stack += [o.op for o in op.operands if isinstance(o, OpResult)]
        return self._compute(sorted(wanted, key=wanted.__getitem__))

    def _compute(self, ops: Sequence[OnnxOp]) -> list[SSAValue]:
        """Compute each of some ops once; values with other users become constants, the others are erased."""
        for op in ops:
            if op not in self._dequantized:
                del self._waiting[op]
        new: list[SSAValue] = []
        computable: list[OnnxOp] = []
        computed: set[SSAValue] = set()
        for op in ops:
            constants = _renamed(op) or computed_quantize(op)
            if constants:
                new += _substitute(op, constants)
            elif all(
                o in computed or constant(o) is not None or k in type_alone(op)
                for k, o in enumerate(op.operands)
            ):  # else one has failed
                computable.append(op)
                computed.update(op.results)
        inside = set(computable)
        needed = [
            op
            for op in computable
            if op not in self._dequantized
            and not any(map(_is_sequence, op.results))
            and any(u.operation not in inside for r in op.results for u in r.uses)
        ]
        values = _values(computable, needed, self.left) if needed else {}
        for op in needed:
            if all(r in values for r in op.results):
                new += _substitute(op, [ConstantOp.of(values[r], r.type) for r in op.results])
        for op in reversed(computable):
            if op.parent is not None and not any(r.first_use for r in op.results):
                _erase(op)
        self._known.update(new)
        return new


def compute_constants(module: ModuleOp) -> dict[Operation, Blocked]:
    """Replace ops that depend on constants alone by their results; returns the reasons for those kept."""
    computation = Computation(module)
    for op in operations(module):
        computation.show(op)
    computation.compute_all()
    return computation.left


def run_beside(op: Operation, ops: Sequence[Operation], outputs: Sequence[SSAValue]) -> list[Array]:
    """What onnxruntime computes by `ops` of constants, in front of `op` while it runs. Raises UserError."""
    insert_before(op, *ops)
    try:
        computed = [one for one in ops if isinstance(one, OnnxOp) and not isinstance(one, ConstantOp)]
        return [tensor.array() for tensor in session.evaluate(computed, outputs).values()]
    finally:
        for one in reversed(ops):
            remove(one)


def learn_shapes(module: ModuleOp, known: Iterable[SSAValue] = ()) -> None:
    """
    Infer the unknown types and sizes of results, operands first, and compute the lists that they
    depend on. known: values whose types have become more precise since the model was read.
    """
    computation = Computation(module)
    learnt = computation.learnt
    learnt.update(known)
    for one in list(inside_first(module)):
        if isinstance(one, Block):
            learnt.update(infer_arguments(one))
            continue
        if not is_complete(one):
            lists = [o for o in one.operands if computation.is_waiting(o) and is_list(o)]
            learnt.update(computation.compute(lists))
            yielded = (block.last_op for region in one.regions for block in region.blocks)
            read = (value for op in (one, *yielded) if op is not None for value in op.operands)
            says_more = has_size_of_operand(one) or reads_list(one) or is_left_open(one)
            if not is_typed(one) or says_more or any(value in learnt for value in read):
                learnt.update(infer(one))
        computation.show(one)
    if learnt:
        refresh_signatures(module)
