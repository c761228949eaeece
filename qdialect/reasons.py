"""`Blocked`, the reason that a guard returns when its rewrite does not apply, and reasons shared by several guards."""

from __future__ import annotations

from collections.abc import Callable
from dataclasses import dataclass
from typing import ParamSpec, TypeVar

T = TypeVar("T")
P = ParamSpec("P")


@dataclass(frozen=True)
class Blocked:
    """Reason why a rewrite does not apply, reported to the user as a remark."""

    id: str
    """Short name of the reason, equal for equal reasons: the key of `qdialect explain ID`."""
    message: str
    """The condition that does not hold, as a sentence without a full stop."""
    fix: str = ""
    """Action by which the user can remove the obstacle; empty if there is none."""


class Refused(Exception):
    """A rewrite or a rule does not apply, for a reason: caught by who asked it, before anything has changed."""

    def __init__(self, blocked: Blocked):
        super().__init__(blocked.message)
        self.blocked = blocked


def unblocked(value: T | Blocked) -> T:
    """`value`, in a pattern, a form or a rule of axes; if it is a reason, that one ends with it."""
    if isinstance(value, Blocked):
        raise Refused(value)
    return value


def required(value: T | None, reason: Blocked) -> T:
    """`value`, in a pattern, a form or a rule of axes; if it is None, that one ends with the reason."""
    if value is None:
        raise Refused(reason)
    return value


def answer(ask: Callable[P, T | Blocked], *arguments: P.args, **named: P.kwargs) -> T | Blocked:
    """What a form or a rule of axes returns, or the reason with which it ends, for who goes on without it."""
    try:
        return ask(*arguments, **named)
    except Refused as refused:
        return refused.blocked


UNKNOWN_RANK = Blocked(
    "unknown-rank", "the operand's rank is not known", "run ONNX shape inference on the model"
)

# Reasons shared by several rules, so that all report them in the same words.
ACTIVATION_PER_AXIS = Blocked("activation-per-axis", "an activation has a scale for each channel")
BIAS_BY_ROW = Blocked("bias-shape", "the bias differs by row")
CLIP_PER_AXIS = Blocked("clip-per-axis", "Clip has one bound, the channels have several")
COMPUTED_BIAS = Blocked("computed-bias", "the bias is computed at run time")
COMPUTED_BOUND = Blocked("computed-bound", "a bound of Clip is computed", "give Clip constant bounds")
COMPUTED_PADS = Blocked("computed-parameter", "the pads are computed")
COMPUTED_PAD_VALUE = Blocked("computed-pad-value", "the value that Pad puts in is computed")
COMPUTED_WEIGHT = Blocked("computed-weight", "the weight is computed at run time")
FLOAT_BIAS = Blocked("float-bias", "the bias is not int32 in steps of x_scale * w_scale", "run rescale-bias")
FLOAT_SUMS = Blocked("float-sums", "the target computes sums of dynamically quantized values in float")
GEMM_FORM = Blocked("gemm-form", "Gemm transposes its activation, or scales its product or its bias")
GROUPED = Blocked("grouped", "no integer kernel with a float result is faster on groups of channels")
INEXACT_ARITHMETIC = Blocked(
    "inexact-arithmetic",
    "the arithmetic may round to the other side of a tie than a cast does",
    "scale by a power of two, or allow --exactness close",
)
NO_ROUND_TRIP = Blocked("wide-storage", "not every stored integer survives the way through float")
NOT_QUANTIZED = Blocked("not-quantized", "no quantize follows", "quantize the result")
OTHER_OPERAND = Blocked("other-operand", "another operand is not quantized", "quantize every operand alike")
OTHER_REGION = Blocked("other-region", "the quantize stands in a subgraph, its operand outside")
PAD_VALUE_PER_AXIS = Blocked("pad-value-per-axis", "Pad has one value, the channels have several")
SCALE_VALUE = Blocked("scale-value", "a scale is zero, negative or not finite", "quantize the model again")
UNKNOWN_STORAGE = Blocked("storage-type", "the type of the integers is not known")
