"""Optional operands whose default is zero, operands that are numbers, results whose number is a mode of the op."""

from __future__ import annotations

from collections.abc import Callable, Sequence
from dataclasses import dataclass

from qdialect.dialects.onnx_base import OnnxOp
from qdialect.promises.base import Promise, always


@dataclass(frozen=True)
class ZeroByDefault(Promise):
    """The op uses zeros for an omitted operand."""

    places: Sequence[int]


class TakesNumbers(Promise):
    """
    The op's operands are numbers. onnxruntime reads lists of one in their place, but refuses them where all operands
    are constant.
    """


@dataclass(frozen=True)
class AllResults(Promise):
    """The op computes other values, or is invalid, if an unused result is omitted."""

    applies: Callable[[OnnxOp], bool] = always


def _skips_elements(op: OnnxOp) -> bool:
    """
    True for a pool whose windows may end before its operand does: onnxruntime's kernel without indices refuses the
    negative pads that auto_pad asks for then.
    """
    kernel = op.ints_attr("kernel_shape") or ()
    strides = op.ints_attr("strides") or (1,) * len(kernel)
    is_same = op.str_attr("auto_pad", "NOTSET").startswith("SAME")
    return is_same and any(stride > size for stride, size in zip(strides, kernel, strict=True))


DEFAULTS: dict[tuple[str, str], Promise] = {
    ("", "BatchNormalization"): AllResults(),
    ("", "MaxPool"): AllResults(_skips_elements),
    ("", "Range"): TakesNumbers(),
    ("", "LSTM"): ZeroByDefault((5, 6)),
    ("", "GRU"): ZeroByDefault((5,)),
    ("", "RNN"): ZeroByDefault((5,)),
    ("com.microsoft", "DynamicQuantizeLSTM"): ZeroByDefault((5, 6)),
}
