"""Linear ops as integer sums: ConvInteger and MatMulInteger, which leave scales and bias to others."""

from __future__ import annotations

from collections.abc import Callable
from dataclasses import dataclass
from typing import TYPE_CHECKING

from qdialect.promises.base import Blocked, Promise

if TYPE_CHECKING:
    from xdsl.ir import Attribute

    from qdialect.dialects.onnx_ops import OnnxOp


def _no_guard(op: OnnxOp) -> Blocked | None:
    return None


def _own(op: OnnxOp) -> dict[str, Attribute]:
    return op.onnx_attributes


def _none(op: OnnxOp) -> dict[str, Attribute]:
    return {}


@dataclass(frozen=True)
class IntegerSum(Promise):
    """The op of the same sums on integers: x, w, x_zero_point, w_zero_point -> int32."""

    op_type: str
    channel_axis: int
    """The result's axis of channels."""
    one_zero_point: bool = False
    """Whether the kernel takes one zero point for the whole weight."""
    guard: Callable[[OnnxOp], Blocked | None] = _no_guard
    attributes: Callable[[OnnxOp], dict[str, Attribute]] = _own


INTEGER_SUMS: dict[tuple[str, str], IntegerSum] = {
    ("", "Conv"): IntegerSum("ConvInteger", 1, one_zero_point=True),
    ("", "MatMul"): IntegerSum("MatMulInteger", -1, attributes=_none),
}
