"""
Where casts stand: the normal form that `sink-dequantize` and `hoist-quantize` reach and `lower-to-qdq` writes.

A quantize stands above an op that only moves or selects elements if `blocks_hoisting` knows no reason against it; a
dequantize always stands below one. Reading and writing ask the same question, so that what is written is read back.
"""

from __future__ import annotations

from collections.abc import Callable, Sequence
from dataclasses import dataclass

from xdsl.ir import OpResult, SSAValue

from qdialect.dialects.onnx_base import ConstantOp, OnnxOp
from qdialect.dialects.quant import UniformType
from qdialect.promises.base import Commutes
from qdialect.promises.clamping import Clamp
from qdialect.reasons import Blocked
from qdialect.rewriting.uses import has_kernel, more_work

INDICES_USED = Blocked(
    "indices-used", "the op also says where elements come from, and rounded ones may be equal"
)
NOT_A_NUMBER = Blocked("not-a-number", "a NaN is quantized to the least integer, which is then selected from")
OTHER_TYPE = Blocked("other-type", "of operands quantized so the op makes another type")
PER_AXIS = Blocked("per-axis", "the result has a scale for each channel, which no integer kernel makes")


@dataclass(frozen=True)
class Hoisting:
    """How far quantizes go up."""

    activations: bool = False
    """Whether above an activation of what an op makes in float too: QDQ has it back in front of the quantize."""
    is_integer: Callable[[OnnxOp], bool] = has_kernel
    """Whether an op above makes the integers itself."""
    selects: bool = True
    """Whether above ops that select or clamp, which changes what becomes of a NaN."""
    wants_integers: Callable[[OnnxOp], bool] = lambda op: False
    """Whether an op gains more on integers than it takes to quantize all that it selects from."""

    def above(
        self,
        op: OnnxOp,
        promise: Commutes,
        types: Sequence[UniformType],
        operands: Sequence[SSAValue | None] | None = None,
    ) -> list[UniformType] | Blocked:
        """
        The types of the quantizes above `op` that stand for those of its results, or why they stay below.

        operands: what carries elements, None for what is dequantized; by default as it is.
        """
        operands = promise.operand_values(op) if operands is None else operands
        if promise.selects and not self.selects:
            return NOT_A_NUMBER
        if promise.points(op):
            return INDICES_USED
        moved = promise.backward(op, types)
        if isinstance(moved, Blocked):
            return moved
        if len(moved) > 1:
            forward = promise.forward(op, moved)
            if isinstance(forward, Blocked) or list(forward) != list(types):
                return OTHER_TYPE
        is_computed = operands[0] is None or isinstance(operands[0], OpResult)
        if not (self.activations and promise.in_place if is_computed else _is_redundant(op, moved)):
            blocked = None if self.wants_integers(op) else more_work(op, promise, self.is_integer, operands)
            blocked = blocked or _per_axis(moved, operands)
            if blocked is not None:
                return blocked
        return list(moved)


def _is_redundant(op: OnnxOp, types: Sequence[UniformType]) -> bool:
    """Whether the op clamps to no less than what its operand's type can store, once for all channels."""
    clamp = op.get_trait(Clamp)
    return clamp is not None and types[0].is_per_tensor and clamp.is_redundant(op, types[0])


def _per_axis(types: Sequence[UniformType], operands: Sequence[SSAValue | None]) -> Blocked | None:
    """No integer kernel makes a result with several scales; onnxruntime tries to, and then refuses to run."""
    for type, value in zip(types, operands, strict=True):
        source = None if value is None else value.owner
        if not type.is_per_tensor and isinstance(source, OnnxOp) and not isinstance(source, ConstantOp):
            return PER_AXIS
    return None
