"""The pattern that shuffles channels where they are last, between kernels that run so."""

from __future__ import annotations

from typing import TypeGuard

from xdsl.ir import SSAValue

from qdialect.dialects.onnx_base import OnnxOp, promise_of
from qdialect.dialects.onnx_types import (
    DYNAMIC,
    known_element,
    known_shape,
    quantized_of,
    shape_of,
    tensor_type,
)
from qdialect.ir.build import copied
from qdialect.ir.values import rank_of
from qdialect.kernel_selection.convolution.layout import comes_channels_last
from qdialect.kernel_selection.convolution.step import ImageNodes
from qdialect.promises.arithmetic import single_user
from qdialect.promises.base import Commutes
from qdialect.promises.clamping import Clamp
from qdialect.promises.layout import Permutes
from qdialect.reasons import Blocked
from qdialect.rewriting.driver import Rewriter
from qdialect.rewriting.matching import OnTrait

SHUFFLE = (0, 2, 1, 3, 4)
"""(N, groups, channels, H, W) as (N, channels, groups, H, W)."""


class ShuffleLast(OnTrait[Permutes]):
    """
    reshape(transpose(reshape(x)))         ->  channels_first(reshape(transpose(reshape(channels_last(x)))))
    reshape(transpose(reshape(clamp(x))))  ->  likewise of clamp(channels_last(x))

    The outer Transposes cancel those of the kernels. Without them a session moves the kernels' Transpose behind the
    first Reshape and makes one of both, which moves each byte alone.
    """

    def match(self, op: OnnxOp, promise: Permutes, rewriter: Rewriter, /) -> Blocked | None:
        split, join = op.operands[0].owner, single_user(op.results[0])
        if promise.order(op) != SHUFFLE or not _reshapes(split) or not _reshapes(join):
            return None
        x, sizes = split.operands[0], shape_of(op.operands[0].type)
        type = quantized_of(x.type)
        if type is None or not type.is_per_tensor or sizes is None or 0 in sizes or DYNAMIC in sizes[1:]:
            return None
        images, groups, channels, *pixels = sizes
        whole = (images, groups * channels, *pixels)
        if shape_of(x.type) != whole or shape_of(join.results[0].type) != whole:
            return None
        if not op.operands[0].has_one_use() or not comes_channels_last(x):
            return None
        nodes = ImageNodes(op)
        groups_last = nodes.reshaped(with_channels_last(x, nodes), (images, *pixels, groups, channels))
        channels_last = nodes.transpose(groups_last, (0, 1, 2, 4, 3))
        nodes.channels_first(nodes.reshaped(channels_last, (images, *pixels, groups * channels)))
        rewriter.replace(join, nodes.ops)
        return None


def with_channels_last(x: SSAValue, nodes: ImageNodes) -> SSAValue:
    """`x` with its channels last; the clamp that makes it behind the Transpose: a session moves none across a Max."""
    clamp = x.owner
    if not isinstance(clamp, OnnxOp) or clamp.get_trait(Clamp) is None or not x.has_one_use():
        return nodes.channels_last(x)
    operand, *bounds = clamp.operands
    if quantized_of(operand.type) is None or any(rank_of(bound) != 0 for bound in bounds):
        return nodes.channels_last(x)
    last = nodes.channels_last(operand)
    moved = copied(clamp, [last, *bounds], [tensor_type(known_element(x.type), known_shape(last.type))])
    moved.location = clamp.location
    return nodes.append(moved)


def _reshapes(op: object) -> TypeGuard[OnnxOp]:
    promise = promise_of(op, Commutes)
    return promise is not None and promise.keeps_order
