"""
Nodes that onnx's inference of a node gets wrong, as others that it infers right.

A pool whose last window would start behind its operand: with `ceil_mode`, inference counts such a window before opset
22; what every runtime computes lacks it, as ONNX's operators.md says of MaxPool. Negative axes before opset 11:
inference ignores those of Squeeze and Unsqueeze, and stops at others; onnxruntime counts them from the last axis in all
opsets. A node of a later opset has the sizes that are computed. A Squeeze with an empty list of axes: inference removes
none, a session all of size 1, as without a list.
"""

from __future__ import annotations

from collections.abc import Mapping
from typing import TYPE_CHECKING

from qdialect.onnx_io import fast_onnx_import as onnx_parts

if TYPE_CHECKING:
    from onnx import NodeProto, TensorProto

EXACT_POOLS = 22
"""The first opset whose inference leaves such a window out."""
NEGATIVE_AXES = 11
"""The first opset in which axes may be counted from the last."""


def later_opset(node: NodeProto, opset: int) -> int | None:
    """The opset whose inference reads a node as it is computed; None if its own does."""
    if node.domain not in ("", "ai.onnx"):
        return None
    if opset < EXACT_POOLS and _leaves_windows_out(node):
        return EXACT_POOLS
    return NEGATIVE_AXES if opset < NEGATIVE_AXES and _counts_from_the_last(node) else None


def _counts_from_the_last(node: NodeProto) -> bool:
    """True for a node with negative axes, if it is one of opset 11 too."""
    axes = [n for a in node.attribute if a.name in ("axis", "axes") for n in (a.i, *a.ints)]
    return min(axes, default=0) < 0 and onnx_parts.is_node_of(node, NEGATIVE_AXES)


def _leaves_windows_out(node: NodeProto) -> bool:
    """True if the last window of a pool may start behind the operand: padding and stride exceed it."""
    if len(node.input) != 1:
        return False
    numbers = {a.name: a.i for a in node.attribute}
    lists = {a.name: list(a.ints) for a in node.attribute}
    kernel = lists.get("kernel_shape", [])
    strides, dilations = (lists.get(name) or [1] * len(kernel) for name in ("strides", "dilations"))
    behind = (lists.get("pads") or [0] * 2 * len(kernel))[len(kernel) :]
    rows = zip(kernel, strides, dilations, behind, strict=False)
    return numbers.get("ceil_mode") == 1 and any(p + s > d * (k - 1) + 1 for k, s, d, p in rows)


def drop_empty_axes(node: NodeProto, constants: Mapping[str, TensorProto]) -> None:
    """Remove an empty list of axes from a Squeeze. constants: the values of its inputs that are known."""
    if node.op_type != "Squeeze" or node.domain not in ("", "ai.onnx"):
        return
    listed = [a for a in node.attribute if a.name == "axes" and not a.ints]
    if listed or any(0 in constants[name].dims for name in node.input[1:2] if name in constants):
        del node.input[1:], node.attribute[:]
