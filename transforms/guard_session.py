"""
Guard nodes between casts against what a session of the target's runtime does with them as it loads the model.

    op(x)  ->  op(Sum(x))                                        no fusion across, no cast moved past: the identity
    move(DequantizeLinear(q))  ->  DequantizeLinear(QuantizeLinear(move(DequantizeLinear(q))))     of the same type
    Add(MatMul(x, w), b)  ->  Add(MatMul(x, w), Reshape(b))      of the result's rank
    op(x)  ->  others of equal results                           where the target's file names faster ones

A session of onnxruntime with its default optimizations fuses ops and casts into integer kernels, moves casts, and drops
some. Where it then refuses the model, gives other numbers than the model without optimizations, or takes longer, a rule
of `qdialect/runtimes/onnxruntime/rules.py` tells the place and the guard; [targets](targets.md) lists the rules.

Exact: a Sum of one operand is the identity; a quantize of a value that was dequantized from its type gives the same
integers. It runs for targets whose file says `session = "onnxruntime"`, or another runtime that has rules in
`qdialect/runtimes` ([how to add one](adding-a-runtime.md)), and on each model that `quantize` judges in a session of
onnxruntime; a target without `session` gets no guard.
"""

from dataclasses import dataclass

from xdsl.context import Context
from xdsl.dialects.builtin import ModuleOp

from qdialect.exactness import Exactness
from qdialect.patterns.qdq_writer import settle_written
from qdialect.rewriting.driver import rewriting
from qdialect.rewriting.passes import Pass
from qdialect.runtimes import session_rules
from qdialect.targets import target


@dataclass(frozen=True)
class GuardSessionPass(Pass):
    name = "guard-session"
    exactness = Exactness.EXACT
    rewrite = "op(x) -> op(Sum(x)) where a session would fuse wrongly, fail, or be slower"

    target: str = "onnxruntime"
    """The target whose file names the runtime, what its sessions move casts past, and what they are slow at."""

    def apply(self, ctx: Context, op: ModuleOp) -> None:
        found = target(self.target)
        if not found.session:
            return
        with rewriting(op, self.name):
            session_rules(found.session).guard(op, found)
        settle_written(op)
