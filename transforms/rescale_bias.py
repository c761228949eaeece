"""
Bring the bias of an integer op into steps of x_scale * w_scale, as its int32 accumulator counts.

    linear(x, w, b)  ->  linear(x, w, rint(b / (x_scale * w_scale)) : i32)

Close: the bias moves by at most half an accumulator step. Not where it would leave int32: it is never clipped.
"""

from collections.abc import Sequence
from dataclasses import dataclass
from typing import Any, ClassVar

import numpy as np
import numpy.typing as npt
from xdsl.ir import Operation, OpResult, SSAValue

from qdialect import numerics
from qdialect.constants import real_constant
from qdialect.dialects.onnx_ops import ConstantOp, OnnxOp
from qdialect.dialects.onnx_tensor import from_array
from qdialect.dialects.onnx_types import quantized_of, tensor_type
from qdialect.dialects.quant import DequantizeOp, Storage, UniformType
from qdialect.names import location, tensor_name
from qdialect.passes import Exactness, RewritePass
from qdialect.promises.base import Blocked
from qdialect.promises.kernels import Kernels
from qdialect.promises.linear import Linear
from qdialect.rewriting import Pattern, Rewriter


class RescaleBias(Pattern):
    """The bias of a linear op between quantized activation and weight."""

    def accepts(self, op_class: type[Operation]) -> bool:
        linear = op_class.get_trait(Linear)
        return linear is not None and linear.has_bias

    def rewrite(self, op: Operation, rewriter: Rewriter) -> Blocked | None:
        assert isinstance(op, OnnxOp)
        bias = op.input(2)
        x, w = quantized_of(op.operands[0].type), quantized_of(op.operands[1].type)
        if bias is None or x is None or w is None or quantized_of(bias.type) is not None:
            return None
        if not x.is_per_tensor:
            return Blocked("activation-per-axis", "the activation has a scale for each channel")
        if not self._has_kernel(op):
            return Blocked("no-kernel", "no integer kernel makes this result, so the bias stays in float")
        real = real_constant(bias)
        if real is None:
            return Blocked("computed-bias", "the bias is computed at run time")
        linear = op.get_trait(Linear)
        assert linear is not None
        channels = linear.output_channels(op)
        if (
            channels is None
            or real.size not in (1, channels)
            or (real.size > 1 and real.shape[-1:] != (channels,))
        ):
            return Blocked(
                "bias-shape", f"the bias has shape {list(real.shape)}, not one value for each channel"
            )
        if w.scales.size not in (1, channels):
            return Blocked(
                "grouped-scales", "each group has the same scales, the bias has one for each channel"
            )
        flat = np.broadcast_to(real.reshape(-1), (channels,)).astype(np.float32)
        stored, overflow = numerics.quantize_bias(flat, x.scales, w.scales)
        if overflow.any():
            return Blocked(
                "bias-overflow",
                f"{int(overflow.sum())} of {channels} biases do not fit in int32 at x_scale * w_scale",
            )
        self._replace(op, bias, stored, numerics.bias_scale(x.scales, w.scales), rewriter)
        return None

    def _has_kernel(self, op: OnnxOp) -> bool:
        kernels, result = op.get_trait(Kernels), quantized_of(op.results[0].type)
        if kernels is None or (result is not None and not result.is_per_tensor):
            return False
        return any(k.float_result == (result is None) and "2v" in k.inputs for k in kernels.forms)

    def _replace(
        self,
        op: OnnxOp,
        bias: SSAValue,
        stored: npt.NDArray[Any],
        scale: npt.NDArray[Any],
        rewriter: Rewriter,
    ) -> None:
        i32 = Storage.of("i32")
        if scale.ndim:
            type = UniformType.per_axis(i32, 0, scale, np.zeros(scale.shape, np.int32))
        else:
            type = UniformType.per_tensor(i32, scale.item())
        new = ConstantOp.of(from_array(stored), tensor_type(type, stored.shape))
        source = bias.owner.operands[0] if isinstance(bias.owner, DequantizeOp) else bias
        if isinstance(source, OpResult):
            new.location = location("", [f"{tensor_name(source.op)}_quantized"])
        rewriter.insert_before(op, [new])
        rewriter.set_operand(op, 2, new.results[0])


@dataclass(frozen=True)
class RescaleBiasPass(RewritePass):
    """Biases are counted in accumulator steps."""

    name = "rescale-bias"
    exactness: ClassVar[Exactness] = Exactness.CLOSE
    rewrite: ClassVar[str] = (
        "linear(x, w, b) -> linear(x, w, rint(b / (x_scale * w_scale)) : i32): off by at most half an accumulator step"
    )

    def patterns(self) -> Sequence[Pattern]:
        return [RescaleBias()]
