"""
Integer kernels: the QOperator node that computes `quantize(op(dequantize(operands)))`, as a template of its inputs.

In a template `0v`, `0s`, `0z` are operand 0's integers, scale and zero point, `ys`, `yz` the result's, `*` the three of
every operand. A template promises arithmetic only; the target file lists the types that have a kernel.
"""

from __future__ import annotations

from collections.abc import Callable, Sequence
from dataclasses import dataclass
from math import prod
from typing import NamedTuple

from xdsl.dialects.builtin import IntegerAttr, i64
from xdsl.ir import Attribute

from qdialect.dialects.onnx_base import OnnxOp, onnx_opset
from qdialect.dialects.onnx_types import DYNAMIC, quantized_of, shape_of
from qdialect.dialects.snapshot import MICROSOFT
from qdialect.ir.values import normal_axis, rank_of, static_shape
from qdialect.promises.base import Promise, unguarded
from qdialect.promises.linear import EMPTY_SUM
from qdialect.reasons import Blocked

FAR_APART = Blocked(
    "mixed-scales", "the ratio of the operand's and the result's scale is out of the kernel's range"
)
SHORT_ROW = Blocked(
    "made-by-session", "the kernel overflows at this scale for a row this short, or of unknown length"
)
SOFTMAX_STEPS = 128
"""Steps of a result up to 1.0, per element of a row, that onnxruntime's QLinearSoftmax can count (1.31: measured)."""


def _no_extra(op: OnnxOp) -> dict[str, Attribute]:
    return {}


def _as_given(node: OnnxOp, opset: int) -> dict[str, Attribute] | Blocked:
    return node.onnx_attributes


IsWrong = Callable[[OnnxOp, Sequence[float], float], bool]
"""Takes an op, the scales of its operands and that of its result."""


def _never(op: OnnxOp, operands: Sequence[float], result: float) -> bool:
    return False


@dataclass(frozen=True)
class Kernel(Promise):
    """One QOperator form of an op."""

    domain: str
    op_type: str
    inputs: str
    float_result: bool = False
    """True if the result is float: no final quantize."""
    adds: bool = False
    """True if the node may add a float bias, an input behind those of the template."""
    refuses: Callable[[OnnxOp], Blocked | None] = unguarded
    """Reason why the kernel computes another function than the op, at any scales."""
    is_wrong: IsWrong = _never
    """True if the kernel gives wrong results at these scales; sessions also fuse the op between casts into it."""
    wrong: Blocked = FAR_APART
    """The reason if it does."""
    extra: Callable[[OnnxOp], dict[str, Attribute]] = _no_extra
    """Attributes of the node that the op lacks."""
    rows: Callable[[OnnxOp], Rows | None] | None = None
    """
    Rows of elements that are computed together, None if not known: of ops whose float kernel between casts may be
    faster, by the costs of both per row and per element.
    """
    read: Callable[[OnnxOp, int], dict[str, Attribute] | Blocked] = _as_given
    """The op's attributes in an opset from the node's: the inverse of `extra`."""

    def guard(self, op: OnnxOp) -> Blocked | None:
        """Reason why the kernel does not compute `op` on its types; None if it does, or a type is not per tensor."""
        blocked = self.refuses(op)
        if blocked is not None or self.is_wrong is _never:
            return blocked
        types = [quantized_of(value.type) for value in (*op.operands, op.results[0])]
        scales = [float(type.scale) for type in types if type is not None and type.is_per_tensor]
        is_known = len(scales) == len(types)
        return self.wrong if is_known and self.is_wrong(op, scales[:-1], scales[-1]) else None


class Rows(NamedTuple):
    """Rows of elements that are reduced independently: rows of a Softmax, windows of a pool."""

    number: int
    size: int
    """Elements of a row; overlapping windows share theirs."""
    operand: int
    """Elements of the operand."""


@dataclass(frozen=True)
class Kernels(Promise):
    """The QOperator forms of an op, the preferred first."""

    forms: tuple[Kernel, ...]
    sensitive: bool = False
    """True if an 8-bit result loses too much accuracy for the time saved: quantizing a model leaves the op in float."""

    @property
    def takes_any_scales(self) -> bool:
        """True if a kernel is variadic, each operand with its own scale."""
        return any("*" in form.inputs for form in self.forms)


