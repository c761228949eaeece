"""`Blocked`, the reason that a guard returns when its rewrite does not apply, and reasons shared by several guards."""

from __future__ import annotations

from collections.abc import Callable
from dataclasses import dataclass, field
from typing import NamedTuple, ParamSpec, TypeVar

T = TypeVar("T")
P = ParamSpec("P")


class Times(NamedTuple):
    """What one op is expected to take by the target's costs, in nanoseconds."""

    floating: float
    integer: float
    """With the casts that it would need."""
    batch: int = 1
    """Size for which an open batch is taken."""

    def __str__(self) -> str:
        """`3.1 us in float, 4.2 us in integers`."""
        at = f" at a batch of {self.batch}" if self.batch != 1 else ""
        return f"{self.floating / 1e3:.3g} us in float, {self.integer / 1e3:.3g} us in integers{at}"


@dataclass(frozen=True)
class Blocked:
    """Reason why a rewrite does not apply, reported to the user as a remark."""

    id: str
    """Short name of the reason, equal for equal reasons: the key of `qdialect explain ID`."""
    message: str
    """The condition that does not hold, as a sentence without a full stop."""
    fix: str = ""
    """Action by which the user can remove the obstacle; empty if there is none."""
    expected: Times | None = field(default=None, compare=False)
    """The times that a choice of float rests on, which differ from op to op: reasons are equal without them."""


class Refused(Exception):
    """Raised where a rewrite or a rule does not apply; caught by the driver or a caller before anything changes."""

    def __init__(self, blocked: Blocked):
        super().__init__(blocked.message)
        self.blocked = blocked


def unblocked(value: T | Blocked) -> T:
    """`value`; if it is a `Blocked`, ends the pattern, form or axis rule that called this, with it as the reason."""
    if isinstance(value, Blocked):
        raise Refused(value)
    return value


def required(value: T | None, reason: Blocked) -> T:
    """`value`; if it is None, ends the pattern, form or axis rule that called this, with `reason`."""
    if value is None:
        raise Refused(reason)
    return value


def answer(ask: Callable[P, T | Blocked], *arguments: P.args, **named: P.kwargs) -> T | Blocked:
    """The result of a form or an axis rule, or the reason with which it ended: for callers with an alternative."""
    try:
        return ask(*arguments, **named)
    except Refused as refused:
        return refused.blocked


UNKNOWN_RANK = Blocked(
    "unknown-shape", "the operand's rank is not known", "run ONNX shape inference on the model"
)

# Reasons shared by several rules, so that all report them in the same words.
ACTIVATION_PER_AXIS = Blocked("activation-per-axis", "an activation has a scale for each channel")
BIAS_BY_ROW = Blocked("bias-shape", "the bias differs by row")
CLIP_PER_AXIS = Blocked("activation-per-axis", "Clip has one bound, on integers it would differ by channel")
COMPUTED_BIAS = Blocked("computed-parameter", "the bias is computed at run time")
COMPUTED_BOUND = Blocked("computed-parameter", "a bound of Clip is computed", "give Clip constant bounds")
COMPUTED_PADS = Blocked("computed-parameter", "the pads are computed")
COMPUTED_PAD_VALUE = Blocked("computed-parameter", "the value that Pad inserts is computed at run time")
COMPUTED_WEIGHT = Blocked("computed-parameter", "the weight is computed at run time")
FLOAT_BIAS = Blocked("bias-scale", "the bias is not int32 in steps of x_scale * w_scale", "run rescale-bias")
FLOAT_SUMS = Blocked(
    "float-sums", "dynamically quantized values: the target is faster in float, or computes in float"
)
UNREAD_SUMS = Blocked(
    "run-time-scale",
    "the activation is quantized at run time, which the target does not read, so the op computes in float",
    "quantize the float model with `qdialect quantize --data`",
)
GEMM_FORM = Blocked("product-form", "Gemm transposes its activation, or scales its product or its bias")
GROUPED = Blocked("float-result", "no integer kernel with a float result is faster on groups of channels")
INEXACT_ARITHMETIC = Blocked(
    "inexact-arithmetic",
    "the arithmetic may round ties differently than a cast",
    "scale by a power of two, or allow --exactness close",
)
NO_ROUND_TRIP = Blocked("other-type", "float does not represent every stored integer exactly")
NOT_QUANTIZED = Blocked("not-quantized", "no quantize follows", "quantize the result")
OTHER_OPERAND = Blocked("float-operand", "another operand is not quantized", "quantize every operand alike")
OTHER_REGION = Blocked("sides-differ", "the quantize is in a subgraph, its operand outside")
PAD_VALUE_PER_AXIS = Blocked("zero-point", "Pad has one value, stored as a different integer in each channel")
SCALE_VALUE = Blocked("scale-value", "a scale is zero, negative or not finite", "quantize the model again")
UNKNOWN_STORAGE = Blocked("storage-type", "the storage type is not known")
