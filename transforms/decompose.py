"""
Write ops as the simpler ops that they are made of, so that each part has parameters of its own.

    Gemm(A, B, C)  ->  Add(MatMul(A, B), C)        BatchNormalization(x)  ->  Add(Mul(x, s), t)

Close: the same arithmetic, rounded once per part. Only the ops that are asked for.
"""

from collections.abc import Sequence
from dataclasses import dataclass
from typing import ClassVar

from xdsl.ir import Operation

from qdialect.dialects.onnx_ops import OnnxOp
from qdialect.passes import Exactness, RewritePass
from qdialect.promises.base import Blocked
from qdialect.promises.composition import Decomposes
from qdialect.rewriting import Pattern, Rewriter


class DecomposeOp(Pattern):
    """One op of those asked for."""

    def __init__(self, ops: Sequence[str]):
        self._ops = frozenset(ops)

    def accepts(self, op_class: type[Operation]) -> bool:
        if op_class.get_trait(Decomposes) is None or not issubclass(op_class, OnnxOp):
            return False
        return op_class.SCHEMA is not None and op_class.SCHEMA.name in self._ops

    def rewrite(self, op: Operation, rewriter: Rewriter) -> Blocked | None:
        assert isinstance(op, OnnxOp)
        promise = op.get_trait(Decomposes)
        assert promise is not None
        parts = promise.parts(op)
        if isinstance(parts, Blocked):
            return parts
        rewriter.replace(op, parts)
        return None


def decomposable() -> list[str]:
    """The ops that can be asked for."""
    from qdialect.promises.composition import DECOMPOSITIONS

    return sorted(name for _, name in DECOMPOSITIONS)


@dataclass(frozen=True)
class DecomposePass(RewritePass):
    """Ops become the simpler ops that they are made of."""

    name = "decompose"
    exactness: ClassVar[Exactness] = Exactness.CLOSE
    rewrite: ClassVar[str] = "Gemm(A, B, C) -> Add(MatMul(A, B), C): the same sums, rounded once per part"

    ops: tuple[str, ...] = ()

    def patterns(self) -> Sequence[Pattern]:
        return [DecomposeOp(self.ops)]
