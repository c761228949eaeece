"""
Linear ops: sums of products of an activation and a weight, plus a bias in steps of x_scale * w_scale; and their integer
sums, ConvInteger and MatMulInteger, which apply neither scales nor bias.
"""

from __future__ import annotations

from collections.abc import Callable, Sequence
from dataclasses import dataclass
from math import prod
from typing import Any

import numpy as np
import numpy.typing as npt
from xdsl.ir import Attribute, Operation, SSAValue
from xdsl.utils.exceptions import VerifyException

from qdialect import numerics
from qdialect.dialects.onnx_base import OnnxOp
from qdialect.dialects.onnx_types import quantized_of
from qdialect.dialects.quant import UniformType
from qdialect.dialects.snapshot import MICROSOFT
from qdialect.ir.values import constant, rank_of, static_shape
from qdialect.promises.base import Promise, sometimes, unguarded
from qdialect.reasons import GEMM_FORM, Blocked

WRONG_AXIS = Blocked(
    "weight-axis",
    "the weight's scales do not run along its output channels",
    "quantize the weight per tensor or per output channel",
)
EMPTY_SUM = Blocked("empty-tensor", "the sums have no terms, and kernels leave such results undefined")
BIAS_TOLERANCE = 1e-6
"""Greatest relative difference of a bias scale from x_scale * w_scale: a few units in the last place."""


@dataclass(frozen=True)
class Linear(Promise):
    """Operand 0 is the activation, 1 the weight, 2 the bias if there is one."""

    output_axis: Callable[[OnnxOp, int], int]
    """The weight's axis of output channels, from the weight's rank."""
    has_bias: bool = True
    groups_share_axis: bool = False
    """True if that axis, unless it is the first, holds the channels of one group, of which each group has as many."""
    result_axis: int = 1
    """The result's axis of those channels; negative counts from the end."""
    input_axis: Callable[[OnnxOp, int], int | None] = lambda op, rank: None
    """The weight's axis of one group's input channels, which are axis 1 of the activation; None if there is none."""

    inputs_last: bool = False
    """True if the summed axis is the activation's last and the weight's last but one."""

    def summed_axes(self, op: OnnxOp) -> tuple[int, int] | None:
        """The axes of the activation and of the weight along which products are summed; None if unknown."""
        shape, rank = static_shape(op.operands[1]), rank_of(op.operands[0])
        if shape is None or rank is None or min(len(shape), rank) < 2:
            return None
        if self.inputs_last:
            return rank - 1, len(shape) - 2
        axis = self.input_axis(op, len(shape))
        return None if axis is None else (1, axis)

    def output_channels(self, op: OnnxOp) -> int | None:
        """Number of channels of the result; None if unknown."""
        shape, axis = static_shape(op.operands[1]), self.weight_axis(op)
        if shape is None or axis is None:
            return None
        return shape[axis] * self.sharing_groups(op)

    def sharing_groups(self, op: OnnxOp) -> int:
        """Number of groups that share the weight's axis of output channels, each with as many of its own."""
        return op.int_attr("group", 1) if self.groups_share_axis and self.weight_axis(op) != 0 else 1

    def weight_axis(self, op: OnnxOp) -> int | None:
        """The weight's axis of output channels; None if the weight's rank is not known."""
        rank = rank_of(op.operands[1])
        axis = None if rank is None else self.output_axis(op, rank)
        return axis if axis is not None and rank is not None and 0 <= axis < rank else None

    def is_depthwise(self, op: OnnxOp, channels: int) -> bool:
        """True if each channel (axis 1) of the activation is a group of its own: no sum mixes two channels."""
        shape = static_shape(op.operands[1])
        axis = None if shape is None else self.input_axis(op, len(shape))
        if shape is None or axis is None or self.weight_axis(op) != 0:
            return False
        return op.int_attr("group", 1) == channels and shape[axis] == 1

    def sees_border(self, op: OnnxOp) -> bool:
        """True if sums may include padding, real zeros around the activation."""
        return op.str_attr("auto_pad", "").startswith("SAME") or any(op.ints_attr("pads") or ())

    def verify(self, op: Operation) -> None:
        """Raise VerifyException if the operands' quantized types violate O10 to O12."""
        if isinstance(op, OnnxOp) and (blocked := self.check(op)) is not None:
            raise VerifyException(blocked.message)

    def check(self, op: OnnxOp) -> Blocked | None:
        """`Blocked` if the quantized types of the operands violate a constraint of linear ops; None otherwise."""
        return self.check_operands(op, op.operands)

    def check_operands(self, op: OnnxOp, operands: Sequence[SSAValue]) -> Blocked | None:
        """`check` of `op` with these operands in place of its own."""
        x, w = quantized_of(operands[0].type), quantized_of(operands[1].type)
        if w is not None and not w.is_per_tensor and w.axis != self.weight_axis(op):  # O10
            return WRONG_AXIS
        b = quantized_of(operands[2].type) if self.has_bias and len(operands) > 2 else None
        if b is None:
            return None
        if x is None or w is None or not x.is_per_tensor:  # O11
            return Blocked(
                "float-operand", "the bias is quantized but its operands are not, per tensor and per channel"
            )
        return (  # O12
            None
            if bias_matches(x, w, b)
            else Blocked("bias-scale", "the bias is not in steps of x_scale * w_scale", "run rescale-bias")
        )


