"""
Nodes that onnx's shape inference gets wrong, as others that it infers right.

A pool whose last window would start behind its operand: with `ceil_mode`, inference counts such a window before opset
22; what every runtime computes lacks it, as ONNX's operators.md says of MaxPool. Negative axes before opset 11:
inference ignores those of Squeeze and Unsqueeze, and stops at others; onnxruntime counts them from the last axis in all
opsets. A function of a later opset in such a node's place has the sizes that are computed. A Squeeze with an empty list
of axes: inference removes none, a session all of size 1, as without a list.
"""

from __future__ import annotations

from collections.abc import Callable, Generator, Iterable, Sequence
from contextlib import contextmanager
from typing import TYPE_CHECKING

from qdialect.onnx_io import parts as onnx_parts

if TYPE_CHECKING:
    from onnx import AttributeProto, ModelProto, NodeProto

    Nodes = Callable[[Iterable[NodeProto]], Iterable[NodeProto]]
    """All nodes, and those of the graphs in them."""

EXACT_POOLS = 22
"""The first opset whose inference leaves such a window out."""
NEGATIVE_AXES = 11
"""The first opset in which axes may be counted from the last."""
DOMAIN = "qdialect.later"
"""Domain of the functions, which no model that is read or written has."""


def with_later(model: ModelProto, nodes: Nodes) -> ModelProto:
    """A copy of the model in which functions replace such nodes; the model itself if it has none."""
    opset = max((o.version for o in model.opset_import if o.domain in ("", "ai.onnx")), default=0)
    if not any(later_opset(node, opset) for node in nodes(model.graph.node)):
        return model
    changed = onnx_parts.messages().ModelProto()
    changed.CopyFrom(model)
    changed.opset_import.add(domain=DOMAIN, version=1)
    for node in nodes(changed.graph.node):
        if (later := later_opset(node, opset)) is None:
            continue
        function = changed.functions.add(domain=DOMAIN, name=f"later{len(changed.functions)}")
        function.opset_import.add(domain="", version=later)
        function.input.extend(f"x{k}" for k in range(len(node.input)))
        function.output.extend(f"y{k}" for k in range(len(node.output)))
        inner = function.node.add(op_type=node.op_type, input=function.input, output=function.output)
        inner.attribute.extend(node.attribute)
        node.op_type, node.domain = function.name, DOMAIN
        del node.attribute[:]
    return changed


def restore(typed: ModelProto, model: ModelProto, nodes: Nodes) -> None:
    """Restore the model's own nodes in its typed copy, which has functions in their place and else equal nodes."""
    del typed.functions[len(model.functions) :]
    del typed.opset_import[len(model.opset_import) :]
    for node, own in zip(nodes(typed.graph.node), nodes(model.graph.node), strict=True):
        if node.domain == DOMAIN:
            node.CopyFrom(own)


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


@contextmanager
def without_empty_axes(model: ModelProto, nodes: Iterable[NodeProto]) -> Generator[None]:
    """Context in which a Squeeze with an empty list of axes lacks it. nodes: all, with those of graphs in them."""
    every = list(nodes)
    squeezes = [n for n in every if n.op_type == "Squeeze" and n.domain in ("", "ai.onnx")]
    empty = _empty_constants(model, every) if squeezes else set[str]()
    changed: list[tuple[NodeProto, NodeProto]] = []
    for node in squeezes:
        if not empty.isdisjoint(node.input[1:2]) or any(
            a.name == "axes" and not a.ints for a in node.attribute
        ):
            former = onnx_parts.messages().NodeProto()
            former.CopyFrom(node)
            changed.append((node, former))
            del node.input[1:], node.attribute[:]
    try:
        yield
    finally:
        for node, former in changed:
            node.CopyFrom(former)


def _empty_constants(model: ModelProto, nodes: Sequence[NodeProto]) -> set[str]:
    """The names of constants without elements."""
    made = {n.output[0] for n in nodes if n.op_type == "Constant" and any(map(_is_empty, n.attribute))}
    return made | {t.name for t in model.graph.initializer if 0 in t.dims}


def _is_empty(attribute: AttributeProto) -> bool:
    return 0 in attribute.t.dims or (attribute.name == "value_ints" and not attribute.ints)
