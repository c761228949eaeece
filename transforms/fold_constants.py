"""
Evaluate ops that depend on constants alone, and on the types of other values.

    qcast(constant)           ->  quantized constant
    op(constant, constant..)  ->  constant
    QuantizeLinear(op(DequantizeLinear(constant), ..))  ->  constant
    If(true) {yield a} {yield b}  ->  a
    Range([a], [b], [c])      ->  Range(a, b, c)      onnxruntime refuses constant lists of one in the place of numbers
    CastLike(x, y)            ->  Cast(x) {to = type of y}      of y the type alone is read
    f(Gather(table, i))       ->  Gather(f(table), i)       f elementwise, the same for each row, in f32

Exact: a quantize is `numerics.quantize`, every other op is run by onnxruntime without optimization. A weight that
becomes a constant is packed by onnxruntime unless it is told not to, and a product of one row then sums in another
order. A dequantize of a constant is kept: folding it would undo the quantization, unless the result is quantized
again. So are ops whose result has more bytes than `MAX_GROWTH` times the operands and more than `SMALL_RESULT`. An If
with a constant condition is replaced by its branch. A table is replaced by the computed table if the file does not
grow.
"""

from collections.abc import Set as AbstractSet
from typing import NamedTuple

from xdsl.context import Context
from xdsl.dialects.builtin import Float32Type, ModuleOp
from xdsl.ir import Operation, OpResult, SSAValue

from qdialect.dialects.onnx_base import OnnxOp
from qdialect.dialects.onnx_types import element_of, known_element, quantized_of, shape_of, tensor_type
from qdialect.exactness import Exactness
from qdialect.forms.nodes import Nodes
from qdialect.ir.build import copied
from qdialect.ir.names import location, node_name
from qdialect.ir.values import constant, static_shape
from qdialect.ir.walking import operations
from qdialect.onnx_io.shapes import Cast, infer_unknown
from qdialect.patterns.constant_folding import compute_constants
from qdialect.patterns.fold_local_constants import (
    ConvertTo,
    FoldBranch,
    QuantizeConstant,
    ReadConstant,
    ReadNumber,
)
from qdialect.patterns.layout_folding import keeps_order, reshape_sizes
from qdialect.promises.arithmetic import Converts
from qdialect.promises.control import Carries
from qdialect.promises.elementwise import Elementwise
from qdialect.promises.rows import TakesRows
from qdialect.reasons import Blocked
from qdialect.rewriting.driver import Rewriter, apply_patterns, erase_unused, refresh_signatures
from qdialect.rewriting.journal import is_kept
from qdialect.rewriting.matching import OnTrait
from qdialect.rewriting.passes import RewritePass, Role
from qdialect.rewriting.remarks import remarks_of


def _choices(module: ModuleOp) -> dict[Operation, list[Operation]]:
    """The operations that run one of several branches, each with the users of its results."""
    promises = ((op, op.get_trait(Carries)) for op in operations(module))
    choices = [op for op, promise in promises if promise is not None and promise.branches]
    return {op: [use.operation for result in op.results for use in result.uses] for op in choices}


def _clean_up(module: ModuleOp, users: AbstractSet[Operation]) -> None:
    """
    Erase ops that only erased branches used; infer the types of values yielded by the others. users: ops that read
    what folded branches yield, of which more is known than of what several might.
    """
    erase_unused(module)
    if not any(isinstance(op, Cast) for op in operations(module)):
        infer_unknown(module, users)


MIN_TABLE_ELEMENT_BYTES = 4
"""Least bytes of a table's element: a table of f32 results is then no larger."""


class Computed(NamedTuple):
    """Ops that compute the same function of each row gathered from a table."""

    ops: list[OnnxOp]
    """In order; each has one result."""
    result: OpResult
    """The only result of them that other ops use."""


