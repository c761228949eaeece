"""
Compute what depends on constants alone.

    qcast(constant)           ->  quantized constant
    op(constant, constant..)  ->  constant

Exact: a quantize is `numerics.quantize`, every other op is run by onnxruntime without optimization. A dequantize of a
constant stays: folding it would undo the quantization. So does what would grow: a result of more bytes than
`MAX_GROWTH` times the operands and more than `SMALL_RESULT`.
"""

from xdsl.context import Context
from xdsl.dialects.builtin import ModuleOp
from xdsl.ir import Operation, OpResult

from qdialect.dialects.onnx_base import ConstantOp
from qdialect.dialects.quant import QuantizeOp, StorageCastOp
from qdialect.exactness import Exactness
from qdialect.ir.names import location, tensor_name
from qdialect.ir.values import constant, static_shape
from qdialect.ir.walking import operations
from qdialect.patterns.computing import Computation, quantized_constant
from qdialect.reasons import Blocked
from qdialect.rewriting.driver import Rewriter, apply_patterns, refresh_signatures
from qdialect.rewriting.matching import OnOp
from qdialect.rewriting.passes import RewritePass
from qdialect.rewriting.remarks import remarks_of


class QuantizeConstant(OnOp[QuantizeOp]):
    """A quantize of a float constant."""

    def match(self, op: QuantizeOp, rewriter: Rewriter, /) -> Blocked | None:
        tensor = constant(op.operands[0])
        if tensor is None:
            return None
        rewriter.replace(op, [ConstantOp.of(quantized_constant(tensor, op.element_type), op.results[0].type)])
        return None


class ReadConstant(OnOp[StorageCastOp]):
    """A storage cast of a constant: the same bytes under another type."""

    def match(self, op: StorageCastOp, rewriter: Rewriter, /) -> Blocked | None:
        source = op.operands[0]
        tensor = constant(source)
        if tensor is None or not isinstance(source, OpResult) or static_shape(op.results[0]) is None:
            return None
        new = ConstantOp.of(tensor, op.results[0].type)
        new.location = location("", [tensor_name(source.op) or tensor_name(op)])
        rewriter.replace(op, [new])
        return None


def _computed(module: ModuleOp) -> dict[Operation, Blocked]:
    """Replace ops that depend on constants alone by their results; why others are left is returned."""
    computation = Computation(module)
    for op in operations(module):
        computation.show(op)
    computation.compute_all()
    return computation.left


class FoldConstantsPass(RewritePass):
    """What depends on constants alone is computed."""

    name = "fold-constants"
    exactness = Exactness.EXACT
    rewrite = "op(constants) -> constant, qcast(constant) -> quantized constant: computed as the op would"
    pattern_types = (QuantizeConstant, ReadConstant)

    def apply(self, ctx: Context, op: ModuleOp) -> None:
        left = _computed(op)
        if apply_patterns(op, self.name, self.patterns()):
            left = _computed(op)  # of constants that have only now been quantized
        for remaining, blocked in left.items():
            remarks_of(op).add(self.name, remaining, blocked)
        refresh_signatures(op)
