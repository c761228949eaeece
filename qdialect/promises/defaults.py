"""Optional operands whose default is zero, operands that are numbers, results whose number is a mode of the op."""

from __future__ import annotations

from collections.abc import Callable, Sequence
from dataclasses import dataclass

from xdsl.dialects.builtin import IntegerType

from qdialect.dialects.onnx_base import OnnxOp
from qdialect.dialects.onnx_types import element_of
from qdialect.promises.base import Promise


@dataclass(frozen=True)
class ZeroByDefault(Promise):
    """The op uses zeros for an omitted operand."""

    places: Sequence[int]


class TakesNumbers(Promise):
    """
    The op's operands are numbers. onnxruntime reads lists of one in their place, but refuses them where all operands
    are constant.
    """


def _one(op: OnnxOp) -> int:
    """The first result alone."""
    return 1


@dataclass(frozen=True)
class IndependentResults(Promise):
    """
    The results of the op do not depend on which of its optional last ones are present, but for the first `needed`. An
    op without this promise keeps all results that it has: contrib ops read a state or choose a kernel by them.
    """

    needed: Callable[[OnnxOp], int] = _one
    """How many results the op must have, whether they are used or not."""


@dataclass(frozen=True)
class MeansMore(Promise):
    """Opset `since` gave a meaning to ops, for which `applies`, that older ones refuse; the schema does not say so."""

    since: int
    applies: Callable[[OnnxOp], bool]


def _floors_floats(op: OnnxOp) -> bool:
    """True for a remainder of floats with the sign of the divisor."""
    element = element_of(op.operands[0].type)
    return not op.int_attr("fmod", 0) and not isinstance(element, IntegerType)


def _skips_elements(op: OnnxOp) -> bool:
    """
    True for a pool whose windows may end before its operand does: onnxruntime's kernel without indices refuses the
    negative pads that auto_pad asks for then.
    """
    kernel = op.ints_attr("kernel_shape") or ()
    strides = op.ints_attr("strides") or (1,) * len(kernel)
    is_same = op.str_attr("auto_pad", "NOTSET").startswith("SAME")
    return is_same and any(stride > size for stride, size in zip(strides, kernel, strict=True))


def _needed_of_pool(op: OnnxOp) -> int:
    """All results of a pool that skips elements."""
    return len(op.outputs) if _skips_elements(op) else 1


PAST_KEY, PAST_VALUE = 4, 5
"""Places of operands of ONNX's Attention."""


def _needed_of_attention(op: OnnxOp) -> int:
    """Keys and values of all steps are results together: where one is used, and where those of past steps are given."""
    past = (op.input(PAST_KEY), op.input(PAST_VALUE))
    present = op.outputs[1:3]
    is_used = any(value is not None and value.first_use is not None for value in present)
    return 1 + len(present) if is_used or past != (None, None) else 1


DEFAULTS: dict[tuple[str, str], Promise] = {
    ("", "Range"): TakesNumbers(),
    ("", "LSTM"): ZeroByDefault((5, 6)),
    ("", "GRU"): ZeroByDefault((5,)),
    ("", "RNN"): ZeroByDefault((5,)),
    ("com.microsoft", "DynamicQuantizeLSTM"): ZeroByDefault((5, 6)),
}

MEANINGS: dict[tuple[str, str], Promise] = {("", "Mod"): MeansMore(28, _floors_floats)}

RESULTS_APART: dict[tuple[str, str], Promise] = {
    # Not BatchNormalization: more results than one mean training, of other statistics.
    ("", "Attention"): IndependentResults(_needed_of_attention),
    ("", "Dropout"): IndependentResults(),
    ("", "GRU"): IndependentResults(),
    ("", "LSTM"): IndependentResults(),
    ("", "LayerNormalization"): IndependentResults(),
    ("", "MaxPool"): IndependentResults(_needed_of_pool),
    ("", "RNN"): IndependentResults(),
    ("", "SoftmaxCrossEntropyLoss"): IndependentResults(),
    ("", "Unique"): IndependentResults(),
    ("com.microsoft", "DynamicQuantizeLSTM"): IndependentResults(),
    ("com.microsoft", "SkipLayerNormalization"): IndependentResults(),
    ("com.microsoft", "SkipSimplifiedLayerNormalization"): IndependentResults(),
}