def _scaled_bias(op: OnnxOp) -> Blocked | None:
    if op.float_attr("beta", 1.0) != 1.0:
        return Blocked("product-form", "Gemm scales its bias", "fold beta into the bias")
    if op.input(2) is not None and op.float_attr("alpha", 1.0) != 1.0:
        # QGemm requires this bias in steps of alpha * x_scale * w_scale.
        return Blocked(
            "product-form", "Gemm scales its product but not its bias", "fold alpha into the weight"
        )
    return None


def _ragged_windows(op: OnnxOp) -> Blocked | None:
    dilations = op.ints_attr("dilations")
    if dilations is not None and any(d != 1 for d in dilations):
        return Blocked("window-form", "no integer kernel averages over a dilated window")
    if op.int_attr("ceil_mode", 0) and op.int_attr("count_include_pad", 0) and not _windows_fit(op):
        return Blocked(
            "window-form",
            "a window ends beyond the padding, and the kernel counts that part in the mean, the op does not",
        )
    return None


def _pool_differs(op: OnnxOp, operands: Sequence[float], result: float) -> bool:
    return _ragged_windows(op) is not None or _sum_overflows(op, operands, result)


def _pool_rows(op: OnnxOp) -> Rows | None:
    """Windows of a pool as rows; an unknown batch counts as 1."""
    shape, operand = shape_of(op.results[0].type), shape_of(op.operands[0].type)
    if not shape or not operand or DYNAMIC in (*shape[1:], *operand[1:]):
        return None
    windows, pixels = (prod(size for size in sizes if size != DYNAMIC) for sizes in (shape, operand))
    return Rows(windows, prod(op.ints_attr("kernel_shape") or ()), pixels)


def _windows_fit(op: OnnxOp) -> bool:
    """True if the windows of a pool are known to end within the padded operand, so that ceil_mode adds none."""
    shape, kernel = static_shape(op.operands[0]), op.ints_attr("kernel_shape")
    if shape is None or kernel is None or op.str_attr("auto_pad", "NOTSET") != "NOTSET":
        return False
    strides, pads = (
        op.ints_attr("strides") or [1] * len(kernel),
        op.ints_attr("pads") or [0] * 2 * len(kernel),
    )
    if len(shape) != len(kernel) + 2 or len(strides) != len(kernel) or len(pads) != 2 * len(kernel):
        return False
    sizes = (size + sum(pads[k :: len(kernel)]) for k, size in enumerate(shape[2:]))
    return all((n - k) % stride == 0 for n, k, stride in zip(sizes, kernel, strides, strict=True))


def softmax_axis(op: OnnxOp) -> tuple[int, bool]:
    """The axis of a Softmax, and True if all axes from it on are one row, as before opset 13."""
    one_row = onnx_opset(op) < 13
    return op.int_attr("axis", 1 if one_row else -1), one_row


def _softmax_rows(op: OnnxOp) -> Rows | None:
    """Rows of a Softmax, contiguous ones only; an unknown batch counts as 1."""
    shape, (axis, one_row) = shape_of(op.operands[0].type), softmax_axis(op)
    if not shape:
        return None
    axis = normal_axis(axis, len(shape))
    row, count = shape[axis:], prod(size for size in shape[:axis] if size != DYNAMIC)
    if DYNAMIC in row or not (one_row or len(row) == 1):
        return None
    return Rows(count, prod(row), count * prod(row))


def _softmax_overflows(op: OnnxOp, operands: Sequence[float], result: float) -> bool:
    """The kernel of 1.31 divides in 32 bits, which overflow to 0 where a row is short and the result's scale small."""
    if 1 / result <= SOFTMAX_STEPS:
        return False
    shape, (axis, one_row) = shape_of(op.operands[0].type), softmax_axis(op)
    row = () if shape is None else shape[axis:] if one_row else (shape[axis],)
    return not row or DYNAMIC in row or 1 / result > SOFTMAX_STEPS * prod(row)


MAX_COUNTED_STEPS = 2.0**12
"""Steps of a result in one of its operands that kernels count, in float32 and int32, without losing any."""


