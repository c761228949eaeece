"""
Lower ops on quantized types to TOSA of upstream MLIR, in the integer profile pro_int.

    op(a, b) : T          ->  tosa.op sums in i32; rescale by a multiplier and a shift to T
    qcast(dcast(q)) : T   ->  rescale, one end of which may be unsigned
    f(q),  f moves        ->  the stored integers, sliced, joined, reshaped, transposed
    f(q),  f unary        ->  tosa.table of 256 entries
    op(a)                 ->  unchanged, with a remark, if the integer profile has no form of it

Close: every op rounds by the integer-only arithmetic of `numerics.rescale`, ties up, at most one step from the same
sums in onnxruntime's arithmetic, which rounds ties to even. If ties are common among a layer's sums, as with scales
that are powers of two, ties go to even here too, by a parity table and a second rescale (`numerics.near_ties`). No
float remains: graph inputs and outputs are integer (--integer-io). All sizes must be known; images have their
channels last.
"""

from xdsl.context import Context
from xdsl.dialects.builtin import ModuleOp
from xdsl.dialects.func import ReturnOp
from xdsl.ir import BlockArgument

from qdialect.dialects.onnx_types import shape_of
from qdialect.dialects.quant import DequantizeOp, QuantizeOp
from qdialect.exactness import Exactness
from qdialect.ops.generated import op_named
from qdialect.rewriting.driver import Rewriter, rewriting
from qdialect.rewriting.matching import OnOp
from qdialect.rewriting.passes import RewritePass, Role
from qdialect.upstream import tosa_dialect as tosa
from qdialect.upstream.lowering import lower
from qdialect.upstream.tosa.elementwise import is_bytes
from qdialect.upstream.tosa.site import TosaSite
from qdialect.upstream.tosa.table import TOSA_FORMS


class Requantize(OnOp[QuantizeOp]):
    """A quantize of a dequantize, as an Identity from one quantized type to another."""

    def match(self, op: QuantizeOp, rewriter: Rewriter, /) -> None:
        source = op.input.owner
        if isinstance(source, DequantizeOp):
            rewriter.replace(op, [op_named("", "Identity").build([source.input], [op.result.type])])


class LowerToTosaPass(RewritePass):
    name = "lower-to-tosa"
    exactness = Exactness.CLOSE
    role = Role.LOWERING
    reasons = (
        "accumulator-overflow activation-per-axis bias-range bias-shape computed-parameter empty-tensor "
        "equal-elements expressed-type float-interface float-operand interpolates mixed-scales no-form "
        "no-kernel open-size other-type pad-form product-form scale-value storage-type too-large "
        "training-mode unknown-shape window-form zero-point"
    )
    rewrite = "op(a, b) : T -> rescale(sum of i32, multiplier, shift) + zero point, ties up: one step at most"
    pattern_types = (Requantize,)

    def apply(self, ctx: Context, op: ModuleOp) -> None:
        super().apply(ctx, op)
        lower(op, self.name, TOSA_FORMS, TosaSite)
        with rewriting(op, self.name) as rewriter:
            for end in [one for one in op.walk() if isinstance(one, ReturnOp)]:
                rewriter.attempt(end, "OwnResults", _own_results)


def _own_results(end: ReturnOp, rewriter: Rewriter) -> None:
    """Copy results that are inputs or repeated, which TOSA's flatbuffer would omit; none without elements."""
    for place, value in enumerate(tuple(end.operands)):
        if not is_bytes(value) or 0 in (shape_of(value.type) or ()):
            continue
        if isinstance(value, BlockArgument) or value in end.operands[:place]:
            copy = tosa.IdentityOp.create(operands=[value], result_types=[value.type])
            rewriter.insert_before(end, [copy])
            rewriter.set_operand(end, place, copy.output)
