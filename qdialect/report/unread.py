"""Operators that are not read: of domains that nobody describes, or quantizers of a form that no cast has."""

from __future__ import annotations

from collections.abc import Callable, Collection, Iterable, Iterator, Sequence
from dataclasses import replace

from xdsl.ir import Operation, OpResult, SSAValue

from qdialect.dialects.onnx_base import CustomOp, FunctionOp, OnnxOp, YieldOp, promise_of
from qdialect.ir.values import is_constant
from qdialect.promises.affine import Affine, Homogeneous
from qdialect.promises.base import Commutes
from qdialect.promises.elementwise import Elementwise
from qdialect.promises.fake_quantize import FakeQuantizes
from qdialect.reasons import Blocked
from qdialect.rewriting.remarks import RemarkTable

MAX_OPS_TO_CAUSE = 64
"""Greatest number of ops between a product and an op that is named as the reason why it stays in float."""
CALLED = ("domain", "op_type")
"""The properties of a function of the model, and of the ops that call it, which agree."""
FIX = "state in an entry of a package what it computes (docs/extending.md, An operator)"


def operator_name(op: OnnxOp) -> str:
    """`domain.operator`."""
    return f"{op.domain or 'ai.onnx'}.{op.op_type}"


def unknown_ops(ops: Iterable[Operation]) -> list[CustomOp]:
    """The ops without a schema, promises, or a function of the model that they call."""
    ops = list(ops)
    functions = {
        tuple(one.properties.get(key) for key in CALLED) for one in ops if isinstance(one, FunctionOp)
    }
    custom = (one for one in ops if isinstance(one, CustomOp) and type(one) is CustomOp)
    return [one for one in custom if tuple(one.properties.get(key) for key in CALLED) not in functions]


def left_ops(ops: Iterable[Operation]) -> list[OnnxOp]:
    """Unknown ops, and those that quantize and dequantize in one, which did not become casts: no runtime has them."""
    ops = list(ops)
    quantizers = (one for one in ops if isinstance(one, OnnxOp) and one.get_trait(FakeQuantizes) is not None)
    return [*unknown_ops(ops), *quantizers]


def unread_operand(op: OnnxOp, unknown: Collection[Operation], remarks: RemarkTable) -> Blocked | None:
    """
    The operator that is not read and computes an operand, as a reason. Ops that move elements, or map or average them,
    may lie between.
    """
    for one in _beyond(op.operands, _above):
        if one in unknown:
            return _unknown(f"the operand comes from {operator_name(one)}")
        if (why := _refused(one, "in front of", remarks)) is not None:
            return why
    return None


def unread(op: OnnxOp, unknown: Collection[Operation], remarks: RemarkTable) -> Blocked | None:
    """As `unread_operand`; else the operators that are not read and alone take the result, behind such ops too."""
    if (why := unread_operand(op, unknown, remarks)) is not None:
        return why
    readers = list(_beyond(op.results, _below))
    if readers and all(one in unknown for one in readers):
        names = ", ".join(dict.fromkeys(map(operator_name, readers)))
        return _unknown(f"the result goes into {names} alone")
    refused = [_refused(one, "behind", remarks) for one in readers]
    return refused[0] if refused and None not in refused else None


def _unknown(where: str) -> Blocked:
    return Blocked("unknown-operator", f"{where}, which is not read", FIX)


def _refused(one: OnnxOp, where: str, remarks: RemarkTable) -> Blocked | None:
    """Why an op that quantizes and dequantizes did not become casts."""
    said = remarks.on(one) if one.get_trait(FakeQuantizes) is not None else []
    start = f"{one.op_type} {where} it stays in float"
    return next((replace(r.blocked, message=f"{start}: {r.blocked.message}") for r in said), None)


def _passes(op: object) -> Sequence[SSAValue] | None:
    """The operands whose elements an op moves, maps one by one, or averages; None of another op."""
    if (moves := promise_of(op, Commutes)) is not None and isinstance(op, OnnxOp):
        return moves.operand_values(op)
    is_map = any(promise_of(op, kind) is not None for kind in (Elementwise, Homogeneous, Affine))
    return [v for v in op.operands if not is_constant(v)] if isinstance(op, OnnxOp) and is_map else None


def _above(value: SSAValue) -> Iterator[tuple[OnnxOp, Sequence[SSAValue] | None]]:
    if isinstance(value, OpResult) and isinstance(value.op, OnnxOp):
        yield value.op, _passes(value.op)


def _below(value: SSAValue) -> Iterator[tuple[OnnxOp, Sequence[SSAValue] | None]]:
    for use in value.uses:
        user = use.operation
        if isinstance(user, OnnxOp) and not isinstance(user, YieldOp):
            operands = _passes(user)
            yield user, None if operands is None or value not in operands else user.results


def _beyond(
    values: Iterable[SSAValue],
    step: Callable[[SSAValue], Iterator[tuple[OnnxOp, Sequence[SSAValue] | None]]],
) -> Iterator[OnnxOp]:
    """The first ops, from `values` on, that elements do not pass."""
    todo, seen = list(values), set[OnnxOp]()
    while todo and len(seen) < MAX_OPS_TO_CAUSE:
        for op, further in step(todo.pop(0)):
            if op in seen:
                continue
            seen.add(op)
            if further is None:
                yield op
            else:
                todo += further
