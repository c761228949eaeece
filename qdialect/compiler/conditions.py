"""Postconditions of the phases of a pipeline, independent of the passes that establish them, and their check."""

from __future__ import annotations

from collections.abc import Callable, Iterator, Sequence
from typing import NamedTuple

from xdsl.dialects.builtin import ModuleOp, UnrealizedConversionCastOp
from xdsl.dialects.func import FuncOp
from xdsl.ir import Operation
from xdsl.passes import ModulePass

from qdialect.dialects.onnx_base import ConstantOp, OnnxOp
from qdialect.dialects.onnx_types import quantized_of
from qdialect.dialects.quant import DequantizeOp, QuantizeOp
from qdialect.errors import UserError
from qdialect.ir.names import called
from qdialect.ir.values import constant
from qdialect.ir.walking import operations
from qdialect.promises.casts import DequantizeForm, QuantizeForm
from qdialect.promises.kernels import Kernels
from qdialect.rewriting.journal import KEEP_FLOAT
from qdialect.rewriting.manager import Applied, Hook
from qdialect.rewriting.remarks import remarks_of
from qdialect.text.upstream import is_upstream

Condition = Callable[[ModuleOp], Iterator[Operation]]
"""A postcondition: yields the operations that violate it."""


def _unexplained(module: ModuleOp) -> Iterator[Operation]:
    """Operations that are not kept in float and have no remark."""
    remarks = remarks_of(module)
    return (op for op in operations(module) if KEEP_FLOAT not in op.attributes and not remarks.on(op))


def raised(module: ModuleOp) -> Iterator[Operation]:
    """QuantizeLinear and DequantizeLinear with constant parameters, without a remark."""
    for op in _unexplained(module):
        if op.get_trait(QuantizeForm) is not None or op.get_trait(DequantizeForm) is not None:
            if all(constant(value) is not None for value in op.operands[1:]):
                yield op


def fused(module: ModuleOp) -> Iterator[Operation]:
    """Ops between casts that have an integer kernel, without a remark."""
    for op in _unexplained(module):
        if not isinstance(op, OnnxOp) or op.get_trait(Kernels) is None or len(op.results) != 1:
            continue
        computed = [value for value in op.operands if constant(value) is None]
        users = [use.operation for use in op.results[0].uses]
        if computed and users and all(isinstance(value.owner, DequantizeOp) for value in computed):
            if all(isinstance(user, QuantizeOp) for user in users):
                yield op


def lowered(module: ModuleOp) -> Iterator[Operation]:
    """Ops with operands or results of quantized types; in upstream dialects outside subgraphs, without a remark."""
    stays = (ConstantOp, UnrealizedConversionCastOp)
    upstream = (
        op for op in _unexplained(module) if not isinstance(op, stays) and isinstance(op.parent_op(), FuncOp)
    )
    for op in upstream if is_upstream(module) else operations(module):
        if any(quantized_of(value.type) is not None for value in (*op.operands, *op.results)):
            yield op


class Claim(NamedTuple):
    """A postcondition after a pass of a pipeline."""

    behind: ModulePass
    phase: str
    aim: str
    broken: Condition


class ConditionCheck(Hook):
    """Checks the postcondition of each phase, and names the first operation that violates it."""

    def __init__(self, claims: Sequence[Claim]):
        self._claims = claims

    def after(self, applied: Applied, module: ModuleOp) -> None:
        for claim in self._claims:
            if claim.behind is applied.one and (op := next(claim.broken(module), None)) is not None:
                what = f"behind the phase '{claim.phase}', {op.name} '{called(op)}' breaks that {claim.aim}"
                raise UserError(what, "this is a bug in a pass")
