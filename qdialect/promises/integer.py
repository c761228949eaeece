"""Linear ops and their integer sums, ConvInteger and MatMulInteger, which apply neither scales nor bias."""

from __future__ import annotations

from collections.abc import Callable
from dataclasses import dataclass

from xdsl.ir import Attribute

from qdialect.dialects.onnx_base import OnnxOp
from qdialect.ir.values import constant
from qdialect.promises.base import Promise, sometimes, unguarded
from qdialect.reasons import GEMM_FORM, Blocked


def _own(op: OnnxOp) -> dict[str, Attribute]:
    return op.onnx_attributes


def _none(op: OnnxOp) -> dict[str, Attribute]:
    return {}


def _gemm_guard(op: OnnxOp) -> Blocked | None:
    if op.int_attr("transA", 0) or op.float_attr("alpha", 1.0) != 1.0 or op.float_attr("beta", 1.0) != 1.0:
        return GEMM_FORM
    if op.int_attr("transB", 0) and constant(op.operands[1]) is None:
        return Blocked("computed-weight", "Gemm transposes a weight that is computed")
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


INTEGER_SUMS: dict[tuple[str, str], IntegerSum] = {
    ("", "Conv"): IntegerSum("ConvInteger", 1, one_zero_point=True),
    ("", "MatMul"): IntegerSum("MatMulInteger", -1, attributes=_none),
    ("", "Gemm"): IntegerSum("MatMulInteger", -1, guard=_gemm_guard, attributes=_none, turned=_turns_weight),
}


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


INTEGER_PRODUCTS: dict[tuple[str, str], IntegerProduct] = {
    ("", "ConvInteger"): IntegerProduct("Conv", "Conv", 1, one_zero_point=True),
    ("", "MatMulInteger"): IntegerProduct("MatMul", "Gemm", -1),
}
