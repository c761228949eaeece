"""
Let a window pad by itself what a Pad puts around its operand.

    window(Pad(x, 0), pads = p)  ->  window(x, pads = p + pad)

Exact: a window pads with real zero too, which integer kernels store as the zero point. Only for a constant Pad of real
zero, on spatial axes, that crops nothing and serves nobody else.
"""

from collections.abc import Sequence
from dataclasses import dataclass
from typing import ClassVar

from xdsl.ir import Operation, OpResult

from qdialect.constants import UNKNOWN_RANK, ints_of, normal_axis, rank_of
from qdialect.dialects.onnx_ops import OnnxOp
from qdialect.dialects.onnx_types import element_of
from qdialect.passes import Exactness, RewritePass
from qdialect.promises.base import Blocked
from qdialect.promises.padding import AddsPadding, ZeroPads, pad_value
from qdialect.rewriting import KEEP_FLOAT, KEPT, Pattern, Rewriter


def spatial_pads(pad: OnnxOp) -> tuple[int, ...] | Blocked:
    """How much a Pad puts before and behind each spatial axis, or why that is not all it does."""
    if pad.str_attr("mode", "constant") != "constant":
        return Blocked(
            "pad-mode", f"Pad repeats elements ({pad.str_attr('mode', '')}) instead of adding zeros"
        )
    value = pad_value(pad)
    if value is None:
        return Blocked("computed-pad-value", "the value that Pad puts in is computed")
    if value != 0:
        return Blocked("pad-value", f"Pad puts in {value:g}, a window pads with zero")
    pads, rank = ints_of(pad, "pads", 1), rank_of(pad.operands[0])
    axes = ints_of(pad, "axes", 3) if pad.input(3) is not None else None
    if rank is None:
        return UNKNOWN_RANK
    if pads is None or (pad.input(3) is not None and axes is None):
        return Blocked("computed-parameter", "the pads are computed")
    if any(p < 0 for p in pads):
        return Blocked("pad-crops", "Pad crops on one side")
    half = len(pads) // 2
    places = [normal_axis(axis, rank) for axis in (range(rank) if axes is None else axes)]
    if rank < 2 or len(pads) != 2 * len(places) or any(not 0 <= at < rank for at in places):
        return Blocked("pad-shape", "the pads do not fit the operand's rank")
    full = [0] * (2 * rank)
    for k, at in enumerate(places):
        full[at], full[at + rank] = pads[k], pads[k + half]
    if any(full[k] for k in (0, 1, rank, rank + 1)):
        return Blocked("pad-channels", "Pad puts zeros around the batch or the channels")
    return (*full[2:rank], *full[rank + 2 :])


class FoldPad(Pattern):
    """A Pad in front of a window."""

    def accepts(self, op_class: type[Operation]) -> bool:
        return op_class.get_trait(ZeroPads) is not None

    def rewrite(self, op: Operation, rewriter: Rewriter) -> Blocked | None:
        assert isinstance(op, OnnxOp)
        source = op.operands[0]
        if not (isinstance(source, OpResult) and isinstance(source.op, OnnxOp)):
            return None
        pad = source.op
        if pad.get_trait(AddsPadding) is None:
            return None
        if KEEP_FLOAT in pad.attributes:
            return KEPT
        if not source.has_one_use():
            return Blocked("second-consumer", "the padded tensor has a second consumer")
        if element_of(pad.operands[0].type) != element_of(source.type):
            return Blocked("other-parameters", "Pad changes scale or zero point")
        added = spatial_pads(pad)
        if isinstance(added, Blocked):
            return added
        promise = op.get_trait(ZeroPads)
        assert promise is not None
        attributes = promise.padded(op, added)
        if isinstance(attributes, Blocked):
            return attributes
        new = op.__class__.create(
            operands=[pad.operands[0], *op.operands[1:]],
            result_types=op.result_types,
            properties=op.properties | attributes,
            attributes=op.attributes,
        )
        rewriter.replace(op, [new])
        return None


@dataclass(frozen=True)
class FoldPadPass(RewritePass):
    """Zeros around a window's operand become its own pads."""

    name = "fold-pad"
    exactness: ClassVar[Exactness] = Exactness.EXACT
    rewrite: ClassVar[str] = (
        "window(Pad(x, 0), pads = p) -> window(x, pads = p + pad): both pad with real zero"
    )

    def patterns(self) -> Sequence[Pattern]:
        return [FoldPad()]
