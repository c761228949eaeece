"""
Store the second operand of a product, if it is computed, with the signedness of weights.

    product(x, move(qcast(y) : u8, z))  ->  product(x, move(qcast(y) : i8, z - 128))      where weights are i8

Exact: the same real numbers in the other signedness; a quantize to either type costs the same, also after an op
without an integer kernel. Kernels take as long on a computed operand as on a constant weight: in onnxruntime products
of u8 and i8 take 0.5 to 0.9 of the time of u8 and u8. On processors that multiply tiles of 16 channels they take up
to 1.2 times as long if the rows of a head are not a multiple of 16.
"""

from xdsl.ir import Operation, SSAValue

from qdialect.dialects.onnx_base import OnnxOp
from qdialect.dialects.onnx_types import DYNAMIC, quantized_of, shape_of
from qdialect.dialects.quant import QuantizeOp
from qdialect.exactness import Exactness
from qdialect.ir.values import is_constant, is_float32
from qdialect.patterns.affine import SECOND_CONSUMER
from qdialect.patterns.reading import retyped
from qdialect.patterns.signedness import signed
from qdialect.patterns.target_pattern import ForTarget, TargetPass
from qdialect.promises.base import Commutes
from qdialect.promises.linear import Linear
from qdialect.reasons import OTHER_REGION, Blocked
from qdialect.rewriting.driver import Rewriter
from qdialect.rewriting.matching import OnTrait
from qdialect.rewriting.passes import Role

TILE_CHANNELS = 16
"""Channels of the smaller axis of the operand come in multiples of this."""


class RetypeOperand(OnTrait[Linear], ForTarget):
    """A linear op on two computed activations in u8."""

    def match(self, op: OnnxOp, promise: Linear, rewriter: Rewriter, /) -> Blocked | None:
        x, type = quantized_of(op.operands[0].type), quantized_of(op.operands[1].type)
        new = None if type is None else signed(type)
        if x is None or type is None or new is None or not type.is_per_tensor or is_constant(op.operands[1]):
            return None
        if (self._target.activations, self._target.weights) != (x.storage.name, new.storage.name):
            return None
        if self._target.largest_weight is not None:
            return None  # sums of a computed operand may saturate
        chain = _chain(op.operands[1])
        if chain is None or isinstance(chain, Blocked):
            return chain
        sizes = [size for size in (shape_of(op.operands[1].type) or ())[-2:] if size != DYNAMIC]
        if not sizes or min(sizes) % TILE_CHANNELS:
            return Blocked(
                "does-not-pay", f"the smaller axis of the operand is not a multiple of {TILE_CHANNELS}"
            )
        rewriter.replace(chain[-1], retyped(chain, new))
        return None


def _chain(value: SSAValue) -> list[OnnxOp | QuantizeOp] | Blocked | None:
    """The ops that move `value`, from that on whose result is quantized; None if a kernel makes the integers."""
    chain: list[OnnxOp | QuantizeOp] = []
    while True:
        op = value.owner
        if not isinstance(op, QuantizeOp | OnnxOp) or op.regions or len(op.results) != 1:
            return None
        chain.insert(0, op)
        if _is_made_in_float(op):
            break
        promise = op.get_trait(Commutes)
        if promise is None or not isinstance(op, OnnxOp) or len(promise.operands(op)) != 1 or promise.selects:
            return None
        value = promise.operand_values(op)[0]
    if not all(each.results[0].has_one_use() for each in chain):
        return SECOND_CONSUMER
    return OTHER_REGION if len({each.parent for each in chain}) > 1 else chain


def _is_made_in_float(op: Operation) -> bool:
    """True for a quantize, and for an op that stands between casts as no kernel takes a float operand."""
    if isinstance(op, QuantizeOp):
        return True
    if op.get_trait(Commutes) is not None or op.get_trait(Linear) is not None:
        return False
    return any(map(is_float32, op.operands))


class LegalizeOperandsPass(TargetPass):
    name = "legalize-operands"
    exactness = Exactness.EXACT
    role = Role.LEGALIZING
    reasons = "does-not-pay second-consumer sides-differ"
    rewrite = "product(x, qcast(y) : u8, z) -> product(x, qcast(y) : i8, z - 128): the same real numbers"
    pattern_types = (RetypeOperand,)
