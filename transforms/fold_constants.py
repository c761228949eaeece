"""
Compute what depends on constants alone.

    qcast(constant)           ->  quantized constant
    op(constant, constant..)  ->  constant
    If(true) {yield a} {yield b}  ->  a

Exact: a quantize is `numerics.quantize`, every other op is run by onnxruntime without optimization. A dequantize of a
constant stays: folding it would undo the quantization. So does what would grow: a result of more bytes than
`MAX_GROWTH` times the operands and more than `SMALL_RESULT`. A branch that a constant chooses stands in the place of
its If: the other never runs.
"""

from xdsl.context import Context
from xdsl.dialects.builtin import ModuleOp
from xdsl.ir import Operation

from qdialect.exactness import Exactness
from qdialect.ir.walking import operations
from qdialect.onnx_io.shapes import Cast, infer_unknown
from qdialect.patterns.computing import Computation
from qdialect.patterns.constants import FoldBranch, QuantizeConstant, ReadConstant
from qdialect.promises.control import Carries
from qdialect.reasons import Blocked
from qdialect.rewriting.driver import apply_patterns, erase_unused, refresh_signatures
from qdialect.rewriting.passes import RewritePass
from qdialect.rewriting.remarks import remarks_of


def _computed(module: ModuleOp) -> dict[Operation, Blocked]:
    """Replace ops that depend on constants alone by their results; why others are left is returned."""
    computation = Computation(module)
    for op in operations(module):
        computation.show(op)
    computation.compute_all()
    return computation.left


def _choices(module: ModuleOp) -> list[Operation]:
    """The operations with branches of which a condition chooses one."""
    promises = ((op, op.get_trait(Carries)) for op in operations(module))
    return [op for op, promise in promises if promise is not None and promise.branches]


def _clean_up(module: ModuleOp) -> None:
    """Drop what only branches took that are gone; learn the types of what the others yielded."""
    erase_unused(module)
    if not any(isinstance(op, Cast) for op in operations(module)):
        infer_unknown(module)


class FoldConstantsPass(RewritePass):
    """What depends on constants alone is computed."""

    name = "fold-constants"
    exactness = Exactness.EXACT
    rewrite = "op(constants) -> constant, qcast(constant) -> quantized constant: computed as the op would"
    pattern_types = (QuantizeConstant, ReadConstant, FoldBranch)

    def apply(self, ctx: Context, op: ModuleOp) -> None:
        left = _computed(op)
        choices = _choices(op)
        if apply_patterns(op, self.name, self.patterns()):
            if any(one.parent is None for one in choices):
                _clean_up(op)
            left = _computed(op)  # of constants that have only now been quantized, or stood in a branch
        for remaining, blocked in left.items():
            remarks_of(op).add(self.name, remaining, blocked)
        refresh_signatures(op)