def bias_matches(x: UniformType, w: UniformType, b: UniformType) -> bool:
    """True if a bias type suits an integer kernel: i32, zero point 0, scale x_scale * w_scale."""
    if b.storage.name != "i32" or b.zero_points.any() or not x.is_per_tensor or w.blocks or b.blocks:
        return False  # sums with terms of several scales have no steps
    wanted = numerics.bias_scale(x.scales, w.scales)
    if b.scales.size not in (1, wanted.size) and wanted.size != 1:  # a group's scales, each channel's biases
        return False
    return bool(np.all(np.abs(b.scales - wanted) <= BIAS_TOLERANCE * wanted))


def largest_sums(
    op: OnnxOp,
    x: UniformType,
    w: UniformType,
    weight: npt.NDArray[Any] | None,
    bias: npt.NDArray[np.int32] | None = None,
) -> npt.NDArray[np.int64] | None:
    """
    The largest |accumulator| of each channel of a linear op; None if int32 is known to hold it, or not enough is known.

    `weight`: the stored integers of operand 1, if constant; `bias`: in accumulator steps, one for each channel.
    """
    linear, shape = op.get_trait(Linear), static_shape(op.operands[1])
    axis = None if linear is None else linear.weight_axis(op)
    if shape is None or axis is None or not x.is_per_tensor:
        return None
    low, high, zero = x.storage.low, x.storage.high, x.zero_point
    reach = max(abs(low - zero), abs(high - zero))
    zeros = w.zero_points.reshape(-1)
    widest = int(max(np.abs(zeros - w.storage.low).max(), np.abs(zeros - w.storage.high).max()))
    added = np.zeros(1, np.int64) if bias is None else np.abs(bias.astype(np.int64))
    if prod(shape) // max(shape[axis], 1) * widest * reach + int(added.max(initial=0)) <= numerics.INT32_MAX:
        return None
    if weight is None:
        return None
    sums = numerics.accumulator_bound(weight, low, high, zero, w.zero_points, output_axis=axis)
    return np.tile(sums, max(added.size // sums.size, 1)) + added


def _gemm_axis(op: OnnxOp, rank: int) -> int:
    return 0 if op.int_attr("transB", 0) else 1


def _spreading_axis(op: OnnxOp, rank: int) -> int:
    """1; the first of a weight whose only output channel there is that of the group of one input channel each."""
    shape = static_shape(op.operands[1])
    return 0 if shape is not None and shape[1:2] == (1,) and op.int_attr("group", 1) == shape[0] else 1


def _matmul_axis(op: OnnxOp, rank: int) -> int:
    return rank - 1 if rank > 1 else -1  # a vector has no output channels


def _gemm_input_axis(op: OnnxOp, rank: int) -> int | None:
    return None if op.int_attr("transA", 0) else 1 - _gemm_axis(op, rank)


LINEAR: dict[tuple[str, str], Linear] = {
    ("", "Conv"): Linear(lambda op, rank: 0, input_axis=lambda op, rank: 1),
    ("", "ConvTranspose"): Linear(_spreading_axis, groups_share_axis=True),
    ("", "Gemm"): Linear(_gemm_axis, input_axis=_gemm_input_axis),
    ("", "MatMul"): Linear(_matmul_axis, has_bias=False, result_axis=-1, inputs_last=True),
}


def _own(op: OnnxOp) -> dict[str, Attribute]:
    return op.onnx_attributes


def _none(op: OnnxOp) -> dict[str, Attribute]:
    return {}


def _gemm_guard(op: OnnxOp) -> Blocked | None:
    if op.int_attr("transA", 0) or op.float_attr("alpha", 1.0) != 1.0 or op.float_attr("beta", 1.0) != 1.0:
        return GEMM_FORM
    if op.int_attr("transB", 0) and constant(op.operands[1]) is None:
        return Blocked("computed-parameter", "Gemm transposes a weight that is computed")
    return None


def _turns_weight(op: OnnxOp) -> bool:
    return bool(op.int_attr("transB", 0))


@dataclass(frozen=True)
class IntegerSum(Promise):
    """The integer op with the same sums: x, w, x_zero_point, w_zero_point -> int32."""

    op_type: str
    channel_axis: int
    """The result's axis of channels."""
    one_zero_point: bool = False
    """True if the kernel takes only one zero point for the whole weight."""
    guard: Callable[[OnnxOp], Blocked | None] = unguarded
    attributes: Callable[[OnnxOp], dict[str, Attribute]] = _own
    turned: Callable[[OnnxOp], bool] = sometimes
    """True if the kernel takes the op's weight transposed; the weight is a constant matrix then."""


@dataclass(frozen=True)
class IntegerProduct(Promise):
    """The op sums products of integers minus their zero points: operands x, w, x zero point, w zero point."""

    name: str
    """Name of the same op on real numbers."""
    with_bias: str
    """Name of the op with a bias; if it differs from `name`, it takes matrices only."""
    channel_axis: int
    """The result's axis of output channels."""
    one_zero_point: bool = False
    """True if kernels take only one zero point for the whole weight, where the op may have one for each channel."""


@dataclass(frozen=True)
class ZeroPoints(Promise):
    """The op sums products of integers minus zero points that it takes as operands."""

    optional: Sequence[int]
    """The operands that are zero points and may be left out."""
    columns: Sequence[int] = ()
    """The operands of one number, or one for each column of a matrix, operand `weight`, or of a batch of them."""
    weight: int = 1


INTEGERS: dict[tuple[str, str], Promise] = {
    ("", "Conv"): IntegerSum("ConvInteger", 1, one_zero_point=True),
    ("", "MatMul"): IntegerSum("MatMulInteger", -1, attributes=_none),
    ("", "Gemm"): IntegerSum("MatMulInteger", -1, guard=_gemm_guard, attributes=_none, turned=_turns_weight),
    ("", "ConvInteger"): IntegerProduct("Conv", "Conv", 1, one_zero_point=True),
    ("", "MatMulInteger"): IntegerProduct("MatMul", "Gemm", -1),
}
ZERO_POINTS: dict[tuple[str, str], Promise] = {
    ("", "ConvInteger"): ZeroPoints((2, 3)),
    ("", "MatMulInteger"): ZeroPoints((2, 3), (3,)),
    ("", "QLinearMatMul"): ZeroPoints((), (4, 5), weight=3),
    (MICROSOFT, "MatMulIntegerToFloat"): ZeroPoints((4, 5), (5,)),
    (MICROSOFT, "DynamicQuantizeMatMul"): ZeroPoints((3,), (3,)),
}