class ComputeTable(OnTrait[TakesRows]):
    """Rows taken from a constant table that nothing else reads, and elementwise ops on them."""

    def match(self, op: OnnxOp, promise: TakesRows, rewriter: Rewriter, /) -> Blocked | None:
        table, shape = constant(op.operands[0]), static_shape(op.operands[0])
        if table is None or not shape or quantized_of(op.operands[0].type) or not promise.is_of_rows(op):
            return None
        computed, indices = _computed(op, shape[1]), shape_of(op.operands[1].type)
        if computed is None or indices is None:
            return None
        if element_of(computed.result.type) != Float32Type():
            return None
        if table.array().itemsize < MIN_TABLE_ELEMENT_BYTES or not op.operands[0].has_one_use():
            return Blocked("too-large", "a table of the results would be larger in the file")
        nodes = Nodes(op)
        of: dict[SSAValue, SSAValue] = {op.results[0]: op.operands[0]}
        for one in computed.ops:
            if keeps_order(one):
                of[one.results[0]] = of[one.operands[0]]
                continue
            result = tensor_type(known_element(one.results[0].type), shape)
            new = copied(one, [of.get(value, value) for value in one.operands], [result])
            new.location = location(node_name(one))
            of[one.results[0]] = nodes.append(new)
        taken = type(op).build(
            [of[computed.result], op.operands[1]],
            [tensor_type(Float32Type(), (*indices, shape[1]))],
            op.onnx_attributes,
        )
        taken.location = location(node_name(op))
        nodes.append(taken)
        if taken.results[0].type != computed.result.type:
            nodes.reshape(taken.results[0], reshape_sizes(computed.result) or (), computed.result.type)
        nodes.ops[-1].location = computed.result.op.location
        rewriter.replace(computed.result.op, nodes.ops)
        return None


def _computed(taken: OnnxOp, columns: int) -> Computed | None:
    """
    The ops that compute on the gathered rows, the result of `taken`; None if there are none, or if several results
    are used.
    """
    ops: dict[Operation, OnnxOp] = {}
    rows = {taken.results[0]}
    pending: list[SSAValue] = [*rows]
    while pending:
        for use in pending.pop().uses:
            user = use.operation
            if user in ops or not isinstance(user, OnnxOp) or user.parent is not taken.parent:
                continue
            if _is_of_rows(user, rows, columns):
                ops[user] = user
                rows.add(user.results[0])
                pending.append(user.results[0])
    ends = [row for row in rows if row.first_use is None or any(u.operation not in ops for u in row.uses)]
    if len(ends) != 1 or all(map(keeps_order, ops.values())):
        return None
    return Computed(list(ops.values()), ends[0])


def _is_of_rows(op: OnnxOp, rows: set[OpResult], columns: int) -> bool:
    """True if `op` moves whole `rows`, or computes the same function of each from it and constants."""
    if len(op.results) != 1:  # the end of a subgraph has none
        return False
    shape = shape_of(op.results[0].type)
    if not shape or shape[-1] != columns:
        return False
    if any(quantized_of(value.type) is not None for value in (*op.operands, *op.results)):
        return False
    if keeps_order(op):
        return op.operands[0] in rows and reshape_sizes(op.results[0]) is not None
    if not (op.has_trait(Elementwise) or op.has_trait(Converts)):
        return False
    return all(
        shape_of(value.type) == shape
        if value in rows
        else constant(value) is not None and shape_of(value.type) in ((), (1,), (columns,))
        for value in op.operands
    )


class FoldConstantsPass(RewritePass):
    name = "fold-constants"
    exactness = Exactness.EXACT
    role = Role.SIMPLIFYING
    reasons = "not-computable packed-weight too-large"
    rewrite = "op(constants) -> constant, qcast(constant) -> quantized constant: computed as the op would"
    pattern_types = (QuantizeConstant, ReadConstant, ReadNumber, ConvertTo, FoldBranch, ComputeTable)

    def apply(self, ctx: Context, op: ModuleOp) -> None:
        left = compute_constants(op)
        choices = _choices(op)
        if apply_patterns(op, self.name, self.patterns()):
            users = [readers for one, readers in choices.items() if one.parent is None]
            if users:
                _clean_up(op, {reader for readers in users for reader in readers})
            left = compute_constants(op)  # ops on constants just quantized, or moved out of a branch
        for remaining, blocked in left.items():
            table = remarks_of(op)
            (table.record if is_kept(remaining) else table.add)(self.name, remaining, blocked)
        refresh_signatures(op)
