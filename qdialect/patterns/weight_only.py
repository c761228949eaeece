"""The pattern that writes a float activation times a quantized weight as one kernel."""

from __future__ import annotations

from xdsl.dialects.builtin import Float32Type
from xdsl.ir import SSAValue

from qdialect.dialects.onnx_base import OnnxOp
from qdialect.dialects.onnx_types import element_of
from qdialect.dialects.quant import DequantizeOp
from qdialect.dialects.snapshot import MICROSOFT
from qdialect.forms.nodes import Nodes
from qdialect.ir.names import wish
from qdialect.ir.values import rank_of
from qdialect.patterns.target_pattern import ForTarget
from qdialect.promises.casts import dequantized_constant
from qdialect.promises.linear import Linear
from qdialect.promises.weight_only import PackedWeight, WeightOnly, packed_weight
from qdialect.reasons import Blocked, unblocked
from qdialect.rewriting.driver import Rewriter
from qdialect.rewriting.matching import OnTrait

KERNEL = "MatMulNBits"
MADE_BY_SESSION = Blocked(
    "made-by-session",
    f"when onnxruntime loads the model, it replaces the op by {KERNEL} with 8-bit activations",
)
FLOAT_SUMS = 1
"""accuracy_level: activations stay float32. Without it onnxruntime may quantize them to 8 bits."""


class LowerWeightOnly(OnTrait[WeightOnly], ForTarget):
    """linear(x, dcast(w), b), x in float, as the kernel that dequantizes w block by block."""

    def match(self, op: OnnxOp, promise: WeightOnly, rewriter: Rewriter, /) -> Blocked | None:
        source, linear = dequantized_constant(op.operands[1]), op.get_trait(Linear)
        if source is None or linear is None or element_of(op.operands[0].type) != Float32Type():
            return None
        if isinstance(getattr(op.operands[0], "op", None), DequantizeOp):
            return None  # left to an integer kernel
        tensor, type = source
        outputs = linear.weight_axis(op)
        if not self._target.has_kernel(KERNEL, ["f32", type.storage.name], "f32"):
            return Blocked("no-kernel", f"{self._target.name} has no {KERNEL} for {type.storage.name}")
        blocked = promise.guard(op) or fits_kernel(op, outputs)
        if blocked is not None or outputs is None:
            return blocked
        limit = self._target.weight_only_limit
        if limit is not None and outputs == 1 and tensor.data.count > limit:
            return MADE_BY_SESSION
        packed = unblocked(packed_weight(tensor.array(), type, 1 - outputs))
        shape = tensor.type.get_shape()
        write_kernel(op, packed, shape[1 - outputs], shape[outputs], rewriter)
        return None


def fits_kernel(op: OnnxOp, outputs: int | None) -> Blocked | None:
    """`Blocked` if the kernel does not take operands of these ranks. outputs: the axis of the weight's outputs."""
    rank, bias = rank_of(op.operands[0]), op.input(2)
    if rank_of(op.operands[1]) != 2 or outputs not in (0, 1) or rank is None or rank < 2:
        return Blocked("product-form", "the kernel takes a weight of rank 2 and an activation of 2 or more")
    if bias is not None and rank_of(bias) != 1:
        return Blocked("bias-shape", "the bias is not one value for each channel")
    return None


def write_kernel(op: OnnxOp, packed: PackedWeight, inputs: int, outputs: int, rewriter: Rewriter) -> None:
    """Replace a product by the kernel, with a weight of so many inputs and outputs."""
    name, nodes, zeros = wish(op.operands[1]) or "weight", Nodes(), packed.zero_points
    operands: list[SSAValue | None] = [
        op.operands[0],
        nodes.constant(packed.stored, name=f"{name}_q{packed.bits}"),
        nodes.constant(packed.scales, name=f"{name}_scales"),
        None if zeros is None else nodes.constant(zeros, name=f"{name}_zero_points"),
    ]
    if (bias := op.input(2)) is not None:
        operands += [None, bias]
    attributes = {
        "K": inputs,
        "N": outputs,
        "bits": packed.bits,
        "block_size": packed.block,
        "accuracy_level": FLOAT_SUMS,
    }
    nodes.add(KERNEL, operands, op.result_types[0], attributes, domain=MICROSOFT)
    rewriter.replace(op, nodes.ops)
