"""
Leave out operands that are zero, where an op computes with zeros if it has none.

    LSTM(x, W, R, b, _, zeros, zeros)  ->  LSTM(x, W, R, b)      likewise GRU, RNN

Exact: the same numbers. Zeros of a size that only the run knows cost a chain of ops on shapes in each run.
"""

from collections.abc import Sequence
from dataclasses import dataclass
from typing import ClassVar

from xdsl.ir import SSAValue

from qdialect.dialects.onnx_base import OnnxOp
from qdialect.exactness import Exactness
from qdialect.patterns.filled import filled_with
from qdialect.promises.defaults import ZeroByDefault
from qdialect.reasons import Blocked
from qdialect.rewriting.driver import Pattern, Rewriter
from qdialect.rewriting.matching import OnTrait
from qdialect.rewriting.passes import RewritePass


class LeaveOutZeros(OnTrait[ZeroByDefault]):
    """An op with operands that may be left out."""

    def match(self, op: OnnxOp, promise: ZeroByDefault, rewriter: Rewriter, /) -> Blocked | None:
        inputs = list(op.inputs)
        zeros = [k for k in promise.places if k < len(inputs) and _is_zero(inputs[k])]
        if not zeros:
            return None
        for place in zeros:
            inputs[place] = None
        types = [None if value is None else value.type for value in op.outputs]
        rewriter.replace(op, [type(op).build(inputs, types, op.onnx_attributes)])
        return None


def _is_zero(value: SSAValue | None) -> bool:
    return value is not None and filled_with(value) == 0


@dataclass(frozen=True)
class FoldZerosPass(RewritePass):
    """Zeros that need not be said."""

    name = "fold-zeros"
    exactness: ClassVar[Exactness] = Exactness.EXACT
    rewrite: ClassVar[str] = "LSTM(x, W, R, b, _, zeros, zeros) -> LSTM(x, W, R, b): zeros are the default"

    def patterns(self) -> Sequence[Pattern]:
        return [LeaveOutZeros()]
