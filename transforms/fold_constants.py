"""
Evaluate ops that depend on constants alone.

    qcast(constant)           ->  quantized constant
    op(constant, constant..)  ->  constant
    QuantizeLinear(op(DequantizeLinear(constant), ..))  ->  constant
    If(true) {yield a} {yield b}  ->  a
    Range([a], [b], [c])      ->  Range(a, b, c)      onnxruntime refuses constant lists of one in the place of numbers
    f(Gather(table, i))       ->  Gather(f(table), i)       f elementwise, the same for each row, in f32

Exact: a quantize is `numerics.quantize`, every other op is run by onnxruntime without optimization. A dequantize of a
constant is kept: folding it would undo the quantization, unless the result is quantized again. So are ops whose
result has more bytes than `MAX_GROWTH` times the operands and more than `SMALL_RESULT`. An If with a constant condition
is replaced by its branch. A table is replaced by the computed table if the file does not grow.
"""

from collections.abc import Set as AbstractSet

from xdsl.context import Context
from xdsl.dialects.builtin import ModuleOp
from xdsl.ir import Operation

from qdialect.exactness import Exactness
from qdialect.ir.walking import operations
from qdialect.onnx_io.shapes import Cast, infer_unknown
from qdialect.patterns.computing import compute_constants
from qdialect.patterns.constants import FoldBranch, QuantizeConstant, ReadConstant, ReadNumber
from qdialect.patterns.tables import ComputeTable
from qdialect.promises.control import Carries
from qdialect.rewriting.driver import apply_patterns, erase_unused, refresh_signatures
from qdialect.rewriting.passes import RewritePass
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


class FoldConstantsPass(RewritePass):
    name = "fold-constants"
    exactness = Exactness.EXACT
    rewrite = "op(constants) -> constant, qcast(constant) -> quantized constant: computed as the op would"
    pattern_types = (QuantizeConstant, ReadConstant, ReadNumber, FoldBranch, ComputeTable)

    def apply(self, ctx: Context, op: ModuleOp) -> None:
        left = compute_constants(op)
        choices = _choices(op)
        if apply_patterns(op, self.name, self.patterns()):
            users = [readers for one, readers in choices.items() if one.parent is None]
            if users:
                _clean_up(op, {reader for readers in users for reader in readers})
            left = compute_constants(op)  # ops on constants just quantized, or moved out of a branch
        for remaining, blocked in left.items():
            remarks_of(op).add(self.name, remaining, blocked)
        refresh_signatures(op)