def _sum_overflows(op: OnnxOp, operands: Sequence[float], result: float) -> bool:
    return max(operands) > MAX_COUNTED_STEPS * result


def _product_overflows(op: OnnxOp, operands: Sequence[float], result: float) -> bool:
    return prod(operands) > MAX_COUNTED_STEPS * result


def _mean_fails(op: OnnxOp, operands: Sequence[float], result: float) -> bool:
    """True where QLinearGlobalAveragePool refuses x_scale / (y_scale * pixels): onnxruntime 1.31, measured."""
    shape = static_shape(op.operands[0])
    pixels = 1 if shape is None else prod(shape[2:])
    return not pixels or not 2.0**-32 <= operands[0] / (result * pixels) < 2.0**8


def _no_pixels(op: OnnxOp) -> Blocked | None:
    return EMPTY_SUM if 0 in (shape_of(op.operands[0].type) or ())[2:] else None


def _softmax_extra(op: OnnxOp) -> dict[str, Attribute]:
    return {"opset": IntegerAttr(onnx_opset(op), i64), "axis": IntegerAttr(softmax_axis(op)[0], i64)}


def _softmax_read(node: OnnxOp, opset: int) -> dict[str, Attribute] | Blocked:
    axis, rank, meant = node.int_attr("axis", -1), rank_of(node.operands[0]), node.int_attr("opset", opset)
    last = axis == -1 or (rank is not None and normal_axis(axis, rank) == rank - 1)
    if (meant < 13) != (opset < 13) and not last:
        return Blocked(
            "opset", f"Softmax of opset {meant} normalizes over other axes than that of opset {opset}"
        )
    return {"axis": IntegerAttr(axis, i64)}


_BINARY = "0v 0s 0z 1v 1s 1z ys yz"
_UNARY = "0v 0s 0z ys yz"
_LINEAR = "0v 0s 0z 1v 1s 1z ys yz 2v"

KERNELS: dict[tuple[str, str], Kernels] = {
    ("", name): Kernels(forms, sensitive=name == "Softmax")
    for name, forms in {
        "Conv": (Kernel("", "QLinearConv", _LINEAR),),
        "MatMul": (
            Kernel("", "QLinearMatMul", _BINARY),
            Kernel(MICROSOFT, "MatMulIntegerToFloat", "0v 1v 0s 1s 0z 1z", float_result=True, adds=True),
        ),
        "Gemm": (
            Kernel(MICROSOFT, "QGemm", "0v 0s 0z 1v 1s 1z 2v ys yz", refuses=_scaled_bias),
            Kernel(MICROSOFT, "QGemm", "0v 0s 0z 1v 1s 1z 2v", True, refuses=_scaled_bias),
        ),
        "Add": (Kernel(MICROSOFT, "QLinearAdd", _BINARY, is_wrong=_sum_overflows),),
        "Mul": (Kernel(MICROSOFT, "QLinearMul", _BINARY, is_wrong=_product_overflows),),
        "Sigmoid": (Kernel(MICROSOFT, "QLinearSigmoid", _UNARY),),
        "LeakyRelu": (Kernel(MICROSOFT, "QLinearLeakyRelu", _UNARY),),
        "Softmax": (
            Kernel(
                MICROSOFT,
                "QLinearSoftmax",
                _UNARY,
                is_wrong=_softmax_overflows,
                wrong=SHORT_ROW,
                rows=_softmax_rows,
                extra=_softmax_extra,
                read=_softmax_read,
            ),
        ),
        "AveragePool": (
            Kernel(
                MICROSOFT,
                "QLinearAveragePool",
                _UNARY,
                refuses=_ragged_windows,
                is_wrong=_pool_differs,
                rows=_pool_rows,
            ),
        ),
        "GlobalAveragePool": (
            Kernel(MICROSOFT, "QLinearGlobalAveragePool", _UNARY, refuses=_no_pixels, is_wrong=_mean_fails),
        ),
        "Concat": (Kernel(MICROSOFT, "QLinearConcat", "ys yz *"),),
        "Where": (Kernel(MICROSOFT, "QLinearWhere", "0v 1v 1s 1z 2v 2s 2z ys yz"),),
    }.items()
}
